//! One node lies about everything, or says nothing any more: no command names a slot that was not planned, no key of a
//! slot is lost, and the script ends. PLAN_LIES: number of runs; PLAN_SILENT: of the calls, every how many one is left
//! unanswered.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use super::hostile_replies::{KINDS, Liar, Stage, id};
use super::uneven::jobs;
use testkit::env::cases;
use testkit::hostile::Answer;
use testkit::prelude::*;
use testkit::rng::Rng;

/// All that a script looks for in replies, and what it must not take from them.
const WORDS: &str = "wanted 12000-12100|next|wanted|OK|NOKEY|(empty array)|(empty list or set)|(integer) 0|(integer) 7|\
    (error) ERR|(nil)|12000-12100|0-16383|5|16384|99999-100000|12000|-|connected|myself|myself,master|master|slave|fail|fail?|\
    replica|handshake|noaddr|cluster_state:ok|cluster_state:fail|role:master|role:slave|used_memory:0|used_memory:9999999999|\
    maxmemory:1|maxmemory_policy:x|evicted_keys:9|evicted_keys:9223372036854775808|loading:1|master_host:;|redis_version:1.0.0|\
    valkey_version:9.0.0|1) \"state\"|2) \"failed\"|1)  1) \"operation\"|operation|state|retries|last_error|message|import|EXPORT|\
    success|completed|failed|running|canceled|already the owner|only with masters|in progress|already migrating|no permissions|\
    not found|module|masteruser|Could not connect|Error: Server closed the connection|CLUSTER SETSLOT 12000 NODE|FLUSHALL|\
    CLUSTER MIGRATESLOTS SLOTSRANGE 12000 12100|1) \"k\" \"x\"|\"|\\|08|9223372036854775808|id[$(touch${IFS}RAN)1]|\
    $(touch${IFS}RAN)|`touch${IFS}RAN`|';touch${IFS}RAN;'|\u{1b}[2J|";

/// A piece of a lie.
fn word(rng: &mut Rng) -> String {
    let words: Vec<&str> = WORDS.split('|').collect();
    let of = |rng: &mut Rng| id(rng.below(4));
    match rng.below(8) {
        0 => of(rng),
        1 => format!("[{}->-{}]", 12_000 + rng.below(100), of(rng)),
        2 => format!("{}-{}", rng.below(16_500), rng.below(16_500)),
        3 => {
            let flags = *rng.pick(&[
                "master",
                "myself,master",
                "slave",
                "myself,slave",
                "master,fail",
            ]);
            let (id, primary) = (
                of(rng),
                *rng.pick(&["-", "0000000000000000000000000000000000000001"]),
            );
            let range = *rng.pick(&[
                "12000-12100",
                "0-16383",
                "0-5 12000-12100",
                "5-0",
                "",
                "[12000->-x]",
            ]);
            format!("{id} 127.0.0.1:7000@1 {flags} {primary} 0 0 1 connected {range}")
        }
        _ => (*rng.pick(&words)).to_owned(),
    }
}

/// A text with lines added, repeated, moved, replaced.
fn changed(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for _ in 0..=rng.below(3) {
        let (at, other) = (rng.below(lines.len()), rng.below(lines.len()));
        match rng.below(6) {
            0 => lines.insert(at, word(rng)),
            1 => lines.insert(at, lines[other].clone()),
            2 => lines.swap(at, other),
            3 => lines[at] = word(rng),
            4 => lines[at] = format!("{} {}", lines[at].trim_end(), word(rng)),
            _ => lines = (0..=rng.below(3)).map(|_| word(rng)).collect(),
        }
    }
    lines.join("\n")
}

/// A reply of the protocol, changed.
fn lie(reply: &str, rng: &mut Rng) -> String {
    let bulk = |text: &str| format!("${}\r\n{text}\r\n", text.len());
    match reply.split_at(1) {
        ("$", rest) => bulk(&changed(
            rest.split_once("\r\n").unwrap().1.trim_end_matches("\r\n"),
            rng,
        )),
        ("*", _) if rng.below(2) == 0 => {
            let items: Vec<String> = (0..rng.below(9)).map(|_| bulk(&word(rng))).collect();
            format!("*{}\r\n{}", items.len(), items.concat())
        }
        (sign, rest) => {
            let sign = if rng.below(2) == 0 { sign } else { "+" };
            let text = changed(rest.trim_end(), rng);
            match sign {
                "*" | ":" => format!(":{}\r\n", rng.below(3)),
                _ => format!("{sign}{}\r\n", text.replace('\r', "")),
            }
        }
    }
}

/// One of three nodes lies, from some reply on, seldom or always.
fn liar(seed: u64) -> Liar {
    let rng = Mutex::new(Rng::new(seed));
    let (node, from, one_in) = {
        let mut rng = rng.lock().unwrap();
        (rng.below(3), rng.below(40), *rng.pick(&[1, 2, 6, 20]))
    };
    let count = AtomicUsize::new(0);
    Box::new(move |me, command, honest| {
        let mut rng = rng.lock().unwrap();
        let is_asked = !command.starts_with("COMMAND") && me == node;
        let is_lie = is_asked && count.fetch_add(1, SeqCst) >= from && rng.below(one_in) == 0;
        Answer::of(if is_lie {
            lie(&honest, &mut rng)
        } else {
            honest
        })
    })
}

/// The slots that a command names.
fn named(command: &str) -> BTreeSet<usize> {
    let words: Vec<&str> = command.split(' ').collect();
    let number = |word: &&&str| word.parse::<usize>().ok();
    let bounds: Vec<usize> = match words.as_slice() {
        [
            "CLUSTER",
            "SETSLOT" | "GETKEYSINSLOT" | "COUNTKEYSINSLOT",
            slot,
            ..,
        ] => [slot, slot]
            .iter()
            .filter_map(|word| word.parse().ok())
            .collect(),
        ["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", rest @ ..]
        | ["CLUSTER", "MIGRATION", "IMPORT", rest @ ..] => {
            rest.iter().map_while(|word| number(&word)).collect()
        }
        _ => Vec::new(),
    };
    bounds.chunks(2).flat_map(|of| of[0]..=of[1]).collect()
}

/// Asserts of a run that only planned slots were named, and nothing was lost or run.
fn is_harmless(stage: &Stage, said: &str, what: &str) {
    let script = stage.scratch.read("script.sh");
    let planned: BTreeSet<usize> = jobs(&script)
        .iter()
        .flat_map(|(.., ranges)| ranges.iter().flat_map(|(first, last)| *first..=*last))
        .collect();
    for (node, command) in stage.world.asked.lock().unwrap().iter() {
        let unplanned = named(command).difference(&planned).next().copied();
        assert_eq!(unplanned, None, "{what}: {command} to node {node}: {said}");
        // The number of keys in one MIGRATE, which no reply decides.
        let at_once = command.strip_prefix("CLUSTER GETKEYSINSLOT ");
        let at_once = at_once.and_then(|words| words.split_once(' ')?.1.parse::<u64>().ok());
        assert!(at_once.unwrap_or(1) <= 100, "{what}: {command}: {said}");
    }
    let lost = stage.world.lost.lock().unwrap();
    assert!(
        lost.is_empty(),
        "{what}: keys of slots {lost:?} are lost: {said}"
    );
    assert!(!stage.scratch.path("RAN").exists(), "{what}: {said}");
    said.lacks("\u{1b}")
        .lacks("unbound variable")
        .lacks("syntax error in expression");
}

#[test]
fn whatever_a_node_says_only_planned_slots_move() {
    at_once(8, 0..cases("PLAN_LIES", 60), |run: usize| {
        let kind = KINDS[run % 3];
        let stage = Stage::with_liar(kind, liar(run as u64), 2);
        let output = stage.scratch.shell("bash script.sh");
        is_harmless(&stage, stderr(&output), &format!("{kind}, seed {run}"));
    });
}

/// A line of the script's own words in a listing once decided what else was moved.
#[test]
fn a_listing_adds_no_slots() {
    at_once(KINDS.len(), KINDS, |kind| {
        let add = |_, command: &str, honest: String| match command {
            "CLUSTER NODES" => {
                let text = honest
                    .split_once("\r\n")
                    .unwrap()
                    .1
                    .trim_end_matches("\r\n");
                Answer::text(&format!("{text}wanted 12000-12100\n"))
            }
            _ => Answer::of(honest),
        };
        let stage = Stage::with_liar(kind, Box::new(add), 60);
        let output = stage.scratch.shell("bash script.sh");
        is_harmless(&stage, stderr(&output), kind);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
    });
}

/// A node stops answering at a call; the script names it and ends, and a later run with the node back ends well.
fn goes_on_after_silence(kind: &str, at: usize) -> usize {
    let (count, silent) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(usize::MAX)),
    );
    let (counted, node) = (Arc::clone(&count), Arc::clone(&silent));
    let hush = move |me, command: &str, honest| {
        let is_asked = !command.starts_with("COMMAND");
        if is_asked && counted.fetch_add(1, SeqCst) == at {
            node.store(me, SeqCst);
        }
        if node.load(SeqCst) == me && is_asked {
            Answer::Hang
        } else {
            Answer::of(honest)
        }
    };
    // A silent node is given up soon; an honest one on a busy machine answers late.
    let limit_secs = if at == usize::MAX { 60 } else { 3 };
    let stage = Stage::with_liar(kind, Box::new(hush), limit_secs);
    let output = stage.scratch.shell("bash script.sh");
    let said = stderr(&output).to_owned();
    let what = format!("{kind}, silent at call {at}");
    is_harmless(&stage, &said, &what);
    let calls = count.load(SeqCst);
    if let Some(server) = stage.servers.get(silent.swap(usize::MAX, SeqCst)) {
        let is_named = said.contains(&server.address()) || said.contains("no answer within");
        assert!(is_named, "{what}: {said}");
        let script = stage.scratch.read("script.sh");
        let patient = script.replace("_secs=3 ", "_secs=60 ");
        assert_ne!(patient, script);
        stage.scratch.file("script.sh", patient);
        let output = stage.scratch.shell("bash script.sh");
        assert_eq!(code(&output), 0, "{what}, then: {}", stderr(&output));
        is_harmless(&stage, stderr(&output), &what);
    }
    calls
}

#[test]
fn a_node_that_is_silent_at_any_call_is_named_and_the_script_goes_on_later() {
    let calls = KINDS.map(|kind| goes_on_after_silence(kind, usize::MAX));
    let parts = cases("PLAN_SILENT", 30);
    at_once(8, 0..KINDS.len() * parts, |case| {
        let (kind, part) = (case % KINDS.len(), case / KINDS.len());
        let at = (2 * part + 1) * calls[kind] / (2 * parts);
        goes_on_after_silence(KINDS[kind], at);
    });
}

/// A silent node keeps nothing from ending: each signal, while a call is waited for, in the first half of all calls, as how
/// often a script asks for progress differs between runs.
#[test]
fn signals_end_a_script_that_waits_for_a_silent_node() {
    let signals = ["TERM", "INT", "HUP"];
    let calls = KINDS.map(|kind| goes_on_after_silence(kind, usize::MAX));
    at_once(8, 0..cases("PLAN_SIGNALS", 60), |run: usize| {
        let (kind, signal) = (KINDS[run % 3], signals[run / 3 % 3]);
        let half = calls[run % 3] / 2;
        // 89 is prime: all calls are met in time.
        let (calls, at) = (AtomicUsize::new(0), run * 89 % half);
        let hush = move |_, command: &str, honest| {
            let is_asked = !command.starts_with("COMMAND");
            if is_asked && calls.fetch_add(1, SeqCst) >= at {
                Answer::Hang
            } else {
                Answer::of(honest)
            }
        };
        let stage = Stage::with_liar(kind, Box::new(hush), 600);
        // Job control, as for a program in front: else the shell lets it ignore INT.
        let line = format!(
            "set -m; bash script.sh 2>log & until grep -q waiting log 2>/dev/null || ! kill -0 $!; do sleep 0.2; done; SECONDS=0
             kill -{signal} $!; wait $!; echo $? $SECONDS"
        );
        let output = stage.scratch.shell(line);
        let (said, log) = (stdout(&output).trim(), stage.scratch.read("log"));
        let (code, secs) = said.split_once(' ').unwrap();
        assert_eq!(code, "130", "{kind}, {signal}: {log}");
        log.says("run this script again to go on")
            .says("waiting for 127.0.0.1:");
        // Two on an idle machine, and 600 if the call is waited for.
        assert!(
            secs.parse::<u32>().unwrap() <= 60,
            "{kind}, {signal}: {secs} s: {log}"
        );
    });
}
