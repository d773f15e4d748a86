//! Kinds of workloads that the rules were not developed on; the right advice was fixed before the first run.

use super::kinds::Kind;
use super::workload::{Right, Workload, change, keys, uuid};
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
    let messages = (0..4 * rooms).map(|i| (rng.below(rooms), 700_000 + 3 * i));
    let messages: Vec<(usize, usize)> = messages.collect();
    let room = |room| keys("room:#:meta room:#:members", room);
    let message = |(room, message): &(usize, usize)| format!("msg:{room}:{message}");
    load.names((0..rooms).flat_map(room));
    load.names(messages.iter().map(message));
    for _ in 0..1500 {
        let picked = *rng.pick(&messages);
        let mut keys = room(picked.0);
        keys.push(message(&picked));
        load.batch(rng.unit() < 0.6, keys);
    }
    load.noisy(rng, noise)
}

/// A device's state and shadow change together; some requests also read its firmware, which all devices share.
fn devices(rng: &mut Rng, noise: f64) -> Workload {
    let devices: Vec<String> = (0..3000).map(|_| uuid(rng)).collect();
    let mut load = Workload::on(9, change(0.0, 3000));
    let parts = |of: &String| ["state", "shadow"].map(|part| format!("prod/device/{of}/{part}"));
    load.names(devices.iter().flat_map(parts));
    load.names((0..20).map(|version| format!("prod/firmware/{version}")));
    for _ in 0..1600 {
        let [state, shadow] = parts(rng.pick(&devices));
        if rng.unit() < 0.7 {
            load.batch(true, vec![state, shadow])
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
    let sessions = (0..5000).map(|_| format!("session:{:016x}{:016x}", rng.next(), rng.next()));
    let sessions: Vec<String> = sessions.collect();
    load.names(sessions.iter().cloned());
    load.names((0..5000).map(|user| format!("account:{}", 10_000 + user)));
    for _ in 0..1500 {
        let at = rng.below(5000);
        let account = format!("account:{}", 10_000 + at);
        load.soft(vec![sessions[at].clone(), account]);
    }
    load.noisy(rng, noise)
}

/// Accounts are tagged; nine of ten scripts stay in one account, the others move money between two, which no tag can
/// cure.
fn transfers(rng: &mut Rng, noise: f64) -> Workload {
    let mut load = Workload::on(6, Right::Keep);
    let of = |account: usize| keys("{acct:#}:balance {acct:#}:history", account);
    load.names((0..6000).flat_map(of));
    for _ in 0..1500 {
        let (from, to) = (rng.below(6000), rng.below(6000));
        if rng.unit() < 0.9 {
            load.batch(true, of(from))
        } else {
            load.soft([from, to].map(|account| of(account).remove(0)).to_vec())
        }
    }
    load.noisy(rng, noise)
}
