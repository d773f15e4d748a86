//! The script of a plan with keys that are hard for it, its rollback, and the scripts for other servers. That nothing is
//! lost under writes, and if it is stopped, is tested in `stops`.

use std::collections::HashMap;
use std::process::Output;

use super::{owners, promised};
use crate::plan::follower::contents;
use slotscope::slot::slot;
use testkit::cluster::Cluster;
use testkit::prelude::*;
/// A tag in this slot.
fn tag_of(wanted: usize) -> String {
    let mut tags = (0..).map(|i: u32| format!("{{{i:x}}}"));
    tags.find(|tag| usize::from(slot(tag.as_bytes())) == wanted)
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
    let tag = tag.as_bytes();
    let both = heads
        .iter()
        .flat_map(|head| [[head, tag].concat(), [tag, head].concat()]);
    both.collect()
}

pub(super) fn the_script_moves_what_was_planned_and_loses_nothing(cluster: &Cluster) {
    let scratch = Scratch::new();
    let mut keys: Vec<Vec<u8>> = (0..4000).map(|i| format!("key:{i}").into_bytes()).collect();
    keys.push(Vec::new());
    cluster.set_all(keys.iter().map(|key| (key, "0")));
    for i in 0..3 {
        let dump = cluster.servers[i].redis_cli(&["--no-raw", "--scan"]);
        scratch.file(&format!("{i}.keys"), dump);
    }
    // The empty primary is not in the listing: it is the one to add.
    let listing = cluster.nodes(0);
    let known = listing
        .lines()
        .filter(|line| !line.contains(&cluster.ids[3]));
    scratch.file("cluster.nodes", known.collect::<Vec<_>>().join("\n"));
    let scripts = Scripts {
        scratch: &scratch,
        port: cluster.servers[3].port,
    };
    let plan = scratch.report(&format!("{PLAN} --json"));
    let before = owners(cluster);
    let promised = promised(cluster, &plan, &before);
    let moving = (0..16384).filter(|slot| before[*slot] != promised[*slot]);
    let moving: Vec<usize> = moving.collect();
    assert!((12..=24).contains(&moving.len()), "{plan}");
    scripts.make("setslot", "move.sh", "--rollback back.sh");
    scripts.fill_in("back.sh");

    for (i, slot) in moving.iter().step_by(6).enumerate() {
        let tag = tag_of(*slot);
        keys.extend(nasty(&tag));
        // More than fit into one MIGRATE.
        let many = (0..if i == 0 { 250 } else { 0 }).map(|i| format!("{tag}{i}").into_bytes());
        keys.extend(many);
    }
    cluster.set_all(keys.iter().map(|key| (key, "1")));
    (0..2).for_each(|_| has_moved_all(&run(&scratch, "move.sh")));

    holds_all(cluster, &promised, &keys);
    the_other_scripts_see_that_all_is_done(cluster, &scripts, &promised);
    the_script_stops_when_time_is_up(cluster, &scratch, &before);
    the_rollback_gives_every_slot_back(cluster, &scratch, &before);
    holds_all(cluster, &before, &keys);
}
/// Asserts that every key is on the owner of its slot, once.
fn holds_all(cluster: &Cluster, owners: &[usize], keys: &[Vec<u8>]) {
    cluster.settles_on(owners);
    let contents = contents(cluster);
    let held: usize = contents.iter().map(HashMap::len).sum();
    assert_eq!(held, keys.len(), "keys are stored twice or gone");
    for key in keys {
        let found = contents[owners[usize::from(slot(key))]].get(key);
        assert_eq!(found, Some(&b"1".to_vec()), "{}", key.escape_ascii());
    }
    let check = cluster.servers[0].redis_cli(&["--cluster", "check", &cluster.address(1)]);
    let check = String::from_utf8(check).unwrap();
    check
        .says("All nodes agree")
        .says("All 16384 slots covered");
}

/// The plan.
const PLAN: &str = "plan 0.keys 1.keys 2.keys --topology cluster.nodes --add 1 --max-slots 24";
/// Its scripts.
struct Scripts<'a> {
    scratch: &'a Scratch,
    /// The port of the node to add.
    port: u16,
}

impl Scripts<'_> {
    fn make(&self, commands: &str, file: &str, more: &str) {
        let text = self
            .scratch
            .text(&format!("{PLAN} --commands {commands} {more}"));
        self.scratch.file(file, text);
        self.fill_in(file);
    }

    /// Fills in the address of the node to add.
    fn fill_in(&self, file: &str) {
        let known = format!("host[4]=127.0.0.1 port[4]={}", self.port);
        let script = self.scratch.read(file);
        self.scratch
            .file(file, script.replace("host[4]='' port[4]=''", &known));
    }
}

fn run(scratch: &Scratch, script: &str) -> Output {
    scratch.shell(format!("bash {script}"))
}
/// The test adds keys until they are not spread as planned, which is exit code 1 after all moves.
fn has_moved_all(output: &Output) {
    let said = stderr(output);
    let is_spread = !said.contains("the keys are not spread as planned");
    assert_eq!(code(output), i32::from(!is_spread), "{said}");
    let is_done = said.contains("done in ") || said.contains("nothing is left to move");
    assert!(is_done, "{said}");
}
/// Servers of other versions are not available; the commands of their scripts for any server are tested.
fn the_other_scripts_see_that_all_is_done(
    cluster: &Cluster,
    scripts: &Scripts<'_>,
    promised: &[usize],
) {
    for kind in ["valkey", "redis-8.4"] {
        println!("{kind}");
        scripts.make(kind, "other.sh", "");
        let done = run(scripts.scratch, "other.sh");
        has_moved_all(&done);
        let script = scripts.scratch.read("other.sh");
        let jobs = script.lines().filter(|line| line.starts_with("    '"));
        let jobs: Vec<&str> = jobs.collect();
        let said = stderr(&done);
        said.says("nothing is left to move");
        assert_eq!(said.matches(" already\n").count(), jobs.len(), "{said}");
        // A range that is elsewhere: this server does not know the command, and the script says so.
        let range = jobs[0].trim_matches(['\'', ' ']).split(' ').nth(4).unwrap();
        let back = script.replace(jobs[0], &format!("    '4 1 0 0 {range}'"));
        scripts.scratch.file("other.sh", back.as_bytes());
        let refused = run(scripts.scratch, "other.sh");
        assert_eq!(code(&refused), 2);
        stderr(&refused).says("cannot move slots as a whole");
    }
    // No script moved anything: neither those with nothing to do nor those that were refused.
    assert_eq!(owners(cluster), promised);
}

/// The way back, with only the last minute left: one slot moves back.
fn the_script_stops_when_time_is_up(cluster: &Cluster, scratch: &Scratch, before: &[usize]) {
    let back = scratch.read("back.sh");
    let limited = back.replace("max_minutes=0", "max_minutes=1");
    assert_ne!(limited, back);
    let late = limited.replace("declare -a name", "SECONDS=60; declare -a name");
    scratch.file("late.sh", late);
    let away = || {
        let now = owners(cluster).into_iter().zip(before);
        now.filter(|(now, before)| now != *before).count()
    };
    let left = away() - 1;
    let output = run(scratch, "late.sh");
    assert_eq!(code(&output), 3, "{}", stderr(&output));
    stderr(&output).says(&format!("stopped after 1 min with {left} slots left"));
    assert_eq!(away(), left);
}

/// As a user with a password and only the permissions named in the manual.
fn the_rollback_gives_every_slot_back(cluster: &Cluster, scratch: &Scratch, before: &[usize]) {
    let rights = "~* +cluster +migrate +select +restore-asking +info +dbsize";
    cluster.tell_all(&format!(r#"ACL SETUSER mover on '>p"w \ x' {rights}"#));
    let script = scratch.read("back.sh");
    scratch.file("back.sh", script.replace("\nuser=''", "\nuser='mover'"));
    let mut command = scratch.bash("bash back.sh");
    let output = command.env("REDISCLI_AUTH", r#"p"w \ x"#).output().unwrap();
    has_moved_all(&output);
    assert_eq!(owners(cluster), before);
}
