//! Reads inputs on all cores into one merged tally, in bounded memory.
//!
//! Every worker has one block, one set of columns and one tally. Random-access inputs are split into chunks, which
//! workers take from a shared counter (`chunks`); a stream is read by a thread of its own (`streams`).

mod again;
mod chunks;
mod counting;
#[doc(hidden)]
pub mod filter;
#[doc(hidden)]
mod shared;
#[doc(hidden)]
pub mod shares;
mod streams;

use std::ops::Range;
use std::sync::{Arc, Mutex};

use rayon::ThreadPool;
use serde::{Deserialize, Serialize};

use slotscope_base::batch::{Spans, Values};
use slotscope_base::block::{Block, Piece};
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::sentence::Sentence;
use slotscope_base::slot::Kernel;
use slotscope_base::slot::policy::Policy;
use slotscope_read::format::frame::row_batch::RowBatch;
use slotscope_read::format::frame::walk::Walking;
use slotscope_read::format::{Columns, Format, Notice, ReadStats, Reader, Told};
use slotscope_read::source::Source;
use slotscope_read::source::chunk::CHUNK;

use crate::scan::counting::{Chosen, Counting, How, Place};
use crate::scan::filter::{Field, Filter};
use crate::scan::shared::{Shared, into_inner};
use crate::scan::shares::Share;
use crate::tally::Tally;
use crate::tally::rejects::Rejects;

/// The settings of a scan; the counts do not depend on how it is run.
#[derive(Clone)]
pub struct Scan<'a> {
    /// The workers.
    pub pool: &'a ThreadPool,
    /// How slots are computed.
    pub kernel: &'static Kernel,
    /// The format of every input; `None` to detect it for each.
    pub format: Option<&'static dyn Format>,
    /// The filter, applied to inputs that have its fields.
    pub only: &'a Only,
    /// The hash policy.
    pub policy: &'a Policy,
    /// How inputs are walked that cannot be read in chunks.
    pub walking: Walking,
    /// Chunk size in bytes.
    pub chunk: usize,
    /// Called occasionally with the bytes read since the last call; returning false stops the scan.
    pub proceed: &'a (dyn Fn(u64) -> bool + Sync),
}

/// Selects the keys to count; inputs that lack a field are counted entirely.
#[derive(Debug, Clone, Default)]
pub struct Only {
    /// Only keys of this database.
    pub database: Option<u64>,
    /// Only keys that meet these conditions.
    pub filter: Option<Arc<Filter>>,
}

impl Only {
    /// All keys.
    pub const ALL: Only = Only {
        database: None,
        filter: None,
    };
}

/// The result of a scan.
pub struct Scanned<T> {
    /// The counts.
    pub tally: T,
    /// The notices of each input, in input order.
    pub inputs: Vec<SeenInput>,
    /// Where inputs became unreadable, in order.
    pub incomplete: Vec<Incomplete>,
    /// Rows that are not keys.
    pub rejects: Rejects,
}

/// The notices of one input.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeenInput {
    /// The name of its format.
    pub format: &'static str,
    /// The description of its shape.
    pub told: Option<Arc<Told>>,
    /// Bytes read.
    pub bytes: u64,
    /// Its keys and their oddities.
    pub seen: ReadStats,
}

/// A place beyond which an input could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Incomplete {
    /// Index of the input.
    pub input: usize,
    /// Offset in bytes.
    pub byte: u64,
    /// Why.
    pub reason: Sentence,
}

/// Formats whose tools end each line.
const LINES: [&str; 3] = ["lines", "csv", "jsonl"];

static ALL_KEYS: Only = Only::ALL;
static OSS: Policy = Policy::Oss;

impl<'a> Scan<'a> {
    /// A scan on the threads of `pool` with the best kernel, which detects formats and counts all keys.
    pub fn new(pool: &'a ThreadPool) -> Self {
        Scan {
            pool,
            kernel: hashslot::best(),
            format: None,
            only: &ALL_KEYS,
            policy: &OSS,
            walking: Walking::default(),
            chunk: CHUNK,
            proceed: &|_| true,
        }
    }

    /// Sets how slots are computed.
    pub fn kernel(self, kernel: &'static Kernel) -> Self {
        Scan { kernel, ..self }
    }

    /// Sets the format of every input; `None` detects it for each.
    pub fn format(self, format: impl Into<Option<&'static dyn Format>>) -> Self {
        let format = format.into();
        Scan { format, ..self }
    }

    /// Restricts the keys that are counted.
    pub fn only(self, only: &'a Only) -> Self {
        Scan { only, ..self }
    }

    /// Sets the hash policy.
    pub fn policy(self, policy: &'a Policy) -> Self {
        Scan { policy, ..self }
    }

    /// Sets how inputs are walked that cannot be read in chunks.
    pub fn walking(self, walking: Walking) -> Self {
        Scan { walking, ..self }
    }

    /// Sets the chunk size in bytes.
    pub fn chunk(self, chunk: usize) -> Self {
        Scan { chunk, ..self }
    }

    /// Sets a callback invoked after every block with its length in bytes; it may stop the scan by returning false.
    pub fn proceed(self, proceed: &'a (dyn Fn(u64) -> bool + Sync)) -> Self {
        Scan { proceed, ..self }
    }

    /// Reads all `sources` into tallies created by `make`.
    ///
    /// # Errors
    /// An input cannot be opened, is not in its format, has changed since it was found, or has a row longer than
    /// `MAX_LINE`.
    pub fn run<T: Tally>(
        &self,
        sources: &[Box<dyn Source>],
        make: impl Fn() -> T,
    ) -> Result<Scanned<T>> {
        let shares: Vec<Share> = (0..sources.len()).map(Share::all_of).collect();
        let mut scanned = self.run_shares(sources, &shares, make)?;
        let cut_off = cut_off(&scanned.inputs, &scanned.incomplete);
        scanned.incomplete.extend(cut_off);
        scanned.incomplete.sort();
        check_any(sources, &scanned)?;
        Ok(scanned)
    }

    /// Like `run`, for a share of each source; checks across a whole input are up to the caller that merges the shares.
    ///
    /// # Errors
    /// As for `run`.
    pub fn run_shares<T: Tally>(
        &self,
        sources: &[Box<dyn Source>],
        shares: &[Share],
        make: impl Fn() -> T,
    ) -> Result<Scanned<T>> {
        let shared = Shared::new(sources, shares);
        let mut tallies = self.tallies(make);
        let workers = workers(&mut tallies);

        let as_streams = self.read_chunks(&workers, &shared)?;
        self.read_streams(&workers, &shared, &as_streams)?;

        let mut rejects = Rejects::default();
        for worker in workers {
            rejects.merge(into_inner(worker).counts.rejects);
        }
        let tally = merged(tallies.into_iter());
        let mut incomplete = into_inner(shared.incomplete);
        incomplete.sort();
        Ok(Scanned {
            tally,
            inputs: shared.seen.into_iter().map(into_inner).collect(),
            incomplete,
            rejects,
        })
    }

    /// A tally for each thread.
    fn tallies<T: Tally>(&self, make: impl Fn() -> T) -> Vec<T> {
        let workers = 0..self.pool.current_num_threads();
        workers.map(|_| make()).collect()
    }
}

/// A worker for each thread.
fn workers<T: Tally>(tallies: &mut [T]) -> Vec<Mutex<Worker<'_>>> {
    let workers = tallies.iter_mut();
    workers
        .map(|tally| Mutex::new(Worker::new(tally)))
        .collect()
}

/// The tallies of all workers as one.
fn merged<T: Tally>(mut tallies: impl Iterator<Item = T>) -> T {
    let mut tally = tallies.next().expect("a pool has at least one thread");
    tallies.for_each(|part| tally.merge(part));
    tally
}

/// Fails if none of the inputs is a dump.
fn check_any<T>(sources: &[Box<dyn Source>], scanned: &Scanned<T>) -> Result<()> {
    let refused = |seen: &SeenInput| seen.told.as_deref().and_then(|told| told.refused.clone());
    let refusals: Option<Vec<Sentence>> = scanned.inputs.iter().map(refused).collect();
    match refusals.and_then(|refusals| refusals.into_iter().next()) {
        Some(why) => Err(Error::bad_file(sources[0].path(), why)),
        None => Ok(()),
    }
}

/// The inputs whose last reply is unterminated, except those already `known` to be incomplete.
pub fn cut_off(inputs: &[SeenInput], known: &[Incomplete]) -> Vec<Incomplete> {
    let stops = inputs.iter().enumerate().filter_map(|(input, seen)| {
        let refused = seen.told.as_deref().and_then(|told| told.refused.clone());
        let (byte, reason) = match refused {
            Some(why) => (0, why),
            None => (seen.bytes, seen.seen.cut_off()?.into()),
        };
        Some(Incomplete {
            input,
            byte,
            reason,
        })
    });
    let is_known = |stop: &Incomplete| known.iter().any(|known| known.input == stop.input);
    stops.filter(|stop| !is_known(stop)).collect()
}

/// The error for a filter field that an input lacks.
fn no_field(option: &'static str, field: Field, source: &dyn Source, format: &str) -> Error {
    let (attribute, carriers) = field.carried_by();
    let file = Name::from(source.path());
    let reason = Sentence::from(format!("the format {format} of "))
        .name(file)
        .words(format!(" carries {attribute}; {carriers}"));
    Error::option(option, "", reason)
}

/// Per-thread state.
struct Worker<'t> {
    block: Block,
    keys: Spans,
    values: Values,
    opened: Option<chunks::OpenInput>,
    counts: Counts<'t>,
}

/// Per-thread counts.
struct Counts<'t> {
    chosen: Chosen,
    rejects: Rejects,
    tally: &'t mut dyn Tally,
}

impl<'t> Worker<'t> {
    fn new(tally: &'t mut dyn Tally) -> Self {
        Worker {
            block: Block::with_capacity(0),
            keys: Spans::default(),
            values: Values::default(),
            opened: None,
            counts: Counts {
                chosen: Chosen::default(),
                rejects: Rejects::default(),
                tally,
            },
        }
    }

    /// Counts the keys of the block, a piece of `bytes` in input `input`, whose format is known.
    fn count(
        &mut self,
        scan: &Scan<'_>,
        shared: &Shared<'_>,
        reader: &dyn Reader,
        input: (usize, &str),
        (bytes, piece): (Range<u64>, Piece),
    ) -> ReadStats {
        let Worker {
            block,
            keys,
            values,
            counts,
            ..
        } = self;
        let with_attributes = counts.tally.reads_attributes() || scan.only.filter.is_some();
        let is_ended = !piece.last || matches!(block.content(), [] | [.., b'\n']);
        let place = (piece.offset, piece.is_rereadable);
        let mut stats = counts.add(scan, shared, input, (bytes, place), |counting| {
            let mut columns = Columns {
                keys,
                values,
                sink: counting,
                kernel: scan.kernel,
                lfu: scan.walking.lfu,
                command_times: shared.sources[input.0].facts().command_times.as_ref(),
                written_ms: shared.written_ms(input.0),
                with_attributes,
            };
            reader.read(block, piece, &mut columns)
        });
        if !is_ended && LINES.contains(&input.1) {
            stats.note(Notice::NoLineEnd, 1);
        }
        stats
    }

    /// Counts the rows of a walk, covering `bytes` of input `input`.
    fn count_rows(
        &mut self,
        scan: &Scan<'_>,
        shared: &Shared<'_>,
        rows: &mut RowBatch,
        input: (usize, &str),
        bytes: Range<u64>,
    ) -> ReadStats {
        let lfu = scan.walking.lfu;
        self.counts
            .add(scan, shared, input, (bytes, (0, false)), |counting| {
                rows.read(lfu, counting)
            })
    }
}

impl Counts<'_> {
    /// Counts what `read` finds in `bytes` of input `input`, in format `format`, in a block starting at `offset`, where it may be read
    /// again.
    fn add(
        &mut self,
        scan: &Scan<'_>,
        shared: &Shared<'_>,
        (input, format): (usize, &str),
        (bytes, (offset, is_rereadable)): (Range<u64>, (u64, bool)),
        read: impl FnOnce(&mut Counting<'_>) -> ReadStats,
    ) -> ReadStats {
        let Counts {
            chosen,
            rejects,
            tally,
        } = self;
        let place = Place {
            input: shared.shares[input].number,
            offset,
            is_rereadable,
        };
        let how = How {
            kernel: scan.kernel,
            only: scan.only,
            policy: scan.policy,
        };
        let rejected_before = rejects.count;
        let mut counting = Counting::new(how, chosen, &mut **tally, rejects, place);
        let saw = read(&mut counting);
        let lacking = counting.lacking();
        let mut stats = counting.finish(saw);
        if let Some(field) = lacking {
            let source = &*shared.sources[input];
            let filter = scan.only.filter.as_ref();
            let option = filter.map_or("", |filter| filter.option(field));
            let error = no_field(option, field, source, format);
            shared.fail((input, bytes.start), error);
        }
        stats.rejected = rejects.count - rejected_before;
        stats
    }
}
