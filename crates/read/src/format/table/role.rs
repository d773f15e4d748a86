//! The content of a column of a table.

use slotscope_base::batch::{Number, Word};
use slotscope_base::metric::{Metric, WEIGHTS};

use crate::format::read_stats::Lost;

/// The content of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Key,
    /// Its weight in a metric.
    Weight(Metric),
    Number(Number),
    Word(Word),
}

/// Number of roles other than weights.
const OTHERS: usize = 1 + Number::ALL.len() + Word::ALL.len();

pub const ROLES: usize = OTHERS + WEIGHTS;

impl Role {
    /// The weight of `metric`; for the metric `keys`, the key.
    pub fn of(metric: Metric) -> Role {
        if metric == Metric::Keys {
            Role::Key
        } else {
            Role::Weight(metric)
        }
    }

    /// Whether no weight depends on it.
    pub fn is_attribute(self) -> bool {
        use Number::{Elements, Expiry, Idle};
        matches!(self, Role::Word(_) | Role::Number(Expiry | Elements | Idle))
    }

    /// The name of its value in reports on unreadable values.
    pub fn value(self) -> Lost {
        match self {
            Role::Key | Role::Word(_) => Lost::Other,
            Role::Weight(metric) if metric.is_size() => Lost::Size,
            Role::Weight(_) => Lost::Operations,
            Role::Number(Number::Database) => Lost::Database,
            Role::Number(Number::Expiry) => Lost::Expiry,
            Role::Number(_) => Lost::Other,
        }
    }

    /// Its index in arrays of `ROLES` entries.
    pub fn place(self) -> usize {
        match self {
            Role::Key => 0,
            Role::Number(number) => 1 + number as usize,
            Role::Word(word) => 1 + Number::ALL.len() + word as usize,
            Role::Weight(metric) => OTHERS + metric.weight().unwrap_or(0),
        }
    }
}
