//! Inputs that are read from front to back: separate threads cut, all workers count.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::Builder;

use crate::error::{Error, Result, reason};
use crate::format::row_boundary::RowBoundary;
use crate::format::walk::Walk;
use crate::format::{Head, Reader};
use crate::scan::chunks::HEAD;
use crate::scan::shared::{Shared, lock};
use crate::scan::{Scan, SeenInput, Worker};
use crate::source::block::{Block, Piece};
use crate::source::chunk::Trouble;
use crate::source::forward::Forward;
use crate::source::joined;
use crate::source::stream;
use crate::source::stream::RowReader;
use crate::source::{MAX_LINE, Source};
use crate::tally::Tally;

/// A block cut from a stream, and the bytes of the input that it stands for.
struct Cut {
    block: Block,
    piece: Piece,
    bytes: Range<u64>,
    input: usize,
    reader: Arc<dyn Reader>,
    /// Dropped with the block, where the cutting thread waits for that.
    _done: Option<mpsc::Sender<()>>,
}

/// Blocks of more chunks than this hold a giant row: one at a time is in work of each stream, or they would add up.
const GIANT: usize = 4;

type Stream = RowReader<Box<dyn io::Read + Send>>;

/// What makes blocks of an input.
enum Blocks {
    /// Its rows as they are.
    Rows(Stream),
    /// A walk over it.
    Walk(Box<dyn Walk>),
}

impl Blocks {
    /// Fills `block`; how it lies in the input, and the bytes of that which it stands for.
    fn next(
        &mut self,
        block: &mut Block,
    ) -> std::result::Result<Option<(Piece, Range<u64>)>, Trouble> {
        match self {
            Blocks::Rows(rows) => {
                let piece = rows.next(block)?;
                let bytes = |piece: &Piece| piece.offset..piece.offset + block.len() as u64;
                Ok(piece.map(|piece| (piece, bytes(&piece))))
            }
            Blocks::Walk(walk) => match walk.next(block) {
                Ok(bytes) => Ok(bytes.map(|bytes| (piece_at(&bytes), bytes))),
                Err(damage) => Err(Trouble::Damaged(damage.offset, damage.what)),
            },
        }
    }
}

/// A block that stands for `bytes`.
fn piece_at(bytes: &Range<u64>) -> Piece {
    Piece {
        from: 0,
        offset: bytes.start,
        first: bytes.start == 0,
        last: false,
    }
}

fn no_thread(error: &io::Error) -> Error {
    let what = format!(
        "no thread can be started ({}); raise the number of processes (ulimit -u, pids.max)",
        reason(error)
    );
    Error::bad("scan", what)
}

impl Scan<'_> {
    /// Cuts streams on separate threads, as many at a time as there are workers, which count the blocks.
    pub(super) fn read_streams<T: Tally>(
        &self,
        workers: &[Mutex<Worker<T>>],
        shared: &Shared<'_>,
        streams: &[usize],
    ) -> Result<()> {
        if streams.is_empty() {
            return Ok(());
        }
        let cutters = workers.len().min(streams.len());
        let (full, blocks) = mpsc::sync_channel::<Cut>(workers.len());
        let (spare, empty) = mpsc::channel::<Block>();
        (0..2 * workers.len() + cutters).for_each(|_| drop(spare.send(Block::with_capacity(0))));
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
                        let place = (*input, workers.len() / cutters);
                        if let Err(error) =
                            self.cut_stream(shared, place, &mut unused, empty, &full)
                        {
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
                    // Those that run cut all streams.
                    Err(_) => break,
                }
            }
            drop(full);
            self.pool.broadcast(|context| {
                let worker = &mut *lock(&workers[context.index()]);
                loop {
                    // The lock is given back before the work starts: `let` drops the guard.
                    let received = lock(&blocks).recv();
                    let Ok(mut cut) = received else { break };
                    if shared.reads_on(cut.input) {
                        std::mem::swap(&mut worker.block, &mut cut.block);
                        let bytes = cut.bytes.end - cut.bytes.start;
                        let seen = worker.count(
                            self,
                            shared,
                            &*cut.reader,
                            (cut.input, cut.bytes, cut.piece),
                        );
                        shared.saw(
                            cut.input,
                            SeenInput {
                                format: cut.reader.format(),
                                bytes,
                                seen,
                                ..SeenInput::default()
                            },
                        );
                        worker.block.shrink(self.chunk);
                        shared.proceed((self.proceed)(bytes));
                    }
                    cut.block.shrink(self.chunk);
                    // A send fails only where the cutting threads have ended; then no block is needed any more.
                    drop(spare.send(cut.block));
                }
            });
        });
        shared.outcome()?;
        streams
            .iter()
            .try_for_each(|input| shared.check_unchanged(*input))
    }

    /// Refuses a stream that is not in its format before anything is counted, where it can be opened again.
    pub(super) fn check_start(&self, source: &dyn Source) -> Result<()> {
        if source.is_rereadable() {
            let mut rows = RowReader::new(stream::open(source)?, self.chunk);
            self.reader_of_stream(source, &mut rows)?;
        }
        Ok(())
    }

    fn cut_stream(
        &self,
        shared: &Shared<'_>,
        (input, threads): (usize, usize),
        unused: &mut Option<Block>,
        empty: &Mutex<mpsc::Receiver<Block>>,
        full: &mpsc::SyncSender<Cut>,
    ) -> Result<()> {
        let bytes = joined::open(&*shared.sources[input], threads)?;
        let mut rows = RowReader::new(bytes, self.chunk);
        let reader: Arc<dyn Reader> =
            Arc::from(self.reader_of_stream(&*shared.sources[input], &mut rows)?);
        let mut blocks = match reader.boundary() {
            RowBoundary::Walked(walk) => {
                let file = Forward::open_at(&*shared.sources[input])?;
                let bytes = file.unwrap_or_else(|| Forward::stream(rows.into_reader()));
                Blocks::Walk(walk(bytes, self.walking))
            }
            boundary => {
                rows.set_boundary(Arc::new(boundary));
                Blocks::Rows(rows)
            }
        };
        shared.saw(
            input,
            SeenInput {
                format: reader.format(),
                ..SeenInput::default()
            },
        );
        while shared.reads_on(input) {
            // A block that the end of the last stream left over is used first, or they would run out.
            let received = unused.take().map_or_else(|| lock(empty).recv(), Ok);
            let Ok(mut block) = received else { break };
            let (piece, bytes) = match blocks.next(&mut block) {
                Ok(Some(next)) => next,
                Ok(None) => {
                    *unused = Some(block);
                    break;
                }
                Err(trouble) => {
                    *unused = Some(block);
                    return shared.note(trouble, input);
                }
            };
            reader.learn(&block, piece);
            let (done, counted) = mpsc::channel();
            let is_giant = block.len() > GIANT * self.chunk;
            let cut = Cut {
                block,
                piece,
                bytes,
                input,
                reader: reader.clone(),
                _done: is_giant.then_some(done),
            };
            if !shared.reads_on(input) || full.send(cut).is_err() {
                break;
            }
            // Nothing is sent: the other end is dropped.
            _ = counted.recv();
        }
        Ok(())
    }

    /// Detects the format of a stream from its start, reading as much of it as that takes.
    fn reader_of_stream(&self, source: &dyn Source, rows: &mut Stream) -> Result<Box<dyn Reader>> {
        let mut want = HEAD;
        loop {
            let (bytes, ended) = rows.head(want);
            let whole = ended || bytes.len() > MAX_LINE;
            if let Some(reader) = self.recognise(source, Head { bytes, whole })? {
                return Ok(reader);
            }
            want = (8 * want).min(MAX_LINE + 1);
        }
    }
}
