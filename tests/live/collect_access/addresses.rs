//! Nodes that announce addresses unreachable from here, as in Docker or behind a NAT.

use crate::collect_access::fill;
use crate::collect_access::{collect, manifest};
use testkit::cluster::Cluster;
use testkit::prelude::*;
use testkit::redis::free_port;

#[test]
fn nodes_are_reached_where_the_map_says_and_keep_their_names() {
    let announced: Vec<u16> = (0..2).map(|_| free_port()).collect();
    let shares = [vec![(0, 8000)], vec![(8001, 16383)]];
    let cluster = Cluster::with_options(&shares, |i| {
        let port = announced[i].to_string();
        ["--cluster-announce-port", &port]
            .map(String::from)
            .to_vec()
    });
    let keys = fill(&cluster);
    let maps: Vec<String> = (0..2)
        .map(|i| format!("127.0.0.1:{}={}", announced[i], cluster.address(i)))
        .collect();
    let flags = ["--address-map", &maps[0], "--address-map", &maps[1]];

    let scratch = Scratch::new();
    let run = collect(&scratch, &cluster.address(0), None, &flags);
    let found = manifest(&scratch, &run);
    assert_eq!(found["keys"], keys.len());
    let names: Vec<&str> = found["nodes"]
        .list()
        .iter()
        .map(|node| node["name"].text())
        .collect();
    for port in &announced {
        let name = format!("127.0.0.1:{port}");
        assert!(names.contains(&name.as_str()), "{names:?}");
    }

    let scratch = Scratch::new();
    let run = collect(&scratch, &cluster.address(0), None, &["--timeout", "1s"]);
    assert_eq!(code(&run), 2);
    // One node answers under the name of another.
    let said = stdout(&run);
    assert_contains(said, &["INCOMPLETE", "--address-map"]);
}
