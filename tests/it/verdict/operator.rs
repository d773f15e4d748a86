//! An operator followed the first line and the first step to the letter: each test is a day on which that went wrong.

use crate::verdict::carried_out::moved;
use crate::verdict::scene::{Scene, light, named, noeviction, of_node};
use crate::verdict::{analyzed, lines, on};
use slotscope::metric::Metric;
use slotscope::slot::slot;
use slotscope::summary::Summary;
use slotscope::summary::finding::FindingKind;
use slotscope::summary::measure::Measure;
use slotscope::summary::reason::Reason;
use slotscope::summary::state::{Role, State};
use slotscope::summary::step::StepKind;
use slotscope::topology::Topology;
use testkit::run::assert_contains;

fn kinds(summary: &Summary) -> Vec<StepKind> {
    let steps = summary.verdict.steps.iter();
    steps.map(|step| step.kind).collect()
}

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
    let bytes = summary
        .nodes
        .list
        .iter()
        .map(|node| node.load_by(Metric::Bytes) as f64);
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
            let next = analyzed(
                std::slice::from_ref(&dump),
                &on(&moved(&summary, &topology)),
            );
            let after = memory_of(&next);
            let most = after.iter().copied().fold(0.0, f64::max);
            assert!(
                most <= before[1].max(1.05) + 1e-9,
                "{before:?} became {after:?}"
            );
            let giant = next
                .keys
                .as_ref()
                .unwrap()
                .heaviest
                .get(Metric::Bytes)
                .unwrap();
            assert_eq!(
                giant[0].node.as_ref().map(ToString::to_string).as_deref(),
                Some("node1"),
                "a key that blocks its node for seconds stays"
            );
            assert!(step.longest_block_ms.unwrap() < 100.0, "{step:?}");
        }
    }
    let summary = analyzed(std::slice::from_ref(&dump), &on(&topology));
    let sentence = summary.verdict.sentence.to_string();
    assert!(
        sentence.starts_with("10.0.0.2 holds")
            && sentence.contains("of memory, because of key lb:global:"),
        "{sentence}"
    );
    assert!(
        summary.verdict.by(Metric::Keys).is_none(),
        "keys are a column"
    );
}

#[test]
fn moves_that_were_carried_out_are_not_to_be_undone() {
    let (dump, mut topology) = shop();
    let mut seen = Vec::new();
    loop {
        let summary = analyzed(std::slice::from_ref(&dump), &on(&topology));
        let step = summary.verdict.steps.first();
        let Some(step) = step.filter(|step| step.kind == StepKind::Move) else {
            // Problems that moves cannot cure are listed with the reason, and are not steps.
            let verdict = &summary.verdict;
            assert!(
                verdict.state == State::Balanced || !verdict.actionable,
                "{verdict:#?}"
            );
            break;
        };
        seen.push(step.after.memory.unwrap().max_over_mean);
        assert!(seen.len() <= 1, "moves follow moves: {seen:?}");
        topology = moved(&summary, &topology);
    }
}

#[test]
fn a_node_with_three_times_its_share_of_the_accesses_is_not_green() {
    let key = named("hot", 5461);
    let by_lfu = Scene::even(3)
        .keys("key,size,lfu", light(12_000, ",100,5"))
        .and([format!("{key},100,250")]);
    let by_monitor = (0..3).fold(
        Scene::even(3).keys("key,size", light(12_000, ",100")),
        |scene, node| {
            let mut own = of_node(&scene.topology(), node, 1500, "get");
            if node == 0 {
                own.extend(vec![("set", key.clone()); 9000]);
            }
            scene.monitor(node, 1, &own)
        },
    );
    for (scene, measure) in [(by_lfu, Measure::Accesses), (by_monitor, Measure::Ops)] {
        let summary = scene.summary();
        let verdict = &summary.verdict;
        assert_eq!(
            (verdict.state, verdict.word.as_str()),
            (State::Skewed, "HOT")
        );
        let found = &verdict.findings[0];
        assert_eq!(
            (found.role, found.metric),
            (Some(Role::Load), Some(measure))
        );
        assert!(verdict.sentence.to_string().contains(&format!("key {key}")));
        assert_eq!(verdict.role(Role::Memory).unwrap().state, State::Balanced);
        // A key that is written is split; if reads and writes are unknown, a cache may help.
        let kinds = kinds(&summary);
        let is_written = measure == Measure::Ops;
        let expected = if is_written {
            &[StepKind::Split][..]
        } else {
            &[StepKind::Cache, StepKind::Split]
        };
        assert!(kinds.starts_with(expected), "{kinds:?}");
        assert!(!found.steps.is_empty(), "the finding has a step");
    }
}

#[test]
fn a_monitor_of_one_node_does_not_make_it_the_hottest() {
    let topology = Scene::even(3).topology();
    let own = of_node(&topology, 0, 12_000, "get");
    let alone = Scene::even(3).monitor(0, 8, &own);
    let beside = Scene::even(3)
        .keys("key,size", light(12_000, ",100"))
        .monitor(0, 8, &own);
    for (scene, state) in [(alone, State::Unjudged), (beside, State::Balanced)] {
        let summary = scene.summary();
        assert_eq!(summary.verdict.state, state, "{}", summary.verdict.sentence);
        let load = summary.verdict.role(Role::Load).unwrap();
        assert_eq!((load.judged, load.reason), (false, Some(Reason::NotSeen)));
        let sentence = load.sentence.to_string();
        assert!(
            sentence.starts_with("only 10.0.0.1 of 3 nodes was captured"),
            "{sentence}"
        );
        assert_eq!(kinds(&summary), [], "nothing moves for it");
    }
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
    assert_ne!(
        after.state,
        State::Limit,
        "no node is brought to its limit: {step:?}"
    );
    // Its overhead is constant: its keys, a few thousandths of the limit, may reach their share.
    assert!(after.max_over_mean <= 1.05, "{step:?}");
}

#[test]
fn an_outage_is_the_first_line_and_nothing_is_planned_for_it() {
    let listing = crate::verdict::scene::lines_of(&[8191, 12_287, 16_383]);
    let failed = listing.replace(
        "10.0.0.3:6379@16379 master",
        "10.0.0.3:6379@16379 master,fail",
    );
    let summary = Scene::listed(failed)
        .keys("key,size", light(12_000, ",100"))
        .summary();
    let verdict = &summary.verdict;
    assert_eq!(
        (verdict.state, verdict.word.as_str()),
        (State::Down, "DOWN")
    );
    let sentence = verdict.sentence.to_string();
    assert_eq!(sentence, "10.0.0.3 failed: 4,096 slots are not served");
    let found: Vec<FindingKind> = verdict.problems().map(|found| found.kind).collect();
    assert_eq!(
        found,
        [FindingKind::Down, FindingKind::Skew],
        "skew is the second line"
    );
    assert_eq!(kinds(&summary), [StepKind::Repair]);
    let step = &verdict.steps[0];
    let says = step.sentence.to_string();
    assert_contains(&says, &["bring 10.0.0.3 back"]);
}
