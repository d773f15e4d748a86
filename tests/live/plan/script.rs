//! The script of a plan, run under load.

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use super::{owners, promised};
use crate::carried_out::probe::SetOnDrop;
use crate::plan::follower::{Follower, contents};
use slotscope::slot::slot;
use testkit::cluster::{Cluster, call_ok};
use testkit::redis::wait_for;
use testkit::rng::Rng;
use testkit::run::{Scratch, assert_contains, stderr, stdout, words};

/// A tag in this slot.
fn tag_of(wanted: u16) -> String {
    (0..)
        .map(|i: u32| format!("{{{i:x}}}"))
        .find(|tag| slot(tag.as_bytes()) == wanted)
        .unwrap()
}

/// Names that are hard for shells, redis-cli and its escapes; `tag` puts them in a slot.
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

pub(super) fn the_script_moves_what_was_planned_and_loses_nothing(cluster: &Cluster) {
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

    // The empty primary is not in the listing: it is the one to add.
    let listing = cluster.nodes(0);
    let known: Vec<&str> = listing
        .lines()
        .filter(|line| !line.contains(&cluster.ids[3]))
        .collect();
    scratch.file("cluster.nodes", known.join("\n").as_bytes());
    let mut args = words("plan --topology cluster.nodes --add 1 --max-slots 24");
    args.extend(dumps.iter().map(String::as_str));
    let plan = scratch.report(&[&args[..], &["--json"]].concat());
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
        // More than fit into one MIGRATE.
        (0..if i == 0 { 250 } else { 0 })
            .for_each(|i| write(format!("{tag}{i}").into_bytes(), b"0"));
    }

    // Concurrent writes: known keys in moving slots, and new ones.
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
                    // Bounded, or a slot fills faster than the script empties it.
                    0 if count < 20_000 => {
                        format!("new:{}:{count}", tags[rng.below(tags.len())]).into_bytes()
                    }
                    _ => known[rng.below(known.len())].clone(),
                };
                let value = count.to_string().into_bytes();
                follower.set(&key, &value);
                written.insert(key, value);
                // A thousand writes per second are enough load; the script needs CPU, too.
                std::thread::sleep(Duration::from_millis(1));
            }
            println!("{count} writes while slots moved");
            written
        });
        // A failed assertion here must not leave the writer running.
        let stopping = SetOnDrop(&stop);
        cut_off_in_the_middle(&scratch, cluster, &promised, &moving);
        let outputs = [run(&scratch, "move.sh"), run(&scratch, "move.sh")];
        drop(stopping);
        let written = writer.join().unwrap();
        outputs.iter().for_each(has_moved_all);
        written
    });

    holds_what_was_written(cluster, &promised, &written);
    the_other_scripts_see_that_all_is_done(cluster, &scripts, &promised);
    the_script_stops_when_time_is_up(cluster, &scripts, &before);
    the_rollback_gives_every_slot_back(cluster, &scratch, &before);
    holds_what_was_written(cluster, &before, &written);
}

/// Whether every key is on the owner of its slot, once, with the last written value.
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
    /// The port of the node to add.
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

    /// Fills in the address of the node to add.
    fn fill_in(&self, file: &str) {
        let script = self.scratch.read(file);
        let known = format!("host[4]=127.0.0.1 port[4]={}", self.port);
        let script = script.replace("host[4]='' port[4]=''", &known);
        self.scratch.file(file, script.as_bytes());
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

/// The test adds keys until they are not spread as planned, which is exit code 1 after all moves.
fn has_moved_all(output: &Output) {
    let said = stderr(output);
    let is_spread = !said.contains("the keys are not spread as planned");
    assert_eq!(output.status.code(), Some(i32::from(!is_spread)), "{said}");
    assert!(
        said.contains("done in ") || said.contains("nothing is left to move"),
        "{said}"
    );
}

/// Stops the script after some slots have moved: the next run must resume there.
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

/// Servers of other versions are not available; the commands of their scripts for any server are tested.
fn the_other_scripts_see_that_all_is_done(
    cluster: &Cluster,
    scripts: &Scripts<'_>,
    promised: &[usize],
) {
    for kind in ["valkey", "redis-8.4"] {
        scripts.make(kind, "other.sh", &[]);
        let done = run(scripts.scratch, "other.sh");
        has_moved_all(&done);
        let script = scripts.scratch.read("other.sh");
        let jobs = script.lines().filter(|line| line.starts_with("    '"));
        let jobs: Vec<&str> = jobs.collect();
        let said = stderr(&done);
        let already = said
            .lines()
            .filter(|line| line.ends_with(" already"))
            .count();
        assert_eq!(already, jobs.len(), "{kind}: {said}");
        assert!(said.contains("nothing is left to move"), "{kind}: {said}");
        // A range that is elsewhere: this server does not know the command, and the script says so.
        let range = jobs[0].trim_matches(['\'', ' ']).split(' ').nth(4).unwrap();
        let back = script.replace(jobs[0], &format!("    '4 1 0 0 {range}'"));
        scripts.scratch.file("other.sh", back.as_bytes());
        let refused = run(scripts.scratch, "other.sh");
        assert_eq!(refused.status.code(), Some(2), "{kind}");
        let said = stderr(&refused);
        assert!(said.contains("cannot move slots as a whole"), "{said}");
    }
    // No script moved anything: neither those with nothing to do nor those that were refused.
    assert_eq!(owners(cluster), promised);
}

/// The way back, with only the last minute left: one slot moves back.
fn the_script_stops_when_time_is_up(cluster: &Cluster, scripts: &Scripts<'_>, before: &[usize]) {
    let back = scripts.scratch.read("back.sh");
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
    assert_contains(stderr(&output), &[&left]);
    assert_eq!(away(), away_at_first - 1);
}

/// As a user with a password and only the permissions named in the manual.
fn the_rollback_gives_every_slot_back(cluster: &Cluster, scratch: &Scratch, before: &[usize]) {
    let password = r#"p"w \ x"#;
    let rights = "~* +cluster +migrate +select +restore-asking +info +dbsize";
    for server in &cluster.servers {
        let secret = format!(">{password}");
        let mut command = vec!["ACL", "SETUSER", "mover", "on", &secret];
        command.extend(rights.split(' '));
        call_ok(&mut server.connect(), &command);
    }
    let script = scratch.read("back.sh");
    scratch.file("back.sh", script.replace("\nuser=''", "\nuser='mover'"));
    let started = Instant::now();
    let mut command = bash(scratch, "back.sh");
    let output = command.env("REDISCLI_AUTH", password).output().unwrap();
    has_moved_all(&output);
    println!("rolled back in {:?}", started.elapsed());
    assert_eq!(owners(cluster), before);
}
