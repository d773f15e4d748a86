//! How and from which data a report was made.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

use crate::Summary;

/// How a report was made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Run {
    /// The version of slotscope.
    pub version: String,
    /// The user's title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Name>,
    /// The command that made it.
    pub command: Name,
    /// When, in seconds since 1970 (UTC).
    pub started: u64,
    /// When the files that were read were last written, where they say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dumped: Option<Dumped>,
    /// The date of the input that the user names, in seconds since 1970 (UTC); it goes before all times of files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date: Option<u64>,
    /// How long it took.
    pub elapsed_secs: f64,
    /// Worker threads.
    pub threads: usize,
    /// The kernel that computed the slots.
    pub kernel: String,
    /// How often the input was read.
    pub passes: u32,
    /// Input bytes a second, over all passes.
    pub bytes_per_sec: f64,
    /// Keys a second.
    pub keys_per_sec: f64,
    /// The most memory that was resident, where the system says it.
    pub peak_rss_bytes: Option<u64>,
}

/// When the oldest and the newest file of an input were last written, in seconds since 1970 (UTC).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Dumped {
    /// The oldest.
    pub first: u64,
    /// The newest.
    pub last: u64,
}

impl Summary {
    /// When the oldest and the newest dump were written: by the user, the dumps themselves, or else by file times.
    pub fn dumped(&self) -> Option<Dumped> {
        if let Some(date) = self.run.date {
            let (first, last) = (date, date);
            return Some(Dumped { first, last });
        }
        let files = self.run.dumped;
        // Copying loses the file time; the time inside the dump stays.
        let last = self.input.written.or(files.map(|files| files.last))?;
        let first = files.map_or(last, |files| files.first.min(last));
        Some(Dumped { first, last })
    }
}
