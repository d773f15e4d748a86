//! A row of moves equals the effect of its command, and the laws of the list hold, on generated clusters.
//! SLOTSCOPE_PLANS: number of clusters.

use std::fmt::Write as _;

use slotscope::slot::slot;
use slotscope::topology::Topology;
use testkit::env::{cases, size};
use testkit::prelude::*;
use testkit::rng::Rng;

use crate::verdict::carried_out::{listed, owners};
use crate::verdict::scene::{Scene, info, lines_of};

/// Variants of a request: the flags of the run, all of which the printed command must repeat.
const FLAGS: [&[&str]; 8] = [
    &[],
    &[],
    &["--maxmemory", "FULL"],
    &["--maxmemory", "ROOMY"],
    &["--weight", "node0=2"],
    &["--by", "ops"],
    &["--by", "bytes,ops"],
    &["--service", "self"],
];

/// A dump, its listing and the flags of the run.
pub(super) struct Case {
    pub scratch: Scratch,
    pub dump: &'static str,
    pub flags: Vec<String>,
    pub what: String,
}

impl Case {
    /// A case from a named dump and its listing.
    pub(super) fn new(dump: (&'static str, &[u8]), listing: &str, flags: &[&str]) -> Self {
        let scratch = Scratch::new();
        std::fs::create_dir_all(scratch.path(dump.0).parent().unwrap()).unwrap();
        scratch.file(dump.0, dump.1);
        scratch.file("cluster.nodes", listing);
        Case {
            scratch,
            dump: dump.0,
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            what: format!("{} {flags:?}", dump.0),
        }
    }

    /// The files of a scene, as `collect` writes them.
    pub(super) fn of(scene: &Scene) -> Self {
        let table = ("all/keys.csv", scene.table().as_bytes());
        let case = Case::new(table, &scene.listed_as(), &[]);
        case.scratch.file("all/collect.json", scene.described());
        Case {
            dump: "all",
            ..case
        }
    }
}

/// Zipf-distributed tenants, sessions, small tags, a giant or hot key, a hot tag with a hot key; slots even, cut at
/// random, scaled out, or with an empty primary.
fn case(seed: u64) -> Case {
    let rng = &mut Rng::new(seed.wrapping_mul(0x9E37_79B9).wrapping_add(48));
    let nodes = *rng.pick(&[3, 4, 5, 6, 8, 12]);
    let mut rows: Vec<(String, u64, u64)> = Vec::new();
    let keys = nodes * *rng.pick(&[120, 400, 1500]);
    let tenants = 5 + rng.below(200);
    for at in 0..keys {
        let bytes = (6.0 + 1.2 * rng.normal()).exp() as u64 + 40;
        let ops = (4.0 / (1.0 - rng.unit()).powf(0.7)).min(1e4) as u64;
        let name = match rng.below(3) {
            0 => {
                let rank = (tenants as f64).powf(rng.unit()) as usize;
                format!("{{tenant{rank}}}:{at}")
            }
            1 => format!("session:{at}"),
            _ => format!("cart:{{{}}}:{at}", at / 3),
        };
        rows.push((name, bytes, ops));
    }
    let all_bytes: u64 = rows.iter().map(|row| row.1).sum();
    let all_ops: u64 = rows.iter().map(|row| row.2).sum();
    let share = |all: u64, part: f64| (all as f64 * part / nodes as f64) as u64;
    if rng.one_in(3) {
        rows.push(("giant:all".into(), share(all_bytes, 0.3 + rng.unit()), 10));
    }
    if rng.one_in(3) {
        let ops = share(all_ops, 0.3 + 1.5 * rng.unit());
        rows.push(("hot:page".into(), 100, ops));
    }
    if rng.one_in(3) {
        let part = 0.3 + rng.unit();
        rows.push(("{flash}:count".into(), 100, share(all_ops, 0.6 * part)));
        rows.extend((0..9).map(|at| (format!("{{flash}}:{at}"), 300, share(all_ops, 0.04 * part))));
    }
    let mut csv = String::from("key,size,ops\n");
    for (name, bytes, ops) in &rows {
        writeln!(csv, "{name},{bytes},{ops}").unwrap();
    }
    let listing = listing(nodes, rng);
    let held = all_bytes as f64 / nodes as f64;
    if rng.one_in(4) {
        return collected(seed, csv, &listing, &rows, rng);
    }
    let flags = *rng.pick(&FLAGS);
    let flags = flags.iter().map(|flag| match *flag {
        "FULL" => format!("{}", (held * (1.25 + 0.3 * rng.unit())) as u64),
        "ROOMY" => format!("{}", (held * 4.0) as u64),
        flag => flag.to_owned(),
    });
    let flags: Vec<String> = flags.collect();
    let mut case = Case::new(("dump.csv", csv.as_bytes()), &listing, &[]);
    (case.what, case.flags) = (format!("case {seed}, {nodes} nodes, {flags:?}"), flags);
    case
}

/// The same as written by `collect`: the servers report their limits, which differ, and some have none.
fn collected(
    seed: u64,
    csv: String,
    listing: &str,
    rows: &[(String, u64, u64)],
    rng: &mut Rng,
) -> Case {
    let topology = Topology::parse("cluster.nodes", listing.as_bytes()).unwrap();
    let mut held = vec![0; listing.lines().count()];
    for (name, bytes, _) in rows {
        held[topology.owner(slot(name.as_bytes())).unwrap()] += bytes;
    }
    let mean = held.iter().sum::<u64>() as f64 / held.len() as f64;
    let are_all = rng.one_in(2);
    let server = |held: &u64| {
        let mut server = info(0.0, "noeviction");
        let overhead = mean * (0.1 + 0.2 * rng.unit());
        server.used_memory = Some((1.1 * *held as f64 + overhead) as u64);
        let limit = (mean * (1.5 + rng.unit())) as u64;
        server.maxmemory = Some(if are_all || rng.one_in(2) { limit } else { 0 });
        server
    };
    let servers: Vec<_> = held.iter().map(server).collect();
    let rows = csv.lines().skip(1).map(String::from);
    let scene = Scene::listed(listing.into())
        .keys("key,size,ops", rows)
        .servers(servers);
    Case {
        what: format!("case {seed}, collected"),
        ..Case::of(&scene)
    }
}

fn listing(nodes: usize, rng: &mut Rng) -> String {
    let kind = rng.below(4);
    let mut cuts: Vec<usize> = match kind {
        0 => (1..nodes).map(|_| 1 + rng.below(16_382)).collect(),
        1 => (1..nodes - 1)
            .map(|node| node * 16_384 / (nodes - 1))
            .collect(),
        _ => (1..nodes).map(|node| node * 16_384 / nodes).collect(),
    };
    cuts.sort_unstable();
    cuts.dedup();
    let ends: Vec<u64> = cuts
        .into_iter()
        .chain([16_384])
        .map(|end| end as u64 - 1)
        .collect();
    let empty = (ends.len()..nodes).map(|node| {
        format!(
            "node{node} 10.0.0.{}:6379@16379 master - 0 0 1 connected\n",
            node + 1
        )
    });
    lines_of(&ends) + &empty.collect::<String>()
}

pub(super) fn analyzed(case: &Case, listing: &str) -> Value {
    let (dump, flags) = (case.dump, case.flags.join(" "));
    let line = format!("analyze {dump} --topology {listing} --json --depth 0 {flags}");
    case.scratch.report(&line)
}

/// The step of moves with a command.
pub(super) fn moves(report: &Value) -> Option<&Value> {
    let mut steps = report["verdict"]["steps"].list().iter();
    steps.find(|step| step["kind"] == "move" && !step["command"].is_null())
}

pub(super) fn ratio(role: &Value) -> Option<f64> {
    role["max_over_mean"].as_f64()
}

/// The plan from a row's command yields the row: its slots, keys and bytes, and every ratio.
pub(super) fn is_what_its_command_does(case: &Case, step: &Value) -> Value {
    let command = step["command"].text().strip_prefix("slotscope ").unwrap();
    let (line, _) = command.split_once(" --commands").unwrap();
    let plan = case.scratch.report(&format!("{line} --json"));
    for moved in ["slots_moved", "keys_moved", "bytes_moved"] {
        assert_eq!(step[moved], plan[moved], "{}: {moved} of {step}", case.what);
    }
    // The request has a fingerprint of the owners of all slots: the plans are equal, slot by slot.
    assert_eq!(step["request"], plan["request"], "{}", case.what);
    assert!(step["request"]["placement"].is_string(), "{step}");
    plan
}

/// The listing after the moves of a plan.
pub(super) fn carried_out(case: &Case, plan: &Value) -> String {
    let text = case.scratch.read("cluster.nodes");
    let topology = Topology::parse("cluster.nodes", text.as_bytes()).unwrap();
    let mut owner = owners(&topology);
    for of in plan["moves"].list() {
        let mut nodes = topology.nodes.iter();
        let to = nodes.position(|node| node.id == of["to"].text()).unwrap();
        for range in of["ranges"].list() {
            let [first, last] = [0, 1].map(|at| range[at].whole() as usize);
            owner[first..=last].fill(to);
        }
    }
    listed(&owner, &topology)
}

/// The report after the moves of a plan, on readings of servers of then, if there are any.
fn read_again(case: &Case, plan: &Value) -> Value {
    let file = "all/collect.json";
    if case.dump != "all" {
        return analyzed(case, "after.nodes");
    }
    let today = case.scratch.read(file);
    let mut manifest: Value = serde_json::from_str(&today).unwrap();
    let servers = manifest["servers"].as_array_mut().into_iter().flatten();
    for (server, node) in servers.zip(plan["nodes"].list()) {
        let [before, after] = ["before", "after"].map(|when| node["bytes"][when].whole());
        let readings = server
            .as_object_mut()
            .into_iter()
            .flat_map(|server| server.values_mut());
        for used in readings.filter_map(|reading| reading.get_mut("used_memory")) {
            *used = (used.whole() + after - before).into();
        }
    }
    case.scratch.file(file, manifest.to_string());
    let after = analyzed(case, "after.nodes");
    case.scratch.file(file, today);
    after
}

/// The row of moves in a report, whose command does exactly that, and the next report, which asks for no moves.
pub(super) fn followed(case: &Case) -> Option<(Value, Value)> {
    let before = analyzed(case, "cluster.nodes");
    let step = moves(&before)?;
    let plan = is_what_its_command_does(case, step);
    keeps_ceilings(case, &before, step);
    case.scratch.file("after.nodes", carried_out(case, &plan));
    let after = read_again(case, &plan);
    assert_ne!(after["verdict"]["state"], "suspicious", "{}", case.what);
    // First aid leaves the evening out to the plan after it, which its report has announced.
    let is_relief = step["request"]["relief"] == true;
    let again = moves(&after).filter(|again| !is_relief || again["request"]["relief"] == true);
    assert!(again.is_none(), "{}: {step} then {again:?}", case.what);
    Some((step.clone(), after))
}

/// No role exceeds its ceiling: its band, or today's fullest node.
fn keeps_ceilings(case: &Case, before: &Value, step: &Value) {
    let roles = step["request"]["roles"].list();
    for (name, then) in step["after"].as_object().unwrap() {
        let mut judged = before["verdict"]["roles"].list().iter();
        let its =
            judged.find(|role| role["role"] == name.as_str() || role["metric"] == name.as_str());
        let Some(its) = its else { continue };
        let role = roles.iter().find(|role| role["metric"] == its["metric"]);
        let Some(role) = role else { continue };
        let lifted = step["request"]["lifted"].list();
        let today = ratio(&its["fullest"]).unwrap();
        let most = role["ceiling"].float().max(today);
        let then = ratio(then).unwrap();
        let is_kept = then <= most + 1e-6 || lifted.contains(&its["metric"]);
        assert!(is_kept, "{}: {name} {then}, at most {most}", case.what);
    }
}

#[test]
fn a_row_is_what_its_command_does_and_asks_for_nothing_when_carried_out() {
    let mut checked = 0;
    let first = size("SLOTSCOPE_FIRST_PLAN", 0);
    for seed in first..first + cases("SLOTSCOPE_PLANS", 24) {
        checked += usize::from(followed(&case(seed)).is_some());
    }
    assert!(checked > 0);
}
