//! `--redact`: no name of the input is in any output, slots and numbers are those of the report with names.

use std::fs;

use crate::support::dumps::gzip;
use crate::support::run::{Scratch, code};
use serde_json::Value;

/// Words that only names hold.
const WORDS: &[&str] = &[
    "zebra",
    "quokka",
    "wombat",
    "narwhal",
    "axolotl",
    "okapi",
    "tapir",
    "lemur",
    "ocelot",
    "ibex",
    "gecko",
    "10.77.0.1",
    "10.77.0.2",
    "10.77.0.3",
    "hippo",
    "moose",
];

/// A topology whose ids, addresses and host names are words.
const NODES: &str = "\
zebra000000000000000000000000000000000001 10.77.0.1:7001@17001,gecko myself,master - 0 0 1 connected 0-5460
quokka00000000000000000000000000000000002 10.77.0.2:7001@17001 master - 0 0 2 connected 5461-10922 [10922->-zebra000000000000000000000000000000000001]
wombat00000000000000000000000000000000003 10.77.0.3:7001@17001 master - 0 0 3 connected 10923-16383
";
/// What they say of themselves: more than the dump has.
const INFO: &str = "\
10.77.0.1:7001 (zebra000...) -> 90000 keys | 5461 slots | 0 replicas.
10.77.0.2:7001 (quokka00...) -> 90000 keys | 5462 slots | 0 replicas.
10.77.0.3:7001 (wombat00...) -> 90000 keys | 5461 slots | 0 replicas.
";

/// Dumps of words: one whole with a row that is none, one broken.
fn dumps() -> Scratch {
    let scratch = Scratch::new();
    let mut csv = String::from("key,size,ops,type\n");
    for i in 0..3000 {
        let key = [
            "narwhal:{axolotl}",
            "narwhal:okapi",
            "tapir:{lemur}",
            "ocelot",
        ][i % 4];
        csv += &format!(
            "{key}:{i},{},{},{}\n",
            100 + i,
            i % 9,
            if i % 5 == 0 { "ibex" } else { "hash" }
        );
    }
    csv += "okapi,what,no,row,this,is\n";
    scratch.file("hippo.csv", csv);
    let keys: String = (0..20_000)
        .map(|i| format!("moose:{}:{i}\n", i * 7919 % 10_007))
        .collect();
    let gzip = gzip(keys.as_bytes());
    scratch.file("moose.keys.gz", &gzip[..gzip.len() / 2]);
    scratch.file("gecko.nodes", NODES);
    scratch.file("gecko.info", INFO);
    scratch
}

/// Runs `analyze` on the dumps; its exit code, and both streams.
fn analyze(scratch: &Scratch, flags: &[&str], key: Option<&str>) -> (i32, Vec<u8>) {
    let mut args = vec!["analyze", "hippo.csv", "moose.keys.gz"];
    args.extend(["--topology", "gecko.nodes", "--cluster-info", "gecko.info"]);
    args.extend(flags);
    let mut command = scratch.command(&args);
    if let Some(key) = key {
        command.env("SLOTSCOPE_REDACT_KEY", key);
    }
    let output = command.output().unwrap();
    (code(&output), [output.stdout, output.stderr].concat())
}

fn assert_no_word(what: &str, text: &[u8]) {
    let text = String::from_utf8_lossy(text).to_lowercase();
    for word in WORDS {
        assert!(
            !text.contains(word),
            "{what} holds {word}: {}",
            &text[text.find(word).unwrap().saturating_sub(80)..][..120]
        );
    }
}

#[test]
fn no_name_of_the_input_is_in_any_output() {
    let scratch = dumps();
    let room = ["--maxmemory", "1mb", "--growth", "5"];
    let (code, said) = analyze(&scratch, &[&["--redact"][..], &room].concat(), None);
    assert_eq!(
        code,
        2,
        "one input is broken: {}",
        String::from_utf8_lossy(&said)
    );
    assert_no_word("the terminal", &said);
    let out = scratch.path("reports/redacted");
    let mut texts = 0;
    for file in fs::read_dir(&out).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some_and(|extension| extension != "png") {
            assert_no_word(&path.display().to_string(), &fs::read(&path).unwrap());
            texts += 1;
        }
    }
    let expected = slotscope::report::files().filter(|file| !file.ends_with(".png"));
    assert_eq!(texts, expected.count(), "every file of text is searched");
    let report: Value =
        serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
    let notes = report["input"]["notes"].to_string();
    assert!(notes.contains("random key"), "{notes}");
    // All that could hold a name was there.
    assert_eq!(report["input"]["rejected"]["count"], 1);
    assert_eq!(report["input"]["incomplete"].as_array().unwrap().len(), 1);
    assert_eq!(report["nodes"]["in_flight"].as_array().unwrap().len(), 1);
    assert!(
        report["input"]["warnings"]
            .to_string()
            .contains("says it has"),
        "{}",
        report["input"]["warnings"]
    );
    assert!(report["capacity"]["sentence"].as_str().is_some());
    let (_, with_names) = analyze(&scratch, &["--json"], None);
    let with_names = String::from_utf8_lossy(&with_names);
    WORDS.iter().for_each(|word| {
        assert!(
            with_names.contains(word),
            "{word} is nowhere without --redact either"
        )
    });
}

#[test]
fn numbers_are_true_and_a_key_makes_reports_comparable() {
    let scratch = dumps();
    scratch.file("moose.keys.gz", "moose:1\n");
    let report = |flags: &[&str], key: Option<&str>| {
        let (code, text) = analyze(&scratch, &[&["--json"][..], flags].concat(), key);
        assert_eq!(code, 0, "{}", String::from_utf8_lossy(&text));
        serde_json::from_slice::<Value>(&text).unwrap()
    };
    let [plain, one, again, other] = [
        report(&[], None),
        report(&["--redact"], Some("a key")),
        report(&["--redact"], Some("a key")),
        report(&["--redact"], Some("another")),
    ];
    assert_eq!(one["slots"]["keys"], plain["slots"]["keys"]);
    assert_eq!(one["verdict"]["state"], plain["verdict"]["state"]);
    assert_eq!(
        (&one["tags"], &one["patterns"], &one["nodes"]),
        (&again["tags"], &again["patterns"], &again["nodes"])
    );
    assert_ne!(one["tags"]["top"][0]["tag"], other["tags"]["top"][0]["tag"]);
    assert_eq!(
        one["tags"]["top"][0]["slot"],
        plain["tags"]["top"][0]["slot"]
    );
    let pattern = one["patterns"]["top"][0]["pattern"].as_str().unwrap();
    assert!(pattern.ends_with(":<n>"), "{pattern}");
}
