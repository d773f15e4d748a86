//! Situations by the listing: failures, moves in progress, nodes that fill up, replicas, one node, many.

use slotscope::source::collection::servers::ServerReading;
use slotscope::summary::finding::FindingKind;
use slotscope::summary::state::Severity;
use slotscope::summary::step::StepKind::{Move, Repair, TakeAgain};

use super::{KEYS, balanced, check, even, situation};
use crate::verdict::scene::{Scene, even_ends, info, light, lines_of, slot_of};

/// Three even nodes, with `from` replaced by `to` in their listing.
fn listed(from: &str, to: &str) -> Scene {
    let listing = lines_of(&even_ends(3));
    assert!(listing.contains(from), "{listing}");
    of(listing.replace(from, to))
}

/// Three even nodes with an additional line.
fn with_line(line: &str) -> Scene {
    of(lines_of(&even_ends(3)) + line)
}

/// A listing and keys of equal sizes.
fn of(listing: String) -> Scene {
    Scene::listed(listing).keys("key,size", light(KEYS, ",100"))
}

/// Fails the primary at an address.
fn failed(listing: &str, address: &str) -> String {
    let primary = format!("{address}:6379@16379 master");
    listing.replace(&primary, &format!("{primary},fail"))
}

const REPLICAS: &str = "r0 10.0.1.1:6379@16379 slave node0 0 0 1 connected\n\
    r1 10.0.1.2:6379@16379 slave node1 0 0 1 connected\n\
    r2 10.0.1.3:6379@16379 slave node2 0 0 1 connected\n";

fn failed_with(replicas: &str) -> Scene {
    of(failed(&lines_of(&even_ends(3)), "10.0.0.2") + replicas)
}

#[test]
fn what_is_down() {
    let said_fail = |states: [&'static str; 3]| {
        with_line("").servers(states.map(|state| ServerReading {
            cluster_state: Some(state.into()),
            ..info(0.3, "noeviction")
        }))
    };
    let lacking = light(KEYS, ",100").filter(|row| slot_of(row) < 10_000);
    let open = "5461-10922 [6000->-node0]";
    check(vec![
        situation("a failed primary with a replica")
            .on(failed_with(REPLICAS))
            .says(&["DOWN 10.0.0.2 failed: 5,462 slots are not served"])
            .steps(&[Repair])
            .severity(Severity::Critical)
            .first("bring 10.0.0.2 back")
            .and("its replica is the other way", |summary| {
                let other = &summary.verdict.steps[0].alternatives[0].sentence;
                other.contains("replica with the highest offset")
            }),
        situation("a failed primary without a replica")
            .on(failed_with(
                "r0 10.0.1.1:6379@16379 slave node0 0 0 1 connected\n",
            ))
            .says(&["DOWN 10.0.0.2 failed"])
            .steps(&[Repair])
            // There is no replica to promote.
            .others(0),
        situation("a failed primary, and a slot that is open")
            .on(of(
                failed(&lines_of(&even_ends(3)), "10.0.0.2").replace("5461-10922", open)
            ))
            .says(&["DOWN 10.0.0.2 failed"])
            .steps(&[Repair, Repair])
            .and(
                "no step is --cluster fix, which would give slots away empty",
                |summary| {
                    let steps = summary.verdict.steps.iter();
                    steps.filter_map(|step| step.command.as_ref()).count() == 0
                },
            ),
        situation("a failed primary of an uneven cluster")
            .on(of(failed(&lines_of(&[8191, 12_287, 16_383]), "10.0.0.3")))
            .says(&["DOWN 10.0.0.3 failed: 4,096 slots are not served"])
            .steps(&[Repair])
            .and("skew is the second line", |summary| {
                let problems = summary.verdict.problems().map(|found| found.kind);
                problems.eq([FindingKind::Down, FindingKind::Skew])
            }),
        situation("a primary that one node suspects")
            .on(listed(
                "10.0.0.2:6379@16379 master -",
                "10.0.0.2:6379@16379 master,fail? -",
            ))
            .says(&["WATCH 10.0.0.2 is suspected to have failed"])
            .severity(Severity::Warning),
        situation("slots without an owner")
            .on(listed("5461-10922", "5461-10900"))
            .says(&["DOWN 22 slots have no owner"])
            .steps(&[Repair, TakeAgain])
            .and("fix gives them one", |summary| {
                let command = summary.verdict.steps[0].command.as_ref();
                command.is_some_and(|command| command.to_string().contains("--cluster fix"))
            }),
        situation("most primaries say cluster_state:fail")
            .on(said_fail(["fail", "fail", "ok"]))
            .says(&["DOWN 10.0.0.1, 10.0.0.2 say cluster_state:fail: 10,923 slots are not served"])
            .steps(&[Repair]),
        situation("all primaries say cluster_state:fail")
            .on(said_fail(["fail", "fail", "fail"]))
            .says(&["DOWN 3 of 3 primaries say cluster_state:fail"])
            .steps(&[Repair]),
        situation("one primary alone says cluster_state:fail")
            .on(said_fail(["ok", "fail", "ok"]))
            .says(&["DOWN 10.0.0.2 says cluster_state:fail: 5,462 slots are not served"])
            .steps(&[Repair]),
        situation("a primary that nobody has as failed does not answer")
            .on(said_fail(["ok", "ok", "ok"]).silent(1))
            .says(&["DOWN 10.0.0.2 does not answer: 5,462 slots are not served"])
            .steps(&[Repair]),
        situation("a failed primary does not answer either")
            .on(failed_with(REPLICAS)
                .servers((0..3).map(|_| info(0.3, "noeviction")))
                .silent(1))
            .says(&["DOWN 10.0.0.2 failed: 5,462 slots are not served"])
            .steps(&[Repair]),
        situation("down, and a dump that lacks a node")
            .on(failed_with(REPLICAS).keys("key,size", lacking))
            .says(&["DOWN 10.0.0.2 failed"])
            .steps(&[Repair, TakeAgain])
            .with(FindingKind::Suspicious),
    ]);
}

#[test]
fn what_is_moving() {
    // One of four nodes with 600 slots, then with 160.
    let filling = |last: u64| {
        let rest = 16_383 - last;
        Scene::on(&[rest / 3, 2 * rest / 3, rest, 16_383]).keys("key,size", light(2 * KEYS, ",100"))
    };
    let turns = |words: &'static str| {
        move |summary: &slotscope::summary::Summary| {
            let other = &summary.verdict.steps[0].alternatives[0];
            let command = other.command.as_ref().map(ToString::to_string);
            other.sentence.contains(words) && command.is_some_and(|of| of.contains("--remove"))
        }
    };
    check(vec![
        situation("a slot is on its way")
            .on(listed("5461-10922", "5461-10922 [6000->-node0]"))
            .says(&["BALANCED"])
            .steps(&[Repair])
            .with(FindingKind::OpenSlot),
        situation("an empty new node")
            .on(with_line(
                "node3 10.0.0.4:6379@16379 master - 0 0 1 connected\n",
            ))
            .says(&["BALANCED"])
            .steps(&[Move])
            .with(FindingKind::EmptyNode),
        situation("a new node with its first slots")
            .on(filling(600))
            .says(&[
                "WATCH",
                "10.0.0.4 owns few slots: is it being filled or drained?",
            ])
            .steps(&[Move])
            .and(
                "emptying it is the other way",
                turns("empty 10.0.0.4 instead"),
            ),
        situation("a node that is nearly drained")
            .on(filling(160))
            .says(&[
                "WATCH",
                "10.0.0.4 owns few slots: is it being filled or drained?",
            ])
            .steps(&[Move])
            .and(
                "filling it is the other way",
                turns("empty 10.0.0.4 instead"),
            ),
        situation("a new node with its first slots while another is at its limit")
            .on(filling(600).servers([0.93, 0.6, 0.6, 0.1].map(|used| info(used, "noeviction"))))
            .says(&["FULL 10.0.0.1", "93"])
            .steps(&[slotscope::summary::step::StepKind::Free, Move]),
        balanced("primaries without replicas, by design")
            .on(with_line(""))
            .with(FindingKind::NoReplica)
            .and("it is one notice", |summary| {
                let findings = summary.verdict.findings.iter();
                let lacking: Vec<_> = findings
                    .filter(|found| found.kind == FindingKind::NoReplica)
                    .collect();
                lacking.len() == 1 && lacking[0].severity == Severity::Notice
            }),
        balanced("one primary of three lacks a replica")
            .on(with_line(REPLICAS.split_once('\n').unwrap().1))
            .and("it is a warning that names it", |summary| {
                let mut findings = summary.verdict.findings.iter();
                findings.any(|found| {
                    found.kind == FindingKind::NoReplica
                        && found.severity == Severity::Warning
                        && found.sentence.contains("10.0.0.1")
                })
            }),
        balanced("a replica took over while the keys were read")
            .on(with_line("").collected(|manifest| {
                manifest.failovers = vec![slotscope::source::collection::manifest::Failover {
                    from: "old".into(),
                    to: "node1".into(),
                    slots: 5462,
                }];
            }))
            .note("replica took over meanwhile: 1"),
    ]);
}

#[test]
fn how_many_nodes_there_are() {
    check(vec![
        situation("one node")
            .on(even(1))
            .says(&["BALANCED one node, 10.0.0.1:6379: nothing to compare"]),
        situation("two nodes")
            .on(Scene::on(&[9999, 16_383]).keys("key,size", light(KEYS, ",100")))
            .says(&["SKEWED 10.0.0.1 holds 1.2", "61% of the slots"])
            .steps(&[Move]),
        balanced("a hundred nodes").on(Scene::even(100).keys("key,size", light(150_000, ",100"))),
        situation("two primaries where nothing names the nodes of the cluster")
            .on(Scene::unlisted().keys(
                "key,size",
                light(KEYS, ",100").chain((0..KEYS).map(|at| format!("{{acme}}:{at},100"))),
            ))
            .says(&[
                "SKEWED on 3 equal nodes, assumed (--topology FILE, --nodes N): ",
                "hash tag {acme}",
            ])
            .steps(&[slotscope::summary::step::StepKind::Split, Move])
            .severity(Severity::Warning)
            .and("the nodes are assumed", |summary| summary.verdict.assumed),
    ]);
}
