//! Collects the keys found by a walk over an RDB file into the batches of a `Walked`.

use slotscope_base::batch::{MISSING, Number};

use crate::format::Notice;
use crate::format::capture::commands::CommandSteps;
use crate::format::frame::row_batch::{Row, RowBatch};
use crate::format::frame::walk::{Damage, Sizes, Steps, Walking};
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::format::rdb::snapshot::elements::Elements;
use crate::format::rdb::snapshot::record::{Event, Record};
use crate::format::rdb::snapshot::run::Runs;
use crate::format::rdb::snapshot::run_rows::RunRows;
use crate::format::rdb::snapshot::walk::{LONG_KEY, Walker};
use crate::source::forward::Forward;

/// A walk over an RDB file.
pub(super) struct Rows {
    walker: Walker,
    runs: Runs,
    sizes: Sizes,
    /// Whether the next batch must note how sizes are measured.
    says_sizes: bool,
    /// The commands after the file, once the walk gets there.
    commands: Option<CommandSteps>,
}

impl Rows {
    pub(super) fn new(input: Forward, walking: Walking) -> Self {
        let allocator = match walking.sizes {
            Sizes::Memory(allocator) => allocator,
            Sizes::Serialized => Allocator::default(),
        };
        Rows {
            walker: Walker::new(input, walking.verifies, allocator).leaving_commands(),
            runs: Runs::default(),
            sizes: walking.sizes,
            says_sizes: true,
            commands: None,
        }
    }

    /// Disables handing runs to workers.
    #[cfg(test)]
    pub(super) fn without_runs(mut self) -> Self {
        self.runs = Runs::none();
        self
    }
}

impl Steps for Rows {
    #[inline]
    fn offset(&self) -> u64 {
        let commands = self.commands.as_ref();
        commands.map_or_else(|| self.walker.offset(), Steps::offset)
    }

    #[inline]
    fn step(&mut self, rows: &mut RowBatch) -> Result<bool, Damage> {
        if let Some(commands) = &mut self.commands {
            return commands.step(rows);
        }
        if self.runs.is_at_one(&mut self.walker) {
            return Ok(false);
        }
        match self.walker.next_event()? {
            Some(Event::Key(record)) => {
                let size = match self.sizes {
                    Sizes::Memory(_) => record.memory.unwrap_or(MISSING),
                    Sizes::Serialized => record.bytes,
                };
                note_oddities(rows, &record);
                rows.push(record.key, &row_of(&record, size));
            }
            Some(Event::Remark(remark)) if remark.notice == Notice::LongKey => {
                rows.reject(remark.offset, LONG_KEY);
            }
            Some(Event::Remark(remark)) => rows.seen.note(remark.notice, remark.count),
            None => {
                if let Some(input) = self.walker.commands() {
                    rows.seen.note(Notice::Commands, 1);
                    self.commands = Some(CommandSteps::new(input));
                }
                // End the batch here: it holds either keys or operations.
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn leave(&mut self, rows: &mut RowBatch) -> bool {
        if let Some(commands) = &mut self.commands {
            return commands.leave(rows);
        }
        let run = self.runs.next(&mut self.walker, rows.block());
        let is_left = run.is_some();
        if let Some(run) = run {
            let sizes = self.sizes;
            rows.leave(Box::new(RunRows { run, sizes }));
        }
        is_left
    }

    fn close(&mut self, rows: &mut RowBatch) {
        if let Some(server) = self.walker.server().filter(|_| self.says_sizes) {
            let notice = match self.sizes {
                Sizes::Memory(_) => server.estimate(),
                Sizes::Serialized => Notice::Serialized,
            };
            rows.seen.note(notice, 1);
            self.says_sizes = false;
        }
        if self.walker.is_of_cluster() {
            rows.seen.note(Notice::InCluster, 1);
        }
        rows.seen.written_ms = self.walker.written_ms();
        rows.seen.used_memory = self.walker.used_memory();
    }
}

#[inline]
fn row_of<'a>(record: &'a Record<'_>, size: u64) -> Row<'a> {
    Row {
        offset: record.offset,
        size,
        numbers: Number::ALL.map(|number| number_of(record, number)),
        kind: (&record.type_name, record.encoding),
    }
}

#[inline]
fn number_of(record: &Record<'_>, number: Number) -> u64 {
    let value = match number {
        Number::Database => Some(record.database),
        Number::Expiry => Some(record.attributes.expiry()),
        Number::Elements => record.elements.known(),
        Number::Idle => record.attributes.idle_secs,
        Number::Lfu => record.attributes.lfu.map(u64::from),
    };
    value.unwrap_or(MISSING)
}

/// Counts the notices about a key.
#[inline]
fn note_oddities(rows: &mut RowBatch, record: &Record<'_>) {
    let odd = [
        (Notice::Expired, record.has_expired),
        (Notice::Imported, record.is_imported),
        (Notice::DamagedValue, record.elements == Elements::Damaged),
    ];
    for (notice, _) in odd.into_iter().filter(|(_, is_so)| *is_so) {
        rows.seen.note(notice, 1);
    }
}
