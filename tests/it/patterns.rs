//! Patterns and prefixes in the report: counted whole, and where names are too many, bounded and said so.

use std::fmt::Write as _;

use crate::support::rng::Rng;
use crate::support::run::{feed, slotscope, succeeded};
use serde_json::Value;

/// The report of a dump, as JSON and as text.
fn report(dump: String) -> (Value, String) {
    let analyze = |flag: &str| succeeded(feed(slotscope(&["analyze", "-", flag]), dump.as_bytes()));
    (
        serde_json::from_slice(&analyze("--json")).unwrap(),
        String::from_utf8(analyze("--no-files")).unwrap(),
    )
}

fn row<'a>(report: &'a Value, table: &str, column: &str, name: &str) -> &'a Value {
    let rows = report[table]["top"].as_array().unwrap();
    rows.iter()
        .find(|row| row[column] == name)
        .unwrap_or_else(|| panic!("no {name} among {table}"))
}

#[test]
fn ids_do_not_split_patterns_and_prefixes_are_their_sums() {
    let mut dump = String::new();
    for i in 0..3000 {
        writeln!(
            dump,
            "shop:cart:{{cart:{i}}}:items\nshop:dict:{{common}}:{i}\nshop:item:{i}"
        )
        .unwrap();
    }
    let (report, _) = report(dump);
    assert_eq!(
        (
            &report["patterns"]["exact"],
            &report["patterns"]["max_error"]
        ),
        (&true.into(), &0.into())
    );
    let common = row(&report, "patterns", "pattern", "shop:dict:{common}:<n>");
    assert_eq!(
        (&common["keys"], &common["slots"], &common["tagged_share"]),
        (&3000.into(), &1.into(), &1.0.into())
    );
    let shop = row(&report, "prefixes", "prefix", "shop");
    assert_eq!((&shop["keys"], &shop["share"]), (&9000.into(), &1.0.into()));
    assert!((shop["tagged_share"].as_f64().unwrap() - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(
        shop["slots"],
        report["slots"]["keys"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|keys| **keys != 0)
            .count()
    );
}

#[test]
fn with_too_many_prefixes_the_heavy_ones_are_listed_and_the_rest_is_bounded() {
    let word = |rng: &mut Rng| -> String {
        (0..9)
            .map(|_| char::from(b'a' + rng.below(26) as u8))
            .collect()
    };
    let mut rng = Rng::new(0);
    let mut dump = String::new();
    for i in 0..200_000 {
        writeln!(dump, "{}:profile:{i}", word(&mut rng)).unwrap();
        if i % 10 == 0 {
            writeln!(dump, "user:{i}:cart").unwrap();
        }
    }
    let (report, text) = report(dump);
    let patterns = &report["patterns"];
    assert_eq!(patterns["exact"], false);
    let user = row(&report, "patterns", "pattern", "user:<n>:cart");
    let (keys, most) = (
        user["keys"].as_u64().unwrap(),
        patterns["max_error"].as_u64().unwrap(),
    );
    assert!(
        keys <= 20_000 && keys + most >= 20_000,
        "{keys} and at most {most}"
    );
    assert!(most < 2000, "{most}");
    assert_eq!(user["slots"], Value::Null);
    assert!(text.contains("too many to count each"), "{text}");
}
