//! Counts when there are too many patterns: coarser patterns, at the finest level that fits.
//!
//! The level and every count depend only on the keys, not on their order or distribution over threads.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::hash::hash;
use crate::metric::Load;
use crate::pattern::coarse::{COARSEST, coarser};
use crate::tally::counted_pattern::Counted;
use crate::tally::table::NameTable;

/// Loads by coarser pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CoarsePatterns {
    #[serde(deserialize_with = "level")]
    level: u8,
    /// `None` if even the coarsest patterns are too many.
    table: Option<NameTable>,
    separator: Vec<u8>,
}

fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u8, D::Error> {
    let level = u8::deserialize(deserializer)?;
    if (1..=COARSEST + 1).contains(&level) {
        Ok(level)
    } else {
        Err(D::Error::custom("patterns of no level"))
    }
}

impl CoarsePatterns {
    /// The counts of `table` as coarser patterns, with segments separated by `separator`.
    pub(crate) fn of(table: &NameTable, separator: &[u8]) -> Self {
        let mut coarse = CoarsePatterns {
            level: 1,
            table: Some(NameTable::default()),
            separator: separator.to_vec(),
        };
        coarse.add_all(table);
        coarse
    }

    /// The level of the patterns, at least 1.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// The patterns; `None` if there are too many at any level.
    pub fn table(&self) -> Option<&NameTable> {
        self.table.as_ref()
    }

    /// Adds to a pattern of any finer level.
    pub(crate) fn add(&mut self, pattern: &[u8], load: Load) {
        while let Some(table) = &mut self.table {
            let Counted { name, traits } = Counted::of(pattern);
            let name = Counted::written(&coarser(name, self.level, &self.separator), traits);
            if table.add(hash(&name), &name, load).is_ok() {
                return;
            }
            self.raise();
        }
    }

    /// Advances to the next level, or gives up after the last.
    fn raise(&mut self) {
        let table = self.table.take();
        self.level += 1;
        if self.level <= COARSEST {
            self.table = Some(NameTable::default());
            self.add_all(&table.unwrap_or_default());
        }
    }

    fn add_all(&mut self, table: &NameTable) {
        table
            .iter()
            .for_each(|(name, _, load)| self.add(name, load));
    }

    /// Merges the patterns of another part of the input.
    pub(crate) fn merge(&mut self, other: Self) {
        while self.level < other.level {
            self.raise();
        }
        match other.table {
            Some(table) => self.add_all(&table),
            // Too many patterns for a part are too many for the whole.
            None => (self.level, self.table) = (other.level, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;

    /// Patterns with these words after two constant segments.
    fn table(words: impl Iterator<Item = String>) -> NameTable {
        let mut table = NameTable::default();
        for word in words {
            let name = Counted::written(format!("a:b:{word}").as_bytes(), false);
            table.add(hash(&name), &name, Load::KEY).unwrap();
        }
        table
    }

    fn letters(mut number: u64) -> String {
        let letter = |_| {
            let letter = char::from(b'a' + (number % 26) as u8);
            number /= 26;
            letter
        };
        (0..5).map(letter).collect()
    }

    fn rows(coarse: &CoarsePatterns) -> Vec<(String, u64)> {
        let table = coarse.table().unwrap();
        let row = |(name, _, load): (&[u8], u64, Load)| {
            let name = String::from_utf8_lossy(Counted::of(name).name).into_owned();
            (name, load[Metric::Keys])
        };
        table.iter().map(row).collect()
    }

    #[test]
    fn the_level_is_the_finest_that_fits_for_any_parts() {
        let random = table((0..50_000).map(|i| format!("{}7x", letters(i))));
        let coarse = CoarsePatterns::of(&random, b":");
        assert_eq!(
            (coarse.level(), rows(&coarse)),
            (1, vec![("a:b:<id>".into(), 50_000)])
        );

        let [first, second] = [0, 50_000].map(|from| table((from..from + 50_000).map(letters)));
        let [mut forward, mut backward] =
            [&first, &second].map(|table| CoarsePatterns::of(table, b":"));
        assert_eq!(forward.level(), 1, "half of them fit");
        let (a, b) = (forward.clone(), backward.clone());
        forward.merge(b);
        backward.merge(a);
        assert_eq!(forward, backward);
        assert_eq!(
            (forward.level(), rows(&forward)),
            (2, vec![("a:b:<id>".into(), 100_000)])
        );
        forward.merge(coarse.clone());
        let mut other_way = coarse;
        other_way.merge(backward);
        assert_eq!(forward, other_way);
    }

    #[test]
    fn where_even_the_first_segments_are_too_many_nothing_is_counted() {
        let mut coarse = CoarsePatterns::of(&NameTable::default(), b":");
        for i in 0..100_000 {
            coarse.add(
                &Counted::written(format!("{}:x", letters(i)).as_bytes(), true),
                Load::KEY,
            );
        }
        assert!(coarse.table().is_none());
        let mut fits = CoarsePatterns::of(&table((0..10).map(letters)), b":");
        fits.merge(coarse.clone());
        assert_eq!(fits, coarse);
    }
}
