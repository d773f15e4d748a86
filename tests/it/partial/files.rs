//! Tally files themselves: equal counts yield equal bytes, and nothing written into one harms the reader.

use slotscope::Analysis;
use slotscope::partial::job::Job;
use slotscope::partial::tally_file::TallyFile;
use slotscope::partial::{self, Flags, Plan, Split};
use slotscope::pipeline::reading::Reading;
use slotscope::source::Found;
use slotscope::source::memory::memory;

use super::options;
use testkit::env::cases;
use testkit::rng::Rng;
use testkit::run::assert_contains;

/// Keys for everything that is counted by hashes: tags, sizes, types, patterns, repeats.
fn dump(tags: usize) -> Vec<u8> {
    let mut dump = b"key,size,type,ttl,db\n".to_vec();
    for i in 0..tags {
        let kind = ["string", "hash", "set"][i % 3];
        let name = format!("shop:{{cart{}}}:item{}", i * i % 997, i % 77);
        let expires = 1_600_000_000 + i * 1000;
        dump.extend(format!("{name},{},{kind},{expires},{}\n", i * 31 % 5000, i % 2).bytes());
    }
    dump
}

fn planned(dump: &[u8], chunk: usize) -> (Plan, Reading) {
    let found = Found {
        sources: vec![memory("dump.csv", dump)],
        ..Found::default()
    };
    let reading = Reading::new(found, options(2)).unwrap();
    partial::plan_of(Flags::default(), reading, chunk).unwrap()
}

fn counted(dump: &[u8], plan: &Plan, splits: &[Split]) -> TallyFile {
    let open = |_: usize, _: &_| Ok(memory("dump.csv", dump));
    let job = Job::on(plan, splits, &options(2), open);
    job.unwrap().tally(None).unwrap()
}

#[test]
fn hashes_and_sketches_stay_as_they_are() {
    // More tags than a table holds: cells, registers and hash samples.
    let mut many = b"key,size\n".to_vec();
    for i in 0..150_000u64 {
        many.extend(format!("{}:{{t{}}},{}\n", i % 7, i % 90_001, i % 1000).bytes());
    }
    // Flags are part of the digest, too.
    let (plan, _) = planned(&many, 2 << 20);
    let digest = counted(&many, &plan, &plan.splits(u64::MAX))
        .digest()
        .unwrap();
    assert_eq!(
        digest, "5b0b6de0b9057579c103fe263a31dd7ac693cb1dbf048604519a76a55ae6e7e5",
        "parts that were counted by other builds could not be merged with those of today"
    );
}

/// The uncompressed content of a file.
fn content(file: &[u8]) -> Vec<u8> {
    zstd::decode_all(file).unwrap()
}

/// A file with this content.
fn framed(schema: &str, content: &[u8]) -> Vec<u8> {
    let mut file = b"\x5E\x2A\x4D\x18".to_vec();
    file.extend((schema.len() as u32).to_le_bytes());
    file.extend(schema.bytes());
    file.extend(zstd::encode_all(content, 1).unwrap());
    file
}

/// MessagePack values of other kinds and lengths.
const ODD: &[&[u8]] = &[
    b"\x00",
    b"\x7f",
    b"\xc0",
    b"\x90",
    b"\x80",
    b"\xcf\xff\xff\xff\xff\xff\xff\xff\xff",
    b"\xcf\x00\x00\xff\xff\xff\xff\xff\xff",
    b"\xdd\xff\xff\xff\xff",
    b"\xdf\xff\xff\xff\xff",
    b"\xc6\xff\xff\xff\xff",
    b"\xd3\x80\x00\x00\x00\x00\x00\x00\x00",
];

/// Overwrites a random place.
fn spoil(content: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(content.len());
        let odd = rng.pick(ODD);
        match rng.below(4) {
            0 => content[at] = rng.below(256) as u8,
            1 => drop(content.splice(at..(at + 1 + rng.below(9)).min(content.len()), [])),
            2 => drop(content.splice(at..(at + 1).min(content.len()), odd.iter().copied())),
            _ => content[at] = content[at].wrapping_add(1),
        }
        if content.is_empty() {
            return;
        }
    }
}

#[test]
fn whatever_is_in_a_file_reading_it_ends_in_an_error_or_a_report() {
    let dump = dump(400);
    let (plan, _) = planned(&dump, 500);
    let splits = plan.splits(1000);
    let part = |from: usize| {
        let every: Vec<Split> = splits.iter().skip(from).step_by(2).copied().collect();
        counted(&dump, &plan, &every).to_bytes().unwrap()
    };
    let (one, other) = (part(0), part(1));
    let all = partial::merge(&[&one, &other]).unwrap();
    let whole = counted(&dump, &plan, &plan.splits(u64::MAX))
        .to_bytes()
        .unwrap();
    assert_eq!(content(&all), content(&whole));
    let mut rng = Rng::new(3);
    let mut read = 0;
    for _ in 0..cases("SLOTSCOPE_FUZZ_CASES", 600) {
        let mut spoiled = content(if rng.one_in(2) { &all } else { &one });
        spoil(&mut spoiled, &mut rng);
        let spoiled = framed("slotscope.tally/1", &spoiled);
        let Ok(file) = TallyFile::from_bytes(&spoiled) else {
            continue;
        };
        read += 1;
        let known = file.to_bytes().unwrap();
        assert!(TallyFile::from_bytes(&known).unwrap() == file);
        drop(partial::merge(&[&spoiled, &other]));
        drop(partial::merge(&[&other, &spoiled]));
        drop(partial::needs_recount(&spoiled));
        let no_recount: &[Vec<u8>] = &[];
        drop(partial::report(&Analysis::new(), &spoiled, no_recount));
    }
    assert!(read > 20, "only {read} of the files were read");
}

#[test]
fn what_is_no_tally_file_is_refused_with_the_way_out() {
    let plan = planned(b"a\n", 100).0.to_bytes().unwrap();
    let newer = framed("slotscope.tally/2", b"");
    for (bytes, what) in [
        (&b""[..], "does not start as one"),
        (b"user:1\nuser:2\n", "does not start as one"),
        (&plan, "slotscope.tally-plan/1"),
        (&newer, "slotscope.tally/2"),
        (&framed("slotscope.tally/1", b""), "cannot be read"),
    ] {
        let error = partial::merge(&[bytes]).unwrap_err().to_string();
        assert_contains(&error, &[what, "make it again"]);
    }
}
