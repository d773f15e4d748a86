//! Dumps that are broken in every way: cut, flipped, spliced from two forms. Detection and every reader get each of
//! them: no panic, no hang, no key outside the block, and nothing dropped in silence.
//!
//! `SLOTSCOPE_MUTATIONS` says how many; a failure prints the number of the case, which is all it depends on.

use slotscope::format::batch::{KeyBatch, Spans, Values};
use slotscope::format::{Columns, FORMATS, Format, Head, Notice, Seen, Sink, detect};
use slotscope::scan::{Only, Scan};
use slotscope::slot::{SlotColumns, kernel};
use slotscope::source::Input;
use slotscope::source::block::{Block, Piece};
use slotscope::tally::{Parts, Tallies, Tally};

/// Cases where the environment names no number, and one in how many is cut into chunks as well.
const CASES: u64 = 100_000;
const CHUNKED: u64 = 20;

/// A dump in each form.
const SEEDS: &[&[u8]] = &[
    b"user:{1000}:profile\nkey:11\n\n{common}:a\r\nfoo{}{bar}\n",
    b"\"a b\\\"q\\\"\"\n\"bin\\x00\\x01\\xff{t}\"\n127.0.0.1:6379> x\n\"plain\"\n(1.23s)\n",
    b" 1) \"\"\r\n 2) \"key:11\"\r\n 3) \"nl\\nx\"\r\n10) (nil)\r\n(empty array)\r\n",
    b"1) \"17\"\n2) 1) \"\"\n   2) \"key:11\"\n1) \"0\"\n2) (empty array)\n",
    b"\"\",\"key:11\",\"nl\\nx\",\"\\xe4\\xb8\\xad\"\n",
    b"[\"\",\"key:11\",\"nl\\nx\\u0000\",\"\xff\"]\n",
    b"[\"nl\\\\nx\",\"q\\\\\"q\",\"\\\\xe4\\\\xb8\\\\xad\"]\n",
    b"\x1b[29;1m>>> Calling KEYS *\x1b[0m\n127.0.0.1:7000: key1\nkey2\n127.0.0.1:7001: \n127.0.0.1:7002: a: b\n",
    b"*2\r\n$3\r\nfoo\r\n$3\r\nbar\r\n*2\r\n$1\r\n0\r\n*1\r\n$0\r\n\r\n$-1\r\n",
    b"database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n0,list,li,zards,241,quicklist,5,19,\n0,set,a\nb,7,x,1,1,2022-02-18T06:15:29\n",
    b"database,key,type,size,size_readable,element_count,encoding,expiration\n0,\"ha,sh\",hash,64,64B,2,listpack,2022-02-18T06:15:29+08:00\n",
    b"database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n0,string,\"k\",\"1.2kB\",string,1,\"88 B\",\"\"\n",
    b"[\n{\"db\":0,\"key\":\"s\",\"size\":10,\"type\":\"string\"},\n{\"db\":0,\"key\":\"aux\",\"type\":\"aux\"}\n]\n",
    b"{\"key\":\"k\\u00e9\",\"type\":\"string\",\"database\":0,\"used_memory\":\"88 B\",\"expiry\":\"\"}\n{\"key\":\"x\"}\n",
    b"key,size,ops\n\"a,\"\"b\"\"\",184,17\n\"c\nd\",,\nplain,1,2\n",
    b"database,prefix,size,size_readable,key_count\n0,user:,64,64B,2\n",
];

/// Bytes that mean something to some form.
const HOSTILE: &[u8] = b"\"\\\n\r,;:{}[]()*$-0129 \x00\x1b\xff\xef\xbb\xbf\tux";

/// A small generator of numbers (splitmix64), so that a case is its number.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
}

/// A dump that was whole once.
fn broken(random: &mut Random) -> Vec<u8> {
    let mut dump = SEEDS[random.below(SEEDS.len())].repeat(1 + random.below(3));
    for _ in 0..=random.below(4) {
        let (at, len) = (random.below(dump.len() + 1), random.below(12));
        match random.below(7) {
            0 => dump.truncate(at),
            1 => drop(dump.drain(..at)),
            2 if at < dump.len() => dump[at] ^= 1 << random.below(8),
            3 => {
                let other = SEEDS[random.below(SEEDS.len())];
                dump.splice(at.., other[random.below(other.len())..].iter().copied());
            }
            4 => {
                let bytes: Vec<u8> = (0..len).map(|_| HOSTILE[random.below(HOSTILE.len())]).collect();
                dump.splice(at..at, bytes);
            }
            5 => drop(dump.drain(at..(at + len).min(dump.len()))),
            _ => dump.extend_from_within(at..),
        }
    }
    dump
}

/// Checks and counts what a reader finds; kept from case to case.
struct Checking {
    tallies: Tallies,
    slots: SlotColumns,
    keys: u64,
    rejects: u64,
    len: usize,
}

impl Sink for Checking {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let KeyBatch { base, keys, values } = batch;
        assert!(!keys.is_empty(), "a batch without keys");
        assert!(keys.start.iter().zip(&keys.end).all(|(start, end)| start <= end && *end as usize <= base.len()));
        let columns = [
            values.bytes.len(),
            values.ops.len(),
            values.databases.len(),
            values.expiring.len(),
            values.types.len(),
            values.nodes.len(),
        ];
        assert!(columns.iter().all(|len| [0, keys.len()].contains(len)), "{columns:?} for {} keys", keys.len());
        self.keys += keys.len() as u64;
        self.tallies.add(&self.slots.compute(kernel::best(), batch, 0));
    }

    fn reject(&mut self, at: usize, reason: &str) {
        assert!(at <= self.len && !reason.is_empty());
        self.rejects += 1;
    }
}

fn read(format: &dyn Format, dump: &[u8], block: &mut Block, checking: &mut Checking) {
    // A head that is refused is told by an error, whole.
    let Ok(reader) = format.open(Head { bytes: dump, whole: true }) else { return };
    block.resize(dump.len());
    block.content_mut().copy_from_slice(dump);
    let (mut keys, mut values) = (Spans::default(), Values::default());
    let kernel = kernel::best();
    let find =
        |base: slotscope::source::block::Padded<'_>, from, byte, ends: &mut [u32]| kernel.cut(base, from, byte, ends);
    let mut columns = Columns { keys: &mut keys, values: &mut values, find: &find };
    (checking.keys, checking.rejects, checking.len) = (0, 0, dump.len());
    let piece = Piece { from: 0, offset: 0, first: true, last: true };
    let seen: Seen = reader.read(block, piece, &mut columns, checking);
    assert_eq!(seen.keys, checking.keys, "keys that were counted, and keys that were handed on");
    // One line may be a header; of more, every one is a key, a part of one, a reject or noise that is counted. Brackets
    // and commas alone are the frame of nothing.
    let is_frame = |line: &[u8]| line.iter().all(|byte| b"[], \t\r\x0b\x0c".contains(byte));
    let lines = dump.split(|byte| *byte == b'\n').filter(|line| !is_frame(line)).count();
    let told = seen.keys + checking.rejects + Notice::ALL.iter().map(|notice| seen.count(*notice)).sum::<u64>();
    assert!(lines < 2 || told > 0, "nothing is told of {lines} lines, as {}: {}", format.name(), dump.escape_ascii());
}

#[test]
fn broken_dumps_break_nothing() {
    let cases = std::env::var("SLOTSCOPE_MUTATIONS").map_or(CASES, |number| number.parse().expect("a number of cases"));
    let pools = [1, 3].map(|threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap());
    let mut block = Block::with_capacity(0);
    let mut checking =
        Checking { tallies: Tallies::new(Parts::All), slots: SlotColumns::default(), keys: 0, rejects: 0, len: 0 };
    let mut read_as = std::collections::BTreeMap::new();
    for case in 0..cases {
        let mut random = Random(case);
        let dump = broken(&mut random);
        let guard = Named(case);
        let detected = detect(Head { bytes: &dump, whole: true }).expect("a whole head is enough");
        *read_as.entry(detected.name()).or_insert(0u64) += 1;
        for format in FORMATS {
            read(*format, &dump, &mut block, &mut checking);
        }
        if case % CHUNKED == 0 {
            let found = pools.each_ref().map(|pool| {
                let chunk = if pool.current_num_threads() == 1 { dump.len().max(1) } else { 1 + random.below(40) };
                let format = Some(detected);
                let scan = Scan {
                    pool,
                    kernel: kernel::best(),
                    format,
                    only: &Only::ALL,
                    policy: &slotscope::slot::policy::Policy::Oss,
                    chunk,
                    proceed: &|_| true,
                };
                let found = scan.run(&[Input::memory("dump", &dump)], || Tallies::new(Parts::All));
                found.map(|found| (found.tally, found.inputs, found.rejects)).map_err(|error| error.to_string())
            });
            assert!(found[0] == found[1], "chunks and threads show, as {}: {}", detected.name(), dump.escape_ascii());
        }
        std::mem::forget(guard);
    }
    println!("{cases} broken dumps, told as {read_as:?}");
    assert!(cases < 1000 || read_as.len() >= FORMATS.len() - 2, "a form is never told: {read_as:?}");
}

/// Prints the number of the case that panics.
struct Named(u64);

impl Drop for Named {
    fn drop(&mut self) {
        eprintln!("case {}", self.0);
    }
}
