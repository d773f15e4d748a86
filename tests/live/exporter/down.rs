//! A cluster that is down is reported as down everywhere: if one primary refuses, if one is gone, if all are.

use std::process::Output;

use super::Exporter;
use testkit::cluster::{Cluster, call_ok};
use testkit::kinds::Kind;
use testkit::prelude::*;

const STATE: &str = "slotscope_state{cluster=\"shop\",role=\"all\"} ";

/// A cluster whose nodes do not notice failures during a test: failures show only when queried; and its exporter.
fn start() -> (Cluster, Exporter) {
    let cluster = Cluster::counting(Kind::Installed, 0);
    let exporter = Exporter::start(&cluster, &[]);
    exporter.page_with(STATE);
    (cluster, exporter)
}

/// Checks that the exporter and the first line of `analyze` say so; returns the page and the run of `collect`.
fn is_down(cluster: &Cluster, exporter: &Exporter, line: &str) -> (String, Output) {
    let page = exporter.page_with(&format!("{STATE}7\n"));
    exporter.has_health(200);
    let (scratch, seed) = (Scratch::new(), cluster.address(0));
    let collected = scratch.run(&format!("collect {seed} -o shop --timeout 60s"));
    let analyzed = scratch.run("analyze shop --no-files");
    on_one_line(stdout(&analyzed)).begins(line);
    (page, collected)
}

#[test]
fn one_primary_that_refuses_keys_is_down_everywhere() {
    let (cluster, exporter) = start();
    let refusing = &cluster.servers[2];
    call_ok(&mut refusing.connect(), &["CLUSTER", "DELSLOTS", "16383"]);
    refusing.until("CLUSTER INFO", "cluster_state:fail");
    let line = format!("DOWN {} says cluster_state:fail: ", refusing.address());
    let (page, collected) = is_down(&cluster, &exporter, &line);
    page.says("slotscope_up{cluster=\"shop\"} 1\n");
    stdout(&collected).says("cluster_state:fail");
}

#[test]
fn primaries_that_are_gone_are_down_everywhere() {
    let (mut cluster, exporter) = start();
    exporter.page_with("slotscope_primaries_silent{cluster=\"shop\"} 0\n");
    cluster.servers[2].stop();
    let gone = cluster.address(2);
    let line = format!("DOWN {gone} does not answer: 5,461 slots are not served");
    let (page, collected) = is_down(&cluster, &exporter, &line);
    assert_eq!(code(&collected), 2, "{}", stdout(&collected));
    // The others have their figures.
    page.says("slotscope_primaries_silent{cluster=\"shop\"} 1\n");
    page.says(&super::memory_of(&cluster.address(1)));

    cluster.servers.iter_mut().for_each(|server| server.stop());
    let page = exporter.page_with("slotscope_up{cluster=\"shop\"} 0\n");
    page.says(&format!("{STATE}7\n"));
    exporter.has_health(503);
}
