//! What rows say of keys besides their weights: types, encodings, elements, expiry, idle time, LFU counters.

use crate::support::run::{Scratch, succeeded};
use serde_json::{Value, json};

/// Rows with every attribute: 3,000 keys, of which the truth is known.
fn table() -> String {
    let mut text = String::from("key,size,type,encoding,elements,expiry,idle,lfu\n");
    for i in 0..3000u64 {
        let (kind, encoding, elements) = match i % 3 {
            0 => ("hash", "listpack", 10),
            1 => ("hash", "hashtable", 1000 + i),
            _ => ("string", "raw", 1),
        };
        // A fifth never expires, 600 expire in one minute, the others each in another.
        let expiry = match i % 5 {
            0 => String::new(),
            1 => format!("{}", 1_795_000_000_020u64 + i),
            _ => format!("{}", 1_795_000_000 + 60 * i),
        };
        let idle = [30, 100, 5000, 100_000, 1_000_000, 10_000_000][(i % 6) as usize];
        text += &format!(
            "k:{i},100,{kind},{encoding},{elements},{expiry},{idle},{}\n",
            i % 256
        );
    }
    text
}

fn report(scratch: &Scratch, name: &str, args: &[&str]) -> Value {
    let mut command = scratch.command(&["analyze", name, "--json", "--no-files", "--nodes", "3"]);
    serde_json::from_slice(&succeeded(command.args(args).output().unwrap())).unwrap()
}

#[test]
fn types_elements_expiry_and_use_are_counted() {
    let scratch = Scratch::new();
    scratch.file("keys.csv", table());
    for threads in ["1", "3"] {
        let report = report(&scratch, "keys.csv", &["--threads", threads]);
        let counted: Vec<_> = report["encodings"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                json!([
                    row["type"],
                    row["encoding"],
                    row["keys"],
                    row["bytes"],
                    row["elements"]
                ])
            })
            .collect();
        let of_tables: u64 = (0..3000).filter(|i| i % 3 == 1).map(|i| 1000 + i).sum();
        assert_eq!(
            counted,
            [
                json!(["hash", "hashtable", 1000, 100_000, of_tables]),
                json!(["hash", "listpack", 1000, 100_000, 10_000]),
                json!(["string", "raw", 1000, 100_000, 1000]),
            ]
        );
        let largest = &report["largest"][0];
        assert_eq!(
            (&largest["key"], &largest["elements"]),
            (&json!("k:2998"), &json!(3998))
        );
        let expiry = &report["expiry"];
        assert_eq!(
            (&expiry["never"]["keys"], &expiry["expiring"]["keys"]),
            (&json!(600), &json!(2400))
        );
        // The minute in which 1,795,000,000 is, with the 600 and the one row that falls into it by itself.
        assert_eq!(expiry["fullest"]["at"], json!(1_795_000_000 / 60 * 60));
        assert_eq!(
            (&expiry["fullest"]["keys"], &expiry["fullest"]["minutes"]),
            (&json!(600), &json!(1))
        );
        let idle: Vec<_> = report["idle"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["keys"].clone())
            .collect();
        assert_eq!(idle, vec![json!(500); 6]);
        let lfu = report["lfu"].as_array().unwrap();
        assert_eq!(
            (lfu.len(), &lfu[7]["counter"], &lfu[7]["keys"]),
            (256, &json!(7), &json!(12))
        );
        let risks = report["verdict"]["risks"].as_array().unwrap();
        assert!(
            risks.iter().any(|risk| risk["kind"] == "expiring_together"),
            "{risks:?}"
        );
    }
}

#[test]
fn columns_that_hold_something_else_cost_no_key() {
    let scratch = Scratch::new();
    scratch.file(
        "odd.csv",
        "key,elements,freq,idle,ttl\na,many,0.5,-,1d\nb,,,,\n",
    );
    let report = report(&scratch, "odd.csv", &[]);
    assert_eq!(
        (
            &report["input"]["keys"],
            &report["input"]["rejected"]["count"]
        ),
        (&json!(2), &json!(0))
    );
    assert_eq!(
        (
            &report["expiry"]["never"]["keys"],
            &report["expiry"]["expiring"]["keys"]
        ),
        (&json!(1), &json!(1))
    );
    assert_eq!(
        (&report["idle"], &report["lfu"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn words_that_are_no_types_are_redacted() {
    let scratch = Scratch::new();
    let rows = "key,type,encoding,elements\na,hash,secret-encoding,5\nb,secret-type,raw,7\n";
    scratch.file("odd.csv", rows);
    let text = report(&scratch, "odd.csv", &["--redact"]).to_string();
    assert!(!text.contains("secret"), "{text}");
    assert!(
        text.contains("\"hash\"") && text.contains("\"raw\""),
        "{text}"
    );
}
