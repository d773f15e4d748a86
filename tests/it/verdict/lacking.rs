//! Dumps that lack keys when nothing names the nodes, or with too few units left for a statistical test.

use slotscope::Analysis;
use slotscope::plan::doubts;
use slotscope::slot::slot;
use slotscope::summary::Summary;
use slotscope::summary::integrity::Damage;
use slotscope::summary::state::State;
use slotscope::summary::step::StepKind;

use crate::verdict::{analyzed, is_damaged, kinds, lines, on};
use testkit::env::is_campaign;
use testkit::planted::{even, listing};
use testkit::rng::Rng;
use testkit::run::Said;

fn on_even(keys: impl Iterator<Item = String>, nodes: usize) -> Summary {
    analyzed(&[lines(keys)], &Analysis::new().nodes(nodes))
}

#[test]
fn a_node_of_an_even_split_that_lacks_keys_is_a_warning_and_no_plan() {
    for number in 0..11 {
        let mut random = Rng::new(number);
        let (nodes, kept) = (3 + random.below(10), [0.5, 0.8][number as usize % 2]);
        let (topology, lacking) = (even(nodes), random.below(nodes));
        let is_kept = |key: &String| {
            let owner = topology.owner(slot(key.as_bytes()));
            owner != Some(lacking) || random.unit() < kept
        };
        let keys = (0..30_000 * nodes).map(|i| format!("s:{i}"));
        let summary = on_even(keys.filter(is_kept), nodes);
        let name = format!("even-{}", lacking + 1);
        let node = summary
            .input
            .doubt
            .as_ref()
            .and_then(|doubt| doubt.node.as_ref());
        assert_eq!(
            node.map(ToString::to_string),
            Some(name.clone()),
            "{number}"
        );
        assert_ne!(summary.verdict.state, State::Suspicious);
        doubts::incomplete(&summary)
            .unwrap()
            .says(&name)
            .says("sigma");
        // Missing keys do not cause the load of the other nodes, and nothing is planned for them.
        let sentence = summary.verdict.sentence.to_string();
        sentence.lacks("more tags and keys");
        let is_uneven = summary.verdict.state.is_uneven();
        let expected: Vec<_> = is_uneven
            .then_some(StepKind::TakeAgain)
            .into_iter()
            .collect();
        assert_eq!(kinds(&summary), expected, "{number}: {sentence}");
    }
}

#[test]
fn clean_dumps_and_crowded_slots_are_no_doubt() {
    for number in 0..if is_campaign() { 20 } else { 6 } {
        let mut random = Rng::new(100 + number);
        let nodes = 3 + random.below(20);
        let slots: Vec<u16> = (0..400).map(|_| random.below(16_384) as u16).collect();
        let is_clean = number % 2 == 0;
        let is_in = |key: &String| is_clean || slots.contains(&slot(key.as_bytes()));
        let keys = (0..400_000).map(|i| format!("k:{number}:{i}"));
        let summary = on_even(keys.filter(is_in), nodes);
        assert_eq!(summary.input.doubt, None, "{number}");
        assert!(
            !is_clean || summary.verdict.state != State::Suspicious,
            "{number}"
        );
    }
}

#[test]
fn the_dump_of_one_node_of_many_is_missing_the_others_however_few_its_units() {
    for (nodes, tags) in [(15, 59), (3, 40), (30, 12)] {
        let ends = (1..=nodes).map(|node| node * 16_384 / nodes - 1);
        let topology = listing(&ends.collect::<Vec<u64>>());
        let own = (0..).map(|i| format!("t{i}"));
        let own = own.filter(|tag| topology.owner(slot(tag.as_bytes())) == Some(1));
        let own: Vec<String> = own.take(tags).collect();
        let keys = own
            .iter()
            .flat_map(|tag| (0..20).map(move |i| format!("{{{tag}}}:{i}")));
        let summary = analyzed(&[lines(keys)], &on(&topology));
        is_damaged(&summary, Damage::MissingNode);
        assert_eq!(summary.verdict.integrity.len(), 1, "{nodes}");
    }
    // If all keys have one tag, they are on one node; this is not damage.
    let keys = lines((0..5_000).map(|i| format!("{{all}}:{i}")));
    let summary = analyzed(&[keys], &on(&listing(&[5460, 10_922, 16_383])));
    assert_eq!(summary.verdict.state, State::Skewed);
}
