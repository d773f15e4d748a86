//! A compressed file that several threads decompress, each some members at a time, joined in order.
//!
//! The output is that of one decoder. A group of members counts only once it is decompressed to its end, and from the
//! first that is not, because it is broken or its headers lie, one decoder reads the rest.

use std::collections::VecDeque;
use std::io::{self, Cursor, Read};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread::JoinHandle;

use crate::error::{Error, Result};
use crate::source::decompress::{BUFFER, Form, MAGIC, decoder};
use crate::source::forward::Forward;
use crate::source::group::{Content, Group, GroupDecoder};
use crate::source::members::{GROUP, Members};
use crate::source::{ReadAt, Source, stream};

/// Opens any source to be read from front to back, decompressed: by this many threads where the source is a file whose
/// headers say where they can start.
///
/// # Errors
/// What the system says.
pub(crate) fn open(source: &dyn Source, threads: usize) -> Result<Box<dyn Read + Send>> {
    let failed = |error| Error::io(source.path(), error);
    if threads > 1
        && let Some((bytes, len)) = source.open_compressed().map_err(failed)?
        && let Some(joined) = Joined::open(bytes.into(), len, threads)
    {
        return Ok(Box::new(joined));
    }
    stream::open(source)
}

/// A file that is decompressed by several threads.
struct Joined {
    file: Arc<dyn ReadAt>,
    len: u64,
    members: Members,
    /// Dropped to end the threads.
    jobs: Option<mpsc::Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    /// Groups in work, in order.
    ahead: VecDeque<(Group, mpsc::Receiver<Content>)>,
    /// The content of the current group, and how much of it was given out.
    content: Content,
    given: usize,
    /// The decoder that reads on after the last group.
    rest: Option<Box<dyn Read + Send>>,
}

/// A group to be decompressed, content whose memory is free, and where the new one goes.
struct Job {
    group: Group,
    used: Content,
    done: mpsc::Sender<Content>,
}

impl Joined {
    /// A file of `len` bytes; `None` where its headers do not show that threads can share it.
    fn open(file: Arc<dyn ReadAt>, len: u64, threads: usize) -> Option<Joined> {
        Joined::in_groups(file, len, threads, GROUP)
    }

    fn in_groups(file: Arc<dyn ReadAt>, len: u64, threads: usize, group: u64) -> Option<Joined> {
        let walk = Forward::file(Box::new(file.clone()), len);
        let mut members = Members::of(walk, group)?;
        let first = members.next()?;
        if first.bytes.end == len {
            return None;
        }
        let (jobs, taken) = mpsc::channel();
        let taken = Arc::new(Mutex::new(taken));
        let form = members.form();
        let work = |_| {
            let (file, taken) = (file.clone(), taken.clone());
            std::thread::spawn(move || work(&taken, &*file, form))
        };
        let mut joined = Joined {
            threads: (0..threads).map(work).collect(),
            file,
            len,
            members,
            jobs: Some(jobs),
            ahead: VecDeque::new(),
            content: Content::default(),
            given: 0,
            rest: None,
        };
        joined.hand_out(first, Content::default());
        while joined.ahead.len() <= threads && joined.hand_out_next(Content::default()) {}
        Some(joined)
    }

    /// Gives the next group to the threads; false where there is none.
    fn hand_out_next(&mut self, used: Content) -> bool {
        let group = self.members.next();
        group.map(|group| self.hand_out(group, used)).is_some()
    }

    fn hand_out(&mut self, group: Group, used: Content) {
        let (done, content) = mpsc::channel();
        self.ahead.push_back((group.clone(), content));
        if let Some(jobs) = &self.jobs {
            // Where no thread is left, the content does not come, and one decoder reads on.
            _ = jobs.send(Job { group, used, done });
        }
    }

    /// The content of the next group, or one decoder for all that is left.
    fn read_on(&mut self) -> io::Result<()> {
        let Some((group, content)) = self.ahead.pop_front() else {
            return self.read_rest(self.members.offset());
        };
        let Ok(content) = content.recv() else {
            return self.read_rest(group.bytes.start);
        };
        let used = std::mem::replace(&mut self.content, content);
        self.given = 0;
        self.hand_out_next(used);
        Ok(())
    }

    /// Reads with one decoder from a place between two members. It reads in the same steps as one that started at the first
    /// member: they are in the message of an error.
    fn read_rest(&mut self, from: u64) -> io::Result<()> {
        self.end_threads();
        if from == self.len {
            self.rest = Some(Box::new(io::empty()));
            return Ok(());
        }
        let first_step = self.members.start() + MAGIC as u64;
        let step = (from.saturating_sub(first_step)).next_multiple_of(BUFFER as u64) + first_step;
        let mut rest = Stretch {
            file: self.file.clone(),
            at: from,
            end: self.len,
        };
        let mut head = Vec::new();
        rest.by_ref().take(step - from).read_to_end(&mut head)?;
        let reader = Cursor::new(head).chain(rest);
        self.rest = Some(decoder(self.members.form(), reader, from)?);
        Ok(())
    }

    fn end_threads(&mut self) {
        self.ahead.clear();
        self.jobs = None;
        // One that panicked has said so, and its group did not come.
        self.threads
            .drain(..)
            .for_each(|thread| drop(thread.join()));
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.end_threads();
    }
}

impl Read for Joined {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            if let Some(rest) = &mut self.rest {
                return rest.read(into);
            }
            let left = &self.content.bytes()[self.given..];
            let count = left.len().min(into.len());
            if count > 0 || into.is_empty() {
                into[..count].copy_from_slice(&left[..count]);
                self.given += count;
                return Ok(count);
            }
            self.read_on()?;
        }
    }
}

/// Decompresses groups until there are no more. One that does not decompress to its end is dropped.
fn work(jobs: &Mutex<mpsc::Receiver<Job>>, file: &dyn ReadAt, form: Form) {
    let Some(mut decoder) = GroupDecoder::new() else {
        return;
    };
    loop {
        // The lock is given back before the work starts: `let` drops the guard.
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if let Some(content) = decoder.decompress(file, form, &job.group, job.used) {
            // It is not wanted any more where the reader was dropped.
            _ = job.done.send(content);
        }
    }
}

/// A part of a file, read from front to back.
struct Stretch {
    file: Arc<dyn ReadAt>,
    at: u64,
    end: u64,
}

impl Read for Stretch {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = (self.end - self.at).min(into.len() as u64);
        self.file
            .read_exact_at(&mut into[..count as usize], self.at)?;
        self.at += count;
        Ok(count as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::decompress::plain;
    use flate2::{Compression, GzBuilder};
    use proptest::prelude::*;
    use std::io::Write;

    /// A member of gzip; with a field `BC` that says its length, or that and `lie`.
    fn gzip(content: &[u8], lie: Option<i16>) -> Vec<u8> {
        let member = |builder: GzBuilder| {
            let mut member = builder.write(Vec::new(), Compression::new(1));
            member.write_all(content).unwrap();
            member.finish().unwrap()
        };
        let Some(lie) = lie else {
            return member(GzBuilder::new());
        };
        let mut bytes = member(GzBuilder::new().extra(&b"XY\x01\0zBC\x02\0\0\0"[..]));
        let says = (bytes.len() as i16 - 1).wrapping_add(lie).to_le_bytes();
        bytes[21..23].copy_from_slice(&says);
        bytes
    }

    fn zstd(content: &[u8], says_len: bool, checksum: bool) -> Vec<u8> {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
        if says_len {
            let len = Some(content.len() as u64);
            encoder.set_pledged_src_size(len).unwrap();
        }
        encoder.include_contentsize(says_len).unwrap();
        encoder.include_checksum(checksum).unwrap();
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    fn skippable(len: u8) -> Vec<u8> {
        let mut frame = vec![0x53, 0x2A, 0x4D, 0x18, len, 0, 0, 0];
        frame.resize(8 + usize::from(len), b'x');
        frame
    }

    /// Lines that compress well and lines that do not.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let line = |i: usize, seed: u64| match seed % 2 {
            0 => format!("user:{i}\n"),
            _ => format!(
                "{:016x}\n",
                (i as u64 + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
            ),
        };
        let lines = prop_oneof![3 => 0usize..4, 3 => 0usize..2000, 1 => 0usize..20_000];
        (lines, any::<u64>()).prop_map(move |(lines, seed)| {
            (0..lines)
                .flat_map(|i| line(i, seed).into_bytes())
                .collect()
        })
    }

    /// Parts of a file: honest members mostly.
    fn part(form: Form) -> BoxedStrategy<Vec<u8>> {
        let odd = prop_oneof![
            Just(Vec::new()),
            Just(vec![0; 300]),
            Just(b"garbage".to_vec()),
            any::<u8>().prop_map(skippable),
        ];
        let member = match form {
            Form::Gzip => prop_oneof![
                12 => content().prop_map(|content| gzip(&content, Some(0))),
                2 => content().prop_map(|content| gzip(&content, None)),
                1 => (content(), any::<i16>()).prop_map(|(content, lie)| gzip(&content, Some(lie))),
                1 => (content(), -40i16..40).prop_map(|(content, lie)| gzip(&content, Some(lie))),
            ]
            .boxed(),
            _ => (content(), any::<bool>(), any::<bool>())
                .prop_map(|(content, says_len, checksum)| zstd(&content, says_len, checksum))
                .boxed(),
        };
        prop_oneof![20 => member, 1 => odd].boxed()
    }

    /// A file, with a few bits flipped or its end cut off where that is drawn.
    fn file(form: Form) -> impl Strategy<Value = Vec<u8>> {
        let flips = prop_oneof![3 => Just(0usize), 1 => 1usize..4];
        (
            prop::collection::vec(part(form), 1..12),
            flips,
            prop::collection::vec(any::<prop::sample::Index>(), 3),
            prop::option::weighted(0.2, any::<prop::sample::Index>()),
        )
            .prop_map(|(parts, flips, places, cut)| {
                let mut bytes = parts.concat();
                let flips = if bytes.is_empty() { 0 } else { flips };
                for place in &places[..flips] {
                    let bit = place.index(8 * bytes.len());
                    bytes[bit / 8] ^= 1 << (bit % 8);
                }
                let len = cut.map_or(bytes.len(), |cut| cut.index(bytes.len() + 1));
                bytes.truncate(len);
                bytes
            })
    }

    /// All that a reader gives in blocks, and how it ends.
    fn read(
        reader: io::Result<Box<dyn Read + Send>>,
    ) -> (Vec<u8>, std::result::Result<(), String>) {
        const BLOCK: usize = 10_000;
        let (mut all, mut at) = (Vec::new(), 0);
        let mut reader = match reader {
            Ok(reader) => reader,
            Err(error) => return (all, Err(error.to_string())),
        };
        loop {
            all.resize(at / BLOCK * BLOCK + BLOCK, 0);
            match reader.read(&mut all[at..]) {
                Ok(count) if count > 0 => at += count,
                end => {
                    all.truncate(at);
                    return (all, end.map(drop).map_err(|error| error.to_string()));
                }
            }
        }
    }

    fn joined(bytes: &[u8], group: u64) -> Option<Joined> {
        let file: Arc<dyn ReadAt> = Arc::new(Arc::<[u8]>::from(bytes));
        Joined::in_groups(file, bytes.len() as u64, 3, group)
    }

    fn check(bytes: &[u8]) -> bool {
        let alone = || read(plain(Cursor::new(bytes.to_vec())));
        let groups = [1, 5_000, GROUP];
        let joined = groups.map(|group| joined(bytes, group));
        let is_joined = joined[0].is_some();
        for (joined, group) in joined.into_iter().zip(groups) {
            if let Some(joined) = joined {
                let (found, expected) = (read(Ok(Box::new(joined))), alone());
                assert_eq!(found.1, expected.1, "groups of {group}");
                assert!(found.0 == expected.0, "groups of {group}");
            }
        }
        is_joined
    }

    proptest! {
        #[test]
        fn threads_give_what_one_decoder_gives(bytes in prop_oneof![file(Form::Gzip), file(Form::Zstd)]) {
            check(&bytes);
        }
    }

    /// libzstd refuses it in a stream ("Block Size Exceeds Maximum"), not in a frame that is decompressed at once.
    #[test]
    fn a_block_that_is_longer_than_its_frame_allows_is_broken() {
        let [first, second] = [(); 2].map(|()| zstd(b"user:0\n", false, true));
        let repeats_a_byte_0_times = [&b"\x28\xB5\x2F\xFD\x20\0\x03\0\0"[..], b"x"].concat();
        for broken in [&repeats_a_byte_0_times[..9], &repeats_a_byte_0_times] {
            check(&[broken, &first, &second].concat());
            check(&[&first, broken, &second].concat());
        }
    }

    #[test]
    fn an_error_far_behind_is_at_the_same_byte() {
        let noise = |from: u64| -> Vec<u8> {
            let word = |i: u64| (from + i).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            (0..7000).flat_map(word).collect()
        };
        let parts: [&dyn Fn(u64) -> Vec<u8>; 2] = [&|i| gzip(&noise(i * 7000), Some(0)), &|i| {
            [skippable(9), zstd(&noise(i * 7000), i % 2 == 0, true)].concat()
        }];
        for part in parts {
            let whole: Vec<u8> = (0..30).flat_map(part).collect();
            for at in [1_000_000, 700_001, 131_072, whole.len() - 3] {
                let mut broken = whole.clone();
                broken[at] ^= 0x55;
                assert!(check(&broken) && check(&broken[..at]), "{at}");
            }
        }
    }

    #[test]
    fn members_of_nothing_and_one_that_is_huge_are_read() {
        let empty = gzip(b"", Some(0)).repeat(100_000);
        assert!(check(
            &[&empty[..], &gzip(b"a\n", Some(0)), &empty].concat()
        ));
        let bomb = zstd(&vec![b'\n'; 40 << 20], true, true);
        let parts = [zstd(b"a\n", true, true), bomb, zstd(b"b\n", false, true)];
        assert!(check(&parts.concat()));
        assert!(joined(&parts[1], 1).is_none() && joined(&parts[0], 1).is_none());
    }

    #[test]
    fn a_reader_that_is_dropped_ends_its_threads() {
        let members = gzip(&b"user:1\n".repeat(5000), Some(0)).repeat(50);
        let mut joined = joined(&members, 1).unwrap();
        joined.read_exact(&mut [0; 50_000]).unwrap();
        let file = joined.file.clone();
        drop(joined);
        assert_eq!(Arc::strong_count(&file), 1);
    }
}
