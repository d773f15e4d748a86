//! `diff`: what changed between two reports is found, what the bounds leave open is not claimed, and no file makes it panic.

#[path = "support/scratch.rs"]
mod scratch;

use scratch::Scratch;
use serde_json::{Value, json};

/// The report of `keys`, made by `analyze`.
fn report(desk: &Scratch, name: &str, keys: &str, flags: &[&str]) -> Value {
    desk.file(&format!("{name}.keys"), keys.as_bytes());
    let said = desk.run("analyze", &[&[&format!("{name}.keys"), "--json", "--nodes", "3"], flags].concat());
    assert_eq!(said.code, 0, "{}", said.err);
    desk.file(name, said.out.as_bytes());
    serde_json::from_str(&said.out).unwrap()
}

fn write(desk: &Scratch, name: &str, report: &Value) {
    desk.file(name, report.to_string().as_bytes());
}

fn diff(desk: &Scratch, old: &str, new: &str) -> Value {
    let said = desk.run("diff", &[old, new, "--json"]);
    assert_eq!(said.code, 0, "{}", said.err);
    serde_json::from_str(&said.out).unwrap()
}

/// `keys` with each tag as often as it says.
fn tagged(tags: &[(&str, usize)]) -> String {
    let rest = (0..2000).map(|i| format!("user:{i}\n"));
    let keys = tags.iter().flat_map(|(tag, keys)| (0..*keys).map(move |i| format!("app:{{{tag}}}:{i}\n")));
    rest.chain(keys).collect()
}

fn names(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

#[test]
fn what_grew_appeared_vanished_shrank_and_got_hot_is_found() {
    let desk = Scratch::new();
    report(&desk, "old", &tagged(&[("grows", 10), ("shrinks", 300), ("stays", 5), ("goes", 20)]), &[]);
    report(&desk, "new", &tagged(&[("grows", 900), ("shrinks", 30), ("stays", 5), ("comes", 40)]), &[]);
    let diff = diff(&desk, "old", "new");
    assert_eq!(diff["schema"], "slotscope.diff/1");
    assert_eq!((&diff["totals"]["keys"]["old"], &diff["totals"]["keys"]["new"]), (&json!(2335), &json!(2975)));
    assert_eq!(diff["totals"]["keys"]["change"], 640.0);
    for (list, name, at_least) in
        [("grew", "grows", 890), ("shrank", "shrinks", 270), ("appeared", "comes", 40), ("vanished", "goes", 20)]
    {
        assert_eq!(names(&diff["tags"][list]), [name], "{list}");
        assert_eq!(diff["tags"][list][0]["at_least"], at_least, "{list}");
    }
    let hot: Vec<_> = diff["hot"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hot| (hot["kind"].as_str().unwrap(), hot["name"].as_str().unwrap()))
        .collect();
    assert!(hot.contains(&("tag", "grows")), "{hot:?}");
    assert!(hot.iter().any(|(kind, _)| *kind == "slot") && hot.iter().any(|(kind, _)| *kind == "node"), "{hot:?}");
    assert_eq!(diff["skew"]["verdict"], json!({"old": "skewed", "new": "skewed"}));
    assert_eq!(names(&diff["prefixes"]["grew"]), ["app:{grows}", "app"]);

    let said = desk.run("diff", &["old", "new"]);
    let first = said.out.lines().next().unwrap();
    assert!(
        first.starts_with("2,975 keys, 640 keys more than before (+27.4 %); still skewed, the fullest node at "),
        "{first}"
    );
    assert!(first.ends_with("the tag {grows} grew most, by at least 890 keys"), "{first}");
    for part in ["Tags that grew", "Tags that vanished", "Got hot", "slot ", "even-1"] {
        assert!(said.out.contains(part), "no {part} in {}", said.out);
    }
}

#[test]
fn a_report_beside_itself_has_not_changed() {
    let desk = Scratch::new();
    report(&desk, "old", &tagged(&[("a", 10), ("b", 300)]), &[]);
    let diff = diff(&desk, "old", "old");
    for part in ["tags", "prefixes", "patterns"] {
        for list in ["grew", "appeared", "vanished", "shrank", "below_the_list"] {
            assert_eq!(diff[part][list], json!([]), "{part}.{list}");
        }
    }
    assert_eq!((&diff["hot"], &diff["notes"]), (&json!([]), &json!([])));
    let said = desk.run("diff", &["old", "old"]);
    assert!(said.out.starts_with("2,310 keys, as before; still "), "{}", said.out);
}

#[test]
fn what_the_bounds_leave_open_is_not_claimed() {
    let desk = Scratch::new();
    let mut old = report(&desk, "old", &tagged(&[("a", 100)]), &[]);
    let mut new = old.clone();
    let row = |tag: &str, keys: u64, error: u64| json!({"tag": tag, "keys": keys, "keys_error": error, "share": 0.1});
    // a: 100 to 150 became 140: perhaps less. b: 100 to 110 became 140. c and d are in one list alone.
    let tags = |rows: Value, max_error: u64| json!({"exact": false, "max_error": max_error, "top": rows});
    old["tags"] = tags(json!([row("a", 100, 50), row("b", 100, 10), row("c", 90, 0), row("light", 55, 0)]), 5);
    new["tags"] = tags(json!([row("a", 140, 0), row("b", 140, 3), row("d", 70, 0), row("e", 60, 0)]), 20);
    write(&desk, "old", &old);
    write(&desk, "new", &new);
    let diff = diff(&desk, "old", "new");
    assert_eq!(names(&diff["tags"]["grew"]), ["b"]);
    assert_eq!(diff["tags"]["grew"][0]["at_least"], 30);
    assert_eq!(names(&diff["tags"]["vanished"]), ["c"], "90 is more than 60 + 20");
    assert_eq!(names(&diff["tags"]["appeared"]), ["d"], "70 is more than 55 + 5");
    assert_eq!(names(&diff["tags"]["below_the_list"]), ["e", "light"]);
    assert_eq!(diff["tags"]["shrank"], json!([]));
}

#[test]
fn names_keep_their_spelling_and_a_file_cannot_smuggle_in_another() {
    let desk = Scratch::new();
    let mut old = report(&desk, "old", &tagged(&[("a", 10)]), &[]);
    desk.file("nasty.keys", b"x:{a\\b\x1b[2J\xff}:1\nx:{a\\b\x1b[2J\xff}:2\n");
    let said = desk.run("analyze", &["nasty.keys", "--json", "--nodes", "3"]);
    desk.file("nasty", said.out.as_bytes());
    let found = diff(&desk, "old", "nasty");
    assert_eq!(names(&found["tags"]["appeared"]), ["a\\\\b\\x1b[2J\\xff"]);
    old["tags"]["top"][0]["tag"] = json!("\u{1b}[2J\u{202e}");
    old["skew"]["verdict"] = json!("\u{1b}]0;x");
    old["nodes"]["source"] = json!("\u{7}");
    write(&desk, "old", &old);
    let said = desk.run("diff", &["old", "nasty", "--color", "never"]);
    assert!(said.code == 0 && !said.out.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{:?}", said.out);
    old["tags"]["top"][0]["tag"] = json!("a\\q");
    write(&desk, "old", &old);
    desk.fails("diff", &["old", "nasty"], "old: line 1, column");
}

#[test]
fn parts_that_a_report_lacks_are_said_and_parts_that_all_have_are_missed() {
    let desk = Scratch::new();
    let whole = report(&desk, "old", &tagged(&[("a", 10)]), &[]);
    report(&desk, "slots", &tagged(&[("a", 10)]), &["--only", "slots"]);
    let found = diff(&desk, "slots", "old");
    assert_eq!((found.get("tags"), found.get("patterns")), (None, None));
    assert_eq!(found["notes"][0], "tags are not compared: slots lacks them");
    for part in ["input", "slots", "nodes", "skew"] {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(part);
        write(&desk, "edited", &without);
        desk.fails("diff", &["old", "edited"], &format!("missing field `{part}`; make it again"));
    }
    for (pointer, value, part) in [
        ("/input/keys", json!(-1), "edited: line 1, column"),
        ("/input/keys", json!("7"), "edited: line 1, column"),
        ("/tags/max_error", json!(null), "edited: line 1, column"),
        ("/tags/top/0/keys", json!(1.5), "edited: line "),
        ("/slots/keys", json!([1, 2]), "slots.keys has 2 numbers"),
        ("/skew/by", json!("ops"), "skew.by is ops, and"),
        ("/skew/by", json!("\u{1b}"), "edited: line 1, column"),
        ("/schema", json!("slotscope.lint/1"), "its schema is \"slotscope.lint/1\"; only slotscope.report/1"),
        ("/schema", json!(7), "it names no schema"),
    ] {
        let mut edited = whole.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        write(&desk, "edited", &edited);
        desk.fails("diff", &["old", "edited"], part);
    }
}

#[test]
fn reports_by_different_metrics_are_not_compared() {
    let desk = Scratch::new();
    let table = "key,size\nuser:{a}:1,100\nuser:{b}:2,300\n";
    report(&desk, "keys", table, &["--by", "keys"]);
    report(&desk, "bytes", table, &["--by", "bytes"]);
    desk.fails("diff", &["keys", "bytes"], "keys and bytes: one is by keys, the other by bytes; make both with");
    let found = diff(&desk, "bytes", "bytes");
    assert_eq!(found["totals"]["bytes"]["new"], 400);
    assert!(desk.run("diff", &["bytes", "bytes"]).out.starts_with("400 B, as before"));
}

#[test]
fn broken_files_are_errors_with_a_place_wherever_they_end() {
    let desk = Scratch::new();
    let whole = report(&desk, "old", &tagged(&[("a", 10)]), &[]).to_string();
    for len in [0, 1, 2, 17, whole.len() / 7, whole.len() / 2, whole.len() - 1] {
        desk.file("cut", &whole.as_bytes()[..len]);
        desk.fails("diff", &["cut", "old"], "cut: line 1, column");
    }
    for text in [
        "[1]",
        "null",
        "{}",
        "{\"schema\": \"slotscope.report/1\"}",
        "\u{0}",
        "not json",
        "{\"schema\": \"\\u001b[2J\"}",
    ] {
        desk.file("other", text.as_bytes());
        let said = desk.run("diff", &["old", "other"]);
        assert!(said.code == 2 && said.err.starts_with("slotscope: other: "), "{text}: {}", said.err);
        assert!(!said.err.contains('\u{1b}'));
    }
    desk.file("deep", "[".repeat(100_000).as_bytes());
    desk.fails("diff", &["old", "deep"], "deep: line 1");
    desk.fails("diff", &["old", "nothing"], "nothing: no such file");
}

#[test]
fn limits_are_held_against_the_diff() {
    let desk = Scratch::new();
    report(&desk, "old", &tagged(&[("grows", 10)]), &[]);
    report(&desk, "new", &tagged(&[("grows", 900)]), &[]);
    let code = |old: &str, new: &str, limit: &str| desk.run("diff", &[old, new, "--fail-on", limit]).code;
    assert_eq!(code("old", "new", "tags.grew[*].at_least > 800"), 1);
    assert_eq!(code("old", "new", "tags.grew[*].at_least > 900"), 0);
    assert_eq!(code("old", "old", "tags.grew[*].at_least > 0"), 0, "nothing grew");
    assert_eq!(code("old", "new", "totals.keys.ratio > 1.4"), 1);
    assert_eq!(code("old", "new", "nodes[*].keys.change > 800"), 1);
    assert_eq!(code("old", "new", "hot[*].share.new > 0.25"), 1);
    assert_eq!(code("old", "new", "totals.bytes.new > 1"), 2, "the reports tell no bytes");
    desk.fails("diff", &["old", "new", "--fail-on", "tags.grown[*].at_least > 0"], "it has: grew,");
}
