//! Inputs of lint, and messages about inputs that are empty, truncated or not names.

use super::lint;
use testkit::dumps::gzip;
use testkit::prelude::*;

#[test]
fn a_dump_without_keys_is_not_a_clean_one() {
    let said = lint(&Scratch::new(), "", "");
    assert_eq!(code(&said), 2);
    stderr(&said).says("no keys were checked");
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let scratch = Scratch::new();
    let mut keys = String::new();
    for i in 0..400_000 {
        let tag = i / 5 % 70_000;
        keys += &match i % 5 {
            0 => format!("prod:news:favorites:{{fav:{tag}}}:news:{i}\n"),
            1 => format!("orders:{{{tag}}}:{i}\n"),
            2 => format!("carts:{{{tag}}}:{i}\n"),
            3 => format!("prod:news:list:{{hot}}:%s:{i}\n"),
            _ => format!("user{i}{{a}}{{b{i}}} \n"),
        };
    }
    let one = lint(&scratch, &keys, "--json --threads 1");
    assert_eq!(code(&one), 1, "{}", stderr(&one));
    let json: Value = serde_json::from_str(stdout(&one)).unwrap();
    let heavy = json["findings"].find("rule", "heavy-tag");
    assert_eq!(heavy["counted"], "at_most");
    let shared = json["findings"].find("rule", "shared-tag");
    assert_eq!(shared["counted"], "at_least");
    for threads in [2, 4, 7] {
        let other = lint(&scratch, &keys, &format!("--json --threads {threads}"));
        assert_eq!(stdout(&one), stdout(&other), "{threads} threads");
    }
}

#[test]
fn all_forms_that_analyze_reads_are_read() {
    let scratch = Scratch::with("dump.csv", b"key,size\nprod:news:favorites:{common}:1,7\n");
    assert_eq!(code(&scratch.run("lint dump.csv")), 1);
    scratch.file("dump.json", br#"["prod:news:favorites:{common}:1"]"#);
    assert_eq!(code(&scratch.run("lint dump.json")), 1);
    scratch.file("dump.txt", b"1) \"prod:news:favorites:{fav:1}\"\n");
    assert_eq!(code(&scratch.run("lint dump.txt")), 0);
    scratch.refuses("lint nothing.keys | nothing.keys: no such file");
    scratch.file("table.csv", b"id,n\nprod:news:favorites:{common}:1,7\n");
    let said = scratch.run("lint table.csv --key-column id");
    stdout(&said)
        .begins("1 error, 1 warning, 1 note on 1 key\n")
        .says("error  global-tag: 1 of 1 keys (100.0%) have a tag");
    scratch.text("lint --format help").says("lines");
}

#[test]
fn an_input_that_ends_in_the_middle_beats_an_error() {
    let scratch = Scratch::new();
    let keys: String = (0..50_000)
        .map(|i| format!("prod:news:favorites:{{common}}:{i}\n"))
        .collect();
    let whole = gzip(keys.as_bytes());
    scratch.file("broken.gz", &whole[..whole.len() / 2]);
    let said = scratch.run("lint broken.gz");
    assert_eq!(code(&said), 2, "{}", stderr(&said));
    stderr(&said).says("broken.gz: byte ");
    stdout(&said).says("global-tag");
}

#[test]
fn a_capture_is_refused_and_operations_next_to_keys_are_not_names() {
    let scratch = Scratch::new();
    let line = "1795216373.125436 [0 10.0.0.7:5] \"GET\" \"bad name\"\n";
    scratch.file("a.monitor", line.repeat(3));
    let said = scratch.run("lint a.monitor");
    said.refused("a.monitor | (monitor) are operations | slotscope analyze");
}
