//! Hash policies as a user meets them: the hashed part, the message on keys without a slot, and independence of how the
//! work is split.

use slotscope::scan::Scanned;
use slotscope::slot::policy::Policy;
use slotscope::tally::{Parts, Tallies};
use testkit::prelude::*;
use testkit::scan::Scanning;

const USERS: &str = "regex:/user-.*:(?<tag>.+)/";

#[test]
fn keyslot_hashes_by_the_policy() {
    let scratch = Scratch::new();
    let slot = |policy: &str, key: &str| {
        stdout(&scratch.run(&["keyslot", "--policy", policy, key])).to_owned()
    };
    assert_eq!(slot("oss", "a{'1':{'i32':1}}"), "5540\ta{'1':{'i32':1}}\n");
    assert_eq!(
        slot("enterprise", "a{'1':{'i32':1}}"),
        "12350\ta{'1':{'i32':1}}\n"
    );
    let both = scratch.run(&[
        "keyslot",
        "--policy",
        USERS,
        "user-session:1234",
        "user-profile:1234",
        "--json",
    ]);
    let tags: Vec<serde_json::Value> = stdout(&both)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(
        (&tags[0]["slot"], &tags[0]["tag"]),
        (&tags[1]["slot"], &"1234".into())
    );
    let usual = scratch.run(&["keyslot", "user-session:1234", "user-profile:1234"]);
    let slots: Vec<_> = stdout(&usual)
        .lines()
        .map(|line| line.split('\t').next().unwrap())
        .collect();
    assert_ne!(slots[0], slots[1], "{slots:?}");
}

#[test]
fn keyslot_reads_a_pipe_by_the_policy_and_refuses_a_key_without_a_slot() {
    let scratch = Scratch::new();
    // The tag is at the start of the key; a tag in braces never is.
    let piped = scratch.piped(
        &["keyslot", "--policy", "regex:(?<tag>[^:]+):.*", "--json"],
        b"user:1\nuser:2\n",
    );
    assert_eq!(
        stdout(&piped)
            .matches(r#""slot":5474,"tag":"user""#)
            .count(),
        2,
        "{}",
        stdout(&piped)
    );
    scratch
        .run(&["keyslot", "--policy", USERS, "order:7"])
        .refused("key \"order:7\" | no pattern of --policy");
    let refused = scratch.piped(&["keyslot", "--policy", USERS], b"user-a:1\norder:7\n");
    assert_eq!(refused.status.code(), Some(2));
    stderr(&refused).says("(byte 9): no pattern of --policy matches");
}

#[test]
fn a_key_that_no_pattern_matches_is_counted_and_shown_or_an_error() {
    let scratch = Scratch::new();
    scratch.file("dump.keys", b"user-a:1\norder:7\nuser-b:1\norder:8\n");
    let found = scratch.report(&["analyze", "dump.keys", "--json", "--policy", USERS]);
    assert_eq!(found["input"]["keys"], 2);
    assert_eq!(found["input"]["files"][0]["keys"], 2);
    assert_eq!(found["input"]["rejected"]["count"], 2);
    assert_eq!(found["input"]["rejected"]["first"][1]["line"], 4);
    assert_eq!(found["input"]["rejected"]["first"][1]["byte"], 26);
    found["tags"]["top"][0].has(json!({"tag": "1", "keys": 2}));
    scratch
        .run(&["analyze", "dump.keys", "--policy", USERS, "--strict"])
        .refused("dump.keys: line 2 (byte 9)");
}

#[test]
fn the_text_names_a_policy_that_is_not_the_usual_one() {
    let scratch = Scratch::new();
    scratch.file("dump.keys", b"a{'1':{'i32':1}}\n");
    let text = |policy: &[&str]| {
        let output =
            scratch.run(&[&["analyze", "dump.keys", "--no-files", "--full"], policy].concat());
        stdout(&output).replace('\n', " ")
    };
    assert!(text(&["--policy", "enterprise"]).contains("hashed by --policy enterprise"));
    assert!(text(&["--policy", "enterprise"]).contains("{'i32':1}"));
    assert!(!text(&["--policy", "oss"]).contains("--policy"));
    assert!(!text(&[]).contains("--policy"));
}

#[test]
fn a_policy_that_cannot_be_used_is_refused_before_anything_is_read() {
    let scratch = Scratch::new();
    scratch.file("dump.keys", b"a\n");
    let analyze = |policy| scratch.run(&["analyze", "dump.keys", "--policy", policy]);
    assert_fails(
        &analyze("valkey"),
        &[
            "--policy valkey: ",
            "there are: oss, enterprise, regex:PATTERN",
        ],
    );
    analyze("regex:(?<tag>.)(?=x)").refused("--policy \"regex:(?<tag>.)(?=x)\" | look-around");
    assert!(scratch.entries("").iter().all(|name| name == "dump.keys"));
}

#[test]
fn server_side_counts_have_the_servers_policy() {
    let scratch = Scratch::new();
    scratch.file("stats.json", br#"[[0,{"key-count":1,"cpu-usec":5}]]"#);
    scratch.refuses("analyze stats.json --policy enterprise | --policy | leave --policy out");
}

/// Keys: a third matches no pattern, a third has its tag at the start, a third in braces.
fn mixed() -> Vec<u8> {
    let key = |i: u32| match i % 3 {
        0 => format!("plain-{i}\n"),
        1 => format!("user-x:{}\n", i % 97),
        _ => format!("{}|cart{{x{}}}\n", i % 89, i % 7),
    };
    (0..30_000).map(key).collect::<String>().into_bytes()
}

fn scan(policy: &Policy, threads: usize, chunk: usize, dump: &[u8]) -> Scanned<Tallies> {
    let scan = Scanning {
        policy,
        ..Scanning::of("lines").cut(threads, chunk)
    };
    scan.dump(dump, || Tallies::new(Parts::All))
}

#[test]
fn counts_by_a_policy_depend_on_no_thread_and_no_cut_and_are_those_of_its_keys() {
    let dump = mixed();
    for values in [vec!["enterprise"], vec![USERS, r"regex:(?<tag>\d+)\|.*"]] {
        let policy = Policy::parse(&values).unwrap();
        let truth = scan(&policy, 1, 1 << 20, &dump);
        let mut slots = vec![0u64; 16384];
        let keys = dump
            .split(|byte| *byte == b'\n')
            .filter(|key| !key.is_empty());
        let fitting = keys
            .filter_map(|key| policy.slot(key))
            .map(|slot| slots[usize::from(slot)] += 1)
            .count();
        assert_eq!(truth.tally.slots.loads.keys, slots);
        assert_eq!(truth.rejects.count as usize, 30_000 - fitting);
        for (threads, chunk) in [(1, 1 << 12), (2, 1 << 14), (5, 1 << 13)] {
            let found = scan(&policy, threads, chunk, &dump);
            assert!(
                found.tally == truth.tally,
                "{values:?}, {threads} threads, chunks of {chunk}"
            );
            assert_eq!(found.rejects, truth.rejects);
        }
    }
}
