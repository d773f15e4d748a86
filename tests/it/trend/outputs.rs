//! The text and the limits.

use testkit::prelude::*;
use testkit::trend::{eight_months, run};

#[test]
fn the_result_is_text_and_limits() {
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
    let limit = |limit: &str| code(&run(&scratch, &reports, &["--fail-on", limit]));
    assert_eq!(limit("forecast.growth.bytes.a_month.estimate > 0.04"), 1);
    assert_eq!(limit("forecast.growth.bytes.a_month.estimate > 0.2"), 0);
    assert_eq!(limit("forecast.full.months.low < 1000"), 1);
    assert_eq!(limit("forecast.full.days < 3"), 2);
}
