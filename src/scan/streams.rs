//! Inputs that are read from front to back: one thread cuts, all workers count.

use std::sync::{Arc, Mutex, mpsc};

use super::chunks::HEAD;
use super::shared::{Shared, lock};
use super::{Scan, SeenInput, Worker};
use crate::error::Result;
use crate::format::{Head, Reader};
use crate::source::block::{Block, Piece};
use crate::source::stream::{self, RowReader};
use crate::source::{Input, MAX_LINE};
use crate::tally::Tally;

/// A block cut from a stream.
struct Cut {
    block: Block,
    piece: Piece,
    reader: Arc<dyn Reader>,
}

type Stream = RowReader<Box<dyn std::io::Read + Send>>;

impl Scan<'_> {
    /// Cuts a stream on a thread of its own and lets all workers count the blocks.
    pub(super) fn read_stream<T: Tally>(
        &self,
        workers: &[Mutex<Worker<T>>],
        shared: &Shared<'_>,
        input: usize,
    ) -> Result<()> {
        let stream = stream::open(&shared.inputs[input])?;
        let (full, blocks) = mpsc::sync_channel::<Cut>(workers.len());
        let (spare, empty) = mpsc::channel::<Block>();
        (0..2 * workers.len()).for_each(|_| drop(spare.send(Block::with_capacity(0))));
        let blocks = Mutex::new(blocks);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                if let Err(error) = self.cut_stream(shared, input, RowReader::new(stream, self.chunk), &empty, &full) {
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
                        let seen = worker.count(self.kernel, &*cut.reader, input, cut.piece);
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
        mut rows: Stream,
        empty: &mpsc::Receiver<Block>,
        full: &mpsc::SyncSender<Cut>,
    ) -> Result<()> {
        let reader: Arc<dyn Reader> = Arc::from(self.reader_of_stream(&shared.inputs[input], &mut rows)?);
        rows.set_cut(reader.cut());
        shared.saw(input, SeenInput { format: reader.format(), ..SeenInput::default() });
        while let Ok(mut block) = empty.recv() {
            let piece = match rows.next(&mut block) {
                Ok(Some(piece)) => piece,
                Ok(None) => break,
                Err(trouble) => return shared.note(trouble, input),
            };
            if !shared.is_going() || full.send(Cut { block, piece, reader: reader.clone() }).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// Tells the format of a stream by its start, looking at as much of it as that takes.
    fn reader_of_stream(&self, input: &Input, rows: &mut Stream) -> Result<Box<dyn Reader>> {
        let mut want = HEAD;
        loop {
            let (bytes, ended) = rows.head(want);
            let whole = ended || bytes.len() > MAX_LINE;
            if let Some(reader) = self.recognise(input, Head { bytes, whole })? {
                return Ok(reader);
            }
            want *= 8;
        }
    }
}
