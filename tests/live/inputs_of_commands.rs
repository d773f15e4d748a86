//! Every command accepts every input that it can use, with the same result, and names a replacement for the others.

use crate::collect_access::analyzed::carts_and_users;
use testkit::cluster::Cluster;
use testkit::prelude::*;

/// The reaction of a command to an input.
enum Does {
    /// These members of its JSON equal those for the dumps.
    Same(&'static str),
    /// It names the input to give instead.
    Refuses(&'static str),
}
use Does::{Refuses, Same};

const PLAN: Does = Same("moves goals before after big_keys");
const WHATIF: Does = Same("by before after moved changed_node top_tags");
const LINT: Does = Same("keys allowed findings");
const ADVISE: Does = Same("families schemes rules nodes keys");

/// Four primaries, not the three that are assumed by default; a sixth of the keys has one tag.
fn cluster() -> Cluster {
    let cluster = Cluster::even(4);
    cluster.set_all((0..3000).map(carts_and_users));
    cluster
}

/// The names of the files in `all` with this suffix.
fn files(scratch: &Scratch, end: &str) -> Vec<String> {
    let mut names = scratch.entries("all");
    names.retain(|name| name.ends_with(end));
    names.iter().map(|name| format!("all/{name}")).collect()
}
/// The result as JSON, without the origin of the nodes.
#[track_caller]
fn answer(scratch: &Scratch, command: &str, inputs: &str) -> Value {
    let run = scratch.run(&format!("{command} {inputs} --json"));
    assert!(!run.stdout.is_empty(), "{}", stderr(&run));
    stdout(&run).lacks("/tmp");
    let mut answer: Value = serde_json::from_slice(&run.stdout).unwrap();
    for side in ["before", "after"] {
        if let Some(side) = answer[side].as_object_mut() {
            side.remove("source");
            side.remove("verdict");
        }
    }
    answer
}
#[test]
fn every_command_takes_servers_collections_tally_files_and_counts_by_slot_or_says_what_to_name() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    let url = format!("redis://{}", cluster.address(1));
    scratch.text(&format!("collect {url} -o all --max-load 100"));
    scratch.text("tally all -o all.tally");
    scratch.text(&format!("collect {url} -o counts --slots-only"));
    let dumps = files(&scratch, ".csv.zst");
    assert_eq!(dumps.len(), 4);
    let dumps = dumps.join(" ");
    let listed = format!("{dumps} --topology all/cluster.nodes");

    // In the order of `inputs` below.
    let names = || Refuses("which has counts and no keys; name a dump");
    let counts = || Refuses("counts by slot (CLUSTER SLOT-STATS), without keys; name a dump");
    let capture = || Refuses("name a capture of MONITOR");
    let over_time = || Refuses("--every 10s --for 10m");
    let no_bytes = Refuses("the input has no bytes");
    let no_series = Refuses("cluster-slot-stats-enabled yes");
    let rows = [
        ("plan --by bytes", [PLAN, PLAN, PLAN, no_bytes]),
        (
            "plan --by keys --add 1",
            [PLAN, PLAN, PLAN, Same("warnings")],
        ),
        (
            "whatif --to-nodes 5 --by keys",
            [WHATIF, WHATIF, WHATIF, Same("by sentence")],
        ),
        (
            "whatif --split 'hot = 16'",
            [WHATIF, WHATIF, names(), counts()],
        ),
        ("lint", [LINT, LINT, names(), counts()]),
        ("advise", [ADVISE, ADVISE, names(), counts()]),
        (
            "fanout",
            [Refuses("MONITOR > FILE"), capture(), capture(), capture()],
        ),
        (
            "timeline",
            [
                over_time(),
                over_time(),
                Refuses("name the captures"),
                no_series,
            ],
        ),
    ];
    let live = format!("{url} --max-load 100");
    let inputs = [&*live, "all", "all.tally", "counts"];
    for (command, does) in rows {
        let has_nodes = ["plan", "whatif", "advise"]
            .iter()
            .any(|of| command.starts_with(of));
        let of_dumps = if has_nodes { &listed } else { &dumps };
        for (input, does) in inputs.into_iter().zip(does) {
            println!("{command} {input}");
            match does {
                Same(members) => {
                    let expected = answer(&scratch, command, of_dumps);
                    let found = answer(&scratch, command, input);
                    for member in words(members) {
                        assert!(!expected[member].is_null(), "no {member}");
                        assert_eq!(found[member], expected[member], "{member}");
                    }
                }
                Refuses(part) => {
                    let input = input.split(' ').next().unwrap();
                    scratch.run(&format!("{command} {input}")).refused(part);
                }
            }
        }
    }
    scratch.refuses(&format!(
        "dump {url} | {url} | redis-cli --rdb
         dump all | all | zstd -dc
         dump all.tally | all.tally | name an RDB file
         tally {url} -o x.tally | {url} | -o DIR
         tally all.tally -o x.tally | all.tally | slotscope merge"
    ));
}
#[test]
fn what_is_read_of_servers_is_kept_where_the_user_says_and_else_removed() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    std::fs::create_dir(scratch.path("tmp")).unwrap();
    let url = format!("redis://{} --max-load 100", cluster.address(0));
    let run = |line: String| {
        let mut command = scratch.command(&words(&line));
        let run = command.env("TMPDIR", scratch.path("tmp")).output().unwrap();
        assert!(scratch.entries("tmp").is_empty(), "{line}");
        run
    };
    let script = succeeded(run(format!(
        "plan {url} --commands setslot --rollback back.sh"
    )));
    String::from_utf8(script).unwrap().says("MIGRATE");
    assert!(scratch.path("back.sh").is_file());
    let kept = run(format!("whatif {url} --to-nodes 4 --json --keep kept"));
    assert_eq!(report(&kept)["input"]["keys"], 3000);
    assert!(scratch.path("kept/collect.json").is_file());
    run(format!("lint {url} kept")).refused("kept | a file next to servers");
    let secret = scratch.run("fanout redis://me:hunter2@127.0.0.1:1");
    secret.refused("redis://127.0.0.1:1: a running server");
    stderr(&secret).lacks("hunter2");
}

#[test]
fn flags_of_reading_belong_to_who_counted_a_tally_file() {
    let scratch = Scratch::new();
    scratch.file("a.keys", "{a}1\n{a}2\nb\nc\n");
    scratch.text("tally a.keys -o a.tally");
    for command in ["plan --nodes 2", "whatif --to-nodes 2"] {
        scratch.refuses(&format!(
            "{command} a.tally --db 3 | --db | belongs to slotscope tally
             {command} a.tally a.keys | a.keys | is not a tally file"
        ));
        scratch.text(&format!("{command} a.tally"));
    }
    scratch.refuses("plan a.tally | no nodes | --topology");
}
