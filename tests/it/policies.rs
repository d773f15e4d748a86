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
    let key = "a{'1':{'i32':1}}";
    for (policy, slot) in [("oss", 5540), ("enterprise", 12350)] {
        let said = scratch.text(&["keyslot", "--policy", policy, key]);
        assert_eq!(said, format!("{slot}\t{key}\n"));
    }
    let of = |flags: &str, key: &str| scratch.report(&format!("keyslot --json {flags} {key}"));
    let users = format!("--policy {USERS}");
    let [session, profile] =
        ["user-session:1234", "user-profile:1234"].map(|key| [of(&users, key), of("", key)]);
    session[0].has(json!({"slot": profile[0]["slot"], "tag": "1234"}));
    assert_ne!(session[1]["slot"], profile[1]["slot"]);
}

#[test]
fn keyslot_reads_a_pipe_by_the_policy_and_refuses_a_key_without_a_slot() {
    let scratch = Scratch::new();
    // The tag is at the start of the key; a tag in braces never is.
    let line = "keyslot --policy regex:(?<tag>[^:]+):.* --json";
    let piped = scratch.piped(line, b"user:1\nuser:2\n");
    let tagged = stdout(&piped).matches(r#""slot":5474,"tag":"user""#);
    assert_eq!(tagged.count(), 2, "{}", stdout(&piped));
    let line = format!("keyslot --policy {USERS}");
    let refused = scratch.run(&format!("{line} order:7"));
    refused.refused("key \"order:7\" | no pattern of --policy");
    let refused = scratch.piped(&line, b"user-a:1\norder:7\n");
    assert_eq!(code(&refused), 2);
    stderr(&refused).says("(byte 9): no pattern of --policy matches");
}

#[test]
fn a_key_that_no_pattern_matches_is_counted_and_shown_or_an_error() {
    let scratch = Scratch::with("dump.keys", b"user-a:1\norder:7\nuser-b:1\norder:8\n");
    let line = format!("analyze dump.keys --policy {USERS}");
    let found = scratch.report(&format!("{line} --json"));
    let rejected = json!({"count": 2, "first": [{}, {"line": 4, "byte": 26}]});
    found["input"].has(json!({"keys": 2, "files": [{"keys": 2}], "rejected": rejected}));
    found["tags"]["top"][0].has(json!({"tag": "1", "keys": 2}));
    let strict = scratch.run(&format!("{line} --strict"));
    strict.refused("dump.keys: line 2 (byte 9)");
}

#[test]
fn the_text_names_a_policy_that_is_not_the_usual_one() {
    let scratch = Scratch::with("dump.keys", b"a{'1':{'i32':1}}\n");
    let text = |flags: &str| scratch.prose(&format!("analyze dump.keys --no-files --full {flags}"));
    text("--policy enterprise")
        .says("hashed by --policy enterprise")
        .says("{'i32':1}");
    text("--policy oss").lacks("--policy");
    text("").lacks("--policy");
}

#[test]
fn a_policy_that_cannot_be_used_is_refused_before_anything_is_read() {
    let scratch = Scratch::with("dump.keys", b"a\n");
    scratch.refuses(
        "analyze dump.keys --policy valkey | --policy valkey: | there are: oss, enterprise, regex:PATTERN
         analyze dump.keys --policy regex:(?<tag>.)(?=x) | --policy \"regex:(?<tag>.)(?=x)\" | look-around",
    );
    assert_eq!(scratch.entries("."), ["dump.keys"]);
    // Servers count by their own policy.
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
        let fitting = keys.filter_map(|key| policy.slot(key));
        let fitting = fitting.map(|slot| slots[usize::from(slot)] += 1).count();
        assert_eq!(truth.tally.slots.loads.keys, slots);
        assert_eq!(truth.rejects.count as usize, 30_000 - fitting);
        for (threads, chunk) in [(1, 1 << 12), (2, 1 << 14), (5, 1 << 13)] {
            let found = scan(&policy, threads, chunk, &dump);
            assert!(found.tally == truth.tally, "{values:?}, {threads} threads");
            assert_eq!(found.rejects, truth.rejects);
        }
    }
}
