//! Reports over time: growth, the day on which a shard is full, tags that outgrow it.

use super::{review, shard};
use testkit::history::{START, edited, eight_months, monthly, run, set_written};
use testkit::prelude::*;

#[test]
fn reports_of_analyze_become_a_review() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let in_order = review(&scratch, &reports, "--maxmemory 100kb");
    reports.reverse();
    let found = review(&scratch, &reports, "--maxmemory 100kb");
    assert_eq!(found, in_order);

    assert_eq!(found["schema"], "slotscope.capacity/1");
    let points = found["points"].list();
    points[0].has(json!({"file": "r0/report.json", "at": START, "keys": 1010 + 50 + 30}));
    points[7].has(json!({"file": "r7/report.json"}));
    assert_eq!(points[3]["nodes"]["count"], 3);
    assert!(points[3]["nodes"]["fullest"]["bytes"]["load"].whole() > 30_000);

    let growth = &found["total"]["keys"];
    let a_month = |end: &str| growth["a_month"][end].float();
    assert!(a_month("low") < 0.06 && 0.06 < a_month("high"), "{growth}");
    // Eight reports do not rule out linear growth, or that deviations persist.
    assert!(a_month("high") - a_month("low") < 0.07, "{growth}");
    let full = &found["full"];
    let fullest = shard(&found, full["node"].text());
    fullest.has(json!({"maxmemory": 102_400, "basis": "keys"}));
    let months = |end: &str| full["months"][end].float();
    // The fullest shard has a little over a third of the bytes, which grow by 6% a month.
    let truth = (102_400.0 / fullest["bytes"]["now"].float()).ln() / 1.06f64.ln();
    assert!(
        (months("low")..months("high")).contains(&truth),
        "{full} {truth}"
    );
    // It is full earlier at 80%.
    let earlier = report(&run(&scratch, &reports, &words("--json --maxmemory 100kb")));
    assert!(earlier["full"]["months"]["estimate"].float() < months("estimate") - 2.0);
}

#[test]
fn months_are_those_that_are_asked_for_with_their_intervals() {
    let scratch = Scratch::new();
    let reports = eight_months(&scratch);
    let found = review(&scratch, &reports, "--months 9,2");
    for of in found["shards"].list() {
        let ahead = of["bytes"]["ahead"].list();
        let months: Vec<u64> = ahead.iter().map(|ahead| ahead["months"].whole()).collect();
        assert_eq!(months, [2, 9]);
        let width = |at: usize| {
            let load = &ahead[at]["load"];
            load["high"].float() - load["low"].float()
        };
        assert!(width(0) > 0.0 && width(1) > width(0), "{of}");
    }
    let sum: f64 = found["shards"]
        .list()
        .iter()
        .map(|of| of["keys"]["now"].float())
        .sum();
    assert_eq!(sum, found["total"]["keys"]["now"].float());
}

#[test]
fn two_reports_give_a_rate_and_say_that_it_has_no_interval() {
    let scratch = Scratch::new();
    let reports =
        [0, 2].map(|month| monthly(&scratch, month, 1000 + 105 * month as usize, &[], &[]));
    let found = review(&scratch, &reports, "--maxmemory 1mb");
    let growth = &found["total"]["keys"]["a_month"];
    near(growth["estimate"].float(), 105.0 / 1210.0, 1e-3);
    growth.has(json!({"low": null, "high": null}));
    assert_eq!(found["full"]["months"]["low"], json!(null));
    found["notes"]
        .to_string()
        .says("two reports give a rate and no interval");
    let one = review(&scratch, &reports[..1], "--maxmemory 1mb");
    one["notes"].to_string().says("one report tells no growth");
    assert_eq!(one["total"]["keys"].get("a_month"), None);
    assert_eq!(one["shards"][0].get("full"), None);
}

#[test]
fn slots_that_moved_are_no_growth_of_their_shard() {
    let scratch = Scratch::new();
    let mut reports = eight_months(&scratch);
    let said = scratch.run("analyze 7.csv --nodes 4 --json");
    scratch.file("four", &said.stdout);
    reports[7] = String::from("four");
    let found = review(&scratch, &reports, "");
    // The reports before had three shards: their slots are added up as four.
    for of in found["shards"].list() {
        let a_month = of["keys"]["a_month"]["estimate"].float();
        near(a_month, 0.055, 0.02);
        assert_eq!(of["keys"]["reports"], 8);
    }
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
    let found = review(&scratch, &measured(&scratch, &used), "");
    let full = &found["full"];
    assert_eq!(full["node"], "even-1");
    let first = shard(&found, "even-1");
    first.has(json!({"basis": "used_memory", "maxmemory": 500_000}));
    assert_eq!(first["bytes"]["now"], 354_900);
    let months = |end: &str| full["months"][end].float();
    let truth = (500.0 - 354.9) / ((354.9 - 310.2) / 3.0);
    near(months("estimate"), truth, 0.1);
    assert!(
        (months("low")..months("high")).contains(&truth),
        "{full} {truth}"
    );
    let sentence = found["sentence"].text();
    sentence.says("; by used_memory, even-1 is 100% full on 2025-11-2");
}

#[test]
fn of_nodes_with_measured_memory_the_first_to_be_full_is_named() {
    let scratch = Scratch::new();
    let used = [0, 1, 2, 3].map(|month| [400_000, 200_000 + 40_000 * month, 390_000]);
    let mut reports = measured(&scratch, &used);
    let full = review(&scratch, &reports, "")["full"].clone();
    assert_eq!(full["node"], "even-2");
    let months = full["months"]["estimate"].float();
    near(months, 4.5, 0.1);
    // A hostile report may list a node twice.
    reports[1] = edited(&scratch, "r1", "twice", |report| {
        let nodes = report["capacity"]["nodes"].as_array_mut().unwrap();
        nodes.push(nodes[1].clone());
    });
    assert_eq!(review(&scratch, &reports, "")["full"], full);
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
    let found = review(&scratch, &reports, "");
    let first = shard(&found, "even-1");
    first.has(json!({"basis": "measured_once"}));
    assert_eq!(first["bytes"]["now"], 80_000);
    // Three nodes grow by 100 keys of 100 bytes a month.
    let truth = (100_000 - 80_000) as f64 / (100.0 * 100.0 / 3.0);
    near(first["full"]["estimate"].float() / truth, 1.0, 0.2);
    found["notes"]
        .to_string()
        .says("used_memory was measured once");
}

#[test]
fn four_days_have_no_growth_a_month() {
    let scratch = Scratch::new();
    let days = (0..4).map(|day| {
        monthly(&scratch, day, 1000 + 100 * day as usize, &[], &[]);
        let dump = format!("{day}.csv");
        set_written(&scratch.path(&dump), START + u64::from(day) * 86_400);
        testkit::history::analyze(&scratch, &dump, &format!("r{day}"), &[])
    });
    let days: Vec<String> = days.collect();
    let found = review(&scratch, &days, "--maxmemory 100kb");
    let growth = &found["total"]["keys"];
    assert_eq!(growth["a_month"], json!(null));
    near(growth["a_day"]["estimate"].float(), 100.0, 0.1);
    let text = run(&scratch, &days, &["--by", "keys", "--maxmemory", "100kb"]);
    stdout(&text)
        .says("1,300 keys on 3 shards, +100 keys a day (")
        .says(" is 80% full on 2024-11-11 (2024-11-10 to 2024-11-12)")
        .lacks("a month");
}

#[test]
fn a_tag_that_outgrows_a_shard_is_named_with_the_date_to_split_it() {
    let scratch = Scratch::new();
    let month = |month: u32| {
        let tags = [("acme", 100 + 50 * month as usize), ("small", 30)];
        monthly(&scratch, month, 1000, &tags, &[])
    };
    let reports: Vec<String> = (0..5).map(month).collect();
    let found = review(&scratch, &reports, "--maxmemory 80000");
    let tags = found["tags"].list();
    tags[0].has(json!({"name": "acme", "now": 300 * 100, "reports": 5}));
    // It grows by 5,000 bytes a month.
    near(
        tags[0]["outgrows"]["estimate"].float(),
        (80.0 - 30.0) / 5.0,
        0.1,
    );
    assert_eq!(tags[1]["outgrows"]["estimate"], json!(null));
    found["answer"].text().says("split {acme} before 2025-12-");
    // The slot of the tag is the limit, and grows as it does: no number of shards holds it longer.
    found["floor"].has(json!({"tag": "acme", "load": 30_000}));
    for count in found["counts"].list() {
        assert!(count["full"]["estimate"].float() < 10.1, "{count}");
    }
}

/// A line through the sum of both would bend up too late.
#[test]
fn a_tag_that_grows_faster_than_its_shard_has_a_line_of_its_own() {
    let scratch = Scratch::new();
    let month = |month: u32| {
        let grown = (100.0 * 1.5f64.powi(month as i32)).round() as usize;
        let tags = [("acme", grown), ("steady", 200 + 4 * month as usize)];
        monthly(&scratch, month, 1500 + 30 * month as usize, &tags, &[])
    };
    let reports: Vec<String> = (0..6).map(month).collect();
    let found = review(&scratch, &reports, "--months 4");
    let mut tags = found["tags"].list().iter();
    let acme = tags.find(|tag| tag["name"] == "acme").unwrap();
    let truth = 100.0 * 1.5f64.powi(9);
    let load = &acme["ahead"][0]["load"];
    near(load["estimate"].float(), 100.0 * truth, 2_000.0);
    let mut shards = found["shards"].list().iter();
    let own = shards.find(|shard| shard["id"] == acme["node"]).unwrap();
    // The users of its shard grow by a fiftieth each month.
    let rest = own["keys"]["now"].float() - 100.0 * 1.5f64.powi(5);
    for (of, rest) in [
        (own, rest * 1.08),
        (&found["total"], 1500.0 + 270.0 + 236.0),
    ] {
        assert_eq!(of["keys"]["apart"], json!(["acme"]), "{of}");
        let load = &of["keys"]["ahead"][0]["load"];
        let (low, high) = (load["low"].float(), load["high"].float());
        let truth = truth + rest;
        assert!((0.98 * low..1.02 * high).contains(&truth), "{truth} {load}");
        assert!(high - low < 0.2 * truth, "{load}");
    }
    found["notes"].to_string().says(
        "{acme} grows faster than the rest of its shard: each has a line of its own, and that shard is the sum of both",
    );
}

#[test]
fn shards_that_do_not_hold_what_is_there_today_are_not_enough_because_it_shrinks() {
    let scratch = Scratch::new();
    let month = |month: u32| monthly(&scratch, month, 2000 - 200 * month as usize, &[], &[]);
    let reports: Vec<String> = (0..4).map(month).collect();
    let found = review(&scratch, &reports, "--maxmemory 45000 --shards 3,4,6");
    found["counts"][0]["fits"].has(json!({"now": false, "grown": true}));
    found["answer"].text().begins("4 shards of 43.95 KiB");
    let text = run(
        &scratch,
        &reports,
        &[
            "--maxmemory",
            "45000",
            "--shards",
            "3,4,6",
            "--full-at",
            "100",
        ],
    );
    stdout(&text)
        .says("    no            today")
        .says("yes, less one too")
        .lacks("today only");
    let said = run(&scratch, &reports, &["--full-at", "0.8"]);
    stderr(&said)
        .says("--full-at")
        .says("less than 1%; write 80%");
}
