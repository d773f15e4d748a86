//! What a walk finds goes to the workers in blocks: they hash and count while the walk goes on.
//!
//! A block is a run of parts: a byte that says what follows, a row group or a remark.

use std::ops::Range;

use crate::format::batch::KeyBatch;
use crate::format::row_group::{self, Fields, RowGroup};
use crate::format::walk::{Damage, Walk};
use crate::format::{Columns, Notice, Seen, Sink};
use crate::source::block::Block;

/// A group of keys.
const KEYS: u8 = 0;

/// Something odd: which notice, and how often.
const NOTICE: u8 = 1;

/// When the file was written; the last part of a block where it is known by then.
const WRITTEN: u8 = 2;

/// What is no key: where it is in the file, and why it is none.
const REJECT: u8 = 3;

/// The memory that the server used as it wrote the file.
const USED_MEMORY: u8 = 4;

/// Bytes of a block, unless one key is longer.
const BLOCK: usize = 1 << 20;

/// Bytes of the input that a block stands for, unless one value is longer.
const STRETCH: u64 = 16 << 20;

/// What walks over an input.
pub trait Steps {
    /// How far the walk is, in bytes.
    fn offset(&self) -> u64;
    /// Goes on to the next key or remark, which is added to `parts`; false at the end.
    ///
    /// # Errors
    /// Where and why the input cannot be read on.
    fn step(&mut self, parts: &mut Parts<'_>) -> Result<bool, Damage>;
    /// Adds what is known of the input at the end of a block.
    fn close(&mut self, parts: &mut Parts<'_>);
}

/// A walk that fills blocks.
pub struct Walked<S> {
    steps: S,
    group: RowGroup,
    /// Bytes of the input whose keys are given out.
    done: u64,
    damage: Option<Damage>,
}

impl<S: Steps> Walked<S> {
    /// Nothing walked over yet.
    pub fn new(steps: S) -> Self {
        Walked {
            steps,
            group: RowGroup::default(),
            done: 0,
            damage: None,
        }
    }

    /// Walks until the block is full, or there is no more.
    fn fill(&mut self, block: &mut Block) {
        let mut parts = Parts {
            block,
            group: &mut self.group,
        };
        while parts.len() < BLOCK && self.steps.offset() - self.done < STRETCH {
            match self.steps.step(&mut parts) {
                Ok(true) => {}
                Ok(false) => break,
                Err(damage) => {
                    self.damage = Some(damage);
                    break;
                }
            }
        }
        parts.end_group();
        self.steps.close(&mut parts);
    }
}

impl<S: Steps> Walk for Walked<S> {
    fn next(&mut self, block: &mut Block) -> Result<Option<Range<u64>>, Damage> {
        if let Some(damage) = self.damage.take() {
            return Err(damage);
        }
        block.shrink(BLOCK);
        block.resize(0);
        self.fill(block);
        let bytes = self.done..self.steps.offset();
        self.done = bytes.end;
        match bytes.is_empty() {
            false => Ok(Some(bytes)),
            true => self.damage.take().map_or(Ok(None), Err),
        }
    }
}

/// The parts of a block that is being filled.
pub struct Parts<'a> {
    block: &'a mut Block,
    group: &'a mut RowGroup,
}

impl Parts<'_> {
    /// The group that keys are added to.
    #[inline]
    pub fn group(&mut self) -> &mut RowGroup {
        if self.group.is_full() {
            self.end_group();
        }
        self.group
    }

    #[inline]
    fn len(&self) -> usize {
        self.block.len() + self.group.name_bytes()
    }

    fn end_group(&mut self) {
        if !self.group.is_empty() {
            self.block.append(&[KEYS]);
            self.group.write(self.block);
        }
    }

    /// Counts something odd.
    pub fn note(&mut self, notice: Notice, count: u64) {
        self.block.append(&[NOTICE, notice as u8]);
        self.block.append(&count.to_le_bytes());
    }

    /// Says when the input was written, in milliseconds since 1970.
    pub fn written(&mut self, at: u64) {
        self.block.append(&[WRITTEN]);
        self.block.append(&at.to_le_bytes());
    }

    /// Says how much memory the server used as it wrote the input, in bytes.
    pub fn used_memory(&mut self, bytes: u64) {
        self.block.append(&[USED_MEMORY]);
        self.block.append(&bytes.to_le_bytes());
    }

    /// Adds what is no key, at `offset` of the input; the reason is a few words.
    pub fn reject(&mut self, offset: u64, reason: &'static str) {
        let reason = &reason.as_bytes()[..reason.len().min(usize::from(u8::MAX))];
        self.block.append(&[REJECT, reason.len() as u8]);
        self.block.append(&offset.to_le_bytes());
        self.block.append(reason);
    }
}

/// Hands on the keys of a block, group by group.
pub fn read(block: &Block, from: usize, columns: &mut Columns<'_>, sink: &mut dyn Sink) -> Seen {
    let mut seen = Seen::default();
    let mut fields = Fields::new(block.content(), from);
    while !fields.is_at_end() {
        let at = fields.at;
        if read_part(&mut fields, block, columns, sink, &mut seen).is_none() {
            sink.reject(at, "not a part of a walk");
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
            // A walk writes no group without keys.
            if keys.is_empty() {
                return None;
            }
            values.estimate_accesses(*lfu);
            match values.are_operations {
                true => seen.operations += keys.len() as u64,
                false => seen.keys += keys.len() as u64,
            }
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
        [USED_MEMORY] => {
            let bytes = u64::from_le_bytes(fields.array()?);
            seen.used_memory = seen.used_memory.max(Some(bytes));
        }
        [REJECT] => {
            let (offset, reason) = rejected(fields)?;
            sink.reject_at(offset, std::str::from_utf8(reason).ok()?);
        }
        _ => return None,
    }
    Some(())
}

fn rejected<'a>(fields: &mut Fields<'a>) -> Option<(u64, &'a [u8])> {
    let [len] = fields.array()?;
    let offset = u64::from_le_bytes(fields.array()?);
    Some((offset, fields.bytes(len.into())?))
}

/// The offset in the input of the key at `at` in a block.
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
            [WRITTEN | USED_MEMORY] => drop(fields.array::<8>()?),
            [REJECT] => drop(rejected(&mut fields)?),
            _ => return None,
        }
    }
    None
}
