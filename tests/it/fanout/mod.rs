//! fanout as a user runs it, and the first examples that people read.

mod latency;
mod traffic;

use slotscope::topology::Topology;
use slotscope_names::fanout::outcome::BatchOutcome;
use testkit::prelude::*;

use testkit::fanout::answer;

#[test]
fn ten_favourites_in_ten_slots_come_to_one() {
    let scratch = Scratch::new();
    let keys = |user: usize| -> String {
        let keys = (1..=10).map(|i| format!(" favorites:{user}:news{i:03}"));
        keys.collect()
    };
    scratch.file("batches", format!("MGET{}\n", keys(123)));
    let found = scratch.report("fanout batches --json");
    found.has(json!({"schema": "slotscope.fanout/3", "batches": 1, "keys": 10, "crossslot": 1}));
    found["worst"][0].has(json!({"pattern": "favorites:<n>:news<n>", "mean_slots": 10.0}));
    // With the tag from the document they become one batch, served by one node.
    let tagged: Vec<String> = (1..=10)
        .map(|i| format!("favorites:{{fav:123}}:news{i:03}"))
        .collect();
    let found = report(&scratch.piped(
        "fanout --json --deny-crossslot",
        tagged.join(" ").as_bytes(),
    ));
    found.has(json!({"crossslot": 0, "slots_per_batch": {"max": 1}}));
}

#[test]
fn the_batches_of_the_documents_end_as_the_server_ends_them() {
    let topology = Topology::even(3, String::from("even 3")).unwrap();
    let user = |session: &str| {
        let keys = ["profile", "session"].map(|of| format!("user-{of}:{session}"));
        let [profile, session] = keys;
        format!(
            "MULTI\nHSET {profile} name \"king foo\"\nHSET {session} name x\nEXPIRE {session} 7200\nEXEC"
        )
    };
    for (lines, expected) in [
        ("mget name name1 name2 name3", BatchOutcome::Crossslot),
        (
            "mget name {name} {name}1 {name}2 {name}3",
            BatchOutcome::Served,
        ),
        ("RPOPLPUSH my-list my-new-list", BatchOutcome::Crossslot),
        (&user("1234"), BatchOutcome::Crossslot),
        (&user("{1234}"), BatchOutcome::Served),
        ("MGET order:{u1}:1 order:{u2}:1", BatchOutcome::Crossslot),
    ] {
        let batch: Vec<Vec<u8>> = lines.lines().map(|line| line.into()).collect();
        assert_eq!(answer(&topology, &batch), expected, "{lines}");
    }
}

#[test]
fn a_policy_can_bring_batches_together() {
    let scratch = Scratch::with(
        "batches",
        b"MGET user-session:1234 user-profile:1234\nGET order:7\n",
    );
    let found = scratch.report("fanout batches --json --policy regex:user-.*:(?<tag>.+)");
    found.has(json!({"crossslot": 0, "batches": 1, "rejected": {"count": 1}}));
    assert_eq!(found["rejected"]["first"][0]["line"], 2);
}

#[test]
fn crossslot_can_be_denied_and_rejected_lines_are_reported() {
    let scratch = Scratch::with("batches", b"a b\n\nMGET\nEXEC\nMULTI\nGET a\n");
    let denied = scratch.run("fanout batches --nodes 3 --deny-crossslot");
    assert_eq!(code(&denied), 1);
    stdout(&denied)
        .says("3 lines without a batch")
        .says("line 3: MGET takes at least")
        .says("line 4: EXEC without MULTI")
        .says("ends between MULTI and EXEC")
        .says("1 blank line")
        .says("hash tags that keep keys together: slotscope advise --batches batches --nodes 3");
    scratch.refuses("fanout batches --strict | batches: line 3 (byte 5): MGET takes at least");
    let keys = scratch.report("fanout batches --json --batches keys");
    keys.has(json!({"batches": 5, "rejected": {"count": 0}}));
    let commands = scratch.report("fanout batches --json --batches commands");
    commands.has(json!({"rejected": {"count": 3}, "unknown": 1}));
}

#[test]
fn keys_without_commands_are_refused() {
    let scratch = Scratch::with("table", "key,size\nuser:1,100\nuser:2,90\n");
    scratch.file("list", "user:1\nuser:2\nuser:3\n");
    scratch.refuses(
        "fanout table | table: has no commands: | a table of keys | name a MONITOR capture
         fanout list | list: has no commands: | each line is one key | name a MONITOR capture",
    );
    // Lines with the keys of one batch each, one of them with several; grouped by line or by the user's word.
    scratch.file("lines", "user:1 user:2\nuser:3\ncart:1 cart:2\n");
    for line in ["fanout lines --json", "fanout list --json --batches keys"] {
        assert_eq!(scratch.report(line)["batches"], 3);
    }
}

#[test]
fn hostile_keys_reach_the_terminal_escaped() {
    let scratch = Scratch::new();
    let text = scratch.piped(&["fanout"], b"\x1b[2J\xff:1 \x1b[2J\xff:2 \"\\x00\\n\"\n");
    assert!(!stdout(&text).contains('\x1b'), "{:?}", stdout(&text));
    stdout(&text).says("\\x1b[2J\\xff:<n>");
}
