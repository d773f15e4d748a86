//! Text written by users or other programs: node listings, reports, rules, patterns.

use std::sync::LazyLock;

use serde_json::Value;
use slotscope::name::Name;
use slotscope::report::render::json;
use slotscope::slot::SLOTS;
use slotscope::slot::policy::Policy;
use slotscope::topology::Topology;
use slotscope_history::capacity::{History, Options};
use slotscope_history::diff::Diff;
use slotscope_history::diff::report::Report;
use slotscope_names::lint::NamingRules;

/// CLUSTER NODES, nodes.conf, CLUSTER SHARDS and CLUSTER SLOTS.
pub const TOPOLOGIES: &[&[u8]] = &[
    b"aa 10.0.0.1:7000@17000,host myself,master - 0 0 1 connected 0-5460 [5460->-bb]\nbb 10.0.0.2:7000@17000 master - 0 0 2 connected 5461-16383 [5460-<-aa]\ncc [::1]:7000@17000 slave aa 0 0 1 connected\n",
    b"aa 10.0.0.1:7000@17000 myself,master - 0 0 1 connected 0 2-4 16383\nbb :0@0 master,fail,noaddr - 1 1 2 disconnected\nvars currentEpoch 6 lastVoteEpoch 0\n",
    br#"[{"slots":[0,16383],"nodes":[{"id":"aa","port":7000,"ip":"10.0.0.1","endpoint":"10.0.0.1","role":"master","replication-offset":0,"health":"online"}]}]"#,
    br#"[["slots",[0,100,200,16383],"nodes",[["id","aa","port",7000,"ip","10.0.0.1","endpoint","h\u0065","role","master","health","online"]]]]"#,
    br#"[[0,100,["10.0.0.1",7000,"aa",[]],["10.0.0.2",7000,"bb",["hostname","h"]]],[101,16383,[null,7001,"cc",[]]]]"#,
];

/// An accepted listing has one owner per slot, by every way to ask for it; a refusal is short.
pub fn topology(bytes: &[u8]) -> bool {
    let topology = match Topology::parse("nodes", bytes) {
        Ok(topology) => topology,
        Err(error) => {
            let message = error.to_string();
            assert_refusal(&message, "nodes: ");
            assert!(message.len() < 600, "{message}");
            return false;
        }
    };
    let mut owned = vec![0u32; topology.nodes.len()];
    for slot in 0..SLOTS as u16 {
        let Some(node) = topology.owner(slot) else {
            continue;
        };
        owned[node] += 1;
        let ranges = &topology.nodes[node].ranges;
        assert!(ranges.iter().any(|(a, b)| (*a..=*b).contains(&slot)));
    }
    for (node, owned) in topology.nodes.iter().zip(owned) {
        assert_eq!(node.slots, owned, "{}", Name::from(node.id.as_str()));
    }
    true
}

/// A committed report, shortened: few rows in each list, and `SLOTS` instead of 16384 counts.
static REPORT: LazyLock<String> = LazyLock::new(|| {
    let text = include_str!("../../../reports/samples/hot-tag/report.json");
    let mut report = serde_json::from_str(text).expect("a committed report is JSON");
    shorten(&mut report);
    report.to_string()
});

fn shorten(value: &mut Value) {
    match value {
        Value::Array(counts) if counts.len() == SLOTS => *value = Value::from(vec!["SLOTS"]),
        Value::Array(rows) => {
            rows.truncate(2);
            rows.iter_mut().for_each(shorten);
        }
        Value::Object(members) => members.values_mut().for_each(shorten),
        _ => {}
    }
}

pub fn reports() -> Vec<&'static [u8]> {
    vec![REPORT.as_bytes()]
}

/// Parses a report after filling in its slots.
fn parse_report(text: &str) -> slotscope::error::Result<Report> {
    static COUNTS: LazyLock<String> = LazyLock::new(|| vec!["1"; SLOTS].join(","));
    let text = text.replacen("\"SLOTS\"", &COUNTS, 2);
    let file = Name::from("report");
    let summary = json::read(&file, text.as_bytes())?;
    Report::new(file, summary)
}

/// An accepted report can be compared with itself and any other, and be part of any review.
pub fn report(bytes: &[u8]) -> bool {
    static OTHER: LazyLock<Report> =
        LazyLock::new(|| parse_report(&REPORT).expect("the seed is a report"));
    let Ok(Ok(found)) = str::from_utf8(bytes).map(parse_report) else {
        return false;
    };
    for (old, new) in [(&found, &*OTHER), (&OTHER, &found), (&found, &found)] {
        Diff::of(old, new, None).expect("two reports can be compared");
    }
    let month = |number: u64| number * 30 * 86_400;
    let mut history = History::new(Options {
        maxmemory: Some(1 << 30),
        with_doubtful: true,
        force: true,
        ..Options::default()
    });
    for (number, report) in (0..).zip([&*OTHER, &found, &found, &*OTHER]) {
        let (file, summary) = (report.file.clone(), report.summary.clone());
        history
            .add(file, summary, month(number))
            .expect("an accepted report is taken in");
    }
    let review = history
        .review()
        .expect("reports of different dates can be reviewed");
    serde_json::to_string(&review).expect("a review has a JSON form");
    true
}

/// slotscope.toml.
pub const LINT_CONFIGS: &[&[u8]] = &[
    b"namespace = '^(prod|test):'\ntag = '^[a-z]+:'\nglobal-tags = [\"common\", '*']\nallow = ['^tmp:']\n[severity]\nenterprise-tag = \"error\"\n[limits]\ntag-share = 0.05\nexamples = 5\n[[rule]]\nid = \"own\"\nmust-match = '^a'\nseverity = \"info\"\nwhat = \"x\"\n",
    b"[[rule]]\nid = 'b'\nmust-not-match = '(?i)[[:space:]]{1,9}'\n",
    b"",
];

/// A refusal is one line with the name of the file.
fn assert_refusal(message: &str, place: &str) {
    assert!(message.starts_with(place), "{message:?}");
    assert!(!message.contains(char::is_control), "{message:?}");
}

pub fn lint_config(bytes: &[u8]) -> bool {
    let Ok(text) = str::from_utf8(bytes) else {
        return false;
    };
    match NamingRules::parse(&Name::from("slotscope.toml"), text) {
        Ok(_) => true,
        Err(error) => {
            assert_refusal(&error.to_string(), "slotscope.toml: ");
            false
        }
    }
}

/// One policy per line, an empty line, then keys.
pub const POLICIES: &[&[u8]] = &[
    b"regex:/user-.*:(?<tag>.+)/\nregex:(?<tag>\\d+)\\|.*\n\nuser-session:1234\n7|x\n{a}\n",
    b"oss\n\n{user}:1\n{}x\n\xff\x00{a}\n",
    b"enterprise\n\na{'1':{'i32':1}}\n{a}{b}\n",
    b"regex:/(?<tag>)|a(?<x>.)/\n\n\na\n",
];

/// Patterns are the user's: for any pattern, the tag of a key lies in the key, and its slot is that of the tag's bytes.
pub fn policy(bytes: &[u8]) -> bool {
    let mut lines = bytes.split(|byte| *byte == b'\n');
    let values = lines.by_ref().take_while(|line| !line.is_empty());
    let Ok(values) = values.map(str::from_utf8).collect::<Result<Vec<_>, _>>() else {
        return false;
    };
    let policy = match Policy::parse(&values) {
        Ok(policy) => policy,
        Err(error) => {
            assert_refusal(&error.to_string(), "--policy");
            return false;
        }
    };
    for key in lines {
        let part = policy.hashed_part(key).map(|part| &key[part]);
        let slot = part.map(slotscope::slot::slot_of_part);
        assert_eq!(policy.slot(key), slot, "{}", key.escape_ascii());
    }
    true
}
