//! The program on RDB files: damaged, wrapped, piped or several.

use std::io::Write;

use crate::fuzz::targets::snapshots::MADE;

use testkit::prelude::*;
use testkit::rdb::Snapshot;

/// A file with `count` keys, each in the section of its slot if `headers`.
fn numbered(count: u32, headers: bool) -> Vec<u8> {
    let file = Snapshot {
        written: None,
        headers,
    };
    let mut bytes = file.of((0..count).map(|i| (format!("key:{i:04}"), None)));
    // A database of ten keys.
    bytes.splice(11..11, *b"\xFB\x0A\x00");
    bytes
}

#[test]
fn a_damaged_file_is_reported_up_to_the_damage_with_its_place() {
    let scratch = Scratch::new();
    let whole = numbered(10, true);
    scratch.file("whole.rdb", &whole);
    let cut = &whole[..whole.len() - 30];
    scratch.file("cut.rdb", cut);
    let output = scratch.run("analyze cut.rdb --json");
    assert_eq!(code(&output), 2);
    let made: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stops = json!([{"byte": cut.len()}]);
    made["input"].has(json!({"keys": 9, "incomplete": stops}));
    assert_eq!(made["verdict"]["state"], "suspicious");
    made["input"]["incomplete"][0]["reason"]
        .text()
        .says("cut off after 9 keys of 10 (90.0%)")
        .says("between keys, version REDIS0012");

    let mut unknown = whole.clone();
    let at = whole.len() - 9;
    unknown[at] = 150;
    scratch.file("unknown.rdb", &unknown);
    let output = scratch.run("dump unknown.rdb");
    assert_eq!((code(&output), stdout(&output).lines().count()), (2, 11));
    let unknown = format!("unknown.rdb: byte {at}: an unknown type or opcode, 150");
    stderr(&output).says(&unknown);
}

#[test]
fn a_file_makes_the_same_report_however_it_is_read() {
    let scratch = Scratch::new();
    let bytes = numbered(3000, false);
    scratch.file("plain.rdb", &bytes);
    scratch.file("packed.rdb.zst", zstd::encode_all(&bytes[..], 1).unwrap());
    let mut frame = lz4_flex::frame::FrameEncoder::new(b"VCS\x01\x01\x00\x01".to_vec());
    frame.write_all(&bytes).unwrap();
    scratch.file("by-the-server.rdb", frame.finish().unwrap());
    let captured = [&b"$12345\r\n"[..], &bytes].concat();
    scratch.file("captured.rdb", captured);
    let slots = |args: &str| {
        let made = scratch.report(&format!("analyze --json {args}"));
        assert_eq!(made["input"]["keys"], 3000, "{args}");
        ["slots", "sizes", "types"].map(|part| made[part].clone())
    };
    let plain = slots("plain.rdb");
    for args in [
        "packed.rdb.zst",
        "by-the-server.rdb",
        "captured.rdb",
        "plain.rdb --no-verify --threads 1",
        "plain.rdb --one-pass --threads 3",
    ] {
        assert_eq!(slots(args), plain, "{args}");
    }
    let piped = report(&scratch.piped("analyze - --json", &bytes));
    assert_eq!(piped["slots"], plain[0]);
    // Its own CSV is read back as the same keys, with either size.
    let csv = scratch.run("dump plain.rdb").stdout;
    let serialized = slots("plain.rdb --size serialized");
    for (column, sizes) in [("memory", &plain), ("bytes", &serialized)] {
        let args = ["analyze", "-", "--json", "--size-column", column];
        let again = report(&scratch.piped(&args, &csv));
        assert_eq!([&again["slots"], &again["sizes"]], [&sizes[0], &sizes[1]]);
    }
    // Type, lengths, key and value of each; in memory Redis 7.4 needs 16 + 24 for key and entry, and 32 for the value.
    assert_eq!(serialized[1]["max"], 1 + 1 + 8 + 6);
    assert_eq!(plain[1]["max"], 16 + 24 + 32);
}

#[test]
fn several_files_are_one_report_and_what_is_no_rdb_file_is_refused_by_dump() {
    let scratch = Scratch::with("a.rdb", numbered(100, false));
    scratch.file("b.rdb", &MADE[0].bytes);
    scratch.file("c.keys", "key\n");
    let made = scratch.report("analyze a.rdb b.rdb c.keys --json");
    assert_eq!(made["input"]["keys"], 102);
    let output = scratch.run("dump a.rdb c.keys b.rdb --output jsonl");
    assert_eq!((code(&output), stdout(&output).lines().count()), (2, 101));
    stderr(&output).says("c.keys: byte 0: no RDB file");
}

#[test]
fn what_dump_prints_gives_the_keys_of_the_file() {
    let scratch = Scratch::new();
    let names: [&[u8]; 7] = [
        b"a\0b,c\"d",
        b"=1+1",
        b"{x\ny}z",
        b"\xff\xfe",
        b"back\\slash",
        b"\"quoted\"",
        b"plain",
    ];
    let file = Snapshot::default().of(names.map(|name| (name, None)));
    scratch.file("dump.rdb", file);
    let slots = |name: &str| {
        let report = scratch.report(&["analyze", name, "--json", "--nodes", "3"]);
        assert_eq!(report["input"]["keys"], 7, "{name}");
        // Estimated memory of both.
        assert!(report["slots"]["bytes"].is_array(), "{name}");
        ["keys", "bytes"].map(|load| report["slots"][load].clone())
    };
    let truth = slots("dump.rdb");
    for form in ["csv", "jsonl"] {
        scratch.file(form, scratch.text(&["dump", "dump.rdb", "--output", form]));
        assert_eq!(slots(form), truth, "{form}");
    }
}

#[test]
fn the_types_of_dragonfly_are_read_and_those_of_redis_with_these_numbers_are_not_taken_for_them() {
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let value = |number: u8| match number {
        30 => text(r#"{"a":1}"#),
        31 => [
            vec![2],
            ["f", "v", "1795216373", "g", "w", "0"].map(text).concat(),
        ]
        .concat(),
        32 => [vec![2], ["m", "1795216373", "n", "0"].map(text).concat()].concat(),
        _ => text("value"),
    };
    let file = |fields: [&str; 2]| {
        let mut bytes = [b"REDIS0009\xFA", &fields.map(text).concat()[..], b"\xFE\0"].concat();
        for (number, id) in [0, 30, 31, 32].into_iter().zip(0..) {
            // Followed by properties of the key, as Dragonfly writes them.
            if number == 31 && fields[0] == "df-ver" {
                bytes.extend([220, 1, 0, 0, 0]);
            }
            bytes.push(number);
            bytes.extend(text(&format!("key:{id}")));
            bytes.extend(value(number));
        }
        [bytes, vec![0xFF], vec![0; 8]].concat()
    };
    let scratch = Scratch::with("df.rdb", file(["df-ver", "df-v1.39.0"]));
    scratch
        .text("dump df.rdb")
        .says("key:0,0,string")
        .says("key:1,0,ReJSON-RL")
        .says("key:2,0,hash")
        .says("key:3,0,set");
    scratch.file("redis.rdb", file(["redis-ver", "7.4.0"]));
    let other = scratch.run("dump redis.rdb");
    assert_eq!(code(&other), 2, "{}", stdout(&other));
}
