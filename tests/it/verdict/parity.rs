//! A row of moves is what its command does, and the laws of the list, on generated clusters. SLOTSCOPE_CASES: how many.

use std::fmt::Write as _;

use serde_json::Value;
use testkit::env::size;
use testkit::rng::Rng;
use testkit::run::{Scratch, report, stderr, stdout};

/// How a request can differ: what the flags of the run say, all of which the printed command has to repeat.
const FLAGS: [&[&str]; 8] = [
    &[],
    &[],
    &["--maxmemory", "FULL"],
    &["--maxmemory", "ROOMY"],
    &["--weight", "n0=2"],
    &["--by", "ops"],
    &["--by", "bytes,ops"],
    &["--service", "self"],
];

/// A dump, its listing and the flags of the run.
struct Case {
    scratch: Scratch,
    flags: Vec<String>,
    what: String,
}

/// Tenants by Zipf's law, sessions, small tags, a giant or hot key, a hot tag with a hot key; slots even, cut at random,
/// scaled out, or with an empty primary.
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
    let [all_bytes, all_ops] = [
        rows.iter().map(|row| row.1).sum::<u64>(),
        rows.iter().map(|row| row.2).sum::<u64>(),
    ];
    let share = |all: u64, part: f64| (all as f64 * part / nodes as f64) as u64;
    if rng.one_in(3) {
        rows.push(("giant:all".into(), share(all_bytes, 0.3 + rng.unit()), 10));
    }
    if rng.one_in(3) {
        rows.push((
            "hot:page".into(),
            100,
            share(all_ops, 0.3 + 1.5 * rng.unit()),
        ));
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
    let scratch = Scratch::new();
    scratch.file("dump.csv", csv);
    scratch.file("cluster.nodes", listing(nodes, rng));
    let flags = *rng.pick(&FLAGS);
    let held = all_bytes as f64 / nodes as f64;
    let flags = flags.iter().map(|flag| match *flag {
        "FULL" => format!("{}", (held * (1.25 + 0.3 * rng.unit())) as u64),
        "ROOMY" => format!("{}", (held * 4.0) as u64),
        flag => flag.to_owned(),
    });
    let flags: Vec<String> = flags.collect();
    Case {
        what: format!("case {seed}, {nodes} nodes, {flags:?}"),
        scratch,
        flags,
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
    let ends: Vec<usize> = cuts.iter().copied().chain([16_384]).collect();
    let mut text = String::new();
    for node in 0..nodes {
        let first = if node == 0 {
            0
        } else {
            *ends.get(node - 1).unwrap_or(&16_384)
        };
        let slots = match ends.get(node) {
            Some(end) => format!(" {first}-{}", end - 1),
            None => String::new(),
        };
        writeln!(
            text,
            "n{node} 10.0.0.{}:6379@16379 master - 0 0 1 connected{slots}",
            node + 1
        )
        .unwrap();
    }
    text
}

fn analyzed(case: &Case, listing: &str) -> Value {
    let args = [
        "analyze",
        "dump.csv",
        "--topology",
        listing,
        "--json",
        "--depth",
        "0",
    ];
    let flags = case.flags.iter().map(String::as_str);
    report(
        &case
            .scratch
            .run(&args.into_iter().chain(flags).collect::<Vec<_>>()),
    )
}

/// The words of a command before its script.
fn words(command: &str) -> Vec<String> {
    let command = command.strip_prefix("slotscope ").unwrap();
    let command = command.split(" --commands").next().unwrap();
    command
        .split(' ')
        .map(|word| word.replace('\'', ""))
        .collect()
}

/// The step of moves with a command.
fn moves(report: &Value) -> Option<&Value> {
    let mut steps = report["verdict"]["steps"].as_array().unwrap().iter();
    steps.find(|step| step["kind"] == "move" && !step["command"].is_null())
}

fn ratio(role: &Value) -> Option<f64> {
    role["max_over_mean"].as_f64()
}

/// The plan of a row's command makes the row: its slots, keys and bytes, and every ratio.
fn is_what_its_command_does(case: &Case, step: &Value) -> Value {
    let mut words = words(step["command"].as_str().unwrap());
    words.push("--json".into());
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = case.scratch.run(&words);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}: {}",
        case.what,
        stderr(&output)
    );
    let plan: Value = serde_json::from_str(stdout(&output)).unwrap();
    for moved in ["slots_moved", "keys_moved", "bytes_moved"] {
        assert_eq!(step[moved], plan[moved], "{}: {moved} of {step}", case.what);
    }
    for goal in plan["goals"].as_array().unwrap() {
        let role = match (goal["role"].as_str(), goal["metric"].as_str()) {
            (Some("load"), _) => "load",
            (Some(_), Some("bytes")) => "memory",
            _ => continue,
        };
        let (promised, found) = (ratio(&step["after"][role]), goal["after"].as_f64());
        let is_same = promised
            .zip(found)
            .is_none_or(|(a, b)| (a - b).abs() < 1e-6);
        assert!(is_same, "{}: {role} {promised:?} {found:?}", case.what);
    }
    plan
}

/// The listing after the moves of a plan.
fn carried_out(case: &Case, plan: &Value) -> String {
    let text = std::fs::read_to_string(case.scratch.path("cluster.nodes")).unwrap();
    let mut owner = vec![0; 16_384];
    let mut heads = Vec::new();
    for (node, line) in text.lines().enumerate() {
        let mut words = line.split(' ');
        heads.push(words.by_ref().take(8).collect::<Vec<_>>().join(" "));
        for range in words.filter(|range| !range.is_empty()) {
            let (first, last) = range.split_once('-').unwrap();
            let (first, last) = (
                first.parse::<usize>().unwrap(),
                last.parse::<usize>().unwrap(),
            );
            owner[first..=last].fill(node);
        }
    }
    for of in plan["moves"].as_array().unwrap() {
        let to: usize = of["to"].as_str().unwrap()[1..].parse().unwrap();
        for range in of["ranges"].as_array().unwrap() {
            let [first, last] = [0, 1].map(|at| range[at].as_u64().unwrap() as usize);
            owner[first..=last].fill(to);
        }
    }
    let mut after = String::new();
    for (node, head) in heads.iter().enumerate() {
        let slots = (0..16_384).filter(|slot| owner[*slot] == node);
        let slots: String = slots.map(|slot| format!(" {slot}")).collect();
        writeln!(after, "{head}{slots}").unwrap();
    }
    after
}

#[test]
fn a_row_is_what_its_command_does_and_asks_for_nothing_when_carried_out() {
    let mut checked = 0;
    let first = size("SLOTSCOPE_FIRST", 0);
    for seed in first..first + size("SLOTSCOPE_CASES", 6) {
        let case = case(seed);
        let before = analyzed(&case, "cluster.nodes");
        let Some(step) = moves(&before) else { continue };
        let plan = is_what_its_command_does(&case, step);
        checked += 1;
        // No role is above its ceiling: its lower band, or today over the same nodes.
        for (name, today) in step["request"]["before"].as_object().unwrap() {
            let band = before["verdict"]["roles"].as_array().unwrap().iter();
            let mut band = band
                .filter(|role| role["role"] == name.as_str() || role["metric"] == name.as_str());
            let band = band
                .next()
                .and_then(|role| role["bands"]["lower"].as_f64())
                .unwrap_or(1.05);
            let (now, then) = (ratio(today).unwrap(), ratio(&step["after"][name]).unwrap());
            let is_lifted = !step["request"]["lifted"].is_null()
                && step["request"]["lifted"] != serde_json::json!([]);
            assert!(
                then <= now.max(band) + 0.05 || is_lifted,
                "{}: {name} {now} {then} {band}",
                case.what
            );
        }
        case.scratch.file("after.nodes", carried_out(&case, &plan));
        let after = analyzed(&case, "after.nodes");
        assert_ne!(after["verdict"]["state"], "suspicious", "{}", case.what);
        let again = moves(&after);
        assert!(
            again.is_none(),
            "{}: moves again: {step} then {again:?}",
            case.what
        );
    }
    assert!(checked > 0);
}
