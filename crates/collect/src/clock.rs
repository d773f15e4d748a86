//! The local clock.

use std::time::{SystemTime, UNIX_EPOCH};

use slotscope_base::calendar::utc;

/// Milliseconds since 1970.
pub(crate) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as i64)
}

/// The UTC time, `2026-11-22T10:00:00.123Z`.
pub(crate) fn now() -> String {
    utc(now_ms())
}
