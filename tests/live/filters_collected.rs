//! Filters on collections, dumps and servers: the report on the passing keys equals that of a dump of these keys, and a
//! filter that nothing passes is rejected with a list of what exists.

use std::collections::BTreeSet;

use crate::collect::collected::{Row, rows};
use testkit::cluster::Cluster;
use testkit::prelude::*;

/// A filter, and whether a row passes it.
type Filter = (&'static str, fn(&Row) -> bool);

fn size(row: &Row) -> u64 {
    row.number("memory").unwrap()
}

const FILTERS: [Filter; 8] = [
    ("--match user:*", |row| row.key.0.starts_with(b"user:")),
    ("--match-regex ^cart:.*7$", |row| {
        row.key.0.starts_with(b"cart:") && row.key.0.ends_with(b"7")
    }),
    ("--type zset", |row| row.cell("type") == Some("zset")),
    ("--type hash,zset", |row| row.cell("type") != Some("string")),
    ("--min-size 1kb", |row| size(row) >= 1024),
    ("--max-size 1000", |row| size(row) <= 1000),
    ("--ttl none", |row| row.cell("expiry").is_none()),
    ("--ttl any", |row| row.cell("expiry").is_some()),
];

fn filled() -> Cluster {
    let cluster = Cluster::even(3);
    cluster.set_all((0..300).map(|id| (format!("user:{id}"), "v")));
    for id in 0..300 {
        let cart = format!("cart:{{t{}}}:{id}", id % 40);
        let mut owner = cluster.owner_of(cart.as_bytes());
        owner.call(&["HSET", &cart, "field", "value"]);
        owner.call(&["EXPIRE", &cart, "90000"]);
        if id % 10 == 0 {
            let (board, member) = (format!("board:{id}"), "m".repeat(2000));
            let mut owner = cluster.owner_of(board.as_bytes());
            owner.call(&["ZADD", &board, "1", &member]);
        }
    }
    cluster
}
/// The parts of a report that are about keys.
fn counts(report: &Value) -> Value {
    json!(["slots", "tags", "keys", "patterns", "sizes", "types"].map(|part| report[part].clone()))
}

#[test]
fn a_filter_on_a_collection_or_a_server_chooses_keys_and_damages_nothing() {
    let (cluster, scratch) = (filled(), Scratch::new());
    let address = format!("redis://{}", cluster.address(0));
    scratch.text(&format!("collect {address} -o out"));
    let all = rows(&scratch);
    assert_eq!(all.len(), 630);
    for (flags, passes) in FILTERS {
        let mut kept = csv::Writer::from_path(scratch.path("only.csv")).unwrap();
        let columns: BTreeSet<&str> = all
            .iter()
            .flat_map(|row| row.cells.keys().map(String::as_str))
            .collect();
        kept.write_record(&columns).unwrap();
        let passing: Vec<&Row> = all.iter().filter(|row| passes(row)).collect();
        assert!(!passing.is_empty() && passing.len() < all.len(), "{flags}");
        for row in passing {
            let cells = columns.iter().map(|column| row.cell(column).unwrap_or(""));
            kept.write_record(cells).unwrap();
        }
        kept.flush().unwrap();
        let only = "analyze only.csv --topology out/cluster.nodes --json";
        let expected = scratch.report(only);
        for input in ["out", &address] {
            println!("{input} {flags}");
            let filtered = scratch.report(&format!("analyze {input} --json {flags}"));
            let incomplete = filtered["input"].get("incomplete").cloned();
            assert_eq!(incomplete.unwrap_or(json!([])), json!([]));
            let verdict = &filtered["verdict"];
            assert_ne!(verdict["state"], "suspicious", "{verdict}");
            assert_eq!(counts(&filtered), counts(&expected));
        }
        scratch.text(&format!("plan out --json --add 1 {flags}"));
        scratch.text(&format!("whatif out --json --to-nodes 6 {flags}"));
    }
    scratch.text("analyze out --db 0 --no-files");
}
#[test]
fn a_filter_that_nothing_passes_is_refused_with_what_there_is() {
    let scratch = Scratch::new();
    let rows = "key,size,type,expiry,db\nuser:1,100,string,,0\nuser:2,3000,hash,1900000000,0\nsession:1,50,string,1800000000,0\n";
    scratch.file("dump.csv", rows);
    let refused = r#"--type hashes | --type hashes: | no key is of this type | types here: hash, string
        --type string,hashes | --type hashes: | types here: hash, string
        --type zset | no key passed --type zset | types here: hash, string
        --match usr:* | no key passed --match ... | "user:" (2), "session:" (1)
        --match-regex ^x | no key passed --match-regex ... | "user:" (2)
        --min-size 1mb | no key passed --min-size 1mb | sizes here: 50 B to 2.93 KiB
        --max-size 1 | no key passed --max-size 1 | sizes here: 50 B
        --ttl 2030-06-01..2031-01-01 | no key passed --ttl 2030 | 2 of 3 keys have a TTL
        --db 7 | --db 7: no key is in this database | databases here: 0"#;
    for row in refused.lines().map(str::trim) {
        scratch.refuses(&format!(
            "analyze dump.csv --no-files {row}
             plan dump.csv --nodes 3 --add 1 {row}
             whatif dump.csv --nodes 3 --to-nodes 6 {row}"
        ));
    }
    let redacted = scratch.run("analyze dump.csv --no-files --redact --match usr:*");
    redacted.refused("--match | no key passed");
    stderr(&redacted).lacks("user:").lacks("usr:");
    scratch.text("analyze dump.csv --no-files --type string,zset");
}
