//! A shard that is full: few slots give it room first, where another shard has that room.

use slotscope::slot::slot;
use slotscope::source::collection::servers::ServerReading;
use slotscope::summary::Summary;
use slotscope::summary::state::Role;
use slotscope::summary::step::{Step, StepKind};
use testkit::prelude::*;

use crate::verdict::parity::{Case, followed, is_what_its_command_does};
use crate::verdict::scene::{Scene, info, light};

/// Servers with this limit that use so much, as those of a real cluster whose clients need nothing.
fn servers(used: [u64; 3], maxmemory: u64) -> Vec<ServerReading> {
    let reading = used.map(|used| {
        let mut server = info(0.0, "noeviction");
        (server.used_memory, server.maxmemory) = (Some(used), Some(maxmemory));
        // The dataset of a server leaves tables of keys out.
        server.used_memory_dataset = Some(used / 10);
        server.buffers = Some(0);
        server
    });
    reading.into()
}

/// The first node has a tag of 22 MB and a sorted set of 15 MB, and is at 91% of its limit.
fn shop() -> Scene {
    let rows = light(15_000, ",string,1000,1");
    Scene::even(3)
        .keys("key,type,size,elements", rows)
        .and((0..200).map(|at| format!("cart:{{shop-us}}:{at},string,110000,1")))
        .and([String::from("leaderboard:global,zset,15000000,150000")])
        .servers(servers([46_500_000, 9_500_000, 9_500_000], 51_000_000))
}

fn sentence(step: &Step) -> String {
    step.sentence.to_string()
}

fn moves(summary: &Summary) -> Vec<&Step> {
    let steps = summary.verdict.steps.iter();
    steps.filter(|step| step.kind == StepKind::Move).collect()
}

#[test]
fn one_slot_makes_room_first_and_the_rest_is_evened_out_later() {
    let summary = shop().summary();
    let moves = moves(&summary);
    let [first, then] = moves.as_slice() else {
        panic!("{moves:?}");
    };
    let which = slot(b"leaderboard:global");
    let expected =
        format!("now: move slot {which}, 14.31 MiB: the fullest node goes from 91.2% to 61.8%");
    sentence(first).begins(&expected);
    sentence(then).begins("later: even out: move ");
    assert!(
        first.slots_moved == 1 && then.slots_moved > 128,
        "{moves:?}"
    );
    assert!(first.command.is_some() && then.command.is_none());
    // 1.10 of a share are not the reason for either: the sorted set may move.
    assert_eq!(first.longest_block_ms, Some(75.0));
    let [first, then] = [first, then].map(|step| step.after.memory.unwrap().max_over_mean);
    assert!(then < first && first < 2.2, "{first} {then}");
}

#[test]
fn the_command_of_the_first_row_moves_one_slot_and_says_what_it_is_for() {
    let case = Case::of(&shop());
    let (step, _) = followed(&case).unwrap();
    assert_eq!(step["request"]["relief"], true);
    let plan: Value = is_what_its_command_does(&case, &step);
    let limit = plan["goals"].find("limit", "maxmemory");
    assert_eq!(limit["target"], 0.9);
    near(limit["before"].float(), 0.912, 0.001);
    let text = case.scratch.run("plan all --topology cluster.nodes");
    assert_contains(stdout(&text), &["this only makes room"]);
    // Whoever asks for more gets all of it.
    let whole = case
        .scratch
        .report("plan all --topology cluster.nodes --tolerance 3 --json");
    assert!(whole["slots_moved"].whole() > 128, "{whole}");
}

/// A tag of 60,000 small keys, which take about as much in tables as by themselves.
fn small_keys() -> Scene {
    Scene::even(3)
        .keys(
            "key,size",
            (0..60_000).map(|at| format!("s:{{shop-us}}:{at},60")),
        )
        .and(light(3000, ",60"))
        .servers(servers([9_800_000, 3_250_000, 3_250_000], 10_500_000))
}

#[test]
fn what_a_key_takes_in_hash_tables_moves_with_it() {
    let summary = small_keys().summary();
    // No node has room for the tag.
    assert!(moves(&summary).iter().all(|step| step.until.is_none()));
    let first = sentence(&summary.verdict.steps[0]);
    first.begins("now: raise maxmemory of all nodes to 13.00 MiB, so that they stay equal");
    let which = slot(b"{shop-us}");
    first.says(&format!("moving does not help: slot {which} needs about"));
    let command = summary.verdict.steps[0].command.as_ref().unwrap();
    let expected = "redis-cli --cluster call 10.0.0.1:6379 CONFIG SET maxmemory 13631488";
    assert_eq!(command.to_string(), expected);
}

#[test]
fn a_raised_limit_comes_first_where_no_slot_has_to_move() {
    let summary = Scene::even(3)
        .keys("key,size", light(12_000, ",1000"))
        .servers(servers([9_300_000; 3], 10_000_000))
        .summary();
    let steps = &summary.verdict.steps;
    sentence(&steps[0]).begins("now: raise maxmemory of all nodes to 12.00 MiB");
    let kinds: Vec<_> = steps.iter().map(|step| step.kind).collect();
    assert_eq!(kinds, [StepKind::Free, StepKind::AddNodes]);
}

#[test]
fn tables_of_keys_are_not_called_what_is_not_keys() {
    let said = |scene: Scene| scene.summary().verdict.sentence.to_string();
    said(small_keys()).ends("; 3.00 MiB of it is not keys");
    said(shop()).lacks("not keys");
}

#[test]
fn a_node_is_as_full_in_the_table_as_in_the_sentence() {
    let mut readings = servers([400_000_000, 300_000_000, 300_000_000], 1_000_000_000);
    for (reading, dataset) in readings
        .iter_mut()
        .zip([400_000_000, 300_000_000, 200_000_000])
    {
        reading.used_memory_dataset = Some(dataset);
    }
    let scene = Scene::on(&[4095, 8191, 16_383])
        .keys("key", light(20_000, ""))
        .servers(readings);
    let verdict = scene.summary().verdict;
    let fullest = verdict
        .role(Role::Memory)
        .unwrap()
        .fullest
        .as_ref()
        .unwrap();
    let case = Case::of(&scene);
    let output = case.scratch.run("analyze all --topology cluster.nodes");
    let text = String::from_utf8(succeeded(output)).unwrap();
    let row = text
        .lines()
        .find(|line| line.trim_start().starts_with("10.0.0.1"));
    row.unwrap().says(&format!("{:.2}", fullest.max_over_mean));
}
