//! Lists of extremes: the keys that a server or redis-cli names as the hottest, slowest or largest. A row is neither a key
//! that is counted nor an operation: it says something of a key.

pub(crate) mod command_log;
pub mod hotkeys;
pub mod logged_words;
pub mod reply;
pub mod top_keys;

use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::parse::escape::{self, Escapes};
use crate::metric::extreme::Extreme;
use crate::source::block::Block;

/// A text of a reply, by its place in the block; its escapes are not undone.
#[derive(Clone, Copy)]
struct Text {
    from: usize,
    to: usize,
    escapes: Escapes,
}

impl Text {
    fn of(self, content: &[u8]) -> &[u8] {
        &content[self.from..self.to]
    }

    /// Undoes its escapes; returns where it starts and ends.
    fn undo(self, block: &mut Block) -> (usize, usize) {
        let to = escape::undo(self.escapes, block.content_mut(), self.from, self.to);
        (self.from, to)
    }
}

/// Passes on the entry of a list for the key at `key`.
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

/// A number of a reply, rounded: doubles are texts in some of them.
fn amount(text: &[u8]) -> Option<u64> {
    let number: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (number >= 0.0 && number < 2f64.powi(63)).then_some(number.round() as u64)
}
