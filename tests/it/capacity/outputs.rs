//! The text, the files and the limits.

use std::fs;

use testkit::history::{eight_months, run};
use testkit::prelude::*;

#[test]
fn the_result_is_text_and_limits() {
    let scratch = Scratch::new();
    let reports = eight_months(&scratch);
    for width in [40, 80, 200] {
        let mut command = scratch.command(&format!("capacity {}", reports.join(" ")));
        let said = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = stdout(&said);
        let mut widths = text.lines().map(|line| line.chars().count());
        assert!(widths.all(|wide| wide <= width), "{width}: {text}");
        text.says("8 reports, 2024-11-01 to 2025-06-02")
            .says("Memory of the shards")
            .says("How many shards")
            .says("in 3 months");
    }
    for (limit, expected) in [
        ("total.bytes.a_month.estimate > 0.04", 1),
        ("total.bytes.a_month.estimate > 0.2", 0),
        ("full.months.low < 1000", 1),
        ("shards[*].keys.now > 1", 1),
        ("full.days < 3", 2),
    ] {
        let said = run(&scratch, &reports, &["--fail-on", limit]);
        assert_eq!(code(&said), expected, "{limit}");
    }
    scratch
        .run("trend r0 r1")
        .refused("did you mean slotscope capacity?");
}

#[test]
fn files_are_a_page_a_chart_and_one_table_that_is_that_of_csv_too() {
    let scratch = Scratch::new();
    let reports = eight_months(&scratch);
    assert_eq!(code(&run(&scratch, &reports, &["--out", "review"])), 0);
    let file = |name: &str| fs::read(scratch.path("review").join(name)).unwrap();
    assert!(file("capacity.png").starts_with(b"\x89PNG"));
    let page = String::from_utf8(file("capacity.html")).unwrap();
    page.says("Capacity review of 2025-06-02")
        .says("Memory of the shards")
        .says("<svg");
    let table = String::from_utf8(file("capacity.csv")).unwrap();
    assert_eq!(table, stdout(&run(&scratch, &reports, &["--csv"])));
    table.says("of,name,metric,unit,kind,months,date,estimate,low,high,limit,fits,full,full low,full high\n");
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert!(rows.iter().all(|row| row.len() == 15), "{table}");
    let now = |row: &&Vec<&str>| row[..6] == ["shard", "even-1", "bytes", "bytes", "now", "0"];
    let [.., limit, _, full, low, high] = rows.iter().find(now).unwrap().as_slice() else {
        panic!("{table}")
    };
    table
        .says("shard,even-1,bytes,bytes,past,,2024-11-01,")
        .says("shards,4,bytes,bytes,less one,,,52895,,,102400,yes,,,\n");
    assert!(
        low < full && full < high && *limit == "102400" && full.len() == 10,
        "{table}"
    );
    let both = run(&scratch, &reports, &["--csv", "--json"]);
    assert_eq!(code(&both), 2);
}

#[test]
fn diff_has_a_table_too() {
    let scratch = Scratch::new();
    let reports = eight_months(&scratch);
    let table = scratch.text(&format!("diff {} {} --csv", reports[0], reports[7]));
    table.begins("of,name,fate,metric,before,now\n");
    table
        .says("tag,comes,appeared,keys,,40\n")
        .says("tag,goes,vanished,keys,30,\n");
    table.says("total,,,keys,1090,").says("node,even-1,,bytes,");
}
