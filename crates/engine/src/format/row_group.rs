//! Row groups: keys, or operations on keys, and what is known of them, column by column, as a walk hands them to the
//! workers in a block. A column of one value is stored as that value.

use std::borrow::Cow;

use crate::format::batch::{BATCH_KEYS, MISSING, Number, Spans, Values, Word};
use crate::metric::Metric;
use crate::source::block::Block;

/// Kinds in a group: their numbers are bytes.
const MAX_KINDS: usize = 256;
/// Bytes of names in a group, unless one key is longer.
const MAX_NAMES: usize = 1 << 20;

/// How a column is stored: as the one value that all keys have, or value by value.
const CONSTANT: u8 = 0;
const LISTED: u8 = 1;

/// A type and an encoding, or a command and nothing.
pub type Kind = (Cow<'static, str>, &'static str);

/// What is known of a key besides its name.
pub struct Row<'a> {
    /// Where it is in the input.
    pub offset: u64,
    /// Its size in bytes, or how many operations it is.
    pub weight: u64,
    /// Other numbers, or `MISSING`: one for each of `Number::ALL`.
    pub numbers: [u64; Number::ALL.len()],
    /// What it is.
    pub kind: (&'a Cow<'static, str>, &'static str),
}

/// Keys on their way into a block.
#[derive(Default)]
pub struct RowGroup {
    names: Vec<u8>,
    lengths: Vec<u32>,
    offsets: Vec<u64>,
    weights: Vec<u64>,
    numbers: [Vec<u64>; Number::ALL.len()],
    /// The kind of each key, by its number.
    kinds: Vec<u8>,
    known_kinds: Vec<Kind>,
    last_kind: u8,
    /// When each operation ran, in milliseconds since 1970; empty in a group of keys.
    times: Vec<u64>,
}

impl RowGroup {
    /// Takes in a key.
    #[inline]
    pub fn push(&mut self, key: &[u8], row: &Row<'_>) {
        self.names.extend_from_slice(key);
        self.lengths.push(key.len() as u32);
        self.offsets.push(row.offset);
        self.weights.push(row.weight);
        for (column, number) in self.numbers.iter_mut().zip(row.numbers) {
            column.push(number);
        }
        let kind = self.kind(row.kind);
        self.kinds.push(kind);
    }

    /// Takes in an operation on a key.
    #[inline]
    pub fn push_operation(&mut self, key: &[u8], time_ms: u64, row: &Row<'_>) {
        self.push(key, row);
        self.times.push(time_ms);
    }

    fn kind(&mut self, (name, encoding): (&Cow<'static, str>, &'static str)) -> u8 {
        let same = |(known, other): &Kind| same_text(other, encoding) && same_text(known, name);
        let known = &mut self.known_kinds;
        if !known.get(usize::from(self.last_kind)).is_some_and(same) {
            let number = known.iter().position(same).unwrap_or_else(|| {
                known.push((name.clone(), encoding));
                known.len() - 1
            });
            self.last_kind = number as u8;
        }
        self.last_kind
    }

    /// Whether no more keys may be added.
    pub fn is_full(&self) -> bool {
        self.lengths.len() == BATCH_KEYS
            || self.names.len() >= MAX_NAMES
            || self.known_kinds.len() == MAX_KINDS
    }

    /// Whether no key was added.
    pub fn is_empty(&self) -> bool {
        self.lengths.is_empty()
    }

    /// Bytes of the names.
    pub fn name_bytes(&self) -> usize {
        self.names.len()
    }

    /// Appends the group to a block, and starts the next.
    pub fn write(&mut self, block: &mut Block) {
        let count = self.lengths.len() as u32;
        block.append(&count.to_le_bytes());
        block.append(&[(self.known_kinds.len() - 1) as u8]);
        for (type_name, encoding) in &self.known_kinds {
            for word in [type_name.as_bytes(), encoding.as_bytes()] {
                // No name of a type is longer.
                let word = &word[..word.len().min(usize::from(u8::MAX))];
                block.append(&[word.len() as u8]);
                block.append(word);
            }
        }
        write_column(block, &self.kinds, |kind| [kind]);
        write_column(block, &self.lengths, u32::to_le_bytes);
        write_column(block, &self.offsets, u64::to_le_bytes);
        write_column(block, &self.weights, u64::to_le_bytes);
        for column in &self.numbers {
            write_column(block, column, u64::to_le_bytes);
        }
        block.append(&[u8::from(!self.times.is_empty())]);
        write_column(block, &self.times, u64::to_le_bytes);
        block.append(&self.names);
        self.clear();
    }

    fn clear(&mut self) {
        self.names.clear();
        self.names.shrink_to(2 * MAX_NAMES);
        self.lengths.clear();
        self.offsets.clear();
        self.weights.clear();
        self.times.clear();
        self.numbers.iter_mut().for_each(Vec::clear);
        self.kinds.clear();
        self.known_kinds.clear();
        self.last_kind = 0;
    }
}

/// Whether texts are the same: most often they are at the same place.
#[inline]
fn same_text(a: &str, b: &str) -> bool {
    std::ptr::eq(a, b) || a == b
}

fn write_column<T: Copy + PartialEq, const N: usize>(
    block: &mut Block,
    column: &[T],
    bytes_of: impl Fn(T) -> [u8; N],
) {
    let Some(first) = column.first() else { return };
    if column.iter().all(|value| value == first) {
        block.append(&[CONSTANT]);
        block.append(&bytes_of(*first));
    } else {
        block.append(&[LISTED]);
        let values = block.append_zeros(N * column.len());
        for (into, value) in values.as_chunks_mut().0.iter_mut().zip(column) {
            *into = bytes_of(*value);
        }
    }
}

/// Where the parts of a block are read.
pub struct Fields<'a> {
    content: &'a [u8],
    /// How far they are read.
    pub at: usize,
}

/// A column as it is stored.
enum Column<'a, const N: usize> {
    Constant([u8; N]),
    Listed(&'a [[u8; N]]),
}

impl<'a> Fields<'a> {
    /// Those of `content` from `at` on.
    pub fn new(content: &'a [u8], at: usize) -> Self {
        Fields { content, at }
    }

    /// Whether all are read.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.content.len()
    }

    /// Where the next bytes start and end.
    fn span(&mut self, len: usize) -> Option<(usize, usize)> {
        let from = self.at;
        self.at = from
            .checked_add(len)
            .filter(|end| *end <= self.content.len())?;
        Some((from, self.at))
    }

    /// The next bytes.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (from, _) = self.span(N)?;
        self.content[from..].first_chunk().copied()
    }

    /// So many bytes.
    pub fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (from, to) = self.span(len)?;
        Some(&self.content[from..to])
    }

    fn word(&mut self) -> Option<(usize, usize)> {
        let [len] = self.array()?;
        self.span(len.into())
    }

    fn column<const N: usize>(&mut self, count: usize) -> Option<Column<'a, N>> {
        Some(match self.array()? {
            [CONSTANT] => Column::Constant(self.array()?),
            [LISTED] => {
                let (from, to) = self.span(count.checked_mul(N)?)?;
                Column::Listed(self.content[from..to].as_chunks().0)
            }
            _ => return None,
        })
    }
}

impl<const N: usize> Column<'_, N> {
    fn add_to<T: Copy>(&self, into: &mut Vec<T>, count: usize, value_of: impl Fn([u8; N]) -> T) {
        match self {
            Column::Constant(bytes) => into.resize(into.len() + count, value_of(*bytes)),
            Column::Listed(all) => into.extend(all.iter().map(|bytes| value_of(*bytes))),
        }
    }
}

/// Reads a group into columns that are empty; `None` where it is none.
pub fn read(fields: &mut Fields<'_>, keys: &mut Spans, values: &mut Values) -> Option<()> {
    let count = u32::from_le_bytes(fields.array()?) as usize;
    read_kinds(fields, count, values)?;
    let lengths = fields.column::<4>(count)?;
    fields.column::<8>(count)?;
    let weights = fields.column::<8>(count)?;
    for number in Number::ALL {
        match fields.column::<8>(count)? {
            // What no key has is not carried. That keys never expire is known.
            Column::Constant(bytes)
                if u64::from_le_bytes(bytes) == MISSING && number != Number::Expiry => {}
            column => column.add_to(values.number_mut(number), count, u64::from_le_bytes),
        }
    }
    values.are_operations = fields.array()? != [0];
    match values.are_operations {
        false => weights.add_to(values.sizes_mut(), count, u64::from_le_bytes),
        true => {
            let ops = &mut values.weights[Metric::OPS];
            weights.add_to(ops, count, u64::from_le_bytes);
            match fields.column::<8>(count)? {
                Column::Constant(bytes) if u64::from_le_bytes(bytes) == MISSING => {}
                times => times.add_to(&mut values.times, count, u64::from_le_bytes),
            }
            values.commands = std::mem::take(values.word_mut(Word::Type));
            values.word_mut(Word::Encoding).clear();
        }
    }
    let mut end = fields.at;
    lengths.add_to(&mut keys.end, count, u32::from_le_bytes);
    for length_or_end in &mut keys.end {
        let start = end;
        end = end.checked_add(*length_or_end as usize)?;
        keys.start.push(start as u32);
        *length_or_end = end as u32;
    }
    fields.span(end - fields.at).map(drop)
}

fn read_kinds(fields: &mut Fields<'_>, count: usize, values: &mut Values) -> Option<()> {
    let [last] = fields.array()?;
    let mut kinds = Vec::with_capacity(usize::from(last) + 1);
    for _ in 0..=last {
        kinds.push([fields.word()?, fields.word()?]);
    }
    let of_keys = fields.column::<1>(count)?;
    let highest = match of_keys {
        Column::Constant([kind]) => kind,
        Column::Listed(of_keys) => of_keys.iter().map(|[kind]| *kind).max().unwrap_or(0),
    };
    if highest > last {
        return None;
    }
    for word in Word::ALL {
        let span = |[kind]: [u8; 1]| kinds[usize::from(kind)][word as usize];
        let spans = values.word_mut(word);
        of_keys.add_to(&mut spans.start, count, |kind| span(kind).0 as u32);
        of_keys.add_to(&mut spans.end, count, |kind| span(kind).1 as u32);
    }
    Some(())
}

/// The offset in the file of the key at `at` in a block, if it is one of the next group.
pub fn offset_of(fields: &mut Fields<'_>, at: usize) -> Option<Option<u64>> {
    let (mut keys, mut values, mut offsets) = (Spans::default(), Values::default(), Vec::new());
    let from = fields.at;
    read(fields, &mut keys, &mut values)?;
    let mut again = Fields::new(fields.content, from);
    let count = u32::from_le_bytes(again.array()?) as usize;
    read_kinds(&mut again, count, &mut Values::default())?;
    again.column::<4>(count)?;
    again
        .column::<8>(count)?
        .add_to(&mut offsets, count, u64::from_le_bytes);
    let key = keys.start.iter().position(|start| *start as usize == at);
    Some(key.and_then(|key| offsets.get(key).copied()))
}
