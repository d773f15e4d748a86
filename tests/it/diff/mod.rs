//! `diff`: changes between two reports are found, what the bounds leave open is not claimed, and no file makes it
//! panic.

mod coverage;
mod estimates;
mod verdicts;

use testkit::prelude::*;
use testkit::usage;

/// The report of `keys`, made by `analyze`.
fn report(scratch: &Scratch, name: &str, keys: &str, flags: &str) -> Value {
    scratch.file(&format!("{name}.keys"), keys);
    let line = format!("analyze {name}.keys --json --nodes 3 {flags}");
    let made = scratch.report(&line);
    write(scratch, name, &made);
    made
}

fn write(scratch: &Scratch, name: &str, report: &Value) {
    scratch.file(name, report.to_string());
}

fn diff(scratch: &Scratch, old: &str, new: &str) -> Value {
    scratch.report(&["diff", old, new, "--json"])
}

/// `keys` with each tag as often as given.
fn tagged(tags: &[(&str, usize)]) -> String {
    let rest = (0..2000).map(|i| format!("user:{i}\n"));
    let keys = tags
        .iter()
        .flat_map(|(tag, keys)| (0..*keys).map(move |i| format!("app:{{{tag}}}:{i}\n")));
    rest.chain(keys).collect()
}

#[test]
fn what_grew_appeared_vanished_shrank_and_got_hot_is_found() {
    let scratch = Scratch::new();
    let old = [("grows", 10), ("shrinks", 300), ("stays", 5), ("goes", 20)];
    let new = [("grows", 900), ("shrinks", 30), ("stays", 5), ("comes", 40)];
    report(&scratch, "old", &tagged(&old), "");
    report(&scratch, "new", &tagged(&new), "");
    let diff = diff(&scratch, "old", "new");
    let totals = json!({"keys": {"old": 2335, "new": 2975, "change": 640.0}});
    diff.has(json!({"schema": "slotscope.diff/1", "totals": totals}));
    for (list, name, at_least) in [
        ("grew", "grows", 890),
        ("shrank", "shrinks", 270),
        ("appeared", "comes", 40),
        ("vanished", "goes", 20),
    ] {
        let found = diff["tags"][list].each("name at_least");
        assert_eq!(found, json!([[name, at_least]]), "{list}");
    }
    diff["hot"]
        .find("kind", "tag")
        .has(json!({"name": "grows"}));
    assert!(diff["hot"].lists("kind", "slot") && diff["hot"].lists("kind", "node"));
    let state = &diff["verdict"]["state"];
    assert_eq!(*state, json!({"old": "skewed", "new": "skewed"}));
    let prefixes = diff["prefixes"]["grew"].each("name");
    assert_eq!(prefixes, json!(["app:{grows}", "app"]));

    let said = scratch.text("diff old new");
    // The first paragraph is the sentence, wrapped over several lines.
    let first = said.split("\n\n").next().unwrap().replace('\n', " ");
    first
        .begins(
            "still SKEWED; 2,975 keys, 640 keys more than before (+27.4%); the fullest node at ",
        )
        .ends("the tag {grows} grew most, by at least 890 keys");
    said.says("Tags that grew")
        .says("Tags that vanished")
        .says("Got larger: their part of the keys")
        .says("slot ")
        .says("even-1");
}

#[test]
fn a_node_gets_hot_where_it_is_balanced_no_more() {
    let scratch = Scratch::new();
    let mut of = |fullest: u64| {
        let mut made = report(&scratch, "made", &tagged(&[("a", 1000)]), "");
        for (at, keys) in [fullest, 2000 - fullest, 1000].into_iter().enumerate() {
            made["nodes"]["list"][at]["keys"] = json!(keys);
        }
        let name = format!("{fullest}.json");
        write(&scratch, &name, &made);
        name
    };
    let [even, limit, above] = [1000, 1050, 1051].map(&mut of);
    let got_hot = |old: &str, new: &str| diff(&scratch, old, new)["hot"].list().len();
    assert_eq!(got_hot(&even, &limit), 0, "1.05 is balanced");
    assert_eq!(got_hot(&limit, &above), 1);
    assert_eq!(got_hot(&above, &above), 0);
}

#[test]
fn a_report_compared_with_itself_has_not_changed() {
    let scratch = Scratch::new();
    report(&scratch, "old", &tagged(&[("a", 10), ("b", 300)]), "");
    let diff = diff(&scratch, "old", "old");
    for part in ["tags", "prefixes", "patterns"] {
        for list in ["grew", "appeared", "vanished", "shrank", "below_the_list"] {
            assert_eq!(diff[part][list], json!([]), "{part}.{list}");
        }
    }
    assert_eq!((&diff["hot"], &diff["notes"]), (&json!([]), &json!([])));
    scratch
        .text("diff old old")
        .begins("still SKEWED; 2,310 keys, as before; the fullest node at ");
}

#[test]
fn what_the_bounds_leave_open_is_not_claimed() {
    let scratch = Scratch::new();
    let mut made = report(&scratch, "old", &tagged(&[("a", 100)]), "");
    let mut with = |name: &str, max_error: u64, tags: [(&str, u64, u64); 4]| {
        let row = |(tag, keys, error)| json!({"tag": tag, "keys": keys, "keys_error": error, "share": 0.1});
        made["tags"] = json!({"exact": false, "max_error": max_error, "top": tags.map(row)});
        write(&scratch, name, &made);
    };
    // a: 100 to 150 became 150: perhaps the same. b: 100 to 110 became 140. c and d are in only one list.
    with(
        "old",
        5,
        [
            ("a", 100, 50),
            ("b", 100, 10),
            ("c", 90, 0),
            ("light", 55, 0),
        ],
    );
    with(
        "new",
        20,
        [("a", 150, 0), ("b", 140, 3), ("d", 70, 0), ("e", 60, 0)],
    );
    let tags = &diff(&scratch, "old", "new")["tags"];
    // d: 70 is more than 55 + 5, the maximum for an unlisted tag. Whether it is new is unknown.
    assert_eq!(
        tags["grew"].each("name at_least"),
        json!([["b", 30], ["d", 10]])
    );
    assert_eq!(tags["grew"][1]["keys"]["old"], json!(null));
    // c: 90 is more than 60 + 20.
    assert_eq!(tags["shrank"].each("name"), json!(["c"]));
    assert_eq!(tags["below_the_list"].each("name"), json!(["e", "light"]));
    tags.has(json!({"appeared": [], "vanished": []}));
    scratch.text("diff old new").says("not listed");
}

#[test]
fn names_keep_their_spelling_and_a_file_cannot_print_control_bytes() {
    let scratch = Scratch::new();
    let mut old = report(&scratch, "old", &tagged(&[("a", 10)]), "");
    let keys = b"x:{a\\b\x1b[2J\xff}:1\nx:{a\\b\x1b[2J\xff}:2\n";
    scratch.file("nasty.keys", keys);
    let nasty = scratch.report("analyze --json --nodes 3 nasty.keys --format lines");
    write(&scratch, "nasty", &nasty);
    let appeared = diff(&scratch, "old", "nasty")["tags"]["appeared"].each("name");
    assert_eq!(appeared, json!(["a\\\\b\\x1b[2J\\xff"]));
    old["tags"]["top"][0]["tag"] = json!("\u{1b}[2J\u{202e}");
    old["nodes"]["source"] = json!("\u{7}");
    write(&scratch, "old", &old);
    let said = scratch.text("diff old nasty --color never");
    said.lacks("\u{1b}").lacks("\u{202e}").lacks("\u{7}");
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
    let whole = report(&scratch, "old", &tagged(&[("a", 10)]), "");
    report(&scratch, "slots", &tagged(&[("a", 10)]), "--only slots");
    let found = diff(&scratch, "slots", "old");
    assert_eq!((found.get("tags"), found.get("patterns")), (None, None));
    let note = "tags are not compared: not both reports have them";
    assert_eq!(found["notes"][0], note);
    for part in ["input", "slots", "nodes", "verdict"] {
        let mut without = whole.clone();
        without.as_object_mut().unwrap().remove(part);
        write(&scratch, "edited", &without);
        scratch.refuses(&format!(
            "diff old edited | missing field `{part}`; make it again"
        ));
    }
    for [pointer, value, part] in rows(
        r#"/input/keys | -1 | edited: line 1, column
         /input/keys | "7" | edited: line 1, column
         /tags/max_error | null | edited: line 1, column
         /tags/top/0/keys | 1.5 | edited: line\x20
         /slots/keys | [1, 2] | slots.keys has 2 numbers
         /by | "ops" | by is ops, and
         /by | "\\u001b" | edited: line 1, column
         /schema | "slotscope.lint/1" | "slotscope.lint/1"; only slotscope.report/3
         /schema | 7 | it names no schema"#,
    ) {
        let mut edited = whole.clone();
        *edited.pointer_mut(pointer).unwrap() = value.parse().unwrap();
        write(&scratch, "edited", &edited);
        scratch.run("diff old edited").refused(part);
    }
}

#[test]
fn reports_by_different_metrics_are_compared_in_one_that_both_have() {
    let scratch = Scratch::new();
    let table = "key,size\nuser:{a}:1,100\nuser:{b}:2,300\n";
    let mut keys = report(&scratch, "keys", table, "--by keys");
    report(&scratch, "bytes", table, "--by bytes");
    let names_only = "user:{a}:1\nuser:{b}:2\nuser:{b}:3\n";
    report(&scratch, "names", names_only, "");
    for (old, new, by) in [
        ("keys", "bytes", "bytes"),
        ("bytes", "keys", "keys"),
        ("names", "bytes", "keys"),
    ] {
        let found = diff(&scratch, old, new);
        assert_eq!(found["verdict"]["by"], by, "{old}, {new}");
        found["notes"].to_string().says("its tables are by");
    }
    let found = diff(&scratch, "names", "keys");
    assert_eq!(found["tags"]["shrank"].each("name"), json!(["b"]));
    scratch
        .text("diff keys keys --by bytes")
        .says("; 400 B, as before");
    scratch.refuses("diff names bytes --by bytes | --by bytes: names has: keys");
    // A name that the list by another metric leaves out is not claimed to have changed.
    keys["tags"]["top"].as_array_mut().unwrap().pop();
    keys["tags"]["max_error"] = json!(1);
    write(&scratch, "keys", &keys);
    let found = diff(&scratch, "keys", "bytes");
    assert_eq!(found["verdict"]["by"], "bytes");
    assert_eq!(found["tags"]["below_the_list"].list().len(), 1);
    assert_eq!(found["tags"]["grew"], json!([]));
}

#[test]
fn a_directory_is_its_report_json_and_a_poor_input_is_a_note() {
    let scratch = Scratch::with("some.keys", b"a\nb\n");
    scratch.file("empty.keys", b"");
    for (keys, out, ending) in [("some.keys", "old", 0), ("empty.keys", "new", 2)] {
        let said = scratch.run(&["analyze", keys, "--nodes", "3", "--out", out]);
        assert_eq!(code(&said), ending, "{}", stderr(&said));
    }
    let found = diff(&scratch, "old", "new");
    assert_eq!(found["new"], "new/report.json");
    found["notes"].to_string().says("its input has no keys");
    scratch.refuses("diff old . | ./report.json: no such file");
}

#[test]
fn broken_files_are_errors_with_a_place_wherever_they_end() {
    let scratch = Scratch::new();
    let whole = report(&scratch, "old", &tagged(&[("a", 10)]), "").to_string();
    let all = whole.len();
    for len in [1, 2, 17, all / 7, all / 2, all - 1] {
        scratch.file("cut", &whole.as_bytes()[..len]);
        scratch.refuses("diff cut old | cut: line 1, column");
    }
    for text in [
        "[1]",
        "null",
        "",
        "{}",
        "{\"schema\": \"slotscope.report/2\"}",
        "\u{0}",
        "not json",
        "{\"schema\": \"\\u001b[2J\"}",
    ] {
        scratch.file("other", text);
        let said = scratch.run("diff old other");
        assert_eq!(code(&said), 2, "{text}");
        stderr(&said).begins("slotscope: other: ").lacks("\u{1b}");
    }
    scratch.file("deep", "{\"a\":".repeat(100_000).as_bytes());
    scratch.refuses(
        "diff old deep | deep: line 1
         diff old nothing | nothing: no such file",
    );
}

#[test]
fn limits_are_held_against_the_diff() {
    let scratch = Scratch::new();
    report(&scratch, "old", &tagged(&[("grows", 10)]), "");
    report(&scratch, "new", &tagged(&[("grows", 900)]), "");
    for (new, limit, expected) in [
        ("new", "tags.grew[*].at_least > 800", 1),
        ("new", "tags.grew[*].at_least > 900", 0),
        ("old", "tags.grew[*].at_least > 0", 0),
        ("new", "totals.keys.ratio > 1.4", 1),
        ("new", "nodes[*].keys.change > 800", 1),
        ("new", "hot[*].share.new > 0.25", 1),
        // The reports have no bytes.
        ("new", "totals.bytes.new > 1", 2),
    ] {
        let found = code(&scratch.run(&["diff", "old", new, "--fail-on", limit]));
        assert_eq!(found, expected, "{limit}");
    }
    scratch.refuses("diff old new --fail-on 'tags.grown[*].at_least > 0' | it has: grew,");
}

#[test]
fn tens_of_thousands_of_nodes_are_compared_node_by_node_once() {
    let scratch = Scratch::new();
    let mut found = report(&scratch, "old", &tagged(&[("a", 10)]), "");
    let node = found["nodes"]["list"][0].clone();
    let nodes = (0..40_000).map(|i| {
        let mut node = node.clone();
        node["id"] = json!(format!("node-{i}"));
        node
    });
    found["nodes"]["list"] = nodes.collect();
    write(&scratch, "old", &found);
    // Comparing each node with each other node would be 1,600,000,000 comparisons of names.
    let used = usage::of(scratch.bash("exec slotscope diff old old --json >found"));
    assert_eq!(used.code, Some(0), "{}", used.stderr);
    assert!(used.cpu_secs < 30.0, "{} s of CPU time", used.cpu_secs);
    assert_eq!(scratch.json("found")["nodes"].list().len(), 40_000);
}
