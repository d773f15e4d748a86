//! Few threads and descriptors: a run on a cluster completes, or names the shortage and leaves nothing.

use std::process::{Command, Output};

use crate::collect_access::bounds::{listing, ordinary};
use testkit::hostile::Hostile;
use testkit::run::{Scratch, assert_contains, clean_environment, stderr};

/// A cluster with three primaries, all of them one server.
fn cluster() -> Hostile {
    let port = std::sync::Arc::new(std::sync::OnceLock::new());
    let own = std::sync::Arc::clone(&port);
    let server = Hostile::start(move |asked| match asked {
        "CLUSTER NODES" => listing(3, *own.wait()),
        asked => ordinary(asked, true),
    });
    port.set(server.port).unwrap();
    server
}

/// Runs a shell command line in which $slotscope is the program.
fn run(scratch: &Scratch, line: &str) -> Output {
    let mut command = Command::new("bash");
    command.args(["-c", line]).current_dir(scratch.path(""));
    command.env("slotscope", env!("CARGO_BIN_EXE_slotscope"));
    clean_environment(&mut command);
    command.output().unwrap()
}

/// Whether the run succeeded; if not, checks that it gave the reason, without a panic, and left nothing, or what it could
/// read, called incomplete: a node for which there was no descriptor while others were read.
#[track_caller]
fn is_done(run: &Output, made: &str, scratch: &Scratch, case: &str) -> bool {
    let is_done = run.status.code() == Some(0);
    let said = stderr(run);
    assert!(is_done || run.status.code() == Some(2), "{case}: {run:?}");
    assert!(!said.contains("panicked"), "{case}: {said}");
    let entries = scratch.entries("");
    let is_left = entries.iter().any(|name| name.contains(".part"));
    assert!(!is_left, "{case}: {entries:?}");
    let is_made = entries.iter().any(|name| name == made);
    let printed = String::from_utf8_lossy(&run.stdout).to_lowercase();
    let is_said = match (is_done, is_made) {
        (true, _) => is_made,
        (false, true) => printed.contains("incomplete"),
        (false, false) => said.starts_with("slotscope: "),
    };
    assert!(is_said, "{case}: {run:?}");
    is_done
}

#[test]
fn without_threads_a_cluster_is_read_or_the_lack_is_said() {
    if Command::new("setpriv").arg("--version").output().is_err() || !is_root() {
        eprintln!("NOT TESTED: few threads need root and setpriv, to be another user with a limit");
        return;
    }
    let server = cluster();
    let (mut done, mut failed) = (0, 0);
    for most in [1, 2, 3, 4, 6, 8] {
        for (words, made) in [
            ("collect --keys -o all", "all"),
            ("analyze --out report", "report"),
        ] {
            let scratch = Scratch::new();
            // The program is in a place where another user can run it.
            scratch.program();
            let open = run(&scratch, "chmod 777 .");
            assert!(open.status.success());
            let (verb, rest) = words.split_once(' ').unwrap();
            let line = format!(
                "TMPDIR=$PWD exec setpriv --reuid 64123 --regid 64123 --clear-groups \
                 prlimit --nproc={most} ./slotscope {verb} 127.0.0.1:{} {rest}",
                server.port
            );
            let ended = run(&scratch, &line);
            if is_done(&ended, made, &scratch, &format!("{most}: {words}")) {
                done += 1
            } else {
                failed += 1
            }
            if verb == "collect" && most == 1 {
                assert_contains(stderr(&ended), &["no thread can be started"]);
            }
        }
    }
    println!("runs that were done: {done}, that said what they lacked: {failed}");
    assert!(done > 0 && failed > 0, "{done} {failed}");
}

#[test]
fn without_a_thread_an_exporter_says_so() {
    if Command::new("setpriv").arg("--version").output().is_err() || !is_root() {
        eprintln!("NOT TESTED: few threads need root and setpriv, to be another user with a limit");
        return;
    }
    let scratch = Scratch::new();
    scratch.program();
    assert!(run(&scratch, "chmod 755 .").status.success());
    // No other test has this user.
    let line = "exec timeout 60 setpriv --reuid 64124 --regid 64124 --clear-groups prlimit --nproc=1 \
                ./slotscope exporter 127.0.0.1:1 --listen 127.0.0.1:0";
    let ended = run(&scratch, line);
    let said = stderr(&ended);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert_contains(said, &["exporter: no thread can be started"]);
    assert!(!said.contains("panicked"), "{said}");
}

fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|id| id.stdout == b"0\n")
}

#[test]
fn few_descriptors_are_said_and_nothing_is_half_written() {
    let server = cluster();
    let live = format!("127.0.0.1:{}", server.port);
    let scratch = Scratch::new();
    scratch.file("a.keys", "a:1\n".repeat(1000));
    for (part, name) in ["1/2", "2/2"].into_iter().zip(["a", "b"]) {
        let line = format!("$slotscope tally a.keys --part {part} --out {name}.tally");
        let made = run(&scratch, &line);
        assert!(made.status.success(), "{made:?}");
    }
    let path = |name: &str| scratch.path(name).display().to_string();
    let (keys, tallies) = (path("a.keys"), path("a.tally") + " " + &path("b.tally"));
    for (words, made) in [
        (format!("collect {live} --keys -o made"), "made"),
        (format!("analyze {live} --out made"), "made"),
        (format!("analyze {keys} --out made"), "made"),
        (format!("merge {tallies} --out made"), "made"),
    ] {
        let (mut done, mut failed) = (0, 0);
        for most in 3..=40 {
            let scratch = Scratch::new();
            std::fs::create_dir(scratch.path("tmp")).unwrap();
            let line = format!("export TMPDIR=$PWD/tmp; ulimit -n {most}; exec $slotscope {words}");
            let ended = run(&scratch, &line);
            // Below that, the program cannot even be loaded.
            if ended.status.code() == Some(127) {
                continue;
            }
            if is_done(&ended, made, &scratch, &format!("{most}: {words}")) {
                done += 1
            } else {
                failed += 1
            }
            assert!(scratch.entries("tmp").is_empty(), "{most}: {words}");
        }
        println!("{words}: {done} runs were done, {failed} said what they lacked");
        assert!(done > 0 && failed > 0, "{words}: {done} {failed}");
    }
}
