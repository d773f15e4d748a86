//! A number before and after.

use serde::Serialize;

use slotscope_model::balance::tidy;

/// A number before and after; absent if one of the reports does not have it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemas", schemars(rename = "OldNew_of_{T}"))]
pub struct OldNew<T> {
    /// Before.
    pub old: Option<T>,
    /// After.
    pub new: Option<T>,
    /// How much more it is.
    pub change: Option<f64>,
    /// How many times as much it is; absent too where it was 0.
    pub ratio: Option<f64>,
}

/// A comparable number.
pub trait Number: Copy {
    /// As a fraction, rounded if too large to be exact.
    fn as_f64(self) -> f64;
}

impl Number for u64 {
    fn as_f64(self) -> f64 {
        self as f64
    }
}

impl Number for f64 {
    fn as_f64(self) -> f64 {
        self
    }
}

impl<T: Number> OldNew<T> {
    /// From both values.
    pub(crate) fn of(old: Option<T>, new: Option<T>) -> Self {
        let values = old.zip(new).map(|(old, new)| (old.as_f64(), new.as_f64()));
        let ratio = values
            .filter(|(old, _)| *old > 0.0)
            .map(|(old, new)| tidy(new / old));
        OldNew {
            old,
            new,
            change: values.map(|(old, new)| tidy(new - old)),
            ratio,
        }
    }

    /// From values that both reports have.
    pub fn both(old: T, new: T) -> Self {
        OldNew::of(Some(old), Some(new))
    }
}
