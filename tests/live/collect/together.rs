//! `collect --load`: the primaries are read at the same time.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crate::collect::collected::manifest;
use crate::collect_access::bounds::ordinary;
use testkit::hostile::{Answer, Hostile};
use testkit::prelude::*;

/// Longer than a run waits for an answer.
const VAIN: Duration = Duration::from_secs(60);

/// How often each primary was asked for its figures, and a signal that it was.
type Asked = (Mutex<[usize; 3]>, Condvar);

/// Waits until all have been asked as often as this one.
fn meet(me: usize, (asked, more): &Asked) {
    let mut asked = asked.lock().unwrap();
    asked[me] += 1;
    more.notify_all();
    let own = asked[me];
    let is_alone = |asked: &mut [usize; 3]| asked.iter().any(|times| *times < own);
    drop(more.wait_timeout_while(asked, VAIN, is_alone).unwrap());
}

/// CLUSTER NODES as primary `me` says it.
fn listing(me: usize, ports: &[u16]) -> Answer {
    let line = |(node, port): (usize, &u16)| {
        let flags = ["master", "myself,master"][usize::from(node == me)];
        let (first, last) = [(0, 5460), (5461, 10_922), (10_923, 16_383)][node];
        format!("{node:040x} 127.0.0.1:{port}@1 {flags} - 0 0 {node} connected {first}-{last}\n")
    };
    Answer::text(&ports.iter().enumerate().map(line).collect::<String>())
}

#[test]
fn a_primary_that_answers_only_once_all_were_asked_is_not_waited_for_in_vain() {
    let (ports, asked): (Arc<Mutex<Vec<u16>>>, Arc<Asked>) = Default::default();
    let servers = [0, 1, 2].map(|me| {
        let (ports, asked) = (Arc::clone(&ports), Arc::clone(&asked));
        Hostile::start(move |command| match command {
            "CLUSTER NODES" => listing(me, &ports.lock().unwrap()),
            "INFO all" => {
                meet(me, &asked);
                ordinary(command, true)
            }
            of => ordinary(of, true),
        })
    });
    *ports.lock().unwrap() = servers.iter().map(|server| server.port).collect();
    let (scratch, seed) = (Scratch::new(), servers[0].address());
    scratch.text(&format!("collect {seed} -o out --slots-only --load 1s"));
    assert_eq!(manifest(&scratch).load.unwrap().nodes.len(), 3);
    // Before and after the interval.
    assert!(asked.0.lock().unwrap().iter().all(|times| *times >= 2));
}
