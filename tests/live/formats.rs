//! Every form in which redis-cli and a server print keys, produced by the real programs: a lossless form must yield
//! exactly the server's keys, each in the server's slot; a lossy one must say so in every report.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;

use slotscope::detect::recognise;
use slotscope::format::Head;
use slotscope::metric::Metric;
use slotscope::slot::SlotBatch;
use slotscope::tally::{Parts, Tallies, Tally};
use testkit::cluster::{Cluster, keyslots};
use testkit::prelude::*;
use testkit::redis::Server;
use testkit::scan::Scanning;

/// Keys that are hard for some form: they end a line, a text or a C string, or look like noise or a row.
fn nasty() -> Vec<Vec<u8>> {
    let texts = "|nul\0inside|new\nline|carriage\rreturn|quote\"d|\"whole\"|back\\slash|\\\\two\\\\|\\\"both\\\"|\
        \\x41\\n|{tag}ged|{}{empty}|\u{4e2d}\u{6587}|(1.23s)|(nil)|(empty array)|127.0.0.1:6379> |1) \"x\"|\
        2) 1) \"y\"|a,b|[\"c\",\"d\"]|\",\"| blanks |$3|*2|17";
    let mut keys: Vec<Vec<u8>> = texts.split('|').map(|key| key.into()).collect();
    keys.push(b"invalid \xff\xfe\x80 utf-8".to_vec());
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
        let key = |i| (batch.keys.get(batch.base, i).to_vec(), keys.slots[i]);
        self.0.extend((0..keys.len()).map(key));
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
    assert_eq!(found.inputs[0].seen.warnings(), [""; 0], "{form}");
    let mut listed = found.tally.0;
    listed.sort();
    listed
}

fn keys_of(listed: &[Listed]) -> Vec<Vec<u8>> {
    listed.iter().map(|(key, ..)| key.clone()).collect()
}

/// Stores `keys`, each on the node that accepts it; returns them with their slots.
fn store(cluster: &Cluster, keys: impl Iterator<Item = Vec<u8>>) -> Vec<Listed> {
    let keys: Vec<Vec<u8>> = keys.collect();
    let slots = keyslots(&cluster.servers[0], &keys);
    cluster.set_all(keys.iter().map(|key| (key, "value")));
    let mut stored: Vec<Listed> = keys.into_iter().zip(slots).collect();
    stored.sort();
    stored
}

/// A recording by `script` of `redis-cli ARGUMENTS` on a terminal.
fn on_a_terminal(server: &Server, arguments: &str) -> Vec<u8> {
    let scratch = Scratch::new();
    let command = format!("redis-cli -h 127.0.0.1 -p {} {arguments}", server.port);
    // script is in the package bsdutils.
    succeeded(scratch.shell(format!("script -qec \"{command}\" typescript")));
    std::fs::read(scratch.path("typescript")).unwrap()
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
    let from = text.chars().skip_while(|c| !c.is_ascii_digit());
    from.take_while(char::is_ascii_digit).collect()
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
    let report = scratch.report(&format!("analyze dump --json --format {form}"));
    report["input"]["notes"].to_string().says("--no-raw --scan");
}

#[test]
fn every_form_that_loses_nothing_gives_exactly_the_keys_of_the_server() {
    let cluster = Cluster::even(1);
    let server = &cluster.servers[0];
    let expected = store(&cluster, nasty().into_iter().chain(ordinary()));
    let cli = |line: &str| server.redis_cli(&words(line));
    for (form, dump) in [
        ("quoted", cli("--no-raw --scan")),
        ("numbered", cli("--no-raw KEYS *")),
        ("numbered", on_a_terminal(server, "KEYS '*'")),
        ("redis-json", cli("--json KEYS *")),
        ("resp", over_a_socket(server, "KEYS *\r\n")),
    ] {
        for is_told in [false, true] {
            assert_same(form, &read(&dump, form, is_told), &expected);
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
        assert_same(form, &found, &expected);
    }
}
/// Fails with some of the keys that are only on one side.
fn assert_same(form: &str, found: &[Listed], expected: &[Listed]) {
    let is_same = found == expected;
    let (found, expected) = (BTreeSet::from_iter(found), BTreeSet::from_iter(expected));
    let differing = found.symmetric_difference(&expected).take(5);
    let differing = differing.map(|(key, ..)| key.escape_ascii().to_string());
    assert!(
        is_same,
        "{form} differs in {:?}",
        differing.collect::<Vec<_>>()
    );
}
#[test]
fn a_form_that_loses_something_loses_what_its_note_says_and_nothing_else() {
    let cluster = Cluster::even(1);
    let server = &cluster.servers[0];
    let stored = keys_of(&store(&cluster, nasty().into_iter().chain(ordinary())));
    let cli = |line: &str| server.redis_cli(&words(line));
    let before_nul = |key: &Vec<u8>| key.split(|byte| *byte == 0).next().unwrap().to_vec();
    for (dump, keys) in [
        (cli("--raw KEYS *"), stored.clone()),
        (cli("--scan"), stored.iter().map(before_nul).collect()),
    ] {
        let found = Scanning::detected().dump(&dump, || Kept(Vec::new()));
        assert_eq!((found.inputs[0].format, found.rejects.count), ("lines", 0));
        let mut listed = keys_of(&found.tally.0);
        let lines = keys.iter().flat_map(|key| key.split(|byte| *byte == b'\n'));
        let mut lines: Vec<Vec<u8>> = lines.map(<[u8]>::to_vec).collect();
        listed.sort();
        lines.sort();
        assert!(listed == lines);
        report_warns_of_loss(&dump, "lines");
    }
    for (form, dump) in [
        ("numbered", cli("--no-raw KEYS nothing")),
        ("redis-json", cli("--json KEYS nothing")),
        ("resp", over_a_socket(server, "KEYS nothing\r\n")),
    ] {
        assert!(read(&dump, form, true).is_empty(), "{form}");
    }
}
#[test]
fn replies_of_several_nodes_are_refused() {
    let cluster = Cluster::even(2);
    let asked = cluster.address(0);
    store(&cluster, ordinary());
    let dump = cluster.servers[0].redis_cli(&["--cluster", "call", &asked, "KEYS", "*"]);
    let end = dump.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for dump in [&dump[..], &dump[end..]] {
        let (bytes, whole) = (dump, true);
        let refused = recognise(Head { bytes, whole }).err().unwrap_or_default();
        refused.says("redis-cli --no-raw --scan");
    }
}

#[test]
fn the_recipe_for_sizes_gives_the_keys_of_the_server_and_what_it_says_of_them() {
    let server = Server::start(&["--cluster-enabled", "no"]);
    let mut client = server.connect();
    let keys: Vec<Vec<u8>> = nasty().into_iter().chain(ordinary()).collect();
    let rows = keys.iter().map(|key| (key, "v".repeat(key.len())));
    client.set_all(&rows.collect::<Vec<_>>());
    let mut usage = |key: &Vec<u8>| client.call(&[b"MEMORY", &b"USAGE"[..], key]).int();
    let expected: i64 = keys.iter().map(&mut usage).sum();
    let scratch = Scratch::new();
    let recipe = "redis-cli -p $PORT --no-raw --scan > keys
                  sed 's/^/MEMORY USAGE /' keys | redis-cli -p $PORT > sizes
                  paste keys sizes; paste -d, keys sizes; paste -d' ' sizes keys
                  { echo key,size; paste -d, keys sizes; } > table.csv";
    let output = succeeded(scratch.shell(format!("set -e; PORT={}; {recipe}", server.port)));
    let found = Scanning::detected().dump(&output, || Tallies::new(Parts::All));
    assert_eq!((found.inputs[0].format, found.rejects.count), ("sized", 0));
    assert_eq!(found.tally.slots.total(), 3 * keys.len() as u64);
    let bytes = found.tally.slots.loads.get(Metric::Bytes).unwrap();
    assert_eq!(bytes.iter().sum::<u64>(), 3 * expected as u64);
    // Each key occurs three times, under one name.
    let listed = Scanning::detected().dump(&output, || Kept(Vec::new()));
    let distinct: BTreeSet<_> = keys_of(&listed.tally.0).into_iter().collect();
    let keys: BTreeSet<_> = keys.into_iter().collect();
    assert!(distinct == keys);

    let table = std::fs::read(scratch.path("table.csv")).unwrap();
    let listed = read(&table, "csv", true);
    assert!(keys_of(&listed).into_iter().collect::<BTreeSet<_>>() == keys);
}

#[test]
fn rdb_tools_on_a_snapshot_gives_the_keys_of_the_server() {
    let cluster = Cluster::even(1);
    // rdb-tools writes a key with a line end as it is: two rows, which are rejected. One in quotes with a comma looks as a
    // spreadsheet saves a key with a comma, if it is the only one with a quote in the first rows.
    let is_as_saved = |key: &[u8]| key.starts_with(b"\"") && key.ends_with(b"\"");
    let lines = nasty().into_iter();
    let lines = lines.filter(|key| !key.contains(&b'\n') && !is_as_saved(key));
    let expected = store(&cluster, lines.chain(ordinary()));
    // Newer servers write slots into the snapshot of a cluster, which rdb-tools does not support.
    let alone = Server::start(&["--cluster-enabled", "no"]);
    let rows = expected.iter().map(|(key, ..)| (key, "value"));
    alone.connect().set_all(&rows.collect::<Vec<_>>());
    // rdb-tools 0.1.15 reads snapshots up to version 9, in which strings are encoded as today.
    let (scratch, mut snapshot) = (Scratch::new(), alone.saved());
    snapshot[..9].copy_from_slice(b"REDIS0009");
    scratch.file("dump.rdb", snapshot);
    // The place where tests/run installs packages from PyPI.
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("venv/bin/rdb");
    let output = scratch.shell(format!("{} -c memory dump.rdb", tools.display()));
    let found = read(&succeeded(output), "rdb-tools", true);
    assert_same("rdb-tools", &found, &expected);
}
