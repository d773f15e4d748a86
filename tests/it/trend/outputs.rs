//! The text and the limits.

use testkit::prelude::*;
use testkit::trend::{eight_months, run};

#[test]
fn the_result_is_text_and_limits() {
    let scratch = Scratch::new();
    let reports = eight_months(&scratch);
    for width in [40, 80, 200] {
        let mut command = scratch.command(&format!("trend {}", reports.join(" ")));
        let said = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = stdout(&said);
        let mut widths = text.lines().map(|line| line.chars().count());
        assert!(widths.all(|wide| wide <= width), "{width}: {text}");
        text.says("8 reports, 2024-11-01 to 2025-06-02")
            .says("The node that is full first");
    }
    for (limit, expected) in [
        ("forecast.growth.bytes.a_month.estimate > 0.04", 1),
        ("forecast.growth.bytes.a_month.estimate > 0.2", 0),
        ("forecast.full.months.low < 1000", 1),
        ("forecast.full.days < 3", 2),
    ] {
        let said = run(&scratch, &reports, &["--fail-on", limit]);
        assert_eq!(code(&said), expected, "{limit}");
    }
}
