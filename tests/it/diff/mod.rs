//! `diff`: changes between two reports are found, what the bounds leave open is not claimed, and no file makes it
//! panic.

mod coverage;

use testkit::prelude::*;
use testkit::usage;

/// The report of `keys`, made by `analyze`.
fn report(scratch: &Scratch, name: &str, keys: &str, flags: &[&str]) -> Value {
    scratch.file(&format!("{name}.keys"), keys.as_bytes());
    let said = scratch.run(
        &[
            &["analyze", &format!("{name}.keys"), "--json", "--nodes", "3"],
            flags,
        ]
        .concat(),
    );
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    scratch.file(name, stdout(&said).as_bytes());
    serde_json::from_str(stdout(&said)).unwrap()
}

fn write(scratch: &Scratch, name: &str, report: &Value) {
    scratch.file(name, report.to_string().as_bytes());
}

fn diff(scratch: &Scratch, old: &str, new: &str) -> Value {
    let said = scratch.run(&["diff", old, new, "--json"]);
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    serde_json::from_str(stdout(&said)).unwrap()
}

/// `keys` with each tag as often as given.
fn tagged(tags: &[(&str, usize)]) -> String {
    let rest = (0..2000).map(|i| format!("user:{i}\n"));
    let keys = tags
        .iter()
        .flat_map(|(tag, keys)| (0..*keys).map(move |i| format!("app:{{{tag}}}:{i}\n")));
    rest.chain(keys).collect()
}

fn names(list: &Value) -> Vec<&str> {
    list.list().iter().map(|row| row["name"].text()).collect()
}

#[test]
fn what_grew_appeared_vanished_shrank_and_got_hot_is_found() {
    let scratch = Scratch::new();
    report(
        &scratch,
        "old",
        &tagged(&[("grows", 10), ("shrinks", 300), ("stays", 5), ("goes", 20)]),
        &[],
    );
    report(
        &scratch,
        "new",
        &tagged(&[("grows", 900), ("shrinks", 30), ("stays", 5), ("comes", 40)]),
        &[],
    );
    let diff = diff(&scratch, "old", "new");
    assert_eq!(diff["schema"], "slotscope.diff/1");
    diff["totals"]["keys"].has(json!({"old": 2335, "new": 2975}));
    assert_eq!(diff["totals"]["keys"]["change"], 640.0);
    for (list, name, at_least) in [
        ("grew", "grows", 890),
        ("shrank", "shrinks", 270),
        ("appeared", "comes", 40),
        ("vanished", "goes", 20),
    ] {
        assert_eq!(names(&diff["tags"][list]), [name], "{list}");
        assert_eq!(diff["tags"][list][0]["at_least"], at_least, "{list}");
    }
    let hot: Vec<_> = diff["hot"]
        .list()
        .iter()
        .map(|hot| (hot["kind"].text(), hot["name"].text()))
        .collect();
    assert!(hot.contains(&("tag", "grows")), "{hot:?}");
    assert!(
        hot.iter().any(|(kind, _)| *kind == "slot") && hot.iter().any(|(kind, _)| *kind == "node"),
        "{hot:?}"
    );
    assert_eq!(
        diff["verdict"]["state"],
        json!({"old": "skewed", "new": "skewed"})
    );
    assert_eq!(names(&diff["prefixes"]["grew"]), ["app:{grows}", "app"]);

    let said = scratch.run(&["diff", "old", "new"]);
    // The first paragraph is the sentence, wrapped over several lines.
    let first = stdout(&said).split("\n\n").next().unwrap();
    let first = first.replace('\n', " ");
    first.begins(
        "2,975 keys, 640 keys more than before (+27.4%); still skewed, the fullest node at ",
    );
    first.ends("the tag {grows} grew most, by at least 890 keys");
    stdout(&said)
        .says("Tags that grew")
        .says("Tags that vanished")
        .says("Got larger: their part of the keys")
        .says("slot ")
        .says("even-1");
}

#[test]
fn a_node_gets_hot_where_it_is_balanced_no_more() {
    let scratch = Scratch::new();
    let mut of = |fullest: u64| {
        let mut made = report(&scratch, "made", &tagged(&[("a", 1000)]), &[]);
        for (at, keys) in [fullest, 2000 - fullest, 1000].into_iter().enumerate() {
            made["nodes"]["list"][at]["keys"] = json!(keys);
        }
        let name = format!("{fullest}.json");
        write(&scratch, &name, &made);
        name
    };
    let [even, limit, above] = [1000, 1050, 1051].map(&mut of);
    let got_hot = |old: &str, new: &str| names(&diff(&scratch, old, new)["hot"]).len();
    assert_eq!(got_hot(&even, &limit), 0, "1.05 is balanced");
    assert_eq!(got_hot(&limit, &above), 1);
    assert_eq!(got_hot(&above, &above), 0);
}

#[test]
fn a_report_compared_with_itself_has_not_changed() {
    let scratch = Scratch::new();
    report(&scratch, "old", &tagged(&[("a", 10), ("b", 300)]), &[]);
    let diff = diff(&scratch, "old", "old");
    for part in ["tags", "prefixes", "patterns"] {
        for list in ["grew", "appeared", "vanished", "shrank", "below_the_list"] {
            assert_eq!(diff[part][list], json!([]), "{part}.{list}");
        }
    }
    assert_eq!((&diff["hot"], &diff["notes"]), (&json!([]), &json!([])));
    let said = scratch.run(&["diff", "old", "old"]);
    stdout(&said).begins("2,310 keys, as before; still ");
}

#[test]
fn what_the_bounds_leave_open_is_not_claimed() {
    let scratch = Scratch::new();
    let mut old = report(&scratch, "old", &tagged(&[("a", 100)]), &[]);
    let mut new = old.clone();
    let row = |tag: &str, keys: u64, error: u64| json!({"tag": tag, "keys": keys, "keys_error": error, "share": 0.1});
    // a: 100 to 150 became 140: perhaps less. b: 100 to 110 became 140. c and d are in only one list.
    let tags =
        |rows: Value, max_error: u64| json!({"exact": false, "max_error": max_error, "top": rows});
    old["tags"] = tags(
        json!([
            row("a", 100, 50),
            row("b", 100, 10),
            row("c", 90, 0),
            row("light", 55, 0)
        ]),
        5,
    );
    new["tags"] = tags(
        json!([
            row("a", 140, 0),
            row("b", 140, 3),
            row("d", 70, 0),
            row("e", 60, 0)
        ]),
        20,
    );
    write(&scratch, "old", &old);
    write(&scratch, "new", &new);
    let diff = diff(&scratch, "old", "new");
    // d: 70 is more than 55 + 5, the maximum for an unlisted tag. Whether it is new is unknown.
    assert_eq!(names(&diff["tags"]["grew"]), ["b", "d"]);
    assert_eq!(diff["tags"]["grew"][0]["at_least"], 30);
    assert_eq!(diff["tags"]["grew"][1]["at_least"], 10);
    assert_eq!(diff["tags"]["grew"][1]["keys"]["old"], json!(null));
    // c: 90 is more than 60 + 20.
    assert_eq!(names(&diff["tags"]["shrank"]), ["c"]);
    assert_eq!(names(&diff["tags"]["below_the_list"]), ["e", "light"]);
    for list in ["appeared", "vanished"] {
        assert_eq!(diff["tags"][list], json!([]), "{list}");
    }
    let said = scratch.run(&["diff", "old", "new"]);
    assert!(stdout(&said).contains("not listed"), "{}", stdout(&said));
}

#[test]
fn names_keep_their_spelling_and_a_file_cannot_print_control_bytes() {
    let scratch = Scratch::new();
    let mut old = report(&scratch, "old", &tagged(&[("a", 10)]), &[]);
    scratch.file(
        "nasty.keys",
        b"x:{a\\b\x1b[2J\xff}:1\nx:{a\\b\x1b[2J\xff}:2\n",
    );
    let dump = ["nasty.keys", "--format", "lines"];
    let said = scratch.run(&[&["analyze", "--json", "--nodes", "3"], &dump[..]].concat());
    scratch.file("nasty", stdout(&said).as_bytes());
    let found = diff(&scratch, "old", "nasty");
    assert_eq!(names(&found["tags"]["appeared"]), ["a\\\\b\\x1b[2J\\xff"]);
    old["tags"]["top"][0]["tag"] = json!("\u{1b}[2J\u{202e}");
    old["nodes"]["source"] = json!("\u{7}");
    write(&scratch, "old", &old);
    let said = scratch.run(&["diff", "old", "nasty", "--color", "never"]);
    assert!(
        code(&said) == 0 && !stdout(&said).contains(['\u{1b}', '\u{202e}', '\u{7}']),
        "{:?}",
        stdout(&said)
    );
    let mut unknown = old.clone();
    unknown["verdict"]["state"] = json!("\u{1b}]0;x");
    write(&scratch, "old", &unknown);
    scratch.refuses("diff old nasty | unknown variant `\\x1b]0;x`");
    old["tags"]["top"][0]["tag"] = json!("a\\q");
    write(&scratch, "old", &old);
    scratch.refuses("diff old nasty | old: line 1, column");
}

#[test]
fn a_missing_optional_part_is_a_note_and_a_missing_required_part_an_error() {
    let scratch = Scratch::new();
    let whole = report(&scratch, "old", &tagged(&[("a", 10)]), &[]);
    report(
        &scratch,
        "slots",
        &tagged(&[("a", 10)]),
        &["--only", "slots"],
    );
    let found = diff(&scratch, "slots", "old");
    assert_eq!((found.get("tags"), found.get("patterns")), (None, None));
    assert_eq!(
        found["notes"][0],
        "tags are not compared: not both reports have them"
    );
    for part in ["input", "slots", "nodes", "verdict"] {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(part);
        write(&scratch, "edited", &without);
        scratch
            .run(&["diff", "old", "edited"])
            .refused(&format!("missing field `{part}`; make it again"));
    }
    for (pointer, value, part) in [
        ("/input/keys", json!(-1), "edited: line 1, column"),
        ("/input/keys", json!("7"), "edited: line 1, column"),
        ("/tags/max_error", json!(null), "edited: line 1, column"),
        ("/tags/top/0/keys", json!(1.5), "edited: line "),
        ("/slots/keys", json!([1, 2]), "slots.keys has 2 numbers"),
        ("/by", json!("ops"), "by is ops, and"),
        ("/by", json!("\u{1b}"), "edited: line 1, column"),
        (
            "/schema",
            json!("slotscope.lint/1"),
            "its schema is \"slotscope.lint/1\"; only slotscope.report/3",
        ),
        ("/schema", json!(7), "it names no schema"),
    ] {
        let mut edited = whole.clone();
        *edited.pointer_mut(pointer).unwrap() = value;
        write(&scratch, "edited", &edited);
        assert_fails(&scratch.run(&["diff", "old", "edited"]), &[part]);
    }
}

#[test]
fn reports_by_different_metrics_are_compared_in_one_that_both_have() {
    let scratch = Scratch::new();
    let table = "key,size\nuser:{a}:1,100\nuser:{b}:2,300\n";
    report(&scratch, "keys", table, &["--by", "keys"]);
    report(&scratch, "bytes", table, &["--by", "bytes"]);
    let names_only = "user:{a}:1\nuser:{b}:2\nuser:{b}:3\n";
    report(&scratch, "names", names_only, &[]);
    for (old, new, by) in [
        ("keys", "bytes", "bytes"),
        ("bytes", "keys", "keys"),
        ("names", "bytes", "keys"),
    ] {
        let found = diff(&scratch, old, new);
        assert_eq!(found["verdict"]["by"], by, "{old}, {new}");
        let notes = found["notes"].to_string();
        assert!(notes.contains("its tables are by"), "{notes}");
    }
    let found = diff(&scratch, "names", "keys");
    assert_eq!(names(&found["tags"]["shrank"]), ["b"]);
    let said = scratch.run(&["diff", "keys", "keys", "--by", "bytes"]);
    assert!(stdout(&said).starts_with("400 B, as before"));
    scratch.refuses("diff names bytes --by bytes | --by bytes: names has: keys");
}

#[test]
fn names_that_a_list_leaves_out_in_another_metric_are_not_claimed_to_have_changed() {
    let scratch = Scratch::new();
    let table = "key,size\nuser:{a}:1,100\nuser:{b}:2,300\n";
    let mut old = report(&scratch, "old", table, &["--by", "keys"]);
    report(&scratch, "new", table, &["--by", "bytes"]);
    old["tags"]["top"].as_array_mut().unwrap().pop();
    old["tags"]["max_error"] = json!(1);
    write(&scratch, "old", &old);
    let found = diff(&scratch, "old", "new");
    assert_eq!(found["verdict"]["by"], "bytes");
    assert_eq!(names(&found["tags"]["below_the_list"]).len(), 1);
    assert_eq!(found["tags"]["grew"], json!([]));
}

#[test]
fn a_directory_is_its_report_json_and_a_poor_input_is_a_note() {
    let scratch = Scratch::new();
    scratch.file("some.keys", b"a\nb\n");
    scratch.file("empty.keys", b"");
    for (keys, out, ending) in [("some.keys", "old", 0), ("empty.keys", "new", 2)] {
        let said = scratch.run(&["analyze", keys, "--nodes", "3", "--out", out]);
        assert_eq!(code(&said), ending, "{}", stderr(&said));
    }
    let found = diff(&scratch, "old", "new");
    assert_eq!(found["new"], "new/report.json");
    assert!(
        found["notes"].to_string().contains("its input has no keys"),
        "{found}"
    );
    scratch.refuses("diff old . | ./report.json: no such file");
}

#[test]
fn broken_files_are_errors_with_a_place_wherever_they_end() {
    let scratch = Scratch::new();
    let whole = report(&scratch, "old", &tagged(&[("a", 10)]), &[]).to_string();
    for len in [
        0,
        1,
        2,
        17,
        whole.len() / 7,
        whole.len() / 2,
        whole.len() - 1,
    ] {
        scratch.file("cut", &whole.as_bytes()[..len]);
        scratch.refuses("diff cut old | cut: line 1, column");
    }
    for text in [
        "[1]",
        "null",
        "{}",
        "{\"schema\": \"slotscope.report/2\"}",
        "\u{0}",
        "not json",
        "{\"schema\": \"\\u001b[2J\"}",
    ] {
        scratch.file("other", text.as_bytes());
        let said = scratch.run(&["diff", "old", "other"]);
        assert!(
            code(&said) == 2 && stderr(&said).starts_with("slotscope: other: "),
            "{text}: {}",
            stderr(&said)
        );
        assert!(!stderr(&said).contains('\u{1b}'));
    }
    scratch.file("deep", "[".repeat(100_000).as_bytes());
    scratch.refuses(
        "diff old deep | deep: line 1
         diff old nothing | nothing: no such file",
    );
}

#[test]
fn limits_are_held_against_the_diff() {
    let scratch = Scratch::new();
    report(&scratch, "old", &tagged(&[("grows", 10)]), &[]);
    report(&scratch, "new", &tagged(&[("grows", 900)]), &[]);
    let exit_code = |old: &str, new: &str, limit: &str| {
        code(&scratch.run(&["diff", old, new, "--fail-on", limit]))
    };
    assert_eq!(exit_code("old", "new", "tags.grew[*].at_least > 800"), 1);
    assert_eq!(exit_code("old", "new", "tags.grew[*].at_least > 900"), 0);
    assert_eq!(
        exit_code("old", "old", "tags.grew[*].at_least > 0"),
        0,
        "nothing grew"
    );
    assert_eq!(exit_code("old", "new", "totals.keys.ratio > 1.4"), 1);
    assert_eq!(exit_code("old", "new", "nodes[*].keys.change > 800"), 1);
    assert_eq!(exit_code("old", "new", "hot[*].share.new > 0.25"), 1);
    assert_eq!(
        exit_code("old", "new", "totals.bytes.new > 1"),
        2,
        "the reports have no bytes"
    );
    scratch.refuses("diff old new --fail-on 'tags.grown[*].at_least > 0' | it has: grew,");
}

#[test]
fn tens_of_thousands_of_nodes_are_compared_node_by_node_once() {
    let scratch = Scratch::new();
    let mut found = report(&scratch, "old", &tagged(&[("a", 10)]), &[]);
    let node = found["nodes"]["list"][0].clone();
    let nodes = (0..40_000).map(|i| {
        let mut node = node.clone();
        node["id"] = json!(format!("node-{i}"));
        node
    });
    found["nodes"]["list"] = nodes.collect();
    write(&scratch, "old", &found);
    // Comparing each node with each other node would be 1,600,000,000 comparisons of names.
    let used = usage::of(scratch.command(&["diff", "old", "old", "--json"]));
    assert_eq!(used.code, Some(0), "{}", used.stderr);
    assert!(used.cpu_secs < 30.0, "{} s of CPU time", used.cpu_secs);
    let diff = diff(&scratch, "old", "old");
    assert_eq!(diff["nodes"].list().len(), 40_000);
}
