//! Kinds of workloads that the rules were not developed on; the right advice was fixed before the first run.

use super::kinds::Kind;
use super::workload::{Right, Workload, change, uuid};
use crate::rng::Rng;

/// All of them.
pub static OTHER_KINDS: &[Kind] = &[
    ("chat", chat),
    ("devices", devices),
    ("seasons", seasons),
    ("sessions_of_users", sessions_of_users),
    ("transfers", transfers),
];

/// A script posts into a room: its members, its head and the new message. The room is the tag.
fn chat(rng: &mut Rng, noise: f64) -> Workload {
    let rooms = *rng.pick(&[1500, 4000]);
    let mut load = Workload::on(6, change(1.0, rooms));
    let messages: Vec<(usize, usize)> = (0..4 * rooms)
        .map(|i| (rng.below(rooms), 700_000 + 3 * i))
        .collect();
    load.names(
        (0..rooms).flat_map(|room| [format!("room:{room}:meta"), format!("room:{room}:members")]),
    );
    load.names(
        messages
            .iter()
            .map(|(room, message)| format!("msg:{room}:{message}")),
    );
    for _ in 0..1500 {
        let (room, message) = *rng.pick(&messages);
        let keys = [
            format!("room:{room}:meta"),
            format!("room:{room}:members"),
            format!("msg:{room}:{message}"),
        ];
        load.batch(rng.unit() < 0.6, keys.to_vec());
    }
    load.noisy(rng, noise)
}

/// A device's state and shadow change together; some requests also read its firmware, which all devices share.
fn devices(rng: &mut Rng, noise: f64) -> Workload {
    let devices: Vec<String> = (0..3000).map(|_| uuid(rng)).collect();
    let mut load = Workload::on(9, change(0.0, 3000));
    load.names(devices.iter().flat_map(|of| {
        [
            format!("prod/device/{of}/state"),
            format!("prod/device/{of}/shadow"),
        ]
    }));
    load.names((0..20).map(|version| format!("prod/firmware/{version}")));
    for _ in 0..1600 {
        let device = rng.pick(&devices).clone();
        let state = format!("prod/device/{device}/state");
        if rng.unit() < 0.7 {
            load.hard(vec![state, format!("prod/device/{device}/shadow")])
        } else {
            load.soft(vec![state, format!("prod/firmware/{}", rng.below(20))])
        }
    }
    // As many requests of a device as were drawn.
    let of_device = load.batches.iter().filter(|(is_hard, _)| *is_hard).count();
    load.right = change(of_device as f64 / load.batches.len() as f64, 3000);
    load.noisy(rng, noise)
}

/// Six seasons are the tags, the last one has most keys, and every command takes one key: no tag is needed.
fn seasons(rng: &mut Rng, _: f64) -> Workload {
    let mut load = Workload::on(6, change(0.0, 10_000));
    for season in 1..=6 {
        let players = if season == 6 { 8000 } else { 1000 };
        load.names((0..players).map(|player| format!("{{season:{season}}}:rank:{player}")));
    }
    (0..1200).for_each(|_| load.soft(vec![format!("{{season:6}}:rank:{}", rng.below(8000))]));
    load
}

/// A session is looked up, then its user: their names have no bytes in common.
fn sessions_of_users(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    let sessions: Vec<String> = (0..5000)
        .map(|_| format!("session:{:016x}{:016x}", rng.next(), rng.next()))
        .collect();
    load.names(sessions.iter().cloned());
    load.names((0..5000).map(|user| format!("account:{}", 10_000 + user)));
    for _ in 0..1500 {
        let at = rng.below(5000);
        load.soft(vec![
            sessions[at].clone(),
            format!("account:{}", 10_000 + at),
        ]);
    }
    load.noisy(rng, noise)
}

/// Accounts are tagged; nine of ten scripts stay in one account, the others move money between two, which no tag can
/// cure.
fn transfers(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    let keys = |account: usize| {
        vec![
            format!("{{acct:{account}}}:balance"),
            format!("{{acct:{account}}}:history"),
        ]
    };
    load.names((0..6000).flat_map(keys));
    for _ in 0..1500 {
        let (from, to) = (rng.below(6000), rng.below(6000));
        if rng.unit() < 0.9 {
            load.hard(keys(from))
        } else {
            load.soft(vec![
                format!("{{acct:{from}}}:balance"),
                format!("{{acct:{to}}}:balance"),
            ])
        }
    }
    load.noisy(rng, noise)
}
