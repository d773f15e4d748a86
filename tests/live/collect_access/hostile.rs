//! Servers that hang, talk nonsense, never end or refuse: a run ends soon, in little memory, with one line that says
//! what to do, and leaves nothing.

use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use testkit::hostile::{Answer, Hostile};
use testkit::run::{Scratch, assert_contains, clean_environment, code, fails, stderr, words};

/// Much longer than a run that gives up after a second.
const PATIENCE: Duration = Duration::from_secs(30);
/// Address space limit of a run in KiB: a reply of 10 GiB does not fit.
const MEMORY: u64 = 2 << 20;

/// Runs `slotscope collect` against that server, which must fail with `parts`.
fn check(case: &str, server: &Hostile, parts: &[&str]) -> Result<(), String> {
    let scratch = Scratch::new();
    let program = env!("CARGO_BIN_EXE_slotscope");
    let address = format!("127.0.0.1:{}", server.port);
    let line = format!(
        "ulimit -v {MEMORY}; exec timeout -k 1 60 {program} collect redis://{address} -o all --timeout 1"
    );
    let mut command = Command::new("bash");
    command.args(["-c", &line]).current_dir(scratch.path(""));
    clean_environment(&mut command);
    let start = Instant::now();
    let run = command.output().unwrap();
    fails(&run, &[&[address.as_str()], parts].concat())
        .map_err(|what| format!("{case}: {what}"))?;
    match (start.elapsed(), scratch.entries("").as_slice()) {
        (took, _) if took > PATIENCE => Err(format!("{case}: it took {took:?}")),
        (_, []) => Ok(()),
        (_, left) => Err(format!("{case}: it left {left:?}")),
    }
}

#[test]
fn a_server_that_does_not_answer_as_servers_do_is_an_error_soon() {
    let huge = b"$10737418240\r\n".to_vec();
    let cases: Vec<(&str, Answer, &[&str])> = vec![
        ("hangs", Answer::Hang, &["no answer within", "--timeout"]),
        ("drips", Answer::Drip(b'1'), &["--timeout"]),
        ("closes", Answer::Close, &["closed the connection"]),
        (
            "web server",
            Answer::of("HTTP/1.1 400 Bad Request\r\n\r\n"),
            &["Redis"],
        ),
        ("escapes", Answer::of("\x1b[2J\x07\r\n"), &["\\x1b[2J"]),
        (
            "a huge text",
            Answer::Endless(huge, vec![b'x']),
            &["has more than 4 KiB"],
        ),
        (
            "an endless line",
            Answer::Endless(b"+".to_vec(), vec![b'x']),
            &["has more than 4 KiB"],
        ),
        (
            "an endless list",
            Answer::Endless(b"*2147483647\r\n".to_vec(), b":1\r\n".to_vec()),
            &["has more than 4 KiB"],
        ),
        (
            "lists in lists",
            Answer::Endless(b"*1\r\n".to_vec(), b"*1\r\n".to_vec()),
            &["has more than 4 KiB"],
        ),
        (
            "NOAUTH",
            Answer::of("-NOAUTH Authentication required.\r\n"),
            &["password", "--ask-password"],
        ),
        (
            "NOPERM",
            Answer::of("-NOPERM this user has no permissions\r\n"),
            &["refused", "--acl"],
        ),
        (
            "LOADING",
            Answer::of("-LOADING Redis is loading the dataset in memory\r\n"),
            &["loading"],
        ),
        ("an odd answer", Answer::of(":1\r\n"), &["Redis"]),
    ];
    let found = cases
        .into_iter()
        .map(|(case, answer, parts)| check(case, &Hostile::always(answer), parts));
    let wrong: Vec<String> = found.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nothing_that_listens_is_an_error() {
    let scratch = Scratch::new();
    let port = Hostile::always(Answer::Close).port;
    let run = scratch.run(&["collect", &format!("127.0.0.1:{port}")]);
    testkit::run::assert_fails(&run, &["nothing listens there"]);
}

#[test]
fn a_server_that_turns_hostile_in_the_middle_is_an_error_soon() {
    let endless = Answer::Endless(
        b"*2\r\n$1\r\n7\r\n*2147483647\r\n".to_vec(),
        b"$1\r\nk\r\n".to_vec(),
    );
    let stuck = Answer::of("*2\r\n$1\r\n7\r\n*1\r\n$1\r\nk\r\n");
    let cases: Vec<(&str, &str, Answer)> = vec![
        ("SCAN hangs", "SCAN", Answer::Hang),
        ("SCAN closes", "SCAN", Answer::Close),
        ("SCAN is endless", "SCAN", endless),
        ("SCAN is stuck", "SCAN", stuck),
        (
            "SCAN has no cursor",
            "SCAN",
            Answer::of("*2\r\n$1\r\nx\r\n*0\r\n"),
        ),
        ("TYPE hangs", "TYPE", Answer::Hang),
        ("DBSIZE is negative", "DBSIZE", Answer::of(":-5\r\n")),
    ];
    let mut wrong = Vec::new();
    for (case, at, answer) in cases {
        let server = Hostile::start(move |command| {
            if command.starts_with(at) {
                return answer.clone();
            }
            match command.split(' ').next().unwrap_or_default() {
                "INFO" => Answer::text(
                    "# Server\r\nredis_version:7.4.1\r\nredis_mode:standalone\r\n# Replication\r\nrole:master\r\n\
                     # Memory\r\nmaxmemory_policy:noeviction\r\n# Cluster\r\ncluster_enabled:0\r\n# Keyspace\r\n\
                     db0:keys=3,expires=0,avg_ttl=0\r\n",
                ),
                "CLIENT" | "SELECT" | "READONLY" => Answer::of("+OK\r\n"),
                "CLUSTER" => Answer::of("-ERR This instance has cluster support disabled\r\n"),
                "DBSIZE" => Answer::of(":3\r\n"),
                "SCAN" => Answer::of("*2\r\n$1\r\n0\r\n*1\r\n$1\r\nk\r\n"),
                "TYPE" => Answer::of("+string\r\n"),
                "PTTL" => Answer::of(":-1\r\n"),
                "STRLEN" | "MEMORY" => Answer::of(":56\r\n"),
                "OBJECT" => Answer::text("raw"),
                _ => Answer::of("-ERR unknown command\r\n"),
            }
        });
        wrong.extend(check(case, &server, &[]).err());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_primary_that_hangs_is_waited_for_once_and_takes_no_statistics_from_the_others() {
    let waits = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&waits);
    let silent = Hostile::start(move |_| {
        counted.fetch_add(1, SeqCst);
        Answer::Hang
    });
    let (own, other) = (Arc::new(OnceLock::new()), silent.port);
    let row = |slot| {
        format!("*2\r\n:{slot}\r\n*4\r\n$9\r\nkey-count\r\n:3\r\n$12\r\nmemory-bytes\r\n:96\r\n")
    };
    let stats = format!("*8192\r\n{}", (0..8192).map(row).collect::<String>());
    let port = Arc::clone(&own);
    let server = Hostile::start(move |command| match command {
        "CLUSTER NODES" => Answer::text(&format!(
            "a 127.0.0.1:{}@1 myself,master - 0 0 1 connected 0-8191\n\
             b 127.0.0.1:{other}@2 master - 0 0 2 connected 8192-16383\n",
            port.wait()
        )),
        of if of.starts_with("CLUSTER SLOT-STATS") => Answer::of(&stats),
        "CLUSTER COUNTKEYSINSLOT 7" => Answer::of(":3\r\n"),
        of if of.starts_with("CLUSTER COUNT") => Answer::of(":0\r\n"),
        of if of.starts_with("CLUSTER") => Answer::of("-ERR unknown command\r\n"),
        "INFO" => Answer::text("redis_version:8.2.0\r\nrole:master\r\n"),
        _ => Answer::of("+OK\r\n"),
    });
    own.set(server.port).unwrap();
    let scratch = Scratch::new();
    let url = format!("127.0.0.1:{}", server.port);
    let line = format!("collect {url} -o all --slots-only --timeout 1s");
    let words = words(&line);
    let start = Instant::now();
    let run = scratch.run(&words);
    // It is retried at most every eight seconds.
    let most = 1 + start.elapsed().as_secs() / 8;
    assert!(
        (1..=most).contains(&waits.load(SeqCst)),
        "{waits:?} of {most}"
    );
    // Exit code 2: incomplete.
    assert_eq!(code(&run), 2, "{}", stderr(&run));
    let stats = scratch.read("all/slot-stats.json");
    assert_contains(&stats, &["[7,{\"key-count\":3,\"memory-bytes\":96}]"]);
}
