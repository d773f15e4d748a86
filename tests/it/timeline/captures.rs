//! Captures with and without a burst.

use super::timeline;
use testkit::prelude::*;
use testkit::timeline::{BURST, BURST_RATE, START, capture, hot_key, seconds};

#[test]
fn a_planted_burst_is_found_with_its_tag_ends_and_share() {
    for seed in 1..=5 {
        let scratch = Scratch::new();
        let seconds = seconds(seed);
        capture(&scratch, "node.monitor", &seconds);
        let found = timeline(&scratch, "node.monitor --nodes 3");
        assert_eq!(found["bursts"].each("tag"), json!(["hot"]));
        let burst = &found["bursts"][0];
        assert_eq!(burst["slot"], slotscope::slot(b"cart:{hot}:items"));
        let secs = found["bucket_secs"].whole();
        for (end, truth) in [("from", BURST.start), ("to", BURST.end)] {
            let end = burst[end].whole();
            assert!(end.abs_diff(START + truth) <= secs, "{burst}");
        }
        let planted = (BURST_RATE * (BURST.end - BURST.start)) as f64;
        near(burst["ops"].float(), planted, planted / 50.0);
        // A third of the other operations are on the same node.
        near(burst["share"].float(), 0.815, 0.045);
        assert!(burst["times_usual"].float() > 50.0, "{burst}");
    }
}

#[test]
fn all_operations_are_counted_at_their_time() {
    let scratch = Scratch::new();
    let seconds = seconds(3);
    capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&scratch, "node.monitor --nodes 6");
    let buckets = found["buckets"].list();
    assert_eq!((buckets.len(), &found["bucket_secs"]), (300, &1.into()));
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
    found["tags"][0].has(json!({"tag": "hot", "ops": 4500}));
}

#[test]
fn parts_order_and_threads_change_nothing() {
    let scratch = Scratch::new();
    let seconds = seconds(4);
    capture(&scratch, "whole", &seconds);
    for (from, to) in [(0, 40), (40, 121), (121, 149), (149, 300)] {
        capture(&scratch, &format!("part{from}"), &seconds[from..to]);
    }
    let whole = timeline(&scratch, "whole --threads 1");
    let several = "part149 part121 part40 part0 --threads 3";
    assert_eq!(timeline(&scratch, several), whole);
}

#[test]
fn steady_traffic_has_no_burst() {
    for seed in 1..=5 {
        let scratch = Scratch::new();
        let mut seconds = seconds(seed);
        for lines in &mut seconds {
            lines.retain(|line| !line.contains("{hot}"));
        }
        capture(&scratch, "node.monitor", &seconds);
        let found = timeline(&scratch, "node.monitor");
        assert_eq!(found["bursts"], json!([]), "seed {seed}");
    }
}

#[test]
fn a_hot_key_without_a_tag_is_named_and_escaped() {
    let scratch = Scratch::new();
    let mut seconds = seconds(6);
    hot_key(&mut seconds, "<b>\\n\\x1b");
    capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&scratch, "node.monitor");
    let key = found["bursts"].find("key", "<b>\\n\\x1b");
    key.has(json!({"from": START + 200, "to": START + 203}));
    let text = scratch.text("timeline node.monitor");
    text.says("key <b>\\n\\x1b (slot ").lacks("\u{1b}");
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
    capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&scratch, "node.monitor --threads 1");
    let hot = json!([{"tag": "hot"}]);
    found.has(json!({"tags": [{"tag": "hot", "ops": 4500}], "bursts": hot}));
    assert_eq!(timeline(&scratch, "node.monitor --threads 3"), found);
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
        let lines: Vec<Vec<String>> = lines.collect();
        capture(&scratch, &format!("node-{node}.monitor"), &lines);
    };
    (0..3).for_each(of_node);
    let files = ["node-0.monitor", "node-1.monitor", "node-2.monitor"];
    let found = timeline(&scratch, &files.join(" "));
    assert_eq!(found["nodes"].each("name"), json!(files));
    let slot = slotscope::slot(b"cart:{hot}:items");
    let burst = &found["bursts"][0];
    assert_eq!(burst["node"], files[usize::from(slot / 5462)]);
    near(burst["share"].float(), 0.815, 0.045);
    assert!(timeline(&scratch, files[0]).get("nodes").is_none());
}

#[test]
fn the_table_has_a_row_for_each_name_and_bucket() {
    let scratch = Scratch::new();
    capture(&scratch, "node.monitor", &seconds(3));
    let found = timeline(&scratch, "node.monitor --nodes 3");
    let table = scratch.text("timeline node.monitor --nodes 3 --csv");
    table.begins("of,name,from,ops\n");
    let total = |of: &str| -> u64 {
        let rows = table.lines().filter(|row| row.starts_with(of));
        rows.map(|row| row.rsplit_once(',').unwrap().1.parse::<u64>().unwrap())
            .sum()
    };
    assert_eq!([total("total,"), total("node,")], [found["ops"].whole(); 2]);
    let hot = &found["tags"][0];
    assert_eq!(total("tag,hot,"), hot["ops"].whole());
}
