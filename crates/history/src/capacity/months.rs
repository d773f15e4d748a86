//! Times in seconds since 1970 and the months between them.

/// Seconds per month: a twelfth of a calendar year.
const MONTH_SECS: f64 = 365.25 * 86_400.0 / 12.0;

/// Months from one time to a later one.
pub(crate) fn months(from: u64, to: u64) -> f64 {
    to.saturating_sub(from) as f64 / MONTH_SECS
}

/// The time this many months after another.
pub(crate) fn after(at: u64, months: f64) -> u64 {
    at.saturating_add((months * MONTH_SECS) as u64)
}
