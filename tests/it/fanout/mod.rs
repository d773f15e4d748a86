//! fanout as a user runs it, and the examples that people read first.

mod traffic;

use slotscope::fanout::outcome::BatchOutcome;
use slotscope::topology::Topology;
use testkit::run::{Scratch, assert_fails, report, stdout};

use testkit::fanout::{answer, findings};

#[test]
fn ten_favourites_in_ten_slots_come_to_one() {
    let scratch = Scratch::new();
    let keys = |user: usize| -> String {
        let keys = (1..=10).map(|i| format!(" favorites:{user}:news{i:03}"));
        keys.collect()
    };
    scratch.file("batches", format!("MGET{}\n", keys(123)));
    let found = report(&scratch.run(&["fanout", "batches", "--json"]));
    assert_eq!(
        (
            &found["schema"],
            &found["batches"],
            &found["keys"],
            &found["crossslot"]
        ),
        (
            &"slotscope.fanout/1".into(),
            &1.into(),
            &10.into(),
            &1.into()
        )
    );
    let worst = &found["worst"][0];
    assert_eq!(
        (&worst["pattern"], &worst["mean_slots"]),
        (&"favorites:<n>:news<n>".into(), &10.0.into())
    );
    // One batch does not justify a tag; a hundred users do.
    assert_eq!(worst["no_suggestion"], "few_batches");
    let users: String = (123..223)
        .map(|user| format!("MGET{}\n", keys(user)))
        .collect();
    scratch.file("batches", users);
    let found = report(&scratch.run(&["fanout", "batches", "--json"]));
    let suggestion = &found["worst"][0]["suggestion"];
    assert_eq!(
        (&suggestion["retag"], &suggestion["mean_slots_after"]),
        (&"favorites:{favorites:<n>}:news<n>".into(), &1.0.into())
    );
    // With the tag of the document they are one batch that a node serves.
    let tagged: Vec<String> = (1..=10)
        .map(|i| format!("favorites:{{fav:123}}:news{i:03}"))
        .collect();
    let found = report(&scratch.piped(
        &["fanout", "--json", "--deny-crossslot"],
        tagged.join(" ").as_bytes(),
    ));
    assert_eq!(
        (&found["crossslot"], &found["slots_per_batch"]["max"]),
        (&0.into(), &1.into())
    );
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
    assert_eq!(judge_user("1234"), BatchOutcome::AbortedByMoved);
    // Where one node owns both slots the commands are queued, and EXEC is the one that is refused.
    let alone = Topology::even(1, String::from("even 1")).unwrap();
    let lines: Vec<Vec<u8>> = user("1234").into_iter().map(String::into_bytes).collect();
    assert_eq!(
        findings(&alone, &lines).answers[BatchOutcome::CrossslotAtExec as usize].batches,
        1
    );
    assert_eq!(judge_user("{1234}"), BatchOutcome::Served);
    assert_eq!(
        judge(&["MGET order:{u1}:1 order:{u2}:1"]),
        BatchOutcome::Crossslot
    );
}

#[test]
fn the_tail_follows_the_nodes_that_batches_touch() {
    let scratch = Scratch::new();
    // Nodes 2, 3, 1 and 1.
    scratch.file("batches", b"name name1 name2 name3\nname\n");
    let found = report(&scratch.run(&["fanout", "batches", "--json", "--slow", "10%"]));
    let tail = &found["tail"];
    assert_eq!(
        (&tail["by_nodes"][1]["nodes"], &tail["by_nodes"][1]["slow"]),
        (&3.into(), &0.271.into())
    );
    assert_eq!(tail["batches_slow"], 0.1855);
    let text = scratch.run(&["fanout", "batches"]);
    assert_eq!(scratch.entries(""), ["batches"]);
    assert!(
        stdout(&text)
            .contains("where one node is slow with probability 1.0%, 2.0% of the batches are"),
        "{}",
        stdout(&text)
    );
}

#[test]
fn a_policy_can_bring_batches_together() {
    let scratch = Scratch::new();
    scratch.file(
        "batches",
        b"MGET user-session:1234 user-profile:1234\nGET order:7\n",
    );
    let found = report(&scratch.run(&[
        "fanout",
        "batches",
        "--json",
        "--policy",
        "regex:user-.*:(?<tag>.+)",
    ]));
    assert_eq!(
        (
            &found["crossslot"],
            &found["batches"],
            &found["rejected"]["count"]
        ),
        (&0.into(), &1.into(), &1.into())
    );
    assert_eq!(found["rejected"]["first"][0]["line"], 2);
}

#[test]
fn crossslot_can_be_denied_and_rejected_lines_are_reported() {
    let scratch = Scratch::new();
    scratch.file("batches", b"a b\n\nMGET\nEXEC\nMULTI\nGET a\n");
    let denied = scratch.run(&["fanout", "batches", "--deny-crossslot"]);
    assert_eq!(denied.status.code(), Some(1));
    let text = stdout(&denied);
    for part in [
        "3 lines without a batch",
        "line 3: MGET takes at least",
        "line 4: EXEC without MULTI",
        "ends between MULTI and EXEC",
        "1 blank line",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    assert_fails(
        &scratch.run(&["fanout", "batches", "--strict"]),
        &["batches: line 3 (byte 5): MGET takes at least"],
    );
    assert_fails(
        &scratch.run(&["fanout", "batches", "--slow", "2"]),
        &["--slow \"2\""],
    );
    let keys = report(&scratch.run(&["fanout", "batches", "--json", "--batches", "keys"]));
    assert_eq!(
        (&keys["batches"], &keys["rejected"]["count"]),
        (&5.into(), &0.into())
    );
    let commands = report(&scratch.run(&["fanout", "batches", "--json", "--batches", "commands"]));
    assert_eq!(
        (&commands["rejected"]["count"], &commands["unknown"]),
        (&3.into(), &1.into())
    );
}

#[test]
fn hostile_keys_reach_the_terminal_escaped() {
    let scratch = Scratch::new();
    let text = scratch.piped(&["fanout"], b"\x1b[2J\xff:1 \x1b[2J\xff:2 \"\\x00\\n\"\n");
    assert!(!stdout(&text).contains('\x1b'), "{:?}", stdout(&text));
    assert!(
        stdout(&text).contains("\\x1b[2J\\xff:<n>"),
        "{:?}",
        stdout(&text)
    );
}
