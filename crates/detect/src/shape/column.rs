//! A column of cells: whether they are values or names, and which kind of values.

use std::collections::{HashMap, HashSet};

use slotscope_base::metric::Metric;
use slotscope_read::format::line::Pattern;
use slotscope_read::format::parse::size::{is_missing, size};
use slotscope_read::format::parse::unit::is_letter;
use slotscope_read::format::parse::value::{Value, value};
use slotscope_read::format::table::columns::Role;
use slotscope_read::format::table::units::Unit;

/// The cells of a column with their statistics.
#[derive(Debug, Default)]
pub(super) struct Column<'a> {
    /// The cells, trimmed.
    pub cells: Vec<&'a [u8]>,
    /// The numbers among them.
    pub numbers: Vec<u64>,
    /// How many are numbers or missing, how many words, how many times.
    values: [usize; 3],
    /// Number of distinct cells.
    distinct: usize,
    /// Whether they count from 0 or 1.
    pub is_index: bool,
    /// Whether each is a number in list markup: `1)`, `#1.`.
    pub is_decorated: bool,
}

/// The fraction of rows for which a rule must hold.
pub(super) const MOST: f64 = 0.95;

pub(super) fn share(part: usize, total: usize) -> f64 {
    if total == 0 {
        0.0
    } else {
        part as f64 / total as f64
    }
}

/// The fraction of `items` that satisfies `is`.
pub(super) fn share_of<T>(items: &[T], is: impl Fn(&T) -> bool) -> f64 {
    share(items.iter().filter(|item| is(item)).count(), items.len())
}

impl<'a> Column<'a> {
    pub(super) fn of(cells: Vec<&'a [u8]>) -> Column<'a> {
        let cells: Vec<&[u8]> = cells.into_iter().map(<[u8]>::trim_ascii).collect();
        let mut column = Column {
            distinct: cells.iter().collect::<HashSet<_>>().len(),
            ..Column::default()
        };
        let decorated: Option<Vec<u64>> = cells.iter().map(|cell| decorated(cell)).collect();
        for cell in &cells {
            match value(cell) {
                Value::Number(number) => {
                    column.numbers.push(number);
                    column.values[0] += 1;
                }
                Value::Missing => column.values[0] += 1,
                Value::Word => column.values[1] += 1,
                Value::Time => column.values[2] += 1,
                Value::Text => {}
            }
        }
        if let Some(numbers) = decorated.filter(|numbers| !numbers.is_empty()) {
            column.is_decorated = true;
            column.values[0] = cells.len();
            column.numbers = numbers;
        }
        column.is_index = is_index(&column.numbers, cells.len());
        column.cells = cells;
        column
    }

    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// The fraction of cells that are numbers or missing.
    pub(super) fn are_numbers(&self) -> f64 {
        share(self.values[0], self.len())
    }

    /// Whether these are numbers, with few exceptions.
    pub(super) fn has_numbers(&self) -> bool {
        self.are_numbers() >= MOST && !self.numbers.is_empty()
    }

    /// Whether these are types or levels.
    pub(super) fn are_words(&self) -> bool {
        share(self.values[1], self.len()) >= MOST
    }

    /// Whether the cells are values rather than key names.
    pub(super) fn is_value(&self) -> bool {
        self.are_numbers() >= MOST
            || self.are_words()
            || share(self.values[0] + self.values[2], self.len()) >= MOST
    }

    /// Whether the cells are texts.
    pub(super) fn is_text(&self) -> bool {
        !self.is_decorated
            && self.len() > 0
            && self
                .values
                .iter()
                .all(|values| share(*values, self.len()) < 0.9)
    }

    /// Whether all cells differ, apart from keys that SCAN returned twice.
    pub(super) fn is_unique(&self) -> bool {
        let least = if self.len() >= 50 { 0.98 } else { 1.0 };
        share(self.distinct, self.len()) >= least
    }

    /// Whether its cells are the numbers of another column with units, rounded.
    pub(super) fn rounds(&self, exact: &Column<'_>) -> bool {
        let is_rounded = |(cell, exact): (&&[u8], &&[u8])| {
            let are_digits = exact.iter().all(u8::is_ascii_digit);
            let (rounded, exact) = (size(cell), size(exact).filter(|_| are_digits));
            rounded.zip(exact).is_some_and(|(rounded, exact)| {
                rounded.abs_diff(exact) <= exact / 10 && cell.ends_with(b"B")
            })
        };
        let mut pairs = self.cells.iter().zip(&exact.cells);
        !self.cells.is_empty() && pairs.all(is_rounded)
    }

    /// Whether a few cells repeat over and over.
    pub(super) fn is_repetitive(&self) -> bool {
        self.len() >= 20 && share(self.distinct, self.len()) < 0.05
    }

    /// Whether the cells are a constant word, or one of a few: they say nothing about a row.
    pub(super) fn is_filler(&self) -> bool {
        !self.is_value() && (self.constant().is_some() || self.is_repetitive())
    }

    /// Whether each of few cells is there several times.
    pub(super) fn are_few(&self) -> bool {
        self.len() >= 8 && 4 * self.distinct <= self.len()
    }

    /// Whether these are nothing but dots, which lead to a number in the lines of a report.
    pub(super) fn are_leaders(&self) -> bool {
        let is_dots = |cell: &&[u8]| cell.iter().all(|byte| b".-_".contains(byte));
        share_of(&self.cells, is_dots) >= MOST
    }

    /// The few distinct texts, if it is a filler.
    pub(super) fn words(&self) -> Vec<Vec<u8>> {
        const MOST: usize = 64;
        let distinct: HashSet<&[u8]> = self.cells.iter().copied().collect();
        let is_short = self.is_filler() && distinct.len() <= MOST;
        let mut words: Vec<Vec<u8>> = distinct
            .into_iter()
            .filter(|_| is_short)
            .map(<[u8]>::to_vec)
            .collect();
        words.sort_unstable();
        words
    }

    /// The text that all cells share.
    pub(super) fn constant(&self) -> Option<&'a [u8]> {
        self.cells
            .first()
            .copied()
            .filter(|_| self.distinct == 1 && self.len() >= 3)
    }

    /// The fraction of cells with a delimiter or digit, as key names usually have.
    pub(super) fn look_like_keys(&self) -> f64 {
        let has = |cell: &&[u8]| {
            cell.iter()
                .any(|byte| byte.is_ascii_digit() || b":/._#{}@-".contains(byte))
        };
        share_of(&self.cells, has)
    }

    /// How likely these numbers are key sizes if no header says so; `None` if they cannot be.
    pub(super) fn size(&self) -> Option<MayBeSize> {
        let most = *self.numbers.iter().max()?;
        let has_fraction = |cell: &&[u8]| {
            let behind = cell
                .iter()
                .position(|byte| *byte == b'.')
                .map(|at| &cell[at + 1..]);
            let digits = |text: &[u8]| {
                text.iter()
                    .take_while(|byte| byte.is_ascii_digit())
                    .any(|byte| *byte != b'0')
            };
            behind.is_some_and(|behind| digits(behind) && behind.iter().all(u8::is_ascii_digit))
        };
        let is_time = |number: &u64| {
            (1_000_000_000..=2_200_000_000).contains(number)
                || (1_000_000_000_000..=2_200_000_000_000).contains(number)
        };
        if self.are_numbers() < MOST
            || self.is_index
            || share_of(&self.cells, has_fraction) > 0.05
            || self.numbers.iter().all(is_time)
        {
            return None;
        }
        let numbers = self.numbers.len();
        let distinct = self.numbers.iter().collect::<HashSet<_>>().len();
        let least = *self.numbers.iter().min()?;
        let are_ordinals =
            share(distinct, numbers) >= 0.98 && numbers >= 5 && most - least < 4 * numbers as u64;
        // A TTL of -1 means none.
        let has_forever = self.cells.contains(&&b"-1"[..]);
        Some(if most < 40 || are_ordinals || has_forever {
            MayBeSize::Hardly
        } else {
            MayBeSize::Likely
        })
    }

    /// Whether these look like MEMORY USAGE: allocation sizes are multiples of 8.
    pub(super) fn are_allocations(&self) -> bool {
        let distinct = self.numbers.iter().collect::<HashSet<_>>().len();
        distinct >= 8 && share_of(&self.numbers, |number| number % 8 == 0) >= MOST
    }
}

/// The pattern of lines, with commas before the fractions of sizes if they can only be read so.
pub(super) fn with_commas<'a>(text: String, rows: &[&'a [u8]]) -> String {
    let Ok(pattern) = Pattern::parse(&text) else {
        return text;
    };
    let size = |row: &&'a [u8]| -> Option<&'a [u8]> {
        let row = (*row).trim_ascii();
        let (from, to) = pattern.find(row).ok()?.texts[Role::of(Metric::Bytes).place()];
        Some(&row[from..to])
    };
    let sizes: Vec<&[u8]> = rows.iter().filter_map(size).collect();
    match Unit::One.of_sizes(&sizes).modifiers() {
        "" => text,
        comma => text.replacen("{size}", &format!("{{size:{comma}}}"), 1),
    }
}

/// Whether these are units of one byte, or none.
pub(super) fn are_units_of_one(cells: &[&[u8]]) -> bool {
    cells
        .iter()
        .all(|cell| is_missing(cell) || unit(cell) == Some(1))
}

/// Whether these are units, not all of one byte.
pub(super) fn are_units(cells: &[&[u8]]) -> bool {
    cells.iter().all(|cell| unit(cell).is_some()) && !are_units_of_one(cells)
}

/// The bytes of a unit.
pub(super) fn unit(cell: &[u8]) -> Option<u64> {
    let is_word = !cell.is_empty() && cell.iter().all(is_letter);
    is_word.then(|| size(&[b"1 ", cell].concat())).flatten()
}

/// How likely numbers are key sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum MayBeSize {
    /// They may be.
    Likely,
    /// Unlikely: they are small, or number the rows.
    Hardly,
}

/// The number in `1)`, `#1`, `[1]`.
fn decorated(cell: &[u8]) -> Option<u64> {
    let (first, last) = (cell.first()?, cell.last()?);
    let from = usize::from(b"[(#".contains(first));
    let to = cell.len() - usize::from(b".):]".contains(last));
    let digits = cell.get(from..to)?;
    let is_marked = to < cell.len() || *first == b'#';
    let is_number = (1..=12).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit);
    (is_marked && is_number).then(|| size(digits)).flatten()
}

/// `1.234,5`, `31.12.2026`, `(2.5%)`, `#7`.
pub(super) fn is_figure(word: &&[u8]) -> bool {
    let is_of_it = |byte: &u8| byte.is_ascii_digit() || b".,'/%+-()#".contains(byte);
    word.iter().all(is_of_it) && word.iter().any(u8::is_ascii_digit)
}

/// Whether these count from 0 or 1.
fn is_index(numbers: &[u64], cells: usize) -> bool {
    let steps = || {
        numbers
            .windows(2)
            .all(|pair| pair[1] == pair[0].wrapping_add(1))
    };
    numbers.len() == cells
        && numbers
            .first()
            .is_some_and(|first| *first == 1 || *first == 0 && cells > 1)
        && steps()
}

/// The common prefix of `texts`.
pub(super) fn common_prefix<'a>(texts: &[&'a [u8]]) -> &'a [u8] {
    let Some((first, rest)) = texts.split_first() else {
        return b"";
    };
    let len = rest.iter().fold(first.len(), |len, text| {
        first[..len]
            .iter()
            .zip(*text)
            .take_while(|(a, b)| a == b)
            .count()
    });
    &first[..len]
}

/// The common suffix of `texts`.
pub(super) fn common_suffix<'a>(texts: &[&'a [u8]]) -> &'a [u8] {
    let Some((first, rest)) = texts.split_first() else {
        return b"";
    };
    let len = rest.iter().fold(first.len(), |len, text| {
        let pairs = first[first.len() - len..]
            .iter()
            .rev()
            .zip(text.iter().rev());
        pairs.take_while(|(a, b)| a == b).count()
    });
    &first[first.len() - len..]
}

/// The number of families of names: names with the same first segment, where numbers and ids count as equal. A family
/// has at least two rows, and two percent of all.
pub(super) fn families(names: &[&[u8]]) -> usize {
    let mut rows: HashMap<Vec<u8>, usize> = HashMap::new();
    for name in names {
        *rows.entry(family(name)).or_default() += 1;
    }
    let fixed = if names.len() >= 20 { 2.0 } else { 1.0 };
    let least = f64::max(fixed, 0.02 * names.len() as f64);
    rows.values().filter(|rows| **rows as f64 >= least).count()
}

fn family(name: &[u8]) -> Vec<u8> {
    let text = name.trim_ascii();
    let name = text
        .strip_prefix(b"\"")
        .or(text.strip_prefix(b"'"))
        .unwrap_or(text);
    let end = name
        .iter()
        .position(|byte| b":/._|#-".contains(byte))
        .unwrap_or(name.len());
    let mut family: Vec<u8> = Vec::new();
    for byte in &name[..end] {
        let byte = if byte.is_ascii_digit() { b'9' } else { *byte };
        if byte != b'9' || family.last() != Some(&b'9') {
            family.push(byte);
        }
    }
    let is_hex = |byte: &u8| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase();
    if family.len() >= 6 && family.iter().all(is_hex) {
        b"hex".to_vec()
    } else {
        family
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_the_exact_ones_of_a_column_with_units() {
        let column = |cells: [&'static str; 2]| Column::of(cells.map(str::as_bytes).to_vec());
        let rounded = column(["886.59 KiB", "56 B"]);
        assert!(rounded.rounds(&column(["907872", "56"])));
        for other in [["907872", "560"], ["886 KB", "56 B"], ["12", "3"]] {
            assert!(!rounded.rounds(&column(other)), "{other:?}");
        }
    }

    #[test]
    fn a_column_knows_indexes_and_sizes() {
        let of =
            |cells: &[&'static str]| Column::of(cells.iter().map(|cell| cell.as_bytes()).collect());
        assert!(of(&["0", "1", "2"]).is_index && of(&["1)", "2)", "3)"]).is_index);
        assert!(of(&["1)", "2)"]).is_decorated);
        assert_eq!(of(&["56", "184", "96"]).size(), Some(MayBeSize::Likely));
        assert_eq!(of(&["5", "7", "39"]).size(), Some(MayBeSize::Hardly));
        assert_eq!(of(&["1795216373", "1795216374"]).size(), None);
        assert_eq!(of(&["52.5", "48.1"]).size(), None);
    }

    #[test]
    fn families_are_first_segments_with_numbers_and_ids_as_one() {
        let of = |names: &[&'static str]| {
            families(&names.iter().map(|name| name.as_bytes()).collect::<Vec<_>>())
        };
        assert_eq!(of(&["user:1", "user:2", "cart:1"]), 2);
        assert_eq!(of(&["user1", "user22"]), 1);
        assert_eq!(of(&["0123abcdef", "fedcba9876"]), 1);
    }
}
