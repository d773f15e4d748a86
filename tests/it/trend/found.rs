//! Findings of trend: growth, the day on which a node is full.

use super::trend;
use testkit::prelude::*;
use testkit::trend::{START, analyze, edited, eight_months, monthly, run, set_written};

#[test]
fn reports_of_analyze_become_a_trend() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let in_order = trend(&scratch, &reports, "--maxmemory 100kb");
    reports.reverse();
    let found = trend(&scratch, &reports, "--maxmemory 100kb");
    assert_eq!(found, in_order);

    assert_eq!(found["schema"], "slotscope.trend/3");
    let points = found["points"].list();
    points[0].has(json!({"file": "r0/report.json", "at": START, "keys": 1010 + 50 + 30}));
    points[7].has(json!({"file": "r7/report.json"}));
    assert_eq!(points[3]["nodes"]["count"], 3);
    assert!(points[3]["nodes"]["fullest"]["bytes"]["load"].whole() > 30_000);

    let growth = &found["forecast"]["growth"]["keys"];
    let a_month = |end: &str| growth["a_month"][end].float();
    assert!(a_month("low") < 0.06 && 0.06 < a_month("high"), "{growth}");
    // Eight reports do not rule out linear growth, or that deviations persist.
    assert!(a_month("high") - a_month("low") < 0.07, "{growth}");
    let full = &found["forecast"]["full"];
    full.has(json!({"maxmemory": 102_400, "basis": "fullest_nodes"}));
    let months = |end: &str| full["months"][end].float();
    // The fullest node has a little over a third of the bytes, which grow by 6% a month.
    let used = full["used"].float();
    let truth = (102_400.0 / used).ln() / 1.06f64.ln();
    assert!(
        (months("low")..months("high")).contains(&truth),
        "{full} {truth}"
    );
}

#[test]
fn two_reports_give_a_rate_and_say_that_it_has_no_interval() {
    let scratch = Scratch::new();
    let reports =
        [0, 2].map(|month| monthly(&scratch, month, 1000 + 105 * month as usize, &[], &[]));
    let found = trend(&scratch, &reports, "--maxmemory 1mb");
    let growth = &found["forecast"]["growth"]["keys"]["a_month"];
    near(growth["estimate"].float(), 105.0 / 1210.0, 1e-3);
    growth.has(json!({"low": null, "high": null}));
    assert_eq!(found["forecast"]["full"]["months"]["low"], json!(null));
    found["notes"]
        .to_string()
        .says("two reports give a rate and no interval");
    run(&scratch, &reports[..1], &[]).refused("two reports or more");
}

#[test]
fn nodes_that_change_make_the_fullest_node_grow_as_all_data() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let said = scratch.run("analyze 7.csv --nodes 4 --json");
    scratch.file("four", &said.stdout);
    reports[7] = String::from("four");
    let found = trend(&scratch, &reports, "--maxmemory 100kb");
    let full = &found["forecast"]["full"];
    assert_eq!(full["basis"], "all_data");
    found["notes"]
        .to_string()
        .says("taken to grow as all data do");
    let used = full["used"].float();
    let truth = (102_400.0 / used).ln() / 1.06f64.ln();
    let months = full["months"]["estimate"].float();
    near(months, truth, 1.5);
}

/// Monthly reports in which nodes used this much memory of 500,000 bytes.
fn measured(scratch: &Scratch, used: &[[u64; 3]]) -> Vec<String> {
    let reports = used.iter().zip(0..).map(|(used, month)| {
        let flags = format!("--maxmemory 500000 {}", used_memory(used));
        // The keys double meanwhile: most of the memory is not theirs.
        monthly(
            scratch,
            month,
            100 + 35 * month as usize,
            &[],
            &words(&flags),
        )
    });
    reports.collect()
}

/// The flags that tell the memory that each node uses.
fn used_memory(used: &[u64; 3]) -> String {
    let flags = (1..)
        .zip(used)
        .map(|(node, used)| format!("--used-memory even-{node}={used}"));
    flags.collect::<Vec<_>>().join(" ")
}

#[test]
fn memory_that_was_measured_in_each_report_is_forecast_as_it_grew() {
    let scratch = Scratch::new();
    let used = [310_200, 325_100, 339_800, 354_900].map(|used| [used, 200_000, 210_000]);
    let found = trend(&scratch, &measured(&scratch, &used), "");
    let full = &found["forecast"]["full"];
    full.has(json!({"node": "even-1", "basis": "used_memory"}));
    full.has(json!({"used": 354_900, "maxmemory": 500_000}));
    let months = |end: &str| full["months"][end].float();
    let truth = (500.0 - 354.9) / ((354.9 - 310.2) / 3.0);
    near(months("estimate"), truth, 0.1);
    assert!(
        (months("low")..months("high")).contains(&truth),
        "{full} {truth}"
    );
    let sentence = found["sentence"].text();
    sentence.says("; by used_memory, node even-1 is full in 9.7 months (");
}

#[test]
fn of_nodes_with_measured_memory_the_first_to_be_full_is_named() {
    let scratch = Scratch::new();
    let used = [0, 1, 2, 3].map(|month| [400_000, 200_000 + 40_000 * month, 390_000]);
    let mut reports = measured(&scratch, &used);
    let full = trend(&scratch, &reports, "")["forecast"]["full"].clone();
    full.has(json!({"node": "even-2", "used": 320_000}));
    let months = full["months"]["estimate"].float();
    near(months, 4.5, 0.1);
    // A hostile report may list a node twice.
    reports[1] = edited(&scratch, "r1", "twice", |report| {
        let nodes = report["capacity"]["nodes"].as_array_mut().unwrap();
        nodes.push(nodes[1].clone());
    });
    assert_eq!(trend(&scratch, &reports, "")["forecast"]["full"], full);
}

#[test]
fn memory_that_was_measured_once_grows_with_the_keys_and_the_rest_stays() {
    let scratch = Scratch::new();
    let flags = format!(
        "--maxmemory 100000 {}",
        used_memory(&[80_000, 70_000, 75_000])
    );
    let month = |month: u32| {
        let flags = if month == 3 { &flags } else { "" };
        monthly(
            &scratch,
            month,
            1000 + 100 * month as usize,
            &[],
            &words(flags),
        )
    };
    let reports: Vec<String> = (0..4).map(month).collect();
    let found = trend(&scratch, &reports, "");
    let full = &found["forecast"]["full"];
    full.has(json!({"measured": true, "basis": "fullest_nodes"}));
    let used = full["used"].whole();
    assert!((70_000..=80_000).contains(&used), "{full}");
    // Three nodes grow by 100 keys of 100 bytes a month.
    let months = full["months"]["estimate"].float();
    let truth = (100_000 - used) as f64 / (100.0 * 100.0 / 3.0);
    near(months / truth, 1.0, 0.1);
    found["sentence"]
        .text()
        .says("by the bytes of its keys, node even-");
    found["notes"]
        .to_string()
        .says("used_memory was measured in one report");
}

#[test]
fn four_days_have_no_growth_a_month() {
    let scratch = Scratch::new();
    let days = (0..4).map(|day| {
        monthly(&scratch, day, 1000 + 100 * day as usize, &[], &[]);
        let dump = format!("{day}.csv");
        set_written(&scratch.path(&dump), START + u64::from(day) * 86_400);
        analyze(&scratch, &dump, &format!("r{day}"), &[])
    });
    let days: Vec<String> = days.collect();
    let found = trend(&scratch, &days, "--maxmemory 100kb");
    let growth = &found["forecast"]["growth"]["keys"];
    assert_eq!(growth["a_month"], json!(null));
    near(growth["a_day"]["estimate"].float(), 100.0, 0.1);
    let text = run(&scratch, &days, &["--by", "keys", "--maxmemory", "100kb"]);
    stdout(&text)
        .says("1,300 keys, +100 keys a day (")
        .says(" is full in 1")
        .says(" days (")
        .lacks("a month");
}
