//! Load by captures, counters and LFU: a rate, for the nodes observed.

use slotscope::metric::Metric;
use slotscope::summary::finding::FindingKind;
use slotscope::summary::measure::Measure;
use slotscope::summary::reason::Reason;
use slotscope::summary::step::StepKind::{Cache, Measure as FindKey, Move, Split};

use super::{KEYS, balanced, check, even, situation};
use crate::verdict::scene::{Readings, Scene, info, light, named, of_node, readings, slot_of};

/// Captures of these nodes for a second each: a command on each of the first `keys` keys, and `hot` on the first node.
fn captures(
    scene: Scene,
    nodes: std::ops::Range<usize>,
    (command, keys): (&'static str, usize),
    hot: &[(&'static str, String)],
) -> Scene {
    nodes.fold(scene, |scene, node| {
        let mut own = of_node(&scene.topology(), node, keys, command);
        if node == 0 {
            own.extend(hot.iter().cloned());
        }
        scene.monitor(node, 1, &own)
    })
}

/// The same of three even nodes.
fn captured(command: &'static str, hot: &[(&'static str, String)]) -> Scene {
    captures(even(3), 0..3, (command, 3000), hot)
}

#[test]
fn what_captures_say() {
    let key = named("cfg:", 5461);
    let tag = named("sale", 5461);
    let hot = |command| vec![(command, key.clone()); 4000];
    let one_tag: Vec<_> = (0..9000)
        .map(|at| ("set", format!("{{{tag}}}:{at}")))
        .collect();
    let hundred = captures(even(100), 0..99, ("get", KEYS), &[]);
    let spans = [(0, 8), (1, 12), (2, 31)].into_iter();
    let by_hand = spans.fold(even(3), |scene, (node, secs)| {
        // 1,000 operations per second on each.
        let own = of_node(&scene.topology(), node, 3000, "get");
        let all: Vec<_> = own.into_iter().cycle().take(1000 * secs as usize).collect();
        scene.monitor(node, secs, &all)
    });
    let few: Vec<_> = (0..200)
        .map(|at| ("get", format!("session:{at}")))
        .collect();
    let slow = (0..3).fold(even(3), |scene, node| {
        let own = of_node(&scene.topology(), node, 600, "get");
        let times = if node == 0 { 3 } else { 1 };
        let all: Vec<_> = own.iter().cycle().take(times * 200).cloned().collect();
        scene.monitor(node, 60, &all)
    });
    let apart = (0..3).fold(even(3), |scene, node| {
        let own = of_node(&scene.topology(), node, 3000, "get");
        let name = format!("10.0.0.{}-6379.monitor", node + 1);
        scene.capture(&name, (3600 * node as u64, 10), &own)
    });
    check(vec![
        balanced("even").on(captured("get", &[])),
        situation("a hot key that is only read")
            .on(captured("get", &hot("get")))
            .says(&["HOT 10.0.0.1 ", "key cfg:"])
            .steps(&[Cache])
            // A cache suffices; no split is needed.
            .others(0),
        situation("a hot key that is only written")
            .on(captured("get", &hot("set")))
            .says(&["HOT 10.0.0.1 ", "key cfg:"])
            .steps(&[Split]),
        situation("a hot key of which nobody knows whether it is read")
            .on(Scene::even(3)
                .keys("key,size,ops", light(KEYS, ",100,1"))
                .and([format!("{key},100,10000")]))
            .says(&["HOT 10.0.0.1 ", "key cfg:"])
            .steps(&[Cache, Split])
            .and("whether a cache helps is not known", |summary| {
                summary.verdict.steps[0].after.load.is_none()
            }),
        situation("a hot slot of several tags that are written")
            .on(captured(
                "set",
                &(0..4000)
                    .map(|at| ("set", format!("{{{tag}}}:{}", at % 7)))
                    .collect::<Vec<_>>(),
            ))
            .says(&["HOT 10.0.0.1 ", "hash tag {sale"])
            .steps(&[Split]),
        balanced("two seconds of six nodes")
            .on(even(6).capture("all.monitor", (0, 2), &few))
            .not_judged(Reason::TooFew),
        balanced("3 to 10 operations a second")
            .on(slow)
            .not_judged(Reason::Idle),
        balanced("captures that were ended by hand after 8, 12 and 31 seconds")
            .on(by_hand)
            .role("of operations"),
        balanced("captures of different hours")
            .on(apart)
            .not_judged(Reason::Counters)
            .role("captured at different times"),
        situation("a capture of one node, and no dump")
            .on(Scene::even(3).monitor(0, 8, &of_node(&even(3).topology(), 0, 3000, "get")))
            .says(&["UNJUDGED"])
            .not_judged(Reason::NotSeen)
            .role("10.0.0.2, 10.0.0.3 of 3 nodes were not captured"),
        situation("a capture of one node")
            .on(captures(even(3), 0..1, ("get", 3000), &hot("get")))
            .says(&[
                "UNJUDGED",
                "10.0.0.2, 10.0.0.3 of 3 nodes were not captured",
            ])
            .not_judged(Reason::NotSeen)
            .with(FindingKind::HotKey),
        situation("99 of 100 nodes captured")
            .on(hundred)
            .says(&["UNJUDGED", "of 100 nodes was not captured"])
            .not_judged(Reason::NotSeen),
        situation("all operations in one tag, by a capture that nobody named")
            .on(even(3).capture("all.monitor", (0, 1), &one_tag))
            .says(&["HOT 10.0.0.1 ", " 3.00×", "hash tag {sale"])
            .steps(&[Split]),
        balanced("a dump of yesterday with a capture of today")
            .on(captured("get", &[]).collected(|manifest| {
                manifest.started = "2026-11-20T10:00:00Z".into();
                manifest.finished = "2026-11-20T10:01:00Z".into();
            }))
            .note("apart"),
    ]);
}

#[test]
fn names_have_no_cpu_time_where_servers_count_it_by_slot() {
    let used = |slot: u16| 1000 + u64::from(slot) % 7;
    let later = |slot: u16| 60_000 + used(slot);
    let rows = (0..3000).map(|at| format!("{{tag{}}}:{at},100", at % 9));
    let scene = Scene::even(3).keys("key,size", rows);
    let summary = scene.slot_stats(&readings(60, &used, &later)).summary();
    assert!(summary.slots.loads.get(Metric::Cpu).is_some());
    let tags = summary.tags.iter().flat_map(|tags| &tags.top);
    let patterns = summary.patterns.iter().flat_map(|patterns| &patterns.top);
    let loads = tags.map(|tag| &tag.load);
    let loads: Vec<_> = loads.chain(patterns.map(|of| &of.kind.load)).collect();
    assert!(loads.len() > 9);
    for load in loads {
        assert_eq!(load.get(Metric::Cpu), None);
        assert!(load.bytes().is_some_and(|bytes| *bytes > 0));
    }
}

#[test]
fn what_counters_say() {
    let used = |slot: u16| 1000 + u64::from(slot) % 7;
    let later = |slot: u16| 60_000 + used(slot);
    let hot = |slot: u16| later(slot) + if slot == 77 { 400_000_000 } else { 0 };
    let of = |scene: Scene, after: &[&dyn Fn(u16) -> u64]| {
        let before = (0..3).map(|node| (0, node, &used as &dyn Fn(u16) -> u64));
        let after = after
            .iter()
            .zip(0..)
            .map(|(after, node)| (60, node, *after));
        let readings: Vec<_> = before.chain(after).collect();
        scene.slot_stats(&readings)
    };
    let little = |slot: u16| used(slot) + 300;
    let put_off = |slot: u16| little(slot) + if slot == 77 { 2_500_000 } else { 0 };
    let clocks = |scene: Scene, cpu: [f64; 3]| {
        let scene = scene.servers([0.3; 3].map(|used| info(used, "noeviction")));
        let of_node = |scene: Scene, node: usize| scene.since(node, 0, cpu[node]);
        (0..3).fold(scene, of_node)
    };
    let both = |after: &[&dyn Fn(u16) -> u64]| of(even(3), after);
    // So few keys that moves need not keep memory even.
    let few = Scene::even(3).keys("key,size", light(90, ",100"));
    let since_start = |days: u64| move |slot: u16| days * 1_000_000 + u64::from(slot) % 7;
    let (old, young) = (since_start(300), since_start(30));
    let single: [Readings<'_>; 3] = [(0, 0, &old), (0, 1, &young), (0, 2, &young)];
    // A node restarts between the readings.
    let restarted = |slot: u16| used(slot) / 2;
    let two: [Readings<'_>; 4] = [(0, 0, &used), (0, 1, &used), (60, 0, &hot), (60, 1, &later)];
    let mixed = captures(even(3).slot_stats(&two), 0..3, ("get", 3000), &[]);
    let aof = |node: usize| {
        let keys = of_node(&even(3).topology(), node, KEYS, "SET").into_iter();
        let text: String = keys
            .map(|(_, key)| format!("*3\r\n$3\r\nSET\r\n${}\r\n{key}\r\n$1\r\n1\r\n", key.len()))
            .collect();
        (format!("10.0.0.{}-6379.aof", node + 1), text)
    };
    let aofs = (0..3)
        .map(aof)
        .fold(even(3), |scene, (name, text)| scene.file(&name, text));
    let lfu = |counters: [u64; 3], hot: bool| {
        let topology = even(3).topology();
        let row = move |at: usize| {
            let key = format!("session:{at}");
            let node = topology.owner(slot_of(&key)).unwrap();
            format!("{key},100,{}", counters[node])
        };
        let scene = Scene::even(3).keys("key,size,lfu", (0..KEYS).map(row));
        let key = hot.then(|| format!("{},100,250", named("hot", 5461)));
        scene.and(key)
    };
    let owners = even(3).topology();
    check(vec![
        balanced("two readings of even nodes")
            .on(both(&[&later, &later, &later]))
            .role("of CPU time"),
        balanced(
            "a command that the host put off for two seconds and a half, on nodes that do little",
        )
        .on(clocks(both(&[&put_off, &little, &little]), [0.05; 3]))
        .role("too idle to judge: 10.0.0.1 "),
        situation("the same where no clock of a process is known")
            .on(both(&[&put_off, &little, &little]))
            .says(&["HOT 10.0.0.1 ", " 1.6"])
            .steps(&[FindKey, Move]),
        situation("the same where the processes' own clocks say so too")
            .on(clocks(
                both(&[&put_off, &little, &little]),
                [0.08, 0.05, 0.05],
            ))
            .says(&["HOT 10.0.0.1 ", " 1.6"])
            .steps(&[FindKey, Move]),
        situation("a hot slot")
            .on(of(few, &[&hot, &later, &later]))
            .says(&[
                "HOT 10.0.0.1 ",
                "slot 77 holds",
                "its tags were not counted",
            ])
            .steps(&[FindKey, Move]),
        balanced("one reading, of nodes up for 300 and for 30 days")
            .on(even(3).slot_stats(&single))
            .not_judged(Reason::Counters)
            .role("take two readings"),
        situation("one of three nodes restarted between the readings")
            .on(both(&[&later, &later, &restarted]))
            .says(&["UNJUDGED", "the counters of 10.0.0.3 started anew"])
            .not_judged(Reason::NotSeen),
        balanced("counters were reset on all nodes")
            .on(both(&[&restarted, &restarted, &restarted]))
            .not_judged(Reason::Counters),
        situation("600 slots went from the first node to the second between the readings")
            .says(&["UNJUDGED"])
            .on(
                even(3).slot_stats_of(&readings(60, &used, &later), |slot, second| {
                    let moved = slot < 600 && second > 0;
                    if moved { Some(1) } else { owners.owner(slot) }
                }),
            )
            .not_judged(Reason::NotSeen),
        balanced(
            "SLOT-STATS of two of three nodes, in the middle of an upgrade, and MONITOR of all",
        )
        .on(mixed)
        .any_role("load is judged by operations", |role| {
            role.metric == Measure::Ops && role.judged
        }),
        balanced("append-only files are writes")
            .on(aofs)
            .role("writes"),
        balanced("new keys, whose LFU counter is the initial one")
            .on(lfu([5; 3], false))
            .and("there is no load", |summary| {
                let mut roles = summary.verdict.roles.iter();
                roles.all(|role| role.metric == Measure::Bytes)
            }),
        balanced("accesses 1.4 times the share are within their band").on(lfu([24, 16, 16], false)),
        balanced("LFU counters of replicas")
            .on(lfu([60, 16, 16], false).collected(|manifest| {
                manifest.nodes[0].role = slotscope::source::collection::servers::Role::Replica;
            }))
            .not_judged(Reason::Counters)
            .role("replicas"),
        situation("a key that gets nearly all accesses")
            .on(lfu([5; 3], true))
            .says(&["HOT 10.0.0.1 ", "accesses", "key hot"])
            .steps(&[Cache, Split]),
    ]);
}
