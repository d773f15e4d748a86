//! Drives stages 1 to 4 on all cores: inputs come in, one merged tally goes out, in bounded memory.
//!
//! Every worker has one block, one set of columns and one tally. Inputs that can be read anywhere are cut into
//! chunks that the workers take from a common counter; a stream is read by a thread of its own.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};

use rayon::ThreadPool;

use crate::error::{Error, Result};
use crate::format::batch::Spans;
use crate::format::{self, Columns, Format, Head, Reader, Seen};
use crate::name::Name;
use crate::slot::SlotColumns;
use crate::slot::kernel::Kernel;
use crate::source::block::{Block, Piece};
use crate::source::file::{self, Cutting, Positional, Trouble};
use crate::source::stream::{self, LineReader};
use crate::source::{Input, MAX_LINE};
use crate::tally::Tally;

/// Bytes of an input that are looked at first to tell its format.
const HEAD: usize = 64 << 10;

/// What ends a line of a stream until its format is known.
const LINE_END: u8 = b'\n';

/// How a scan runs; what it finds does not depend on it.
pub struct Scan<'a> {
    /// The workers.
    pub pool: &'a ThreadPool,
    /// How slots are computed.
    pub kernel: &'static Kernel,
    /// The form of every input; `None` to detect it for each.
    pub format: Option<&'static dyn Format>,
    /// Bytes in a chunk.
    pub chunk: usize,
    /// Called now and then with the number of bytes read since the last call; false stops the scan.
    pub proceed: &'a (dyn Fn(u64) -> bool + Sync),
}

/// What a scan found.
pub struct Scanned<T> {
    /// The counts.
    pub tally: T,
    /// What was seen of each input, in their order.
    pub inputs: Vec<SeenInput>,
    /// Where inputs could not be read to their end, in order.
    pub incomplete: Vec<Incomplete>,
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
    /// An input that cannot be opened, that changed since it was found, or that has a line longer than `MAX_LINE`.
    pub fn run<T: Tally>(&self, inputs: &[Input], make: impl Fn() -> T) -> Result<Scanned<T>> {
        let shared = Shared::new(inputs);
        let workers: Vec<_> = (0..self.pool.current_num_threads()).map(|_| Mutex::new(Worker::new(make()))).collect();

        self.read_positional(&workers, &shared)?;
        for (index, input) in inputs.iter().enumerate().filter(|(_, input)| input.bytes().is_none()) {
            self.read_stream(&workers, &shared, index, stream::open(input)?)?;
        }

        let mut tallies = workers.into_iter().map(|worker| into_inner(worker).tally);
        let mut tally = tallies.next().expect("a pool has at least one thread");
        tallies.for_each(|other| tally.merge(other));
        let mut incomplete = into_inner(shared.incomplete);
        incomplete.sort();
        Ok(Scanned { tally, inputs: shared.seen.into_iter().map(into_inner).collect(), incomplete })
    }

    /// Lets all workers take chunks of the inputs that can be read anywhere, until there are none.
    fn read_positional<T: Tally>(&self, workers: &[Mutex<Worker<T>>], shared: &Shared<'_>) -> Result<()> {
        let mut jobs = Vec::new();
        for (index, input) in shared.inputs.iter().enumerate() {
            if let (Some(bytes), Some(opened)) = (input.bytes(), Positional::open(input)?) {
                let reader = self.reader_of(&opened, bytes).map_err(|error| Error::io(input.path(), error))?;
                let cutting = Cutting { bytes, chunk: self.chunk, separator: reader.separator() };
                jobs.push(Job { input: index, cutting, reader });
            }
        }
        let last_chunks: Vec<u64> = jobs.iter().scan(0, |sum, job| Some(add_to(sum, job.cutting.chunks()))).collect();
        let next = AtomicU64::new(0);
        self.pool.broadcast(|context| {
            let worker = &mut *lock(&workers[context.index()]);
            while shared.is_going() {
                let chunk = next.fetch_add(1, Relaxed);
                let job = last_chunks.partition_point(|end| *end <= chunk);
                let Some(found) = jobs.get(job) else { break };
                let index = chunk - (last_chunks[job] - found.cutting.chunks());
                if let Err(error) = self.read_chunk(worker, shared, found, index) {
                    shared.fail(error);
                }
            }
        });
        shared.outcome()
    }

    /// Reads and counts one chunk; trouble in the middle of an input is noted, and the rest goes on.
    fn read_chunk<T: Tally>(&self, worker: &mut Worker<T>, shared: &Shared<'_>, job: &Job, index: u64) -> Result<()> {
        worker.open(shared.inputs, job.input)?;
        let Some((_, opened)) = &worker.opened else { return Ok(()) };
        let body = (self.chunk as u64).min(job.cutting.bytes - index * self.chunk as u64);
        let mut seen = SeenInput { format: job.reader.format(), bytes: body, ..SeenInput::default() };
        match file::read_chunk(opened, job.cutting, index, &mut worker.block) {
            Ok(Some(piece)) => seen.seen = worker.count(self.kernel, &*job.reader, piece),
            Ok(None) => {}
            Err(trouble) => {
                seen.bytes = 0;
                shared.note(trouble, job.input, job.cutting.separator)?;
            }
        }
        shared.saw(job.input, seen);
        shared.proceed((self.proceed)(body));
        Ok(())
    }

    /// Tells the format of an input by its start, looking at as much of it as that takes.
    fn reader_of(&self, opened: &Positional, bytes: u64) -> std::io::Result<Box<dyn Reader>> {
        let mut head = Vec::new();
        loop {
            let want = (head.len() * 8).clamp(HEAD, MAX_LINE + 1);
            head.resize((want as u64).min(bytes) as usize, 0);
            opened.read_exact_at(&mut head, 0)?;
            let whole = head.len() as u64 == bytes || head.len() > MAX_LINE;
            if let Some(reader) = self.recognise(Head { bytes: &head, whole }) {
                return Ok(reader);
            }
        }
    }

    fn recognise(&self, head: Head<'_>) -> Option<Box<dyn Reader>> {
        let format = self.format.or_else(|| format::detect(head))?;
        Some(format.open(head))
    }

    /// Cuts a stream on a thread of its own and lets all workers count the blocks.
    fn read_stream<T: Tally>(
        &self,
        workers: &[Mutex<Worker<T>>],
        shared: &Shared<'_>,
        input: usize,
        stream: Box<dyn std::io::Read + Send>,
    ) -> Result<()> {
        let (full, blocks) = mpsc::sync_channel::<Cut>(workers.len());
        let (spare, empty) = mpsc::channel::<Block>();
        (0..2 * workers.len()).for_each(|_| drop(spare.send(Block::with_capacity(0))));
        let blocks = Mutex::new(blocks);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if let Err(error) = self.cut_stream(shared, input, stream, &empty, full) {
                    shared.fail(error);
                }
            });
            self.pool.broadcast(|context| {
                let worker = &mut *lock(&workers[context.index()]);
                loop {
                    // The lock is given back before the work starts: `let` drops the guard.
                    let received = lock(&blocks).recv();
                    let Ok(mut cut) = received else { break };
                    if shared.is_going() {
                        std::mem::swap(&mut worker.block, &mut cut.block);
                        let bytes = worker.block.len() as u64;
                        let seen = worker.count(self.kernel, &*cut.reader, cut.piece);
                        shared.saw(input, SeenInput { format: cut.reader.format(), bytes, seen });
                        shared.proceed((self.proceed)(bytes));
                    }
                    // A send fails only where the cutting thread has ended; then no block is needed any more.
                    drop(spare.send(cut.block));
                }
            });
        });
        shared.outcome()
    }

    fn cut_stream(
        &self,
        shared: &Shared<'_>,
        input: usize,
        stream: Box<dyn std::io::Read + Send>,
        empty: &mpsc::Receiver<Block>,
        full: mpsc::SyncSender<Cut>,
    ) -> Result<()> {
        let mut lines = LineReader::new(stream, LINE_END, self.chunk);
        let mut reader: Option<Arc<dyn Reader>> = None;
        let nothing = Head { bytes: &[], whole: true };
        while let Ok(mut block) = empty.recv() {
            let piece = match lines.next(&mut block) {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(trouble) => {
                    shared.note(trouble, input, LINE_END)?;
                    break;
                }
            };
            if !shared.is_going() {
                break;
            }
            let head = Head { bytes: block.content(), whole: true };
            let known = reader.take().or_else(|| self.recognise(head).map(Arc::from)).expect("a whole head is enough");
            reader = Some(known.clone());
            if full.send(Cut { block, piece, reader: known }).is_err() {
                break;
            }
        }
        let known = reader.map(|reader| reader.format()).or(self.recognise(nothing).map(|reader| reader.format()));
        shared.saw(input, SeenInput { format: known.unwrap_or_default(), ..SeenInput::default() });
        Ok(())
    }
}

/// An input that is read in chunks.
struct Job {
    input: usize,
    cutting: Cutting,
    reader: Box<dyn Reader>,
}

/// A block cut from a stream.
struct Cut {
    block: Block,
    piece: Piece,
    reader: Arc<dyn Reader>,
}

/// What one thread works with.
struct Worker<T> {
    block: Block,
    keys: Spans,
    slots: SlotColumns,
    opened: Option<(usize, Positional)>,
    tally: T,
}

impl<T: Tally> Worker<T> {
    fn new(tally: T) -> Self {
        let block = Block::with_capacity(0);
        Worker { block, keys: Spans::default(), slots: SlotColumns::default(), opened: None, tally }
    }

    /// Opens input `index` unless it is open already: one open file a worker, however many inputs there are.
    fn open(&mut self, inputs: &[Input], index: usize) -> Result<()> {
        if self.opened.as_ref().is_none_or(|(open, _)| *open != index) {
            self.opened = Positional::open(&inputs[index])?.map(|opened| (index, opened));
        }
        Ok(())
    }

    /// Counts the keys of the block.
    fn count(&mut self, kernel: &'static Kernel, reader: &dyn Reader, piece: Piece) -> Seen {
        let Worker { block, keys, slots, tally, .. } = self;
        let mut columns = Columns { keys, cut: &|base, from, separator, ends| kernel.cut(base, from, separator, ends) };
        reader.read(block.padded(), piece, &mut columns, &mut |batch| tally.add(&slots.compute(kernel, batch)))
    }
}

/// What all threads of a scan write to.
struct Shared<'a> {
    inputs: &'a [Input],
    seen: Vec<Mutex<SeenInput>>,
    incomplete: Mutex<Vec<Incomplete>>,
    error: Mutex<Option<Error>>,
    stopped: AtomicBool,
}

impl<'a> Shared<'a> {
    fn new(inputs: &'a [Input]) -> Self {
        let seen = inputs.iter().map(|_| Mutex::default()).collect();
        Shared { inputs, seen, incomplete: Mutex::default(), error: Mutex::default(), stopped: AtomicBool::new(false) }
    }

    fn saw(&self, input: usize, part: SeenInput) {
        let mut all = lock(&self.seen[input]);
        all.format = part.format;
        all.bytes += part.bytes;
        all.seen += part.seen;
    }

    /// Notes that an input could not be read on; a line that is too long is an error at once.
    fn note(&self, trouble: Trouble, input: usize, separator: u8) -> Result<()> {
        match trouble {
            Trouble::Read(byte, error) => {
                lock(&self.incomplete).push(Incomplete { input, byte, reason: crate::error::reason(&error) });
                Ok(())
            }
            Trouble::Long(byte) => {
                let input = &self.inputs[input];
                let line = file::line_of(input, byte, separator).map_or(String::new(), |line| format!(" line {line}"));
                Err(Error::bad(
                    format!("{}:{line} (byte {byte})", Name::from(input.path())),
                    "a line longer than 64 MiB; is this a key dump with one key a line?",
                ))
            }
        }
    }

    /// Stops all threads; the first error is the one reported.
    fn fail(&self, error: Error) {
        lock(&self.error).get_or_insert(error);
        self.proceed(false);
    }

    fn proceed(&self, going: bool) {
        self.stopped.fetch_or(!going, Relaxed);
    }

    fn is_going(&self) -> bool {
        !self.stopped.load(Relaxed)
    }

    fn outcome(&self) -> Result<()> {
        lock(&self.error).take().map_or(Ok(()), Err)
    }
}

fn add_to(sum: &mut u64, more: u64) -> u64 {
    *sum += more;
    *sum
}

/// A panic elsewhere is reported by the pool; the data behind the lock is not used after one.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_inner<T>(mutex: Mutex<T>) -> T {
    mutex.into_inner().unwrap_or_else(PoisonError::into_inner)
}
