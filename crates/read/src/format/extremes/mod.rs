//! Key listings: the hottest, slowest or largest keys according to a server or redis-cli. Their rows are neither
//! counted keys nor operations, only facts about a key.

pub(crate) mod command_log;
pub mod hotkeys;
pub mod logged_words;
pub mod reply;
pub mod top_keys;

use slotscope_base::block::Block;
use slotscope_base::metric::extreme::Extreme;

use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::parse::escape::{self, Escapes};

/// A text in a reply, by its position in the block; escapes are not decoded yet.
#[derive(Clone, Copy)]
struct Text {
    from: usize,
    to: usize,
}

impl Text {
    fn of(self, content: &[u8]) -> &[u8] {
        &content[self.from..self.to]
    }

    /// Decodes its escapes; returns its bounds.
    fn undo(self, block: &mut Block) -> (usize, usize) {
        let to = escape::undo(Escapes::Json, block.content_mut(), self.from, self.to);
        (self.from, to)
    }
}

/// Emits a list entry for the key at `key`.
fn give(
    gather: &mut BatchBuilder<'_, '_>,
    block: &Block,
    key: (usize, usize),
    says: (Extreme, u64),
) {
    let values = gather.values();
    values.are_operations = true;
    values.extremes.push(says);
    gather.key(block, key.0, key.1);
}

/// A number in a reply, rounded; some replies have doubles as text.
fn amount(text: &[u8]) -> Option<u64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (number >= 0.0 && number < 2f64.powi(63)).then_some(number.round() as u64)
}
