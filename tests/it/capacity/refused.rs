//! Incomparable reports are refused, doubtful ones are left out, and no file makes it panic.

use super::review;
use testkit::history::{START, analyze, edited, eight_months, monthly, run, set_written};
use testkit::prelude::*;

#[test]
fn reports_need_different_dates_and_the_way_out_is_named() {
    let scratch = Scratch::new();
    let first = monthly(&scratch, 0, 100, &[], &[]);
    let second = monthly(&scratch, 1, 110, &[], &[]);
    set_written(&scratch.path("1.csv"), START);
    let copied = analyze(&scratch, "1.csv", "copied", &[]);
    run(&scratch, &[first.clone(), copied], &[]).refused(
        "copied/report.json: of the same time as r0/report.json, 2024-11-01 | analyze --date",
    );
    let said = scratch.piped("analyze --nodes 3 --json", b"a\nb\n");
    scratch.file("piped.json", &said.stdout);
    let piped = [second.clone(), String::from("piped.json")];
    run(&scratch, &piped, &[])
        .refused("piped.json: does not say when its dump was written | --date 2026-10-24");
    let earlier = edited(&scratch, "r0", "earlier", |report| {
        let started = report["run"]["started"].whole();
        report["run"]["started"] = json!(started - 60);
    });
    let found = review(&scratch, &[second, earlier], "--date run");
    found["notes"].to_string().says("less than a day");
    assert_eq!(found["total"]["keys"].get("a_month"), None);
}

#[test]
fn copied_dumps_have_the_dates_of_their_paths_or_those_that_analyze_is_told() {
    let scratch = Scratch::new();
    let copied = |number: usize, out: &str, flags: &[&str]| {
        let name = format!("{out}.csv");
        let rows: String = (0..100 + 10 * number)
            .map(|key| format!("k{key},100\n"))
            .collect();
        set_written(&scratch.file(&name, format!("key,size\n{rows}")), START);
        analyze(&scratch, &name, out, flags)
    };
    let days = |found: &Value| -> Vec<u64> {
        let points = found["points"].list().iter();
        points
            .map(|point| (point["at"].whole() - 1_792_800_000) / 86_400)
            .collect()
    };
    let named = ["of-2026-10-24", "of-20261031", "of-2026-W45"];
    let reports: Vec<String> = (0..)
        .zip(named)
        .map(|(number, out)| copied(number, out, &[]))
        .collect();
    let found = review(&scratch, &reports, "");
    assert_eq!(days(&found), [0, 7, 9]);
    found["notes"]
        .to_string()
        .says("dates are those in the paths of the reports");
    run(&scratch, &reports, &["--date", "dump"]).refused("of the same time as");

    let told = ["2026-10-24", "2026-11-24", "2026-12-24"];
    let told = (0..)
        .zip(told)
        .map(|(number, date)| copied(number, &format!("told{number}"), &["--date", date]));
    let told: Vec<String> = told.collect();
    let found = review(&scratch, &told, "");
    assert_eq!(days(&found), [0, 31, 61]);
    found["notes"].to_string().lacks("paths");
    let said = scratch.run("analyze told0.csv --date yesterday");
    assert_eq!(code(&said), 2);
    stderr(&said).says("not a date; write it like 2026-10-24");
    let alone = review(&scratch, &reports[1..2], "");
    assert_eq!(days(&alone), [7]);
    // A path without a date is not guessed at.
    run(
        &scratch,
        &[&reports[..2], &[copied(5, "undated", &[])]].concat(),
        &[],
    )
    .refused("of the same time as");
}

#[test]
fn reports_that_did_not_see_all_are_left_out() {
    let scratch = Scratch::new();
    let mut reports: Vec<String> = (0..3)
        .map(|month| monthly(&scratch, month, 1000 + 100 * month as usize, &[], &[]))
        .collect();
    reports[1] = edited(&scratch, "r1", "part", |report| {
        let nodes = report["coverage"]["roles"][0]["nodes"]
            .as_array_mut()
            .unwrap();
        nodes[0]["seen"] = json!("part");
    });
    let found = review(&scratch, &reports, "");
    assert_eq!(found["points"][1]["left_out"], "partial");
    assert_eq!(found["total"]["keys"]["reports"], 2);
    found["notes"]
        .to_string()
        .says("part: not all of its nodes were seen whole");
    run(&scratch, &reports[1..2], &[])
        .refused("part: no report is left to review: not all of its nodes | --with-doubtful");
    let found = review(&scratch, &reports, "--with-doubtful");
    assert_eq!(found["total"]["keys"]["reports"], 3);
}

/// Months count from the newest report that is used.
#[test]
fn the_newest_report_that_is_left_out_is_not_today() {
    let scratch = Scratch::new();
    let mut reports: Vec<String> = (0..4)
        .map(|month| monthly(&scratch, month, 1000 + 100 * month as usize, &[], &[]))
        .collect();
    let flags = "--maxmemory 100kb";
    let without = review(&scratch, &reports[..3], flags);
    reports[3] = edited(&scratch, "r3", "part", |report| {
        let nodes = report["coverage"]["roles"][0]["nodes"].as_array_mut();
        nodes.unwrap()[0]["seen"] = json!("part");
    });
    let with = review(&scratch, &reports, flags);
    for part in ["full", "shards", "counts", "answer"] {
        assert_eq!(with[part], without[part], "{part}");
    }
    let sentence = |of: &Value| of["sentence"].text().to_owned();
    let said = sentence(&with).replace(" (1 left out)", "");
    assert_eq!(said, sentence(&without));
    sentence(&with).begins("3 reports, 2024-11-01 to 2024-12-31 (1 left out): ");
    let table = stdout(&run(&scratch, &reports, &["--csv"])).to_owned();
    table.says("total,,keys,keys,now,0,2024-12-31,1200,");
}

#[test]
fn reports_of_another_kind_are_refused_and_with_force_noted() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let set = |member: &'static str, value: Value| {
        move |report: &mut Value| report["input"][member] = value.clone()
    };
    reports[3] = edited(&scratch, "r3", "memory", set("sizes", json!("memory")));
    let listed = |id: &'static str| {
        move |report: &mut Value| {
            report["nodes"]["source"] = json!("cluster.nodes");
            let nodes = report["nodes"]["list"].as_array_mut().unwrap();
            for (place, node) in nodes.iter_mut().enumerate() {
                node["id"] = json!(format!("{id}{place}"));
            }
        }
    };
    reports[5] = edited(&scratch, "r5", "a", listed("a"));
    for [member, value, what] in rows(
        r#"policy | "enterprise" | other: its keys are hashed by --policy enterprise, those of memory by the servers' rule
         sizes | "serialized" | other: its sizes are bytes in the RDB file, those of memory are estimates of memory
         sample_percent | 10.0 | other: it covers 10.0% of the slots, memory all slots
         nodes | null | a: none of its nodes is in other: it is of another cluster"#,
    ) {
        reports[4] = match member {
            "nodes" => edited(&scratch, "r4", "other", listed("b")),
            _ => edited(&scratch, "r4", "other", set(member, value.parse().unwrap())),
        };
        assert_fails(&run(&scratch, &reports, &[]), &[what, "--force"]);
        review(&scratch, &reports, "--force")["notes"]
            .to_string()
            .says(what);
    }
    // A report's note on its policy is that of analyze.
    let other = monthly(&scratch, 9, 1000, &[], &["--policy", "enterprise"]);
    reports.truncate(3);
    reports.push(other);
    run(&scratch, &reports, &[])
        .refused("r9/report.json: its keys are hashed by --policy enterprise");
}

#[test]
fn doubtful_reports_are_marked_and_left_out_unless_they_are_asked_for() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let stop = json!([{"file": "x", "byte": 7, "reason": "cut"}]);
    reports[3] = edited(&scratch, "r3", "broken", |report| {
        report["input"]["incomplete"] = stop.clone();
    });
    let found = review(&scratch, &reports, "");
    assert_eq!(found["points"][3]["left_out"], "incomplete");
    assert_eq!(found["total"]["keys"]["reports"], 7);
    found["notes"].to_string().says("broken");
    stdout(&run(&scratch, &reports, &[])).says("incomplete");
    let found = review(&scratch, &reports, "--with-doubtful");
    assert_eq!(found["points"][3].get("left_out"), None);
    assert_eq!(found["total"]["keys"]["reports"], 8);

    scratch.file("none.keys", "");
    set_written(&scratch.path("none.keys"), START + 100 * 86_400);
    reports.push(analyze(&scratch, "none.keys", "none", &[]));
    let found = review(&scratch, &reports, "--with-doubtful");
    assert_eq!(found["points"][4]["left_out"], "empty");
}

#[test]
fn hostile_reports_neither_break_the_run_nor_the_terminal() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    reports[2] = edited(&scratch, "r2", "nasty", |report| {
        report["tags"]["top"][0]["tag"] = json!("\u{1b}[2J\u{202e}<script>");
        report["nodes"]["source"] = json!("\u{7}");
        report["nodes"]["list"][0]["address"] = json!("\u{1b}]0;x");
        report["input"]["policy"] = json!("\u{1b}[1m");
    });
    let said = run(&scratch, &reports, &[]);
    assert_eq!(code(&said), 2);
    stderr(&said).lacks("\u{1b}");
    let said = run(&scratch, &reports, &["--force", "--color", "never"]);
    let text = String::from_utf8(succeeded(said)).unwrap();
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");

    for [pointer, value, part] in rows(
        r#"/schema | "slotscope.report/0" | analyze its dump again with this version
         /schema | "slotscope.report/4" | only slotscope.report/3 can be compared
         /slots/keys | [1] | slots.keys has 1 numbers
         /run/dumped | {"first": 0, "last": 18446744073709551615} | after the year 9999
         /run/dumped | {"first": 0, "last": 253402300799} | none
         /slots/bytes/0 | 18446744073709551615 | none
         /nodes/list/0/bytes | 18446744073709551615 | none
         /nodes/list | [] | none
         /tags/top/0/keys | 253402300799 | none
         /nodes/keys/max_over_mean | 1e308 | none"#,
    ) {
        reports[2] = edited(&scratch, "r2", "edited", |report| {
            *report.pointer_mut(pointer).unwrap() = value.parse().unwrap();
        });
        let said = run(&scratch, &reports, &[]);
        match part {
            "none" => assert_eq!(code(&said), 0, "{pointer}: {}", stderr(&said)),
            part => assert_fails(&said, &["edited: ", part]),
        }
    }
    run(&scratch, &[reports[0].clone(), String::from("no")], &[]).refused("no: no such file");
}
