//! Scans for tests: format, threads, chunk size and kernel are chosen, everything else is the default.

use slotscope::detect::named;
use slotscope::error::Result;
use slotscope::format::Format;
use slotscope::scan::{Scan, Scanned};
use slotscope::slot::policy::Policy;
use slotscope::source::Source;
use slotscope::source::memory::memory;
use slotscope::tally::Tally;

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

    fn with<T>(&self, run: impl Fn(&Scan<'_>) -> T) -> T {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads);
        let pool = pool.build().unwrap();
        let scan = Scan::new(&pool).kernel(self.kernel).format(self.format);
        run(&scan.policy(self.policy).chunk(self.chunk))
    }
}
