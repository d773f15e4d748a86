//! The text, the files and the page.

use std::fs;

use slotscope_engine::text::day;
use testkit::prelude::*;
use testkit::trend::{MONTH_SECS, eight_months, run};

#[test]
fn the_result_is_text_files_and_limits() {
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
            "The node that is full first",
        ] {
            assert!(text.contains(part), "{width}: no {part} in {text}");
        }
    }
    let said = run(&scratch, &reports, &["--out", "out"]);
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    assert_eq!(scratch.entries("out"), ["trend.html", "trend.json"]);
    let page = scratch.read("out/trend.html");
    assert!(!page.contains("http:") && !page.contains("https:") && page.contains("<svg"));
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
fn the_picture_of_the_fullest_node_reaches_the_date_that_it_is_full_on() {
    let scratch = Scratch::new();
    let reports = eight_months(&scratch);
    // Twice the time that the reports cover, and more.
    let said = run(
        &scratch,
        &reports,
        &["--maxmemory", "150kb", "--out", "out"],
    );
    assert_eq!(code(&said), 0, "{}", stderr(&said));
    let trend = fs::read(scratch.path("out/trend.json")).unwrap();
    let trend: Value = serde_json::from_slice(&trend).unwrap();
    let full = &trend["forecast"]["full"];
    let high = full["months"]["high"].float();
    let end = trend["forecast"]["from"].whole() + (high * MONTH_SECS) as u64;
    assert!(high > 14.0 && end > full["at"].whole(), "{full}");
    let page = scratch.read("out/trend.html");
    let picture = page.split("<figure").last().unwrap();
    let (_, ends) = picture
        .split_once(r#"<div class="ends" aria-hidden="true"><span>2024-11-01<"#)
        .unwrap();
    let (ends, _) = ends.split_once("</div>").unwrap();
    let last = &ends.rsplit("<span>").next().unwrap()[..10];
    assert!(
        last > day(end).as_str() && last < day(end + 200 * 86_400).as_str(),
        "{last} {full}"
    );
    assert_contains(picture, &["limit 150.00 KiB"]);
}
