//! The cost of reading a file: reads of several sizes, memory maps, and direct I/O, on two threads that count the line
//! ends. All take turns; prints medians as a Markdown table.
//!
//! `cargo bench -p benches --bench reading -- FILE`. As root on Linux, it also times a cold page cache, by dropping it.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("reading: maps and caches are Linux's here; run it there");
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs::{self, File, OpenOptions};
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{FileExt, OpenOptionsExt};
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    use std::time::Instant;

    const THREADS: usize = 2;
    const WARM_ROUNDS: usize = 7;
    const COLD_ROUNDS: usize = 3;
    const KIB: usize = 1 << 10;
    /// O_DIRECT requires buffers and offsets aligned to disk blocks.
    const ALIGNED: usize = 4 * KIB;

    #[derive(Clone, Copy)]
    enum Way {
        /// Reads into one buffer per thread, this many bytes at a time.
        Read(usize),
        /// The same on this many threads.
        ReadBy(usize, usize),
        /// Reads into a buffer of huge pages.
        ReadHuge(usize),
        /// Maps one piece at a time.
        MapPiece(usize),
        /// Maps the whole file, used piece by piece.
        Map(usize),
        /// Bypasses the page cache.
        Direct(usize),
    }

    use Way::*;

    const WARM: [(&str, Way); 7] = [
        ("read, 128 KiB", Read(128 * KIB)),
        ("read, 512 KiB", Read(512 * KIB)),
        ("read, 2 MiB", Read(2048 * KIB)),
        ("read, 8 MiB", Read(8192 * KIB)),
        ("read, 2 MiB, huge pages", ReadHuge(2048 * KIB)),
        ("map of 2 MiB", MapPiece(2048 * KIB)),
        ("map of the file", Map(2048 * KIB)),
    ];
    const COLD: [(&str, Way); 5] = [
        ("read, 2 MiB", Read(2048 * KIB)),
        ("read, 8 MiB", Read(8192 * KIB)),
        ("read, 2 MiB, 8 threads", ReadBy(2048 * KIB, 8)),
        ("map of the file", Map(2048 * KIB)),
        ("read, 2 MiB, O_DIRECT", Direct(2048 * KIB)),
    ];

    pub(crate) fn main() {
        let path = std::env::args().skip(1).find(|arg| !arg.starts_with("--"));
        let path = path.expect("reading: which FILE? one of a gigabyte or more");
        let bytes = fs::metadata(&path).expect("the file can be read").len();
        println!(
            "{:.2} GB, {THREADS} threads, medians in turn\n",
            bytes as f64 / 1e9
        );
        println!(
            "| in the page cache | wall s | GB/s | user s | system s |\n|---|--:|--:|--:|--:|"
        );
        rows(&path, &WARM, WARM_ROUNDS, || ());
        if !can_empty_cache() {
            return println!("\nNot root: a file that is not in the page cache was not read.");
        }
        println!("\n| not in it | wall s | GB/s | user s | system s |\n|---|--:|--:|--:|--:|");
        rows(&path, &COLD, COLD_ROUNDS, || {
            assert!(can_empty_cache(), "the page cache is emptied")
        });
    }

    fn can_empty_cache() -> bool {
        // SAFETY: no preconditions.
        unsafe { libc::sync() };
        fs::write("/proc/sys/vm/drop_caches", "1").is_ok()
    }

    /// Seconds: wall, user, system.
    type Times = [f64; 3];

    fn rows(path: &str, ways: &[(&str, Way)], rounds: usize, before: impl Fn()) {
        let bytes = fs::metadata(path).expect("the file is there").len() as f64;
        let lines = count(path, Read(2048 * KIB));
        let mut times = vec![Vec::new(); ways.len()];
        for _ in 0..rounds {
            for ((_, way), times) in ways.iter().zip(&mut times) {
                before();
                let (start, used) = (Instant::now(), cpu_times());
                assert_eq!(count(path, *way), lines, "all ways see the same bytes");
                let [user, system] = cpu_times();
                times.push([
                    start.elapsed().as_secs_f64(),
                    user - used[0],
                    system - used[1],
                ]);
            }
        }
        for ((name, _), times) in ways.iter().zip(&times) {
            let [wall, user, system] = median(times);
            println!(
                "| {name} | {wall:.3} | {:.1} | {user:.3} | {system:.3} |",
                bytes / 1e9 / wall
            );
        }
    }

    fn median(times: &[Times]) -> Times {
        std::array::from_fn(|i| {
            let mut column: Vec<f64> = times.iter().map(|times| times[i]).collect();
            column.sort_by(f64::total_cmp);
            column[column.len() / 2]
        })
    }

    fn cpu_times() -> [f64; 2] {
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        // SAFETY: all zeros is a valid value of this struct, which the call fills in.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(libc::RUSAGE_SELF, &mut usage);
            usage
        };
        [seconds(usage.ru_utime), seconds(usage.ru_stime)]
    }

    /// Counts the line ends in the file.
    fn count(path: &str, way: Way) -> u64 {
        let (next, lines) = (AtomicU64::new(0), AtomicU64::new(0));
        let flags = if let Direct(_) = way {
            libc::O_DIRECT
        } else {
            0
        };
        let file = OpenOptions::new().read(true).custom_flags(flags).open(path);
        let file = file.expect("the file opens");
        let len = file.metadata().expect("it has a length").len() as usize;
        let whole = matches!(way, Map(_)).then(|| Mapping::of(&file, 0, len));
        let (piece, threads) = match way {
            ReadBy(piece, threads) => (piece, threads),
            Read(piece) | ReadHuge(piece) | MapPiece(piece) | Map(piece) | Direct(piece) => {
                (piece, THREADS)
            }
        };
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut buffer = Buffer::new(piece, matches!(way, ReadHuge(_)));
                    loop {
                        let from = next.fetch_add(1, Relaxed) as usize * piece;
                        if from >= len {
                            return;
                        }
                        let size = piece.min(len - from);
                        let found = match (way, &whole) {
                            (Map(_), Some(whole)) => line_ends(&whole.bytes()[from..from + size]),
                            (MapPiece(_), _) => line_ends(Mapping::of(&file, from, size).bytes()),
                            (Direct(_), _) => {
                                let got = file.read_at(buffer.bytes(), from as u64);
                                line_ends(&buffer.bytes()[..got.expect("the file can be read")])
                            }
                            _ => {
                                let bytes = &mut buffer.bytes()[..size];
                                file.read_exact_at(bytes, from as u64)
                                    .expect("the file can be read");
                                line_ends(bytes)
                            }
                        };
                        lines.fetch_add(found, Relaxed);
                    }
                });
            }
        });
        lines.into_inner()
    }

    fn line_ends(bytes: &[u8]) -> u64 {
        memchr::memchr_iter(b'\n', bytes).count() as u64
    }

    /// Anonymous pages owned by a thread.
    struct Buffer {
        at: *mut u8,
        len: usize,
    }

    impl Buffer {
        fn new(len: usize, huge: bool) -> Self {
            let len = len.next_multiple_of(ALIGNED);
            let (access, kind) = (
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            );
            // SAFETY: maps new pages at any address.
            let at = unsafe { libc::mmap(std::ptr::null_mut(), len, access, kind, -1, 0) };
            assert_ne!(at, libc::MAP_FAILED, "memory for a buffer");
            if huge {
                // SAFETY: the pages were just mapped. This is advice; without huge pages nothing changes.
                unsafe { libc::madvise(at, len, libc::MADV_HUGEPAGE) };
            }
            Buffer { at: at.cast(), len }
        }

        fn bytes(&mut self) -> &mut [u8] {
            // SAFETY: `new` mapped these pages, and they hold zeros or bytes that were read.
            unsafe { std::slice::from_raw_parts_mut(self.at, self.len) }
        }
    }

    impl Drop for Buffer {
        fn drop(&mut self) {
            // SAFETY: `new` mapped these pages.
            unsafe { libc::munmap(self.at.cast(), self.len) };
        }
    }

    /// A mapped part of a file. The file must not be truncated meanwhile, or the process dies.
    struct Mapping {
        at: *const u8,
        len: usize,
    }

    // SAFETY: the bytes are only read.
    unsafe impl Sync for Mapping {}

    impl Mapping {
        fn of(file: &File, from: usize, len: usize) -> Self {
            let (null, from) = (std::ptr::null_mut(), from as libc::off_t);
            // SAFETY: maps new pages at any address.
            let at = unsafe {
                libc::mmap(
                    null,
                    len,
                    libc::PROT_READ,
                    libc::MAP_SHARED,
                    file.as_raw_fd(),
                    from,
                )
            };
            assert_ne!(at, libc::MAP_FAILED, "the file can be mapped");
            Mapping { at: at.cast(), len }
        }

        fn bytes(&self) -> &[u8] {
            // SAFETY: `of` mapped these pages, and nothing truncates the file.
            unsafe { std::slice::from_raw_parts(self.at, self.len) }
        }
    }

    impl Drop for Mapping {
        fn drop(&mut self) {
            // SAFETY: `of` mapped these pages.
            unsafe { libc::munmap(self.at.cast_mut().cast(), self.len) };
        }
    }
}
