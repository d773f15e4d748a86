//! fanout as a user runs it, and the first examples that people read.

mod traffic;

use slotscope::fanout::outcome::BatchOutcome;
use slotscope::topology::Topology;
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
    let found = scratch.report(&["fanout", "batches", "--json"]);
    found.has(json!({"schema": "slotscope.fanout/3", "batches": 1, "keys": 10, "crossslot": 1}));
    let worst = &found["worst"][0];
    worst.has(json!({"pattern": "favorites:<n>:news<n>", "mean_slots": 10.0}));
    // With the tag from the document they become one batch, served by one node.
    let tagged: Vec<String> = (1..=10)
        .map(|i| format!("favorites:{{fav:123}}:news{i:03}"))
        .collect();
    let found = report(&scratch.piped(
        &["fanout", "--json", "--deny-crossslot"],
        tagged.join(" ").as_bytes(),
    ));
    found.has(json!({"crossslot": 0, "slots_per_batch": {"max": 1}}));
}

#[test]
fn the_batches_of_the_documents_end_as_the_server_ends_them() {
    let topology = Topology::even(3, String::from("even 3")).unwrap();
    let judge = |lines: &[&str]| {
        let lines: Vec<Vec<u8>> = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        answer(&topology, &lines)
    };
    assert_eq!(
        judge(&["mget name name1 name2 name3"]),
        BatchOutcome::Crossslot
    );
    assert_eq!(
        judge(&["mget name {name} {name}1 {name}2 {name}3"]),
        BatchOutcome::Served
    );
    assert_eq!(
        judge(&["RPOPLPUSH my-list my-new-list"]),
        BatchOutcome::Crossslot
    );
    let user = |session: &str| {
        [
            String::from("MULTI"),
            format!("HSET user-profile:{session} username \"king foo\""),
            format!("HSET user-session:{session} username \"king foo\""),
            format!("EXPIRE user-session:{session} 7200"),
            String::from("EXEC"),
        ]
    };
    let judge_user =
        |session: &str| judge(&user(session).iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(judge_user("1234"), BatchOutcome::Crossslot);
    assert_eq!(judge_user("{1234}"), BatchOutcome::Served);
    assert_eq!(
        judge(&["MGET order:{u1}:1 order:{u2}:1"]),
        BatchOutcome::Crossslot
    );
}

#[test]
fn a_policy_can_bring_batches_together() {
    let scratch = Scratch::new();
    scratch.file(
        "batches",
        b"MGET user-session:1234 user-profile:1234\nGET order:7\n",
    );
    let found = scratch.report(&words(
        "fanout batches --json --policy regex:user-.*:(?<tag>.+)",
    ));
    found.has(json!({"crossslot": 0, "batches": 1, "rejected": {"count": 1}}));
    assert_eq!(found["rejected"]["first"][0]["line"], 2);
}

#[test]
fn crossslot_can_be_denied_and_rejected_lines_are_reported() {
    let scratch = Scratch::new();
    scratch.file("batches", b"a b\n\nMGET\nEXEC\nMULTI\nGET a\n");
    let denied = scratch.run(&["fanout", "batches", "--nodes", "3", "--deny-crossslot"]);
    assert_eq!(denied.status.code(), Some(1));
    let text = stdout(&denied);
    text.says("3 lines without a batch")
        .says("line 3: MGET takes at least")
        .says("line 4: EXEC without MULTI")
        .says("ends between MULTI and EXEC")
        .says("1 blank line")
        .says("hash tags that keep keys together: slotscope advise --batches batches --nodes 3");
    scratch.refuses("fanout batches --strict | batches: line 3 (byte 5): MGET takes at least");
    let keys = scratch.report(&["fanout", "batches", "--json", "--batches", "keys"]);
    keys.has(json!({"batches": 5, "rejected": {"count": 0}}));
    let commands = scratch.report(&["fanout", "batches", "--json", "--batches", "commands"]);
    commands.has(json!({"rejected": {"count": 3}, "unknown": 1}));
}

#[test]
fn keys_without_commands_are_refused() {
    let scratch = Scratch::new();
    scratch.file("table", "key,size\nuser:1,100\nuser:2,90\n");
    scratch.file("list", "user:1\nuser:2\nuser:3\n");
    for (file, what) in [
        ("table", "a table of keys"),
        ("list", "each line is one key"),
    ] {
        let place = format!("{file}: has no commands: ");
        let refused = scratch.run(&["fanout", file]);
        assert_fails(&refused, &[&place, what, "name a MONITOR capture"]);
    }
    // Lines with the keys of one batch each, one of them with several; grouped by line or by the user's word.
    scratch.file("lines", "user:1 user:2\nuser:3\ncart:1 cart:2\n");
    for args in [
        &["fanout", "lines", "--json"][..],
        &["fanout", "list", "--json", "--batches", "keys"],
    ] {
        assert_eq!(scratch.report(args)["batches"], 3);
    }
}

#[test]
fn hostile_keys_reach_the_terminal_escaped() {
    let scratch = Scratch::new();
    let text = scratch.piped(&["fanout"], b"\x1b[2J\xff:1 \x1b[2J\xff:2 \"\\x00\\n\"\n");
    assert!(!stdout(&text).contains('\x1b'), "{:?}", stdout(&text));
    stdout(&text).says("\\x1b[2J\\xff:<n>");
}
