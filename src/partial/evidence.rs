//! Evidence about an input besides its keys: it adds up over parts, and rows at their borders are compared once both
//! are known.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::format;
use slotscope_engine::format::frame::block_joins::{Borders, OpenEnds};
use slotscope_engine::format::{Lost, Notice, ReadStats, Told, Unreadable};
use slotscope_engine::metric::MOST_KEYS;
use slotscope_engine::name::Name;
use slotscope_engine::scan::SeenInput;

use crate::options::is_default;

/// The evidence about an input.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Evidence {
    format: String,
    bytes: u64,
    keys: u64,
    operations: u64,
    rejected: u64,
    missing: i64,
    written_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    used_memory: Option<u64>,
    #[serde(default, skip_serializing_if = "is_default")]
    filtered_bytes: u64,
    notices: BTreeMap<Notice, u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    unreadable: BTreeMap<Lost, FirstOf>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    another_from: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    told: Option<Told>,
    ends: OpenEnds,
}

/// Unreadable values: their number, the row of the first, and its text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FirstOf {
    count: u64,
    byte: u64,
    text: Name,
}

impl Evidence {
    /// The evidence of a scan.
    pub(crate) fn of(input: &SeenInput, ends: OpenEnds) -> Self {
        let seen = &input.seen;
        Evidence {
            format: input.format.into(),
            bytes: input.bytes,
            keys: seen.keys,
            operations: seen.operations,
            rejected: seen.rejected,
            missing: seen.missing,
            written_ms: seen.written_ms,
            used_memory: seen.used_memory,
            filtered_bytes: seen.filtered_bytes,
            notices: seen.notices().collect(),
            unreadable: seen.unreadable().map(FirstOf::of).collect(),
            another_from: seen.another_from,
            told: input.told.as_deref().cloned(),
            ends,
        }
    }

    /// The same evidence as a scan of the whole input.
    ///
    /// # Errors
    /// Unknown format.
    pub(crate) fn seen(&self) -> Result<SeenInput> {
        let mut seen = ReadStats::of_keys(self.keys);
        (seen.operations, seen.rejected) = (self.operations, self.rejected);
        (seen.missing, seen.written_ms) = (self.missing, self.written_ms);
        seen.used_memory = self.used_memory;
        seen.filtered_bytes = self.filtered_bytes;
        let notices = self.notices.iter();
        notices.for_each(|(notice, count)| seen.note(*notice, *count));
        seen.another_from = self.another_from;
        for (value, first) in &self.unreadable {
            seen.add_unreadable(*value, first.unreadable());
        }
        Ok(SeenInput {
            // Nothing was read of an input that could not be opened.
            format: match self.format.as_str() {
                "" => "",
                name => format::named(name)?.name(),
            },
            told: self.told.clone().map(Arc::new),
            bytes: self.bytes,
            seen,
            line_ends: 0,
        })
    }

    /// The rows of the first unreadable values.
    pub(crate) fn unreadable_bytes(&self) -> impl Iterator<Item = u64> + '_ {
        self.unreadable.values().map(|first| first.byte)
    }

    /// Whether the numbers are plausible.
    pub(crate) fn is_sound(&self) -> bool {
        let counts = [self.keys, self.operations, self.rejected];
        let unreadable = self.unreadable.values().map(|first| first.count);
        let mut numbers = counts
            .into_iter()
            .chain(self.notices.values().copied())
            .chain(unreadable);
        numbers.all(|number| number <= MOST_KEYS)
            && self.missing.unsigned_abs() <= MOST_KEYS
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
        let add = |mine: &mut u64, theirs: u64| *mine = mine.saturating_add(theirs);
        add(&mut self.bytes, other.bytes);
        add(&mut self.keys, other.keys);
        add(&mut self.operations, other.operations);
        add(&mut self.rejected, other.rejected);
        add(&mut self.filtered_bytes, other.filtered_bytes);
        self.missing = self.missing.saturating_add(other.missing);
        self.written_ms = self.written_ms.max(other.written_ms);
        self.used_memory = self.used_memory.max(other.used_memory);
        for (notice, count) in other.notices {
            add(self.notices.entry(notice).or_default(), count);
        }
        let mut seen = ReadStats::default();
        for (value, first) in std::mem::take(&mut self.unreadable)
            .into_iter()
            .chain(other.unreadable)
        {
            seen.add_unreadable(value, first.unreadable());
        }
        self.unreadable = seen.unreadable().map(FirstOf::of).collect();
        let starts = [self.another_from, other.another_from];
        self.another_from = starts.into_iter().flatten().min();
        self.told = self.told.take().or(other.told);
        let repeated = join(&mut self.ends, other.ends);
        self.note(Notice::Repeated, repeated);
        Ok(())
    }

    fn note(&mut self, notice: Notice, count: u64) {
        if count > 0 {
            *self.notices.entry(notice).or_default() += count;
        }
    }
}

impl FirstOf {
    fn of((value, unreadable): (Lost, Unreadable)) -> (Lost, Self) {
        let text = Name::from(unreadable.text());
        let Unreadable { count, byte, .. } = unreadable;
        (value, FirstOf { count, byte, text })
    }

    fn unreadable(&self) -> Unreadable {
        Unreadable::of(self.count, self.byte, &self.text.0)
    }
}

/// Joins stretches of two parts; returns how many of the meeting keys are equal.
fn join(mine: &mut OpenEnds, theirs: OpenEnds) -> u64 {
    let borders = Borders::of(std::mem::take(mine));
    let mut count = 0;
    for (start, stretch) in theirs {
        borders.join(
            start..stretch.end,
            stretch.first,
            stretch.last,
            |before, behind| count += u64::from(before == behind),
        );
    }
    *mine = borders.stretches();
    count
}
