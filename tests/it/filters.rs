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
fn analyzed(scratch: &Scratch, dump: &str, flags: &[&str]) -> Value {
    scratch.report(&[&["analyze", dump, "--json"], flags].concat())
}

/// The numbers of keys that passed and that were excluded.
fn keys(report: &Value) -> (u64, u64) {
    let left_out = &report["input"]["filter"]["keys"];
    (report["input"]["keys"].whole(), left_out.whole())
}

#[test]
fn each_condition_leaves_out_the_others() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", TABLE);
    let rows = [
        r#"{"key":"user:1","size":100,"type":"string","expiry":-1}"#,
        r#"{"key":"user:2","size":3000,"type":"hash","expiry":1900000000}"#,
        r#"{"key":"session:1","size":50,"type":"string","expiry":1800000000}"#,
    ];
    scratch.file("dump.jsonl", rows.join("\n"));
    for (flags, kept) in [
        (&["--match", "user:*"][..], 2),
        (&["--match", "user:1", "--match", "s*"], 2),
        (&["--match-regex", "^[us].*:1$"], 2),
        (&["--match", "session:*", "--match-regex", "2$"], 2),
        (&["--type", "hash"], 1),
        (&["--type", "HASH,string"], 3),
        (&["--min-size", "51"], 2),
        (&["--max-size", "100"], 2),
        (&["--min-size", "100", "--max-size", "2kb"], 1),
        (&["--ttl", "none"], 1),
        (&["--ttl", "any"], 2),
        (&["--ttl", "2027-01-01..2027-01-16"], 1),
        (&["--ttl", "1800000001.."], 1),
    ] {
        for dump in ["dump.csv", "dump.jsonl"] {
            let found = keys(&analyzed(&scratch, dump, flags));
            assert_eq!(found, (kept, 3 - kept), "{dump} {flags:?}");
        }
    }
    let filter = analyzed(
        &scratch,
        "dump.csv",
        &["--match", "user:*", "--type", "string"],
    );
    let wanted =
        json!({"flags": "--match user:* --type string", "keys": 2, "operations": 0, "bytes": 3050});
    assert_eq!(filter["input"]["filter"], wanted);
    let all = analyzed(&scratch, "dump.csv", &[]);
    assert_eq!(all["input"].get("filter"), None);
}

#[test]
fn a_filtered_report_is_that_of_a_dump_of_these_keys() {
    let scratch = Scratch::new();
    let mut rng = Rng::new(5);
    let row = |i: usize| {
        format!(
            "{}:{{t{}}}:{i},{}\n",
            ["a", "b"][i % 2],
            rng.below(300_000),
            i % 700
        )
    };
    let rows: Vec<String> = (0..200_000).map(row).collect();
    let of = |rows: &mut dyn Iterator<Item = &String>| {
        "key,size\n".to_owned() + &rows.cloned().collect::<String>()
    };
    scratch.file("all.csv", of(&mut rows.iter()));
    scratch.file(
        "a.csv",
        of(&mut rows.iter().filter(|row| row.starts_with("a:"))),
    );
    let filtered = analyzed(&scratch, "all.csv", &["--match", "a:*"]);
    let plain = analyzed(&scratch, "a.csv", &[]);
    assert!(
        plain["tags"]["distinct"].as_u64() > Some(65_536),
        "too many for names alone"
    );
    for part in [
        "slots", "tags", "keys", "patterns", "prefixes", "lengths", "sizes",
    ] {
        assert_eq!(filtered[part], plain[part], "{part}");
    }

    // The same from parts, which cannot be merged with parts under another filter.
    let tally = |part: &str, filter: &str, out: &str| {
        let done = scratch.run(&words(&format!(
            "tally all.csv --match {filter} --part {part} -o {out}"
        )));
        assert_eq!(code(&done), 0, "{}", stderr(&done));
    };
    tally("1/2", "a:*", "1.tally");
    tally("2/2", "a:*", "2.tally");
    tally("2/2", "b:*", "other.tally");
    let refused = scratch.run(&["merge", "1.tally", "other.tally", "-o", "all.tally"]);
    assert_fails(&refused, &["--match", "counted with different ones"]);
    let merged = scratch.run(&["merge", "1.tally", "2.tally", "-o", "all.tally"]);
    assert_eq!(code(&merged), 0, "{}", stderr(&merged));
    tally("1/1", "a:*", "one.tally");
    let counted = |tally: &str, again: &str| {
        let done = scratch.run(&["recount", "--for", tally, "-o", again]);
        assert_eq!(code(&done), 0, "{}", stderr(&done));
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
    let late = scratch.run(&["analyze", "all.tally", "all.again", "--match", "a:1*"]);
    assert_fails(&late, &["--match", "belongs to slotscope tally"]);
}

#[test]
fn a_field_that_an_input_lacks_is_an_error_that_says_what_carries_it() {
    let scratch = Scratch::new();
    scratch.file("dump.keys", "user:1\nuser:2\n");
    scratch.file("dump.csv", "key,elements\na,1\n");
    for (dump, flags, parts) in [
        (
            "dump.keys",
            &["--type", "hash"][..],
            ["--type", "lines", "RDB files"],
        ),
        (
            "dump.keys",
            &["--min-size", "1"],
            ["--min-size", "no sizes", "--memkeys"],
        ),
        (
            "dump.csv",
            &["--ttl", "any"],
            ["--ttl", "csv", "\"expiry\""],
        ),
        (
            "dump.keys",
            &["--db", "1"],
            ["--db", "which database", "leave this out"],
        ),
    ] {
        assert_fails(
            &scratch.run(&[&["analyze", dump, "--no-files"], flags].concat()),
            &parts,
        );
    }
    scratch.refuses(
        "plan dump.keys --nodes 3 --add 1 --ttl none | --ttl | dump.keys
         analyze dump.keys --no-files --match-regex ( | --match-regex \"(\" | unclosed group",
    );
}

#[test]
fn operations_are_chosen_by_the_names_of_their_keys() {
    let scratch = Scratch::new();
    let line = |i: usize, key: &str| format!("17000000{i:02}.1 [0 1.1.1.1:1] \"GET\" \"{key}\"\n");
    let lines = [line(1, "user:1"), line(2, "cart:1"), line(3, "user:2")];
    scratch.file("capture", lines.concat());
    let found = analyzed(&scratch, "capture", &["--match", "user:*"]);
    assert_eq!(found["operations"]["ops"], 2);
    assert_eq!(found["input"]["filter"]["operations"], 1);
    scratch.refuses("analyze capture --no-files --type hash | --type | monitor");
}

#[test]
fn every_form_of_the_report_begins_with_what_was_left_out() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", TABLE);
    let flags = ["--match", "user:*", "--top", "3"];
    let said = "Filtered by --match user:*: 1 key, 50 B left out";
    let begins = |text: &str| {
        let first: Vec<&str> = text.lines().take(4).collect();
        assert!(first.iter().any(|line| line.contains(said)), "{first:#?}");
    };
    let run = |more: &[&str]| scratch.run(&[&["analyze", "dump.csv"], &flags[..], more].concat());
    begins(stdout(&run(&["--no-files"])));
    run(&["--out", "out", "--openmetrics", "m.prom"]);
    let read = |name: &str| scratch.read(name);
    let page = read("out/report.html");
    let body = page.split_once("<body").unwrap().1;
    let said = "Filtered by --match user:*: 1 key, ";
    assert!(body.find(said).unwrap() < body.find("<section").unwrap());
    assert!(read("m.prom").contains("slotscope_filtered_keys{filter=\"--match user:*\"} 1\n"));
    assert!(read("m.prom").contains("slotscope_filtered_bytes{filter=\"--match user:*\"} 50\n"));
    let hidden = stdout(&run(&["--no-files", "--redact"])).to_owned();
    assert_contains(&hidden, &["Filtered by --match ...: 1 key"]);
    assert!(!hidden.contains("user:"), "{hidden}");
}

#[test]
fn all_commands_that_read_keys_have_filters() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", TABLE);
    for command in [
        &["plan", "--nodes", "2", "--add", "1"][..],
        &["whatif", "--to-nodes", "4"],
        &["advise"],
        &["lint"],
    ] {
        let words = [command, &["dump.csv", "--type", "nosuch", "--json"]].concat();
        let none = scratch.run(&words);
        let all = scratch.run(&words[..words.len() - 3]);
        assert!(
            code(&none) <= 2 && code(&all) <= 1,
            "{command:?}: {}",
            stderr(&all)
        );
        assert_ne!(stdout(&none), stdout(&all), "{command:?}");
    }
}

#[test]
fn dump_prints_the_keys_that_analyze_counts() {
    let scratch = Scratch::new();
    let dump = forms::dump("rdb", 1 << 16, &mut Rng::new(11));
    scratch.file("dump.rdb", dump);
    let mut kept = BTreeSet::new();
    for flags in [
        &["--match", "*1*"][..],
        &["--match-regex", "^[a-m]"],
        &["--type", "string"],
        &["--min-size", "100"],
        &["--max-size", "99"],
        &["--ttl", "none"],
        &["--match", "*1*", "--ttl", "none", "--min-size", "60"],
    ] {
        let dumped = scratch.run(&[&["dump", "dump.rdb"], flags].concat());
        let lines = stdout(&dumped);
        let printed = lines.lines().count() as u64 - 1;
        assert_eq!(
            printed,
            keys(&analyzed(&scratch, "dump.rdb", flags)).0,
            "{flags:?}"
        );
        kept.insert(printed);
    }
    assert!(kept.len() > 3, "no condition makes a difference: {kept:?}");
}

#[test]
fn plans_and_trials_of_filtered_keys_are_those_of_a_dump_of_these_keys() {
    let (scratch, mut rng) = (Scratch::new(), Rng::new(6));
    let row = |i: usize| {
        format!(
            "{}:{{t{}}}:{i},{}\n",
            ["a", "b"][i % 2],
            rng.below(9000),
            i % 700
        )
    };
    let rows: Vec<String> = (0..20_000).map(row).collect();
    let ours: String = rows
        .iter()
        .filter(|row| row.starts_with("a:"))
        .cloned()
        .collect();
    scratch.file("all.csv", format!("key,size\n{}", rows.concat()));
    scratch.file("a.csv", format!("key,size\n{ours}"));
    for command in [
        &["plan", "--nodes", "3", "--add", "1"][..],
        &["whatif", "--to-nodes", "8"],
    ] {
        let of = |more: &[&str]| {
            let mut found = scratch.report(&[command, more, &["--json"]].concat());
            found.as_object_mut().unwrap().remove("input");
            found
        };
        assert_eq!(
            of(&["all.csv", "--match", "a:*"]),
            of(&["a.csv"]),
            "{command:?}"
        );
    }
}
