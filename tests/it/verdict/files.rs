//! Files of nodes that contain the same slots, contain foreign keys, or were written at different times.

use slotscope::Analysis;
use slotscope::slot::slot;
use slotscope::summary::Summary;
use slotscope::summary::integrity::Damage;
use slotscope::summary::state::State;

use crate::verdict::{analyzed, lines};
use testkit::planted::even;
use testkit::rdb::Snapshot;
use testkit::rng::Rng;
use testkit::run::assert_contains;

/// The keys of each of `nodes` equal nodes.
fn by_node(nodes: usize, keys: usize) -> Vec<Vec<String>> {
    let topology = even(nodes);
    let mut own = vec![Vec::new(); nodes];
    for key in (0..keys).map(|i| format!("session:{i}")) {
        own[topology.owner(slot(key.as_bytes())).unwrap()].push(key);
    }
    own
}

fn summary(files: Vec<Vec<String>>) -> Summary {
    let files: Vec<_> = files
        .into_iter()
        .map(|keys| lines(keys.into_iter()))
        .collect();
    analyzed(&files, &Analysis::new())
}

#[test]
fn a_file_with_keys_of_another_cluster_is_named_among_files_of_one_node_each() {
    for number in 0..12 {
        let mut random = Rng::new(number);
        let nodes = 3 + random.below(10);
        let mut files = by_node(nodes, 40_000);
        let clean = summary(files.clone());
        assert_eq!(
            clean.verdict.state,
            State::Balanced,
            "{}",
            clean.verdict.sentence
        );
        assert_eq!(clean.nodes.source.to_string(), "one node a file");
        let suspect = random.below(nodes);
        let foreign = [3, 50, 1_100, 60_000][number as usize % 4];
        files[suspect].extend((0..foreign).map(|i| format!("other:{number}:{i}")));
        let found = summary(files);
        let sentence = found.verdict.sentence.to_string();
        assert_eq!(
            found.verdict.state,
            State::Suspicious,
            "{number}: {sentence}"
        );
        assert_eq!(found.verdict.integrity[0].kind, Damage::Foreign);
        let named = format!("dump-{suspect} holds keys in ");
        assert!(sentence.contains(&named), "{number}: {sentence}");
        assert_eq!(found.nodes.list.len(), nodes, "{number}");
    }
}

#[test]
fn slots_that_moved_between_the_dumps_of_nodes_are_named() {
    let mut files = by_node(3, 60_000);
    let moved = |key: &&String| slot(key.as_bytes()) < 600;
    let again: Vec<String> = files[0].iter().filter(moved).cloned().collect();
    files[2].extend(again);
    let found = summary(files);
    let sentence = found.verdict.sentence.to_string();
    assert_eq!(found.verdict.state, State::Suspicious, "{sentence}");
    assert_eq!(found.verdict.integrity[0].kind, Damage::Mixed);
    assert_contains(&sentence, &["are in both dump-0 and dump-2", "-599 "]);
    assert_eq!(found.nodes.list.len(), 3);
    assert_eq!(found.nodes.source.to_string(), "one node a file");
}

/// Nodes whose slots moved after the topology was listed: most files are of no listed node, and all are of one each.
#[test]
fn a_topology_that_is_older_than_the_files_of_the_nodes_is_suspicious() {
    let owner = |slot: u16| match slot {
        882..1514 | 1876..1878 => 0,
        1514..1876 | 5461..10923 => 1,
        _ => 2,
    };
    let mut files = vec![Vec::new(); 3];
    for key in (0..30_000).map(|i| format!("session:{i}")) {
        files[owner(slot(key.as_bytes()))].push(key);
    }
    let files: Vec<_> = files
        .into_iter()
        .map(|keys| lines(keys.into_iter()))
        .collect();
    let found = analyzed(&files, &Analysis::new().topology(even(3)));
    let sentence = found.verdict.sentence.to_string();
    assert_eq!(found.verdict.state, State::Suspicious, "{sentence}");
    assert_eq!(found.verdict.integrity[0].kind, Damage::Foreign);
    let warnings: Vec<String> = found
        .input
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    assert!(
        warnings.iter().any(|warning| warning.contains("dump-2: ")),
        "{warnings:?}"
    );
}

#[test]
fn parts_of_one_dump_have_no_damage() {
    let keys: Vec<String> = (0..40_000).map(|i| format!("session:{i}")).collect();
    let mut by_slot = keys.clone();
    by_slot.sort_by_key(|key| slot(key.as_bytes()));
    for keys in [keys, by_slot] {
        let parts: Vec<Vec<String>> = keys.chunks(9_001).map(<[String]>::to_vec).collect();
        let found = summary(parts);
        assert_eq!(
            found.verdict.state,
            State::Balanced,
            "{}",
            found.verdict.sentence
        );
        assert_eq!(found.nodes.source.to_string(), "assumed even 3");
    }
}

/// An RDB file with a key in some slots, written at a given time.
fn rdb(slots: impl Fn(u16) -> bool, written: u32) -> Vec<u8> {
    let file = Snapshot {
        written: Some(written),
        headers: false,
    };
    let keys = (0..20_000).map(|i| format!("key:{i:06}"));
    let own = keys.filter(|key| slots(slot(key.as_bytes())));
    file.of(own.map(|key| (key, None)))
}

#[test]
fn rdb_files_of_different_times_are_a_warning_after_an_hour_and_suspicious_after_a_day() {
    let noon = 1_790_000_000;
    let found = |later: u32, moved: u16| {
        let files = [
            rdb(|slot| slot < 8192, noon),
            rdb(|slot| slot >= 8192 - moved, noon + later),
        ];
        analyzed(&files, &Analysis::new())
    };
    let warns = |summary: &Summary, of: &str| {
        let mut warnings = summary.input.warnings.iter();
        warnings.any(|warning| warning.to_string().contains(of))
    };
    let together = found(600, 0);
    assert_eq!(together.verdict.state, State::Balanced);
    assert!(!warns(&together, "was written at"));
    assert_eq!(together.input.files[1].written, Some(u64::from(noon) + 600));
    let hours = found(3 * 3600, 0);
    assert_eq!(hours.verdict.state, State::Balanced);
    assert!(
        warns(&hours, "dump-1 3 hours later, at 2026-09-"),
        "{:?}",
        hours.input.warnings
    );
    let days = found(40 * 86_400, 0);
    assert_eq!(days.verdict.state, State::Suspicious);
    let sentence = days.verdict.sentence.to_string();
    assert!(sentence.contains("dump-1 40 days later"), "{sentence}");
    let moved = found(0, 600);
    assert_eq!(moved.verdict.state, State::Suspicious);
    let sentence = moved.verdict.sentence.to_string();
    assert_contains(&sentence, &["slots moved between the backups"]);
    assert!(
        !warns(&moved, "SCAN may repeat"),
        "{:?}",
        moved.input.warnings
    );
}
