//! The counts of patterns: coarser ones where there are too many, at the finest level that fits.
//!
//! The level and every count depend only on the keys, not on their order or distribution over threads.

use serde::{Deserialize, Serialize};

use slotscope_base::hash::hash;
use slotscope_base::metric::Load;

use crate::pattern::coarse::{COARSEST, coarser};
use crate::tally::counted_pattern::Counted;
use crate::tally::slot_sets::SlotSets;
use crate::tally::table::NameTable;

/// Loads by pattern.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct PatternCounts {
    /// 0: each pattern.
    pub level: u8,
    /// `None` if even the coarsest patterns are too many.
    pub table: Option<NameTable>,
    /// The slots of each pattern's keys.
    pub slots: SlotSets,
    pub separator: Vec<u8>,
}

impl PatternCounts {
    /// For keys whose segments are separated by `separator`.
    pub(super) fn new(separator: &[u8]) -> Self {
        PatternCounts {
            level: 0,
            table: Some(NameTable::default()),
            slots: SlotSets::default(),
            separator: separator.to_vec(),
        }
    }

    /// Adds to a pattern of any finer level, whose hash is `hash`.
    pub(super) fn add(&mut self, name_hash: u64, pattern: &[u8], load: Load) {
        while let Some(table) = &mut self.table {
            let added = if self.level == 0 {
                table.add(name_hash, pattern, load)
            } else {
                let Counted { name, traits } = Counted::of(pattern);
                let name = Counted::written(&coarser(name, self.level, &self.separator), traits);
                table.add(hash(&name), &name, load)
            };
            if added.is_ok() {
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
        let rows = table.iter();
        rows.for_each(|(name, hash, load)| self.add(hash, name, load));
    }

    /// Merges the patterns of another part of the input.
    pub(super) fn merge(&mut self, other: Self) {
        while self.level < other.level {
            self.raise();
        }
        match other.table {
            Some(table) => self.add_all(&table),
            // Too many patterns for a part are too many for the whole.
            None => self.table = None,
        }
        self.slots.merge(other.slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::metric::Metric;

    /// The counts of patterns that `name` makes of these numbers.
    fn counts(numbers: std::ops::Range<u64>, name: impl Fn(u64) -> String) -> PatternCounts {
        let mut counts = PatternCounts::new(b":");
        for number in numbers {
            let name = Counted::written(name(number).as_bytes(), false);
            counts.add(hash(&name), &name, Load::KEY);
        }
        counts
    }

    /// A word after two constant segments.
    fn word(number: u64) -> String {
        format!("a:b:{}", letters(number))
    }

    fn letters(mut number: u64) -> String {
        let letter = |_| {
            let letter = char::from(b'a' + (number % 26) as u8);
            number /= 26;
            letter
        };
        (0..5).map(letter).collect()
    }

    fn rows(counts: &PatternCounts) -> Vec<(String, u64)> {
        let table = counts.table.as_ref().unwrap();
        let row = |(name, _, load): (&[u8], u64, Load)| {
            let name = String::from_utf8_lossy(Counted::of(name).name).into_owned();
            (name, load[Metric::Keys])
        };
        table.iter().map(row).collect()
    }

    #[test]
    fn the_level_is_the_finest_that_fits_for_any_parts() {
        let random = counts(0..70_000, |i| format!("{}7x", word(i)));
        assert_eq!(
            (random.level, rows(&random)),
            (1, vec![("a:b:<id>".into(), 70_000)])
        );

        let mut forward = counts(0..50_000, word);
        let mut backward = counts(50_000..100_000, word);
        assert_eq!(forward.level, 0, "half of them fit");
        let (a, b) = (forward.clone(), backward.clone());
        forward.merge(b);
        backward.merge(a);
        assert_eq!(forward, backward);
        assert_eq!(
            (forward.level, rows(&forward)),
            (2, vec![("a:b:<id>".into(), 100_000)])
        );
        forward.merge(random.clone());
        let mut other_way = random;
        other_way.merge(backward);
        assert_eq!(forward, other_way);
        let first = counts(0..100_000, |i| format!("{}:x", letters(i)));
        assert_eq!(
            (first.level, rows(&first)),
            (4, vec![("<id>:<id>".into(), 100_000)])
        );
    }

    #[test]
    fn where_even_names_without_words_are_too_many_nothing_is_counted() {
        let dots = |number: u64| -> String {
            let dot = |bit: u64| if number >> bit & 1 == 0 { '.' } else { '!' };
            (0..17).map(dot).collect()
        };
        let none = counts(0..100_000, dots);
        assert!(none.table.is_none());
        let mut fits = counts(0..10, word);
        fits.merge(none.clone());
        assert_eq!(fits, none);
    }
}
