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

/// The patterns of a report and their keys.
fn patterns(report: &Value) -> Vec<(&str, u64)> {
    let rows = report["patterns"]["top"].list().iter();
    rows.map(|row| (row["pattern"].text(), row["keys"].whole()))
        .collect()
}

/// A random id of letters, digits and, if `letters` exceeds 62, `-` and `_`.
fn id(rng: &mut Rng, len: usize, letters: usize) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let letter = |_| char::from(LETTERS[rng.below(letters)]);
    (0..len).map(letter).collect()
}

#[test]
fn ids_do_not_split_patterns_and_prefixes_are_their_sums() {
    let mut dump = String::new();
    for i in 0..3000 {
        let keys = [
            format!("cart:{{cart:{i}}}:items"),
            format!("dict:{{common}}:{i}"),
            format!("item:{i}"),
        ];
        keys.iter()
            .for_each(|key| writeln!(dump, "shop:{key}").unwrap());
    }
    let report = report_on("2", &[], &dump);
    report["patterns"].has(json!({"exact": true, "max_error": 0}));
    let common = report["patterns"]["top"].find("pattern", "shop:dict:{common}:<n>");
    common.has(json!({"keys": 3000, "slots": 1, "tagged_share": 1.0}));
    let shop = report["prefixes"]["top"].find("prefix", "shop");
    let slots = report["slots"]["keys"].list().iter();
    let slots = slots.filter(|keys| **keys != 0).count();
    shop.has(json!({"keys": 9000, "share": 1.0, "slots": slots}));
    near(shop["tagged_share"].float(), 2.0 / 3.0, 1e-9);
}

#[test]
fn with_too_many_first_words_all_words_are_ids() {
    let mut rng = Rng::new(0);
    let mut dump = String::new();
    for i in 0..200_000 {
        let word: String = (0..9)
            .map(|_| char::from(b'a' + rng.below(26) as u8))
            .collect();
        writeln!(dump, "{word}:profile:{i}").unwrap();
        if i % 10 == 0 {
            writeln!(dump, "user:{i}:cart").unwrap();
        }
    }
    let report = report_on("2", &[], &dump);
    report["patterns"].has(json!({"exact": true, "max_error": 0, "coarseness": 4}));
    let counted = [("<id>:<id>:<n>", 200_000), ("<id>:<n>:<id>", 20_000)];
    assert_eq!(patterns(&report), counted);
    let text = feed(slotscope("analyze - --no-files --full"), dump.as_bytes());
    stdout(&text).says("too many to count each");
}

#[test]
fn random_ids_past_all_that_can_be_counted_leave_true_prefixes_on_any_threads_in_any_order() {
    let mut rng = Rng::new(1);
    let mut keys = Vec::new();
    for i in 0..90_000 {
        keys.push(format!("sess:{}", id(&mut rng, 10, 62)));
        keys.push(format!("vid:user.{}:views", id(&mut rng, 11, 64)));
        if i % 2 == 0 {
            keys.push(format!("user:prof:{}", id(&mut rng, 10, 62)));
        }
    }
    let whole = report_on("1", &[], &keys.join("\n"));
    let prefixes = json!([
        ["sess", 90_000],
        ["vid", 90_000],
        ["user", 45_000],
        ["user:prof", 45_000]
    ]);
    assert_eq!(whole["prefixes"]["top"].each("prefix keys"), prefixes);
    whole["prefixes"].has(json!({"exact": true, "max_error": 0}));
    assert_eq!(whole["patterns"]["coarseness"], 1);
    let patterns = patterns(&whole);
    assert_eq!(patterns[0], ("sess:<id>", 90_000));
    assert_eq!(patterns[2], ("user:prof:<id>", 45_000));
    let is_bounded = patterns[1].0 == "vid:user.<id>:views" && patterns[1].1 > 89_990;
    assert!(is_bounded, "{patterns:?}");
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
        let bytes: String = (0..8).map(|_| char::from(rng.below(128) as u8)).collect();
        let bytes = bytes.replace(['\r', '\n', ':', '{', '}'], "\u{1}");
        let (id, state) = (id(&mut rng, 10, 62), ["on", "off"][i % 2]);
        writeln!(dump, "\u{44f}:{id}\nbin:{bytes}\nv{}:flag:{state}", i % 9).unwrap();
    }
    let report = report_on("2", &["--format", "lines"], &dump);
    let patterns = patterns(&report);
    assert_eq!(patterns[0].1 + patterns[1].1, 4000, "{patterns:?}");
    assert!(patterns.contains(&("lb:game<n>:<n>", 2000)), "{patterns:?}");
    assert!(patterns.contains(&("\u{44f}:<id>", 2000)), "{patterns:?}");
    let flags = patterns.iter().filter(|(name, _)| name.starts_with('v'));
    assert_eq!(flags.count(), 18, "nine versions stay");
    let binary = patterns.iter().filter(|(name, _)| name.starts_with("bin:"));
    let binary: Vec<_> = binary.collect();
    assert!(binary[0].1 > 1900 && binary.len() < 30, "{binary:?}");
}

#[test]
fn the_tagged_share_is_that_of_the_policy() {
    let dump = "a{}:x\na{}:y\nuser:17:cart\nuser:18:cart\nuser:x:cart\nb{t}:1\n";
    let [oss, enterprise] = ["oss", "enterprise"].map(|policy| ["--policy", policy].to_vec());
    let by_number = words(r"--policy regex:user:(?<tag>\d+):.* --policy regex:(?<tag>.*)");
    for (policy, table, name, expected) in [
        (&oss, "prefix", "a{}", 0.0),
        (&enterprise, "prefix", "a{}", 1.0),
        (&oss, "pattern", "user:<n>:cart", 0.0),
        (&by_number, "pattern", "user:<n>:cart", 1.0),
        (&by_number, "pattern", "user:x:cart", 0.0),
        (&by_number, "pattern", "b{t}:<n>", 0.0),
        (&by_number, "prefix", "user", 2.0 / 3.0),
    ] {
        let report = report_on("1", policy, dump);
        let tables = if table == "prefix" {
            "prefixes"
        } else {
            "patterns"
        };
        let row = report[tables]["top"].find(table, name);
        near(row["tagged_share"].float(), expected, 1e-9);
    }
}
