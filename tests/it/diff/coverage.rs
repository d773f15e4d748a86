//! Reports whose counts cover different slots, or sizes of different keys, are not taken for growth or shrinkage.

use testkit::prelude::*;

use super::{diff, report, tagged, write};

#[test]
fn a_sample_of_the_slots_is_no_shrinkage() {
    let scratch = Scratch::new();
    let mut made = report(&scratch, "whole", &tagged(&[]), "");
    for (name, percent) in [("tenth", 10.0), ("other", 10.0), ("fifth", 20.0)] {
        made["input"]["sample_percent"] = json!(percent);
        write(&scratch, name, &made);
    }
    scratch.refuses(
        "diff whole tenth | tenth: it covers 10.0% of the slots, whole all slots | the same --sample
         diff fifth whole | whole: it covers all slots, fifth 20.0% of the slots | the same --sample
         diff fifth tenth | tenth: it covers 10.0% of the slots, fifth 20.0% | the same --sample",
    );
    let notes = diff(&scratch, "tenth", "other")["notes"].to_string();
    notes.says("a sample, 10.0% of the slots: amounts");
}

#[test]
fn fewer_keys_with_a_size_are_no_fewer_bytes() {
    let scratch = Scratch::new();
    let table = |sized: usize| {
        let rows = (0..1000).map(|i| format!("user:{i},{}\n", if i < sized { "100" } else { "" }));
        format!("key,bytes\n{}", rows.collect::<String>())
    };
    report(&scratch, "all", &table(1000), "--format csv");
    report(&scratch, "most", &table(600), "--format csv");
    let found = diff(&scratch, "all", "most");
    assert_eq!(found["verdict"]["by"], "keys");
    let notes = found["notes"].to_string();
    notes.says("most: 60.0% of its keys have a size, 100.0% of those of all");
    report(&scratch, "again", &table(999), "--format csv");
    let found = diff(&scratch, "all", "again");
    assert_eq!(found["verdict"]["by"], "bytes");
    found["notes"].to_string().lacks("have a size");
}
