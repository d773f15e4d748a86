//! Facts and gaps of a collection, according to its manifest.

use std::collections::BTreeMap;

use slotscope_base::name::Name;
use slotscope_base::redact::Redaction;
use slotscope_base::text::{counted, grouped, percent};
use slotscope_model::{FileFacts, Incomplete, InputFacts};
use slotscope_read::format::parse::time::timestamp;
use slotscope_read::format::slot_stats;
use slotscope_read::source::collection::Collection;
use slotscope_read::source::collection::manifest::{
    FILE, HeaviestBy, Level, Manifest, NodeEntry, SLOT_STATS_FILE,
};
use slotscope_read::source::collection::servers::Role;

use crate::pipeline::strays;

/// Up to this many open slots, a hundredth of all, do not make a collection incomplete.
const FEW_OPEN: u64 = 163;

/// Adds the facts of collections to `input`; with a redaction, sentences contain no names.
pub(crate) fn remark(
    collections: &[Collection],
    redaction: Option<&Redaction>,
    input: &mut InputFacts,
) {
    for collection in collections {
        let manifest = &collection.manifest;
        let finished = timestamp(manifest.finished.as_bytes()).map(|at| at / 1000);
        input.written = input.written.max(finished);
        input.sample_percent = sampled(manifest).or(input.sample_percent);
        let estimated = [estimated_above(manifest), input.estimated_above];
        input.estimated_above = estimated.into_iter().flatten().min();
        if lacks_open_slots_alone(manifest) {
            input.warnings.extend(missing(manifest, redaction));
        } else {
            let stops = incomplete_of(collection, redaction);
            input.incomplete.extend(stops);
        }
        note_captures(collection, &mut input.files);
        let lacking = lacking_rows(collection, &input.files);
        input.incomplete.extend(lacking);
        if manifest.level != Level::Slots {
            let lost = lost_side_files(collection, &input.files);
            input.incomplete.extend(lost);
        }
        let warnings = warnings(manifest, redaction).into_iter();
        input.warnings.extend(warnings);
        input.notes.extend(notes(manifest));
        // The description of a skipped part may contain names.
        let parts = manifest.skipped.iter().filter(|_| redaction.is_none());
        let skipped = parts.map(|part| format!("not collected: {}", Name::from(part.as_str())));
        input.notes.extend(skipped);
    }
}

/// Notes how long captures are: one without a command is of an idle node.
fn note_captures(collection: &Collection, files: &mut [FileFacts]) {
    let monitor = collection
        .manifest
        .load
        .iter()
        .flat_map(|load| &load.monitor);
    for node in monitor.flat_map(|monitor| &monitor.nodes) {
        let name = Name::from(collection.directory.join(&node.file).as_path());
        if let Some(file) = files.iter_mut().find(|file| file.name == name) {
            file.captured = Some((Name::from(node.name.as_str()), node.secs));
        }
    }
}

/// The percentage of slots that were read, where these are not all.
fn sampled(manifest: &Manifest) -> Option<f64> {
    Some(manifest.settings.sample_percent).filter(|percent| *percent < 100.0)
}

/// The elements above which servers estimated sizes, if they gave any.
fn estimated_above(manifest: &Manifest) -> Option<u64> {
    let has_sizes = manifest.level == Level::Sizes && !manifest.without_sizes;
    has_sizes.then_some(manifest.settings.exact_elements)
}

/// The parts missing from collections.
pub fn incomplete(collections: &[Collection]) -> Vec<Incomplete> {
    let stops = |collection| incomplete_of(collection, None);
    collections.iter().flat_map(stops).collect()
}

/// The parts missing from a collection.
fn incomplete_of(collection: &Collection, redaction: Option<&Redaction>) -> Vec<Incomplete> {
    let stop = |reason| Incomplete {
        file: Name::from(collection.directory.join(FILE).as_path()),
        byte: 0,
        reason,
    };
    let reasons = missing(&collection.manifest, redaction).into_iter();
    reasons.map(stop).collect()
}

/// Whether only keys of slots that are open are missing, and these are few: an open slot costs that slot.
fn lacks_open_slots_alone(manifest: &Manifest) -> bool {
    let missing = slots(&manifest.slots_missing);
    let has_failed = manifest.nodes.iter().any(|node| node.error.is_some());
    (1..=FEW_OPEN).contains(&missing) && missing == slots(&manifest.slots_open) && !has_failed
}

/// The gaps of a collection and their reasons, in words.
pub fn missing(manifest: &Manifest, redaction: Option<&Redaction>) -> Vec<String> {
    let open = manifest.open_slots();
    let missing: u64 = slots(&manifest.slots_missing);
    let are_all_open = missing > 0 && missing == slots(&manifest.slots_open);
    let nodes = manifest.nodes.iter().filter(|node| !node.complete);
    // For a node with only open slots missing, there is nothing to add.
    let failed = nodes.filter(|node| !are_all_open || node.error.is_some());
    let reasons = failed.map(|node| failure(node, redaction));
    let mut all: Vec<String> = open.into_iter().chain(reasons).collect();
    if missing > 0 && !are_all_open {
        all.push(format!(
            "slots that could not be read to their end, whose keys are missing: {}",
            grouped(missing)
        ));
    }
    if manifest.incomplete && all.is_empty() {
        all.push("keys may be missing; collect again".into());
    }
    all
}

/// Files of the load that the manifest says were written, and that are not there or hold something else.
fn lost_side_files(collection: &Collection, files: &[FileFacts]) -> Vec<Incomplete> {
    let load = collection.manifest.load.iter();
    let series = load.clone().filter(|load| load.nodes_by_slot > 0);
    let captures = load
        .flat_map(|load| &load.monitor)
        .flat_map(|monitor| &monitor.nodes)
        .filter(|node| node.commands > 0);
    let series = series.map(|_| (SLOT_STATS_FILE, "counts by slot"));
    let captures = captures.map(|node| (node.file.as_str(), "commands"));
    let lost = |(file, what): (&str, &str)| {
        let path = collection.directory.join(file);
        let name = Name::from(path.as_path());
        let is_read = |facts: &FileFacts| {
            facts.name == name && (facts.is_capture || facts.format == slot_stats::NAME)
        };
        let reason =
            format!("{FILE} says that {what} were written to it, and it has none; collect again");
        (!files.iter().any(is_read)).then_some(Incomplete {
            file: name,
            byte: 0,
            reason,
        })
    };
    series.chain(captures).filter_map(lost).collect()
}

/// Files with fewer keys than were written to them: a compressed file cut between two frames, or a file of another run,
/// looks complete.
fn lacking_rows(collection: &Collection, files: &[FileFacts]) -> Vec<Incomplete> {
    let mut written = BTreeMap::<&str, u64>::new();
    for node in &collection.manifest.nodes {
        if let Some(file) = &node.file {
            let keys = written.entry(file).or_default();
            *keys = keys.saturating_add(node.keys);
        }
    }
    let differing = |(file, written): (&str, u64)| {
        let file = Name::from(collection.directory.join(file).as_path());
        let read = files.iter().find(|facts| facts.name == file)?;
        // Keys excluded by a filter count as present.
        let keys = read.keys.saturating_add(read.left_out);
        let reason = format!(
            "{} in place of the {} that {FILE} says; collect again",
            counted(keys, "key"),
            grouped(written)
        );
        (keys != written).then_some(Incomplete {
            file,
            byte: read.bytes,
            reason,
        })
    };
    written.into_iter().filter_map(differing).collect()
}

fn failure(node: &NodeEntry, redaction: Option<&Redaction>) -> String {
    let (name, error) = (Name::from(node.name.as_str()), node.error.as_deref());
    match (redaction.is_some(), error) {
        (true, _) => "a node was not read to its end".into(),
        (false, None) => format!("node {name} was not read to its end"),
        (false, Some(error)) => {
            format!("node {name} was not read to its end: {}", Name::from(error))
        }
    }
}

/// Warnings for a reader of the numbers.
fn warnings(manifest: &Manifest, redaction: Option<&Redaction>) -> Vec<String> {
    let sampled = sampled(manifest).map(|sampled| {
        format!(
            "a sample, {} of the slots{}: all numbers are those of the slots that were read, and {}",
            percent(sampled / 100.0),
            heaviest(manifest),
            keys_of_all(manifest, sampled)
        )
    });
    let load = manifest.load.as_ref();
    let by_node = load.filter(|load| load.nodes_by_slot == 0 && load.monitor.is_none());
    let unmeasured = by_node.map(|_| {
        "load was measured by node, not by slot, which takes CLUSTER SLOT-STATS (Redis 8.2, Valkey 8); --load with --monitor \
         finds hot slots, hash tags and keys on any server"
            .to_owned()
    });
    sampled
        .into_iter()
        .chain(strays::in_words(manifest, redaction))
        .chain(unmeasured)
        .collect()
}

/// The slots read in addition to the sample.
fn heaviest(manifest: &Manifest) -> String {
    let sample = manifest.sample.as_ref();
    let heaviest = sample.and_then(|sample| Some((sample.heaviest_by?, slots(&sample.heavy))));
    match heaviest {
        None => " without its heaviest ones, so that nodes cannot be compared".into(),
        Some((HeaviestBy::Memory, count)) => {
            format!(
                " and the {} heaviest by memory and keys besides",
                grouped(count)
            )
        }
        Some((HeaviestBy::Keys, count)) => format!(
            " and the {} with most keys besides (a slot of few large keys may not be among them)",
            grouped(count)
        ),
    }
}

/// The total number of keys in the cluster, read or not.
fn keys_of_all(manifest: &Manifest, sampled: f64) -> String {
    let sample = manifest.sample.as_ref();
    match sample.and_then(|sample| sample.keys_of_all) {
        Some(keys) => format!("the cluster has {} keys", grouped(keys)),
        None => format!(
            "the cluster has about {:.1} times as many keys",
            100.0 / sampled.max(f64::MIN_POSITIVE)
        ),
    }
}

/// How it was collected, and what happened meanwhile.
fn notes(manifest: &Manifest) -> Vec<String> {
    let estimated = |most: u64| {
        format!(
            "sizes of values with more than {} elements are estimated by the server from {} of them",
            grouped(most),
            grouped(manifest.settings.samples)
        )
    };
    let mut notes = vec![format!(
        "collected from running servers, {} to {}: keys that came or went meanwhile are counted or not",
        time(&manifest.started),
        time(&manifest.finished)
    )];
    notes.extend((!manifest.cluster).then(|| {
        "the server is not in cluster mode: it is taken for one node with all slots; --nodes N shows its keys on a cluster of N primaries".into()
    }));
    notes.extend(estimated_above(manifest).map(estimated));
    notes.extend(facts(manifest));
    notes
}

/// Events of nodes, slots and keys meanwhile.
pub fn facts(manifest: &Manifest) -> impl Iterator<Item = String> {
    let sum = |count: fn(&NodeEntry) -> u64| manifest.nodes.iter().map(count).sum::<u64>();
    let is_replica = |node: &&NodeEntry| node.role == Role::Replica && node.file.is_some();
    let replicas = manifest.nodes.iter().filter(is_replica).count() as u64;
    let facts = [
        ("nodes that were read from a replica", replicas),
        (
            "keys that were gone before they were measured, left out",
            sum(|node| node.vanished),
        ),
        (
            "keys that SCAN returned more than once, counted once",
            sum(|node| node.repeats),
        ),
        (
            "slots that changed their owner meanwhile, read from the new one",
            slots(&manifest.slots_moved),
        ),
        (
            "primaries whose replica took over meanwhile",
            manifest.failovers.len() as u64,
        ),
    ];
    let counts = facts.into_iter().filter(|(_, count)| *count > 0);
    counts.map(|(fact, count)| format!("{fact}: {}", grouped(count)))
}

/// A valid time as written; other text could be a name.
fn time(text: &str) -> &str {
    timestamp(text.as_bytes()).map_or("an unknown time", |_| text)
}

fn slots(ranges: &[(u16, u16)]) -> u64 {
    let length = |(first, last): &(u16, u16)| u64::from(last.saturating_sub(*first)) + 1;
    ranges.iter().map(length).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_read::source::collection::manifest::{Failover, SampleEntry, example};

    fn redaction() -> Redaction {
        Redaction::from_environment().unwrap()
    }

    fn remarked(manifest: Manifest, redaction: Option<&Redaction>) -> InputFacts {
        let collection = Collection {
            directory: "dir".into(),
            manifest,
        };
        let mut input = InputFacts::default();
        remark(&[collection], redaction, &mut input);
        input
    }

    #[test]
    fn what_is_missing_is_said_with_the_node_and_the_reason() {
        let mut manifest = example(&["a.csv.zst"]);
        manifest.slots_missing = vec![(5, 9), (16383, 16383)];
        manifest.nodes[0].complete = false;
        manifest.nodes[0].error = Some("no answer\x1b".into());
        let reasons = |input: InputFacts| -> Vec<String> {
            input
                .incomplete
                .into_iter()
                .map(|stop| stop.reason)
                .collect()
        };
        let found = reasons(remarked(manifest.clone(), None));
        assert!(
            found[0].ends_with("was not read to its end: no answer\\x1b"),
            "{found:?}"
        );
        assert!(found[1].ends_with("missing: 6"), "{found:?}");
        let found = reasons(remarked(manifest.clone(), Some(&redaction())));
        assert_eq!(found[0], "a node was not read to its end");
        manifest = example(&["a.csv.zst"]);
        assert!(reasons(remarked(manifest.clone(), None)).is_empty());
        manifest.incomplete = true;
        assert_eq!(reasons(remarked(manifest, None)).len(), 1);
    }

    #[test]
    fn a_file_with_other_keys_than_were_written_is_incomplete() {
        let manifest = example(&["a.csv.zst", "b.csv.zst"]);
        let collection = Collection {
            directory: "dir".into(),
            manifest,
        };
        let files = |keys: [u64; 2]| -> Vec<FileFacts> {
            let names = ["dir/a.csv.zst", "dir/b.csv.zst"].into_iter();
            let facts = names.zip(keys).map(|(name, keys)| FileFacts {
                name: Name::from(name),
                keys,
                ..FileFacts::default()
            });
            facts.collect()
        };
        for (keys, said) in [
            ([1, 1], &[][..]),
            ([1, 0], &["dir/b.csv.zst: 0 keys in place of the 1"]),
            ([2, 1], &["dir/a.csv.zst: 2 keys in place of the 1"]),
        ] {
            let found = lacking_rows(&collection, &files(keys));
            let found = found.iter().map(|of| format!("{}: {}", of.file, of.reason));
            let found: Vec<String> = found.collect();
            assert_eq!(found.len(), said.len(), "{found:?}");
            let mut both = found.iter().zip(said);
            assert!(
                both.all(|(found, said)| found.starts_with(said)),
                "{found:?}"
            );
        }
        assert!(
            lacking_rows(&collection, &[]).is_empty(),
            "it was not read here"
        );
    }

    #[test]
    fn an_open_slot_is_named_with_what_closes_it() {
        let mut manifest = example(&["a.csv.zst"]);
        (manifest.slots_missing, manifest.slots_open) = (vec![(8496, 8496)], vec![(8496, 8496)]);
        (manifest.nodes[0].complete, manifest.incomplete) = (false, true);
        // A few of them cost their keys, not the report.
        assert!(remarked(manifest.clone(), None).incomplete.is_empty());
        let said = missing(&manifest, Some(&redaction()));
        assert!(
            said[0].starts_with("slot 8496 is open")
                && said[0].contains("redis-cli --cluster fix")
                && said.len() == 1,
            "{said:?}"
        );
        manifest.slots_missing.push((9000, 9001));
        let stops = remarked(manifest, None).incomplete;
        assert!(stops[0].reason.contains("8496") && stops[2].reason.ends_with("missing: 3"));
    }

    #[test]
    fn without_sizes_none_are_estimated() {
        let mut manifest = example(&["a.csv.zst"]);
        let is_said = |manifest: &Manifest| {
            let notes = remarked(manifest.clone(), None).notes.join("\n");
            notes.contains("are estimated by the server")
        };
        assert!(is_said(&manifest));
        manifest.without_sizes = true;
        assert!(!is_said(&manifest));
    }

    #[test]
    fn a_sample_says_which_slots_it_has_besides() {
        let mut manifest = example(&["a.csv.zst"]);
        manifest.settings.sample_percent = 10.0;
        let warning = |manifest: &Manifest| {
            let warnings = remarked(manifest.clone(), None).warnings;
            warnings[0].to_string()
        };
        assert!(warning(&manifest).contains("nodes cannot be compared"));
        for (by, said) in [
            (HeaviestBy::Memory, "3 heaviest by memory"),
            (HeaviestBy::Keys, "3 with most keys"),
        ] {
            manifest.sample = Some(SampleEntry {
                heaviest_by: Some(by),
                heavy: vec![(1, 2), (7, 7)],
                keys_of_all: Some(12_000),
            });
            let said_is = warning(&manifest);
            assert!(
                said_is.contains(said) && said_is.ends_with("the cluster has 12,000 keys"),
                "{said_is}"
            );
        }
    }

    #[test]
    fn a_sample_strays_and_what_happened_meanwhile_are_said() {
        let mut manifest = example(&["a.csv.zst"]);
        manifest.settings.sample_percent = 20.0;
        manifest.slots_moved = vec![(1, 2)];
        manifest.failovers = vec![Failover {
            from: "a".into(),
            to: "b".into(),
            slots: 1,
        }];
        let node = &mut manifest.nodes[0];
        (node.strays, node.vanished, node.repeats) = (1200, 3, 4);
        node.stray_slots = vec![(7, 7), (12, 15)];
        manifest.skipped = vec!["secret name".into()];
        let input = remarked(manifest.clone(), None);
        assert_eq!(input.sample_percent, Some(20.0));
        let warnings: Vec<String> = input.warnings.iter().map(ToString::to_string).collect();
        assert!(
            warnings[0].contains("20.0% of the slots") && warnings[0].contains(" 5.0 times"),
            "{warnings:?}"
        );
        assert!(
            warnings[1].starts_with(
                "127.0.0.1:7001 holds 1,200 keys of slots that it does not own (7 12-15)"
            ),
            "{warnings:?}"
        );
        let notes = input.notes.join("\n");
        for part in [
            "left out: 3",
            "counted once: 4",
            "new one: 2",
            "meanwhile: 1",
            "secret name",
        ] {
            assert!(notes.contains(part), "{part}: {notes}");
        }
        let hidden = remarked(manifest, Some(&redaction()));
        assert!(!hidden.notes.join("\n").contains("secret"));
        let warning = hidden.warnings[1].to_string();
        assert!(warning.starts_with("a node holds 1,200 keys"), "{warning}");
    }
}
