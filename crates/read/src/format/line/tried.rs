//! Reads the first lines of an input, as a trial. The first key in a report and the patterns in a message come from it:
//! nothing is advised that was not run.

use slotscope_base::batch::{KeyBatch, MISSING, Spans, Values};
use slotscope_base::block::{Block, Piece};
use slotscope_base::lfu::LfuRule;
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::format::{Columns, Head, Opened, ReadStats, Reader, Sink};

/// Bytes that are read.
const LOOKED_AT: usize = 64 << 10;

/// The result of reading the first lines.
#[derive(Debug, Default)]
pub struct Tried {
    /// Rows that are keys.
    pub fits: u64,
    /// Rows that are not.
    pub misfits: u64,
    /// Keys with a size.
    pub sized: u64,
    /// The first key, and its size.
    pub first: Option<(Name, Option<u64>)>,
    /// The largest of them.
    pub largest: Option<(Name, u64)>,
    /// The offset of the first row that is not a key.
    pub first_misfit: Option<usize>,
    /// Number of keys with a blank in them, or a sign at the end that is rather between a key and what follows.
    with_more: u64,
    /// Keys between brackets or quotes, by pair.
    enclosed: [u64; PAIRS.len()],
}

/// Brackets and quotes that other programs print around keys, without the braces of hash tags.
const PAIRS: [(&str, &str); 7] = [
    ("[", "]"),
    ("(", ")"),
    ("<", ">"),
    ("'", "'"),
    ("\"", "\""),
    ("`", "`"),
    ("{{", "}}"),
];

impl Tried {
    /// Whether at least this many of a hundred rows are keys.
    pub(crate) fn fits_percent(&self, percent: u64) -> bool {
        self.fits > 0 && 100 * self.fits >= percent * (self.fits + self.misfits)
    }

    /// Whether the pattern leaves other text beside nearly all keys.
    pub fn has_more(&self) -> bool {
        20 * self.with_more >= 19 * self.fits
    }

    /// The brackets or quotes around most keys.
    pub fn enclosed(&self) -> Option<(&'static str, &'static str)> {
        const LEAST: u64 = 3;
        let counted = self.enclosed.into_iter().zip(PAIRS);
        let (most, pair) = counted.max_by_key(|(count, _)| *count)?;
        (most >= LEAST && 2 * most > self.fits).then_some(pair)
    }

    /// The first key, and its size.
    pub fn said(&self) -> String {
        match &self.first {
            Some((key, size)) => {
                let size = size.map_or(String::new(), |size| {
                    format!(" of {}", slotscope_base::text::bytes(size))
                });
                format!("\"{}\"{size}", key.short(SHOWN))
            }
            None => String::from("no key"),
        }
    }
}

/// Characters shown of a key.
const SHOWN: usize = 60;

/// The complete lines at the start of `head`.
pub fn sample(head: Head<'_>) -> &[u8] {
    let start = &head.bytes[..head.bytes.len().min(LOOKED_AT)];
    if head.whole && start.len() == head.bytes.len() {
        return start;
    }
    let end = memchr::memrchr(b'\n', start).map_or(start.len(), |end| end + 1);
    &start[..end]
}

/// Reads the complete lines of `head`; `None` if `opened` does not read blocks.
pub fn tried(opened: &Opened, head: Head<'_>) -> Option<Tried> {
    let Opened::Blocks { reader, .. } = opened else {
        return None;
    };
    let mut tried = Tried::default();
    read(&**reader, sample(head), false, &mut tried);
    Some(tried)
}

/// Reads `content`, a whole input.
pub(in crate::format) fn read(
    reader: &dyn Reader,
    content: &[u8],
    with_attributes: bool,
    sink: &mut dyn Sink,
) -> ReadStats {
    let mut columns = Columns {
        keys: &mut Spans::default(),
        values: &mut Values::default(),
        sink,
        kernel: hashslot::best(),
        lfu: LfuRule::default(),
        command_times: None,
        written_ms: 0,
        with_attributes,
    };
    let piece = Piece {
        from: 0,
        offset: 0,
        first: true,
        last: true,
        is_rereadable: false,
    };
    reader.read(&mut Block::from_bytes(content), piece, &mut columns)
}

impl Sink for Tried {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let name = |at: usize| Name::from(batch.keys.get(batch.base, at));
        let sizes = batch.values.column(Metric::Bytes).unwrap_or_default();
        let size = |at: usize| sizes.get(at).copied().filter(|size| *size != MISSING);
        if self.first.is_none() && !batch.keys.is_empty() {
            self.first = Some((name(0), size(0)));
        }
        self.sized += (0..sizes.len()).filter(|at| size(*at).is_some()).count() as u64;
        let known = (0..sizes.len()).filter_map(|at| Some((size(at)?, at)));
        // The first of equals.
        if let Some((largest, at)) = known.max_by_key(|(size, at)| (*size, std::cmp::Reverse(*at)))
            && self
                .largest
                .as_ref()
                .is_none_or(|(_, size)| largest > *size)
        {
            self.largest = Some((name(at), largest));
        }
        for at in 0..batch.keys.len() {
            let key = batch.keys.get(batch.base, at);
            let ends_open = key.last().is_some_and(|byte| b":,;=".contains(byte));
            self.with_more += u64::from(ends_open || key.iter().any(|byte| b" \t".contains(byte)));
            let is_between = |(open, close): &(&str, &str)| {
                key.len() > open.len() + close.len()
                    && key.starts_with(open.as_bytes())
                    && key.ends_with(close.as_bytes())
            };
            if let Some(pair) = PAIRS.iter().position(is_between) {
                self.enclosed[pair] += 1;
            }
        }
        self.fits += batch.keys.len() as u64;
    }

    fn reject(&mut self, at: usize, _: &str) {
        self.misfits += 1;
        self.first_misfit.get_or_insert(at);
    }

    fn reject_at(&mut self, byte: u64, reason: &str) {
        self.reject(byte as usize, reason);
    }
}
