//! `tally`, `merge`, `recount`, and `analyze` on their files, as run by a shell.

use std::fs;

use testkit::forms::NODES;
use testkit::prelude::*;

/// Keys of about 5 MB (three chunks), with more tags than a table holds and a heavy one.
fn keys() -> String {
    let key = |i: usize| match i % 10 {
        0 => format!("user:{i}:{{common}}:profile:settings\n"),
        _ => format!("shop:{{cart{}}}:items:of:user:{i}\n", i % 100_003),
    };
    (0..150_000).map(key).collect()
}

/// The tags of `keys`, and two others.
const DISTINCT: usize = 95_005;

/// Compares a report from tally files with that from the dumps, which counts every tag: the sections that do not depend
/// on tags, and the heaviest tag.
fn are_alike(of_tallies: &Value, of_dumps: &Value) {
    let sections = of_dumps.as_object().unwrap().keys();
    let counted = ["tags", "tag_sizes", "nodes", "verdict", "slots"];
    for section in sections.filter(|section| !counted.contains(&section.as_str())) {
        assert_eq!(of_tallies[section], of_dumps[section], "{section}");
    }
    for of in [&of_tallies, &of_dumps] {
        assert_eq!(of["slots"]["keys"], of_dumps["slots"]["keys"]);
        assert_eq!(of["nodes"]["list"], of_dumps["nodes"]["list"]);
        assert_eq!(of["tags"]["top"][0], of_dumps["tags"]["top"][0]);
        assert_eq!(of["tags"]["tagged_keys"], of_dumps["tags"]["tagged_keys"]);
    }
}

/// The report of `analyze` on these inputs.
fn analyzed(scratch: &Scratch, inputs: &str) -> Value {
    let mut report = scratch.report(&format!("analyze {inputs} --no-files --json"));
    report.as_object_mut().unwrap().remove("run").unwrap();
    report
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn parts_and_a_second_pass_give_the_report_of_the_dumps() {
    let scratch = Scratch::with("a.keys", keys());
    scratch.file("b.keys", "{x}1\n{y}2\n");
    for part in ["1/3", "2/3", "3/3"] {
        scratch.text(&format!(
            "tally a.keys b.keys --part {part} -o {}.tally",
            &part[..1]
        ));
    }
    scratch.refuses(
        "analyze 3.tally 1.tally 2.tally --no-files | heavy names | slotscope recount --for
         recount --for 1.tally -o x | missing: 2/3, 3/3",
    );
    scratch.text("merge 2.tally 3.tally 1.tally -o all.tally");
    for part in ["1/2", "2/2"] {
        let line = format!(
            "recount --for all.tally --part {part} -o {}.again",
            &part[..1]
        );
        scratch.text(&line);
    }
    scratch.refuses("analyze all.tally 1.again --no-files | missing: 2/2 | slotscope recount");
    scratch.text("tally a.keys b.keys -o one.tally");
    scratch.text("recount --for one.tally -o one.again");
    let expected = analyzed(&scratch, "one.tally one.again");
    assert_eq!(analyzed(&scratch, "all.tally 2.again 1.again"), expected);
    scratch.text("merge 1.again 2.again -o all.again");
    assert_eq!(analyzed(&scratch, "all.again all.tally"), expected);
    let whole = analyzed(&scratch, "a.keys b.keys");
    are_alike(&expected, &whole);
    assert_eq!(whole["tags"]["distinct"], DISTINCT);
    // Nodes are chosen when reporting.
    let six = analyzed(&scratch, "all.tally all.again --nodes 6");
    are_alike(&six, &analyzed(&scratch, "a.keys b.keys --nodes 6"));
    let slots = analyzed(&scratch, "all.tally --only slots");
    assert_eq!(slots["slots"]["keys"], expected["slots"]["keys"]);

    scratch.text("tally b.keys -o b.tally");
    scratch.refuses(
        "recount --for b.tally -o x | nothing to recount
         analyze b.tally all.again --no-files | leave it out
         analyze all.again --no-files | is missing next to the files of recount
         merge all.tally all.again -o x | are merged apart",
    );
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn parts_that_do_not_belong_together_are_refused_with_the_reason() {
    let scratch = Scratch::with("a.keys", keys());
    scratch.file("b.keys", "{x}1\n{y}2\n");
    scratch.text("tally a.keys --part 1/2 -o 1.tally");
    scratch.text("tally a.keys --part 2/2 -o 2.tally");
    scratch.text("tally a.keys -o whole.tally");
    scratch.text("tally a.keys --part 2/2 --depth 0 -o depth.tally");
    scratch.text("tally b.keys --part 2/2 -o other.tally");
    scratch.refuses(
        "merge 1.tally 1.tally -o x | counted twice
         merge whole.tally 2.tally -o x | counted twice
         analyze 1.tally --no-files | a.keys | missing: 2/2 | slotscope tally
         merge 1.tally depth.tally -o x | depth.tally: --depth | the same flags
         merge 1.tally other.tally -o x | other.tally: INPUT | same
         analyze 1.tally a.keys --no-files | a.keys: is not a tally file
         analyze whole.tally --db 3 --no-files | --db | slotscope tally
         analyze whole.tally --policy enterprise --no-files | --policy
         analyze whole.tally --separator / --no-files | --separator
         lint whole.tally | a tally file of slotscope",
    );

    fs::write(scratch.path("a.keys"), keys() + "one more\n").unwrap();
    scratch.text("tally a.keys --part 2/2 -o later.tally");
    scratch.refuses(
        "merge 1.tally later.tally -o x | a.keys | another size or time | cp -p
         recount --for whole.tally -o x | a.keys | another size or time",
    );
    assert!(!scratch.path("x").exists());
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn nodes_of_a_listing_are_in_the_file() {
    let scratch = Scratch::with("nodes", NODES);
    scratch.file("a.keys", "a\nb\n");
    scratch.text("tally a.keys --topology nodes -o with.tally");
    scratch.text("tally a.keys -o without.tally");
    let expected = analyzed(&scratch, "a.keys --topology nodes");
    assert_eq!(analyzed(&scratch, "with.tally"), expected);
    assert_eq!(analyzed(&scratch, "with.tally --topology nodes"), expected);
    scratch.refuses(
        "analyze with.tally --nodes 3 --no-files | --topology | leave
         analyze without.tally --topology nodes --no-files | slotscope tally the same",
    );
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_pipe_is_counted_in_one_pass_and_what_is_not_ours_is_not_replaced() {
    let scratch = Scratch::new();
    let output = scratch.piped("tally -o pipe.tally", keys().as_bytes());
    assert_eq!(code(&output), 0);
    assert_eq!(analyzed(&scratch, "pipe.tally")["input"]["keys"], 150_000);
    scratch.file("a.keys", "a\n");
    scratch.file("mine", "not yours");
    scratch.refuses(
        "tally a.keys -o a.keys | would replace this input
         tally a.keys -o mine | did not write this file",
    );
    scratch.text("tally a.keys -o pipe.tally");
    assert_eq!(analyzed(&scratch, "pipe.tally")["input"]["keys"], 1);
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn names_are_redacted_in_a_report_of_a_tally_file() {
    let scratch = Scratch::with("secret.keys", "{secret}1\n{secret}2\n");
    scratch.text("tally secret.keys -o all.tally");
    let report = analyzed(&scratch, "all.tally --redact").to_string();
    assert!(!report.contains("secret"), "{report}");
}
