//! Files of nodes that contain the same slots, contain foreign keys, or were written at different times.

use slotscope::Analysis;
use slotscope::slot::slot;
use slotscope::summary::Summary;
use slotscope::summary::integrity::Damage;
use slotscope::summary::state::State;

use crate::verdict::{analyzed, is_balanced, is_damaged, lines};
use testkit::planted::even;
use testkit::rdb::Snapshot;
use testkit::rng::Rng;
use testkit::run::Said;

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
    on_files(files, &Analysis::new())
}

fn on_files(files: Vec<Vec<String>>, analysis: &Analysis) -> Summary {
    let files = files.into_iter().map(|keys| lines(keys.into_iter()));
    analyzed(&files.collect::<Vec<_>>(), analysis)
}

#[test]
fn a_file_with_keys_of_another_cluster_shares_slots_with_files_of_one_node_each() {
    for number in 0..12 {
        let mut random = Rng::new(number);
        let nodes = 3 + random.below(10);
        let mut files = by_node(nodes, 40_000);
        let clean = summary(files.clone());
        is_balanced(&clean);
        assert_eq!(clean.nodes.source.to_string(), "one node a file");
        let suspect = random.below(nodes);
        let foreign = [3, 50, 1_100][number as usize % 3];
        files[suspect].extend((0..foreign).map(|i| format!("other:{number}:{i}")));
        let found = summary(files);
        is_damaged(&found, Damage::Mixed);
        let sentence = found.verdict.sentence.to_string();
        sentence.says(&format!("dump-{suspect}"));
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
    is_damaged(&found, Damage::Mixed);
    let sentence = found.verdict.sentence.to_string();
    sentence.says("are in both dump-0 and dump-2").says("-599 ");
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
    let found = on_files(files, &Analysis::new().topology(even(3)));
    is_damaged(&found, Damage::Foreign);
    assert!(warns(&found, "dump-2: "), "{:?}", found.input.warnings);
}

#[test]
fn parts_of_one_dump_have_no_damage() {
    let keys: Vec<String> = (0..40_000).map(|i| format!("session:{i}")).collect();
    let mut by_slot = keys.clone();
    by_slot.sort_by_key(|key| slot(key.as_bytes()));
    for keys in [keys, by_slot] {
        let parts: Vec<Vec<String>> = keys.chunks(9_001).map(<[String]>::to_vec).collect();
        let found = summary(parts);
        is_balanced(&found);
        assert_eq!(found.nodes.source.to_string(), "assumed even 3");
    }
}

fn warns(summary: &Summary, of: &str) -> bool {
    let mut warnings = summary.input.warnings.iter();
    warnings.any(|warning| warning.to_string().contains(of))
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
    let together = found(600, 0);
    is_balanced(&together);
    assert!(!warns(&together, "was written at"));
    assert_eq!(together.input.files[1].written, Some(u64::from(noon) + 600));
    let hours = found(3 * 3600, 0);
    is_balanced(&hours);
    assert!(warns(&hours, "dump-1 3 hours later, at 2026-09-"));
    let (days, moved) = (found(40 * 86_400, 0), found(0, 600));
    for (summary, said) in [
        (days, "dump-1 40 days later"),
        (moved, "slots moved between the backups"),
    ] {
        assert_eq!(summary.verdict.state, State::Suspicious);
        summary.verdict.sentence.to_string().says(said);
        assert!(!warns(&summary, "SCAN may repeat"));
    }
}
