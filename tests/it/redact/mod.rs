//! `--redact`: no name in the input occurs in any output; slots and numbers are those of the report with names.

mod damaged;

use std::fs;

use testkit::dumps::gzip;
use testkit::prelude::*;

/// Words that occur only in names.
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
/// The servers' descriptions: more than the dump has.
const INFO: &str = "\
10.77.0.1:7001 (zebra000...) -> 90000 keys | 5461 slots | 0 replicas.
10.77.0.2:7001 (quokka00...) -> 90000 keys | 5462 slots | 0 replicas.
10.77.0.3:7001 (wombat00...) -> 90000 keys | 5461 slots | 0 replicas.
";

/// Dumps of words: a complete one with a rejected row, and a damaged one.
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

/// Runs `analyze` on the dumps; returns its exit code and both streams.
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
    // Everything that could contain a name was present.
    assert_eq!(report["input"]["rejected"]["count"], 1);
    assert_eq!(report["input"]["incomplete"].list().len(), 1);
    assert_eq!(report["nodes"]["in_flight"].list().len(), 1);
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
    let pattern = one["patterns"]["top"][0]["pattern"].text();
    assert!(pattern.ends_with(":<n>"), "{pattern}");
}

/// The planted word, which no output has by chance.
const TOKEN: &str = "Zq7token";

/// A dump in each text format with the token (`%`) in every possible place: keys, other fields, rejected rows. A format,
/// the text before its rows, a row that is repeated with a number (`#`), and the rest; `<n>` is the length of the token.
const PLANTED: &str = r##"
redis-rdb-cli | COLUMNS\n | #,string,"%:{%}:#","1.2kB",string,1,"1.1kB",""\n | %,%\n
rdb-tools | COLUMNS\n | 0,%,%:{%}:#,184,%,104,104,\n | %,%\n
hdt-rdb | database,key,type,size,size_readable,element_count,encoding,expiration\n | 0,%:{%}:#,%,184,184B,1,string,\n | %,%\n
hotkeys |  |  | [{"by-cpu-time-us":["%:{%}",70],"%":"%"}]\n[{"key":"%:1","db":0,"qps":9,"%":1}]\n["%\n(error) ERR %\n
command-log |  |  | [[1,2,3,["GET","%:{%}"],"%:1","%"],[1,2,3,["%","%"],"",""]]\n[[1,2,3,["GET"],"%:1","%"]]\n[[1,2,3,["%\n%\n
top-keys |  |  | hot key found with counter: 6\tkeyname: "%:{%}"\nBiggest string found "%" has 7 bytes\nBiggest % found "%" has 7 %\nBiggest %\n%\n
csv | key,size,type,%\n | %:{%}:#,9,%,%\n | a,%@secret,x,1\nb,"%\n%,%\n
jsonl |  | {"key":"%:{%}:#","size":9,"type":"%"}\n | {"key":"a","size":"%"}\n%\n
monitor |  |  | 1795216373.1 [0 %:1] "GET" "%:1"\n1795216373.2 [0 %:1] "SET" "%:{%}" "%"\n1795216373.3 [0 %:1] "%" "%"\nERR %\n%\n1795216373.4 [0 %:1] "GET" "%
aof |  |  | #TS:1\r\n*2\r\n$4\r\nINCR\r\n$<n>\r\n%\r\n*2\r\n$<n>\r\n%\r\n$<n>\r\n%\r\n*1\r\n%
resp |  |  | *2\r\n$<n+2>\r\n%:1\r\n$<n+2>\r\n%:2\r\n-ERR %\r\n%\r\n
redis-json |  |  | ["%:1","%:{%}",%]\n%\n
numbered |  |  | 1) "%:1"\n2) "%:2"\n3) %\n(error) ERR %\n
sized |  |  | "%:1" 17\n"%:2" 18\n"%" %\n(error) ERR %\n
quoted |  |  | "%:1"\n"%:2"\n"%\n(error) ERR %\n
lines |  |  | %:1\n%:{%}\nERR %\n>>> %\n127.0.0.1:1> GET %\n
"##;

/// The dumps of `PLANTED`, and an RDB file.
fn planted() -> Vec<(&'static str, Vec<u8>)> {
    let columns =
        "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry";
    let (n, n2) = (TOKEN.len().to_string(), (TOKEN.len() + 2).to_string());
    let dump = |[format, head, row, rest]: [&'static str; 4]| {
        let repeated = (0..30).map(|i| row.replace('#', &i.to_string()));
        let text = head.replace("COLUMNS", columns) + &repeated.collect::<String>() + rest;
        let text = text.replace("<n>", &n).replace("<n+2>", &n2);
        (format, text.replace('%', TOKEN).into_bytes())
    };
    let texts = rows(PLANTED).into_iter().map(dump);
    std::iter::once(("rdb", snapshot())).chain(texts).collect()
}

/// An RDB file with the token as auxiliary field, key and value, truncated within a key.
fn snapshot() -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    let (token, key) = (text(TOKEN), text(&format!("{TOKEN}:{{{TOKEN}}}")));
    let mut bytes = b"REDIS0011\xfa".to_vec();
    bytes.extend(
        [
            &token[..],
            &token,
            b"\xfe\x00\x00",
            &key,
            &token,
            b"\x00",
            &token,
        ]
        .concat(),
    );
    bytes.extend([&token[..], b"\x00", &token[..5]].concat());
    bytes
}

/// Whether the token is in a stream or a file of `out`, case-insensitively.
fn leaks(output: &std::process::Output, out: &std::path::Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut look = |what: &str, bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).to_lowercase();
        if let Some(at) = text.find(&TOKEN.to_lowercase()) {
            let from = (at.saturating_sub(60)..=at).find(|at| text.is_char_boundary(*at));
            let around: String = text[from.unwrap_or(at)..].chars().take(120).collect();
            found.push(format!("{what}: ...{around}"));
        }
    };
    look("standard output", &output.stdout);
    look("standard error", &output.stderr);
    for file in fs::read_dir(out).into_iter().flatten() {
        let path = file.unwrap().path();
        look(&path.display().to_string(), &fs::read(&path).unwrap());
    }
    found
}

/// Every flag that takes a name, each with the token.
fn flags(scratch: &Scratch) -> Vec<Vec<String>> {
    let t = TOKEN;
    let name = |kind: &str| format!("{t}.{kind}");
    scratch.file(
        &name("nodes"),
        format!("{t}1 10.0.0.1:7000@17000,{t} master - 0 0 1 connected 0-16383\n"),
    );
    scratch.file(&name("bad"), format!("{t} {t} {t}\n"));
    scratch.file(&name("json"), format!("[{{\"{t}\": {t}}}]\n"));
    scratch.file(
        &name("info"),
        format!("10.0.0.1:7000 ({t}1...) -> 90000 keys | 16384 slots | 0 replicas.\n"),
    );
    let words = |text: &str| text.split(' ').map(String::from).collect::<Vec<_>>();
    [
        format!("--policy regex:{t}(?<tag>.*)"),
        format!("--policy regex:{t}.* --policy regex:(?<tag>.*)"),
        format!("--policy {t}"),
        format!(
            "--topology {t}.nodes --cluster-info {t}.info --maxmemory 1mb --used-memory {t}=1mb"
        ),
        format!("--topology {t}.nodes --maxmemory 1mb --used-memory x{t}=1mb"),
        format!("--topology {t}.bad"),
        format!("--topology {t}.json"),
        format!("--topology {t}.none"),
        format!("--cluster-info {t}.bad"),
        format!("--key-column {t}"),
        format!("--key-column x{t}"),
        format!("--size-column {t}"),
        format!("--kernel {t}"),
        format!("--fail-on {t}>1"),
        format!("--openmetrics {t}.none/x"),
        format!("--format {t}"),
        format!("{t}.none"),
        "--progress always --one-pass".into(),
        "--fail-on tags.top[*].keys>1".into(),
    ]
    .map(|text| {
        words(&text)
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect()
    })
    .into()
}

#[test]
fn a_token_planted_in_every_place_of_every_input_is_in_no_output() {
    let scratch = Scratch::new();
    let formats: Vec<_> = slotscope::format::FORMATS
        .iter()
        .map(|format| format.name())
        .collect();
    let dumps = planted();
    let known: Vec<_> = dumps.iter().map(|(format, _)| *format).collect();
    assert_eq!(known, formats, "every format has a dump with the token");
    let mut found = Vec::new();
    let mut look = |args: &[&str]| {
        let args = [&["analyze", "--redact"][..], args].concat();
        let output = scratch.run(&args);
        let leaks = leaks(&output, &scratch.path("out")).into_iter();
        found.extend(leaks.map(|leak| format!("{}: {leak}", args.join(" "))));
        let has_report = scratch.path("out").exists();
        if has_report {
            fs::remove_dir_all(scratch.path("out")).unwrap();
        }
        has_report
    };
    let mut reports = 0;
    for (format, content) in &dumps {
        let file = format!("{TOKEN}-{format}.txt");
        scratch.file(&file, content);
        reports += u32::from(look(&[&file, "--out", "out", "--format", format]));
        for flags in [&[][..], &["--strict"], &["--full"]] {
            look(&[&[&file, "--no-files"][..], flags].concat());
        }
    }
    assert!(reports > 10, "{reports} runs made a report");
    let dump = format!("{TOKEN}-csv.txt");
    for flags in flags(&scratch) {
        let flags = flags.iter().map(String::as_str);
        look(
            &[&dump, "--json"]
                .into_iter()
                .chain(flags)
                .collect::<Vec<_>>(),
        );
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_error_about_a_row_keeps_its_place() {
    let scratch = Scratch::new();
    scratch.file("alice.csv", "key,size\nbob,many\n");
    let output = scratch.run(&["analyze", "alice.csv", "--redact", "--strict"]);
    let said = stderr(&output);
    assert!(said.contains(": line 2 (byte 9): no size"), "{said}");
}
