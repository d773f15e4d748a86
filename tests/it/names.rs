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
        format!(
            "{at:040x} 10.0.0.{at}:6379@16379,redis-{at}{DOMAIN} master - 0 0 1 connected {first}-{last}\n"
        )
    };
    scratch.file(
        "c.nodes",
        (0..NODES).map(line).collect::<String>().as_bytes(),
    );
    let long = format!("user:{}:end", "0123456789".repeat(30));
    let mut rows = format!("key,size\n{long},90000\n{HEBREW},80000\n");
    rows += &(0..4000)
        .map(|i| format!("k:{i},100\n"))
        .collect::<String>();
    scratch.file("dump.csv", rows.as_bytes());
    (scratch, long)
}

fn analyze(scratch: &Scratch, columns: Option<&str>) -> String {
    let args = words("analyze dump.csv --full --topology c.nodes --out out --top 40");
    let mut command = scratch.command(&args);
    match columns {
        Some(columns) => command.env("COLUMNS", columns),
        None => command.env_remove("COLUMNS"),
    };
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
    assert!(table.contains(&format!("*{DOMAIN}:6379")), "{table}");
    assert!(!table.contains(&format!("redis-0{DOMAIN}")), "{table}");
    let page = scratch.read("out/report.html");
    assert!(page.contains(">redis-17<"));
    let json = scratch.read("out/report.json");
    assert!(json.contains(&format!("redis-17{DOMAIN}")));
}

#[test]
fn a_pipe_cuts_no_key_and_a_terminal_keeps_its_width() {
    let (scratch, long) = scratch();
    assert!(
        analyze(&scratch, None)
            .lines()
            .any(|line| line.trim_start().starts_with(&long))
    );
    let narrow = analyze(&scratch, Some("80"));
    assert!(!narrow.contains(&long) && narrow.contains("user:0123456789"));
    // Room for the isolates, which have no width on screen.
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 84),
        "{narrow}"
    );
}

#[test]
fn names_from_right_to_left_are_isolated_for_people_only() {
    let (scratch, _) = scratch();
    let isolated = format!("\u{2068}{HEBREW}\u{2069}");
    assert!(analyze(&scratch, None).contains(&isolated));
    assert!(analyze(&scratch, Some("60")).contains(&isolated));
    for entry in scratch.entries("out") {
        if entry.ends_with(".csv") {
            let text = std::fs::read_to_string(scratch.path("out").join(&entry)).unwrap();
            assert!(!text.contains(['\u{2068}', '\u{2069}']), "{entry}");
        }
    }
}

#[test]
fn numbers_of_the_page_keep_their_unit_on_the_line() {
    let (scratch, _) = scratch();
    scratch.file("sizes.csv", b"key,size\nbig,5000000\nsmall,10\n");
    let args = ["analyze", "sizes.csv", "--nodes", "3", "--out", "sized"];
    let text = scratch.run(&args);
    assert!(stdout(&text).contains("big is 4.77 MiB"));
    let page = scratch.read("sized/report.html");
    assert!(page.contains("big is 4.77\u{A0}MiB"));
}

#[test]
fn a_type_of_json_lines_is_decoded_as_a_key_is() {
    let scratch = Scratch::new();
    let rows = [r"\u00e9", "é", r"\u2800", "hash"]
        .map(|kind| format!("{{\"key\":\"k{}\",\"type\":\"{kind}\"}}\n", kind.len()));
    scratch.file("types.jsonl", rows.concat());
    let report = testkit::run::report(&scratch.run(&["analyze", "types.jsonl", "--json"]));
    let types = report["types"].list().iter();
    let mut types: Vec<_> = types
        .map(|of| (of["type"].text(), of["keys"].whole()))
        .collect();
    types.sort_unstable();
    assert_eq!(types, [("\\xe2\\xa0\\x80", 1), ("hash", 1), ("é", 2)]);
}
