//! Reports whose counts cover different slots, or sizes of different keys, are not taken for growth or shrinkage.

use testkit::prelude::*;

use super::{diff, report, tagged, write};

/// The report in `from` with `input` members set to `values`, as `name`.
fn with_input(scratch: &Scratch, from: &Value, name: &str, values: &[(&str, Value)]) {
    let mut report = from.clone();
    for (member, value) in values {
        report["input"][*member] = value.clone();
    }
    write(scratch, name, &report);
}

#[test]
fn a_sample_of_the_slots_is_no_shrinkage() {
    let scratch = Scratch::new();
    let whole = report(&scratch, "whole", &tagged(&[]), &[]);
    let sampled = |name, percent: f64| {
        with_input(
            &scratch,
            &whole,
            name,
            &[("sample_percent", json!(percent))],
        );
    };
    sampled("tenth", 10.0);
    sampled("other tenth", 10.0);
    sampled("fifth", 20.0);
    let refused = |old, new, what| {
        scratch
            .run(&["diff", old, new])
            .refused(&format!("{what} | the same --sample"));
    };
    refused(
        "whole",
        "tenth",
        "tenth: it covers 10.0% of the slots, whole all slots",
    );
    refused(
        "fifth",
        "whole",
        "whole: it covers all slots, fifth 20.0% of the slots",
    );
    refused(
        "fifth",
        "tenth",
        "tenth: it covers 10.0% of the slots, fifth 20.0%",
    );
    let notes = diff(&scratch, "tenth", "other tenth")["notes"].to_string();
    assert_contains(&notes, &["a sample, 10.0% of the slots: amounts"]);
}

#[test]
fn fewer_keys_with_a_size_are_no_fewer_bytes() {
    let scratch = Scratch::new();
    let table = |sized: usize| {
        let rows = (0..1000).map(|i| format!("user:{i},{}\n", if i < sized { "100" } else { "" }));
        format!("key,bytes\n{}", rows.collect::<String>())
    };
    let flags = ["--format", "csv"];
    report(&scratch, "all", &table(1000), &flags);
    report(&scratch, "most", &table(600), &flags);
    let found = diff(&scratch, "all", "most");
    assert_eq!(found["verdict"]["by"], "keys");
    let notes = found["notes"].to_string();
    notes.says("most: 60.0% of its keys have a size, 100.0% of those of all");
    report(&scratch, "all again", &table(999), &flags);
    let found = diff(&scratch, "all", "all again");
    assert_eq!(found["verdict"]["by"], "bytes");
    assert!(!found["notes"].to_string().contains("have a size"));
}
