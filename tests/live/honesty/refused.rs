//! Inputs that are not key dumps: a case for each row of the tables, made by the real tool if available.

use std::collections::BTreeSet;
use std::process::Command;

use super::refusals;
use testkit::cluster::{Cluster, call_ok};
use testkit::dumps::gzip;
use testkit::prelude::*;
use testkit::redis::Server;

/// An input, and the start of its name.
type Case = (&'static str, Vec<u8>);

/// Writes files with the Python modules for their formats, each named after its kind.
const FILES: &str = r#"
import bz2, gzip, lzma, os, tarfile, zipfile
keys = b"".join(b"user:{%d}:%d\n" % (i % 7, i) for i in range(2000))
files = {
    "xz": lzma.compress(keys),
    "bz2": bz2.compress(keys),
    "gz": gzip.compress(gzip.compress(keys)),
    "UTF-16 text": "user:1\nuser:2\n".encode("utf-16"),
}
for name, content in files.items():
    open(name, "wb").write(content)
open("keys", "wb").write(keys)
with zipfile.ZipFile("zip", "w") as archive:
    archive.write("keys")
with tarfile.open("tar", "w") as archive:
    archive.add("keys")
os.remove("keys")
"#;

/// Files of unavailable tools: the initial bytes defined by their formats.
const STARTS: &str = r#"
a compressed file | BZh9\x17\x72\x45\x38\x50\x90\0\0\0\0
a tally file of slotscope | {\"plan\":{\"flags\":{
a recount file of slotscope | {\"of\":\"00112233\"
a script | #!/usr/bin/env bash\nset -e\n
a compressed file | 7z\xBC\xAF\x27\x1C\0\x04
a compressed file | PAR1\x15\x04\x15\x10
a configuration file of a server | # Redis configuration file example.\n#\n# Note\n
a configuration file of a server | maxmemory 4gb\n\n# mine\nport 7001\ncluster-enabled yes\nlist-max-listpack-size -2\n
UTF-16 text | \xFE\xFF\0a\0\n
samples of Prometheus | redis_key_size{key=\"user:1\"} 184\nredis_key_size{key=\"user:2\"} 96\n
the log of a server | 1234:M 20 Nov 2026 10:00:00.000 * Ready\n1234:M 20 Nov 2026 10:00:01.000 * DB saved\n
what redis-cli --cluster reshard prints | Moving slot 5 from 127.0.0.1:7000 to 127.0.0.1:7001: .\nMoving slot 6 from 127.0.0.1:7000 to 127.0.0.1:7001: \n
counts of keys by slot | slot 12 has 3 keys\nslot 13 has 4 keys\n
notifications of events on keys | pmessage,__key*@0__:*,__keyevent@0__:set,user:1\npmessage,__key*@0__:*,__keyspace@0__:user:1,set\n
commands or replies in RESP whose CRLF became LF | *3\n$3\nSET\n$6\nuser:1\n$1\nv\n*2\n$3\nDEL\n$6\nuser:2\n
totals by node | node,keys,used_memory\n10.0.0.1:6379,1353,24127042\n10.0.0.2:6379,1344,2290957\n
a table as polars prints it | shape: (2, 2)\n+------+\nuser:1 184\n
markup, HTML or XML | <table border=\"1\">\n  <tr>\n    <td>user:1</td>\n  </tr>\n</table>\n
statements of SQL | INSERT INTO k VALUES ('user:1', 184);\ninsert into k values ('user:2', 96);\n
a web page | \n<!DOCTYPE html>\n<html><body>503</body></html>\n
JSON over several lines | [\n  'user:1',\n  'user:2'\n]\n
JSON over several lines | {\n  \"key\": \"user:1\"\n}\n{\n  \"key\": \"user:2\"\n}\n
JSON over several lines | [\n  {\n    \"key\": \"a\"\n  }\n]\n
JSON over several lines | {\n  \"user:1\": 184\n}\n
SLOWLOG GET | tracking-active\n1\nsample-ratio\n1\nby-cpu-time-us\nkey:11\n70\n
SLOWLOG GET | key\nkey:11\ndb\n0\nqps\n12.5\nkey\nkey:12\ndb\n0\nqps\n1\n
SLOWLOG GET | 0\nkey-count 7\ncpu-usec 0\n
what a server says of itself | id\n7ecfd1a45a355091995aa1cb901f47c1d43ee299\nslots\n1002-1002\nsource\n
what a server says of itself | server redis\nversion 8.2.3\nproto 3\n
what a server says of itself | get\n2\nreadonly\nfast\n1\n1\n1\n
what a server says of itself | save\n\nport\n6379\nbind\n*\ndir\n/data\nloglevel\nnotice\nappendonly\nno\ndaemonize\nno\nmaxmemory\n0\nmaxmemory-policy\nnoeviction\n
what a server says of itself | error:\"ERR unknown command 'HOTKEYS'\"\n
errors in place of keys | LOADING Redis is loading the dataset in memory\n
errors in place of keys | CLUSTERDOWN The cluster is down\n\n
control bytes in 2 of the first 4 lines | \x01a\nb\nc\x02\nd\n
control bytes in 1 of the first 1 lines | user:1\0user:2\0
control bytes in 1 of the first 1 lines | \xFF\xD8\xFF\xE0\0\x10JFIF
"#;

/// The files of `STARTS`: their kinds, and their bytes, each of which is a character of the table.
fn starts() -> impl Iterator<Item = Case> {
    let bytes = |text: &str| text.chars().map(|c| c as u32 as u8).collect();
    let starts = rows(STARTS).into_iter();
    starts.map(move |[what, text]| (what, bytes(text)))
}

fn files_of_tools() -> Vec<Case> {
    let scratch = Scratch::new();
    let mut python = Command::new("python3");
    python.args(["-c", FILES]).current_dir(scratch.path("."));
    succeeded(python.output().unwrap());
    let named = |name: String| {
        let content = std::fs::read(scratch.path(&name)).unwrap();
        let mut known = refusals().map(|one| one.what);
        let is_text = name == "UTF-16 text";
        let what = known.find(|what| !is_text || *what == name);
        (what.expect("a row"), content)
    };
    scratch.entries(".").into_iter().map(named).collect()
}

/// The output of redis-cli on both streams, whether or not it succeeds.
fn redis_cli(port: u16, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new("redis-cli");
    command.args(["-h", "127.0.0.1", "-p", &port.to_string()]);
    let output = command.args(arguments).output().unwrap();
    [output.stderr, output.stdout].concat()
}

/// The kinds of outputs, and the arguments that make redis-cli print them.
fn printed(port: u16, table: &str) -> impl Iterator<Item = Case> {
    let row = move |[what, line]: [&'static str; 2]| (what, redis_cli(port, &words(line)));
    rows(table).into_iter().map(row)
}

fn output_of_redis() -> Vec<Case> {
    let cluster = Cluster::even(2);
    let (first, port) = (&cluster.servers[0], cluster.servers[0].port);
    let address = first.address();
    let table = format!(
        "CLUSTER NODES | CLUSTER NODES
         CLUSTER SLOTS or | --json CLUSTER SLOTS
         CLUSTER SHARDS or CLUSTER SLOTS | CLUSTER SLOTS
         CLUSTER SHARDS or CLUSTER SLOTS | --no-raw CLUSTER SLOTS
         CLUSTER SLOTS or | --json CLUSTER SHARDS
         CLUSTER SHARDS or CLUSTER SLOTS | CLUSTER SHARDS
         CLUSTER SHARDS or CLUSTER SLOTS | --no-raw CLUSTER SHARDS
         redis-cli --cluster info | --cluster info {address}
         redis-cli --cluster info | --cluster check {address}
         what redis-cli --cluster | --cluster rebalance {address}
         INFO | CLUSTER INFO
         errors in place of keys, \"MOVED | GET a"
    );
    let mut cases: Vec<Case> = printed(port, &table).collect();
    let nodes = std::fs::read(first.folder().join("nodes.conf")).unwrap();
    cases.insert(0, ("CLUSTER NODES", nodes));
    let last = cases.last().map(|(_, output)| output.starts_with(b"MOVED"));
    assert_eq!(last, Some(true));

    let options = words("--cluster-enabled no --maxmemory-policy allkeys-lfu");
    let alone = Server::start(&options);
    let mut client = alone.connect();
    client.set_all(&[1, 2, 3].map(|i| (format!("user:{i}"), "v")));
    let log_all = ["CONFIG", "SET", "slowlog-log-slower-than", "0"];
    call_ok(&mut client, &log_all);
    call_ok(&mut client, &["SET", "user:1", "w"]);
    let port = alone.port;
    cases.extend(printed(
        port,
        r#"SLOWLOG GET | SLOWLOG GET
         CLIENT LIST | CLIENT LIST
         INFO | INFO
         INFO | INFO memory
         errors in place of keys, "ERR | SCAN x"#,
    ));
    call_ok(&mut client, &["CONFIG", "SET", "requirepass", "secret"]);
    cases.extend(printed(
        port,
        r#"errors in place of keys, "SCAN error: NOAUTH | --scan
         errors in place of keys, "NOAUTH | KEYS *
         errors in place of keys, "(error) NOAUTH | --no-raw KEYS *
         errors in place of keys, " | -a wrong --scan"#,
    ));
    let unreachable = "errors in place of keys, \"Could not connect";
    cases.push((unreachable, redis_cli(1, &["--scan"])));
    cases
}

fn files_of_this_program() -> Vec<Case> {
    let sample = root().join("reports/samples/commerce");
    let read = |name: &str| std::fs::read(sample.join(name)).unwrap();
    let program = std::fs::read(env!("CARGO_BIN_EXE_slotscope")).unwrap();
    vec![
        ("a report of slotscope", read("report.json")),
        ("a web page", read("report.html")),
        ("control bytes in ", read("slot-heatmap.png")),
        ("control bytes in ", program),
    ]
}

#[test]
fn what_is_no_dump_is_refused_with_what_to_type_from_a_file_and_a_pipe() {
    let scratch = Scratch::new();
    let mut cases: Vec<Case> = starts().collect();
    cases.push(("a compressed file", gzip(b"\x28\xB5\x2F\xFD\x24\0")));
    cases.push(("a compressed file", gzip(b"\x04\x22\x4D\x18\x64\x40")));
    cases.push(("the first bytes of an RDB file", b"REDIS0011".to_vec()));
    cases.extend(files_of_tools());
    cases.extend(output_of_redis());
    cases.extend(files_of_this_program());
    let (mut complaints, mut covered) = (Vec::new(), BTreeSet::new());
    for (what, content) in &cases {
        scratch.file("input", content);
        let row = refusals().find(|one| one.what.starts_with(what));
        // Its lines have a pattern.
        let offered = "--line 'redis_key_size{{key={key:q}}} {size}' gives \"user:1\" of 184 B";
        let way_out = match *what {
            "samples of Prometheus" => offered,
            _ => row.map_or("", |row| row.way_out),
        };
        covered.extend(row.map(|row| row.what));
        for (name, output) in [
            ("input", scratch.run(&["analyze", "input"])),
            ("-", scratch.piped(&["analyze", "-"], content)),
        ] {
            let start = format!("slotscope: {name}: {what}");
            if let Err(complaint) = fails(&output, &[&start, way_out]) {
                complaints.push(format!("{what}: {complaint}"));
            }
        }
    }
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    for one in refusals() {
        assert!(covered.contains(one.what), "no case for {:?}", one.what);
    }
    assert_eq!(scratch.entries("."), ["input"], "a report was written");
}

#[test]
fn a_format_that_is_given_is_believed() {
    let scratch = Scratch::new();
    for (what, content) in starts().filter(|(what, _)| !what.starts_with("errors")) {
        scratch.file("input", content);
        println!("{what}");
        scratch.text("analyze input --format lines --json");
    }
}

#[test]
fn an_argument_that_names_a_server_or_a_url_says_what_to_type() {
    let scratch = Scratch::new();
    // For a server, analyze reads the keys itself. With the feature cloud, objects are supported.
    for row in "10.0.0.1:6379 | slotscope collect URL
        redis://u:secret@h:1 | slotscope collect URL | redis://h:1:
        rediss://u:se/cret@h | slotscope collect URL
        s3://bucket/a.keys | aws s3 cp
        https://h/a.keys | curl -fsS"
        .lines()
        .take(if cfg!(feature = "cloud") { 3 } else { 5 })
    {
        let (argument, parts) = row.trim_start().split_once(" | ").unwrap();
        let output = scratch.run(&format!("timeline {argument}"));
        output.refused(parts);
        stderr(&output).lacks("cret@").lacks("secret");
    }
    scratch.file("10.0.0.1:6379", "user:1\n");
    scratch.text("analyze 10.0.0.1:6379 --no-files");
}
