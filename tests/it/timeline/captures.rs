//! Captures with and without a burst.

use super::timeline;
use testkit::prelude::*;
use testkit::timeline::{BURST, BURST_RATE, START, capture, seconds};

#[test]
fn a_planted_burst_is_found_with_its_tag_ends_and_share() {
    for seed in 1..=5 {
        let scratch = Scratch::new();
        let seconds = seconds(seed);
        let file = capture(&scratch, "node.monitor", &seconds);
        let found = timeline(&[&file, "--nodes", "3"]);
        let bursts = found["bursts"].list();
        assert_eq!(bursts.len(), 1, "{bursts:?}");
        let burst = &bursts[0];
        assert_eq!(burst["tag"], "hot");
        assert_eq!(
            burst["slot"],
            u64::from(slotscope::slot(b"cart:{hot}:items"))
        );
        let secs = found["bucket_secs"].whole();
        for (end, truth) in [("from", BURST.start), ("to", BURST.end)] {
            let end = burst[end].whole();
            assert!(end.abs_diff(START + truth) <= secs, "{burst}");
        }
        let planted = BURST_RATE * (BURST.end - BURST.start);
        assert!(
            burst["ops"].whole().abs_diff(planted) < planted / 50,
            "{burst}"
        );
        // A third of the other operations are on the same node.
        let share = burst["share"].float();
        assert!((0.77..0.86).contains(&share), "{burst}");
        assert!(burst["times_usual"].float() > 50.0, "{burst}");
    }
}

#[test]
fn all_operations_are_counted_at_their_time() {
    let scratch = Scratch::new();
    let seconds = seconds(3);
    let file = capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&[&file, "--nodes", "6"]);
    let buckets = found["buckets"].list();
    assert_eq!(
        (buckets.len(), &found["bucket_secs"]),
        (300, &Value::from(1))
    );
    for (at, (bucket, lines)) in buckets.iter().zip(&seconds).enumerate() {
        assert_eq!(bucket["from"], START + at as u64);
        assert_eq!(bucket["ops"], lines.len());
    }
    let sum = |lists: &Value, at: usize| -> u64 {
        let lists = lists.list().iter();
        lists.map(|list| list[at].whole()).sum()
    };
    let nodes = found["nodes"].list();
    for (at, lines) in seconds.iter().enumerate() {
        let count = lines.len() as u64;
        assert_eq!(sum(&found["slots"]["ops"], at), count);
        let of_nodes = nodes.iter().map(|node| node["over_time"][at].whole());
        assert_eq!(of_nodes.sum::<u64>(), count);
    }
    let hot = &found["tags"][0];
    assert_eq!(
        (&hot["tag"], &hot["ops"]),
        (&Value::from("hot"), &Value::from(4500))
    );
}

#[test]
fn parts_order_and_threads_change_nothing() {
    let scratch = Scratch::new();
    let seconds = seconds(4);
    let whole = timeline(&[&capture(&scratch, "whole", &seconds), "--threads", "1"]);
    let cuts = [0, 40, 121, 149, 300];
    let parts: Vec<String> = cuts
        .windows(2)
        .map(|cut| {
            capture(
                &scratch,
                &format!("part{}", cut[0]),
                &seconds[cut[0]..cut[1]],
            )
        })
        .collect();
    let reversed: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
    let several = [reversed.as_slice(), &["--threads", "3"]].concat();
    assert_eq!(timeline(&several), whole);
}

#[test]
fn steady_traffic_has_no_burst() {
    for seed in 1..=5 {
        let scratch = Scratch::new();
        let mut seconds = seconds(seed);
        seconds
            .iter_mut()
            .for_each(|lines| lines.retain(|line| !line.contains("{hot}")));
        let found = timeline(&[&capture(&scratch, "node.monitor", &seconds)]);
        assert_eq!(found["bursts"], Value::Array(Vec::new()), "seed {seed}");
    }
}

#[test]
fn a_hot_key_without_a_tag_is_named_and_escaped() {
    let scratch = Scratch::new();
    let mut seconds = seconds(6);
    for (at, lines) in seconds.iter_mut().enumerate().skip(200).take(3) {
        let line = format!(
            "{}.5 [0 10.0.0.7:1] \"GET\" \"<b>\\n\\x1b\"\n",
            START + at as u64
        );
        lines.extend(std::iter::repeat_n(line, 200));
    }
    let file = capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&[&file]);
    let bursts = found["bursts"].list();
    let key = bursts
        .iter()
        .find(|burst| burst.get("key").is_some())
        .unwrap();
    assert_eq!(key["key"], "<b>\\n\\x1b");
    assert_eq!(key["from"], START + 200);
    assert_eq!(key["to"], START + 203);
    let output = slotscope(&["timeline", &file]).output().unwrap();
    let text = stdout(&output);
    assert!(
        text.contains("key <b>\\n\\x1b (slot ") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn more_tags_than_a_table_holds_are_counted_again_on_any_number_of_threads() {
    let scratch = Scratch::new();
    let mut seconds = seconds(12);
    for (at, lines) in seconds.iter_mut().enumerate() {
        let second = START + at as u64;
        let line = |i| format!("{second}.9 [0 h:1] \"GET\" \"u:{{{}}}\"\n", at * 300 + i);
        lines.extend((0..300).map(line));
    }
    let file = capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&[&file, "--threads", "1"]);
    found["tags"][0].has(json!({"tag": "hot", "ops": 4500}));
    assert_eq!(found["bursts"][0]["tag"], "hot");
    assert_eq!(timeline(&[&file, "--threads", "3"]), found);
}

#[test]
fn captures_that_share_no_slot_are_a_node_each() {
    let scratch = Scratch::new();
    let seconds = seconds(13);
    let key_of = |line: &str| line.split('"').nth(3).unwrap().to_owned();
    let of_node = |node: u16| {
        let is_its = |line: &String| slotscope::slot(key_of(line).as_bytes()) / 5462 == node;
        let lines = seconds.iter();
        let lines = lines.map(|lines| lines.iter().filter(|line| is_its(line)).cloned().collect());
        capture(
            &scratch,
            &format!("node-{node}.monitor"),
            &lines.collect::<Vec<_>>(),
        )
    };
    let files = [0, 1, 2].map(of_node);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let found = timeline(&files);
    let nodes = found["nodes"].list();
    let names: Vec<_> = nodes.iter().map(|node| node["name"].text()).collect();
    let expected = ["node-0.monitor", "node-1.monitor", "node-2.monitor"];
    assert_eq!(names, expected);
    let slot = slotscope::slot(b"cart:{hot}:items");
    assert_eq!(
        found["bursts"][0]["node"],
        format!("node-{}.monitor", slot / 5462)
    );
    let share = found["bursts"][0]["share"].float();
    assert!((0.77..0.86).contains(&share), "{share}");
    assert!(timeline(&files[..1]).get("nodes").is_none());
}
