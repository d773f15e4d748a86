//! Scripts of plans on servers that move slots one by one and as a whole: stopped anywhere and run again, on targets
//! without room, beside migrations of others. PLAN_STOPS: how often a script is stopped.

use std::collections::HashMap;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use super::owners;
use crate::plan::follower::{Follower, contents};
use crate::support::cluster::{Cluster, Ranges, call_ok};
use crate::support::env::size;
use crate::support::kinds::Kind;
use crate::support::redis::wait_for;
use crate::support::rng::Rng;
use crate::support::run::{Scratch, stderr, stdout, succeeded};
use slotscope::slot::slot;

const KEYS: usize = 6000;
const VALUE: usize = 400;

/// A cluster of which one node has most slots.
struct Uneven {
    cluster: Cluster,
    scratch: Scratch,
    commands: &'static str,
    before: Vec<usize>,
}

impl Uneven {
    fn new(kind: Kind, commands: &'static str, options: &[&str]) -> Self {
        let shares: [Ranges; 3] = [vec![(0, 9999)], vec![(10000, 13191)], vec![(13192, 16383)]];
        // A primary that gives its last slot away would become a replica.
        let stays = ["--cluster-allow-replica-migration", "no"];
        let options: Vec<String> = stays.iter().chain(options).map(|of| (*of).into()).collect();
        let cluster = Cluster::made_of(kind, &shares, |_| options.clone());
        let mut follower = Follower::new(&cluster);
        let value = vec![b'v'; VALUE];
        (0..KEYS).for_each(|i| follower.set(format!("key:{i}").as_bytes(), &value));
        Uneven {
            before: owners(&cluster),
            scratch: Scratch::new(),
            cluster,
            commands,
        }
    }

    /// Collects, and makes the script that evens the nodes out, and the one back.
    fn plan(&self, more: &[&str]) -> String {
        let address = self.cluster.address(0);
        let collect = [
            "collect",
            &address,
            "-o",
            "out",
            "--force",
            "--max-load",
            "100",
        ];
        succeeded(self.scratch.run(&collect));
        let plan = ["plan", "out", "--by", "bytes", "--commands", self.commands];
        let args = [&plan[..], &["--rollback", "back.sh"], more].concat();
        let output = self.scratch.run(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        self.scratch.file("move.sh", stdout(&output).as_bytes());
        stdout(&output).to_owned()
    }

    fn bash(&self, words: &[&str]) -> Command {
        let mut command = Command::new("bash");
        command.args(words).current_dir(self.scratch.path(""));
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.bash(words).output().unwrap()
    }

    /// Starts a script and ends it by a signal after a while; whether it was still running.
    fn stopped(&self, script: &str, after: Duration, signal: &str) -> (bool, String) {
        let log = self.scratch.path("log");
        let mut child = self.bash(&[script]);
        let mut child = child
            .stderr(fs::File::create(&log).unwrap())
            .spawn()
            .unwrap();
        thread::sleep(after);
        let is_running = child.try_wait().unwrap().is_none();
        let id = child.id().to_string();
        let _ = Command::new("kill").args([signal, &id]).status();
        child.wait().unwrap();
        (is_running, fs::read_to_string(log).unwrap())
    }

    /// Who owns each slot by the scripts' jobs.
    fn promised(&self, script: &str) -> Vec<usize> {
        let mut owner = self.before.clone();
        for (_, to, ranges) in jobs(script) {
            let to = self.node(script, to);
            ranges
                .iter()
                .for_each(|(first, last)| owner[*first..=*last].fill(to));
        }
        owner
    }

    /// The server that a script calls by a number.
    fn node(&self, script: &str, number: usize) -> usize {
        let head = format!("name[{number}]=");
        let line = script.lines().find(|line| line.starts_with(&head)).unwrap();
        let ids = self.cluster.ids.iter();
        ids.clone().position(|id| line.contains(id)).unwrap()
    }

    fn is_as_before(&self) {
        assert_eq!(owners(&self.cluster), self.before);
        for i in 0..3 {
            assert!(
                !self.cluster.nodes(i).contains("->-"),
                "{}",
                self.cluster.nodes(i)
            );
        }
    }
}

/// From, to and ranges of slots.
type Job = (usize, usize, Vec<(usize, usize)>);

/// The jobs of a script.
fn jobs(script: &str) -> Vec<Job> {
    let lines = script.lines().skip_while(|line| *line != "jobs=(").skip(1);
    let job = |line: &str| {
        let line = line.trim().trim_matches('\'');
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| word.parse::<usize>().unwrap();
        let range = |word: &&str| {
            let (first, last) = word.split_once('-').unwrap();
            (number(first), number(last))
        };
        (
            number(words[0]),
            number(words[1]),
            words[4..].iter().map(range).collect(),
        )
    };
    lines.take_while(|line| *line != ")").map(job).collect()
}

/// Writes known keys and new ones until it is told to end; what was acknowledged.
fn write(mut follower: Follower, is_over: &AtomicBool) -> HashMap<Vec<u8>, Vec<u8>> {
    let mut rng = Rng::new(11);
    let mut written = HashMap::new();
    let mut count = 0usize;
    while !is_over.load(Relaxed) {
        count += 1;
        let key = match rng.below(4) {
            // Few, so that the keys stay spread as they were.
            0 if count < 2000 => format!("new:{count}"),
            _ => format!("key:{}", rng.below(KEYS)),
        };
        let value = count.to_string().into_bytes();
        follower.set(key.as_bytes(), &value);
        written.insert(key.into_bytes(), value);
        thread::sleep(Duration::from_millis(1));
    }
    println!("{count} writes were acknowledged");
    written
}

fn stopped_anywhere_and_run_again_it_ends_as_planned(kind: Kind, commands: &'static str) {
    let uneven = Uneven::new(kind, commands, &[]);
    let script = uneven.plan(&["--max-job-bytes", "100kb"]);
    assert!(jobs(&script).len() > 3, "{script}");
    let promised = uneven.promised(&script);
    succeeded(uneven.run(&["move.sh", "--check"]));
    uneven.is_as_before();
    let is_over = AtomicBool::new(false);
    let mut rng = Rng::new(3);
    let written = thread::scope(|threads| {
        let writer = threads.spawn(|| write(Follower::new(&uneven.cluster), &is_over));
        let over = crate::carried_out::probe::SetOnDrop(&is_over);
        let mut in_the_middle = 0;
        for stop in 0..size("PLAN_STOPS", 6) {
            let (script, expected) = match stop % 2 {
                0 => ("move.sh", &promised),
                _ => ("back.sh", &uneven.before),
            };
            let signal = ["-TERM", "-KILL", "-INT"][stop as usize / 2 % 3];
            let after = Duration::from_millis(300 + rng.below(2500) as u64);
            let (is_running, said) = uneven.stopped(script, after, signal);
            in_the_middle += usize::from(is_running);
            if is_running && signal == "-TERM" {
                assert!(said.contains("run this script again to go on"), "{said}");
            }
            let again = uneven.run(&[script]);
            assert!(
                again.status.success(),
                "{signal} after {after:?}: {said}\nthen {}",
                stderr(&again)
            );
            uneven.cluster.settles_on(expected);
        }
        println!("{commands}: stopped {in_the_middle} times before its end");
        assert!(in_the_middle > 0);
        drop(over);
        writer.join().unwrap()
    });
    let now = owners(&uneven.cluster);
    let contents = contents(&uneven.cluster);
    for (key, value) in &written {
        let found = contents[now[usize::from(slot(key))]].get(key);
        assert_eq!(found, Some(value), "{}", key.escape_ascii());
    }
    let held: usize = contents.iter().map(HashMap::len).sum();
    let new = written
        .keys()
        .filter(|key| key.starts_with(b"new:"))
        .count();
    assert_eq!(held, KEYS + new, "keys are stored twice or gone");
}

#[test]
fn slots_that_move_one_by_one_may_be_stopped_anywhere() {
    stopped_anywhere_and_run_again_it_ends_as_planned(Kind::Installed, "setslot");
}

#[test]
fn slots_that_move_as_a_whole_may_be_stopped_anywhere() {
    stopped_anywhere_and_run_again_it_ends_as_planned(Kind::Valkey91, "auto");
}

#[test]
fn what_stands_in_the_way_is_said_before_anything_moves() {
    let uneven = Uneven::new(Kind::Installed, "setslot", &[]);
    uneven.plan(&[]);
    let refused = |words: &[&str], expected: &str| {
        let output = uneven.run(words);
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(expected), "{expected}: {said}");
        uneven.is_as_before();
    };
    let set = |name: &str, value: &str| {
        for server in &uneven.cluster.servers[1..] {
            call_ok(&mut server.connect(), &["CONFIG", "SET", name, value]);
        }
    };
    let used = uneven.cluster.servers[1]
        .connect()
        .call(&["INFO", "memory"])
        .text();
    let used = used
        .lines()
        .find_map(|line| line.strip_prefix("used_memory:"))
        .unwrap();
    let limit = (used.trim().parse::<u64>().unwrap() + 200_000).to_string();
    set("maxmemory", &limit);
    refused(&["move.sh", "--check"], "would refuse writes");
    set("maxmemory-policy", "allkeys-lru");
    refused(&["move.sh"], "it would EVICT KEYS (allkeys-lru)");
    set("maxmemory", "0");
    // A user without the rights that keys need to get across.
    for server in &uneven.cluster.servers {
        let rights = [
            "ACL", "SETUSER", "mover", "on", ">p", "~*", "+@all", "-migrate",
        ];
        call_ok(&mut server.connect(), &rights);
    }
    let script = fs::read_to_string(uneven.scratch.path("move.sh")).unwrap();
    let as_user = script.replace("\nuser=''", "\nuser='mover'");
    uneven.scratch.file("move.sh", as_user.as_bytes());
    let output = uneven
        .bash(&["move.sh"])
        .env("REDISCLI_AUTH", "p")
        .output()
        .unwrap();
    assert!(
        stderr(&output).contains("refuses MIGRATE"),
        "{}",
        stderr(&output)
    );
    for server in &uneven.cluster.servers {
        let rights = ["ACL", "SETUSER", "mover", "+migrate", "-restore-asking"];
        call_ok(&mut server.connect(), &rights);
    }
    let output = uneven
        .bash(&["move.sh"])
        .env("VALKEYCLI_AUTH", "p")
        .output()
        .unwrap();
    assert!(
        stderr(&output).contains("refuses RESTORE-ASKING"),
        "{}",
        stderr(&output)
    );
    uneven.is_as_before();
}

#[test]
fn a_migration_that_runs_already_is_waited_for() {
    let uneven = Uneven::new(Kind::Valkey91, "auto", &[]);
    let script = uneven.plan(&[]);
    let (from, to, ranges) = jobs(&script).remove(0);
    let (from, to) = (uneven.node(&script, from), uneven.node(&script, to));
    let mut words: Vec<String> = ["CLUSTER", "MIGRATESLOTS", "SLOTSRANGE"]
        .map(String::from)
        .into();
    words.extend(
        ranges
            .iter()
            .flat_map(|(first, last)| [first.to_string(), last.to_string()]),
    );
    words.extend(["NODE".into(), uneven.cluster.ids[to].clone()]);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    call_ok(&mut uneven.cluster.servers[from].connect(), &words);
    let output = uneven.run(&["move.sh"]);
    assert!(output.status.success(), "{}", stderr(&output));
    uneven.cluster.settles_on(&uneven.promised(&script));
}

#[test]
fn a_target_that_dies_ends_the_script_and_leaves_no_slot_unnamed() {
    let mut uneven = Uneven::new(Kind::Installed, "setslot", &[]);
    let script = uneven.plan(&["--pause-ms", "20"]);
    let target = uneven.node(&script, jobs(&script)[0].1);
    let log = uneven.scratch.path("log");
    let mut command = uneven.bash(&["move.sh"]);
    let mut child = command
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    let before = uneven.before.clone();
    wait_for(|| {
        if owners(&uneven.cluster) == before {
            Err(fs::read_to_string(&log).unwrap())
        } else {
            Ok(())
        }
    });
    uneven.cluster.servers[target].stop();
    assert_eq!(child.wait().unwrap().code(), Some(1));
    let said = fs::read_to_string(&log).unwrap();
    for node in (0..3).filter(|node| *node != target) {
        for line in uneven
            .cluster
            .nodes(node)
            .lines()
            .filter(|line| line.contains("->-"))
        {
            let open = line.split("[").nth(1).unwrap().split('-').next().unwrap();
            assert!(
                said.contains(&format!("slot {open} is open")),
                "{line}: {said}"
            );
        }
    }
}
