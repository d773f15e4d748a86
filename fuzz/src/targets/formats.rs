//! Arbitrary bytes read in a format: no key outside of the block, nothing dropped silently, and the same result however
//! the input is split.

use std::cell::RefCell;
use std::io::{self, Read, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use rayon::ThreadPool;
use slotscope::batch::{KeyBatch, Spans, Values};
use slotscope::block::{Block, Piece};
use slotscope::detect::{FORMATS, Recognised, named, recognise};
use slotscope::format::frame::row_batch::RowBatch;
use slotscope::format::frame::walk::{Walk, Walking};
use slotscope::format::{Columns, Format, Head, Notice, Opened, ReadStats, Sink};
use slotscope::lfu::LfuRule;
use slotscope::scan::Scan;
use slotscope::slot::SlotColumns;
use slotscope::source::forward::Forward;
use slotscope::source::{ReadAt, Source, SourceFacts, decompress};
use slotscope::tally::{Parts, Tallies, Tally};

/// Dumps in every format; each is a seed for all of them, so that every format also sees the rows of others.
pub fn seeds() -> Vec<&'static [u8]> {
    let example = |format: &&dyn Format| {
        let row = format
            .example()
            .rsplit_once(" (")
            .map_or("", |(row, _)| row);
        let text = format!("{}\n{row}\n", format.header()).replace(r"\r\n", "\r\n");
        &*text.trim_start().as_bytes().to_vec().leak()
    };
    let examples = FORMATS.iter().map(example);
    SEEDS.iter().copied().chain(examples).collect()
}

/// Dumps in formats with several forms of rows, and with odd rows.
const SEEDS: &[&[u8]] = &[
    b"user:{1000}:profile\nkey:11\n\n{common}:a\r\nfoo{}{bar}\n",
    b"\"a b\\\"q\\\"\"\n\"bin\\x00\\x01\\xff{t}\"\n127.0.0.1:6379> x\n\"plain\"\n(1.23s)\n",
    b"\"a \\\"q\\\"\" 184\n96\t\"b\\x00\"\r\n\"c\" (nil)\n\"d\", (integer) 7\n\"e\"\n",
    b" 1) \"\"\r\n 2) \"key:11\"\r\n 3) \"nl\\nx\"\r\n10) (nil)\r\n(empty array)\r\n",
    b"1) \"17\"\n2) 1) \"\"\n   2) \"key:11\"\n1) \"0\"\n2) (empty array)\n",
    b"\"\",\"key:11\",\"nl\\nx\",\"\\xe4\\xb8\\xad\"\n",
    b"[\"\",\"key:11\",\"nl\\nx\\u0000\",\"\xff\"]\n",
    b"[\"nl\\\\nx\",\"q\\\\\"q\",\"\\\\xe4\\\\xb8\\\\xad\"]\n",
    b"\x1b[29;1m>>> Calling KEYS *\x1b[0m\n127.0.0.1:7000: key1\nkey2\n127.0.0.1:7001: \n127.0.0.1:7002: a: b\n",
    b"*2\r\n$3\r\nfoo\r\n$3\r\nbar\r\n*2\r\n$1\r\n0\r\n*1\r\n$0\r\n\r\n$-1\r\n",
    b"database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n0,list,li,zards,241,quicklist,5,19,\n0,set,a\nb,7,x,1,1,2022-02-18T06:15:29\n",
    b"database,key,type,size,size_readable,element_count,encoding,expiration\n0,\"ha,sh\",hash,64,64B,2,listpack,2022-02-18T06:15:29+08:00\n",
    b"[\n{\"db\":0,\"key\":\"s\",\"size\":10,\"type\":\"string\"},\n{\"db\":0,\"key\":\"aux\",\"type\":\"aux\"}\n]\n",
    b"{\"key\":\"k\\u00e9\",\"type\":\"string\",\"database\":0,\"used_memory\":\"88 B\",\"expiry\":\"\"}\n{\"key\":\"x\"}\n",
    b"key,size,ops\n\"a,\"\"b\"\"\",184,17\n\"c\nd\",,\nplain,1,2\n",
    b"[{\"tracking-active\":1,\"by-cpu-time-us\":[\"k\\n\",70],\"by-net-bytes\":[[\"{t}\",3]]}]\n[{\"key\":\"k\",\"db\":0,\"qps\":9.5}]\n",
    b"1) 1# \"tracking-active\" => (integer) 1\n   2# \"by-net-bytes\" => 1) \"k\\xff\"\n      2) (integer) 300\n",
    b" 9) 1) (integer) 20\n    2) (integer) 1795347491\n    3) (integer) 4\n    4) 1) \"mset\"\n       2) \"k\"\n       3) \"v\"\n    5) \"a:1\"\n10) 1) (integer) 1\n",
    b"[[8,1795347492,7,[\"SET\",\"\xff\",\"1\"],\"127.0.0.1:50750\",\"\"],[7,1795347491,955,[\"PING\"],\"\",\"\"]]\n[]\n",
    b"# Scanning the entire keyspace to find hot keys as well as\nhot key found with counter: 11\tkeyname: \"k:1 \\\"x\"\nBiggest   list found '\"{t}\"' has 64 bytes\n  1    1.00M list       \"{t}:list\"\n",
    b"database,prefix,size,size_readable,key_count\n0,user:,64,64B,2\n",
    b"key size (MB)\nuser:1 1,234\ncart:2 NaN\nsess:3 1e+08\n",
    b"key=user:1 size=5\nkey=cart:2 size=nil\nkey=sess:3 size=9\n",
    b"b'user:1'\nb'cart:\\xff'\nb'sess:3'\n",
    b"| key | bytes |\n|---|---|\n| user:1 | 5 |\n| cart:2 | 7 |\n",
    b"redis-1  | 1795216373.125436 [0 10.0.0.7:58548] \"GET\" \"user:1\"\nredis-2  | 1795216373.2 [0 10.0.0.7:58548] \"GET\" \"k\"\n",
    b"866,user:1\n5649,user:2\n1584,user:3\n",
    b"[\"user:1\",184]\n[\"cart:2\",17]\n[\"sess:3\",5]\n",
    b"MGET user:1 user:2\nSET cart:7 x\n",
    b"user:1\n5\ncart:2\n7\n",
];

/// The parts of a reader that are reused for all inputs: creating them takes longer than reading a short input.
struct Workspace {
    block: Block,
    keys: Spans,
    values: Values,
    slots: SlotColumns,
    tallies: Tallies,
}

thread_local! {
    static WORKSPACE: RefCell<Workspace> = RefCell::new(Workspace {
        block: Block::with_capacity(0),
        keys: Spans::default(),
        values: Values::default(),
        slots: SlotColumns::default(),
        tallies: Tallies::new(Parts::All),
    });
    static POOLS: [ThreadPool; 2] = [1, 3].map(|threads| {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    });
}

/// Checks and counts the rows of a reader.
struct Checking<'a> {
    slots: &'a mut SlotColumns,
    tallies: &'a mut Tallies,
    input_bytes: usize,
    keys: u64,
    rejects: u64,
    newlines_in_keys: usize,
}

impl Sink for Checking<'_> {
    fn keys(&mut self, batch: KeyBatch<'_>) {
        let KeyBatch { base, keys, values } = batch;
        assert!(!keys.is_empty(), "a batch without keys");
        let mut ends = keys.start.iter().zip(&keys.end);
        assert!(ends.all(|(start, end)| start <= end && *end as usize <= base.len()));
        let numbers = values.weights.iter().chain(&values.numbers).map(Vec::len);
        let words = values.words.iter().map(Spans::len);
        for len in numbers.chain(words) {
            assert!(
                [0, keys.len()].contains(&len),
                "{len} values for {} keys",
                keys.len()
            );
        }
        self.keys += keys.len() as u64;
        for i in 0..keys.len() {
            let key = keys.get(base, i);
            self.newlines_in_keys += key.iter().filter(|byte| **byte == b'\n').count();
        }
        self.tallies
            .add(&self.slots.compute(hashslot::best(), batch, 0));
    }

    fn reject(&mut self, at: usize, reason: &str) {
        assert!(at <= self.input_bytes && !reason.is_empty());
        self.rejects += 1;
    }

    fn reject_at(&mut self, _: u64, reason: &str) {
        assert!(!reason.is_empty());
        self.rejects += 1;
    }
}

/// Reads `bytes` in the format `name`; false if it rejects the first lines.
pub fn read(name: &str, bytes: &[u8]) -> bool {
    let format = named(name).expect("a target is named after its format");
    let Ok(opened) = format.open(Head { bytes, whole: true }) else {
        return false;
    };
    read_opened(opened, bytes, rows_at_least(name, bytes));
    // A scan takes much longer than reading a block.
    if checksum(bytes).is_multiple_of(SCANNED) {
        agree(Some(format), bytes);
    }
    true
}

/// Reads `bytes` by the shape of its lines; false if they have a grammar of their own or are rejected.
pub fn shape(bytes: &[u8]) -> bool {
    let head = Head { bytes, whole: true };
    let Ok(Some(Recognised::Shaped(shape))) = recognise(head) else {
        return false;
    };
    let Ok(opened) = shape.open(head) else {
        return false;
    };
    // Lines above a header and quoted rows are part of a shape.
    let at_least = rows_at_least(if shape.is_raw() { "lines" } else { "resp" }, bytes);
    read_opened(opened, bytes, at_least);
    if checksum(bytes).is_multiple_of(SCANNED) {
        agree(None, bytes);
    }
    true
}

/// Reads all of `bytes`, which has at least `at_least` rows.
fn read_opened(opened: Opened, bytes: &[u8], at_least: usize) {
    WORKSPACE.with_borrow_mut(|workspace| {
        let Workspace {
            block,
            keys,
            values,
            slots,
            tallies,
        } = workspace;
        block.resize(bytes.len());
        block.content_mut().copy_from_slice(bytes);
        let mut checking = Checking {
            slots,
            tallies,
            input_bytes: bytes.len(),
            keys: 0,
            rejects: 0,
            newlines_in_keys: 0,
        };
        let piece = Piece {
            from: 0,
            offset: 0,
            first: true,
            last: true,
            is_rereadable: false,
        };
        let seen = match opened {
            Opened::Blocks { reader, .. } => {
                let mut columns = Columns {
                    keys,
                    values,
                    sink: &mut checking,
                    kernel: hashslot::best(),
                    lfu: LfuRule::default(),
                    command_times: None,
                    written_ms: 0,
                    with_attributes: true,
                };
                reader.read(block, piece, &mut columns)
            }
            Opened::Walk { walk, .. } => {
                let input = Forward::stream(Box::new(std::io::Cursor::new(bytes.to_vec())));
                read_walk(&mut *walk(input, Walking::default()), &mut checking)
            }
        };
        assert_eq!(
            seen.keys + seen.operations,
            checking.keys,
            "keys counted, and keys handed on"
        );
        let notices: u64 = Notice::ALL.iter().map(|notice| seen.count(*notice)).sum();
        let reported = (seen.keys + seen.operations + checking.rejects + notices) as usize;
        let at_least = at_least.saturating_sub(checking.newlines_in_keys);
        assert!(
            reported >= at_least,
            "{reported} keys, rejects and notices in at least {at_least} rows of {:?}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(1000)])
        );
    });
}

/// Everything that a walk finds, up to the end or the first damage.
fn read_walk(walk: &mut dyn Walk, checking: &mut Checking<'_>) -> ReadStats {
    let (mut seen, mut rows) = (ReadStats::default(), RowBatch::default());
    while let Ok(Some(_)) = walk.next(&mut rows) {
        seen += rows.read(LfuRule::default(), checking);
    }
    seen
}

/// One in this many inputs of a format is also scanned in every way.
const SCANNED: usize = 32;

/// Deterministic, but different from input to input.
fn checksum(bytes: &[u8]) -> usize {
    bytes.iter().fold(bytes.len(), |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(usize::from(*byte))
    })
}

/// Number of title lines that may be above the columns: those above the last line that has one for keys.
fn titles(bytes: &[u8]) -> usize {
    let text = bytes.to_ascii_lowercase();
    let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    let has_keys = |line: &&[u8]| {
        let mut cells = line.split(|byte| b",;|\t \r".contains(byte));
        cells.any(|cell| [&b"key"[..], b"name"].contains(&cell))
    };
    lines.iter().rposition(has_keys).unwrap_or(3)
}

/// Lower bound for the rows in `bytes`, each of which must become a key, a reject or a notice.
fn rows_at_least(format: &str, bytes: &[u8]) -> usize {
    // Brackets, commas and blanks alone form the frame of an array.
    let is_frame = |line: &&[u8]| line.iter().all(|byte| b"[], \t\r\x0b\x0c".contains(byte));
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.filter(|line| !is_frame(line)).count();
    match format {
        "lines" | "quoted" | "numbered" | "sized" | "monitor" | "top-keys" => lines,
        // The first line names the columns; a cell spans several lines only in quotes.
        "csv" | "hdt-rdb" | "jsonl" if !bytes.contains(&b'"') => {
            lines.saturating_sub(1 + titles(bytes))
        }
        "csv" | "hdt-rdb" | "jsonl" => usize::from(lines > 2 + titles(bytes)),
        // A walk ends at the first damage.
        "aof" | "rdb" => 0,
        // Lines between two rows are one reject, a string may span any number of lines, and RESP has lines without
        // keys.
        _ => usize::from(lines > 1),
    }
}

/// The whole scan in the detected format, in every way.
pub fn scan(bytes: &[u8]) -> bool {
    let found = recognise(Head { bytes, whole: true });
    assert!(
        !matches!(found, Ok(None)),
        "a whole input is enough to tell what it is"
    );
    agree(None, bytes)
}

/// A source of which any place can be read if its size is known, else read sequentially, a few bytes at a time.
#[derive(Debug)]
struct Dump(Arc<[u8]>, SourceFacts);

impl Dump {
    fn of(bytes: &[u8], size_bytes: Option<u64>) -> Box<dyn Source> {
        // Two readings of what does not say when it was written count times to live from different times.
        let written_ms = Some(1_790_000_000_000);
        let facts = SourceFacts::of("dump", size_bytes);
        Box::new(Dump(
            bytes.into(),
            SourceFacts {
                written_ms,
                ..facts
            },
        ))
    }

    fn in_memory(bytes: &[u8]) -> Box<dyn Source> {
        Dump::of(bytes, Some(bytes.len() as u64))
    }

    fn stream(bytes: &[u8]) -> Box<dyn Source> {
        Dump::of(bytes, None)
    }
}

/// The remaining bytes, and the number of bytes per read.
struct Reading(Arc<[u8]>, usize, usize);

impl Read for Reading {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Reading(bytes, at, step) = self;
        let len = into.len().min(*step).min(bytes.len() - *at);
        into[..len].copy_from_slice(&bytes[*at..*at + len]);
        *at += len;
        Ok(len)
    }
}

impl Source for Dump {
    fn facts(&self) -> &SourceFacts {
        &self.1
    }

    fn open_at(&self) -> slotscope::error::Result<Option<Box<dyn ReadAt>>> {
        let is_random = self.1.size_bytes.is_some();
        Ok(is_random.then(|| Box::new(self.0.clone()) as Box<dyn ReadAt>))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let step = 1 + self.0.len() % 7;
        Ok(Box::new(Reading(self.0.clone(), 0, step)))
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("a vector takes all bytes")
}

/// In one piece on one thread, in chunks on several threads, as a pipe, and compressed: all have the same result. False
/// if the input is rejected.
fn agree(format: Option<&'static dyn Format>, bytes: &[u8]) -> bool {
    // A header must be in the first block, which in the program is longer than the head used to open a format.
    let blank = bytes.iter().take_while(|byte| b"\r\n".contains(byte));
    let lines = bytes.split_inclusive(|byte| *byte == b'\n');
    let above = lines.take(4.max(1 + titles(bytes)));
    let above = above.map(<[u8]>::len).sum::<usize>();
    let has_names = ["csv", "hdt-rdb", "jsonl"];
    let is_table = format.is_none_or(|format| has_names.contains(&format.name()));
    let above = if is_table { above } else { 0 };
    let chunk = (1 + (checksum(bytes) >> 8) % 41).max(1 + blank.count().max(above));
    POOLS.with(|pools| {
        let run = |pool, chunk, source: Box<dyn Source>| {
            let scan = Scan::new(pool).format(format).chunk(chunk);
            let make = || Tallies::new(Parts::All).with_patterns(b":");
            let found = scan.run(&[source], make);
            found
                .map(|found| (found.tally, found.inputs, found.rejects, found.incomplete))
                .map_err(|error| error.to_string())
        };
        let whole = run(&pools[0], bytes.len().max(1), Dump::in_memory(bytes));
        let ways = [
            ("chunks and threads show", Dump::in_memory(bytes)),
            ("a pipe shows", Dump::stream(bytes)),
            ("compression shows", Dump::stream(&gzip(bytes))),
        ];
        // Input that looks compressed is decompressed only from a pipe.
        let is_plain = !decompress::is_compressed(bytes);
        for (what, source) in ways.into_iter().take(if is_plain { 3 } else { 1 }) {
            let found = run(&pools[1], chunk, source);
            assert!(found == whole, "{what}, as {:?}", format.map(Format::name));
        }
        whole.is_ok()
    })
}
