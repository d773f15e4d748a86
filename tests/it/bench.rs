//! `bench`: what it verifies, counts and says. Rates are those of the machine, and no test judges them.

use testkit::prelude::*;

const LENGTHS: [u64; 5] = [8, 16, 32, 64, 256];

#[test]
fn every_kernel_is_timed_at_every_length_on_one_thread_and_on_all() {
    let scratch = Scratch::new();
    let json = scratch.report("bench --rounds 1 --threads 2 --json");
    json.has(json!({"schema": "slotscope.bench/2", "rounds": 1, "busy_rows": null, "scan": null}));
    json.has(json!({"kernel": hashslot::best().name, "version": env!("CARGO_PKG_VERSION")}));
    let mut rows = json["kernels"].list().iter();
    for threads in [1, 2] {
        for key_bytes in LENGTHS {
            for kernel in hashslot::available() {
                let row = rows.next().unwrap();
                let is_chosen = kernel.name == hashslot::best().name;
                row.has(json!({"kernel": kernel.name, "is_chosen": is_chosen, "threads": threads}));
                row.has(json!({"key_bytes": key_bytes, "spread": null}));
                let (keys, bytes) = (row["keys_per_sec"].float(), row["bytes_per_sec"].float());
                near(bytes / keys, key_bytes as f64, 1e-6 * key_bytes as f64);
            }
        }
    }
    assert_eq!(rows.next(), None);
}

#[test]
fn the_kernel_that_analyze_takes_is_marked_and_one_round_has_no_spread() {
    let scratch = Scratch::new();
    let text = scratch.text("bench --rounds 1 --threads 1");
    text.says("one round has no spread")
        .says("built without optimisation")
        .says(&format!("{} *", hashslot::best().name))
        .lacks("table *")
        .lacks("%");
    let mut rows = text.lines().filter(|line| line.trim().starts_with("8 "));
    let row = rows.next_back().unwrap();
    assert!(row.trim_end().ends_with(" -"), "{row}");
    let mut forced = scratch.command("bench --rounds 1 --threads 1");
    let forced = forced.env("SLOTSCOPE_KERNEL", "table").output().unwrap();
    stdout(&forced).says("table *");
}

#[test]
fn a_table_for_programs_has_a_row_for_each_kernel() {
    let scratch = Scratch::new();
    let csv = scratch.text("bench --rounds 1 --threads 1 --csv");
    let mut lines = csv.lines();
    let header = "kernel,is_chosen,key_bytes,threads,keys_per_sec,bytes_per_sec,spread,over_table";
    assert_eq!(lines.next(), Some(header));
    assert_eq!(lines.count(), LENGTHS.len() * hashslot::available().count());
    let both = scratch.run("bench --csv --json");
    stderr(&both).says("cannot be used with");
    assert_eq!(code(&both), 2);
}

#[test]
fn a_dump_is_scanned_by_stage_beside_a_count_of_its_line_ends() {
    let scratch = Scratch::new();
    let keys: String = (0..3000)
        .map(|i| format!("user:{{{}}}:{i}\n", i % 7))
        .collect();
    scratch.file("list.keys", &keys);
    scratch.file(
        "table.csv",
        format!("key,size\n{}", keys.replace('\n', ",5\n")),
    );
    scratch.file("packed.keys.gz", testkit::dumps::gzip(keys.as_bytes()));
    for (file, line_ends) in [
        ("list.keys", 3000),
        ("table.csv", 3001),
        ("packed.keys.gz", 3000),
    ] {
        let json = scratch.report(&format!(
            "bench --rounds 1 --threads 2 --json --file {file}"
        ));
        let scan = json!({"file": file, "line_ends": line_ends, "keys": 3000});
        json["scan"].has(scan);
        let bytes = keys.len() + if file == "table.csv" { 9 + 2 * 3000 } else { 0 };
        assert_eq!(json["scan"]["bytes"], bytes, "{file}");
        let each = |threads: u64| {
            ["line_ends", "read", "cut", "hash", "count"].map(|stage| json!([stage, threads]))
        };
        let stages = json!([each(1), each(2)].concat());
        assert_eq!(
            json["scan"]["stages"].each("stage threads"),
            stages,
            "{file}"
        );
        assert_eq!(json["kernels"], json!([]));
    }
    let text = scratch.text("bench --rounds 1 --threads 1 --file list.keys");
    text.says("with 3,000 line ends and 3,000 keys")
        .says("× line ends");
    let csv = scratch.text("bench --rounds 1 --threads 1 --csv --file list.keys");
    let header = "stage,threads,keys_per_sec,bytes_per_sec,spread,secs,over_line_ends";
    assert_eq!(csv.lines().next(), Some(header));
    assert_eq!(csv.lines().count(), 1 + 5);
    std::fs::create_dir(scratch.path("dumps")).unwrap();
    scratch.file("dumps/a.keys", "a\nb\n");
    scratch.file("dumps/b.keys", "c\n");
    let json = scratch.report("bench --rounds 1 --threads 1 --json --file dumps");
    json["scan"].has(json!({"file": "dumps", "keys": 3, "bytes": 6}));
}

#[test]
fn files_that_cannot_be_read_are_refused_as_by_analyze() {
    let scratch = Scratch::with("picture.bin", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    scratch.file("cut.rdb", b"REDIS0011\xfe\x00\x00\x03k:1");
    for name in ["picture.bin", "nothing.keys"] {
        let refused = |command: &str| {
            let output = scratch.run(&format!("{command} {name}"));
            assert_eq!(code(&output), 2, "{}", stdout(&output));
            stderr(&output).to_owned()
        };
        assert_eq!(
            refused("bench --rounds 1 --file"),
            refused("analyze"),
            "{name}"
        );
    }
    scratch.file("empty.keys", "");
    scratch.refuses(
        "bench --rounds 1 --file empty.keys | empty.keys: has no keys
         bench --file redis://127.0.0.1:1 | a running server, which this command does not read
         bench --rounds 1 --file cut.rdb | cut.rdb: byte ",
    );
    let output = scratch.piped("bench --rounds 1 --file -", b"a:1\na:2\n");
    assert_fails(&output, &["several times", "name a file"]);
}
