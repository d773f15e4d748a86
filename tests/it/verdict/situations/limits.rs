//! Nodes near a limit: the limit is the first line, even if the nodes are even.

use slotscope::source::collection::servers::ServerReading;
use slotscope::summary::capacity::Room;
use slotscope::summary::finding::FindingKind;
use slotscope::summary::state::{Severity, State};
use slotscope::summary::step::StepKind::{AddNodes, Free, Move, TakeAgain};

use super::{KEYS, balanced, check, even, situation};
use crate::verdict::scene::{Scene, info, light, noeviction, slot_of};

#[test]
fn how_near_nodes_are_to_their_limits() {
    let with_buffers = |used: f64| ServerReading {
        buffers: Some(if used > 0.9 { 400_000_000 } else { 1_000_000 }),
        ..info(used, "noeviction")
    };
    check(vec![
        situation("even at 95%")
            .on(even(3).servers(noeviction(&[0.95; 3])))
            .says(&["FULL 10.0.0.", "95"])
            .steps(&[Free, AddNodes])
            .severity(Severity::Critical),
        balanced("a cache is full by design")
            .on(even(3).servers([1.0; 3].map(|used| info(used, "allkeys-lru"))))
            .without(FindingKind::NearLimit),
        situation("volatile-ttl where no key has a TTL")
            .on(Scene::even(3)
                .keys("key,size,ttl", light(KEYS, ",100,-1"))
                .servers([0.97; 3].map(|used| info(used, "volatile-ttl"))))
            .says(&["FULL 10.0.0.", "97"])
            .steps(&[Free, Free, AddNodes]),
        balanced("volatile-lru where half of the bytes have a TTL").on(Scene::even(3)
            .keys(
                "key,size,ttl",
                light(KEYS / 2, ",100,-1")
                    .chain((0..KEYS / 2).map(|at| format!("cache:{at},100,86400"))),
            )
            .servers([0.97; 3].map(|used| info(used, "volatile-lru")))),
        situation("all nodes at the limit and evicting")
            .on(even(3)
                .servers([1.0; 3].map(|used| info(used, "allkeys-lru")))
                .since(0, 50, 0.1)
                .since(1, 900, 0.1)
                .since(2, 40, 0.1))
            .says(&["UNJUDGED", "compare evictions"]),
        situation("one of six evicts")
            .on(Scene::on(&[3034, 5704, 8374, 11_044, 13_714, 16_383])
                .keys("key,size", light(4 * KEYS, ",100"))
                .servers([1.0, 0.85, 0.85, 0.85, 0.85, 0.85].map(|used| info(used, "allkeys-lru")))
                .since(0, 500, 0.1))
            .says(&["WATCH 10.0.0.1 evicts keys while", "free"])
            .steps(&[Move])
            .with(FindingKind::Evicting),
        situation("buffers fill a node")
            .on(even(3).servers([0.95, 0.5, 0.5].map(with_buffers)))
            .says(&["FULL 10.0.0.1", "95"])
            .steps(&[Free, Free])
            .first("buffers"),
        balanced("83% without a growth that would say when it is full")
            .on(even(3).servers(noeviction(&[0.83; 3]))),
        situation("83% that grows by a quarter a month")
            .on(even(3)
                .servers(noeviction(&[0.83; 3]))
                .asked(|analysis| analysis.room(growing(0.25))))
            .says(&["WATCH 10.0.0.", "reaches maxmemory in 26 days"])
            .severity(Severity::Warning),
        balanced("no server has a limit")
            .on(even(3).servers([0.5; 3].map(|used| ServerReading {
                maxmemory: Some(0),
                ..info(used, "noeviction")
            })))
            .with(FindingKind::NoLimit),
        situation("CPU at 95% on all nodes")
            .on(even(3)
                .servers(noeviction(&[0.3; 3]))
                .since(0, 0, 0.95)
                .since(1, 0, 0.95)
                .since(2, 0, 0.95))
            .says(&["HOT 10.0.0.", "of a core"])
            .state(State::Limit)
            .steps(&[AddNodes]),
        balanced("buffers that do not count against the limit").on(even(3).servers([0.95; 3].map(
            |used| ServerReading {
                mem_not_counted_for_evict: Some(300_000_000),
                ..info(used, "noeviction")
            },
        ))),
        situation("a node at 98% whose dump lacks another node")
            .on(Scene::even(3)
                .keys(
                    "key,size",
                    light(KEYS, ",100").filter(|row| slot_of(row) < 10_000),
                )
                .servers(noeviction(&[0.98, 0.5, 0.5])))
            .says(&["FULL 10.0.0.1", "98"])
            .steps(&[TakeAgain, Free])
            .with(FindingKind::Suspicious),
        situation("one node at 95%")
            .on(even(1).servers(noeviction(&[0.95])))
            .says(&["FULL 10.0.0.1", "95"])
            .steps(&[Free, AddNodes]),
    ]);
}

fn growing(growth: f64) -> Option<Room> {
    Some(Room {
        growth: Some(growth),
        ..Room::default()
    })
}

#[test]
fn keys_that_a_node_evicted_are_not_missing_from_its_dump() {
    let state = |evicted: u64| {
        let kept = light(8 * KEYS, ",100").enumerate();
        let kept = kept.filter(|(at, row)| slot_of(row) > 5460 || at % 10 >= 3);
        let mut servers = [0.9; 3].map(|used| info(used, "allkeys-lru"));
        servers[0].evicted_keys = Some(evicted);
        let scene = Scene::on(&[5460, 10_922, 16_383]).keys("key,size", kept.map(|(_, row)| row));
        scene.servers(servers).summary().verdict.state
    };
    assert_eq!(state(900), State::Suspicious);
    assert_ne!(state(20_000), State::Suspicious);
}
