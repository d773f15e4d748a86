//! Filters on collections, dumps and servers: the report on the passing keys equals that of a dump of these keys, and a
//! filter that nothing passes is rejected with a list of what exists.

use testkit::cluster::{Cluster, call_ok};
use testkit::prelude::*;

/// A filter, and whether a row of key, type, size and expiry passes it.
type Filter = (&'static [&'static str], fn(&Row) -> bool);

struct Row {
    line: String,
    key: String,
    kind: String,
    size: u64,
    expires: bool,
}

const FILTERS: [Filter; 8] = [
    (&["--match", "user:*"], |row| row.key.starts_with("user:")),
    (&["--match-regex", "^cart:.*7$"], |row| {
        row.key.starts_with("cart:") && row.key.ends_with('7')
    }),
    (&["--type", "zset"], |row| row.kind == "zset"),
    (&["--type", "hash,zset"], |row| row.kind != "string"),
    (&["--min-size", "1kb"], |row| row.size >= 1024),
    (&["--max-size", "1000"], |row| row.size <= 1000),
    (&["--ttl", "none"], |row| !row.expires),
    (&["--ttl", "any"], |row| row.expires),
];

fn filled() -> Cluster {
    let cluster = Cluster::even(3);
    for id in 0..300 {
        let (user, cart, board) = (
            format!("user:{id}"),
            format!("cart:{{t{}}}:{id}", id % 40),
            format!("board:{id}"),
        );
        let set =
            |key: &str, command: &[&str]| call_ok(&mut cluster.owner_of(key.as_bytes()), command);
        set(&user, &["SET", &user, "v"]);
        let _ = cluster.owner_of(cart.as_bytes()).pipeline(&[
            ["HSET", &cart, "field", "value"]
                .map(str::as_bytes)
                .to_vec(),
            ["EXPIRE", &cart, "90000"].map(str::as_bytes).to_vec(),
        ]);
        if id % 10 == 0 {
            let member = "m".repeat(2000);
            let _ = cluster
                .owner_of(board.as_bytes())
                .call(&["ZADD", &board, "1", &member]);
        }
    }
    cluster
}

/// The rows of a collection.
fn rows(scratch: &Scratch) -> (String, Vec<Row>) {
    let (mut header, mut rows) = (String::new(), Vec::new());
    for name in scratch.entries("shop") {
        if !name.ends_with(".csv.zst") {
            continue;
        }
        let bytes = std::fs::read(scratch.path("shop").join(name)).unwrap();
        let text = String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap();
        let mut lines = text.lines();
        header = lines.next().unwrap().to_owned();
        let columns: Vec<&str> = header.split(',').collect();
        let place = |of: &str| {
            columns
                .iter()
                .position(|name| *name == of)
                .unwrap_or_else(|| panic!("{of}: {header}"))
        };
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            rows.push(Row {
                line: line.to_owned(),
                key: fields[place("key")].to_owned(),
                kind: fields[place("type")].to_owned(),
                size: fields[place("memory")].parse().unwrap(),
                expires: !["", "-1"].contains(&fields[place("expiry")]),
            });
        }
    }
    (header, rows)
}

/// The parts of a report that are about keys.
fn counts(report: &Value) -> Value {
    json!(["slots", "tags", "keys", "patterns", "sizes", "types"].map(|part| report[part].clone()))
}

#[test]
fn a_filter_on_a_collection_or_a_server_chooses_keys_and_damages_nothing() {
    let (cluster, scratch) = (filled(), Scratch::new());
    let address = format!("redis://{}", cluster.address(0));
    let collected = scratch.run(&["collect", &address, "-o", "shop"]);
    assert_eq!(code(&collected), 0, "{}", stderr(&collected));
    let (header, all) = rows(&scratch);
    assert_eq!(all.len(), 630);
    for (flags, passes) in FILTERS {
        let kept: Vec<&str> = all
            .iter()
            .filter(|row| passes(row))
            .map(|row| row.line.as_str())
            .collect();
        assert!(!kept.is_empty() && kept.len() < all.len(), "{flags:?}");
        scratch.file("only.csv", format!("{header}\n{}\n", kept.join("\n")));
        let run = |words: &[&str], flags: &[&str]| {
            let output = scratch.run(&[words, flags].concat());
            report(&output)
        };
        let topology = ["--topology", "shop/cluster.nodes", "--json"];
        let expected = run(&[&["analyze", "only.csv"][..], &topology].concat(), &[]);
        for input in ["shop", &address] {
            let filtered = run(&["analyze", input, "--json"], flags);
            assert_eq!(
                filtered["input"]
                    .get("incomplete")
                    .cloned()
                    .unwrap_or(json!([])),
                json!([]),
                "{input} {flags:?}"
            );
            assert_ne!(
                filtered["verdict"]["state"], "suspicious",
                "{input} {flags:?}: {}",
                filtered["verdict"]
            );
            assert_eq!(counts(&filtered), counts(&expected), "{input} {flags:?}");
        }
        for (command, more) in [
            ("plan", &["--add", "1"][..]),
            ("whatif", &["--to-nodes", "6"]),
        ] {
            let words = [&[command, "shop", "--json"], more].concat();
            let output = scratch.run(&[&words[..], flags].concat());
            assert_eq!(code(&output), 0, "{words:?} {flags:?}: {}", stderr(&output));
        }
    }
    let of_database = scratch.run(&["analyze", "shop", "--db", "0", "--no-files"]);
    assert_eq!(code(&of_database), 0, "{}", stderr(&of_database));
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
    let redacted = scratch.run(&words("analyze dump.csv --no-files --redact --match usr:*"));
    assert_fails(&redacted, &["--match", "no key passed"]);
    stderr(&redacted).lacks("user:").lacks("usr:");
    let none_is_odd = scratch.run(&["analyze", "dump.csv", "--no-files", "--type", "string,zset"]);
    assert_eq!(code(&none_is_odd), 0, "{}", stderr(&none_is_odd));
}
