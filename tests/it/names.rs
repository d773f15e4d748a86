//! Names as people see them: hosts without their common part, whole keys in a pipe, isolated if they run from right to
//! left.

use testkit::prelude::*;

const DOMAIN: &str = ".redis-headless.production.svc.cluster.local";
const NODES: usize = 40;
const HEBREW: &str = "שלום:מלך";

/// A listing of nodes in one domain, and a dump with a long key and a right-to-left key.
fn scratch() -> (Scratch, String) {
    let scratch = Scratch::new();
    let line = |at: usize| {
        let (first, last) = (at * 16384 / NODES, (at + 1) * 16384 / NODES - 1);
        let host = format!("{at:040x} 10.0.0.{at}:6379@16379,redis-{at}{DOMAIN}");
        format!("{host} master - 0 0 1 connected {first}-{last}\n")
    };
    scratch.file("c.nodes", (0..NODES).map(line).collect::<String>());
    let long = format!("user:{}:end", "0123456789".repeat(30));
    let rows: String = (0..4000).map(|i| format!("k:{i},100\n")).collect();
    let dump = format!("key,size\n{long},90000\n{HEBREW},80000\n{rows}");
    scratch.file("dump.csv", dump);
    (scratch, long)
}

fn analyze(scratch: &Scratch, columns: Option<&str>) -> String {
    let line = "analyze dump.csv --full --topology c.nodes --out out --top 40";
    let mut command = scratch.command(line);
    command.envs(columns.map(|columns| ("COLUMNS", columns)));
    String::from_utf8(succeeded(command.output().unwrap())).unwrap()
}

#[test]
fn nodes_of_one_domain_have_labels_of_their_own_and_files_have_all() {
    let (scratch, _) = scratch();
    let text = analyze(&scratch, None);
    let table = text.split("\nNodes (c.nodes)").nth(1).unwrap();
    let table = table.split("\n\n").next().unwrap();
    for at in 0..NODES {
        let label = format!("redis-{at} ");
        let rows = table
            .lines()
            .filter(|line| line.trim_start().starts_with(&label));
        assert_eq!(rows.count(), 1, "{label}: {table}");
    }
    table.lacks(DOMAIN);
    scratch.read("out/report.html").says(">redis-17<");
    scratch
        .read("out/report.json")
        .says(&format!("redis-17{DOMAIN}"));
}

#[test]
fn a_pipe_cuts_no_key_and_a_terminal_keeps_its_width() {
    let (scratch, long) = scratch();
    let piped = analyze(&scratch, None);
    assert!(
        piped
            .lines()
            .any(|line| line.trim_start().starts_with(&long))
    );
    let narrow = analyze(&scratch, Some("80"));
    narrow.lacks(&long).says("user:0123456789");
    // Room for the isolates, which have no width on screen.
    let mut widths = narrow.lines().map(|line| line.chars().count());
    assert!(widths.all(|width| width <= 84), "{narrow}");
}

#[test]
fn names_from_right_to_left_are_isolated_for_people_only() {
    let (scratch, _) = scratch();
    let isolated = format!("\u{2068}{HEBREW}\u{2069}");
    analyze(&scratch, None).says(&isolated);
    analyze(&scratch, Some("60")).says(&isolated);
    for entry in scratch.entries("out") {
        if entry.ends_with(".csv") {
            let text = scratch.read(format!("out/{entry}"));
            text.lacks("\u{2068}").lacks("\u{2069}");
        }
    }
}

#[test]
fn a_type_of_json_lines_is_decoded_as_a_key_is() {
    let scratch = Scratch::new();
    let rows = [r"\u00e9", "é", r"\u2800", "hash"]
        .map(|kind| format!("{{\"key\":\"k{}\",\"type\":\"{kind}\"}}\n", kind.len()));
    scratch.file("types.jsonl", rows.concat());
    let types = &scratch.report("analyze types.jsonl --json")["types"];
    for (name, keys) in [("\\xe2\\xa0\\x80", 1), ("hash", 1), ("é", 2)] {
        assert_eq!(types.find("type", name)["keys"], keys, "{name}");
    }
}
