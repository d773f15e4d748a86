//! Servers that hang, talk nonsense, never end or refuse: a run ends soon, in little memory, with one line that says
//! what to do, and leaves nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

use super::bounds::ordinary;
use testkit::hostile::{Answer, Hostile};
use testkit::prelude::*;

/// Much longer than a run that gives up after two seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// Address space limit of a run in KiB: a reply of 10 GiB does not fit.
const MEMORY: u64 = 2 << 20;

/// Runs `slotscope collect` against that server with a limit for each answer; it must fail with these parts, separated by
/// ` | `.
fn check(server: &Hostile, limit_secs: u64, parts: &str) {
    let (scratch, address) = (Scratch::new(), server.address());
    let line = format!("slotscope collect redis://{address} -o all --timeout {limit_secs}");
    let start = Instant::now();
    let run = scratch.shell(format!("ulimit -v {MEMORY}; exec timeout -k 1 60 {line}"));
    run.refused(&format!("{address} | {parts}"));
    assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    assert_eq!(scratch.entries(""), [""; 0]);
}

#[test]
fn a_server_that_does_not_answer_as_servers_do_is_an_error_soon() {
    let endless = |first: &str, again: &str| Answer::Endless(first.into(), again.into());
    for (answer, parts) in [
        (Answer::Hang, "no answer within | --timeout"),
        (Answer::Drip(b"1".to_vec()), "--timeout"),
        (Answer::Close, "closed the connection"),
        (endless("$10737418240\r\n", "x"), "has more than 4 KiB"),
        (endless("+", "x"), "has more than 4 KiB"),
        (endless("*2147483647\r\n", ":1\r\n"), "has more than 4 KiB"),
        (endless("*1\r\n", "*1\r\n"), "has more than 4 KiB"),
    ] {
        println!("{parts}");
        let limit_secs = answer.limit_secs();
        check(&Hostile::always(answer), limit_secs, parts);
    }
    for [answer, parts] in rows(
        r"HTTP/1.1 400 Bad Request\r\n\r\n | Redis
        \x1b[2J\x07\r\n | \\x1b[2J
        -NOAUTH Authentication required.\r\n | password & --ask-password
        -NOPERM this user has no permissions\r\n | refused & --acl
        -LOADING Redis is loading the dataset in memory\r\n | loading
        :1\r\n | Redis",
    ) {
        println!("{parts}");
        let answer = Answer::of(answer);
        let limit_secs = answer.limit_secs();
        let parts = parts.replace(" & ", " | ");
        check(&Hostile::always(answer), limit_secs, &parts);
    }
}

#[test]
fn nothing_that_listens_is_an_error() {
    let address = Hostile::always(Answer::Close).address();
    let run = Scratch::new().run(&format!("collect {address}"));
    run.refused("nothing listens there");
}

#[test]
fn a_server_that_turns_hostile_in_the_middle_is_an_error_soon() {
    let start = "*2\r\n$1\r\n7\r\n";
    let list = format!("{start}*2147483647\r\n").into_bytes();
    let again = Answer::of(format!("{start}*1\r\n$1\r\nk\r\n"));
    for (at, answer, said) in [
        ("SCAN", Answer::Hang, ""),
        ("SCAN", Answer::Close, ""),
        ("SCAN", Answer::Endless(list, b"$1\r\nk\r\n".to_vec()), ""),
        // The same cursor again and again, and none.
        ("SCAN", again, "SCAN does not come to an end"),
        (
            "SCAN",
            Answer::of("*2\r\n$1\r\nx\r\n*0\r\n"),
            "SCAN is not that of",
        ),
        ("TYPE", Answer::Hang, ""),
        ("DBSIZE", Answer::of(":-5\r\n"), ""),
    ] {
        println!("{at}: {answer:?}");
        let limit_secs = answer.limit_secs();
        let server = Hostile::start(move |command| {
            let is_hostile = command.starts_with(at).then(|| answer.clone());
            is_hostile.unwrap_or_else(|| ordinary(command, false))
        });
        check(&server, limit_secs, said);
    }
}

#[test]
fn a_primary_that_hangs_is_waited_for_once_and_takes_no_statistics_from_the_others() {
    let waits = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&waits);
    let silent = Hostile::start(move |_| {
        counted.fetch_add(1, SeqCst);
        Answer::Hang
    });
    let other = silent.port;
    let row = |slot| {
        format!("*2\r\n:{slot}\r\n*4\r\n$9\r\nkey-count\r\n:3\r\n$12\r\nmemory-bytes\r\n:96\r\n")
    };
    let stats = format!("*8192\r\n{}", (0..8192).map(row).collect::<String>());
    let server = Hostile::at_port(move |port, command| match command {
        "CLUSTER NODES" => Answer::text(&format!(
            "a 127.0.0.1:{port}@1 myself,master - 0 0 1 connected 0-8191\n\
             b 127.0.0.1:{other}@2 master - 0 0 2 connected 8192-16383\n"
        )),
        of if of.starts_with("CLUSTER SLOT-STATS") => Answer::of(&stats),
        "CLUSTER COUNTKEYSINSLOT 7" => Answer::of(":3\r\n"),
        of => ordinary(of, true),
    });
    let (scratch, url) = (Scratch::new(), server.address());
    let start = Instant::now();
    let run = scratch.run(&format!("collect {url} -o all --slots-only --timeout 10s"));
    // It is retried at most every eight seconds.
    let most = 1 + start.elapsed().as_secs() / 8;
    let is_once = (1..=most).contains(&waits.load(SeqCst));
    assert!(is_once, "{waits:?} of {most}");
    // Exit code 2: incomplete.
    assert_eq!(code(&run), 2, "{}", stderr(&run));
    let stats = scratch.read("all/slot-stats.json");
    stats.says("[7,{\"key-count\":3,\"memory-bytes\":96}]");
}
