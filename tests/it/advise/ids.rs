//! Keys that share an id of any kind: the advice is as good as the best choice of a segment for each kind of key.

use std::collections::{BTreeSet, HashSet};

use slotscope::advise::decision::Decision;
use slotscope::advise::model::Model;
use slotscope::advise::owners::Owners;
use testkit::rng::Rng;
use testkit::workloads::ids::{COMMANDS, ID_KINDS, ids, sharing};
use testkit::workloads::workload::Workload;

/// Number of commands in one slot, and of distinct tags.
type Result = (usize, usize);

fn decide(load: &Workload) -> Decision {
    let (names, batches) = load.given();
    let model = Model::of(&names, &batches, Owners::even(load.nodes), |_| false);
    model.decide(model.candidates(&batches))
}

/// The segments of a key.
fn segments(key: &str) -> Vec<&str> {
    let delimiter = if key.contains('/') && !key.contains(':') {
        '/'
    } else {
        ':'
    };
    key.split(delimiter).collect()
}

/// A command: the segments of its keys, by kind of key.
type Command<'a> = Vec<(usize, Vec<&'a str>)>;

/// Tries every choice of a segment for each kind of key on all commands. Keys are of one kind if only their ids differ.
fn best_of_all(load: &Workload, ids: &[String]) -> Result {
    let kind = |key: &str| -> Vec<String> {
        let part = |part: &str| match part {
            _ if ids.iter().any(|id| id == part) => String::from("<id>"),
            _ if part.bytes().all(|byte| byte.is_ascii_digit()) => String::from("<n>"),
            part => part.to_owned(),
        };
        segments(key).into_iter().map(part).collect()
    };
    let keys = || load.batches.iter().flat_map(|(_, keys)| keys);
    let kinds: BTreeSet<Vec<String>> = keys().map(|key| kind(key)).collect();
    let kinds: Vec<Vec<String>> = kinds.into_iter().collect();
    let number = |key: &str| {
        let found = kinds.iter().position(|known| *known == kind(key));
        found.unwrap()
    };
    let commands = load.batches.iter().map(|(_, keys)| {
        let coded = keys.iter().map(|key| (number(key), segments(key)));
        coded.collect()
    });
    let commands: Vec<Command<'_>> = commands.collect();
    let mut best = (0, 0);
    let lengths: Vec<usize> = kinds.iter().map(Vec::len).collect();
    try_all(&lengths, &mut Vec::new(), &commands, &mut best);
    best
}

/// Tries all choices for the kinds after `chosen`; skips those with fewer commands in one slot than the best.
fn try_all(
    lengths: &[usize],
    chosen: &mut Vec<usize>,
    commands: &[Command<'_>],
    best: &mut Result,
) {
    let tag = |command: &Command<'_>| -> Option<String> {
        let mut tags = command
            .iter()
            .filter_map(|(kind, segments)| Some(segments[*chosen.get(*kind)?]));
        let first = tags.next().unwrap_or_default();
        tags.all(|tag| tag == first).then(|| first.to_owned())
    };
    let tags: Vec<String> = commands.iter().filter_map(tag).collect();
    if tags.len() < best.0 {
        return;
    }
    if chosen.len() == lengths.len() {
        let distinct: HashSet<&String> = tags.iter().collect();
        *best = (tags.len(), distinct.len()).max(*best);
        return;
    }
    for at in 0..lengths[chosen.len()] {
        chosen.push(at);
        try_all(lengths, chosen, commands, best);
        chosen.pop();
    }
}

/// The result of the advice, over the tags of keys in commands.
fn advised(load: &Workload, decision: &Decision) -> Result {
    let best = decision.best();
    let local = best.batches.in_one_slot as usize;
    assert_eq!(best.batches.multi as usize, load.batches.len());
    (local, best.names.distinct as usize)
}

#[test]
fn the_advice_is_the_best_of_all_choices_of_a_segment_for_ids_of_every_kind() {
    let is_large = super::seeds_of_kind() > 2;
    let (mut right, mut all, mut wrong) = (0, 0, Vec::new());
    for (at, kind) in ID_KINDS.iter().enumerate() {
        for (step, (values, parts)) in [1, 3, 12, 50, 200]
            .into_iter()
            .flat_map(|values| [2, 3, 7].map(|parts| (values, parts)))
            .enumerate()
        {
            for (number, command) in COMMANDS.iter().enumerate() {
                // A client can split an MGET: a tag with a single value gains nothing.
                let is_of_one = values == 1 && *command == "MGET";
                if is_of_one || !is_large && (at + step + number) % 5 != 0 {
                    continue;
                }
                let mut rng = Rng::new((100 * at + 10 * step + number) as u64);
                let ids = ids(&mut rng, kind, values);
                let load = sharing(&mut rng, &ids, parts, command);
                let decision = decide(&load);
                let best = best_of_all(&load, &ids);
                let found = advised(&load, &decision);
                all += 1;
                if found == best {
                    right += 1;
                } else {
                    wrong.push(format!(
                        "{} x {values} x {parts} {command}: {found:?}, {best:?}",
                        kind.0
                    ));
                }
            }
        }
    }
    println!(
        "right advice: {right} of {all} workloads of {} kinds of ids",
        ID_KINDS.len()
    );
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
