//! Scans for tests: format, threads, chunk size and kernel are chosen, everything else is the default.

use slotscope::error::Result;
use slotscope::findings::summary::summarise;
use slotscope::format::{Format, named};
use slotscope::pipeline::two_pass::{self, Counted};
use slotscope::scan::{Scan, Scanned};
use slotscope::slot::policy::Policy;
use slotscope::source::Source;
use slotscope::source::memory::memory;
use slotscope::summary::Summary;
use slotscope::tally::tag_table::MAX_TAGS;
use slotscope::tally::{Parts, Tallies, Tally};
use slotscope::topology::Topology;

/// Tags that exceed the table of names are counted in rows of counters, as tags that exceed the shared table are.
const ROWS: usize = 0;

/// A scan; its result must not depend on threads, chunk size and kernel.
#[derive(Clone, Copy)]
pub struct Scanning<'a> {
    pub format: Option<&'static dyn Format>,
    pub threads: usize,
    pub chunk: usize,
    pub kernel: &'static hashslot::Kernel,
    pub policy: &'a Policy,
}

impl Scanning<'_> {
    /// With the format detected from the content.
    pub fn detected() -> Scanning<'static> {
        Scanning {
            format: None,
            threads: 2,
            chunk: 1 << 20,
            kernel: hashslot::best(),
            policy: &Policy::Oss,
        }
    }

    /// With this format.
    pub fn of(format: &str) -> Scanning<'static> {
        Scanning {
            format: Some(named(format).unwrap()),
            ..Scanning::detected()
        }
    }

    /// On `threads` threads, in chunks of `chunk` bytes.
    pub fn cut(self, threads: usize, chunk: usize) -> Self {
        Self {
            threads,
            chunk,
            ..self
        }
    }

    pub fn try_run<T: Tally>(
        &self,
        inputs: &[Box<dyn Source>],
        make: impl Fn() -> T,
    ) -> Result<Scanned<T>> {
        self.with(|scan| scan.run(inputs, &make))
    }

    pub fn run<T: Tally>(&self, inputs: &[Box<dyn Source>], make: impl Fn() -> T) -> Scanned<T> {
        self.try_run(inputs, make).unwrap()
    }

    /// Scans one dump in memory.
    pub fn dump<T: Tally>(&self, dump: &[u8], make: impl Fn() -> T) -> Scanned<T> {
        self.run(&[memory("dump", dump)], make)
    }

    /// One pass with all tags in a table shared by the threads.
    pub fn one_pass(&self, inputs: &[Box<dyn Source>]) -> Counted {
        self.two_passes_of(inputs, MAX_TAGS)
    }

    /// Both passes.
    pub fn two_passes(&self, inputs: &[Box<dyn Source>]) -> Counted {
        self.two_passes_of(inputs, ROWS)
    }

    /// With at most this many tags in a shared table.
    pub fn two_passes_of(&self, inputs: &[Box<dyn Source>], most_tags: usize) -> Counted {
        let make = || Tallies::new(Parts::All);
        self.with(|scan| two_pass::count(scan, inputs, most_tags, make))
            .unwrap()
    }

    /// Like `two_passes`, with the patterns of keys.
    pub fn two_passes_with_patterns(&self, inputs: &[Box<dyn Source>]) -> Counted {
        let make = || Tallies::new(Parts::All).with_patterns(b":");
        self.with(|scan| two_pass::count(scan, inputs, ROWS, make))
            .unwrap()
    }

    fn with<T>(&self, run: impl Fn(&Scan<'_>) -> T) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads);
        let pool = pool.build().unwrap();
        let scan = Scan::new(&pool).kernel(self.kernel).format(self.format);
        run(&scan.policy(self.policy).chunk(self.chunk))
    }
}

/// The findings for counts on three equal nodes.
pub fn summary(counted: &Counted) -> Summary {
    let topology = Topology::even(3, String::from("even 3")).unwrap();
    let (tally, recount) = (&counted.first.tally, counted.recount.as_ref());
    let (observed, asked, input) = Default::default();
    summarise(tally, recount, &topology, &observed, &asked, input)
}
