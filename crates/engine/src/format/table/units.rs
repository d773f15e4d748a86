//! The unit of the numbers of a column.

use crate::format::batch::SOMETIME;
use crate::format::parse::size::{ReadNumber, bytes, size_in, size_in_thousands};
use crate::format::parse::time;

/// The unit of a number written without one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Unit {
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
            _ => bytes,
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
