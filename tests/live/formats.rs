//! Every form in which redis-cli and a server print keys, produced by the real programs: a lossless form must yield
//! exactly the server's keys, each in the server's slot; a lossy one must say so in every report.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use slotscope::format::{Head, recognise};
use slotscope::metric::Metric;
use slotscope::slot::SlotBatch;
use slotscope::tally::{Parts, Tallies, Tally};
use testkit::cluster::{Cluster, call_ok, keyslots};
use testkit::prelude::*;
use testkit::redis::{Reply, Server};
use testkit::scan::Scanning;

/// Keys that are hard for some form: they end a line, a text or a C string, or look like noise or a row.
fn nasty() -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = [
        &b""[..],
        b"nul\0inside",
        b"new\nline",
        b"carriage\rreturn",
        br#"quote"d"#,
        br#""whole""#,
        br"back\slash",
        br"\\two\\",
        br#"\"both\""#,
        br"\x41\n",
        b"{tag}ged",
        b"{}{empty}",
        b"invalid \xff\xfe\x80 utf-8",
        "\u{4e2d}\u{6587}".as_bytes(),
        b"(1.23s)",
        b"(nil)",
        b"(empty array)",
        b"127.0.0.1:6379> ",
        b"1) \"x\"",
        b"2) 1) \"y\"",
        b"a,b",
        b"[\"c\",\"d\"]",
        b"\",\"",
        b" blanks ",
        b"$3",
        b"*2",
        b"17",
    ]
    .iter()
    .map(|key| key.to_vec())
    .collect();
    keys.push(vec![b'k'; 1024]);
    keys.push((0..=255).collect());
    keys
}

fn ordinary() -> impl Iterator<Item = Vec<u8>> {
    (0..2000).map(|i| format!("user:{{{i}}}:profile").into_bytes())
}

/// A key and its slot.
type Listed = (Vec<u8>, u16);

/// A tally that keeps everything.
struct Kept(Vec<Listed>);

impl Tally for Kept {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let batch = keys.batch;
        self.0.extend(
            (0..keys.len()).map(|i| (batch.keys.get(batch.base, i).to_vec(), keys.slots[i])),
        );
    }

    fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

/// The keys found in `dump`, in form `form`; detection must find the same form.
fn read(dump: &[u8], form: &str, is_told: bool) -> Vec<Listed> {
    let scan = if is_told {
        Scanning::detected()
    } else {
        Scanning::of(form)
    };
    let found = scan.dump(dump, || Kept(Vec::new()));
    assert_eq!(found.inputs[0].format, form);
    assert_eq!(found.rejects.count, 0, "{form}: {:?}", found.rejects.first);
    assert_eq!(
        found.inputs[0].seen.warnings(),
        Vec::<String>::new(),
        "{form}"
    );
    let mut listed = found.tally.0;
    listed.sort();
    listed
}

fn keys_of(listed: &[Listed]) -> Vec<Vec<u8>> {
    listed.iter().map(|(key, ..)| key.clone()).collect()
}

/// Stores `keys`, each on the node that accepts it; returns them with their slots.
fn store(cluster: &Cluster, keys: impl Iterator<Item = Vec<u8>>) -> Vec<Listed> {
    let mut stored = Vec::new();
    let keys: Vec<Vec<u8>> = keys.collect();
    let slots = keyslots(&cluster.servers[0], &keys);
    let sets: Vec<Vec<&[u8]>> = keys
        .iter()
        .map(|key| vec![&b"SET"[..], key, b"value"])
        .collect();
    for server in &cluster.servers {
        for (i, reply) in server.connect().pipeline(&sets).into_iter().enumerate() {
            match reply {
                Reply::Simple(_) => stored.push((keys[i].clone(), slots[i])),
                Reply::Error(moved) => assert!(moved.starts_with("MOVED "), "{moved}"),
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(stored.len(), keys.len());
    stored.sort();
    stored
}

/// A recording by `script` of `redis-cli ARGUMENTS` on a terminal.
fn on_a_terminal(server: &Server, arguments: &str) -> Vec<u8> {
    let record = server.folder().join("typescript");
    let command = format!("redis-cli -h 127.0.0.1 -p {} {arguments}", server.port);
    let status = Command::new("script")
        .args(["-q", "-e", "-c", &command])
        .arg(&record)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap_or_else(|error| {
            panic!("script cannot be started ({error}); it is in the package bsdutils")
        });
    assert!(status.success(), "script -c {command:?}: {status}");
    std::fs::read(&record).unwrap()
}

/// All pages of SCAN, concatenated, as printed by `redis-cli FORM`; `cursor` finds the next cursor in a page.
fn pages(server: &Server, form: &[&str], cursor: impl Fn(&str) -> String) -> Vec<u8> {
    let (mut all, mut next) = (Vec::new(), String::from("0"));
    loop {
        let page = server.redis_cli(&[form, &["SCAN", &next, "COUNT", "100"]].concat());
        next = cursor(&String::from_utf8_lossy(&page));
        all.extend(page);
        if next == "0" {
            return all;
        }
        assert!(all.len() < 1 << 20, "SCAN does not end");
    }
}

fn digits(text: &str) -> String {
    text.chars()
        .skip_while(|c| !c.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect()
}

/// The server's raw replies to `KEYS *`, and to pages of SCAN.
fn over_a_socket(server: &Server, commands: &str) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    write!(stream, "{commands}QUIT\r\n").unwrap();
    let mut sent = Vec::new();
    stream.read_to_end(&mut sent).unwrap();
    sent
}

/// Checks that every report on this dump notes the limits of its format.
fn report_warns_of_loss(dump: &[u8], form: &str) {
    let scratch = Scratch::new();
    scratch.file("dump", dump);
    let report = scratch.report(&["analyze", "dump", "--json", "--format", form]);
    let notes = report["input"]["notes"].list();
    let is_told = |note: &serde_json::Value| note.text().contains("--no-raw --scan");
    assert!(notes.iter().any(is_told), "{form}: {notes:?}");
}

#[test]
fn every_form_that_loses_nothing_gives_exactly_the_keys_of_the_server() {
    let cluster = Cluster::even(1);
    let server = &cluster.servers[0];
    let expected = store(&cluster, nasty().into_iter().chain(ordinary()));
    for (form, is_told, dump) in [
        ("quoted", true, server.redis_cli(&["--no-raw", "--scan"])),
        (
            "numbered",
            true,
            server.redis_cli(&["--no-raw", "KEYS", "*"]),
        ),
        ("numbered", true, on_a_terminal(server, "KEYS '*'")),
        (
            "redis-json",
            true,
            server.redis_cli(&["--json", "KEYS", "*"]),
        ),
        ("resp", true, over_a_socket(server, "KEYS *\r\n")),
    ] {
        for is_told in BTreeSet::from([false, is_told]) {
            let found = read(&dump, form, is_told);
            assert!(
                found == expected,
                "{form} differs in {:?}",
                differing(&found, &expected)
            );
        }
    }
    // SCAN may return a key twice.
    let quoted = |page: &str| digits(&page[2..]);
    for (form, dump) in [
        ("numbered", pages(server, &["--no-raw"], quoted)),
        ("redis-json", pages(server, &["--json"], digits)),
        ("resp", over_a_socket(server, "SCAN 0 COUNT 100000\r\n")),
    ] {
        let mut found = read(&dump, form, false);
        found.dedup();
        assert!(
            found == expected,
            "pages in {form} differ in {:?}",
            differing(&found, &expected)
        );
    }
}

/// Some of the keys that are only on one side.
fn differing(found: &[Listed], expected: &[Listed]) -> Vec<String> {
    let (found, expected) = (BTreeSet::from_iter(found), BTreeSet::from_iter(expected));
    found
        .symmetric_difference(&expected)
        .take(5)
        .map(|(key, ..)| key.escape_ascii().to_string())
        .collect()
}

#[test]
fn a_form_that_loses_something_loses_what_its_note_says_and_nothing_else() {
    let cluster = Cluster::even(1);
    let server = &cluster.servers[0];
    let stored = keys_of(&store(&cluster, nasty().into_iter().chain(ordinary())));
    let split = |keys: Vec<&[u8]>| {
        let mut lines: Vec<Vec<u8>> = keys
            .iter()
            .flat_map(|key| key.split(|byte| *byte == b'\n'))
            .map(<[u8]>::to_vec)
            .collect();
        lines.sort();
        lines
    };
    let whole = stored.iter().map(Vec::as_slice).collect();
    let before_nul = stored
        .iter()
        .map(|key| key.split(|byte| *byte == 0).next().unwrap())
        .collect();
    for (dump, keys) in [
        (server.redis_cli(&["--raw", "KEYS", "*"]), split(whole)),
        (server.redis_cli(&["--scan"]), split(before_nul)),
    ] {
        let found = Scanning::detected().dump(&dump, || Kept(Vec::new()));
        assert_eq!((found.inputs[0].format, found.rejects.count), ("lines", 0));
        let mut listed = found.tally.0;
        listed.sort();
        assert!(keys_of(&listed) == keys);
        report_warns_of_loss(&dump, "lines");
    }
    for (form, dump) in [
        (
            "numbered",
            server.redis_cli(&["--no-raw", "KEYS", "nothing"]),
        ),
        (
            "redis-json",
            server.redis_cli(&["--json", "KEYS", "nothing"]),
        ),
        ("resp", over_a_socket(server, "KEYS nothing\r\n")),
    ] {
        assert!(read(&dump, form, true).is_empty(), "{form}");
    }
}

#[test]
fn replies_of_several_nodes_are_refused() {
    let cluster = Cluster::even(2);
    let asked = format!("127.0.0.1:{}", cluster.servers[0].port);
    store(&cluster, ordinary());
    let dump = cluster.servers[0].redis_cli(&["--cluster", "call", &asked, "KEYS", "*"]);
    let end = dump.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for dump in [&dump[..], &dump[end..]] {
        let head = Head {
            bytes: dump,
            whole: true,
        };
        let refused = recognise(head).err().unwrap_or_default();
        assert!(refused.contains("redis-cli --no-raw --scan"), "{refused}");
    }
}

#[test]
fn the_recipe_for_sizes_gives_the_keys_of_the_server_and_what_it_says_of_them() {
    let server = Server::start(&["--cluster-enabled", "no"]);
    let mut client = server.connect();
    let keys: Vec<Vec<u8>> = nasty().into_iter().chain(ordinary()).collect();
    let set = |key: &Vec<u8>| client.call(&[b"SET", &key[..], &b"v".repeat(key.len())[..]]);
    let replies: Vec<_> = keys.iter().map(set).collect();
    assert!(
        replies
            .iter()
            .all(|reply| *reply == Reply::Simple("OK".into()))
    );
    let mut usage = |key: &Vec<u8>| match client.call(&[b"MEMORY", &b"USAGE"[..], key]) {
        Reply::Int(bytes) => u64::try_from(bytes).unwrap(),
        other => panic!("{other:?}"),
    };
    let expected: u64 = keys.iter().map(&mut usage).sum();
    let scratch = Scratch::new();
    let recipe = "redis-cli -p $PORT --no-raw --scan > keys
                  sed 's/^/MEMORY USAGE /' keys | redis-cli -p $PORT > sizes
                  paste keys sizes; paste -d, keys sizes; paste -d' ' sizes keys
                  { echo key,size; paste -d, keys sizes; } > table.csv";
    let mut shell = Command::new("sh");
    shell.args(["-ec", recipe]).current_dir(scratch.path("."));
    let output = shell.env("PORT", server.port.to_string()).output().unwrap();
    assert!(output.status.success());
    let found = Scanning::detected().dump(&output.stdout, || Tallies::new(Parts::All));
    assert_eq!((found.inputs[0].format, found.rejects.count), ("sized", 0));
    assert_eq!(found.tally.slots.total(), 3 * keys.len() as u64);
    let bytes = found.tally.slots.loads.get(Metric::Bytes).unwrap();
    assert_eq!(bytes.iter().sum::<u64>(), 3 * expected);
    // Each key occurs three times, under one name.
    let listed = Scanning::detected().dump(&output.stdout, || Kept(Vec::new()));
    let distinct: BTreeSet<_> = keys_of(&listed.tally.0).into_iter().collect();
    let keys: BTreeSet<_> = keys.into_iter().collect();
    assert!(distinct == keys);

    let table = std::fs::read(scratch.path("table.csv")).unwrap();
    let listed = read(&table, "csv", true);
    assert!(keys_of(&listed).into_iter().collect::<BTreeSet<_>>() == keys);
}

/// The place where tests/run installs packages from PyPI.
fn rdb_tools() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("venv/bin/rdb")
}

#[test]
fn rdb_tools_on_a_snapshot_gives_the_keys_of_the_server() {
    let cluster = Cluster::even(1);
    // rdb-tools writes a key with a line end as it is: two rows, which are rejected.
    let lines = nasty().into_iter().filter(|key| !key.contains(&b'\n'));
    let expected = store(&cluster, lines.chain(ordinary()));
    // Newer servers write slots into the snapshot of a cluster, which rdb-tools does not support.
    let alone = Server::start(&["--cluster-enabled", "no"]);
    let rows = expected.iter().map(|(key, ..)| (key, "value"));
    alone.connect().set_all(&rows.collect::<Vec<_>>());
    call_ok(&mut alone.connect(), &["SAVE"]);
    // rdb-tools 0.1.15 reads snapshots up to version 9, in which strings are encoded as today.
    let path = alone.folder().join("dump.rdb");
    let mut snapshot = std::fs::read(&path).unwrap();
    snapshot[..9].copy_from_slice(b"REDIS0009");
    std::fs::write(&path, snapshot).unwrap();
    let output = Command::new(rdb_tools())
        .args(["-c", "memory"])
        .arg(&path)
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "{} cannot be started ({error}); run tests/run, which installs it",
                rdb_tools().display()
            )
        });
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let found = read(&output.stdout, "rdb-tools", true);
    assert!(
        found == expected,
        "differs in {:?}",
        differing(&found, &expected)
    );
}
