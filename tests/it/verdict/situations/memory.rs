//! Memory by bytes, by server readings, or by keys if nothing else is known.

use slotscope::metric::Metric;
use slotscope::source::collection::servers::ServerReading;
use slotscope::summary::finding::FindingKind;
use slotscope::summary::state::Severity;
use slotscope::summary::step::StepKind::{Move, Split};

use super::{KEYS, balanced, check, even, half, situation};
use crate::verdict::scene::{Scene, info, light, named, noeviction};

#[test]
fn how_uneven_memory_is() {
    let giant = named("lb:", 5461);
    let tag = named("acme", 5461);
    let first = named("first", 2731);
    let second = |at: usize| format!("{{second{at}}}:x,3000");
    check(vec![
        situation("uneven at 40% of maxmemory is no emergency")
            .on(half("key,size", ",100").servers(noeviction(&[0.4, 0.2, 0.2])))
            .says(&["SKEWED", "because it owns 50% of the slots"])
            .steps(&[Move])
            .severity(Severity::Warning),
        situation("the same at 80%")
            .on(half("key,size", ",100").servers(noeviction(&[0.8, 0.4, 0.4])))
            .says(&["SKEWED", "50% of the slots"])
            .steps(&[Move])
            .severity(Severity::Critical),
        situation("even")
            .on(even(3))
            .says(&["BALANCED the nodes are even"])
            .and("the tables are by bytes, as memory is known", |summary| {
                summary.by == Metric::Bytes && summary.verdict.memory_known
            }),
        balanced("nodes of other sizes, each as full as the others").on(half("key,size", ",100")
            .servers([1.0, 0.5, 0.5].map(|size| ServerReading {
                maxmemory: Some((1e9 * size) as u64),
                ..info(0.4 * size, "noeviction")
            }))),
        balanced("maxmemory 0 on one of three even nodes").on(even(3).servers([0, 1, 1].map(
            |limit| ServerReading {
                maxmemory: Some(limit * 1_000_000_000),
                ..info(0.3, "noeviction")
            },
        ))),
        balanced("2% more maxmemory on one node is no other hardware").on(even(3).servers(
            [1.02, 1.0, 1.0].map(|size| ServerReading {
                maxmemory: Some((1e9 * size) as u64),
                ..info(0.3, "noeviction")
            }),
        )),
        balanced("slots by hardware that only the user knows of").on(half("key,size", ",100")
            .asked(|analysis| analysis.weights(vec![("node0".into(), 2.0)]))),
        // 12,000 keys of 100 bytes and one key of the same total: 2.0, and 1.5 with the key alone on its node.
        situation("a giant key")
            .on(even(3).and([format!("{giant},1300000")]))
            .says(&["SKEWED", "key lb:"])
            .steps(&[Split, Move])
            .with(FindingKind::BigKey)
            .severity(Severity::Critical)
            .and("the split alone does most of it", |summary| {
                let after = summary.verdict.steps[0].after.memory.unwrap();
                after.max_over_mean < 1.1
            }),
        // Shares of 2.0 (one slot), 1.5, and four times 0.625.
        situation("a giant that stays and a node that can be cured")
            .on(Scene::on(&[8, 6143, 8703, 11_263, 13_823, 16_383])
                .keys("key,size", light(KEYS, ",100"))
                .and([format!("{},600000", named("giant", 9))]))
            .says(&["SKEWED", "key giant"])
            .steps(&[Split])
            .and(
                "the split and the moves after it bring all nodes to their fair shares",
                |summary| {
                    let after = summary.verdict.steps[0].after.memory.unwrap();
                    after.max_over_mean <= 1.031
                },
            ),
        balanced("keys uneven, bytes even")
            .on(Scene::even(3)
                .keys("key,size", light(KEYS, ",1000"))
                .and((0..6000).map(|at| format!("{{{tag}}}:{at},1"))))
            .with(FindingKind::LoadUnknown)
            .and("keys are no role", |summary| {
                summary.verdict.by(Metric::Keys).is_none()
            }),
        // 12,000 keys with 10,000 tags, two of which are heavy by bytes but not by keys.
        situation("bytes uneven, keys even")
            .on(even(3)
                .and((0..40).map(|at| format!("{{{first}}}:{at},6000")))
                .and((0..40).map(second)))
            .says(&["SKEWED", "hash tag {first"])
            .steps(&[Move]),
        situation("sizes for 60% of the keys")
            .on(even(3).and((0..8000).map(|at| format!("other:{at},"))))
            .says(&["UNJUDGED", "8,000 of 20,000 keys have no size", "estimated"]),
        situation("sizes for 20% of the keys")
            .on(Scene::even(3)
                .keys("key,size", light(KEYS / 4, ",100"))
                .and((0..KEYS).map(|at| format!("other:{at},"))))
            .says(&["UNJUDGED", "by their number"]),
        situation("names alone, with what each server says of its dataset")
            .on(Scene::even(3)
                .keys("key", light(KEYS, ""))
                .servers([6e8, 3e8, 3e8].map(|size| ServerReading {
                    used_memory_dataset: Some(size as u64),
                    ..info(0.7, "noeviction")
                })))
            .says(&["SKEWED", "1.50× its share of memory"]),
        situation("names alone")
            .on(Scene::even(3).keys("key", light(KEYS, "")))
            .says(&["BALANCED", "its share of keys"])
            .with(FindingKind::SizesUnknown)
            .and("memory is not known", |summary| {
                !summary.verdict.memory_known
            }),
        situation("four keys of 1 GiB are not too few to judge")
            .on(Scene::even(3).keys(
                "key,size",
                [0, 0, 5461, 10_923]
                    .into_iter()
                    .enumerate()
                    .map(|(at, from)| {
                        let names = (0..).map(|i| format!("big{at}x{i}"));
                        let is_in = |name: &String| {
                            let slot = slotscope::slot::slot(name.as_bytes());
                            (from..from + 5461).contains(&slot)
                        };
                        format!("{},1073741824", names.into_iter().find(is_in).unwrap())
                    }),
            ))
            .says(&["SKEWED", "1.50×"])
            .steps(&[Split, Move])
            .with(FindingKind::BigKey),
    ]);
}
