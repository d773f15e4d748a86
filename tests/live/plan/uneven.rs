//! A cluster in which one node has most slots, and the scripts of a plan for it. PLAN_KEYS: number of keys.
//! PLAN_REPLICAS=1: a replica for each primary. REDIS_CLI: the redis-cli for the scripts.

use std::env;
use std::process::{Child, Command, Output};
use std::thread;
use std::time::Duration;

use super::owners;
use testkit::cluster::{Cluster, Ranges};
use testkit::env::size;
use testkit::kinds::Kind;
use testkit::redis::wait_for;
use testkit::run::{Said, Scratch};

const VALUE: usize = 400;
const FEW_KEYS: usize = 6000;

/// A cluster in which one node has most slots.
pub(super) struct Uneven {
    pub cluster: Cluster,
    pub scratch: Scratch,
    commands: &'static str,
    pub before: Vec<usize>,
}

/// Number of keys in the cluster.
pub(super) fn keys() -> usize {
    size("PLAN_KEYS", FEW_KEYS)
}

impl Uneven {
    /// Only primaries, with few keys.
    pub(super) fn new(kind: Kind, commands: &'static str, options: &[&str]) -> Self {
        Uneven::made_of(kind, commands, options, false, FEW_KEYS)
    }

    /// A replica of each primary: server 3 + i follows server i.
    pub(super) fn with_replicas(kind: Kind, commands: &'static str) -> Self {
        Uneven::made_of(kind, commands, &[], true, FEW_KEYS)
    }

    /// As large as the environment requests.
    pub(super) fn of_campaign(kind: Kind, commands: &'static str) -> Self {
        let replicas = size("PLAN_REPLICAS", 0) > 0;
        Uneven::made_of(kind, commands, &[], replicas, keys())
    }

    fn made_of(
        kind: Kind,
        commands: &'static str,
        options: &[&str],
        replicas: bool,
        keys: usize,
    ) -> Self {
        let shares: [Ranges; 3] = [vec![(0, 9999)], vec![(10000, 13191)], vec![(13192, 16383)]];
        let cluster = with_most_slots(kind, &shares, options, replicas);
        Uneven::filled(cluster, commands, keys)
    }

    /// An existing cluster, after writing these keys to it.
    pub(super) fn filled(cluster: Cluster, commands: &'static str, keys: usize) -> Self {
        let value = vec![b'v'; VALUE];
        cluster.set_all((0..keys).map(|i| (format!("key:{i}"), &value)));
        Uneven {
            before: owners(&cluster),
            scratch: Scratch::new(),
            cluster,
            commands,
        }
    }

    /// Collects, and writes the script that evens the nodes out, and its rollback.
    pub(super) fn plan(&self, more: &str) -> String {
        let (address, commands) = (self.cluster.address(0), self.commands);
        self.scratch
            .text(&format!("collect {address} -o out --force --max-load 100"));
        let plan = format!("plan out --by bytes --commands {commands} --rollback back.sh");
        let script = with_cli(&self.scratch.text(&format!("{plan} {more}")));
        self.scratch.file("move.sh", &script);
        let back = self.scratch.read("back.sh");
        self.scratch.file("back.sh", with_cli(&back));
        script
    }

    /// Runs a script with its arguments.
    pub(super) fn run(&self, line: &str) -> Output {
        self.scratch.shell(format!("exec bash {line}"))
    }

    /// Starts a script whose messages go to `log`.
    fn start(&self, script: &str) -> Child {
        let mut bash = self.scratch.bash(&format!("exec bash {script} 2>log"));
        let child = bash.spawn().unwrap();
        wait_for(|| {
            let is_there = self.scratch.path("log").is_file().then_some(());
            is_there.ok_or("no log".into())
        });
        child
    }

    /// Starts a script and signals it after a while; returns whether it was still running.
    pub(super) fn stopped(&self, script: &str, after: Duration, signal: &str) -> (bool, String) {
        let mut child = self.start(script);
        thread::sleep(after);
        let is_running = child.try_wait().unwrap().is_none();
        let id = child.id().to_string();
        let _ = Command::new("kill").args([signal, &id]).status();
        child.wait().unwrap();
        (is_running, self.scratch.read("log"))
    }

    /// Starts move.sh, runs an action once the first slots have moved, and returns the script's status and output.
    pub(super) fn disturbed(
        &mut self,
        disturb: impl FnOnce(&mut Cluster),
    ) -> (Option<i32>, String) {
        let mut child = self.start("move.sh");
        wait_for(|| {
            let said = self.scratch.read("log");
            assert_eq!(child.try_wait().unwrap(), None, "{said}");
            let has_begun = (owners(&self.cluster) != self.before).then_some(());
            has_begun.ok_or(said)
        });
        disturb(&mut self.cluster);
        let code = child.wait().unwrap().code();
        (code, self.scratch.read("log"))
    }
    /// The owner of each slot according to the scripts' jobs.
    pub(super) fn promised(&self, script: &str) -> Vec<usize> {
        let mut owner = self.before.clone();
        for (_, to, ranges) in jobs(script) {
            let to = self.node(script, to);
            ranges
                .iter()
                .for_each(|(first, last)| owner[*first..=*last].fill(to));
        }
        owner
    }

    /// The server to which a script assigns a number.
    pub(super) fn node(&self, script: &str, number: usize) -> usize {
        let head = format!("name[{number}]=");
        let line = script.lines().find(|line| line.starts_with(&head)).unwrap();
        let mut ids = self.cluster.ids.iter();
        ids.position(|id| line.contains(id)).unwrap()
    }

    pub(super) fn is_as_before(&self) {
        assert_eq!(owners(&self.cluster), self.before);
        for i in 0..3 {
            self.cluster.nodes(i).lacks("->-");
        }
    }
}

/// A cluster with these shares; perhaps with a replica of each primary.
pub(super) fn with_most_slots(
    kind: Kind,
    shares: &[Ranges],
    options: &[&str],
    replicas: bool,
) -> Cluster {
    // A primary that gives its last slot away would become a replica.
    let stays = ["--cluster-allow-replica-migration", "no"];
    let options: Vec<String> = stays.iter().chain(options).map(|of| (*of).into()).collect();
    let mut cluster = Cluster::made_of(kind, shares, |_| options.clone());
    if replicas {
        cluster.add_replicas(&[0, 1, 2], &options);
    }
    cluster
}

/// The redis-cli for the campaign.
pub(super) fn redis_cli() -> String {
    env::var("REDIS_CLI").unwrap_or_else(|_| "redis-cli".into())
}

/// A script that uses it.
pub(super) fn with_cli(script: &str) -> String {
    script.replace("cli=(redis-cli", &format!("cli=('{}'", redis_cli()))
}

/// Source, target and ranges of slots.
pub(super) type Job = (usize, usize, Vec<(usize, usize)>);

/// The jobs of a script.
pub(super) fn jobs(script: &str) -> Vec<Job> {
    let lines = script.lines().skip_while(|line| *line != "jobs=(").skip(1);
    let job = |line: &str| {
        let line = line.trim().trim_matches('\'');
        let words: Vec<&str> = line.split(' ').collect();
        let number = |word: &str| word.parse::<usize>().unwrap();
        let bounds = words[4..].iter().map(|word| word.split_once('-').unwrap());
        let ranges = bounds.map(|(first, last)| (number(first), number(last)));
        (number(words[0]), number(words[1]), ranges.collect())
    };
    lines.take_while(|line| *line != ")").map(job).collect()
}
