//! Situations by use: little data, tenants, namespaces, databases, --by, both roles at once.

use slotscope::metric::Metric;
use slotscope::summary::finding::FindingKind;
use slotscope::summary::state::Role;
use slotscope::summary::step::StepKind::{Free, Move, Split, Untag};

use super::{KEYS, balanced, check, even, half, situation};
use crate::verdict::scene::{Scene, light, named, noeviction, slot_of};

#[test]
fn what_is_fed_in() {
    let acme = named("acme", 5461);
    let storm = |at: usize| {
        // Two hours after the collection, within which 2,000 others expire evenly.
        let after = if at < 4000 {
            7200
        } else {
            60 * (at as u64 % 600) + 90
        };
        format!("session:{at},100,{}", 1_795_341_660 + after)
    };
    check(vec![
        situation("no keys")
            .on(Scene::even(3).keys("key,size", std::iter::empty()))
            .says(&["EMPTY"]),
        situation("a text of 50 words")
            .on(Scene::unlisted().file(
                "words.txt",
                (0..50).map(|at| format!("word{at}\n")).collect(),
            ))
            .says(&["UNJUDGED on 3 equal nodes, assumed (--topology FILE, --nodes N): 50 keys on 3 nodes are too few"]),
        situation("27 keys with sizes")
            .on(Scene::even(3).keys("key,size", (0..27).map(|at| format!("k{at},{}", 100 + at))))
            .says(&["UNJUDGED 27 keys on 3 nodes are too few"]),
        situation("tenants in tags, fewer than two a node")
            .on(Scene::even(12).keys(
                "key",
                (0..60_000).map(|at| format!("{{tenant:{}}}:{at}", at % 20)),
            ))
            .says(&["SKEWED", "20 heavy hash tags with 100% of the keys"])
            .steps(&[Move])
            .and("two on a node are 1.2 times its share", |summary| {
                let after = summary.verdict.steps[0].after.memory.unwrap();
                (after.max_over_mean - 1.2).abs() < 0.001 && after.state.is_uneven()
            }),
        situation("more nodes than tenants")
            .on(Scene::even(12).keys(
                "key",
                (0..60_000).map(|at| format!("{{tenant:{}}}:{at}", at % 8)),
            ))
            .says(&["SKEWED", "8 heavy hash tags with 100% of the keys"])
            .steps(&[Split, Move]),
        situation("a namespace in braces")
            .on(Scene::even(3).keys("key", (0..KEYS).map(|at| format!("{{myapp}}:user:{at}"))))
            .says(&["SKEWED", "hash tag {myapp} (3.00×)"])
            .steps(&[Untag])
            .and(
                "its command takes the braces off, and evens the nodes",
                |summary| {
                    let step = &summary.verdict.steps[0];
                    let command = step.command.as_ref().unwrap().to_string();
                    command.contains("--retag '[{](myapp)[}] => $1'")
                        && step.after.memory.unwrap().max_over_mean <= 1.05
                },
            ),
        balanced("one name in two databases is no repeat").on(Scene::even(3).keys(
            "key,db,size",
            (0..2 * KEYS).map(|at| format!("session:{},{},100", at / 2, at % 2)),
        )),
        balanced("a third of the keys expires in one minute in two hours")
            .on(Scene::even(3).keys("key,size,expiry", (0..KEYS).map(storm)))
            .with(FindingKind::Expiry),
        balanced("all keys live for a minute, by design")
            .on(Scene::even(3).keys(
                "key,size,ttl",
                (0..KEYS).map(|at| format!("session:{at},100,{}", 1 + at % 60)),
            ))
            .without(FindingKind::Expiry),
        situation("a tag that the application has to split")
            .on(Scene::even(3)
                .keys("key", light(KEYS / 3, ""))
                .and((0..KEYS).map(|at| format!("{{{acme}}}:{at}"))))
            .says(&["SKEWED", "hash tag {acme"])
            .steps(&[Split, Move]),
        // A key with 1.07 shares, alone on a node with the few slots around it.
        situation("a slot at 1.07 that nobody can cure is no page for ever")
            .on(Scene::on(&[40, 8212, 16_383])
                .keys("key,size", light(KEYS, ",100"))
                .and([format!("{},660000", named("g", 41))]))
            .says(&["WATCH 10.0.0.1 holds 1.07×", "key g"])
            .and("nothing is to be done, and that is said", |summary| {
                let verdict = &summary.verdict;
                !verdict.actionable && verdict.left.len() == 1
            })
            .and("no node is being filled", |summary| {
                !summary.verdict.sentence.contains("filled or drained")
            }),
    ]);
}

#[test]
fn what_is_asked_for() {
    let uneven = |memory: u64, load: u64| {
        // The first node has half of the slots, with these sizes and operations.
        let row = move |at: usize| {
            let key = format!("session:{at}");
            let is_first = slot_of(&key) < 5461;
            let of = |first: u64| if is_first { first } else { 100 };
            format!("{key},{},{}", of(memory), of(load))
        };
        Scene::even(3).keys("key,size,ops", (0..KEYS).map(row))
    };
    let by = |scene: Scene, metric: Metric| scene.asked(|analysis| analysis.by([metric]));
    check(vec![
        situation("--by keys of a cluster with even bytes")
            .on(by(
                Scene::even(3)
                    .keys("key,size", light(KEYS, ",1000"))
                    .and((0..6000).map(|at| format!("{{{}}}:{at},1", named("c", 5461)))),
                Metric::Keys,
            ))
            .says(&["SKEWED"])
            .steps(&[Split, Move])
            .and("keys have no role", |summary| {
                summary.verdict.roles[0].role.is_none()
            }),
        situation("--by ops of a cluster whose operations are uneven")
            .on(by(uneven(300, 300), Metric::Ops))
            .says(&["SKEWED 10.0.0.1 ", "of operations"])
            .steps(&[Move]),
        situation("--by keys of unequal slots")
            .on(by(half("key,size", ",100"), Metric::Keys))
            .says(&["SKEWED"])
            .steps(&[Move]),
        situation("--by keys does not hide a node at its limit")
            .on(by(even(3), Metric::Keys).servers(noeviction(&[0.95, 0.5, 0.5])))
            .says(&["FULL 10.0.0.1", "95"])
            .steps(&[Free]),
        situation("both roles are uneven: memory comes first, load second")
            .on(uneven(200, 200))
            .says(&["SKEWED 10.0.0.1 holds 1.50× its share of memory"])
            .steps(&[Move])
            .and("load is the second line", |summary| {
                let mut problems = summary.verdict.problems();
                let roles =
                    [problems.next(), problems.next()].map(|found| found.and_then(|of| of.role));
                roles == [Some(Role::Memory), Some(Role::Load)]
            }),
        situation("load above its upper band is worse than memory above its lower")
            .on(uneven(125, 300))
            .says(&["HOT 10.0.0.1 does 1.80× its share of operations"])
            .steps(&[Move]),
        balanced("unequal slots, and the user says that they are meant")
            .on(half("key", "")
                .asked(|analysis| analysis.weights(vec![("10.0.0.1:6379".into(), 2.0)]))),
        situation("unequal slots alone: the way to say that they are meant is said")
            .on(half("key", ""))
            .says(&["SKEWED 10.0.0.1 holds 1.5", "50% of the slots"])
            .steps(&[Move])
            .and("it can be pasted", |summary| {
                let other = summary.verdict.steps[0].alternatives.last().unwrap();
                let command = other.command.as_ref().unwrap().to_string();
                command.starts_with("slotscope analyze ")
                    && command.ends_with("--weight 10.0.0.1:6379=2")
            }),
    ]);
}
