//! Sequential inputs: separate threads split them, all workers count.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::Builder;

use slotscope_base::block::Piece;
use slotscope_base::error::{Error, Result, reason};
use slotscope_read::format::frame::row_batch::RowBatch;
use slotscope_read::format::frame::walk::{Damage, Walk};
use slotscope_read::format::{Head, Opened, ReadStats, Reader};
use slotscope_read::source::chunk::Trouble;
use slotscope_read::source::forward::Forward;
use slotscope_read::source::stream;
use slotscope_read::source::stream::RowReader;
use slotscope_read::source::{MAX_LINE, Source};

use crate::scan::chunks::{HEAD, Recognised};
use crate::scan::shared::{Shared, lock};
use crate::scan::{Scan, SeenInput, Worker};

/// Work that a splitting thread hands to the workers, which return it for reuse: the rows of a walk, or a block of rows for
/// a reader.
#[derive(Default)]
struct Work {
    rows: Box<RowBatch>,
    piece: Option<(Piece, Arc<dyn Reader>)>,
}

/// Work from a stream, with the bytes of the input it covers.
struct Cut {
    work: Work,
    bytes: Range<u64>,
    input: usize,
    format: &'static str,
    /// Dropped with the work; the splitting thread may wait for that.
    _done: Option<mpsc::Sender<()>>,
}

/// Work larger than this many chunks contains a giant row; only one such is in flight per stream, to bound memory.
const GIANT: usize = 16;

type Stream = RowReader<Box<dyn io::Read + Send>>;

/// Produces work from an input.
enum Cutter {
    /// Raw rows.
    Rows(Stream, Arc<dyn Reader>),
    /// A walk over it.
    Walk(Box<dyn Walk>),
}

impl Cutter {
    /// Fills `work` with the next rows; returns their bytes in the input, or `None` at its end.
    fn next(&mut self, work: &mut Work) -> std::result::Result<Option<Range<u64>>, Trouble> {
        work.piece = None;
        match self {
            Cutter::Rows(rows, reader) => {
                work.rows.clear();
                let block = work.rows.block();
                let Some(piece) = rows.next(block)? else {
                    return Ok(None);
                };
                work.piece = Some((piece, reader.clone()));
                Ok(Some(piece.offset..piece.offset + block.len() as u64))
            }
            Cutter::Walk(walk) => {
                let damaged = |damage: Damage| Trouble::Damaged(damage.offset, damage.what);
                walk.next(&mut work.rows).map_err(damaged)
            }
        }
    }
}

impl Cutter {
    /// Whether memory was reserved for a giant row.
    fn has_room(&self) -> bool {
        matches!(self, Cutter::Rows(rows, _) if rows.has_room())
    }

    /// Releases the reservation once that row is counted.
    fn leave_room(&mut self) {
        if let Cutter::Rows(rows, _) = self {
            rows.leave_room();
        }
    }
}

fn no_thread(error: &io::Error) -> Error {
    let message = format!(
        "no thread can be started ({}); raise the number of processes (ulimit -u, pids.max)",
        reason(error)
    );
    Error::bad("scan", message)
}

impl Scan<'_> {
    /// Splits streams on separate threads, at most as many as there are workers, which count the blocks.
    pub(super) fn read_streams(
        &self,
        workers: &[Mutex<Worker<'_>>],
        shared: &Shared<'_>,
        streams: &[usize],
    ) -> Result<()> {
        if streams.is_empty() {
            return Ok(());
        }
        let cutters = workers.len().min(streams.len());
        let (full, blocks) = mpsc::sync_channel::<Cut>(workers.len());
        let (spare, empty) = mpsc::channel::<Work>();
        (0..2 * workers.len() + cutters).for_each(|_| drop(spare.send(Work::default())));
        let (blocks, empty) = (Mutex::new(blocks), Mutex::new(empty));
        let (next, empty) = (&AtomicUsize::new(0), &empty);
        std::thread::scope(|scope| {
            for started in 0..cutters {
                let full = full.clone();
                let cut = move || {
                    let mut unused = None;
                    while let Some(input) = streams
                        .get(next.fetch_add(1, Relaxed))
                        .filter(|input| shared.reads_on(**input))
                    {
                        let result = self.cut_stream(shared, *input, &mut unused, empty, &full);
                        if let Err(error) = result {
                            shared.fail((*input, 0), error);
                        }
                    }
                };
                match Builder::new().spawn_scoped(scope, cut) {
                    Ok(_) => {}
                    Err(error) if started == 0 => {
                        shared.fail((streams[0], 0), no_thread(&error));
                        break;
                    }
                    // The threads already running process all streams.
                    Err(_) => break,
                }
            }
            drop(full);
            self.pool.broadcast(|context| {
                let worker = &mut *lock(&workers[context.index()]);
                loop {
                    // The lock is released before the work starts: `let` drops the guard.
                    let received = lock(&blocks).recv();
                    let Ok(mut cut) = received else { break };
                    if shared.reads_on(cut.input) {
                        let bytes = cut.bytes.end - cut.bytes.start;
                        let seen = self.count_work(worker, shared, &mut cut);
                        shared.saw(
                            cut.input,
                            SeenInput {
                                format: cut.format,
                                bytes,
                                seen,
                                ..SeenInput::default()
                            },
                        );
                        shared.proceed((self.proceed)(bytes));
                    }
                    // Sending only fails once the splitting threads have ended; no more work is produced then.
                    drop(spare.send(cut.work));
                }
            });
        });
        shared.outcome()?;
        streams
            .iter()
            .try_for_each(|input| shared.check_unchanged(*input))
    }

    /// If a stream can be reopened, fails before counting anything if it is not in its format.
    pub(super) fn check_start(&self, source: &dyn Source) -> Result<()> {
        if source.is_rereadable() {
            let mut rows = RowReader::new(stream::open(source)?, self.chunk);
            self.open_stream(source, &mut rows)?;
        }
        Ok(())
    }

    fn count_work(&self, worker: &mut Worker<'_>, shared: &Shared<'_>, cut: &mut Cut) -> ReadStats {
        let (input, bytes) = ((cut.input, cut.format), cut.bytes.clone());
        let Work { rows, piece } = &mut cut.work;
        let stats = match piece.take() {
            Some((piece, reader)) => {
                std::mem::swap(&mut worker.block, rows.block());
                let stats = worker.count(self, shared, &*reader, input, (bytes, piece));
                worker.block.shrink(self.chunk);
                stats
            }
            None => worker.count_rows(self, shared, rows, input, bytes),
        };
        rows.clear();
        stats
    }

    fn cut_stream(
        &self,
        shared: &Shared<'_>,
        input: usize,
        unused: &mut Option<Work>,
        empty: &Mutex<mpsc::Receiver<Work>>,
        full: &mpsc::SyncSender<Cut>,
    ) -> Result<()> {
        let bytes = stream::open(&*shared.sources[input])?;
        let mut rows = RowReader::new(bytes, self.chunk).sharing(&shared.room);
        let (opened, told) = self.open_stream(&*shared.sources[input], &mut rows)?;
        let format = opened.format();
        let mut cutter = match opened {
            Opened::Walk { walk, .. } => {
                let file = Forward::open_at(&*shared.sources[input])?;
                let bytes = file.unwrap_or_else(|| Forward::stream(rows.into_reader()));
                Cutter::Walk(walk(bytes, self.walking))
            }
            Opened::Blocks {
                boundary, reader, ..
            } => {
                rows.set_boundary(Arc::new(boundary));
                Cutter::Rows(rows, Arc::from(reader))
            }
        };
        shared.saw(
            input,
            SeenInput {
                format,
                told,
                ..SeenInput::default()
            },
        );
        while shared.reads_on(input) {
            // Reuse the buffer left over at the end of the previous stream, or they would run out.
            let received = unused.take().map_or_else(|| lock(empty).recv(), Ok);
            let Ok(mut work) = received else { break };
            let bytes = match cutter.next(&mut work) {
                Ok(Some(bytes)) => bytes,
                Ok(None) => {
                    *unused = Some(work);
                    break;
                }
                Err(trouble) => {
                    *unused = Some(work);
                    return shared.note(trouble, input);
                }
            };
            let (done, counted) = mpsc::channel();
            let is_giant = work.rows.size_bytes() > GIANT * self.chunk || cutter.has_room();
            let cut = Cut {
                work,
                bytes,
                input,
                format,
                _done: is_giant.then_some(done),
            };
            if !shared.reads_on(input) || full.send(cut).is_err() {
                break;
            }
            // Nothing is ever sent: wait until the other end is dropped.
            _ = counted.recv();
            cutter.leave_room();
        }
        Ok(())
    }

    /// Detects the format of a stream from its start, reading as much as needed.
    fn open_stream(&self, source: &dyn Source, rows: &mut Stream) -> Result<Recognised> {
        let mut want = HEAD;
        loop {
            let (bytes, ended) = rows.head(want);
            let whole = ended || bytes.len() > MAX_LINE;
            if let Some(opened) = self.recognise(source, Head { bytes, whole })? {
                return Ok(opened);
            }
            want = (8 * want).min(MAX_LINE + 1);
        }
    }
}
