//! `trend`: growth is found with an uncertainty that holds, names that come and go are found exactly, what cannot be
//! compared is refused, and no file makes it panic.

mod forecast;

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::browser::UNREADABLE;
use crate::support::chromium::Chromium;
use crate::support::run::{Scratch, assert_fails, code, stderr, stdout};
use serde_json::{Value, json};

const MONTH_SECS: f64 = 365.25 * 86_400.0 / 12.0;
/// 2024-11-01.
const START: u64 = 1_730_419_200;

/// A dump of so many keys and of tags, analyzed into a directory; its file is of `month` after the first.
fn monthly(
    scratch: &Scratch,
    month: u32,
    keys: usize,
    tags: &[(&str, usize)],
    flags: &[&str],
) -> String {
    let users = (0..keys).map(|i| format!("user:{i},{}\n", 90 + i % 21));
    let tagged = tags
        .iter()
        .flat_map(|(tag, count)| (0..*count).map(move |i| format!("app:{{{tag}}}:{i},100\n")));
    let rows: String = users.chain(tagged).collect();
    let dump = scratch.file(&format!("{month}.csv"), format!("key,size\n{rows}"));
    let secs = START + (f64::from(month) * MONTH_SECS) as u64;
    set_written(&dump, secs);
    analyze(
        scratch,
        &format!("{month}.csv"),
        &format!("r{month}"),
        flags,
    )
}

/// The report of a dump in the directory `out`, without the files that take long to draw.
fn analyze(scratch: &Scratch, dump: &str, out: &str, flags: &[&str]) -> String {
    let nodes = ["--nodes", "3"];
    let said = scratch.run(&[&["analyze", dump, "--json"], &nodes[..], flags].concat());
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    fs::create_dir_all(scratch.path(out)).unwrap();
    scratch.file(&format!("{out}/report.json"), &said.stdout);
    String::from(out)
}

fn set_written(path: &Path, secs: u64) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let at = SystemTime::UNIX_EPOCH + Duration::from_secs(secs);
    file.set_modified(at).unwrap();
}

/// Eight months: 6 % a month, a tag that comes, one that goes, one that comes and goes.
fn eight_months(scratch: &Scratch) -> Vec<String> {
    let month = |month: u32| {
        let wave = [1.01, 0.99, 1.0, 1.005, 0.99, 1.01, 1.0, 0.995][month as usize];
        let keys = (1000.0 * 1.06f64.powf(f64::from(month)) * wave) as usize;
        let mut tags = vec![("stays", 50)];
        if month >= 5 {
            tags.push(("comes", 40));
        }
        if month < 3 {
            tags.push(("goes", 30));
        }
        if (2..6).contains(&month) {
            tags.push(("visits", 20));
        }
        let flags: &[&str] = match month {
            4 => &["--maxmemory", "100kb", "--growth", "5"],
            _ => &[],
        };
        monthly(scratch, month, keys, &tags, flags)
    };
    (0..8).map(month).collect()
}

fn run(scratch: &Scratch, reports: &[String], flags: &[&str]) -> std::process::Output {
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    scratch.run(&[&["trend"], &reports[..], flags].concat())
}

fn trend(scratch: &Scratch, reports: &[String], flags: &[&str]) -> Value {
    let said = run(scratch, reports, &[flags, &["--json"]].concat());
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    serde_json::from_str(stdout(&said)).unwrap()
}

/// Names of a list with the places that they came or went between.
fn events(list: &Value) -> Vec<(String, u64, u64)> {
    let events = list.as_array().unwrap().iter();
    let event = |event: &Value| {
        let place = |member: &str| event[member].as_u64().unwrap();
        (
            event["name"].as_str().unwrap().to_owned(),
            place("from"),
            place("to"),
        )
    };
    events.map(event).collect()
}

#[test]
fn reports_of_analyze_become_a_trend_with_every_name_that_came_or_went() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let in_order = trend(&scratch, &reports, &["--maxmemory", "100kb"]);
    reports.reverse();
    let found = trend(&scratch, &reports, &["--maxmemory", "100kb"]);
    assert_eq!(
        found, in_order,
        "the order of the arguments has no part in it"
    );

    assert_eq!(found["schema"], "slotscope.trend/1");
    let points = found["points"].as_array().unwrap();
    let files: Vec<_> = points
        .iter()
        .map(|point| point["file"].as_str().unwrap())
        .collect();
    assert_eq!(files[0], "r0/report.json");
    assert_eq!(files[7], "r7/report.json");
    assert_eq!(points[0]["at"], START);
    assert_eq!(points[0]["keys"], 1010 + 50 + 30);
    assert_eq!(points[3]["nodes"]["count"], 3);
    assert!(points[3]["nodes"]["fullest"]["bytes"]["load"].as_u64() > Some(30_000));

    let event = |name: &str, from, to| (String::from(name), from, to);
    let tags = &found["tags"];
    assert_eq!(
        events(&tags["appeared"]),
        [event("comes", 4, 5), event("visits", 1, 2)]
    );
    assert_eq!(
        events(&tags["vanished"]),
        [event("goes", 2, 3), event("visits", 5, 6)]
    );
    assert_eq!(
        (&tags["appeared_count"], &tags["vanished_count"]),
        (&json!(2), &json!(2))
    );
    assert_eq!(tags["top"][0]["name"], "stays");
    assert_eq!(
        tags["top"][1]["loads"],
        json!([null, null, null, null, null, 4000, 4000, 4000])
    );

    let growth = &found["forecast"]["growth"]["keys"];
    let a_month = |end: &str| growth["a_month"][end].as_f64().unwrap();
    assert!(a_month("low") < 0.06 && 0.06 < a_month("high"), "{growth}");
    assert!(a_month("high") - a_month("low") < 0.02, "{growth}");
    let full = &found["forecast"]["full"];
    assert_eq!(
        (&full["maxmemory"], &full["basis"]),
        (&json!(102_400), &json!("fullest_nodes"))
    );
    assert_eq!(full["last_forecast"]["file"], "r4/report.json");
    let months = |end: &str| full["months"][end].as_f64().unwrap();
    // The fullest node has a little over a third of the bytes, which grow by 6 % a month.
    let used = full["used"].as_f64().unwrap();
    let truth = (102_400.0 / used).ln() / 1.06f64.ln();
    assert!(
        months("low") < truth && truth < months("high"),
        "{full} {truth}"
    );
}

#[test]
fn the_result_is_text_markdown_files_and_limits() {
    let scratch = Scratch::new();
    let reports = eight_months(&scratch);
    for width in ["40", "80", "200"] {
        let args: Vec<&str> = reports.iter().map(String::as_str).collect();
        let mut command = scratch.command(&[&["trend"], &args[..]].concat());
        let said = command.env("COLUMNS", width).output().unwrap();
        let text = stdout(&said);
        let most = width.parse().unwrap();
        assert!(
            text.lines().all(|line| line.chars().count() <= most),
            "{width}: {text}"
        );
        for part in [
            "8 reports, 2024-11-01 to 2025-06-02",
            "Tags that vanished",
            "visits",
        ] {
            assert!(text.contains(part), "{width}: no {part} in {text}");
        }
    }
    let said = run(&scratch, &reports, &["--output", "markdown"]);
    assert!(stdout(&said).contains("| ---: |"), "{}", stdout(&said));

    let said = run(&scratch, &reports, &["--out", "out"]);
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    let mut files = vec!["trend.csv", "trend.html", "trend.json"];
    if cfg!(feature = "charts") {
        files.extend(["fullest-node.png", "growth.png"]);
        files.sort_unstable();
    }
    assert_eq!(scratch.entries("out"), files);
    let page = fs::read_to_string(scratch.path("out/trend.html")).unwrap();
    assert!(!page.contains("http:") && !page.contains("https:") && page.contains("<svg"));
    let table = fs::read_to_string(scratch.path("out/trend.csv")).unwrap();
    assert_eq!(table.lines().count(), 9);
    assert!(table.starts_with("date,file,keys,bytes,ops,"), "{table}");
    // A second run replaces its own files; without bytes there is no fullest node to draw.
    let said = run(&scratch, &reports, &["--out", "out"]);
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    fs::create_dir(scratch.path("theirs")).unwrap();
    scratch.file("theirs/trend.html", "theirs");
    let said = run(&scratch, &reports, &["--out", "theirs"]);
    assert_fails(&said, &["name another directory with --out"]);

    let limit = |limit: &str| code(&run(&scratch, &reports, &["--fail-on", limit]));
    assert_eq!(limit("forecast.growth.bytes.a_month.estimate > 0.04"), 1);
    assert_eq!(limit("forecast.growth.bytes.a_month.estimate > 0.2"), 0);
    assert_eq!(limit("forecast.full.months.low < 1000"), 1);
    assert_eq!(limit("forecast.full.days < 3"), 2);
}

#[test]
fn two_reports_give_a_rate_and_say_that_it_has_no_interval() {
    let scratch = Scratch::new();
    let reports =
        [0, 2].map(|month| monthly(&scratch, month, 1000 + 105 * month as usize, &[], &[]));
    let found = trend(&scratch, &reports, &["--maxmemory", "1mb"]);
    let growth = &found["forecast"]["growth"]["keys"]["a_month"];
    assert!(
        (growth["estimate"].as_f64().unwrap() - 0.1).abs() < 1e-3,
        "{growth}"
    );
    assert_eq!(
        (&growth["low"], &growth["high"]),
        (&json!(null), &json!(null))
    );
    assert_eq!(found["forecast"]["full"]["months"]["low"], json!(null));
    let notes = found["notes"].to_string();
    assert!(
        notes.contains("two reports give a rate and no interval"),
        "{notes}"
    );
    assert_fails(&run(&scratch, &reports[..1], &[]), &["two reports or more"]);
}

#[test]
fn reports_need_different_dates_and_the_way_out_is_named() {
    let scratch = Scratch::new();
    let first = monthly(&scratch, 0, 100, &[], &[]);
    let second = monthly(&scratch, 1, 110, &[], &[]);
    set_written(&scratch.path("1.csv"), START);
    let copied = analyze(&scratch, "1.csv", "copied", &[]);
    assert_fails(
        &run(&scratch, &[first.clone(), copied], &[]),
        &[
            "copied/report.json: of the same time as r0/report.json, 2024-11-01",
            "--date: dump, run or path",
        ],
    );
    let said = scratch.piped(&["analyze", "--nodes", "3", "--json"], b"a\nb\n");
    scratch.file("of-2025-03-01.json", &said.stdout);
    let piped = [second, String::from("of-2025-03-01.json")];
    assert_fails(
        &run(&scratch, &piped, &[]),
        &[
            "of-2025-03-01.json: does not say when its dump was written",
            "--date run",
        ],
    );
    assert_fails(
        &run(&scratch, &piped, &["--date", "path"]),
        &["r1/report.json: no date in the path"],
    );
    fs::rename(scratch.path("r1"), scratch.path("2025-02")).unwrap();
    let named = ["2025-02", "of-2025-03-01.json"].map(String::from);
    let found = trend(&scratch, &named, &["--date", "path"]);
    assert_eq!(found["points"][0]["at"], 1_738_368_000);
    let earlier = edited(&scratch, "r0", "earlier", |report| {
        let started = report["run"]["started"].as_u64().unwrap();
        report["run"]["started"] = json!(started - 60);
    });
    let found = trend(
        &scratch,
        &[String::from("2025-02"), earlier],
        &["--date", "run"],
    );
    assert!(
        found["notes"].to_string().contains("less than a day"),
        "{found}"
    );
    assert_eq!(found.get("forecast"), None);
}

/// The report in a directory, changed by `change` and written to `name`.
fn edited(scratch: &Scratch, from: &str, name: &str, change: impl Fn(&mut Value)) -> String {
    let text = fs::read(scratch.path(from).join("report.json")).unwrap();
    let mut report: Value = serde_json::from_slice(&text).unwrap();
    change(&mut report);
    scratch.file(name, report.to_string());
    String::from(name)
}

#[test]
fn reports_of_another_kind_are_refused_and_with_force_noted() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let set = |pointer: &'static str, value: Value| {
        move |report: &mut Value| {
            let (parent, member) = pointer.rsplit_once('/').unwrap();
            report.pointer_mut(parent).unwrap()[member] = value.clone();
        }
    };
    reports[3] = edited(
        &scratch,
        "r3",
        "memory",
        set("/input/sizes", json!("memory")),
    );
    let listed = |id: &'static str| {
        move |report: &mut Value| {
            report["nodes"]["source"] = json!("cluster.nodes");
            for (place, node) in report["nodes"]["list"]
                .as_array_mut()
                .unwrap()
                .iter_mut()
                .enumerate()
            {
                node["id"] = json!(format!("{id}{place}"));
            }
        }
    };
    reports[5] = edited(&scratch, "r5", "a", listed("a"));
    type Change = Box<dyn Fn(&mut Value)>;
    let changes: [(Change, &str); 3] = [
        (
            Box::new(set("/input/policy", json!("enterprise"))),
            "other: its keys are hashed by --policy enterprise, those of memory by the servers' rule",
        ),
        (
            Box::new(set("/input/sizes", json!("serialized"))),
            "other: its sizes are bytes in the RDB file, those of memory are estimates of memory",
        ),
        (
            Box::new(listed("b")),
            "a: none of its nodes is in other: it is of another cluster",
        ),
    ];
    for (change, what) in changes {
        reports[4] = edited(&scratch, "r4", "other", change);
        assert_fails(&run(&scratch, &reports, &[]), &[what, "--force"]);
        let found = trend(&scratch, &reports, &["--force"]);
        assert!(
            found["notes"].to_string().contains(what),
            "{}",
            found["notes"]
        );
    }
    // A policy in the note of a report is that of analyze.
    let other = monthly(&scratch, 9, 1000, &[], &["--policy", "enterprise"]);
    reports.truncate(3);
    reports.push(other);
    assert_fails(
        &run(&scratch, &reports, &[]),
        &["r9/report.json: its keys are hashed by --policy enterprise"],
    );
}

#[test]
fn doubtful_reports_are_marked_and_left_out_unless_they_are_asked_for() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let stop = json!([{"file": "x", "byte": 7, "reason": "cut"}]);
    reports[3] = edited(&scratch, "r3", "broken", |report| {
        report["input"]["incomplete"] = stop.clone();
        report["tags"]["top"] = json!([]);
    });
    let found = trend(&scratch, &reports, &[]);
    assert_eq!(found["points"][3]["left_out"], "incomplete");
    assert_eq!(found["forecast"]["growth"]["keys"]["reports"], 7);
    let count = |found: &Value| {
        let count = |of: &str| found["tags"][of].as_u64().unwrap();
        count("appeared_count") + count("vanished_count")
    };
    assert_eq!(count(&found), 4, "a list that is not whole is not compared");
    assert!(found["notes"].to_string().contains("broken"), "{found}");
    let text = run(&scratch, &reports, &[]);
    assert!(stdout(&text).contains("incomplete"), "{}", stdout(&text));
    let found = trend(&scratch, &reports, &["--with-doubtful"]);
    assert_eq!(found["points"][3].get("left_out"), None);
    assert_eq!(found["forecast"]["growth"]["keys"]["reports"], 8);
    assert_eq!(count(&found), 8, "its list has no names");

    scratch.file("none.keys", "");
    set_written(&scratch.path("none.keys"), START + 100 * 86_400);
    reports.push(analyze(&scratch, "none.keys", "none", &[]));
    let found = trend(&scratch, &reports, &["--with-doubtful"]);
    assert_eq!(found["points"][4]["left_out"], "empty");

    let small = edited(&scratch, "r5", "small", |report| {
        for metric in ["keys", "bytes"] {
            let loads = report["slots"][metric].as_array_mut().unwrap();
            loads
                .iter_mut()
                .for_each(|load| *load = json!(load.as_u64().unwrap() / 3));
        }
    });
    let mut reports = eight_months(&scratch);
    reports.push(monthly(
        &scratch,
        8,
        1594,
        &[("stays", 50), ("comes", 40)],
        &[],
    ));
    reports[5] = small;
    let notes = trend(&scratch, &reports, &[])["notes"].to_string();
    assert!(
        notes.contains("small: ") && notes.contains("is its dump whole?"),
        "{notes}"
    );
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
    assert!(
        code(&said) == 2 && !stderr(&said).contains('\u{1b}'),
        "{}",
        stderr(&said)
    );
    let said = run(
        &scratch,
        &reports,
        &["--force", "--out", "out", "--color", "never"],
    );
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    assert!(
        !stdout(&said).contains(['\u{1b}', '\u{202e}', '\u{7}']),
        "{:?}",
        stdout(&said)
    );
    let page = fs::read_to_string(scratch.path("out/trend.html")).unwrap();
    assert!(
        !page.contains(['\u{1b}', '\u{202e}', '\u{7}']) && page.matches("<script").count() == 2
    );

    let most = json!(u64::MAX);
    let (last, dumped) = (
        json!(253_402_300_799u64),
        json!({"first": 0, "last": 253_402_300_799u64}),
    );
    for (pointer, value, part) in [
        (
            "/schema",
            json!("slotscope.report/0"),
            "analyze its dump again with this version",
        ),
        (
            "/schema",
            json!("slotscope.report/3"),
            "only slotscope.report/2 and slotscope.report/1 can be compared",
        ),
        ("/slots/keys", json!([1]), "slots.keys has 1 numbers"),
        (
            "/run/dumped",
            json!({"first": 0, "last": u64::MAX}),
            "after the year 9999",
        ),
        ("/run/dumped", dumped, ""),
        ("/slots/bytes/0", most.clone(), ""),
        ("/nodes/list/0/bytes", most, ""),
        ("/nodes/list", json!([]), ""),
        ("/tags/top/0/keys", last, ""),
        ("/nodes/keys/max_over_mean", json!(1e308), ""),
    ] {
        reports[2] = edited(&scratch, "r2", "edited", |report| {
            *report.pointer_mut(pointer).unwrap() = value.clone();
        });
        let said = run(&scratch, &reports, &["--out", "edited-out"]);
        match part {
            "" => assert_eq!(code(&said), 0, "{pointer}: {}", stderr(&said)),
            part => assert_fails(&said, &["edited: ", part]),
        }
    }
    let whole = fs::read(scratch.path("r2/report.json")).unwrap();
    for len in [0, 1, 17, whole.len() / 2, whole.len() - 2] {
        scratch.file("cut", &whole[..len]);
        reports[2] = String::from("cut");
        assert_fails(&run(&scratch, &reports, &[]), &["cut: line 1, column"]);
    }
    assert_fails(
        &run(&scratch, &[reports[0].clone(), String::from("no")], &[]),
        &["no: no such file"],
    );
}

#[test]
fn the_page_is_readable_in_both_themes_and_asks_for_nothing() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    reports[7] = edited(&scratch, "r7", "nasty", |report| {
        let tags = report["tags"]["top"].as_array_mut().unwrap();
        tags[0]["tag"] = json!("</script><img src=x onerror=alert(1)>");
        report["nodes"]["list"][0]["address"] = json!("<svg/onload=alert(2)>:1");
    });
    let said = run(
        &scratch,
        &reports,
        &["--out", "out", "--maxmemory", "100kb"],
    );
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    let pictures = Path::new(env!("CARGO_BIN_EXE_slotscope")).parent().unwrap();
    let pictures = pictures.join("browser");
    for (width, theme) in [
        (1440, "light"),
        (1440, "dark"),
        (390, "light"),
        (390, "dark"),
    ] {
        let mut tab = Chromium::start().tab(width, theme);
        tab.open(&scratch.path("out/trend.html"));
        let place = format!("{width} px, {theme}");
        assert_eq!(tab.eval(UNREADABLE), json!([]), "{place}");
        tab.screenshot(&pictures.join(format!("trend-{width}-{theme}.png")));
        let button = if theme == "dark" { "Light" } else { "Dark" };
        assert_eq!(tab.text("#theme"), button, "{place}");
        assert_eq!(
            tab.eval("document.querySelectorAll('figure.curve .dot').length"),
            16
        );
        assert!(
            tab.text("#tags").contains("<img src=x onerror=alert(1)>"),
            "{place}"
        );
        assert_eq!(tab.faults(), Vec::<String>::new(), "{place}");
    }
}

#[test]
fn nodes_that_change_make_the_fullest_node_grow_as_all_data() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let said = scratch.run(&["analyze", "7.csv", "--nodes", "4", "--json"]);
    scratch.file("four", &said.stdout);
    reports[7] = String::from("four");
    let found = trend(&scratch, &reports, &["--maxmemory", "100kb"]);
    let full = &found["forecast"]["full"];
    assert_eq!(full["basis"], "all_data");
    let notes = found["notes"].to_string();
    assert!(notes.contains("taken to grow as all data do"), "{notes}");
    let used = full["used"].as_f64().unwrap();
    let truth = (102_400.0 / used).ln() / 1.06f64.ln();
    let months = full["months"]["estimate"].as_f64().unwrap();
    assert!((months - truth).abs() < 1.5, "{months} {truth}");
}

#[test]
fn memory_that_was_measured_is_what_fills_a_node() {
    let scratch = Scratch::new();
    let measured = [
        "--maxmemory",
        "200kb",
        "--used-memory",
        "even-1=80kb",
        "--used-memory",
        "even-2=70kb",
        "--used-memory",
        "even-3=75kb",
    ];
    let mut reports: Vec<String> = (0..3)
        .map(|month| monthly(&scratch, month, 1000 + 100 * month as usize, &[], &[]))
        .collect();
    reports.push(monthly(&scratch, 3, 1300, &[], &measured));
    let full = trend(&scratch, &reports, &[])["forecast"]["full"].clone();
    assert_eq!(
        (&full["measured"], &full["maxmemory"]),
        (&json!(true), &json!(204_800))
    );
    let used = full["used"].as_u64().unwrap();
    assert!((75_000..90_000).contains(&used), "{used}");
}

#[test]
fn reports_of_the_schema_before_are_read() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let today = trend(&scratch, &reports, &[]);
    for (i, report) in reports.iter_mut().enumerate().take(4) {
        let from = report.clone();
        *report = edited(&scratch, &from, &format!("older-{i}"), |report| {
            report["schema"] = json!("slotscope.report/1");
            let members = report.as_object_mut().unwrap();
            members.remove("verdict").unwrap();
            members.remove("by").unwrap();
            let input = members["input"].as_object_mut().unwrap();
            input.remove("duplicate_share_exact").unwrap();
        });
    }
    let older = trend(&scratch, &reports, &[]);
    for part in ["sentence", "forecast", "tags", "prefixes"] {
        assert!(!today[part].is_null(), "{part}");
        assert_eq!(older[part], today[part], "{part}");
    }
    let said = scratch.run(&["diff", "older-0", "older-3"]);
    assert_eq!(code(&said), 0, "{}", stderr(&said));
}
