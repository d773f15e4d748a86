//! Keys in slots that their node does not own: they are counted by node and slot, excluded, and deleted by the commands
//! in the manual.

use crate::collect::collected::{manifest, rows};
use slotscope::slot;
use testkit::cluster::{Cluster, call_ok, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Reply;
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
    let state = |words: &[&str]| {
        let words = [&["CLUSTER", "SETSLOT", &slot], words].concat();
        call_ok(&mut cluster.servers[0].connect(), &words);
    };
    state(&["IMPORTING", &cluster.ids[1]]);
    for key in [old.clone(), format!("a \"b\" {{{old}}}")] {
        call_ok(&mut wrong, &["ASKING"]);
        call_ok(&mut wrong, &["SET", &key, "old"]);
    }
    state(&["STABLE"]);
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
    let page = Scratch::new().read(root().join("docs/troubleshooting.md"));
    let section = page.split("## Leftover keys\n").nth(1).unwrap();
    let block = section.split("```").nth(1).unwrap();
    let (valkey, others) = block.split_once("# Any other server").unwrap();
    let lines = if kind.is_valkey() { valkey } else { others };
    let commands = lines.lines().filter(|line| line.starts_with("redis-cli"));
    let commands: Vec<&str> = commands.collect();
    let port = format!("-p {}", cluster.servers[0].port);
    let commands = commands.join("\n").replace("-h HOST", "-h 127.0.0.1");
    let filled = commands
        .replace("-p PORT", &port)
        .replace("OWNER-ID", &cluster.ids[1]);
    // Names of commands contain the word, too.
    filled.replace(" SLOT", &format!(" {slot}"))
}

#[test]
fn keys_in_slots_of_others_are_counted_left_out_and_deleted() {
    at_once(
        3,
        [Kind::Installed, Kind::Redis82, Kind::Valkey91],
        |kind| {
            println!("{kind:?}");
            let (cluster, slot) = with_strays(kind);
            let (scratch, address) = (Scratch::new(), cluster.address(0));
            let text = scratch.text(&format!("collect {address} -o out --max-load 100"));
            let said =
                format!("{address} holds 2 keys of slots that it does not own ({slot}), left out:");
            text.says(&said);
            assert_eq!(rows(&scratch).len(), KEYS);
            let number: u16 = slot.parse().unwrap();
            let nodes = manifest(&scratch).nodes;
            let found = nodes.iter().find(|node| node.name == address).unwrap();
            assert_eq!(
                (found.strays, &*found.stray_slots),
                (2, &[(number, number)][..])
            );
            let report = scratch.report("analyze out --json");
            let cure = ["docs/troubleshooting.md", "FLUSHSLOT"][usize::from(kind.is_valkey())];
            report["input"]["warnings"]
                .to_string()
                .says(&said)
                .says(cure);

            let commands = commands(&cluster, &slot, kind);
            let output = scratch.shell(&commands);
            let said = stdout(&output);
            assert_eq!(left(&cluster, &slot), Reply::Int(0), "{commands}\n{said}");
            cluster.nodes(0).lacks("-<-");
            let owners: Vec<usize> = (0..16384).map(|slot| cluster.owner(slot)).collect();
            cluster.settles_on(&owners);
            for i in 0..KEYS {
                let key = format!("user:{i}");
                let reply = cluster.owner_of(key.as_bytes()).call(&["GET", &key]);
                assert_eq!(reply.text(), "fresh", "{key}");
            }
        },
    );
}
