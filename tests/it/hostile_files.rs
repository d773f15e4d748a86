//! Files made to mislead or to be expensive: their claims are verified, and the cost stays proportional to their size.

use std::fs;
use std::process::Output;

use testkit::env::size;
use testkit::prelude::*;
use testkit::rng::Rng;
use testkit::usage;

/// The report, possibly on a damaged file.
fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", stderr(output)))
}

fn analyzed(scratch: &Scratch, file: &str) -> Value {
    json(&scratch.run(&["analyze", "--json", file]))
}

/// An LZF string: three compressed bytes that decode to 264, while `len` are claimed.
fn lzf(len: u64) -> Vec<u8> {
    [&b"\xC3\x03\x81"[..], &len.to_be_bytes(), b"\xE0\xFF\x00"].concat()
}

/// The bytes around the string in a value of each type.
const AROUND: &[(u8, &[u8], &[u8])] = &[
    (0, b"", b""),
    (1, b"\x01", b""),
    (2, b"\x01", b""),
    (3, b"\x01", b"\x011"),
    (4, b"\x01\x01f", b""),
    (5, b"\x01", b"\0\0\0\0\0\0\0\0"),
    (9, b"", b""),
    (10, b"", b""),
    (11, b"", b""),
    (12, b"", b""),
    (13, b"", b""),
    (14, b"\x01", b""),
    (15, b"\x01\x01i", b"\x01\0\0\0"),
    (16, b"", b""),
    (17, b"", b""),
    (18, b"\x01\x02", b""),
    (20, b"", b""),
];

fn rdb(rows: &[u8]) -> Vec<u8> {
    let before: &[u8] = b"REDIS0011\xFE\x00\x00\x05first\x01v";
    [before, rows, b"\x00\x04last\x01v\xFF\0\0\0\0\0\0\0\0"].concat()
}

#[test]
fn lzf_that_claims_more_than_its_bytes_can_hold_ends_the_file_in_a_value_of_every_type() {
    let scratch = Scratch::new();
    for (kind, before, behind) in AROUND {
        for len in [265, 1 << 60, u64::MAX] {
            let row = [&[*kind], &b"\x01k"[..], before, &lzf(len), behind].concat();
            scratch.file("a.rdb", rdb(&row));
            let json = analyzed(&scratch, "a.rdb");
            assert_eq!(json["input"]["keys"], 1, "type {kind}");
            let reason = json["input"]["incomplete"][0]["reason"].text();
            let claim = format!("a string of 3 packed bytes that claims to hold {len}");
            assert!(reason.contains(&claim), "type {kind}: {reason}");
        }
    }
}

#[test]
fn lzf_that_claims_more_than_its_bytes_can_hold_ends_the_file_in_a_key() {
    let scratch = Scratch::new();
    // The three bytes copy the bytes before them, so the longest one that decodes starts with a literal.
    let longest = b"\xC3\x05\x41\x09\x00k\xE0\xFF\x00".to_vec();
    for (name, keys) in [(longest, 3), (lzf(265), 1), (lzf(1 << 60), 1)] {
        scratch.file("a.rdb", rdb(&[b"\x00", &name[..], b"\x01v"].concat()));
        assert_eq!(
            analyzed(&scratch, "a.rdb")["input"]["keys"],
            keys,
            "{name:?}"
        );
    }
}

#[test]
fn what_is_odd_far_behind_the_start_of_a_reply_is_odd_in_that_reply() {
    let scratch = Scratch::new();
    let texts: Vec<_> = (0..12_000).map(|i| format!("\"user:{i}\"")).collect();
    let reply = format!("[{}]", texts.join(",")).into_bytes();
    let at = reply.len() - 20;
    for (damage, keys, rejected, incomplete) in [
        (&b"\xFF"[..], 12_000, 0, 0),
        (b"\",x,\"", 12_001, 1, 0),
        (b"\"", 11_998, 1, 1),
    ] {
        let damaged = [&reply[..at], damage, &reply[at..]].concat();
        scratch.file("file", &damaged);
        let of_file = scratch.run("analyze --json file");
        let of_pipe = scratch.piped("analyze --json -", &damaged);
        for output in [of_file, of_pipe] {
            let input = &json(&output)["input"];
            assert_eq!(input["files"][0]["format"], "redis-json");
            input.has(json!({"keys": keys, "rejected": {"count": rejected}}));
            let stops = input["incomplete"].as_array().map_or(0, Vec::len);
            assert_eq!(stops, incomplete, "{input}");
        }
    }
}

#[test]
fn a_manifest_that_cannot_be_used_is_an_error() {
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("aof")).unwrap();
    scratch.file("outside.aof", b"user:1\n");
    for line in [
        "file ../outside.aof seq 1 type i",
        "file \"a b seq 1 type i",
    ] {
        scratch.file("aof/a.aof.manifest", line);
        scratch.refuses(
            "analyze aof | a.aof.manifest | line 1 | name the .rdb and .incr.aof
             analyze aof/a.aof.manifest | a.aof.manifest | line 1 | name the .rdb and .incr.aof",
        );
    }
}

/// Halves whose concatenation gives each name the same 64-bit hash: if the second factor of a step is zero, the step
/// only XORs the first.
fn colliding(rng: &mut Rng) -> Vec<u8> {
    const SECOND: [u8; 8] = 0xA409_3822_299F_31D0u64.to_le_bytes();
    loop {
        let first = rng.bytes(8);
        let third: Vec<u8> = first.iter().map(|byte| byte ^ 0x51).collect();
        let name = [&first[..], &SECOND, &third, &SECOND].concat();
        if !name.iter().any(|byte| b"{}".contains(byte)) {
            return name;
        }
    }
}

fn quoted(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// The row for a name in a dump.
type Row = fn(&str) -> String;

#[test]
fn names_made_to_collide_in_every_table_cost_no_more_the_more_there_are() {
    let rows: [(&str, Row); 3] = [
        ("tags", |name| format!("\"{{{name}}}k\"\n")),
        ("keys", |name| format!("\"{name}\"\n")),
        ("operations", |name| {
            format!("1795216373.125436 [0 10.0.0.7:58548] \"GET\" \"{name}\"\n")
        }),
    ];
    let mut rng = Rng::new(7);
    let names: Vec<_> = (0..120_000).map(|_| colliding(&mut rng)).collect();
    let hash = |name: &Vec<u8>| slotscope_base::hash::hash(name);
    assert!(names.iter().all(|name| hash(name) == hash(&names[0])));
    let scratch = Scratch::new();
    for (what, row) in rows {
        let seconds = [1, 4].map(|times| {
            let names = names[..30_000 * times].iter();
            let rows: String = names.map(|name| row(&quoted(name))).collect();
            scratch.file("dump", rows);
            let used = usage::of(scratch.command("analyze dump --threads 1 --no-files"));
            assert_eq!(used.code, Some(0), "{}", used.stderr);
            used.cpu_secs
        });
        println!("{what}: {seconds:.2?} CPU seconds for 30 and 120 thousand names of one hash");
        // Quadratic work would take sixteen times as long for four times the input.
        let is_linear = seconds[1] < 8.0 * (seconds[0] + 0.05);
        assert!(is_linear, "{what}: {seconds:?}");
    }
}

#[test]
fn a_directory_of_very_many_files_is_read_like_a_few() {
    let files: usize = size("SLOTSCOPE_MANY_FILES", 3_000);
    let scratch = Scratch::new();
    fs::create_dir(scratch.path("many")).unwrap();
    for i in 0..files {
        scratch.file(&format!("many/{i:07}.keys"), format!("user:{i}\n"));
    }
    let json = analyzed(&scratch, "many");
    json["input"].has(json!({"keys": files, "incomplete": []}));
    let output = scratch.run("analyze many --no-files");
    assert_eq!((code(&output), stderr(&output)), (0, ""));
}
