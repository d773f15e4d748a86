//! Tally files themselves: their bytes stay as they are, and other files are refused.

use slotscope::partial::job::Job;
use slotscope::partial::{self, Flags, Plan};
use slotscope::pipeline::reading::Reading;
use slotscope::source::Found;
use slotscope::source::memory::memory;

use super::options;
use testkit::run::assert_contains;

fn planned(dump: &[u8], chunk: usize) -> Plan {
    let found = Found {
        sources: vec![memory("dump.csv", dump)],
        ..Found::default()
    };
    let reading = Reading::new(found, options(2)).unwrap();
    let (plan, _) = partial::plan_of(Flags::default(), reading, chunk).unwrap();
    plan
}

#[test]
fn hashes_and_sketches_stay_as_they_are() {
    // More tags than a table holds: cells, registers and hash samples.
    let mut many = b"key,size\n".to_vec();
    for i in 0..150_000u64 {
        many.extend(format!("{}:{{t{}}},{}\n", i % 7, i % 90_001, i % 1000).bytes());
    }
    // Flags are part of the digest, too.
    let plan = planned(&many, 2 << 20);
    let open = |_: usize, _: &_| Ok(memory("dump.csv", &many));
    let job = Job::on(&plan, &plan.splits(u64::MAX), &options(2), open);
    let digest = job.unwrap().tally(None).unwrap().digest();
    assert_eq!(
        digest, "60a2e46856f0127643fdb74c0c7c87f3d65de96af4c70b3ea866afbb92ac428b",
        "parts that were counted by other builds could not be merged with those of today"
    );
}

/// A file with this content.
fn framed(schema: &str, content: &[u8]) -> Vec<u8> {
    let mut file = b"\x5E\x2A\x4D\x18".to_vec();
    file.extend((schema.len() as u32).to_le_bytes());
    file.extend(schema.bytes());
    file.extend(zstd::encode_all(content, 1).unwrap());
    file
}

#[test]
fn what_is_no_tally_file_is_refused_with_the_way_out() {
    let plan = planned(b"a\n", 100).to_bytes();
    let older = framed("slotscope.tally/1", b"");
    for (bytes, what) in [
        (&b""[..], "does not start as one"),
        (b"user:1\nuser:2\n", "does not start as one"),
        (&plan, "slotscope.tally-plan/2"),
        (
            &older,
            "a file of \"slotscope.tally/1\", and slotscope.tally/2 is wanted",
        ),
        (&framed("slotscope.tally/2", b""), "cannot be read"),
    ] {
        let error = partial::merge(&[bytes]).unwrap_err().to_string();
        assert_contains(&error, &[what, "make it again"]);
    }
}
