//! Plans, tally files and recount files: reading one ends in an error or in a report, whatever its content.
//!
//! An input is the uncompressed content of a file, JSON, since the checksum of the compressed form would reject every
//! mutation. `ZEROS` and two bytes stand for that number of zeros: tables of slots and sketches are full of them.

use std::io::Read;
use std::sync::LazyLock;

use slotscope::Analysis;
use slotscope::options::CountSpec;
use slotscope::options::Part;
use slotscope::partial::job::Job;
use slotscope::partial::{self, Flags, Plan, Split};
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::source::Found;
use slotscope::source::memory::memory;

const PLAN: &str = "slotscope.tally-plan/2";
const TALLY: &str = "slotscope.tally/2";
const RECOUNT: &str = "slotscope.recount/2";

/// A byte that JSON never has.
const ZEROS: u8 = 0xC1;
/// The text that it stands for, and the shortest run of them that is shortened.
const ZERO: &[u8] = b"0,";
const RUN: usize = 4;
/// Limit for the content, so that no input expands to gigabytes.
const MAX_CONTENT: usize = 1 << 20;

/// Dumps in memory and their plan.
struct Counting {
    dumps: Vec<(&'static str, Vec<u8>)>,
    plan: Plan,
}

/// The files that are seeds and that inputs are merged with.
struct Files {
    seeds: Vec<Vec<u8>>,
    /// The second half of a tally.
    half: Vec<u8>,
    /// A tally that requires a recount, and its second half.
    asking: Vec<u8>,
    half_again: Vec<u8>,
}

static FILES: LazyLock<Files> = LazyLock::new(|| {
    let tables = Counting::new(vec![("a.csv", table(60))], Flags::default());
    let [first, second] = tables.halves();
    let (one, half) = (tables.tally(&first), tables.tally(&second));
    let whole = partial::merge(&[&one, &half]).expect("two halves are merged");
    let slots = Flags {
        count: CountSpec {
            only: Some(Part::Slots),
            ..CountSpec::default()
        },
        ..Flags::default()
    };
    let slots = Counting::new(vec![("b.keys", table(9)), ("c.csv", table(30))], slots);
    let slots = slots.tally(&slots.plan.splits(u64::MAX));

    // Finding the keys with most operations in the dumps takes a second pass.
    let busy = Counting::new(
        vec![("d.keys", table(20)), ("e.monitor", operations(30))],
        Flags::default(),
    );
    let asking = busy.tally(&busy.plan.splits(u64::MAX));
    let [first, second] = busy.halves();
    let (again, half_again) = (
        busy.recount(&asking, &first),
        busy.recount(&asking, &second),
    );

    // So does finding more tags than a table holds; the few tags of a short input are recounted here.
    let many = Counting::new(
        vec![("f.keys", tags(70_000)), ("g.keys", tags(40))],
        Flags::default(),
    );
    let of_many = many.tally(&many.plan.splits(u64::MAX));
    let splits = many.plan.splits(u64::MAX);
    let named = many.recount(&of_many, &splits[1..]);

    let plan = tables.plan.to_bytes();
    let contents = [
        &one,
        &half,
        &whole,
        &slots,
        &asking,
        &again,
        &half_again,
        &named,
        &plan,
    ];
    let seeds = contents.map(|file| shortened(&content(file)));
    Files {
        seeds: seeds.into(),
        half,
        asking,
        half_again,
    }
});

pub fn seeds() -> Vec<&'static [u8]> {
    FILES.seeds.iter().map(Vec::as_slice).collect()
}

/// Reads the content as each kind of file.
pub fn read(bytes: &[u8]) -> bool {
    let content = lengthened(bytes);
    let is_one = |schema, read: fn(&[u8]) -> bool| read(&framed(schema, &content));
    is_one(PLAN, plan) | is_one(TALLY, tally) | is_one(RECOUNT, recount)
}

fn plan(file: &[u8]) -> bool {
    let Ok(plan) = Plan::from_bytes(file) else {
        return false;
    };
    let written = plan.to_bytes();
    assert!(Plan::from_bytes(&written).expect("and read again") == plan);
    assert!(plan.splits(u64::MAX).len() >= plan.inputs.len());
    let part = "2/3".parse().expect("a part");
    drop((plan.part(part), plan.empty(), plan.describe_inputs()));
    true
}

fn tally(file: &[u8]) -> bool {
    let Ok(written) = partial::merge(&[file]) else {
        return false;
    };
    let again = partial::merge(&[&written]);
    assert!(
        again.expect("what was written is read") == written,
        "equal tallies are equal bytes"
    );
    let half = &FILES.half;
    for pair in [[&written, half], [half, &written], [&written, &written]] {
        drop(partial::merge(&pair));
    }
    drop(partial::needs_recount(&written));
    let none: [&[u8]; 0] = [];
    drop(partial::report(&Analysis::new(), &written, &none));
    drop(partial::report(
        &Analysis::new(),
        &written,
        &[&FILES.half_again],
    ));
    true
}

fn recount(file: &[u8]) -> bool {
    let Ok(written) = partial::merge(&[file]) else {
        return false;
    };
    let half = &FILES.half_again;
    for pair in [[&written, half], [half, &written], [&written, &written]] {
        drop(partial::merge(&pair));
        drop(partial::report(&Analysis::new(), &FILES.asking, &pair));
    }
    drop(partial::report(
        &Analysis::new(),
        &FILES.asking,
        &[&written],
    ));
    true
}

impl Counting {
    fn new(dumps: Vec<(&'static str, Vec<u8>)>, flags: Flags) -> Self {
        let sources = dumps.iter().map(|(name, bytes)| memory(name, bytes));
        let found = Found {
            sources: sources.collect(),
            ..Found::default()
        };
        let reading = Reading::new(found, options()).expect("dumps in memory are read");
        let (plan, _) = partial::plan_of(flags, reading, 512).expect("they have a plan");
        Counting { dumps, plan }
    }

    /// Every other chunk, and the others.
    fn halves(&self) -> [Vec<Split>; 2] {
        let splits = self.plan.splits(1);
        [0, 1].map(|from| splits.iter().skip(from).step_by(2).copied().collect())
    }

    fn job(&self, splits: &[Split]) -> Job<'_> {
        let open = |number: usize| memory(self.dumps[number].0, &self.dumps[number].1);
        Job::on(&self.plan, splits, &options(), |number, _| Ok(open(number)))
            .expect("splits of the plan")
    }

    fn tally(&self, splits: &[Split]) -> Vec<u8> {
        let tally = self.job(splits).tally(None);
        tally.expect("splits are counted").to_bytes()
    }

    fn recount(&self, of: &[u8], splits: &[Split]) -> Vec<u8> {
        let of = partial::tally_file::TallyFile::from_bytes(of).expect("a tally");
        let again = self.job(splits).recount(of, None);
        again.expect("splits are counted again").to_bytes()
    }
}

/// One thread is enough for the few keys of an input.
fn options() -> Options {
    Options {
        threads: Some(1),
        ..Options::default()
    }
}

/// A table with something of everything that is counted, and a row that is not a key.
fn table(rows: usize) -> Vec<u8> {
    let row = |i: usize| {
        let kind = ["string", "hash", "zset"][i % 3];
        format!(
            "shop:{{cart{}}}:item{i},{},{kind},{},{}\n",
            i % 7,
            i * 97 % 501,
            i * 1000,
            i % 2
        )
    };
    let rows: String = (0..rows).map(row).collect();
    ["key,size,type,ttl,db\n", &rows, "k,many,string,,\n"]
        .concat()
        .into()
}

fn operations(lines: usize) -> Vec<u8> {
    let line = |i: usize| {
        format!(
            "1700000000.{i:06} [0 127.0.0.1:1] \"GET\" \"shop:{{cart{}}}\"\n",
            i % 9
        )
    };
    (0..lines).map(line).collect::<String>().into()
}

fn tags(count: usize) -> Vec<u8> {
    let keys = (0..count).map(|i| format!("cart:{{{i}}}\n"));
    keys.collect::<String>().into()
}

/// The content of a file.
fn content(file: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let mut decoder = zstd::Decoder::new(file).expect("a file is a zstd frame");
    decoder.read_to_end(&mut content).expect("it is whole");
    content
}

/// A file with this content.
fn framed(schema: &str, content: &[u8]) -> Vec<u8> {
    let frame = zstd::encode_all(content, 1).expect("bytes are compressed");
    let len = (schema.len() as u32).to_le_bytes();
    [b"\x5E\x2A\x4D\x18", &len[..], schema.as_bytes(), &frame].concat()
}

/// The input that stands for a content: the inverse of `lengthened`.
fn shortened(content: &[u8]) -> Vec<u8> {
    let mut input = Vec::new();
    let mut rest = content;
    while let Some(first) = rest.first() {
        let most = rest.chunks(ZERO.len()).take(usize::from(u16::MAX));
        let zeros = most.take_while(|chunk| *chunk == ZERO).count();
        if zeros >= RUN {
            input.extend([ZEROS, (zeros >> 8) as u8, zeros as u8]);
            rest = &rest[zeros * ZERO.len()..];
        } else {
            input.push(*first);
            rest = &rest[1..];
        }
    }
    input
}

/// The content that an input stands for.
fn lengthened(input: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    let mut rest = input;
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        match (*first, behind.split_first_chunk()) {
            (ZEROS, Some((zeros, behind))) => {
                content.extend(ZERO.repeat(usize::from(u16::from_be_bytes(*zeros))));
                content.truncate(MAX_CONTENT);
                rest = behind;
            }
            _ => content.push(*first),
        }
    }
    content
}
