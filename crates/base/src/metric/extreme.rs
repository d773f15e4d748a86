//! Key listings (such as `--bigkeys`) by measure. A listing has only a handful of extreme keys, so it is not a load
//! metric, and nothing is judged by it.

use serde::{Deserialize, Serialize};

/// The measure of a list of extremes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Extreme {
    /// CPU time in microseconds: HOTKEYS of Redis.
    CpuTime,
    /// Bytes from and to clients: HOTKEYS of Redis.
    Traffic,
    /// Lookups a second: HOTKEYS of Valkey.
    Lookups,
    /// Accesses a minute, as LFU counters estimate them: redis-cli --hotkeys.
    Accesses,
    /// Bytes in memory, or the length of a string: redis-cli --memkeys, --keystats and --bigkeys.
    Bytes,
    /// Elements: redis-cli --bigkeys.
    Elements,
    /// The value of entries of a command log: microseconds in a slow log, bytes in a log of large requests or replies.
    Logged,
}

/// How a listing is displayed, and how several amounts of one key are combined.
struct ExtremeRow {
    title: &'static str,
    head: &'static str,
    is_size: bool,
    adds_up: bool,
}

const ROWS: [ExtremeRow; 7] = [
    row("CPU time", "CPU µs", false, true),
    row("network traffic", "traffic", true, true),
    row("lookups", "lookups/s", false, false),
    row("LFU counter", "≈ accesses/min", false, false),
    row("size", "bytes", true, false),
    row("elements", "elements", false, false),
    row("logged time or bytes", "µs, or bytes", false, true),
];

const fn row(title: &'static str, head: &'static str, is_size: bool, adds_up: bool) -> ExtremeRow {
    ExtremeRow {
        title,
        head,
        is_size,
        adds_up,
    }
}

impl Extreme {
    pub const ALL: [Extreme; ROWS.len()] = [
        Extreme::CpuTime,
        Extreme::Traffic,
        Extreme::Lookups,
        Extreme::Accesses,
        Extreme::Bytes,
        Extreme::Elements,
        Extreme::Logged,
    ];

    fn row(self) -> &'static ExtremeRow {
        &ROWS[self as usize]
    }

    /// Its title for display.
    pub fn title(self) -> &'static str {
        self.row().title
    }

    /// Its column title.
    pub fn head(self) -> &'static str {
        self.row().head
    }

    /// Whether it is always a size in bytes.
    pub fn is_size(self) -> bool {
        self.row().is_size
    }

    /// Whether several amounts of one key are added; otherwise averaged.
    pub fn adds_up(self) -> bool {
        self.row().adds_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_its_place() {
        for (place, of) in Extreme::ALL.into_iter().enumerate() {
            assert_eq!(of as usize, place);
        }
    }
}
