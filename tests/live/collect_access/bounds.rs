//! Servers that send as much as they can: a run stays within the memory limits in docs/limits.md, reports the problem,
//! and leaves nothing. The test prints the usage for each.

use testkit::hostile::{Answer, Hostile};
use testkit::run::{Scratch, clean_environment};
use testkit::usage;

/// The limits in docs/limits.md for `collect`, and for `analyze` of a server, which collects: a base, and an amount per
/// node that is read concurrently.
const MOST_MIB: u64 = 320;
const NODE_MIB: u64 = 64;
const AT_ONCE: usize = 64;

const INFO: &str = "redis_version:7.2.4\r\nrole:master\r\ndb0:keys=4,expires=0\r\n";

/// A server with a hostile reply to one command.
struct Case {
    name: &'static str,
    /// The first words of the command.
    command: &'static str,
    answer: fn() -> Vec<u8>,
    /// Number of nodes in the cluster that the server claims to be; 0 for none.
    nodes: usize,
    flags: &'static [&'static str],
    /// The text required in the message; `None` if the run succeeds.
    said: Option<&'static str>,
}

fn text(len: usize) -> Vec<u8> {
    let head = format!("${len}\r\n").into_bytes();
    [head, vec![b'x'; len], b"\r\n".to_vec()].concat()
}

/// The last page of SCAN, with `keys` keys of `len` bytes each.
fn page(keys: usize, len: usize) -> Vec<u8> {
    let mut page = format!("*2\r\n$1\r\n0\r\n*{keys}\r\n").into_bytes();
    for i in 0..keys {
        page.extend_from_slice(format!("${len}\r\n{i:0len$}\r\n").as_bytes());
    }
    page
}

/// INFO with `number` databases.
fn databases(number: usize) -> Vec<u8> {
    let databases = (0..number).map(|i| format!("db{i}:keys=1,expires=0\r\n"));
    let info = INFO.to_owned() + &databases.collect::<String>();
    format!("${}\r\n{info}\r\n", info.len()).into_bytes()
}

/// The listing of a cluster with `nodes` nodes, all of them the server at `port`.
pub(super) fn listing(nodes: usize, port: u16) -> Answer {
    let line = |i: usize| {
        let (first, last) = (i * 16384 / nodes, (i + 1) * 16384 / nodes - 1);
        let myself = if i == 0 { "myself," } else { "" };
        format!("{i:040x} 127.0.0.1:{port}@1 {myself}master - 0 0 {i} connected {first}-{last}\n")
    };
    Answer::text(&(0..nodes).map(line).collect::<String>())
}

/// The replies of an ordinary server with a few strings.
pub(super) fn ordinary(asked: &str, is_cluster: bool) -> Answer {
    match asked.split(' ').next().unwrap_or_default() {
        "INFO" => Answer::text(INFO),
        "DBSIZE" => Answer::of(":4\r\n"),
        "SCAN" => Answer::Bytes(page(500, 10)),
        "TYPE" => Answer::of("+string\r\n"),
        "PTTL" => Answer::of(":-1\r\n"),
        "OBJECT" if asked.starts_with("OBJECT ENCODING") => Answer::text("raw"),
        "OBJECT" | "MEMORY" => Answer::of(":56\r\n"),
        "CLUSTER" if !is_cluster => {
            Answer::of("-ERR This instance has cluster support disabled\r\n")
        }
        "CLUSTER" if asked.starts_with("CLUSTER COUNT") => Answer::of(":0\r\n"),
        "CLUSTER" => Answer::of("-ERR unknown command\r\n"),
        _ => Answer::of("+OK\r\n"),
    }
}

const MIB: usize = 1 << 20;

const CASES: &[Case] = &[
    Case {
        name: "60 MiB for a type",
        command: "TYPE",
        answer: || text(60 * MIB),
        nodes: 0,
        flags: &[],
        said: Some("the reply to TYPE has more than 4 KiB"),
    },
    Case {
        name: "60 MiB for an expiry",
        command: "PTTL",
        answer: || text(60 * MIB),
        nodes: 0,
        flags: &[],
        said: Some("the reply to PTTL has more than 4 KiB"),
    },
    Case {
        name: "60 MiB for an encoding",
        command: "OBJECT",
        answer: || text(60 * MIB),
        nodes: 0,
        flags: &[],
        said: Some("the reply to OBJECT ENCODING has more than 4 KiB"),
    },
    Case {
        name: "60 MiB for a count of keys",
        command: "CLUSTER COUNTKEYSINSLOT",
        answer: || text(60 * MIB),
        nodes: 3,
        flags: &[],
        said: Some("the reply to CLUSTER COUNTKEYSINSLOT has more than 4 KiB"),
    },
    Case {
        name: "60 MiB for INFO",
        command: "INFO",
        answer: || text(60 * MIB),
        nodes: 0,
        flags: &[],
        said: Some("the reply to INFO has more than 8 MiB"),
    },
    Case {
        name: "300,000 databases",
        command: "INFO",
        answer: || databases(300_000),
        nodes: 0,
        flags: &[],
        said: Some("INFO lists more than 65,536 databases"),
    },
    Case {
        name: "a page of a million keys",
        command: "SCAN",
        answer: || page(1_000_000, 50),
        nodes: 0,
        flags: &["--keys"],
        said: None,
    },
    Case {
        name: "large pages of 8 nodes at once",
        command: "SCAN",
        answer: || page(60_000, 1000),
        nodes: 8,
        flags: &[],
        said: Some("the reply to"),
    },
    Case {
        name: "4 MiB of slots of 100 nodes",
        command: "CLUSTER SLOT-STATS",
        answer: || [b"*400000\r\n".to_vec(), b":1\r\n".repeat(400_000)].concat(),
        nodes: 100,
        flags: &[],
        said: None,
    },
];

/// The cost of a run against that server, as a row of the table, and an error if the outcome is wrong.
fn check(case: &Case) -> (String, Result<(), String>) {
    let answer = Answer::Bytes((case.answer)());
    let (command, nodes) = (case.command, case.nodes);
    let port = std::sync::Arc::new(std::sync::OnceLock::new());
    let own = std::sync::Arc::clone(&port);
    let is_page = command == "SCAN" && nodes > 0;
    let server = Hostile::start(move |asked| {
        if asked.starts_with(command) {
            return answer.clone();
        }
        match asked {
            // Nodes with a million keys each take long: the run ends after one page of each.
            asked if is_page && asked.starts_with("TYPE") => Answer::Bytes(text(8 << 10)),
            "CLUSTER NODES" if nodes > 0 => listing(nodes, *own.wait()),
            asked => ordinary(asked, nodes > 0),
        }
    });
    port.set(server.port).unwrap();
    let scratch = Scratch::new();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_slotscope"));
    command.arg("collect");
    command.arg(format!("127.0.0.1:{}", server.port));
    command.args(["-o", "all", "--max-load", "100", "--timeout", "60"]);
    command.args(case.flags);
    command.current_dir(scratch.path(""));
    clean_environment(&mut command);
    let usage = usage::of(command);
    let most = MOST_MIB + NODE_MIB * nodes.min(AT_ONCE) as u64;
    let row = format!(
        "| {} | {} | {most} | {:.1} |",
        case.name,
        usage.peak_mib(),
        usage.secs
    );
    let is_said = case.said.is_none_or(|said| usage.stderr.contains(said));
    let code = if case.said.is_some() { 2 } else { 0 };
    let wrong = |what: &str| Err(format!("{}: {what}: {usage:?}", case.name));
    let checked = match () {
        () if usage.code != Some(code) => wrong("the exit code"),
        () if !is_said => wrong("the message"),
        () if usage.peak_mib() > most => wrong("the memory"),
        () if code == 2 && !scratch.entries("").is_empty() => wrong("it left something"),
        () => Ok(()),
    };
    (row, checked)
}

#[test]
fn no_server_makes_a_collection_take_more_memory_than_the_manual_says() {
    println!("| server | peak MiB | most MiB | s |\n|---|--:|--:|--:|");
    let checked = CASES.iter().map(|case| {
        let (row, checked) = check(case);
        println!("{row}");
        checked
    });
    let wrong: Vec<String> = checked.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
