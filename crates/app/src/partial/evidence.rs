//! Evidence about an input besides its keys, which adds up over parts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::MOST_KEYS;
use slotscope_count::scan::SeenInput;
use slotscope_read::format::{ReadStats, Told};

/// The evidence about an input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evidence {
    format: String,
    bytes: u64,
    seen: ReadStats,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Told>,
}

impl Evidence {
    /// The evidence of a scan.
    pub(crate) fn of(input: &SeenInput) -> Self {
        Evidence {
            format: input.format.into(),
            bytes: input.bytes,
            seen: input.seen.clone(),
            told: input.told.as_deref().cloned(),
        }
    }

    /// The evidence as if from a single scan.
    ///
    /// # Errors
    /// Its format is unknown here.
    pub(crate) fn seen(&self) -> Result<SeenInput> {
        Ok(SeenInput {
            // Nothing was read of an input that could not be opened.
            format: match self.format.as_str() {
                "" => "",
                name => slotscope_detect::named(name)?.name(),
            },
            told: self.told.clone().map(Arc::new),
            bytes: self.bytes,
            seen: self.seen.clone(),
        })
    }

    /// Whether the numbers are plausible.
    pub(crate) fn is_sound(&self) -> bool {
        let seen = &self.seen;
        let counts = [
            seen.keys,
            seen.operations,
            seen.rejected,
            seen.keyless.count,
        ];
        let keyless = [&seen.keyless.commands, &seen.keyless.clients];
        let keyless = keyless.into_iter().flat_map(|names| names.iter());
        let mut numbers = counts
            .into_iter()
            .chain(seen.notices().map(|(_, count)| count))
            .chain(keyless.map(|(_, count)| count))
            .chain(seen.unreadable().map(|(_, first)| first.count));
        numbers.all(|number| number <= MOST_KEYS)
            && seen.missing.unsigned_abs() <= MOST_KEYS
            && seen.unreadable().all(|(_, first)| first.is_sound())
            && self.bytes < 1 << 60
    }

    /// Merges the evidence of another part.
    ///
    /// # Errors
    /// The formats differ.
    pub(crate) fn merge(&mut self, other: Evidence) -> Result<()> {
        if self.format.is_empty() {
            self.format = other.format;
        } else if !other.format.is_empty() && self.format != other.format {
            let reason = format!(
                "one part was read as {} and another as {}; count all parts again",
                self.format, other.format
            );
            return Err(Error::option("format", "", reason));
        }
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.seen += other.seen;
        self.told = self.told.take().or(other.told);
        Ok(())
    }
}
