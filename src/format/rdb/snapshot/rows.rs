//! What a walk finds goes to the workers in blocks: they hash and count while the walk goes on.
//!
//! A block is a run of parts: a byte that says what follows, a row group or a remark.

use std::ops::Range;

use crate::format::batch::{KeyBatch, MISSING};
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::record::{Event, Record};
use crate::format::rdb::snapshot::row_group::{self, Fields, RowGroup};
use crate::format::rdb::snapshot::walk::{LONG_KEY, Walker};
use crate::format::walk::{Damage, Sizes, Walk, Walking};
use crate::format::{Columns, Notice, Seen, Sink};
use crate::source::block::Block;
use crate::source::forward::Forward;

/// A group of keys.
const KEYS: u8 = 0;

/// Something odd: which notice, and how often.
const NOTICE: u8 = 1;

/// When the file was written; the last part of a block where it is known by then.
const WRITTEN: u8 = 2;

/// A key that is too long: where it is in the file.
const LONG: u8 = 3;

/// Bytes of a block, unless one key is longer.
const BLOCK: usize = 1 << 20;

/// Bytes of the input that a block stands for, unless one value is longer.
const STRETCH: u64 = 16 << 20;

/// A walk that fills blocks.
pub struct Rows {
    walker: Walker,
    sizes: Sizes,
    group: RowGroup,
    /// Whether the next block says what the sizes are.
    says_sizes: bool,
    /// Bytes of the input whose keys are given out.
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
            group: RowGroup::default(),
            says_sizes: true,
            done: 0,
            damage: None,
        }
    }

    /// Walks until the block is full, or there is no more.
    fn fill(&mut self, block: &mut Block) {
        while block.len() + self.group.name_bytes() < BLOCK
            && self.walker.offset() - self.done < STRETCH
        {
            match self.walker.next_event() {
                Ok(Some(Event::Key(record))) => {
                    let size = match self.sizes {
                        Sizes::Memory(_) => record.memory.unwrap_or(MISSING),
                        Sizes::Serialized => record.bytes,
                    };
                    write_oddities(block, &record);
                    self.group.push(&record, size);
                    if self.group.is_full() {
                        write_group(block, &mut self.group);
                    }
                }
                Ok(Some(Event::Remark(remark))) if remark.notice == Notice::LongKey => {
                    block.append(&[LONG]);
                    block.append(&remark.offset.to_le_bytes());
                }
                Ok(Some(Event::Remark(remark))) => write_notice(block, remark.notice, remark.count),
                Ok(None) => break,
                Err(damage) => {
                    self.damage = Some(damage);
                    break;
                }
            }
        }
        write_group(block, &mut self.group);
        if let Some(server) = self.walker.server().filter(|_| self.says_sizes) {
            let notice = match self.sizes {
                Sizes::Memory(_) => server.estimate(),
                Sizes::Serialized => Notice::Serialized,
            };
            write_notice(block, notice, 1);
            self.says_sizes = false;
        }
        if self.walker.is_of_cluster() {
            write_notice(block, Notice::InCluster, 1);
        }
        if let Some(written) = self.walker.written_ms() {
            block.append(&[WRITTEN]);
            block.append(&written.to_le_bytes());
        }
    }
}

impl Walk for Rows {
    fn next(&mut self, block: &mut Block) -> Result<Option<Range<u64>>, Damage> {
        if let Some(damage) = self.damage.take() {
            return Err(damage);
        }
        block.shrink(BLOCK);
        block.resize(0);
        self.fill(block);
        let bytes = self.done..self.walker.offset();
        self.done = bytes.end;
        match bytes.is_empty() {
            false => Ok(Some(bytes)),
            true => self.damage.take().map_or(Ok(None), Err),
        }
    }
}

fn write_group(block: &mut Block, group: &mut RowGroup) {
    if !group.is_empty() {
        block.append(&[KEYS]);
        group.write(block);
    }
}

/// Counts what is odd about a key.
#[inline]
fn write_oddities(block: &mut Block, record: &Record<'_>) {
    let odd = [
        (Notice::Expired, record.has_expired),
        (Notice::Imported, record.is_imported),
        (Notice::DamagedValue, record.elements == Elements::Damaged),
    ];
    for (notice, _) in odd.into_iter().filter(|(_, is_so)| *is_so) {
        write_notice(block, notice, 1);
    }
}

fn write_notice(block: &mut Block, notice: Notice, count: u64) {
    block.append(&[NOTICE, notice as u8]);
    block.append(&count.to_le_bytes());
}

/// Hands on the keys of a block, group by group.
pub fn read(block: &Block, from: usize, columns: &mut Columns<'_>, sink: &mut dyn Sink) -> Seen {
    let mut seen = Seen::default();
    let mut fields = Fields::new(block.content(), from);
    while !fields.is_at_end() {
        let at = fields.at;
        if read_part(&mut fields, block, columns, sink, &mut seen).is_none() {
            sink.reject(at, "not a part of a walk over an RDB file");
            break;
        }
    }
    seen
}

/// Reads the next part; `None` where it is none.
fn read_part(
    fields: &mut Fields<'_>,
    block: &Block,
    columns: &mut Columns<'_>,
    sink: &mut dyn Sink,
    seen: &mut Seen,
) -> Option<()> {
    match fields.array()? {
        [KEYS] => {
            let Columns {
                keys, values, lfu, ..
            } = columns;
            keys.clear();
            values.clear();
            row_group::read(fields, keys, values)?;
            values.estimate_accesses(*lfu);
            seen.keys += keys.len() as u64;
            sink.keys(KeyBatch {
                base: block.padded(),
                keys,
                values,
            });
        }
        [NOTICE] => {
            let [notice] = fields.array()?;
            let notice = *Notice::ALL.get(usize::from(notice))?;
            seen.note(notice, u64::from_le_bytes(fields.array()?));
        }
        [WRITTEN] => {
            let at = u64::from_le_bytes(fields.array()?);
            seen.written_ms = seen.written_ms.max(Some(at));
        }
        [LONG] => sink.reject_at(u64::from_le_bytes(fields.array()?), LONG_KEY),
        _ => return None,
    }
    Some(())
}

/// The offset in the file of the key at `at` in a block.
pub fn offset_of(content: &[u8], at: usize) -> Option<u64> {
    let mut fields = Fields::new(content, 0);
    while !fields.is_at_end() {
        match fields.array()? {
            [KEYS] => {
                if let Some(offset) = row_group::offset_of(&mut fields, at)? {
                    return Some(offset);
                }
            }
            [NOTICE] => drop(fields.array::<9>()?),
            [WRITTEN] | [LONG] => drop(fields.array::<8>()?),
            _ => return None,
        }
    }
    None
}
