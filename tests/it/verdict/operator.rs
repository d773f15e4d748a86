//! An operator followed the first line and the first step to the letter: each test is a day on which that went wrong.

use crate::verdict::carried_out::moved;
use crate::verdict::scene::{Scene, light, named, noeviction};
use crate::verdict::{analyzed, lines, on};
use slotscope::metric::Metric;
use slotscope::slot::slot;
use slotscope::summary::Summary;
use slotscope::summary::state::State;
use slotscope::summary::step::StepKind;
use slotscope::topology::Topology;
use testkit::run::Said;

/// Three nodes: the first has most keys, the second is filled by a key of 45 MiB.
fn shop() -> (Vec<u8>, Topology) {
    let topology = Scene::even(3).topology();
    let owner = |key: &str| topology.owner(slot(key.as_bytes()));
    let cart = named("cart", 5461);
    let giant = (0..).map(|at| format!("lb:global:{at}"));
    let giant = giant.into_iter().find(|key| owner(key) == Some(1)).unwrap();
    let rows = (0..24_000)
        .map(|at| format!("session:{at},4000"))
        .chain((0..8000).map(|at| format!("{{{cart}}}:{at},400")))
        .chain([format!("{giant},47185920")]);
    let table = std::iter::once("key,size".to_owned()).chain(rows);
    (lines(table), topology)
}

/// The bytes of each node in fair shares.
fn memory_of(summary: &Summary) -> Vec<f64> {
    let nodes = summary.nodes.list.iter();
    let bytes = nodes.map(|node| node.load_by(Metric::Bytes) as f64);
    let all: f64 = bytes.clone().sum();
    bytes.map(|of| 3.0 * of / all).collect()
}

#[test]
fn keys_do_not_outvote_bytes_and_no_step_fills_a_node_that_is_full() {
    let (dump, topology) = shop();
    let by_keys = on(&topology).by([Metric::Keys]);
    for analysis in [on(&topology), by_keys.clone()] {
        let summary = analyzed(std::slice::from_ref(&dump), &analysis);
        let before = memory_of(&summary);
        assert!(before[1] > 1.3 && before[0] < 1.0, "{before:?}");
        let moves = summary.verdict.steps.iter();
        for step in moves.filter(|step| step.kind == StepKind::Move && step.command.is_some()) {
            let after = on(&moved(&summary, &topology));
            let next = analyzed(std::slice::from_ref(&dump), &after);
            let after = memory_of(&next);
            let most = after.iter().copied().fold(0.0, f64::max);
            assert!(
                most <= before[1].max(1.05) + 1e-9,
                "{before:?} became {after:?}"
            );
            // A key that blocks its node for seconds stays.
            let heaviest = &next.keys.as_ref().unwrap().heaviest;
            let giant = heaviest.get(Metric::Bytes).unwrap()[0].node.as_ref();
            assert_eq!(giant.map(ToString::to_string).as_deref(), Some("node1"));
            assert!(step.longest_block_ms.unwrap() < 100.0, "{step:?}");
        }
    }
    let summary = analyzed(std::slice::from_ref(&dump), &on(&topology));
    let sentence = summary.verdict.sentence.to_string();
    sentence
        .begins("10.0.0.2 holds")
        .says("of memory, because of key lb:global:");
    assert!(
        summary.verdict.by(Metric::Keys).is_none(),
        "keys are a column"
    );
}

#[test]
fn a_node_near_maxmemory_gets_no_slots_though_its_keys_are_few() {
    // The second node has few keys, and is filled by buffers.
    let summary = Scene::on(&[8191, 12_287, 16_383])
        .keys("key,size", light(12_000, ",1000"))
        .servers(noeviction(&[0.6, 0.89, 0.3]))
        .summary();
    let step = &summary.verdict.steps[0];
    assert_eq!(step.kind, StepKind::Move);
    let after = step.after.memory.unwrap();
    assert_ne!(after.state, State::Limit, "{step:?}");
    // Its overhead is constant: its keys, a few thousandths of the limit, may reach their share.
    assert!(after.max_over_mean <= 1.05, "{step:?}");
}
