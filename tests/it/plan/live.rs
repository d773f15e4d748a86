//! Plans on a real cluster: compared with `redis-cli --cluster rebalance`, and carried out under load by the script.
//! PLAN_LIVE_CASES: how many loads and weights are compared.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use serde_json::Value;
use slotscope::slot::slot;
use slotscope::topology::Topology;

use super::follower::{Follower, contents};
use crate::support::cluster::{Cluster, Ranges, call_ok};
use crate::support::env::size;
use crate::support::redis::{Reply, wait_for};
use crate::support::rng::Rng;
use crate::support::run::{Scratch, report, stderr, stdout};

/// Unequal shares; the last primary is empty.
fn shares() -> [Ranges; 4] {
    [
        vec![(0, 6999)],
        vec![(7000, 12999)],
        vec![(13000, 16383)],
        vec![],
    ]
}

/// One cluster for all of it: starting one takes seconds.
#[test]
fn plans_on_a_real_cluster() {
    let cluster = Cluster::start(&shares());
    for case in 0..size("PLAN_LIVE_CASES", 5) {
        bytes_are_evener_than_after_a_rebalance_of_slots(&cluster, case);
    }
    flush(&cluster);
    the_script_moves_what_was_planned_and_loses_nothing(&cluster);
}

fn flush(cluster: &Cluster) {
    (0..3).for_each(|i| drop(cluster.servers[i].connect().call(&["FLUSHALL"])));
}

/// Who owns each slot, by the number of the server.
fn owners(cluster: &Cluster) -> Vec<usize> {
    let topology = Topology::parse("CLUSTER NODES", cluster.nodes(0).as_bytes()).unwrap();
    let server = |id: &String| cluster.ids.iter().position(|other| other == id).unwrap();
    (0..16384)
        .map(|slot| server(&topology.nodes[topology.owner(slot).unwrap()].id))
        .collect()
}

/// Keys with sizes and tags that differ much, for `case`: SET on their nodes, and as lines of CSV.
fn load(cluster: &Cluster, rng: &mut Rng) -> (Vec<u64>, String) {
    flush(cluster);
    let owner = owners(cluster);
    let mut sets: Vec<Vec<(String, String)>> = vec![Vec::new(); 4];
    let (mut bytes, mut csv) = (vec![0; 16384], String::from("key,size\n"));
    let tags = 10 + rng.below(3000);
    for i in 0..12_000 {
        let most = 1 + rng.below(tags);
        let tag = rng.below(most);
        let key = if i % 2 == 0 {
            format!("user:{i}")
        } else {
            format!("{{tag{tag}}}:{i}")
        };
        let most = 1 + rng.below(800);
        let size = 1 + rng.below(most);
        let at = slot(key.as_bytes());
        bytes[usize::from(at)] += size as u64;
        csv += &format!("{key},{size}\n");
        sets[owner[usize::from(at)]].push((key, "x".repeat(size)));
    }
    for (server, sets) in cluster.servers.iter().zip(&sets) {
        let commands: Vec<Vec<&[u8]>> = sets
            .iter()
            .map(|(key, value)| vec![b"SET".as_slice(), key.as_bytes(), value.as_bytes()])
            .collect();
        let replies = server.connect().pipeline(&commands);
        assert!(
            replies
                .iter()
                .all(|reply| *reply == Reply::Simple("OK".into())),
            "{:?}",
            replies.first()
        );
    }
    (bytes, csv)
}

/// The fullest node in fair shares, and the bytes that change nodes, under the owners `after`.
fn judge(bytes: &[u64], weights: &[f64], before: &[usize], after: &[usize]) -> (f64, u64) {
    let (mut loads, mut moved) = (vec![0; weights.len()], 0);
    for slot in 0..bytes.len() {
        loads[after[slot]] += bytes[slot];
        moved += if before[slot] == after[slot] {
            0
        } else {
            bytes[slot]
        };
    }
    let fair = bytes.iter().sum::<u64>() as f64 / weights.iter().sum::<f64>();
    let over = loads
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > 0.0);
    (
        over.map(|(load, weight)| *load as f64 / (fair * weight))
            .fold(0.0, f64::max),
        moved,
    )
}

fn bytes_are_evener_than_after_a_rebalance_of_slots(cluster: &Cluster, case: u64) {
    let rng = &mut Rng::new(case + 77);
    let (bytes, csv) = load(cluster, rng);
    let with_empty = case.is_multiple_of(2);
    let weights: Vec<f64> = (0..4)
        .map(|i| match i {
            3 if !with_empty => 0.0,
            _ => [1.0, 1.0, 1.5, 2.0][rng.below(4)],
        })
        .collect();
    let before = owners(cluster);
    let theirs = rebalanced(cluster, &weights, &before);

    let scratch = Scratch::new();
    scratch.file("cluster.nodes", cluster.nodes(0).as_bytes());
    scratch.file("dump.csv", csv.as_bytes());
    let mut args = [
        "plan",
        "dump.csv",
        "--topology",
        "cluster.nodes",
        "--by",
        "bytes",
        "--json",
    ]
    .map(String::from)
    .to_vec();
    for (id, weight) in cluster.ids.iter().zip(&weights) {
        args.extend(if *weight > 0.0 {
            ["--weight".into(), format!("{id}={weight}")]
        } else {
            ["--remove".into(), id.clone()]
        });
    }
    let plan = report(&scratch.run(&args.iter().map(String::as_str).collect::<Vec<_>>()));
    let ours = promised(cluster, &plan, &before);

    let (they, they_moved) = judge(&bytes, &weights, &before, &theirs);
    let (we, we_moved) = judge(&bytes, &weights, &before, &ours);
    let floor = plan["floor"].as_f64().unwrap();
    println!(
        "case {case}: floor {floor:.4}; plan {we:.4}, {we_moved} bytes; rebalance {they:.4}, {they_moved} bytes"
    );
    assert!(
        (we - plan["over_fair"].as_f64().unwrap()).abs() < 1e-6 && plan["bytes_moved"] == we_moved,
        "{plan}"
    );
    let near = |found: f64| found <= 1.01 * floor + 1e-9;
    assert!(
        we < they || near(we) && near(they),
        "case {case}: {we} against {they}, floor {floor}"
    );
}

/// The owners after `redis-cli --cluster rebalance`. It says how many slots go from where to where; those are the first
/// that the node has at that time.
fn rebalanced(cluster: &Cluster, weights: &[f64], before: &[usize]) -> Vec<usize> {
    let mut args = vec![
        "--cluster".to_string(),
        "rebalance".into(),
        cluster.address(0),
        "--cluster-simulate".into(),
    ];
    if weights[3] > 0.0 {
        args.push("--cluster-use-empty-masters".into());
    }
    args.push("--cluster-weight".into());
    let given = cluster
        .ids
        .iter()
        .zip(weights)
        .filter(|(_, weight)| **weight > 0.0);
    args.extend(given.map(|(id, weight)| format!("{id}={weight}")));
    let output = Command::new("redis-cli").args(&args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let server = |address: &str| (0..4).find(|i| cluster.address(*i) == address).unwrap();
    let mut owner = before.to_vec();
    for line in text.lines() {
        if let ["Moving", count, "slots", "from", from, "to", to] =
            *line.split(' ').collect::<Vec<_>>()
        {
            let (from, to) = (server(from), server(to));
            owner
                .iter_mut()
                .filter(|of| **of == from)
                .take(count.parse().unwrap())
                .for_each(|of| *of = to);
        }
    }
    let balanced = text.contains("No rebalancing needed");
    assert!(
        balanced != (owner != before),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    owner
}

/// The owners once the moves of `plan` are made; `new-1` is the last server.
fn promised(cluster: &Cluster, plan: &Value, before: &[usize]) -> Vec<usize> {
    let server = |id: &Value| {
        cluster
            .ids
            .iter()
            .position(|other| id == other.as_str())
            .unwrap_or(3)
    };
    let mut owner = before.to_vec();
    for of in plan["moves"].as_array().unwrap() {
        for range in of["ranges"].as_array().unwrap() {
            let [first, last] = [0, 1].map(|end| range[end].as_u64().unwrap() as usize);
            assert!(
                owner[first..=last]
                    .iter()
                    .all(|owner| *owner == server(&of["from"])),
                "{of}"
            );
            owner[first..=last].fill(server(&of["to"]));
        }
    }
    owner
}

/// A tag of the slot.
fn tag_of(wanted: u16) -> String {
    (0..)
        .map(|i: u32| format!("{{{i:x}}}"))
        .find(|tag| slot(tag.as_bytes()) == wanted)
        .unwrap()
}

/// Names that shells, redis-cli and its escapes may trip over; `tag` puts them in a slot.
fn nasty(tag: &str) -> Vec<Vec<u8>> {
    let heads: [&[u8]; 12] = [
        b"\0",
        b"nl\nx\r\n",
        b"\"q\" 'q'",
        b"\\",
        b"\\x41",
        b"\xff\xfe",
        b"$(reboot)`x`",
        b"*?[a]",
        b"%s;|&>",
        b"-h",
        "名".as_bytes(),
        b" \t ",
    ];
    heads
        .iter()
        .flat_map(|head| {
            [
                [head, tag.as_bytes()].concat(),
                [tag.as_bytes(), head].concat(),
            ]
        })
        .collect()
}

fn the_script_moves_what_was_planned_and_loses_nothing(cluster: &Cluster) {
    let scratch = Scratch::new();
    let mut follower = Follower::new(cluster);
    let mut written: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
    let mut write = |key: Vec<u8>, value: &[u8]| {
        follower.set(&key, value);
        written.insert(key, value.to_vec());
    };
    (0..4000).for_each(|i| write(format!("key:{i}").into_bytes(), b"0"));
    write(Vec::new(), b"0");
    for i in 0..3 {
        let dump = cluster.servers[i].redis_cli(&["--no-raw", "--scan"]);
        fs::write(cluster.servers[i].folder().join("dump.keys"), dump).unwrap();
    }
    let dumps: Vec<_> = (0..3)
        .map(|i| {
            cluster.servers[i]
                .folder()
                .join("dump.keys")
                .display()
                .to_string()
        })
        .collect();

    // The empty primary is not in the listing: it is the one to be added.
    let listing = cluster.nodes(0);
    let known: Vec<&str> = listing
        .lines()
        .filter(|line| !line.contains(&cluster.ids[3]))
        .collect();
    scratch.file("cluster.nodes", known.join("\n").as_bytes());
    let mut args = vec![
        "plan",
        "--topology",
        "cluster.nodes",
        "--add",
        "1",
        "--max-slots",
        "24",
    ];
    args.extend(dumps.iter().map(String::as_str));
    let plan = report(&scratch.run(&[&args[..], &["--json"]].concat()));
    let before = owners(cluster);
    let promised = promised(cluster, &plan, &before);
    let moving: BTreeSet<u16> = (0..16384)
        .filter(|slot| before[usize::from(*slot)] != promised[usize::from(*slot)])
        .collect();
    assert!((12..=24).contains(&moving.len()), "{plan}");
    // It waits between slots, so that it can be stopped in the middle.
    let scripts = Scripts {
        scratch: &scratch,
        args: &args,
        port: cluster.servers[3].port,
    };
    scripts.make(
        "setslot",
        "move.sh",
        &["--pause-ms", "60", "--rollback", "back.sh"],
    );
    scripts.fill_in("back.sh");

    for (i, slot) in moving.iter().step_by(6).enumerate() {
        let tag = tag_of(*slot);
        nasty(&tag).into_iter().for_each(|key| write(key, b"0"));
        // More than one MIGRATE takes.
        (0..if i == 0 { 250 } else { 0 })
            .for_each(|i| write(format!("{tag}{i}").into_bytes(), b"0"));
    }

    // What is written meanwhile: known keys of slots that move, and new ones.
    let tags: Vec<String> = moving.iter().map(|slot| tag_of(*slot)).collect();
    let stop = AtomicBool::new(false);
    let written = std::thread::scope(|threads| {
        let writer = threads.spawn(|| {
            let known: Vec<Vec<u8>> = written
                .keys()
                .filter(|key| moving.contains(&slot(key)))
                .cloned()
                .collect();
            let mut rng = Rng::new(5);
            let mut count = 0;
            while !stop.load(Relaxed) {
                count += 1;
                let key = match rng.below(3) {
                    // Not without end, or a slot fills faster than the script empties it.
                    0 if count < 20_000 => {
                        format!("new:{}:{count}", tags[rng.below(tags.len())]).into_bytes()
                    }
                    _ => known[rng.below(known.len())].clone(),
                };
                let value = count.to_string().into_bytes();
                follower.set(&key, &value);
                written.insert(key, value);
                // A thousand writes a second are load enough; the script needs a CPU too.
                std::thread::sleep(Duration::from_millis(1));
            }
            println!("{count} writes while slots moved");
            written
        });
        // A complaint in here must not leave the writer writing.
        let stopping = StopOnDrop(&stop);
        cut_off_in_the_middle(&scratch, cluster, &promised, &moving);
        let outputs = [run(&scratch, "move.sh"), run(&scratch, "move.sh")];
        drop(stopping);
        let written = writer.join().unwrap();
        for output in outputs {
            assert!(output.status.success(), "{}", stderr(&output));
        }
        written
    });

    holds_what_was_written(cluster, &promised, &written);
    the_other_scripts_see_that_all_is_done(cluster, &scripts, &promised);
    the_script_stops_when_time_is_up(cluster, &scripts, &before);
    the_rollback_gives_every_slot_back(cluster, &scratch, &before);
    holds_what_was_written(cluster, &before, &written);
}

/// Whether every key is on the owner of its slot, once, as it was written last.
fn holds_what_was_written(
    cluster: &Cluster,
    owners: &[usize],
    written: &HashMap<Vec<u8>, Vec<u8>>,
) {
    cluster.settles_on(owners);
    let contents = contents(cluster);
    let held: usize = contents.iter().map(HashMap::len).sum();
    assert_eq!(held, written.len(), "keys are stored twice or gone");
    for (key, value) in written {
        let found = contents[owners[usize::from(slot(key))]].get(key);
        let (name, slot) = (key.escape_ascii(), slot(key));
        assert_eq!(found, Some(value), "{name} of slot {slot}");
    }
    let check = cluster.servers[0].redis_cli(&["--cluster", "check", &cluster.address(1)]);
    let check = String::from_utf8(check).unwrap();
    let is_well = check.contains("All nodes agree") && check.contains("All 16384 slots covered");
    assert!(is_well, "{check}");
}

/// The scripts of one plan.
struct Scripts<'a> {
    scratch: &'a Scratch,
    args: &'a [&'a str],
    /// Of the node that is to be added.
    port: u16,
}

impl Scripts<'_> {
    fn make(&self, commands: &str, file: &str, more: &[&str]) {
        let args = [self.args, &["--commands", commands], more].concat();
        let output = self.scratch.run(&args);
        assert!(output.status.success(), "{}", stderr(&output));
        self.scratch.file(file, stdout(&output).as_bytes());
        self.fill_in(file);
    }

    /// Fills in where the node that is to be added listens.
    fn fill_in(&self, file: &str) {
        let script = fs::read_to_string(self.scratch.path(file)).unwrap();
        let known = format!("host[4]=127.0.0.1 port[4]={}", self.port);
        let script = script.replace("host[4]='' port[4]=''", &known);
        self.scratch.file(file, script.as_bytes());
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn bash(scratch: &Scratch, script: &str) -> Command {
    let mut command = Command::new("bash");
    command
        .arg(script)
        .current_dir(scratch.path(""))
        .stdin(Stdio::null());
    command
}

fn run(scratch: &Scratch, script: &str) -> Output {
    bash(scratch, script).output().unwrap()
}

/// Stops the script once some slots have moved: the next run has to go on from there.
fn cut_off_in_the_middle(
    scratch: &Scratch,
    cluster: &Cluster,
    promised: &[usize],
    moving: &BTreeSet<u16>,
) {
    let log = scratch.file("move.log", b"");
    let mut child: Child = bash(scratch, "move.sh")
        .stderr(fs::File::create(&log).unwrap())
        .spawn()
        .unwrap();
    wait_for(|| {
        let owners = owners(cluster);
        let moved = moving
            .iter()
            .map(|slot| usize::from(*slot))
            .filter(|slot| owners[*slot] == promised[*slot])
            .count();
        let said = fs::read_to_string(&log).unwrap();
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "{moved} slots have moved, and the script ended: {said}"
        );
        if moved >= 5 {
            Ok(())
        } else {
            Err(format!("{moved} slots have moved: {said}"))
        }
    });
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Servers of other versions are not here; what their scripts ask of any server is.
fn the_other_scripts_see_that_all_is_done(
    cluster: &Cluster,
    scripts: &Scripts<'_>,
    promised: &[usize],
) {
    for kind in ["valkey", "redis-8.4"] {
        scripts.make(kind, "other.sh", &[]);
        let done = run(scripts.scratch, "other.sh");
        assert!(done.status.success(), "{kind}: {}", stderr(&done));
        let script = fs::read_to_string(scripts.scratch.path("other.sh")).unwrap();
        let ranges: Vec<&str> = script
            .lines()
            .filter(|line| line.starts_with("move "))
            .collect();
        let said = stderr(&done);
        let already = said
            .lines()
            .filter(|line| line.ends_with(" already"))
            .count();
        assert_eq!(already, ranges.len(), "{kind}: {said}");
        assert!(
            said.contains("done in ") && said.contains(" 0 slots "),
            "{kind}: {said}"
        );
        // A range that is elsewhere: this server does not know the command, and the script says so.
        let words: Vec<&str> = ranges[0].split(' ').collect();
        let back = format!("{script}\nmove {} {} 4 1 0\n", words[1], words[2]);
        scripts.scratch.file("other.sh", back.as_bytes());
        let refused = run(scripts.scratch, "other.sh");
        assert_eq!(refused.status.code(), Some(1), "{kind}");
        let said = stderr(&refused).to_lowercase();
        assert!(said.contains("unknown subcommand"), "{said}");
    }
    // No script moved anything: neither those that had nothing to do nor those that were refused.
    assert_eq!(owners(cluster), promised);
}

/// The way back, with all minutes but the last over: one slot goes back.
fn the_script_stops_when_time_is_up(cluster: &Cluster, scripts: &Scripts<'_>, before: &[usize]) {
    let back = fs::read_to_string(scripts.scratch.path("back.sh")).unwrap();
    let late = back
        .replace("max_minutes=0", "max_minutes=1")
        .replace("declare -a name", "SECONDS=60; declare -a name");
    scripts.scratch.file("late.sh", late.as_bytes());
    let away = || {
        let now = owners(cluster);
        now.iter()
            .zip(before)
            .filter(|(now, before)| now != before)
            .count()
    };
    let away_at_first = away();
    let output = run(scripts.scratch, "late.sh");
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    let left = format!("stopped after 1 min with {} slots left", away_at_first - 1);
    assert!(
        stderr(&output).contains(&left),
        "{left}: {}",
        stderr(&output)
    );
    assert_eq!(away(), away_at_first - 1);
}

/// As a user that has a password and no more rights than the manual names.
fn the_rollback_gives_every_slot_back(cluster: &Cluster, scratch: &Scratch, before: &[usize]) {
    let password = r#"p"w \ x"#;
    let rights = "~* +cluster +migrate +select +restore-asking";
    for server in &cluster.servers {
        let secret = format!(">{password}");
        let mut command = vec!["ACL", "SETUSER", "mover", "on", &secret];
        command.extend(rights.split(' '));
        call_ok(&mut server.connect(), &command);
    }
    let script = fs::read_to_string(scratch.path("back.sh")).unwrap();
    scratch.file("back.sh", script.replace("\nuser=''", "\nuser='mover'"));
    let started = Instant::now();
    let mut command = bash(scratch, "back.sh");
    let output = command.env("REDISCLI_AUTH", password).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    println!("rolled back in {:?}", started.elapsed());
    assert_eq!(owners(cluster), before);
}
