//! Servers that send as much as they can: a run stays within the memory limits in docs/limits.md, reports the problem,
//! and leaves nothing. The test prints the usage for each.

use testkit::env::is_campaign;
use testkit::hostile::{Answer, Hostile};
use testkit::run::{Scratch, rows, words};
use testkit::usage;

/// The limits in docs/limits.md for `collect`, and for `analyze` of a server, which collects: a base, and an amount per
/// node that is read concurrently.
const MOST_MIB: u64 = 320;
const NODE_MIB: u64 = 64;
const AT_ONCE: usize = 64;
/// Nodes of a case at most, unless the campaign runs.
const FEW_NODES: usize = 20;

const INFO: &str = "redis_version:7.2.4\r\nrole:master\r\ndb0:keys=4,expires=0\r\n";

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
pub(crate) fn ordinary(asked: &str, is_cluster: bool) -> Answer {
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

/// Hostile replies: to which command, from how many nodes (0: no cluster), to which run, and the text required in the
/// message unless the run succeeds.
const CASES: &str = "
    TYPE | 60 MiB | 0 | collect | the reply to TYPE has more than 4 KiB
    PTTL | 60 MiB | 0 | collect | the reply to PTTL has more than 4 KiB
    OBJECT | 60 MiB | 0 | collect | the reply to OBJECT ENCODING has more than 4 KiB
    CLUSTER COUNTKEYSINSLOT | 60 MiB | 3 | collect | the reply to CLUSTER COUNTKEYSINSLOT has more than 4 KiB
    INFO | 60 MiB | 0 | collect | the reply to INFO has more than 8 MiB
    INFO | 300,000 databases | 0 | collect | INFO lists more than 65,536 databases
    SCAN | a page of a million keys | 0 | collect --keys | success
    SCAN | large pages at once | 8 | collect | the reply to
    CLUSTER SLOT-STATS | 4 MiB of slots | 100 | collect | success
";

fn reply(what: &str) -> Vec<u8> {
    match what {
        "60 MiB" => text(60 * MIB),
        "300,000 databases" => databases(300_000),
        "a page of a million keys" => page(1_000_000, 50),
        "large pages at once" => page(60_000, 1000),
        _ => [b"*400000\r\n".to_vec(), b":1\r\n".repeat(400_000)].concat(),
    }
}

/// The cost of a run against that server, as a row of the table, and an error if the outcome is wrong.
fn check([command, what, nodes, run, said]: [&'static str; 5]) -> (String, Result<(), String>) {
    let nodes = usize::min(
        nodes.parse().unwrap(),
        if is_campaign() { usize::MAX } else { FEW_NODES },
    );
    let answer = Answer::Bytes(reply(what));
    let is_page = command == "SCAN" && nodes > 0;
    let server = Hostile::at_port(move |port, asked| match asked {
        asked if asked.starts_with(command) => answer.clone(),
        // Nodes with a million keys each take long: the run ends after one page of each.
        asked if is_page && asked.starts_with("TYPE") => Answer::Bytes(text(8 << 10)),
        "CLUSTER NODES" if nodes > 0 => listing(nodes, port),
        asked => ordinary(asked, nodes > 0),
    });
    let (scratch, address) = (Scratch::new(), server.address());
    let line = format!("{run} {address} -o all --max-load 100 --timeout 1h");
    let usage = usage::of(scratch.command(&words(&line)));
    let most = MOST_MIB + NODE_MIB * nodes.min(AT_ONCE) as u64;
    let (peak, name) = (usage.peak_mib(), format!("{command}: {what}"));
    let row = format!("| {name} | {peak} | {most} | {:.1} |", usage.secs);
    let (code, is_said) = match said {
        "success" => (0, true),
        said => (2, usage.stderr.contains(said)),
    };
    let wrong = |what: &str| Err(format!("{name}: {what}: {usage:?}"));
    let checked = match () {
        () if usage.code != Some(code) => wrong("the exit code"),
        () if !is_said => wrong("the message"),
        () if peak > most => wrong("the memory"),
        () if code == 2 && !scratch.entries("").is_empty() => wrong("it left something"),
        () => Ok(()),
    };
    (row, checked)
}
#[test]
fn no_server_makes_a_collection_take_more_memory_than_the_manual_says() {
    println!("| server | peak MiB | most MiB | s |\n|---|--:|--:|--:|");
    let checked = rows(CASES).into_iter().map(|case| {
        let (row, checked) = check(case);
        println!("{row}");
        checked
    });
    let wrong: Vec<String> = checked.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
