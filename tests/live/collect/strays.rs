//! Keys in slots that their node does not own: they are counted by node and slot, excluded, and deleted by the commands
//! in the manual.

use std::fs;
use std::path::Path;

use crate::collect::collected::{manifest, rows};
use crate::rdb::asked::say;
use slotscope::slot;
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::redis::Reply;
use testkit::run::{Scratch, stderr, stdout};

const KEYS: usize = 300;

/// A cluster whose first node has keys in a slot of the second, an old copy among them; and the slot.
fn with_strays(kind: Kind) -> (Cluster, String) {
    let cluster = Cluster::of(kind, &even(3));
    cluster.set_all((0..KEYS).map(|i| (format!("user:{i}"), "fresh")));
    let mut keys = (0..KEYS).map(|i| format!("user:{i}"));
    let old = keys
        .find(|key| cluster.owner(slot(key.as_bytes())) == 1)
        .unwrap();
    let slot = slot(old.as_bytes()).to_string();
    let mut wrong = cluster.servers[0].connect();
    say(
        &mut wrong,
        &format!("CLUSTER SETSLOT {slot} IMPORTING {}", cluster.ids[1]),
    );
    for key in [old.clone(), format!("a \"b\" {{{old}}}")] {
        say(&mut wrong, "ASKING");
        let reply = wrong.call(&["SET", &key, "old"]);
        assert_eq!(reply, Reply::Simple("OK".into()));
    }
    say(&mut wrong, &format!("CLUSTER SETSLOT {slot} STABLE"));
    assert_eq!(left(&cluster, &slot), Reply::Int(2));
    (cluster, slot)
}

/// Number of keys in the slot on the first node.
fn left(cluster: &Cluster, slot: &str) -> Reply {
    let mut client = cluster.servers[0].connect();
    client.call(&["CLUSTER", "COUNTKEYSINSLOT", slot])
}

/// The commands in the manual for this cluster: for Valkey or for any other server.
fn commands(cluster: &Cluster, slot: &str, kind: Kind) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/troubleshooting.md");
    let page = fs::read_to_string(page).unwrap();
    let section = page.split("## Leftover keys\n").nth(1).unwrap();
    let block = section.split("```").nth(1).unwrap();
    let (valkey, others) = block.split_once("# Any other server").unwrap();
    let lines = if kind.is_valkey() { valkey } else { others };
    let commands: Vec<&str> = lines
        .lines()
        .filter(|line| line.starts_with("redis-cli"))
        .collect();
    let port = cluster.servers[0].port.to_string();
    let words = [
        ("-h HOST", "-h 127.0.0.1"),
        ("-p PORT", &format!("-p {port}")),
        ("OWNER-ID", &cluster.ids[1]),
    ];
    let filled = words
        .iter()
        .fold(commands.join("\n"), |text, (word, with)| {
            text.replace(word, with)
        });
    // Names of commands contain the word, too.
    filled.replace(" SLOT", &format!(" {slot}"))
}

fn are_counted_left_out_and_deleted(kind: Kind) {
    let (cluster, slot) = with_strays(kind);
    let scratch = Scratch::new();
    let args = [
        "collect",
        &cluster.address(0),
        "-o",
        "out",
        "--max-load",
        "100",
    ];
    let output = scratch.run(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let address = cluster.address(0);
    let said = format!("{address} holds 2 keys of slots that it does not own ({slot}), left out:");
    assert!(stdout(&output).contains(&said), "{}", stdout(&output));
    let names: Vec<_> = rows(&scratch.path("out"))
        .into_iter()
        .map(|row| row.key)
        .collect();
    assert_eq!(names.len(), KEYS);
    let number: u16 = slot.parse().unwrap();
    let found: Vec<_> = manifest(&scratch.path("out")).nodes;
    let found = found.iter().find(|node| node.name == address).unwrap();
    assert_eq!(
        (found.strays, &found.stray_slots[..]),
        (2, &[(number, number)][..])
    );
    let warnings = scratch.report(&["analyze", "out", "--json"])["input"]["warnings"].to_string();
    assert!(warnings.contains(&said), "{warnings}");
    let cure = if kind.is_valkey() {
        "FLUSHSLOT"
    } else {
        "docs/troubleshooting.md"
    };
    assert!(warnings.contains(cure), "{warnings}");

    let commands = commands(&cluster, &slot, kind);
    let output = scratch.shell(&commands);
    assert_eq!(
        left(&cluster, &slot),
        Reply::Int(0),
        "{commands}\n{}",
        stdout(&output)
    );
    assert!(!cluster.nodes(0).contains("-<-"), "{}", cluster.nodes(0));
    cluster.settles_on(
        &(0..16384)
            .map(|slot| cluster.owner(slot))
            .collect::<Vec<_>>(),
    );
    for i in 0..KEYS {
        let key = format!("user:{i}");
        let reply = cluster.owner_of(key.as_bytes()).call(&["GET", &key]);
        assert_eq!(reply, Reply::Bulk(b"fresh".to_vec()), "{key}");
    }
}

#[test]
fn of_redis_are_counted_left_out_and_deleted() {
    are_counted_left_out_and_deleted(Kind::Installed);
    are_counted_left_out_and_deleted(Kind::Redis82);
}

#[test]
fn of_valkey_are_counted_left_out_and_deleted() {
    are_counted_left_out_and_deleted(Kind::Valkey91);
}
