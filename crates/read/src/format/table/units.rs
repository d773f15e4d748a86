//! The unit of the numbers of a column.

use slotscope_base::batch::SOMETIME;

use crate::format::parse::size::{
    ReadNumber, bytes, is_missing, size_in, size_in_thousands, size_with_commas,
};
use crate::format::parse::time;

/// The unit of a number written without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Unit {
    /// One.
    #[default]
    One,
    /// Bytes, of which a kilobyte is a thousand.
    Thousand,
    /// 2^10 bytes.
    Kib,
    /// 2^20 bytes.
    Mib,
    /// 2^30 bytes.
    Gib,
    /// 2 to the power of this many bytes; a comma is before the fraction of a number, and points are between groups.
    Comma(u8),
    /// TTL in seconds.
    SecondsLeft,
    /// TTL in milliseconds.
    MillisecondsLeft,
}

impl Unit {
    pub(crate) fn size_reader(self) -> ReadNumber {
        match self {
            Unit::Thousand => size_in_thousands,
            Unit::Kib => size_in::<10>,
            Unit::Mib => size_in::<20>,
            Unit::Gib => size_in::<30>,
            Unit::Comma(0) => size_with_commas::<0>,
            Unit::Comma(10) => size_with_commas::<10>,
            Unit::Comma(20) => size_with_commas::<20>,
            Unit::Comma(_) => size_with_commas::<30>,
            _ => bytes,
        }
    }

    /// The same unit with commas before fractions.
    pub(crate) fn with_commas(self) -> Unit {
        match self {
            Unit::Kib => Unit::Comma(10),
            Unit::Mib => Unit::Comma(20),
            Unit::Gib => Unit::Comma(30),
            Unit::One => Unit::Comma(0),
            other => other,
        }
    }

    /// The unit of these sizes: with commas where they can only be read so. `1,234` alone may be an integer, and a writer who
    /// groups digits groups all of them.
    pub fn of_sizes(self, cells: &[&[u8]]) -> Unit {
        let with_commas = self.with_commas();
        let is_read =
            |unit: Unit, cell: &[u8]| is_missing(cell) || unit.size_reader()(cell).is_some();
        let is_group = |cell: &[u8]| {
            let digits = cell.rsplit(|byte| *byte == b',').next().unwrap_or_default();
            digits.len() == 3 && digits.len() < cell.len() && !cell.starts_with(b"0,")
        };
        let is_proof = |cell: &&[u8]| !is_read(self, cell) && !is_group(cell);
        let is_long =
            |cell: &&[u8]| cell.iter().take_while(|byte| byte.is_ascii_digit()).count() > 3;
        let is_mixed = cells.iter().any(|cell| cell.contains(&b'.')) && cells.iter().any(is_long);
        let are_so = cells.iter().any(is_proof)
            && !is_mixed
            && cells.iter().all(|cell| is_read(with_commas, cell));
        if are_so { with_commas } else { self }
    }

    /// How a pattern says it after the colon.
    pub fn modifiers(self) -> &'static str {
        match self {
            Unit::Kib => "kb",
            Unit::Mib => "mb",
            Unit::Gib => "gb",
            Unit::Comma(0) => "comma",
            Unit::Comma(10) => "kb,comma",
            Unit::Comma(20) => "mb,comma",
            Unit::Comma(_) => "gb,comma",
            Unit::MillisecondsLeft => "ms",
            Unit::One | Unit::Thousand | Unit::SecondsLeft => "",
        }
    }

    pub(crate) fn expiry_reader(self) -> ReadNumber {
        match self {
            Unit::MillisecondsLeft => |text| known(time::expiry_in_milliseconds(text)),
            _ => |text| known(time::expiry(text)),
        }
    }
}

/// A time of expiry, if it could be read.
fn known(expiry: u64) -> Option<u64> {
    (expiry != SOMETIME).then_some(expiry)
}
