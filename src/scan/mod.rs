//! Drives stages 1 to 4 on all cores: inputs come in, one merged tally goes out, in bounded memory.
//!
//! Every worker has one block, one set of columns and one tally. Inputs that can be read anywhere are cut into
//! chunks that the workers take from a common counter (`chunks`); a stream is read by a thread of its own (`streams`).

mod chunks;
mod counting;
mod repeats;
mod shared;
mod streams;

use std::ops::Range;
use std::sync::Mutex;

use rayon::ThreadPool;

use crate::error::Result;
use crate::format::batch::{Spans, Values};
use crate::format::{Columns, Format, Notice, Reader, Seen};
use crate::slot::kernel::Kernel;
use crate::slot::policy::Policy;
use crate::source::Input;
use crate::source::block::{Block, Piece};
use crate::tally::Tally;
use crate::tally::rejects::Rejects;
use counting::{Chosen, Counting, How, Place};
use shared::{Shared, into_inner};

/// How a scan runs; what it finds does not depend on it.
pub struct Scan<'a> {
    /// The workers.
    pub pool: &'a ThreadPool,
    /// How slots are computed.
    pub kernel: &'static Kernel,
    /// The form of every input; `None` to detect it for each.
    pub format: Option<&'static dyn Format>,
    /// Which keys are wanted, where the input tells.
    pub only: &'a Only,
    /// What part of a key is hashed.
    pub policy: &'a Policy,
    /// Bytes in a chunk.
    pub chunk: usize,
    /// Called now and then with the number of bytes read since the last call; false stops the scan.
    pub proceed: &'a (dyn Fn(u64) -> bool + Sync),
}

/// Which keys are counted; of inputs that do not tell, all are.
#[derive(Debug, Clone, Default)]
pub struct Only {
    /// Only keys of this database.
    pub database: Option<u64>,
    /// No keys of these nodes: they are replicas, and their primaries have the same keys.
    pub not_of: Vec<String>,
}

impl Only {
    /// All keys.
    pub const ALL: Only = Only { database: None, not_of: Vec::new() };
}

/// What a scan found.
pub struct Scanned<T> {
    /// The counts.
    pub tally: T,
    /// What was seen of each input, in their order.
    pub inputs: Vec<SeenInput>,
    /// Where inputs could not be read to their end, in order.
    pub incomplete: Vec<Incomplete>,
    /// Rows that are no keys.
    pub rejects: Rejects,
}

/// What was seen of one input.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SeenInput {
    /// The name of its format.
    pub format: &'static str,
    /// Bytes read.
    pub bytes: u64,
    /// Its keys and what was odd about them.
    pub seen: Seen,
}

/// A place behind which an input could not be read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Incomplete {
    /// The input, counted from 0.
    pub input: usize,
    /// Offset in bytes.
    pub byte: u64,
    /// Why.
    pub reason: String,
}

impl Scan<'_> {
    /// Reads all `inputs` and counts them in tallies that start as `make` gives them.
    ///
    /// # Errors
    /// An input that cannot be opened or is not in its form, that changed since it was found, or that has a row
    /// longer than `MAX_LINE`.
    pub fn run<T: Tally>(&self, inputs: &[Input], make: impl Fn() -> T) -> Result<Scanned<T>> {
        let shared = Shared::new(inputs);
        let workers: Vec<_> = (0..self.pool.current_num_threads()).map(|_| Mutex::new(Worker::new(make()))).collect();

        let as_streams = self.read_chunks(&workers, &shared)?;
        self.read_streams(&workers, &shared, &as_streams)?;

        let mut rejects = Rejects::default();
        let mut tallies = workers.into_iter().map(|worker| {
            let worker = into_inner(worker);
            rejects.merge(worker.rejects);
            worker.tally
        });
        let mut tally = tallies.next().expect("a pool has at least one thread");
        tallies.for_each(|other| tally.merge(other));
        let mut incomplete = into_inner(shared.incomplete);
        incomplete.sort();
        let inputs = shared.seen.into_iter().map(into_inner).collect();
        Ok(Scanned { tally, inputs, incomplete, rejects })
    }
}

/// What one thread works with.
struct Worker<T> {
    block: Block,
    keys: Spans,
    values: Values,
    chosen: Chosen,
    opened: Option<chunks::Opened>,
    rejects: Rejects,
    tally: T,
}

impl<T: Tally> Worker<T> {
    fn new(tally: T) -> Self {
        Worker {
            block: Block::with_capacity(0),
            keys: Spans::default(),
            values: Values::default(),
            chosen: Chosen::default(),
            opened: None,
            rejects: Rejects::default(),
            tally,
        }
    }

    /// Counts the keys of the block, a piece of input `input` that stands for `bytes` of it.
    fn count(
        &mut self,
        scan: &Scan<'_>,
        shared: &Shared<'_>,
        reader: &dyn Reader,
        (input, bytes, piece): (usize, Range<u64>, Piece),
    ) -> Seen {
        let Worker { block, keys, values, chosen, rejects, tally, .. } = self;
        let kernel = scan.kernel;
        let find =
            |base: crate::source::block::Padded<'_>, from, byte, ends: &mut [u32]| kernel.cut(base, from, byte, ends);
        let mut columns = Columns { keys, values, find: &find };
        let place = Place { input: input as u32, offset: piece.offset };
        let how = How { kernel, only: scan.only, policy: scan.policy };
        let mut counting = Counting::new(how, chosen, tally, rejects, place);
        let saw = reader.read(block, piece, &mut columns, &mut counting);
        let (mut seen, edges) = counting.finish(saw);
        seen.note(Notice::Repeated, shared.repeats(input, bytes, edges));
        seen
    }
}
