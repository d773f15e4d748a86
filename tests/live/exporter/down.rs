//! A cluster that is down is reported as down everywhere: if one primary refuses, if one is gone, if all are.

use std::process::Output;

use super::Exporter;
use testkit::cluster::{Cluster, call_ok, even};
use testkit::redis::wait_for;
use testkit::run::{Scratch, assert_contains, code, stderr, stdout};

const STATE: &str = "slotscope_state{cluster=\"shop\",role=\"all\"} ";

fn down() -> String {
    format!("{STATE}7\n")
}

/// A cluster whose nodes do not notice failures during a test: failures show only when queried.
fn start() -> Cluster {
    let patient = ["--cluster-node-timeout", "60000"].map(String::from);
    Cluster::with_options(&even(3), |_| patient.to_vec())
}

/// The first line of `analyze` on a collection made now.
fn first_line(cluster: &Cluster, seed: usize) -> (String, Output) {
    let scratch = Scratch::new();
    let collected = scratch.run(&[
        "collect",
        &cluster.address(seed),
        "-o",
        "shop",
        "--timeout",
        "2s",
    ]);
    let analyzed = scratch.run(&["analyze", "shop", "--no-files"]);
    let text = stdout(&analyzed);
    let line = text.lines().find(|line| !line.trim().is_empty());
    let line = line.unwrap_or_else(|| panic!("{}{}", stderr(&collected), stderr(&analyzed)));
    (line.to_owned(), collected)
}

#[test]
fn one_primary_that_refuses_keys_is_down_everywhere() {
    let cluster = start();
    let exporter = Exporter::start(&cluster);
    exporter.page_with(STATE);
    call_ok(
        &mut cluster.servers[2].connect(),
        &["CLUSTER", "DELSLOTS", "16383"],
    );
    wait_for(|| {
        let said = cluster.servers[2]
            .connect()
            .call(&["CLUSTER", "INFO"])
            .text();
        said.contains("cluster_state:fail")
            .then_some(())
            .ok_or(said)
    });
    let page = exporter.page_with(&down());
    assert_contains(&page, &["slotscope_up{cluster=\"shop\"} 1\n"]);
    assert!(exporter.get("/healthz").starts_with("HTTP/1.1 200 "));
    let (line, collected) = first_line(&cluster, 0);
    let expected = format!("DOWN  {} says cluster_state:fail: ", cluster.address(2));
    let squeezed = line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed.starts_with(&expected.replace("  ", " ")), "{line}");
    let text = stdout(&collected);
    assert!(
        text.contains("cluster_state:fail"),
        "{text}{}",
        stderr(&collected)
    );
}

#[test]
fn one_primary_that_is_gone_is_down_everywhere() {
    let mut cluster = start();
    let exporter = Exporter::start(&cluster);
    exporter.page_with(STATE);
    cluster.servers[2].stop();
    exporter.page_with(&down());
    assert!(exporter.get("/healthz").starts_with("HTTP/1.1 200 "));
    let (line, collected) = first_line(&cluster, 0);
    let expected = format!(
        "DOWN {} does not answer: 5,461 slots are not served",
        cluster.address(2)
    );
    let squeezed = line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(squeezed.starts_with(&expected), "{line}");
    assert_eq!(code(&collected), 2, "{}", stdout(&collected));
}

#[test]
fn a_cluster_of_which_nothing_answers_is_down_until_it_is_back() {
    let mut cluster = start();
    let exporter = Exporter::start(&cluster);
    exporter.page_with(STATE);
    cluster.servers.iter_mut().for_each(|server| server.stop());
    let page = exporter.page_with("slotscope_up{cluster=\"shop\"} 0\n");
    assert!(page.contains(&down()), "{page}");
    wait_for(|| {
        let health = exporter.get("/healthz");
        health
            .starts_with("HTTP/1.1 503 ")
            .then_some(())
            .ok_or(health)
    });
}
