//! Plans compared with `redis-cli --cluster rebalance`, on the same uneven cluster under the same writes: balance,
//! moves, duration, and clients' waits. PLAN_TABLE: a file for the table, without which nothing is measured;
//! `reports/moves.md` was made this way. PLAN_KEYS: number of keys.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use super::owners;
use super::uneven::{redis_cli, with_most_slots};
use crate::carried_out::probe::SetOnDrop;
use crate::plan::follower::Follower;
use slotscope::slot::slot;
use testkit::cluster::{Cluster, Ranges};
use testkit::env::size;
use testkit::kinds::Kind;
use testkit::rng::Rng;
use testkit::run::Scratch;

/// Slots whose values are four times the normal size.
const LARGE: std::ops::Range<usize> = 0..2500;
/// Slots that get half of the writes.
const HOT: std::ops::Range<usize> = 9000..10500;
const SMALL_VALUE: usize = 250;
/// Writing clients, each with about a thousand writes per second.
const WRITERS: u64 = 2;

/// The keys, and the weight of each slot.
struct Load {
    keys: Vec<String>,
    hot: Vec<String>,
    bytes: Vec<f64>,
    writes: Vec<f64>,
}

impl Load {
    fn new(keys: usize) -> Self {
        let keys: Vec<String> = (0..keys).map(|i| format!("key:{i}")).collect();
        let slot_of = |key: &String| usize::from(slot(key.as_bytes()));
        let hot = keys.iter().filter(|key| HOT.contains(&slot_of(key)));
        let hot: Vec<String> = hot.cloned().collect();
        let (mut bytes, mut writes) = (vec![0.0; 16384], vec![0.0; 16384]);
        for key in &keys {
            bytes[slot_of(key)] += value_size(slot_of(key)) as f64;
            writes[slot_of(key)] += 0.5 / keys.len() as f64;
        }
        for key in &hot {
            writes[slot_of(key)] += 0.5 / hot.len() as f64;
        }
        Load {
            keys,
            hot,
            bytes,
            writes,
        }
    }

    /// The keys with their sizes and writes, as a dump.
    fn dump(&self) -> String {
        let (cold, hot) = (
            1000.0,
            1000.0 * self.keys.len() as f64 / self.hot.len() as f64,
        );
        let row = |key: &String| {
            let slot = usize::from(slot(key.as_bytes()));
            let more = if HOT.contains(&slot) { hot } else { 0.0 };
            format!("{key},{},{:.0}\n", value_size(slot), cold + more)
        };
        let rows: String = self.keys.iter().map(row).collect();
        format!("key,size,ops\n{rows}")
    }
}

fn value_size(slot: usize) -> usize {
    if LARGE.contains(&slot) {
        4 * SMALL_VALUE
    } else {
        SMALL_VALUE
    }
}

/// A cluster of a kind with this load.
fn cluster(kind: Kind, load: &Load) -> Cluster {
    let shares: [Ranges; 3] = [vec![(0, 7999)], vec![(8000, 12191)], vec![(12192, 16383)]];
    let cluster = with_most_slots(kind, &shares, &[], true);
    let size = |key: &String| value_size(usize::from(slot(key.as_bytes())));
    cluster.set_all(load.keys.iter().map(|key| (key, vec![b'v'; size(key)])));
    cluster
}

/// The fullest node in fair shares.
fn skew(weights: &[f64], owners: &[usize]) -> f64 {
    let mut sums = [0.0; 3];
    for (weight, owner) in weights.iter().zip(owners) {
        sums[*owner] += weight;
    }
    3.0 * sums.iter().fold(0.0, |most: f64, sum| most.max(*sum)) / sums.iter().sum::<f64>()
}

/// Writes until `is_over`; returns the latency of each write.
fn write(mut follower: Follower, load: &Load, seed: u64, is_over: &AtomicBool) -> Vec<Duration> {
    let mut rng = Rng::new(seed);
    let mut waits = Vec::new();
    let value = vec![b'w'; 4 * SMALL_VALUE];
    while !is_over.load(Relaxed) {
        let keys = *rng.pick(&[&load.hot, &load.keys]);
        let key = keys[rng.below(keys.len())].as_bytes();
        let size = value_size(usize::from(slot(key)));
        let asked = Instant::now();
        follower.set(key, &value[..size]);
        waits.push(asked.elapsed());
        thread::sleep(Duration::from_millis(1));
    }
    waits
}

/// Evens a cluster out with a program while clients write; returns a row of the table.
fn row(
    kind: Kind,
    what: &str,
    load: &Load,
    even_out: impl FnOnce(&Cluster, &Scratch) -> Command,
) -> String {
    let (cluster, scratch) = (cluster(kind, load), Scratch::new());
    let before = owners(&cluster);
    let mut command = even_out(&cluster, &scratch);
    let is_over = AtomicBool::new(false);
    let (output, took, mut waits) = thread::scope(|threads| {
        let start = |seed| {
            let (follower, is_over) = (Follower::new(&cluster), &is_over);
            threads.spawn(move || write(follower, load, seed, is_over))
        };
        let writers: Vec<_> = (0..WRITERS).map(start).collect();
        let over = SetOnDrop(&is_over);
        let started = Instant::now();
        let output: Output = command.output().unwrap();
        let took = started.elapsed();
        drop(over);
        let waits = writers
            .into_iter()
            .flat_map(|writer| writer.join().unwrap());
        (output, took, waits.collect::<Vec<_>>())
    });
    assert!(output.status.success(), "{output:?}");
    let after = owners(&cluster);
    let moved = (0..16384).filter(|slot| before[*slot] != after[*slot]);
    let (slots, bytes) = moved.fold((0, 0.0), |(slots, bytes), slot| {
        (slots + 1, bytes + load.bytes[slot])
    });
    waits.sort_unstable();
    let p99 = waits[(waits.len() - 1) * 99 / 100];
    let row = format!(
        "| {what} | {:.2} → {:.2} | {:.2} → {:.2} | {slots} | {:.1} MB | {:.1} s | {:.1} ms | {:.0} ms |\n",
        skew(&load.bytes, &before),
        skew(&load.bytes, &after),
        skew(&load.writes, &before),
        skew(&load.writes, &after),
        bytes / 1e6,
        took.as_secs_f64(),
        p99.as_secs_f64() * 1e3,
        waits.last().unwrap().as_secs_f64() * 1e3,
    );
    print!("{row}");
    row
}

/// The plan of `redis-cli` itself.
fn rebalanced(cluster: &Cluster) -> Command {
    let mut command = Command::new(redis_cli());
    command.args(["--cluster", "rebalance", &cluster.address(0)]);
    command
}

/// The script of a plan for memory and load.
fn planned(cluster: &Cluster, scratch: &Scratch, load: &Load, commands: &str) -> Command {
    scratch.file("cluster.nodes", cluster.nodes(0));
    scratch.file("dump.csv", load.dump());
    let plan = "plan dump.csv --topology cluster.nodes --by bytes=2,ops=1";
    let script = scratch.text(&format!("{plan} --commands {commands}"));
    scratch.file("moves.sh", super::uneven::with_cli(&script));
    scratch.bash("exec bash moves.sh")
}

#[test]
fn plans_beside_rebalance() {
    let Some(table) = std::env::var_os("PLAN_TABLE") else {
        println!("NOT MEASURED: PLAN_TABLE names no file");
        return;
    };
    let load = Load::new(size("PLAN_KEYS", 200_000));
    let servers = [
        (Some(Kind::Installed), "Redis 7.0", "setslot"),
        (Some(Kind::Valkey91), "Valkey 9.1", "valkey"),
        (Kind::given(), "Redis unstable", "redis-8.4"),
    ];
    let mut rows = String::new();
    for (kind, name, commands) in servers {
        let Some(kind) = kind else { continue };
        let rebalance = format!("{name} | redis-cli --cluster rebalance");
        rows += &row(kind, &rebalance, &load, |cluster, _| rebalanced(cluster));
        let plan = format!("{name} | plan --commands {commands}");
        rows += &row(kind, &plan, &load, |cluster, scratch| {
            planned(cluster, scratch, &load, commands)
        });
    }
    let head = "| servers | moved by | memory, max/mean | writes, max/mean | slots | data | time | p99 of writes | longest |\n\
        |---|---|--:|--:|--:|--:|--:|--:|--:|\n";
    fs::write(Path::new(&table), format!("{head}{rows}")).unwrap();
}
