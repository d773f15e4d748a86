//! What a walk finds goes to the workers as rows in blocks: they hash and count while the walk goes on.
//!
//! A row is a byte that says what it is, and the fields of that in the order in which they are written here.

use std::ops::Range;

use crate::format::batch_rows::Gather;
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::record::{Event, Record};
use crate::format::rdb::snapshot::walk::Walker;
use crate::format::walk::{Damage, Walk};
use crate::format::{Columns, Notice, Seen, Sink};
use crate::source::block::Block;

/// A key: whether it expires, its type, its database, its size, where it is in the file, its name.
const KEY: u8 = 0;

/// Something odd: which notice, and how often.
const NOTICE: u8 = 1;

/// Bytes of rows in a block, unless one key is longer.
const BLOCK: usize = 1 << 20;

/// Bytes of the input that a block stands for, unless one value is longer.
const STRETCH: u64 = 16 << 20;

/// A walk that fills blocks.
pub struct Rows {
    walker: Walker,
    rows: Vec<u8>,
    /// Bytes of the input whose rows are given out.
    done: u64,
    damage: Option<Damage>,
}

impl Rows {
    /// Nothing walked over yet.
    pub fn new(walker: Walker) -> Self {
        Rows {
            walker,
            rows: Vec::new(),
            done: 0,
            damage: None,
        }
    }

    /// Walks until there is a block of rows, or no more of them.
    fn fill(&mut self) {
        self.rows.clear();
        while self.rows.len() < BLOCK && self.walker.offset() - self.done < STRETCH {
            match self.walker.next_event() {
                Ok(Some(Event::Key(record))) => write_key(&mut self.rows, &record),
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
        self.rows.shrink_to(2 * BLOCK);
        let bytes = self.done..self.walker.offset();
        self.done = bytes.end;
        match bytes.is_empty() {
            false => Ok(Some(bytes)),
            true => self.damage.take().map_or(Ok(None), Err),
        }
    }
}

fn write_key(rows: &mut Vec<u8>, record: &Record<'_>) {
    let odd = [
        (Notice::Expired, record.has_expired),
        (Notice::Imported, record.is_imported),
        (Notice::DamagedValue, record.elements == Elements::Damaged),
    ];
    for (notice, _) in odd.into_iter().filter(|(_, is_so)| *is_so) {
        write_notice(rows, notice, 1);
    }
    let type_name = record.type_name.as_bytes();
    rows.extend([KEY, record.attributes.expires_ms.is_some().into()]);
    rows.push(type_name.len() as u8);
    rows.extend_from_slice(type_name);
    rows.extend(record.database.to_le_bytes());
    rows.extend(record.bytes.to_le_bytes());
    rows.extend((record.key.len() as u32).to_le_bytes());
    rows.extend(record.offset.to_le_bytes());
    rows.extend_from_slice(record.key);
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
                let [type_bytes] = self.array()?;
                let type_name = self.span(type_bytes.into())?;
                let (database, bytes) = (self.number()?, self.number()?);
                let key_bytes = u32::from_le_bytes(self.array()?);
                let _offset = self.number()?;
                Some(Row::Key {
                    expires: first != 0,
                    type_name,
                    database,
                    bytes,
                    key: self.span(key_bytes as usize)?,
                })
            }
            NOTICE => {
                let notice = *Notice::ALL.get(usize::from(first))?;
                Some(Row::Notice(notice, self.number()?))
            }
            _ => None,
        }
    }
}

/// A row; of what is in the block, where it starts and ends.
enum Row {
    Key {
        expires: bool,
        type_name: (usize, usize),
        database: u64,
        bytes: u64,
        key: (usize, usize),
    },
    Notice(Notice, u64),
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
                expires,
                type_name,
                database,
                bytes,
                key,
            }) => {
                let values = gather.values();
                values.sizes_mut().push(bytes);
                values.databases.push(database);
                values.expiring.push(expires);
                values.types.push(type_name.0 as u32, type_name.1 as u32);
                gather.key(block, key.0, key.1);
            }
            Some(Row::Notice(notice, count)) => notices.note(notice, count),
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
