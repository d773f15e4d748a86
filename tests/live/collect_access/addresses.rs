//! Nodes that announce addresses unreachable from here, as in Docker or behind a NAT.

use crate::collect_access::{collect, collected, fill};
use testkit::cluster::{Cluster, even};
use testkit::prelude::*;
use testkit::redis::free_port;

#[test]
fn nodes_are_reached_where_the_map_says_and_keep_their_names() {
    let announced = [(); 2].map(|()| free_port().to_string());
    let cluster = Cluster::with_options(&even(2), |i| {
        ["--cluster-announce-port", &announced[i]]
            .map(String::from)
            .to_vec()
    });
    let (keys, seed) = (fill(&cluster), cluster.address(0));
    let names = announced.map(|port| format!("127.0.0.1:{port}"));
    let map = |i: usize| format!("--address-map {}={}", names[i], cluster.address(i));

    let scratch = Scratch::new();
    let found = collected(&scratch, &seed, &format!("{} {}", map(0), map(1)));
    assert_eq!(found["keys"], keys.len());
    for name in &names {
        let mut nodes = found["nodes"].list().iter();
        assert!(
            nodes.any(|node| node["name"] == **name),
            "{}",
            found["nodes"]
        );
    }

    let run = collect(&Scratch::new(), &seed, "--timeout 1s");
    assert_eq!(code(&run), 2);
    // One node answers under the name of another.
    stdout(&run).says("INCOMPLETE").says("--address-map");
}
