//! Few threads and descriptors: a run on a cluster completes, or names the shortage and leaves nothing.

use std::process::Output;

use crate::collect_access::bounds::{listing, ordinary};
use testkit::hostile::Hostile;
use testkit::limited::Limited;
use testkit::prelude::*;

/// A cluster with three primaries, all of them one server.
fn cluster() -> Hostile {
    Hostile::at_port(|port, asked| match asked {
        "CLUSTER NODES" => listing(3, port),
        asked => ordinary(asked, true),
    })
}
/// Whether the run succeeded; if not, checks that it gave the reason, without a panic, and left nothing, or what it could
/// read, called incomplete: a node for which there was no descriptor while others were read.
#[track_caller]
fn is_done(run: &Output, made: &str, scratch: &Scratch, case: &str) -> bool {
    println!("{case}");
    let (is_done, said) = (code(run) == 0, stderr(run));
    assert!(is_done || code(run) == 2, "{run:?}");
    said.lacks("panicked");
    let entries = scratch.entries("");
    entries.concat().lacks(".part");
    let is_made = entries.iter().any(|name| name == made);
    let printed = String::from_utf8_lossy(&run.stdout).to_lowercase();
    let is_said = match (is_done, is_made) {
        (true, _) => is_made,
        (false, true) => printed.contains("incomplete"),
        (false, false) => said.starts_with("slotscope: "),
    };
    assert!(is_said, "{run:?}");
    is_done
}

#[test]
fn without_threads_a_cluster_is_read_or_the_lack_is_said() {
    // No other test has this user.
    let Some(limited) = Limited::user(64123) else {
        return;
    };
    let server = cluster();
    let mut ended = [0, 0];
    for most in [1, 2, 3, 4, 6, 8] {
        for (line, made) in [
            (format!("collect {} --keys -o all", server.address()), "all"),
            (
                format!("analyze {} --out report", server.address()),
                "report",
            ),
        ] {
            let scratch = Scratch::new();
            let run = limited.run(&scratch, most, &line);
            let is_done = is_done(&run, made, &scratch, &format!("{most}: {line}"));
            ended[usize::from(is_done)] += 1;
            if made == "all" && most == 1 {
                stderr(&run).says("no thread can be started");
            }
        }
    }
    println!("runs that said what they lacked, and that were done: {ended:?}");
    assert!(ended[0] > 0 && ended[1] > 0, "{ended:?}");
    let line = "exporter 127.0.0.1:1 --listen 127.0.0.1:0";
    let exporter = limited.run(&Scratch::new(), 1, line);
    assert_eq!(code(&exporter), 2);
    let said = stderr(&exporter);
    said.says("exporter: no thread can be started")
        .lacks("panicked");
}
#[test]
fn few_descriptors_are_said_and_nothing_is_half_written() {
    let (server, scratch) = (cluster(), Scratch::new());
    scratch.file("a.keys", "a:1\n".repeat(1000));
    scratch.text("tally a.keys --part 1/2 --out a.tally");
    scratch.text("tally a.keys --part 2/2 --out b.tally");
    let path = |name: &str| scratch.path(name).display().to_string();
    for line in [
        format!("collect {} --keys -o made", server.address()),
        format!("analyze {} --out made", server.address()),
        format!("analyze {} --out made", path("a.keys")),
        format!("merge {} {} --out made", path("a.tally"), path("b.tally")),
    ] {
        let mut ended = [0, 0];
        // Each number around the fewest that a run needs, and some above.
        for most in (3..=20).chain([24, 32, 40]) {
            let scratch = Scratch::new();
            let limit = format!("mkdir tmp; export TMPDIR=$PWD/tmp; ulimit -n {most}");
            let run = scratch.shell(format!("{limit}; exec slotscope {line}"));
            // Below that, the program cannot even be loaded.
            if code(&run) != 127 {
                let is_done = is_done(&run, "made", &scratch, &format!("{most}: {line}"));
                ended[usize::from(is_done)] += 1;
                assert!(scratch.entries("tmp").is_empty(), "{most}: {line}");
            }
        }
        println!("{line}: runs that said what they lacked, and that were done: {ended:?}");
        assert!(ended[0] > 0 && ended[1] > 0, "{line}: {ended:?}");
    }
}
