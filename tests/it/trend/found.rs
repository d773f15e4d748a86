//! Findings of trend: growth, names that come and go, the day on which a node is full.

use super::trend;
use serde_json::{Value, json};
use testkit::run::{Scratch, assert_fails};
use testkit::trend::{START, eight_months, monthly, run};

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
    // Eight reports do not rule out that data grow by an amount, or that deviations persist.
    assert!(a_month("high") - a_month("low") < 0.07, "{growth}");
    let full = &found["forecast"]["full"];
    assert_eq!(
        (&full["maxmemory"], &full["basis"]),
        (&json!(102_400), &json!("fullest_nodes"))
    );
    assert_eq!(full["last_forecast"]["file"], "r4/report.json");
    let months = |end: &str| full["months"][end].as_f64().unwrap();
    // The fullest node has a little over a third of the bytes, which grow by 6% a month.
    let used = full["used"].as_f64().unwrap();
    let truth = (102_400.0 / used).ln() / 1.06f64.ln();
    assert!(
        months("low") < truth && truth < months("high"),
        "{full} {truth}"
    );
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
