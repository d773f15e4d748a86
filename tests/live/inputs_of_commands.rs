//! Every command accepts every input that it can use, with the same result, and names a replacement for the others.

use crate::collect_access::analyzed::carts_and_users;
use testkit::cluster::Cluster;
use testkit::prelude::*;

/// The reaction of a command to an input.
enum Does {
    /// These members of its JSON equal those for the dumps.
    Same(&'static [&'static str]),
    /// It names the input to give instead.
    Refuses(&'static str),
}
use Does::{Refuses, Same};

const PLAN: Does = Same(&["moves", "goals", "before", "after", "big_keys"]);
const WHATIF: Does = Same(&["by", "before", "after", "moved", "changed_node", "top_tags"]);
const LINT: Does = Same(&["keys", "allowed", "findings"]);
const ADVISE: Does = Same(&["families", "schemes", "rules", "nodes", "keys"]);

/// Four primaries, not the three that are assumed by default; a sixth of the keys has one tag.
fn cluster() -> Cluster {
    let cluster = Cluster::even(4);
    cluster.set_all((0..3000).map(carts_and_users));
    cluster
}

/// The names of the files in `all` with this suffix.
fn files(scratch: &Scratch, end: &str) -> Vec<String> {
    let names = scratch.entries("all").into_iter();
    let names = names.filter(|name| name.ends_with(end));
    names.map(|name| format!("all/{name}")).collect()
}

/// The result as JSON, without the origin of the nodes.
#[track_caller]
fn answer(scratch: &Scratch, command: &[&str], inputs: &[&str]) -> Value {
    let args = [&command[..1], inputs, &command[1..], &["--json"]].concat();
    let run = scratch.run(&args);
    assert!(!run.stdout.is_empty(), "{args:?}: {}", stderr(&run));
    assert!(!stdout(&run).contains("/tmp"), "{args:?}: {}", stdout(&run));
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
    succeeded(scratch.run(&["collect", &url, "-o", "all", "--max-load", "100"]));
    succeeded(scratch.run(&["tally", "all", "-o", "all.tally"]));
    succeeded(scratch.run(&["collect", &url, "-o", "counts", "--slots-only"]));
    let dumps = files(&scratch, ".csv.zst");
    assert_eq!(dumps.len(), 4);
    let dumps: Vec<&str> = dumps.iter().map(String::as_str).collect();
    let listed = [&dumps[..], &["--topology", "all/cluster.nodes"]].concat();

    // In the order of `inputs` below.
    let names = || Refuses("which has counts and no keys; name a dump");
    let counts = || Refuses("counts by slot (CLUSTER SLOT-STATS), without keys; name a dump");
    let capture = || Refuses("name a capture of MONITOR");
    let over_time = || Refuses("--every 10s --for 10m");
    let rows: [(&[&str], [Does; 4]); 8] = [
        (
            &["plan", "--by", "bytes"],
            [PLAN, PLAN, PLAN, Refuses("the input has no bytes")],
        ),
        (
            &["plan", "--by", "keys", "--add", "1"],
            [PLAN, PLAN, PLAN, Same(&["warnings"])],
        ),
        (
            &["whatif", "--to-nodes", "5", "--by", "keys"],
            [WHATIF, WHATIF, WHATIF, Same(&["by", "sentence"])],
        ),
        (
            &["whatif", "--split", "hot = 16"],
            [WHATIF, WHATIF, names(), counts()],
        ),
        (&["lint"], [LINT, LINT, names(), counts()]),
        (&["advise"], [ADVISE, ADVISE, names(), counts()]),
        (
            &["fanout"],
            [Refuses("MONITOR > FILE"), capture(), capture(), capture()],
        ),
        (
            &["timeline"],
            [
                over_time(),
                over_time(),
                Refuses("name the captures"),
                Refuses("cluster-slot-stats-enabled yes"),
            ],
        ),
    ];
    let inputs = [url.as_str(), "all", "all.tally", "counts"];
    for (command, does) in rows {
        let is_of_nodes = matches!(command[0], "plan" | "whatif" | "advise");
        let of_dumps = if is_of_nodes { &listed } else { &dumps };
        for (input, does) in inputs.into_iter().zip(does) {
            let live = ["--max-load", "100"];
            let live = if input == url { &live[..] } else { &[] };
            match does {
                Same(members) => {
                    let expected = answer(&scratch, command, of_dumps);
                    let found = answer(&scratch, &[command, live].concat(), &[input]);
                    for member in members {
                        assert!(!expected[member].is_null(), "{command:?} has no {member}");
                        assert_eq!(
                            found[member], expected[member],
                            "{command:?} {input} {member}"
                        );
                    }
                }
                Refuses(part) => {
                    let run = scratch.run(&[&command[..1], &[input], &command[1..]].concat());
                    assert_fails(&run, &[part]);
                }
            }
        }
    }
    for (input, part) in [
        (url.as_str(), "redis-cli --rdb"),
        ("all", "zstd -dc"),
        ("all.tally", "name an RDB file"),
    ] {
        assert_fails(&scratch.run(&["dump", input]), &[input, part]);
    }
    for (input, part) in [(url.as_str(), "-o DIR"), ("all.tally", "slotscope merge")] {
        scratch
            .run(&["tally", input, "-o", "x.tally"])
            .refused(&format!("{input} | {part}"));
    }
}

#[test]
fn what_is_read_of_servers_is_kept_where_the_user_says_and_else_removed() {
    let (cluster, scratch) = (cluster(), Scratch::new());
    std::fs::create_dir(scratch.path("tmp")).unwrap();
    let url = format!("redis://{}", cluster.address(0));
    let run = |args: &[&str]| {
        let args = [args, &["--max-load", "100"]].concat();
        let mut command = scratch.command(&args);
        let run = command.env("TMPDIR", scratch.path("tmp")).output().unwrap();
        assert!(scratch.entries("tmp").is_empty(), "{args:?}");
        run
    };
    let script = run(&words(&format!(
        "plan {url} --commands setslot --rollback back.sh"
    )));
    assert_eq!(code(&script), 0, "{}", stderr(&script));
    assert!(stdout(&script).contains("MIGRATE"));
    assert!(scratch.path("back.sh").is_file());
    let kept = run(&words(&format!(
        "whatif {url} --to-nodes 4 --json --keep kept"
    )));
    assert_eq!(report(&kept)["input"]["keys"], 3000);
    assert!(scratch.path("kept/collect.json").is_file());
    let refused = run(&["lint", &url, "kept"]);
    assert_fails(&refused, &["kept", "a file next to servers"]);
    let secret = scratch.run(&["fanout", "redis://me:hunter2@127.0.0.1:1"]);
    assert_fails(&secret, &["redis://127.0.0.1:1: a running server"]);
    assert!(!stderr(&secret).contains("hunter2"));
}

#[test]
fn flags_of_reading_belong_to_who_counted_a_tally_file() {
    let scratch = Scratch::new();
    scratch.file("a.keys", "{a}1\n{a}2\nb\nc\n");
    succeeded(scratch.run(&["tally", "a.keys", "-o", "a.tally"]));
    for command in [
        &["plan", "--nodes", "2"][..],
        &["whatif", "--to-nodes", "2"],
    ] {
        let run = scratch.run(&[command, &["a.tally", "--db", "3"]].concat());
        assert_fails(&run, &["--db", "belongs to slotscope tally"]);
        let run = scratch.run(&[command, &["a.tally", "a.keys"]].concat());
        assert_fails(&run, &["a.keys", "is not a tally file"]);
        succeeded(scratch.run(&[command, &["a.tally"]].concat()));
    }
    let run = scratch.run(&["plan", "a.tally"]);
    assert_fails(&run, &["no nodes", "--topology"]);
}
