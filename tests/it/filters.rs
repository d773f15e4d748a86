//! Filters of keys: available in every command and format; the report shows the excluded keys.

use std::collections::BTreeSet;

use testkit::forms;
use testkit::prelude::*;
use testkit::rng::Rng;

/// Two users and an expiring session, with a row for each condition.
const TABLE: &str = "key,size,type,expiry\n\
    user:1,100,string,\n\
    user:2,3000,hash,1900000000\n\
    session:1,50,string,1800000000\n";

/// The report of `analyze` on a dump with these flags.
fn analyzed(scratch: &Scratch, dump: &str, flags: &str) -> Value {
    scratch.report(&format!("analyze {dump} --json {flags}"))
}

/// The numbers of keys that passed and that were excluded.
fn keys(report: &Value) -> (u64, u64) {
    let left_out = &report["input"]["filter"]["keys"];
    (report["input"]["keys"].whole(), left_out.whole())
}

/// A dump of two families of keys, and one of the first family.
fn two_families(keys: usize, tags: usize) -> Scratch {
    let mut rng = Rng::new(5);
    let mut row = |i: usize| {
        let family = ["a", "b"][i % 2];
        format!("{family}:{{t{}}}:{i},{}\n", rng.below(tags), i % 700)
    };
    let all: Vec<String> = (0..keys).map(&mut row).collect();
    let ours: String = all.iter().step_by(2).cloned().collect();
    let scratch = Scratch::with("all.csv", format!("key,size\n{}", all.concat()));
    scratch.file("a.csv", format!("key,size\n{ours}"));
    scratch
}

#[test]
fn each_condition_leaves_out_the_others() {
    let scratch = Scratch::with("dump.csv", TABLE);
    let rows = [
        r#"{"key":"user:1","size":100,"type":"string","expiry":-1}"#,
        r#"{"key":"user:2","size":3000,"type":"hash","expiry":1900000000}"#,
        r#"{"key":"session:1","size":50,"type":"string","expiry":1800000000}"#,
    ];
    scratch.file("dump.jsonl", rows.join("\n"));
    for (flags, kept) in [
        ("--match user:*", 2),
        ("--match user:1 --match s*", 2),
        ("--match-regex ^[us].*:1$", 2),
        ("--match session:* --match-regex 2$", 2),
        ("--type hash", 1),
        ("--type HASH,string", 3),
        ("--min-size 51", 2),
        ("--max-size 100", 2),
        ("--min-size 100 --max-size 2kb", 1),
        ("--ttl none", 1),
        ("--ttl any", 2),
        ("--ttl 2027-01-01..2027-01-16", 1),
        ("--ttl 1800000001..", 1),
    ] {
        for dump in ["dump.csv", "dump.jsonl"] {
            let found = keys(&analyzed(&scratch, dump, flags));
            assert_eq!(found, (kept, 3 - kept), "{dump} {flags}");
        }
    }
    let flags = "--match user:* --type string";
    let filter = &analyzed(&scratch, "dump.csv", flags)["input"]["filter"];
    let wanted = json!({"flags": flags, "keys": 2, "operations": 0, "bytes": 3050});
    assert_eq!(*filter, wanted);
    let all = analyzed(&scratch, "dump.csv", "");
    assert_eq!(all["input"].get("filter"), None);
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_filtered_report_is_that_of_a_dump_of_these_keys() {
    let scratch = two_families(200_000, 300_000);
    let filtered = analyzed(&scratch, "all.csv", "--match a:*");
    let plain = analyzed(&scratch, "a.csv", "");
    let distinct = plain["tags"]["distinct"].whole();
    assert!(distinct > 65_536, "they do not fit the table of names");
    for part in [
        "slots", "tags", "keys", "patterns", "prefixes", "lengths", "sizes",
    ] {
        assert_eq!(filtered[part], plain[part], "{part}");
    }

    // The same from parts, which cannot be merged with parts under another filter.
    for [part, filter, out] in rows(
        "1/2 | a:* | 1.tally
         2/2 | a:* | 2.tally
         2/2 | b:* | other.tally
         1/1 | a:* | one.tally",
    ) {
        scratch.text(&format!(
            "tally all.csv --match {filter} --part {part} -o {out}"
        ));
    }
    let different = "--match | counted with different ones";
    scratch.refuses(&format!(
        "merge 1.tally other.tally -o all.tally | {different}"
    ));
    scratch.text("merge 1.tally 2.tally -o all.tally");
    let counted = |tally: &str, again: &str| {
        scratch.text(&["recount", "--for", tally, "-o", again]);
        let mut report = scratch.report(&["analyze", tally, again, "--json"]);
        report.as_object_mut().unwrap().remove("run");
        report
    };
    let parts = counted("all.tally", "all.again");
    assert_eq!(parts, counted("one.tally", "one.again"));
    // With this many tags, a tally file has estimates.
    for part in ["input", "keys", "patterns", "prefixes", "lengths", "sizes"] {
        assert_eq!(parts[part], filtered[part], "{part}");
    }
    scratch
        .refuses("analyze all.tally all.again --match a:1* | --match | belongs to slotscope tally");
}

#[test]
fn a_field_that_an_input_lacks_is_an_error_that_says_what_carries_it() {
    let scratch = Scratch::with("dump.keys", "user:1\nuser:2\n");
    scratch.file("dump.csv", "key,elements\na,1\n");
    scratch.refuses(
        "analyze dump.keys --no-files --type hash | --type | lines | RDB files
         analyze dump.keys --no-files --min-size 1 | --min-size | no sizes | --memkeys
         analyze dump.csv --no-files --ttl any | --ttl | csv | \"expiry\"
         analyze dump.keys --no-files --db 1 | --db | which database | leave this out
         plan dump.keys --nodes 3 --add 1 --ttl none | --ttl | dump.keys
         analyze dump.keys --no-files --match-regex ( | --match-regex \"(\" | unclosed group",
    );
}

#[test]
fn operations_are_chosen_by_the_names_of_their_keys() {
    let scratch = Scratch::new();
    let line = |i: usize, key: &str| format!("17000000{i:02}.1 [0 1.1.1.1:1] \"GET\" \"{key}\"\n");
    let lines = [line(1, "user:1"), line(2, "cart:1"), line(3, "user:2")];
    scratch.file("capture", lines.concat());
    let found = analyzed(&scratch, "capture", "--match user:*");
    assert_eq!(found["operations"]["ops"], 2);
    assert_eq!(found["input"]["filter"]["operations"], 1);
    scratch.refuses("analyze capture --no-files --type hash | --type | monitor");
}

#[test]
fn every_form_of_the_report_begins_with_what_was_left_out() {
    let scratch = Scratch::with("dump.csv", TABLE);
    let analyze = "analyze dump.csv --match user:* --top 3";
    let text = scratch.text(&format!("{analyze} --no-files"));
    let first: Vec<&str> = text.lines().take(4).collect();
    first
        .join("\n")
        .says("Filtered by --match user:*: 1 key, 50 B left out");
    scratch.text(&format!("{analyze} --out out --openmetrics m.prom"));
    let page = scratch.read("out/report.html");
    let (_, body) = page.split_once("<body").unwrap();
    let (head, _) = body.split_once("<section").unwrap();
    head.says("Filtered by --match user:*: 1 key, ");
    let metrics = scratch.read("m.prom");
    metrics.says("slotscope_filtered_keys{filter=\"--match user:*\"} 1\n");
    metrics.says("slotscope_filtered_bytes{filter=\"--match user:*\"} 50\n");
    let hidden = scratch.text(&format!("{analyze} --no-files --redact"));
    hidden.says("Filtered by --match ...: 1 key").lacks("user:");
}

#[test]
fn dump_prints_the_keys_that_analyze_counts() {
    let scratch = Scratch::new();
    let dump = forms::dump("rdb", 1 << 16, &mut Rng::new(11));
    scratch.file("dump.rdb", dump);
    let mut kept = BTreeSet::new();
    for flags in [
        "--match *1*",
        "--match-regex ^[a-m]",
        "--type string",
        "--min-size 100",
        "--max-size 99",
        "--ttl none",
        "--match *1* --ttl none --min-size 60",
    ] {
        let lines = scratch.text(&format!("dump dump.rdb {flags}"));
        let printed = lines.lines().count() as u64 - 1;
        assert_eq!(
            printed,
            keys(&analyzed(&scratch, "dump.rdb", flags)).0,
            "{flags}"
        );
        kept.insert(printed);
    }
    assert!(kept.len() > 3, "no condition makes a difference: {kept:?}");
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn plans_and_trials_of_filtered_keys_are_those_of_a_dump_of_these_keys() {
    let scratch = two_families(20_000, 9000);
    for command in [
        "plan --nodes 3 --add 1",
        "whatif --to-nodes 8",
        "advise",
        "lint",
    ] {
        let of = |dump: &str| {
            let run = scratch.run(&format!("{command} {dump} --json"));
            let mut found: Value = serde_json::from_slice(&run.stdout).unwrap();
            found.as_object_mut().unwrap().remove("input");
            found
        };
        assert_eq!(of("all.csv --match a:*"), of("a.csv"), "{command}");
    }
}
