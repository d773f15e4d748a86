//! Random-access inputs: workers take chunks from a shared counter.

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use slotscope_base::block::{Block, Piece};
use slotscope_base::error::{Error, Result};
use slotscope_detect as detect;
use slotscope_read::format::capture::aof::Aof;
use slotscope_read::format::{Columns, Head, Opened, ReadStats, Reader, Told};
use slotscope_read::source::boundary::{Effect, State};
use slotscope_read::source::chunk;
use slotscope_read::source::chunk::Cutting;
use slotscope_read::source::room::Claim;
use slotscope_read::source::{Listed, MAX_LINE, ReadAt, Source};

use crate::scan::shared::{Shared, lock};
use crate::scan::shares::Share;
use crate::scan::{Scan, SeenInput, Worker};

/// Bytes of an input read first to detect its format.
pub(super) const HEAD: usize = 64 << 10;

/// A file of a directory that cannot be read as a dump.
struct Unread;

impl Unread {
    fn open(self) -> Opened {
        Opened::lines("", self)
    }
}

impl Reader for Unread {
    fn rows(&self, _: &mut Block, _: Piece, _: &mut Columns<'_>) -> ReadStats {
        ReadStats::default()
    }
}

/// An opened input, with a description of its shape.
pub(super) type Recognised = (Opened, Option<Arc<Told>>);

/// The input a worker has open: only one at a time, however many there are.
pub(super) struct OpenInput {
    input: usize,
    bytes: Box<dyn ReadAt>,
}

/// An input read in chunks.
pub(super) struct Job {
    pub(super) input: usize,
    pub(super) cutting: Cutting,
    pub(super) reader: Box<dyn Reader>,
    format: &'static str,
    told: Option<Arc<Told>>,
    /// The chunks to read.
    chunks: Range<u64>,
}

impl Scan<'_> {
    /// Lets all workers take chunks until none is left; returns the inputs that must be read as streams.
    pub(super) fn read_chunks(
        &self,
        workers: &[Mutex<Worker<'_>>],
        shared: &Shared<'_>,
    ) -> Result<Vec<usize>> {
        let (mut jobs, mut streams) = (Vec::new(), Vec::new());
        for (index, source) in shared.sources.iter().enumerate() {
            match self.job(index, &**source, &shared.shares[index])? {
                Some(job) => {
                    // An empty input has no chunk that could report it.
                    shared.saw(
                        index,
                        SeenInput {
                            format: job.format,
                            told: job.told.clone(),
                            ..SeenInput::default()
                        },
                    );
                    jobs.push(job);
                }
                None => {
                    self.check_start(&**source)?;
                    streams.push(index);
                }
            }
        }
        let effects = self.effects(workers, shared, &jobs)?;
        for (job, effects) in jobs.iter_mut().zip(effects) {
            let before = self.state_before(shared, job)?;
            (job.cutting.first, job.cutting.states) = (job.chunks.start, states(before, &effects));
        }
        self.on_every_chunk(workers, shared, &jobs, |worker, job, _, index| {
            self.read_chunk(worker, shared, job, index)
        })?;
        for job in &jobs {
            shared.check_unchanged(job.input)?;
        }
        Ok(streams)
    }

    /// An input with its format; `None` if it does not allow random access.
    pub(super) fn job(
        &self,
        index: usize,
        source: &dyn Source,
        share: &Share,
    ) -> Result<Option<Job>> {
        let (Some(bytes), Some(opened)) = (source.size_bytes(), source.open_at()?) else {
            return Ok(None);
        };
        let (opened, told) = self.open_start(source, &*opened, bytes)?;
        let Opened::Blocks {
            format,
            boundary,
            reader,
        } = opened
        else {
            return Ok(None);
        };
        let cutting = Cutting {
            bytes,
            chunk: self.chunk,
            boundary: Arc::new(boundary),
            states: Vec::new(),
            first: 0,
        };
        let count = cutting.chunks();
        let shared = share.chunks.clone().unwrap_or(0..count);
        let chunks = shared.start.min(count)..shared.end.min(count);
        Ok((!cutting.boundary.is_sequential()).then_some(Job {
            input: index,
            cutting,
            reader,
            format,
            told,
            chunks,
        }))
    }

    /// Detects the format of an input from its start, reading as much as needed.
    fn open_start(
        &self,
        source: &dyn Source,
        opened: &dyn ReadAt,
        bytes: u64,
    ) -> Result<Recognised> {
        let mut head = Vec::new();
        loop {
            let want = (head.len() * 8).clamp(HEAD, MAX_LINE + 1);
            head.resize((want as u64).min(bytes) as usize, 0);
            opened
                .read_exact_at(&mut head, 0)
                .map_err(|error| Error::io(source.path(), error))?;
            let whole = head.len() as u64 == bytes || head.len() > MAX_LINE;
            if let Some(opened) = self.recognise(
                source,
                Head {
                    bytes: &head,
                    whole,
                },
            )? {
                return Ok(opened);
            }
        }
    }

    /// Opens an input starting with `head`; `None` if more of it is needed.
    pub(super) fn recognise(
        &self,
        source: &dyn Source,
        head: Head<'_>,
    ) -> Result<Option<Recognised>> {
        let refused = |reason| Error::bad_file(source.path(), reason);
        let recognised = match (self.format, source.facts().listed) {
            (Some(format), _) => Some(detect::Recognised::Known(format)),
            // A manifest may list command files of any content.
            (None, Listed::Manifest) if matches!(head.bytes, [b'*' | b'#', ..]) => {
                Some(detect::Recognised::Known(&Aof))
            }
            // Other files of a directory are read regardless.
            (None, Listed::Directory) => match detect::recognise(head) {
                Err(why) => return Ok(Some((Unread.open(), Some(Arc::new(Told::refused(why)))))),
                Ok(recognised) => recognised,
            },
            (None, _) => detect::recognise(head).map_err(refused)?,
        };
        let opened = |recognised: detect::Recognised| {
            let opened = recognised.open(head).map_err(refused)?;
            let told = recognised.told(&opened, head);
            Ok((opened, Some(Arc::new(told))))
        };
        recognised.map(opened).transpose()
    }

    /// The effect of each chunk on the boundary state, for inputs whose row ends depend on it.
    fn effects(
        &self,
        workers: &[Mutex<Worker<'_>>],
        shared: &Shared<'_>,
        jobs: &[Job],
    ) -> Result<Vec<Vec<Effect>>> {
        let chunks = |job: &Job| {
            if job.cutting.boundary.has_states() {
                job.chunks.clone().count()
            } else {
                0
            }
        };
        let effects: Vec<Vec<AtomicU8>> = jobs
            .iter()
            .map(|job| (0..chunks(job)).map(|_| AtomicU8::new(0)).collect())
            .collect();
        if effects.iter().any(|chunks| !chunks.is_empty()) {
            self.on_every_chunk(workers, shared, jobs, |worker, job, at, index| {
                if let Some(place) = effects[at].get((index - job.chunks.start) as usize) {
                    worker.open(shared.sources, job.input)?;
                    let Some(opened) = &worker.opened else {
                        return Ok(());
                    };
                    // An unreadable chunk fails again when it is counted, and is reported then.
                    if let Ok(effect) =
                        chunk::effect(&*opened.bytes, &job.cutting, index, &mut worker.block)
                    {
                        place.store(effect.to_bits(), Relaxed);
                    }
                }
                Ok(())
            })?;
        }
        let effect = |bits: AtomicU8| Effect::from_bits(bits.into_inner());
        Ok(effects
            .into_iter()
            .map(|chunks| chunks.into_iter().map(effect).collect())
            .collect())
    }

    /// The state at the first chunk of a job, derived from preceding chunks until they settle it.
    fn state_before(&self, shared: &Shared<'_>, job: &Job) -> Result<State> {
        if job.chunks.start == 0 || !job.cutting.boundary.has_states() {
            return Ok(State::default());
        }
        let source = &*shared.sources[job.input];
        let Some(bytes) = source.open_at()? else {
            return Ok(State::default());
        };
        let (mut block, mut behind) = (Block::with_capacity(0), Effect::NONE);
        for index in (0..job.chunks.start).rev() {
            // An unreadable chunk fails again in the thread that counts it, and is reported then.
            let effect = chunk::effect(&*bytes, &job.cutting, index, &mut block);
            behind = effect.unwrap_or(Effect::from_bits(0)).then(behind);
            if let Some(state) = behind.settled() {
                return Ok(state);
            }
        }
        Ok(behind.on(State::default()))
    }

    /// Calls `work` with every chunk of every job, on all workers.
    fn on_every_chunk<'t>(
        &self,
        workers: &[Mutex<Worker<'t>>],
        shared: &Shared<'_>,
        jobs: &[Job],
        work: impl Fn(&mut Worker<'t>, &Job, usize, u64) -> Result<()> + Sync,
    ) -> Result<()> {
        let of_job = |job: &Job| job.chunks.end - job.chunks.start;
        let last_chunks: Vec<u64> = jobs
            .iter()
            .scan(0, |sum, job| {
                *sum += of_job(job);
                Some(*sum)
            })
            .collect();
        let next = AtomicU64::new(0);
        self.pool.broadcast(|context| {
            let worker = &mut *lock(&workers[context.index()]);
            // Chunks are taken in order: those before a failing one are in progress and get finished.
            while shared.is_going() {
                let chunk = next.fetch_add(1, Relaxed);
                let at = last_chunks.partition_point(|end| *end <= chunk);
                let Some(job) = jobs.get(at) else { break };
                let index = job.chunks.end - (last_chunks[at] - chunk);
                if let Err(error) = work(worker, job, at, index) {
                    shared.fail((job.input, index), error);
                }
            }
        });
        shared.outcome()
    }

    /// Reads and counts one chunk; an error in the middle of an input is recorded, and the rest continues.
    pub(super) fn read_chunk(
        &self,
        worker: &mut Worker<'_>,
        shared: &Shared<'_>,
        job: &Job,
        index: u64,
    ) -> Result<()> {
        worker.open(shared.sources, job.input)?;
        let Some(opened) = &worker.opened else {
            return Ok(());
        };
        let body = (self.chunk as u64).min(job.cutting.bytes - index * self.chunk as u64);
        let stretch = index * self.chunk as u64..index * self.chunk as u64 + body;
        let mut seen = SeenInput {
            format: job.format,
            bytes: body,
            ..SeenInput::default()
        };
        let mut claim = Claim::to(&shared.room);
        let room = (&mut worker.block, &mut claim);
        match chunk::read_chunk(&*opened.bytes, &job.cutting, index, room) {
            Ok(Some(piece)) => {
                seen.seen = worker.count(
                    self,
                    shared,
                    &*job.reader,
                    (job.input, job.format),
                    (stretch, piece),
                );
            }
            Ok(None) => {}
            Err(trouble) => {
                seen.bytes = 0;
                shared.note(trouble, job.input)?;
            }
        }
        worker.leave(self.chunk, claim);
        shared.saw(job.input, seen);
        shared.proceed((self.proceed)(body));
        Ok(())
    }
}

impl Worker<'_> {
    /// Releases the memory of a giant row, and then its reservation.
    fn leave(&mut self, chunk: usize, claim: Claim) {
        if claim.is_held() {
            self.block.shrink(chunk);
        }
    }

    /// Opens input `index` unless it is already open.
    fn open(&mut self, sources: &[Box<dyn Source>], index: usize) -> Result<()> {
        if self
            .opened
            .as_ref()
            .is_none_or(|opened| opened.input != index)
        {
            self.opened = sources[index].open_at()?.map(|bytes| OpenInput {
                input: index,
                bytes,
            });
        }
        Ok(())
    }
}

/// The state at the start of each chunk, and after the last one.
fn states(before: State, effects: &[Effect]) -> Vec<State> {
    let behind = effects.iter().scan(before, |state, effect| {
        *state = effect.on(*state);
        Some(*state)
    });
    std::iter::once(before).chain(behind).collect()
}
