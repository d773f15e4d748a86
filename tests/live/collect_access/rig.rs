//! Checks that the clusters and servers of the other tests behave as those assume.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use slotscope::slot::slot;
use testkit::cluster::{Cluster, even, held};
use testkit::hostile::{Answer, Hostile};
use testkit::kinds::Kind;
use testkit::tls::Authority;

/// 300 keys, each on its owner.
pub(super) fn fill(cluster: &Cluster) -> BTreeSet<Vec<u8>> {
    let keys = (0..300).map(|id| format!("user:{id}").into_bytes());
    let keys: BTreeSet<Vec<u8>> = keys.collect();
    for key in &keys {
        cluster.owner_of(key).call(&[b"SET", &key[..], b"x"]);
    }
    keys
}

#[test]
fn slots_move_and_replicas_take_over_without_losing_a_key() {
    let password = ["--requirepass", "a b", "--masterauth", "a b"].map(String::from);
    let mut cluster = Cluster::with_replicas(Kind::Installed, &password);
    let keys = fill(&cluster);
    let first = slot(keys.first().unwrap());
    let from = cluster.owner(first);
    let to = (from + 1) % 3;
    cluster.move_slots(&[first], to);
    assert!(held(&mut cluster.servers[to].connect()).contains(keys.first().unwrap()));
    cluster.wait_for_replicas();
    cluster.fail_over(to, to + 3);
    let running = (0..3).map(|i| if i == to { i + 3 } else { i });
    let left: BTreeSet<Vec<u8>> = running
        .flat_map(|i| held(&mut cluster.servers[i].connect()))
        .collect();
    assert_eq!(left, keys);
}

#[test]
fn nodes_speak_tls_with_certificates_of_the_test() {
    let authority = Authority::new();
    let options = |_| authority.options("yes");
    let cluster = Cluster::made_of(Kind::Installed, &even(2), options);
    let server = &cluster.servers[1];
    let [certificate, key] = authority.certificate();
    let ask = |files: &[(&str, &Path)]| {
        let mut command = Command::new("redis-cli");
        command.args(["--tls", "-p", &server.tls_port.unwrap().to_string()]);
        for (flag, file) in files {
            command.arg(flag).arg(file);
        }
        let output = command.args(["CLUSTER", "NODES"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let (ca, cert, key) = (&*authority.ca(), &*certificate, &*key);
    let listing = ask(&[("--cacert", ca), ("--cert", cert), ("--key", key)]);
    assert_eq!(listing.lines().count(), 2, "{listing}");
    assert_eq!(ask(&[("--cacert", ca)]), "");
    assert_eq!(ask(&[("--cert", cert), ("--key", key)]), "");
}

#[test]
fn a_hostile_server_answers_as_it_is_told_and_ends() {
    let server = Hostile::start(|command| match command {
        "PING" => Answer::of("+PONG\r\n"),
        "GET k" => Answer::Endless(b"$99\r\n".to_vec(), b"x".to_vec()),
        _ => Answer::Close,
    });
    let mut client = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
    let mut ask = |command: &[u8], reply: &mut [u8]| {
        client.write_all(command).unwrap();
        client.read_exact(reply).unwrap();
    };
    let mut pong = [0; 7];
    ask(b"*1\r\n$4\r\nPING\r\n", &mut pong);
    assert_eq!(&pong, b"+PONG\r\n");
    let mut endless = vec![0; 1 << 20];
    ask(b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n", &mut endless);
    assert!(endless.ends_with(b"xxx"));
    drop(server);
}
