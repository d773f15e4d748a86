//! What a walk finds goes to the workers as rows in blocks: they hash and count while the walk goes on.
//!
//! A row is a byte that says what it is, and the fields of that in the order in which they are written here.

use std::ops::Range;

use crate::format::batch::{MISSING, NEVER, Number, SOMETIME, Word};
use crate::format::batch_rows::Gather;
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::record::{Event, Record};
use crate::format::rdb::snapshot::walk::{LONG_KEY, Walker};
use crate::format::walk::{Damage, Sizes, Walk, Walking};
use crate::format::{Columns, Notice, Seen, Sink};
use crate::source::block::Block;
use crate::source::forward::Forward;

/// A key: its type, its encoding, its size, its numbers as in `Number::ALL`, its length, where it is in the file, its name.
const KEY: u8 = 0;

/// Something odd: which notice, and how often.
const NOTICE: u8 = 1;

/// When the file was written; the last row of a block where it is known by then.
const WRITTEN: u8 = 2;

/// A key that is too long: where it is in the file.
const LONG: u8 = 3;

/// Bytes of rows in a block, unless one key is longer.
const BLOCK: usize = 1 << 20;

/// Bytes of the input that a block stands for, unless one value is longer.
const STRETCH: u64 = 16 << 20;

/// A walk that fills blocks.
pub struct Rows {
    walker: Walker,
    sizes: Sizes,
    rows: Vec<u8>,
    /// Whether the next block says what the sizes are.
    says_sizes: bool,
    /// Bytes of the input whose rows are given out.
    done: u64,
    damage: Option<Damage>,
}

impl Rows {
    /// Nothing walked over yet.
    pub fn new(input: Forward, walking: Walking) -> Self {
        let allocator = match walking.sizes {
            Sizes::Memory(allocator) => allocator,
            Sizes::Serialized => Allocator::default(),
        };
        Rows {
            walker: Walker::new(input, walking.verifies, allocator),
            sizes: walking.sizes,
            rows: Vec::new(),
            says_sizes: true,
            done: 0,
            damage: None,
        }
    }

    /// Walks until there is a block of rows, or no more of them.
    fn fill(&mut self) {
        while self.rows.len() < BLOCK && self.walker.offset() - self.done < STRETCH {
            match self.walker.next_event() {
                Ok(Some(Event::Key(record))) => {
                    let bytes = match self.sizes {
                        Sizes::Memory(_) => record.memory.unwrap_or(MISSING),
                        Sizes::Serialized => record.bytes,
                    };
                    write_key(&mut self.rows, &record, bytes);
                }
                Ok(Some(Event::Remark(remark))) if remark.notice == Notice::LongKey => {
                    self.rows.extend([LONG, 0]);
                    self.rows.extend(remark.offset.to_le_bytes());
                }
                Ok(Some(Event::Remark(remark))) => {
                    write_notice(&mut self.rows, remark.notice, remark.count);
                }
                Ok(None) => break,
                Err(damage) => {
                    self.damage = Some(damage);
                    break;
                }
            }
        }
        if let Some(server) = self.walker.server().filter(|_| self.says_sizes) {
            let notice = match self.sizes {
                Sizes::Memory(_) => server.estimate(),
                Sizes::Serialized => Notice::Serialized,
            };
            write_notice(&mut self.rows, notice, 1);
            self.says_sizes = false;
        }
        if self.walker.is_of_cluster() {
            write_notice(&mut self.rows, Notice::InCluster, 1);
        }
        if let Some(written) = self.walker.written_ms() {
            self.rows.extend([WRITTEN, 0]);
            self.rows.extend(written.to_le_bytes());
        }
    }
}

impl Walk for Rows {
    fn next(&mut self, block: &mut Block) -> Result<Option<Range<u64>>, Damage> {
        if let Some(damage) = self.damage.take() {
            return Err(damage);
        }
        self.fill();
        block.shrink(BLOCK);
        block.resize(self.rows.len());
        block.content_mut().copy_from_slice(&self.rows);
        self.rows.clear();
        self.rows.shrink_to(2 * BLOCK);
        let bytes = self.done..self.walker.offset();
        self.done = bytes.end;
        match bytes.is_empty() {
            false => Ok(Some(bytes)),
            true => self.damage.take().map_or(Ok(None), Err),
        }
    }
}

fn write_key(rows: &mut Vec<u8>, record: &Record<'_>, bytes: u64) {
    let odd = [
        (Notice::Expired, record.has_expired),
        (Notice::Imported, record.is_imported),
        (Notice::DamagedValue, record.elements == Elements::Damaged),
    ];
    for (notice, _) in odd.into_iter().filter(|(_, is_so)| *is_so) {
        write_notice(rows, notice, 1);
    }
    let words = [record.type_name.as_bytes(), record.encoding.as_bytes()];
    rows.extend([KEY, words[0].len() as u8, words[1].len() as u8]);
    words.iter().for_each(|word| rows.extend_from_slice(word));
    rows.extend(bytes.to_le_bytes());
    for number in Number::ALL {
        rows.extend(number_of(record, number).to_le_bytes());
    }
    rows.extend((record.key.len() as u32).to_le_bytes());
    rows.extend(record.offset.to_le_bytes());
    rows.extend_from_slice(record.key);
}

fn number_of(record: &Record<'_>, number: Number) -> u64 {
    let known = match number {
        Number::Database => Some(record.database),
        Number::Expiry => Some(record.attributes.expires_ms.map_or(NEVER, |at| {
            // A time before 1970 has passed all the same.
            u64::try_from(at).unwrap_or(0).min(SOMETIME - 1)
        })),
        Number::Elements => record.elements.known(),
        Number::Idle => record.attributes.idle_secs,
        Number::Lfu => record.attributes.lfu.map(u64::from),
    };
    known.unwrap_or(MISSING)
}

fn write_notice(rows: &mut Vec<u8>, notice: Notice, count: u64) {
    rows.extend([NOTICE, notice as u8]);
    rows.extend(count.to_le_bytes());
}

/// Where the fields of a row are read.
struct Fields<'a> {
    content: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    fn span(&mut self, len: usize) -> Option<(usize, usize)> {
        let from = self.at;
        self.at = from
            .checked_add(len)
            .filter(|end| *end <= self.content.len())?;
        Some((from, self.at))
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (from, _) = self.span(N)?;
        self.content[from..].first_chunk().copied()
    }

    fn number(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn row(&mut self) -> Option<Row> {
        let [what, first] = self.array()?;
        match what {
            KEY => {
                let [encoding_bytes] = self.array()?;
                let words = [self.span(first.into())?, self.span(encoding_bytes.into())?];
                let bytes = self.number()?;
                let mut numbers = [MISSING; Number::ALL.len()];
                for number in &mut numbers {
                    *number = self.number()?;
                }
                let key_bytes = u32::from_le_bytes(self.array()?);
                let _offset = self.number()?;
                Some(Row::Key {
                    words,
                    numbers,
                    bytes,
                    key: self.span(key_bytes as usize)?,
                })
            }
            NOTICE => {
                let notice = *Notice::ALL.get(usize::from(first))?;
                Some(Row::Notice(notice, self.number()?))
            }
            WRITTEN => Some(Row::Written(self.number()?)),
            LONG => Some(Row::Long(self.number()?)),
            _ => None,
        }
    }
}

/// A row; of what is in the block, where it starts and ends.
enum Row {
    Key {
        words: [(usize, usize); Word::ALL.len()],
        numbers: [u64; Number::ALL.len()],
        bytes: u64,
        key: (usize, usize),
    },
    Notice(Notice, u64),
    Written(u64),
    Long(u64),
}

/// Hands on the keys of a block of rows.
pub fn read(block: &Block, from: usize, columns: &mut Columns<'_>, sink: &mut dyn Sink) -> Seen {
    let mut gather = Gather::new(columns, sink);
    let mut notices = Seen::default();
    let mut fields = Fields {
        content: block.content(),
        at: from,
    };
    while fields.at < block.len() {
        let at = fields.at;
        match fields.row() {
            Some(Row::Key {
                words,
                numbers,
                bytes,
                key,
            }) => {
                let values = gather.values();
                values.sizes_mut().push(bytes);
                let columns = values.numbers.iter_mut().zip(numbers);
                columns.for_each(|(column, number)| column.push(number));
                let columns = values.words.iter_mut().zip(words);
                columns.for_each(|(column, (from, to))| column.push(from as u32, to as u32));
                gather.key(block, key.0, key.1);
            }
            Some(Row::Notice(notice, count)) => notices.note(notice, count),
            Some(Row::Long(offset)) => gather.reject_at(offset, LONG_KEY),
            Some(Row::Written(at)) => notices.written_ms = notices.written_ms.max(Some(at)),
            None => {
                gather.reject(at, "not a row of a walk over an RDB file");
                break;
            }
        }
    }
    let mut seen = gather.finish(block);
    seen += notices;
    seen
}

/// The offset in the file of the key at `at` in a block of rows: it is written in front of its name.
pub fn offset_of(rows: &[u8], at: usize) -> Option<u64> {
    let offset = rows.get(..at)?.last_chunk()?;
    Some(u64::from_le_bytes(*offset))
}
