//! The verdict: cases that once had a wrong first sentence, then dumps with planted truth.

mod carried_out;
mod damage;
mod fewest_changes;
mod files;
mod full;
mod grid;
mod hot;
mod lacking;
mod nothing_planted;
mod operator;
mod parity;
mod planted;
mod processes;
mod requests;
mod scene;
mod situations;

use slotscope::Analysis;
use slotscope::metric::Metric;
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::slot::slot;
use slotscope::source::memory::memory;
use slotscope::source::{Found, Source};
use slotscope::summary::Summary;
use slotscope::summary::cause::{Cause, CauseKind};
use slotscope::summary::independent_units::UnitKind;
use slotscope::summary::integrity::Damage;
use slotscope::summary::role_verdict::RoleVerdict;
use slotscope::summary::state::State;
use slotscope::summary::step::{Step, StepKind};
use slotscope::topology::Topology;
use testkit::planted::{even, listing};
use testkit::run::{Said, near};

/// The analysis of dumps, each one file.
fn analyzed(dumps: &[Vec<u8>], analysis: &Analysis) -> Summary {
    let named = dumps.iter().enumerate();
    let sources = named.map(|(i, dump)| memory(&format!("dump-{i}"), dump));
    analyzed_as_named(sources.collect(), analysis)
}

fn analyzed_as_named(sources: Vec<Box<dyn Source>>, analysis: &Analysis) -> Summary {
    let found = Found {
        sources,
        ..Default::default()
    };
    let options = Options {
        threads: Some(2),
        ..Options::default()
    };
    analysis
        .run_on(Reading::new(found, options).unwrap())
        .unwrap()
}

fn on(topology: &Topology) -> Analysis {
    Analysis::new().topology(topology.clone())
}

fn lines(keys: impl Iterator<Item = String>) -> Vec<u8> {
    keys.map(|key| key + "\n").collect::<String>().into_bytes()
}

#[track_caller]
fn is_balanced(summary: &Summary) {
    let verdict = &summary.verdict;
    assert_eq!(verdict.state, State::Balanced, "{}", verdict.sentence);
}

/// The dump is suspicious, for this reason first.
#[track_caller]
fn is_damaged(summary: &Summary, damage: Damage) {
    let verdict = &summary.verdict;
    assert_eq!(verdict.state, State::Suspicious, "{}", verdict.sentence);
    assert_eq!(verdict.integrity[0].kind, damage, "{}", verdict.sentence);
}

/// The kinds of the steps.
fn kinds(summary: &Summary) -> Vec<StepKind> {
    summary.verdict.steps.iter().map(|step| step.kind).collect()
}

fn worst(summary: &Summary) -> &RoleVerdict {
    summary.verdict.headline().unwrap()
}

fn sentence(summary: &Summary) -> String {
    summary.verdict.sentence.to_string()
}

fn step(summary: &Summary, kind: StepKind) -> &Step {
    let steps = &summary.verdict.steps;
    let found = steps.iter().find(|step| step.kind == kind);
    found.unwrap_or_else(|| panic!("{kind:?} in {steps:#?}"))
}

#[test]
fn a_tag_does_not_hide_behind_uneven_slots() {
    let topology = listing(&[7060, 12_522, 16_383]);
    let own = |i: usize| format!("session:{i}");
    let acme = (0..40_000).map(|i| format!("order:{{tenant:acme}}:{i}"));
    let dump = lines((0..160_000).map(own).chain(acme));
    let summary = analyzed(&[dump], &on(&topology));
    sentence(&summary).says("hash tag {tenant:acme} (0.60×) and 43% of the slots");
    let moves = &summary.verdict.steps[0];
    assert_eq!(moves.kind, StepKind::Move);
    assert!(
        moves.after.memory.unwrap().max_over_mean <= 1.03 + 1e-9,
        "{moves:?}"
    );
    assert!(moves.alternatives.is_empty(), "equal slot counts leave 1.3");
    let command = "slotscope plan dump-0 --topology cluster.nodes --commands setslot > moves.sh";
    assert_eq!(moves.command.as_ref().unwrap().to_string(), command);
}

#[test]
fn a_slot_full_of_different_keys_is_no_broken_dump() {
    let tags = (0..).map(|i| format!("t{i}"));
    let tags = tags.filter(|tag| slot(tag.as_bytes()) == 4173).take(12);
    let tags: Vec<String> = tags.collect();
    let keys = |tag| (0..900).map(move |i| format!("m:{{{tag}}}:{i}"));
    let planted = tags.iter().flat_map(keys);
    let dump = lines((0..200_000).map(|i| format!("u:{i}")).chain(planted));
    let summary = analyzed(&[dump], &Analysis::new().nodes(20));
    assert_ne!(
        summary.verdict.state,
        State::Suspicious,
        "{}",
        sentence(&summary)
    );
    let mut causes = worst(&summary).causes.iter();
    let is_it = |cause: &Cause| [CauseKind::Collisions, CauseKind::Tag].contains(&cause.kind);
    assert!(causes.any(is_it), "{:?}", worst(&summary));
}

#[test]
fn a_dump_that_occurs_twice_is_found_without_a_topology() {
    let nodes = 7;
    let topology = even(nodes);
    let keys: Vec<String> = (0..40_000).map(|i| format!("user:{i}")).collect();
    let of = |node: usize| {
        let is_its = |key: &&String| topology.owner(slot(key.as_bytes())) == Some(node);
        lines(keys.iter().filter(is_its).cloned())
    };
    let mut dumps: Vec<Vec<u8>> = (0..nodes).map(of).collect();
    dumps.push(of(3));
    let summary = analyzed(&dumps, &Analysis::new().nodes(nodes));
    is_damaged(&summary, Damage::Duplicates);
    assert_eq!(
        kinds(&summary),
        [StepKind::TakeAgain],
        "nothing is planned for it"
    );
}

#[test]
fn counts_by_slot_alone_name_the_heavy_slot_and_the_moves_that_help() {
    let spread = (0..9000).map(|i| format!("user:{i}"));
    let hot = (0..3000).map(|i| format!("{{config}}:{i}"));
    let dump = lines(spread.chain(hot));
    let summary = analyzed(&[dump], &on(&even(3)).slots_only(true));
    let found = worst(&summary);
    let cause = &found.causes[0];
    let slots = vec![slot(b"{config}")];
    assert_eq!((cause.kind, &cause.slots), (CauseKind::Unknown, &slots));
    let slot = slots[0];
    let words = format!("slot {slot} holds 25% of the keys; its tags were not counted");
    sentence(&summary).says(&words);
    let moves = step(&summary, StepKind::Move);
    assert!(moves.after.memory.unwrap().max_over_mean < 1.05);
    let even_dump = lines((0..9000).map(|i| format!("user:{i}")));
    let summary = analyzed(&[even_dump], &on(&even(3)).slots_only(true));
    let mut causes = worst(&summary).causes.iter();
    assert!(causes.all(|cause| cause.slots.is_empty()));
}

#[test]
fn a_split_of_a_key_leaves_the_tag_of_its_name_alone() {
    let header = std::iter::once(String::from("key,bytes"));
    let rows = std::iter::once(String::from("x,60000000"))
        .chain((0..30_000).map(|i| format!("{{x}}:{i},100")))
        .chain((0..60_000).map(|i| format!("o:{i},1000")));
    let analysis = Analysis::new().nodes(3).by([Metric::Bytes, Metric::Keys]);
    let summary = analyzed(&[lines(header.chain(rows))], &analysis);
    let split = step(&summary, StepKind::Split);
    let (name, kind, _) = &split.split[0];
    assert_eq!((name.to_string().as_str(), *kind), ("x", UnitKind::Key));
    // The keys of {x} stay: splitting a key alone moves none, so the skew of keys does not change.
    let today = summary.verdict.by(Metric::Keys).unwrap().max_over_mean();
    let mut keys = today.unwrap();
    for step in &summary.verdict.steps {
        // The effect of moves after a change is unknown for a role that asks for none.
        let Some(after) = step.after.keys.as_ref() else {
            assert_eq!(step.kind, StepKind::Move, "{step:?}");
            continue;
        };
        if step.kind != StepKind::Move {
            near(after.max_over_mean, keys, 0.001);
        }
        keys = after.max_over_mean;
    }
}
