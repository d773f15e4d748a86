//! Patterns and prefixes in the report: counted completely or, if there are too many names, bounded and marked as such.

use std::fmt::Write as _;

use testkit::prelude::*;
use testkit::rng::Rng;

/// The report of a dump with this many threads and these flags, without the parts on how it was made.
fn report_on(threads: &str, flags: &[&str], dump: &str) -> Value {
    let args = [&["analyze", "-", "--json", "--threads", threads], flags].concat();
    let output = succeeded(feed(slotscope(&args), dump.as_bytes()));
    without_origin(serde_json::from_slice(&output).unwrap())
}

/// Names and keys in the rows of a table.
fn rows<'a>(report: &'a Value, table: &str, column: &str) -> Vec<(&'a str, u64)> {
    let rows = report[table]["top"].list().iter();
    rows.map(|row| (row[column].text(), row["keys"].whole()))
        .collect()
}

/// A random id of letters, digits and, if `letters` exceeds 62, `-` and `_`.
fn id(rng: &mut Rng, len: usize, letters: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |_| char::from(LETTERS[rng.below(letters)]);
    (0..len).map(letter).collect()
}

/// The report of a dump, as JSON and as text.
fn report(dump: String) -> (Value, String) {
    let analyze = |flags: &[&str]| {
        let words = [&["analyze", "-"], flags].concat();
        succeeded(feed(slotscope(&words), dump.as_bytes()))
    };
    (
        serde_json::from_slice(&analyze(&["--json"])).unwrap(),
        String::from_utf8(analyze(&["--no-files", "--full"])).unwrap(),
    )
}

fn row<'a>(report: &'a Value, table: &str, column: &str, name: &str) -> &'a Value {
    let rows = report[table]["top"].list();
    rows.iter()
        .find(|row| row[column] == name)
        .unwrap_or_else(|| panic!("no {name} among {table}"))
}

#[test]
fn ids_do_not_split_patterns_and_prefixes_are_their_sums() {
    let mut dump = String::new();
    for i in 0..3000 {
        writeln!(
            dump,
            "shop:cart:{{cart:{i}}}:items\nshop:dict:{{common}}:{i}\nshop:item:{i}"
        )
        .unwrap();
    }
    let (report, _) = report(dump);
    report["patterns"].has(json!({"exact": true, "max_error": 0}));
    let common = row(&report, "patterns", "pattern", "shop:dict:{common}:<n>");
    common.has(json!({"keys": 3000, "slots": 1, "tagged_share": 1.0}));
    let shop = row(&report, "prefixes", "prefix", "shop");
    assert_eq!((&shop["keys"], &shop["share"]), (&9000.into(), &1.0.into()));
    assert!((shop["tagged_share"].float() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(
        shop["slots"],
        report["slots"]["keys"]
            .list()
            .iter()
            .filter(|keys| **keys != 0)
            .count()
    );
}

#[test]
fn with_too_many_first_words_all_words_are_ids() {
    let word = |rng: &mut Rng| -> String {
        (0..9)
            .map(|_| char::from(b'a' + rng.below(26) as u8))
            .collect()
    };
    let mut rng = Rng::new(0);
    let mut dump = String::new();
    for i in 0..200_000 {
        writeln!(dump, "{}:profile:{i}", word(&mut rng)).unwrap();
        if i % 10 == 0 {
            writeln!(dump, "user:{i}:cart").unwrap();
        }
    }
    let (report, text) = report(dump);
    let patterns = &report["patterns"];
    patterns.has(json!({"exact": true, "max_error": 0, "coarseness": 4}));
    let counted = [("<id>:<id>:<n>", 200_000), ("<id>:<n>:<id>", 20_000)];
    assert_eq!(rows(&report, "patterns", "pattern"), counted);
    text.says("too many to count each");
}

#[test]
fn random_ids_past_all_that_can_be_counted_leave_true_prefixes_on_any_threads_in_any_order() {
    let mut rng = Rng::new(1);
    let mut keys = Vec::new();
    for i in 0..90_000 {
        keys.push(format!("sess:{}", id(&mut rng, 10, 62)));
        keys.push(format!("vid:{}:views", id(&mut rng, 11, 64)));
        if i % 2 == 0 {
            keys.push(format!("user:prof:{}", id(&mut rng, 10, 62)));
        }
    }
    let whole = report_on("1", &[], &keys.join("\n"));
    let prefixes = [
        ("sess", 90_000),
        ("vid", 90_000),
        ("user", 45_000),
        ("user:prof", 45_000),
    ];
    assert_eq!(rows(&whole, "prefixes", "prefix"), prefixes);
    whole["prefixes"].has(json!({"exact": true, "max_error": 0}));
    assert_eq!(whole["patterns"]["coarseness"], 1);
    let patterns = rows(&whole, "patterns", "pattern");
    assert_eq!(patterns[0], ("sess:<id>", 90_000));
    assert_eq!(patterns[2], ("user:prof:<id>", 45_000));
    assert!(
        patterns[1].0 == "vid:<id>:views" && patterns[1].1 > 89_990,
        "{patterns:?}"
    );
    assert!(patterns.len() < 10, "{patterns:?}");
    keys.reverse();
    for (threads, dump) in [("2", keys.join("\n")), ("4", keys.join("\n") + "\n")] {
        let other = report_on(threads, &[], &dump);
        assert_eq!(other["patterns"], whole["patterns"], "{threads} threads");
        assert_eq!(other["prefixes"], whole["prefixes"], "{threads} threads");
    }
}

#[test]
fn siblings_that_are_many_are_one_row() {
    let mut rng = Rng::new(2);
    let mut dump = String::new();
    for game in 0..200 {
        (0..10).for_each(|i| writeln!(dump, "lb:game{game}:{i}").unwrap());
    }
    for i in 0..2000 {
        writeln!(dump, "\u{44f}:{}", id(&mut rng, 10, 62)).unwrap();
        let bytes: String = (0..8).map(|_| char::from(rng.below(128) as u8)).collect();
        writeln!(
            dump,
            "bin:{}",
            bytes.replace(['\r', '\n', ':', '{', '}'], "\u{1}")
        )
        .unwrap();
        writeln!(dump, "v{}:flag:{}", i % 9, ["on", "off"][i % 2]).unwrap();
    }
    let report = report_on("2", &["--format", "lines"], &dump);
    let patterns = rows(&report, "patterns", "pattern");
    assert_eq!(patterns[0].1 + patterns[1].1, 4000, "{patterns:?}");
    assert!(patterns.contains(&("lb:game<n>:<n>", 2000)), "{patterns:?}");
    assert!(patterns.contains(&("\u{44f}:<id>", 2000)), "{patterns:?}");
    let flags = patterns.iter().filter(|(name, _)| name.starts_with('v'));
    assert_eq!(flags.count(), 18, "nine versions stay");
    let binary: Vec<_> = patterns
        .iter()
        .filter(|(name, _)| name.starts_with("bin:"))
        .collect();
    assert!(binary[0].1 > 1900 && binary.len() < 30, "{binary:?}");
}

#[test]
fn the_tagged_share_is_that_of_the_policy() {
    let dump = "a{}:x\na{}:y\nuser:17:cart\nuser:18:cart\nuser:x:cart\nb{t}:1\n";
    let share = |policies: &[&str], name: &str| {
        let flags: Vec<_> = policies
            .iter()
            .flat_map(|policy| ["--policy", policy])
            .collect();
        let report = report_on("1", &flags, dump);
        let [patterns, prefixes] = ["patterns", "prefixes"].map(|table| &report[table]["top"]);
        let rows = [patterns, prefixes]
            .map(|rows| rows.list())
            .into_iter()
            .flatten();
        let mut rows = rows.filter(|row| row["pattern"] == name || row["prefix"] == name);
        rows.next().unwrap()["tagged_share"].float()
    };
    assert_eq!(
        (share(&["oss"], "a{}"), share(&["enterprise"], "a{}")),
        (0.0, 1.0)
    );
    let by_number = [r"regex:user:(?<tag>\d+):.*", "regex:(?<tag>.*)"];
    assert_eq!(share(&["oss"], "user:<n>:cart"), 0.0);
    for (name, expected) in [
        ("user:<n>:cart", 1.0),
        ("user:x:cart", 0.0),
        ("b{t}:<n>", 0.0),
    ] {
        assert_eq!(share(&by_number, name), expected, "{name}");
    }
    assert!((share(&by_number, "user") - 2.0 / 3.0).abs() < 1e-9);
}
