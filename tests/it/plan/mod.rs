//! `slotscope plan` as a user runs it: text, refusals, JSON and scripts. The properties of plans, and plans executed on
//! a real cluster, are in the other modules of this folder.

mod arithmetic;
mod bounds;
mod campaign;
mod clusters;
mod gate;
mod laws;
mod refusals;
mod rows;

use testkit::prelude::*;

/// Three nodes, the first with most slots; the third has a hostile name and address.
const LISTING: &[u8] = b"aaaa000000000000000000000000000000000001 10.0.0.1:7000@17000 master - 0 0 1 connected 0-9999\n\
    bbbb000000000000000000000000000000000002 10.0.0.2:7000@17000 master - 0 0 2 connected 10000-13191 [13000->-aaaa000000000000000000000000000000000001]\n\
    c';touch${IFS}pwned;' $(touch${IFS}pwned)'`touch${IFS}pwned`:7000@17000 master - 0 0 3 connected 13192-16383\n";

/// A listing and a dump with sizes and operations.
fn fixture() -> Scratch {
    let scratch = Scratch::with("cluster.nodes", LISTING);
    let keys: String = (0..30_000)
        .map(|i| format!("key:{i},{},{}\n", 10 + i % 7, i % 3))
        .collect();
    scratch.file("dump.csv", format!("key,size,ops\n{keys}"));
    scratch
}

/// The command line of a plan for the dump.
fn line(flags: &str) -> String {
    format!("plan dump.csv --topology cluster.nodes {flags}")
}

/// The text or script of a plan.
fn said(scratch: &Scratch, flags: &str) -> String {
    scratch.text(&line(flags))
}

/// A plan as JSON.
fn planned(scratch: &Scratch, flags: &str) -> Value {
    scratch.report(&line(&format!("--json {flags}")))
}

/// The text with its lines joined.
fn prose(text: &str) -> String {
    text.replace("\n# ", " ").replace('\n', " ")
}

#[test]
fn people_read_what_moves_and_what_that_brings() {
    let scratch = fixture();
    said(&scratch, "")
        .begins("move ")
        .says("judged by ops, then by bytes")
        .says("  10.0.0.1:7000 -> 10.0.0.2:7000: ")
        .says("1 slot on the way to another node, left out of the plan: 13000")
        .lacks("own no slots");
    said(&scratch, "--by bytes --tolerance 500").begins("nothing to move: ");
    let empty = "fair shares are those with primaries that own no slots today: new-1, new-2";
    prose(&said(&scratch, "--add 2")).says(empty);
    let piped = scratch.piped("plan --nodes 2 --add 1", b"a\n{hot}1\n{hot}2\n{hot}3\n");
    stdout(&piped).says("the tag {hot}, 100.0% of slot ");
}

#[test]
fn the_json_has_the_fields_of_the_contract() {
    let plan = planned(&fixture(), "--by bytes,ops --exclude 0-5,77");
    assert_eq!(plan["schema"], json!("slotscope.plan/2"));
    for (at, (metric, role, target)) in [("bytes", "memory", 1.03), ("ops", "load", 1.1)]
        .into_iter()
        .enumerate()
    {
        let goal = &plan["goals"][at];
        goal.has(json!({"metric": metric, "role": role, "target": target, "met": true}));
        let [before, after] =
            ["before", "after"].map(|when| plan[when][metric]["max_over_mean"].float());
        assert!(before > 1.5 && after <= target + 1e-9, "{goal}");
        goal.has(json!({"after": after, "reason": null}));
    }
    let moves = plan["moves"].list();
    let sum = |field: &str| moves.iter().map(|of| of[field].whole()).sum::<u64>();
    plan.has(json!({"slots_moved": sum("slots"), "bytes_moved": sum("bytes")}));
    assert!(sum("keys") > 0);
    for of in moves {
        let is_excluded = |range: &Value| range[0].whole() < 6;
        assert!(!of["ranges"].list().iter().any(is_excluded), "{of}");
        assert_ne!(of["from"], of["to"]);
    }
    for metric in ["keys", "bytes", "ops", "slots"] {
        let nodes = || plan["nodes"].list().iter();
        let sum = |when: &str| nodes().map(|node| node[metric][when].whole()).sum::<u64>();
        assert_eq!(sum("before"), sum("after"), "{metric}");
    }
}

#[test]
fn nodes_come_and_go_and_bear_what_they_can() {
    let plan = planned(
        &fixture(),
        "--add 2 --remove 10.0.0.1:7000 --weight new-1=3",
    );
    let nodes = &plan["nodes"];
    assert_eq!(nodes.each("weight"), json!([0.0, 1.0, 1.0, 3.0, 1.0]));
    nodes[0].has(json!({"slots": {"after": 0}, "over_fair": null}));
    let over = |at: usize| nodes[at]["over_fair"]["after"].float();
    assert!(
        (1..5).all(|at| over(at) <= 1.1000001) && over(3) > 0.9,
        "{nodes}"
    );
}

#[test]
fn added_nodes_get_their_shares() {
    let scratch = Scratch::new();
    let keys = (0..30_000).map(|i| format!("user:{i}\n"));
    scratch.file("a.keys", keys.collect::<String>());
    for (flags, least, most) in [
        ("--nodes 3 --add 1 --weight even-1=0.5", 0.98, 1.0),
        ("--nodes 31 --add 1", 0.8, 1.0),
        // With a tolerance of the user's the others stay above their shares.
        ("--nodes 3 --add 1 --tolerance 3", 0.9, 0.95),
    ] {
        let plan = scratch.report(&format!("plan a.keys --by keys --json {flags}"));
        let added = plan["nodes"].list().last().cloned().unwrap();
        let share = added["over_fair"]["after"].float();
        assert!((least..=most).contains(&share), "{flags}: {share}");
    }
}

#[test]
fn text_and_comments_fit_80_columns() {
    let scratch = fixture();
    let wide = |text: &str| {
        let mut lines = text.lines();
        lines
            .find(|line| line.chars().count() > 80)
            .map(String::from)
    };
    for flags in ["", "--by bytes,ops --weight aaaa=2"] {
        let mut command = scratch.command(&line(flags));
        let output = command.env("COLUMNS", "80").output().unwrap();
        let text = stdout(&output);
        assert_eq!(wide(text), None, "{text}");
        text.says("× fair").says(" → ");
    }
    let script = said(&scratch, "--commands setslot --add 1");
    let comments = script.lines().take_while(|line| line.starts_with('#'));
    let comments: Vec<&str> = comments.collect();
    assert_eq!(wide(&comments.join("\n")), None, "{script}");
}

#[test]
fn a_plan_says_what_it_is_judged_by_and_what_is_not_known() {
    let scratch = fixture();
    let keys: String = (0..3000).map(|i| format!("key:{i}\n")).collect();
    scratch.file("a.keys", keys);
    for flags in ["", "--commands setslot"] {
        let line = format!("plan a.keys --topology cluster.nodes {flags}");
        prose(&scratch.text(&line))
            .says("judged by keys only: the dump has no sizes, so memory is unknown")
            .says("--commands setslot takes about ")
            .says("5 ms a slot, 70 µs a key, 25 µs above 100 keys a slot, 100 MiB/s");
    }
    said(&scratch, "--by bytes").says("\njudged by bytes\n");
    said(&scratch, "--by keys").says("\njudged by keys; --by bytes plans for memory\n");
}

#[test]
fn a_node_that_limits_keep_from_being_emptied_is_named() {
    let scratch = fixture();
    prose(&said(&scratch, "--remove 10.0.0.1:7000"))
        .begins("empty 10.0.0.1:7000: move 10,000 slots in ")
        .says(": the fullest of the nodes that stay goes from ")
        .lacks("is not emptied");
    let left = "10.0.0.1:7000 is not emptied: the limits leave it 9,000 slots with ";
    prose(&said(&scratch, "--remove 10.0.0.1:7000 --max-slots 1000")).says(left);
    let staying = |plan: &Value, when: &str| -> Vec<u64> {
        let nodes = plan["nodes"].list()[1..].iter();
        nodes.map(|node| node["keys"][when].whole()).collect()
    };
    // The moved slots go to all remaining nodes, the emptiest first, and not to a single one.
    let json = planned(&scratch, "--remove 10.0.0.1:7000 --max-slots 6000");
    assert_eq!(json["slots_moved"], 6000);
    let loads = staying(&json, "after");
    let (most, least) = (loads.iter().max().unwrap(), loads.iter().min().unwrap());
    assert!(*most as f64 <= 1.02 * *least as f64, "{loads:?}");
    // Before and after are figures for the remaining nodes.
    let json = planned(&scratch, "--remove 10.0.0.1:7000");
    for when in ["before", "after"] {
        let most = staying(&json, when).into_iter().max();
        assert_eq!(json[when]["keys"]["max"].as_u64(), most, "{when}");
    }
}

#[test]
fn a_script_is_sound_and_no_name_in_it_is_run() {
    let others = regex::Regex::new(r"host\[[124]\]=").unwrap();
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let scratch = fixture();
        let script = said(&scratch, &format!("--commands {kind} --add 1"));
        script
            .says("name[1]='10.0.0.1:7000' host[1]='10.0.0.1' port[1]=7000 id[1]='aaaa0")
            .says("\nname[4]='new-1' host[4]='' port[4]='' id[4]='' keys_after[4]=")
            .says("\njobs=(\n    '1 ");
        scratch.file("move.sh", &script);
        succeeded(scratch.shell("bash -n move.sh"));
        // Only the node with the hostile id and address is there: nothing is asked at that address.
        scratch.file("ask.sh", others.replace_all(&script, "#").as_bytes());
        let asked = scratch.shell("bash ask.sh");
        assert_eq!(code(&asked), 2, "{kind}");
        stderr(&asked).says("fill in its host and port");
        let files = ["ask.sh", "cluster.nodes", "dump.csv", "move.sh"];
        assert_eq!(scratch.entries("."), files, "{kind}");
    }
}

#[test]
fn a_node_that_cannot_be_connected_to_is_named_by_its_id_and_no_script_is_made() {
    for host in ["$(reboot)", "?", "x;y", "-h", "a/b"] {
        let scratch = fixture();
        let node = "cccc000000000000000000000000000000000003";
        let listing = scratch.read("cluster.nodes");
        let known: Vec<&str> = listing.lines().take(2).collect();
        let third = format!("{node} {host}:7000@17000 master - 0 0 3 connected 13192-16383");
        scratch.file("cluster.nodes", [known.join("\n"), third].join("\n"));
        let output = scratch.run(&line("--by keys --commands setslot"));
        assert_fails(&output, &[node, "no host for it that can be connected to"]);
        said(&scratch, "--by keys").says("cccc0000");
    }
}

#[test]
fn a_plan_that_moves_nothing_says_on_the_terminal_by_what_it_was_made() {
    let scratch = Scratch::new();
    let rows = (0..3000).map(|i| format!("user:{i},10\n"));
    let rows: String = rows.collect();
    scratch.file("dump.csv", format!("key,bytes\ngiant,90000\n{rows}"));
    let listing = "a 10.0.0.1:1@2 master - 0 0 1 connected 0-8191\n\
                   b 10.0.0.2:1@2 master - 0 0 2 connected 8192-16383\n";
    scratch.file("cluster.nodes", listing);
    let output = scratch.run(&line("--by keys --tolerance 10 --commands setslot"));
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    stderr(&output)
        .says("nothing to move")
        .says("judged by keys")
        .says("--by bytes")
        .says("× its share of");
}
