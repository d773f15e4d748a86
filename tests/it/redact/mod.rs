//! `--redact`: no name in the input occurs in any output; slots and numbers are those of the report with names.

mod damaged;

use std::fs;

use regex::Regex;
use slotscope::detect::FORMATS;
use slotscope::format::Format;
use testkit::forms;
use testkit::prelude::*;

#[test]
fn numbers_are_true_and_a_key_makes_reports_comparable() {
    let row = |i: usize| {
        let key = [
            "narwhal:{axolotl}",
            "narwhal:okapi",
            "tapir:{lemur}",
            "ocelot",
        ][i % 4];
        format!("{key}:{i},{},{},hash\n", 100 + i, i % 9)
    };
    let rows: String = (0..3000).map(row).collect();
    let scratch = Scratch::with("a.csv", format!("key,size,ops,type\n{rows}"));
    let made = |flags: &str, key: Option<&str>| {
        let mut command = scratch.command(&format!("analyze a.csv --nodes 3 --json {flags}"));
        command.envs(key.map(|key| ("SLOTSCOPE_REDACT_KEY", key)));
        report(&command.output().unwrap())
    };
    let plain = made("", None);
    let [one, again, other] = ["a key", "a key", "another"].map(|key| made("--redact", Some(key)));
    assert_eq!(one["slots"]["keys"], plain["slots"]["keys"]);
    assert_eq!(one["verdict"]["state"], plain["verdict"]["state"]);
    for part in ["tags", "patterns", "nodes"] {
        assert_eq!(one[part], again[part], "{part}");
    }
    let tag = |report: &Value, part: &str| report["tags"]["top"][0][part].clone();
    assert_ne!(tag(&one, "tag"), tag(&other, "tag"));
    assert_eq!(tag(&one, "slot"), tag(&plain, "slot"));
    one["patterns"]["top"][0]["pattern"].text().ends(":<n>");
    // Without a key of the user, a random one is taken, and that is said.
    made("--redact", None)["input"]["notes"]
        .to_string()
        .says("random key");
}

/// The planted word, which no output has by chance.
const TOKEN: &str = "Zq7token";

/// More rows of formats with several forms of rows, with the token for `%`; `<n>` is its length.
const PLANTED: &str = r##"
hotkeys | [{"by-cpu-time-us":["%:{%}",70],"%":"%"}]\n[{"key":"%:1","db":0,"qps":9,"%":1}]\n["%\n
command-log | [[1,2,3,["%","%"],"",""]]\n[[1,2,3,["GET"],"%:1","%"]]\n[[1,2,3,["%\n
top-keys | hot key found with counter: 6\tkeyname: "%:{%}"\nBiggest %\n
csv | a,%@secret,x,1\n
monitor | 1795216373.2 [0 %:1] "SET" "%:{%}" "%"\n1795216373.4 [0 %:1] "GET" "%\n
aof | *2\r\n$<n>\r\n%\r\n$<n>\r\n%\r\n*1\r\n%
resp | -ERR %\r\n%\r\n
lines | >>> %\n127.0.0.1:1> GET %\n
"##;

/// A dump in each format with the token in every possible place: keys, each word of a row, more rows, and rejected rows.
fn planted() -> Vec<(&'static str, Vec<u8>)> {
    let word = Regex::new(r"\w+").unwrap();
    let more_rows = rows::<2>(PLANTED);
    let keys: Vec<_> = (0..30)
        .map(|i| format!("{TOKEN}:{{{TOKEN}}}:{i}"))
        .collect();
    let dump = |format: &&dyn Format| {
        let format = format.name();
        if format == "rdb" {
            return (format, snapshot());
        }
        let (_, row) = forms::example(format);
        let more = more_rows.iter().find(|[of, _]| *of == format);
        let mut text = more.map_or(String::new(), |[_, rows]| (*rows).to_owned());
        for at in word.find_iter(&row) {
            text += &format!("{}%{}\n", &row[..at.start()], &row[at.end()..]);
        }
        text += "%,%\n(error) ERR %\n%\nb,\"%\n";
        let text = text
            .replace("<n>", &TOKEN.len().to_string())
            .replace('%', TOKEN);
        (
            format,
            [forms::dump_of(format, &keys, "\n"), text.into_bytes()].concat(),
        )
    };
    FORMATS.iter().map(dump).collect()
}

/// An RDB file with the token as auxiliary field, key and value, truncated within a key.
fn snapshot() -> Vec<u8> {
    let text = |text: &str| [&[text.len() as u8][..], text.as_bytes()].concat();
    let (token, key) = (text(TOKEN), text(&format!("{TOKEN}:{{{TOKEN}}}")));
    let field = [b"REDIS0011\xfa", &token[..], &token, b"\xfe\x00"].concat();
    let keys = [
        b"\x00",
        &key[..],
        &token,
        b"\x00",
        &token,
        &token,
        b"\x00",
        &token[..5],
    ]
    .concat();
    [field, keys].concat()
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
fn flags(scratch: &Scratch) -> Vec<String> {
    let t = TOKEN;
    let name = |kind: &str| format!("{t}.{kind}");
    scratch.file(
        &name("nodes"),
        format!(
            "{t}1 10.0.0.1:7000@17000,{t} master - 0 0 1 connected 0-8191 [7->-x{t}]\n\
             x{t} 10.0.0.2:7000@17000 master - 0 0 2 connected 8192-16383\n"
        ),
    );
    scratch.file(&name("bad"), format!("{t} {t} {t}\n"));
    scratch.file(&name("json"), format!("[{{\"{t}\": {t}}}]\n"));
    scratch.file(
        &name("info"),
        format!("10.0.0.1:7000 ({t}1...) -> 90000 keys | 16384 slots | 0 replicas.\n"),
    );
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
        format!(
            "--topology {t}.nodes --cluster-info {t}.info --maxmemory 1mb --growth 5 --out out --full"
        ),
        format!("{t}.none"),
        "--progress always --one-pass".into(),
        "--fail-on tags.top[*].keys>1".into(),
    ]
    .into()
}

#[test]
fn a_token_planted_in_every_place_of_every_input_is_in_no_output() {
    let scratch = Scratch::new();
    let dumps = planted();
    let mut found = Vec::new();
    let mut look = |args: &str| {
        let output = scratch.run(&format!("analyze --redact {args}"));
        let leaks = leaks(&output, &scratch.path("out")).into_iter();
        found.extend(leaks.map(|leak| format!("{args}: {leak}")));
        fs::remove_dir_all(scratch.path("out")).is_ok()
    };
    let mut reports = 0;
    for (format, content) in &dumps {
        let file = format!("{TOKEN}-{format}.txt");
        scratch.file(&file, content);
        reports += u32::from(look(&format!("{file} --out out --format {format}")));
        for flags in ["", "--strict", "--full"] {
            look(&format!("{file} --no-files {flags}"));
        }
    }
    assert!(reports > 10, "{reports} runs made a report");
    for flags in flags(&scratch) {
        look(&format!("{TOKEN}-csv.txt --json {flags}"));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn an_error_about_a_row_keeps_its_place() {
    let scratch = Scratch::with("alice.csv", "key,size\nbob,many\n");
    let output = scratch.run("analyze alice.csv --redact --strict");
    stderr(&output).says(": line 2 (byte 9): no size");
}
