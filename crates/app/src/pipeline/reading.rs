//! Sources and how they are read, shared by all runs over key dumps.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::{ThreadPool, ThreadPoolBuilder};

use slotscope_base::error::{Error, Result};
use slotscope_base::slot::Kernel;
use slotscope_base::slot::policy::Policy;
use slotscope_count::scan::{Only, Scan, Scanned};
use slotscope_count::tally::Tally;
use slotscope_count::tally::choice::Choice;
use slotscope_count::tally::rejects::Reject;
use slotscope_read::format::Format;
use slotscope_read::format::frame::walk::Walking;
use slotscope_read::source::collection::Collection;
use slotscope_read::source::counted::Counter;
use slotscope_read::source::line_number::line_of;
use slotscope_read::source::storage_options::StorageOptions;
use slotscope_read::source::{Found, Source};

use crate::pipeline::{nothing_left, rejected};

/// More threads never help: memory bandwidth saturates long before.
const MAX_THREADS: usize = 1024;

/// Progress of a pass over the sources.
#[derive(Debug, Clone, Copy)]
pub struct Progress {
    /// The name of the pass: `counting`.
    pub pass: &'static str,
    /// Bytes read since the last call, in stored bytes for compressed sources; 0 in the first call of a pass.
    pub more_bytes: u64,
    /// Total bytes of all sources in the same units, if known.
    pub total_bytes: Option<u64>,
    /// Whether this is the last call of the pass.
    pub is_done: bool,
}

/// Called at the start and end of a pass and after every block; returning false cancels the run.
pub type OnProgress = Arc<dyn Fn(Progress) -> bool + Send + Sync>;

/// How sources are read.
#[derive(Clone)]
pub struct Options {
    /// How slots are computed.
    pub kernel: &'static Kernel,
    /// The format of every source; `None` detects it for each.
    pub format: Option<&'static dyn Format>,
    /// The filter of keys.
    pub only: Only,
    /// The hash policy.
    pub policy: Policy,
    /// How sources are walked that cannot be read in chunks.
    pub walking: Walking,
    /// How network locations are opened, if the reader does that.
    pub storage: StorageOptions,
    /// Worker threads; `None` for all cores.
    pub threads: Option<usize>,
    /// Bytes of a chunk, for tests; `None` for those that are fastest.
    pub chunk: Option<usize>,
    /// Whether a rejected row is an error.
    pub strict: bool,
    /// Where progress is reported.
    pub on_progress: Option<OnProgress>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            kernel: hashslot::best(),
            format: None,
            only: Only::ALL,
            policy: Policy::Oss,
            walking: Walking::default(),
            storage: StorageOptions::default(),
            threads: None,
            chunk: None,
            strict: false,
            on_progress: None,
        }
    }
}

/// Sources, and the threads that read them.
pub struct Reading {
    /// The sources to read.
    pub sources: Vec<Box<dyn Source>>,
    /// The collections among them.
    pub collections: Vec<Collection>,
    /// Node listings found next to dumps in directories.
    pub listings: Vec<PathBuf>,
    /// Entries of directories that are not dumps.
    pub passed_over: usize,
    /// Logs, and dumps of replicas, next to dumps in directories.
    pub left_out: Vec<PathBuf>,
    /// How to read.
    pub options: Options,
    /// Stored bytes read so far of compressed sources, and the total.
    stored: Option<Counter>,
    pool: ThreadPool,
}

impl Reading {
    /// Starts the threads.
    ///
    /// # Errors
    /// The number of threads is zero or absurd, or the system refuses it.
    pub fn new(inputs: Found, options: Options) -> Result<Self> {
        let is_shown = options.on_progress.is_some();
        let stored = Counter::of(&inputs.sources).filter(|_| is_shown);
        let sources = match &stored {
            Some(counter) => counter.count(inputs.sources),
            None => inputs.sources,
        };
        Ok(Reading {
            pool: pool(options.threads)?,
            sources,
            stored,
            collections: inputs.collections,
            listings: inputs.listings,
            passed_over: inputs.passed_over,
            left_out: inputs.left_out,
            options,
        })
    }

    /// Reads all sources once into tallies created by `make`.
    ///
    /// # Errors
    /// As for `Scan::run`; a rejected row, if that is an error; `Cancelled`.
    pub fn scan<T: Tally>(&self, pass: &'static str, make: impl Fn() -> T) -> Result<Scanned<T>> {
        let scanned = self.with_scan(pass, |scan| scan.run(&self.sources, make))?;
        self.check(&scanned)?;
        self.check_left(&scanned)?;
        Ok(scanned)
    }

    /// Fails if the filter selected nothing.
    ///
    /// # Errors
    /// Nothing was selected; the sources cannot be reread.
    pub(crate) fn check_left<T>(&self, scanned: &Scanned<T>) -> Result<()> {
        let available = || {
            if !self.is_rereadable() {
                return Ok(Choice::default());
            }
            let scan = self.plain_scan().only(&Only::ALL);
            Ok(scan.run(&self.sources, Choice::default)?.tally)
        };
        nothing_left::check(&self.options.only, scanned, available)
    }

    /// Calls `run` with a scan that reports progress as `pass`.
    ///
    /// # Errors
    /// As for `run`; `Cancelled`.
    pub fn with_scan<R>(
        &self,
        pass: &'static str,
        run: impl FnOnce(&Scan<'_>) -> Result<R>,
    ) -> Result<R> {
        let Some(on_progress) = &self.options.on_progress else {
            return run(&self.plain_scan());
        };
        let of_sources = || self.sources.iter().map(|source| source.size_bytes()).sum();
        let total_bytes = match &self.stored {
            Some(counter) => Some(counter.total),
            None => of_sources(),
        };
        let cancelled = AtomicBool::new(false);
        let report = |more_bytes, is_done| {
            let more_bytes = match &self.stored {
                Some(counter) => counter.take(),
                None => more_bytes,
            };
            on_progress(Progress {
                pass,
                more_bytes,
                total_bytes,
                is_done,
            })
        };
        let proceed = |more_bytes| {
            let goes_on = report(more_bytes, false);
            cancelled.fetch_or(!goes_on, Relaxed);
            goes_on
        };
        if let Some(counter) = &self.stored {
            counter.begin();
        }
        if !proceed(0) {
            return Err(Error::Cancelled);
        }
        let result = run(&self.plain_scan().proceed(&proceed));
        let goes_on = report(0, true) && !cancelled.load(Relaxed);
        if goes_on {
            result
        } else {
            Err(Error::Cancelled)
        }
    }

    fn plain_scan(&self) -> Scan<'_> {
        let scan = Scan::new(&self.pool)
            .kernel(self.options.kernel)
            .format(self.options.format)
            .only(&self.options.only)
            .policy(&self.options.policy)
            .walking(self.options.walking);
        match self.options.chunk {
            Some(chunk) => scan.chunk(chunk),
            None => scan,
        }
    }

    /// Checks the rejected rows.
    ///
    /// # Errors
    /// There is one although that is an error, or most rows are rejected.
    pub(crate) fn check<T>(&self, scanned: &Scanned<T>) -> Result<()> {
        rejected::check_strict(self.options.strict, &self.sources, &scanned.rejects)?;
        rejected::check_readable(self.options.strict, &self.sources, scanned)?;
        let path = |input: usize| self.sources[input].path();
        let line = |reject: &Reject| line_of(&*self.sources[reject.input as usize], reject.byte);
        rejected::check_most(path, line, scanned)
    }

    /// The sources' names as given by the user.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.sources.iter().map(|source| source.path())
    }

    /// The reading threads.
    #[cfg(feature = "cli")]
    pub fn pool(&self) -> &ThreadPool {
        &self.pool
    }

    /// Runs `work` on the reading threads.
    pub fn on_threads<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Number of worker threads.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// Whether every source can be read twice.
    pub fn is_rereadable(&self) -> bool {
        let mut sources = self.sources.iter();
        sources.all(|source| source.is_rereadable())
    }

    /// Whether keys of every source can be reread from their locations alone.
    pub(crate) fn is_in_blocks(&self) -> Result<bool> {
        self.plain_scan().are_in_blocks(&self.sources)
    }
}

/// The threads of a run: as many as there are cores, or as it is asked for.
///
/// # Errors
/// As `Reading::new`.
pub fn pool(threads: Option<usize>) -> Result<ThreadPool> {
    let threads = match threads {
        None => std::thread::available_parallelism().map_or(1, usize::from),
        Some(threads) if (1..=MAX_THREADS).contains(&threads) => threads,
        Some(threads) => {
            let reason = "the number of threads must be from 1 to 1024";
            return Err(Error::option("threads", threads.to_string(), reason));
        }
    };
    let built = ThreadPoolBuilder::new().num_threads(threads).build();
    built.map_err(|error| {
        let reason = format!("cannot start {threads} threads: {error}");
        Error::option("threads", "", reason)
    })
}
