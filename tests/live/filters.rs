//! `--match` follows the server's matching.

use std::collections::BTreeSet;

use slotscope_base::glob::Glob;
use testkit::cluster::bulks;
use testkit::redis::{Reply, Server};
use testkit::rng::Rng;

#[test]
fn a_server_matches_the_same_names() {
    let server = Server::start(&["--cluster-enabled", "no"]);
    let mut client = server.connect();
    let mut rng = Rng::new(1);
    let mut text = |bytes: &[u8], most: usize| -> Vec<u8> {
        (0..rng.below(most + 1)).map(|_| *rng.pick(bytes)).collect()
    };
    let names: BTreeSet<Vec<u8>> = (0..300).map(|_| text(b"aab-c]^\\*", 5)).collect();
    let set = |name: &Vec<u8>| vec![b"SET".to_vec(), name.clone(), b"x".to_vec()];
    for name in &names {
        assert_eq!(client.call(&set(name)), Reply::Simple("OK".into()));
    }
    for _ in 0..3000 {
        let pattern = text(b"aabc**?[]^-\\", 7);
        if pattern.is_empty() {
            continue;
        }
        let call = [&b"SCAN"[..], b"0", b"MATCH", &pattern, b"COUNT", b"100000"];
        let Reply::Array(mut reply) = client.call(&call) else {
            panic!("no reply of SCAN");
        };
        let found: BTreeSet<Vec<u8>> = bulks(reply.pop().unwrap()).into_iter().collect();
        let glob = Glob::new(&pattern);
        let ours = names.iter().filter(|name| glob.matches(name)).cloned();
        assert_eq!(
            ours.collect::<BTreeSet<_>>(),
            found,
            "{}",
            pattern.escape_ascii()
        );
    }
}
