//! MONITOR of all primaries during the same seconds, one file each: commands and keys without values, limited in bytes.

use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

use slotscope_base::error::{Error, Result};
use slotscope_base::text::bytes;
use slotscope_read::source::collection::load::{MonitorEntry, MonitorNode};
use slotscope_report::output::WholeDirectory;

use crate::connection::{Access, Connection};
use crate::crew::{self, AT_ONCE};
use crate::readings::Asked;
use crate::stripped::Stripped;

/// Maximum duration: MONITOR can halve a server's throughput.
pub const LONGEST: Duration = Duration::from_secs(10);
/// Maximum bytes read per node.
const MAX_BYTES: u64 = 64 << 20;
/// The file name suffix.
pub(crate) const EXTENSION: &str = ".monitor.zst";

/// When captures end: at a time, or for all once one node has sent this many bytes. The busiest node gets there first,
/// and must be compared with the others over the same seconds.
struct Limits {
    end: Instant,
    bytes: u64,
    is_reached: AtomicBool,
}

/// Runs MONITOR on these servers at once. Also returns the errors of servers that refuse it or do not answer.
///
/// # Errors
/// No server can be captured, or a file cannot be written.
pub(crate) fn capture(
    access: &Access,
    servers: &[Asked],
    during: Duration,
    directory: &WholeDirectory,
) -> Result<(MonitorEntry, Vec<Error>)> {
    if servers.len() > AT_ONCE {
        let reason = format!(
            "runs on at most {AT_ONCE} primaries at once, and the cluster has {}; leave it out",
            servers.len()
        );
        return Err(Error::option("monitor", "", reason));
    }
    let during = during.min(LONGEST);
    let limits = Limits {
        end: Instant::now() + during,
        bytes: MAX_BYTES,
        is_reached: AtomicBool::new(false),
    };
    let files = (0..servers.len()).map(|at| {
        (
            at,
            format!("{}{EXTENSION}", file_stem(&servers[at].name, at)),
        )
    });
    let run = |(at, file): (usize, String)| match Connection::open(&servers[at].address, access) {
        Ok(connection) => of_node(connection, &servers[at].name, file, &limits, directory),
        Err(error) => Ok(Err(error)),
    };
    let captured = crew::all(files, run)?;
    let (mut nodes, mut errors) = (Vec::new(), Vec::new());
    for node in captured {
        match node? {
            Ok(node) => nodes.push(node),
            Err(error) => errors.push(error),
        }
    }
    match errors.pop() {
        Some(error) if nodes.is_empty() => return Err(error),
        error => errors.extend(error),
    }
    let entry = MonitorEntry {
        secs: during.as_secs_f64(),
        nodes,
    };
    Ok((entry, errors))
}

/// The name of a node's file: host names come from servers, and must not lead outside the directory.
fn file_stem(name: &str, at: usize) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() || c == '.' {
            c
        } else {
            '-'
        }
    };
    let stem: String = name.chars().take(100).map(plain).collect();
    match stem.trim_start_matches(['.', '-']) {
        "" => format!("node-{}", at + 1),
        // Servers may give all nodes the same name.
        stem => format!("{}.{stem}", at + 1),
    }
}

/// The nodes that reached the byte limit, one sentence each.
pub(crate) fn cut(monitor: &MonitorEntry) -> impl Iterator<Item = String> {
    let cut = monitor.nodes.iter().filter(|node| node.is_cut);
    cut.map(|node| {
        format!(
            "MONITOR of {}: ended at {}, and that of all primaries with it, after {:.1} of {:.0} s",
            node.name,
            bytes(node.bytes),
            node.secs,
            monitor.secs
        )
    })
}

/// Captures a node; the inner error is that of the server.
fn of_node(
    mut connection: Connection,
    name: &str,
    file: String,
    limits: &Limits,
    directory: &WholeDirectory,
) -> Result<Result<MonitorNode>> {
    if let Err(error) = connection.call("MONITOR", &[b"MONITOR"]) {
        return Ok(Err(error));
    }
    let failed = |error| directory.failed(&file, error);
    let writer = BufWriter::new(directory.file(&file)?);
    let mut out = zstd::Encoder::new(writer, 1).map_err(failed)?;
    let start = Instant::now();
    let (mut stripped, mut line) = (Stripped::default(), Vec::new());
    let mut node = MonitorNode {
        name: name.to_owned(),
        ..MonitorNode::default()
    };
    loop {
        let bytes = match connection.line(limits.end, &mut line) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => break,
            Err(error) => return Ok(Err(error)),
        };
        node.bytes += bytes;
        if let Some(text) = stripped.line(&line) {
            node.commands += 1;
            out.write_all(text).map_err(failed)?;
        }
        node.is_cut = node.bytes >= limits.bytes;
        if node.is_cut {
            limits.is_reached.store(true, Relaxed);
        }
        if limits.is_reached.load(Relaxed) {
            break;
        }
    }
    node.secs = start.elapsed().as_secs_f64();
    let out = out.finish().map_err(failed)?;
    out.into_inner()
        .map_err(|error| failed(error.into_error()))?;
    node.file = file;
    Ok(Ok(node))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{access, start};

    #[test]
    fn where_a_node_reaches_the_limit_of_bytes_all_captures_end_and_that_is_reported() {
        let line = "+1795216373.125436 [0 127.0.0.1:58548] \"GET\" \"user:1\"\r\n";
        let limits = Limits {
            end: Instant::now() + Duration::from_secs(60),
            bytes: 1000,
            is_reached: AtomicBool::new(false),
        };
        let directory = WholeDirectory::temporary().unwrap();
        let capture = |name: &str, file: &str, lines: usize| {
            let lines = format!("+OK\r\n{}", line.repeat(lines));
            let answer = move |command: &str| match command {
                "MONITOR" => Some(lines.clone().into_bytes()),
                _ => Some(b"+OK\r\n".to_vec()),
            };
            let connection = Connection::open(&start(answer), &access()).unwrap();
            let node = of_node(connection, name, file.into(), &limits, &directory);
            node.unwrap().unwrap()
        };
        let busy = capture("h:1", "1.monitor.zst", 200);
        assert_eq!((busy.commands, busy.bytes), (19, 19 * line.len() as u64));
        let idle = capture("h:2", "2.monitor.zst", 5);
        assert_eq!((idle.commands, idle.is_cut), (1, false));
        assert!(busy.is_cut && busy.secs < 30.0, "{busy:?}");
        let monitor = MonitorEntry {
            secs: 60.0,
            nodes: vec![MonitorNode { secs: 3.21, ..busy }, idle],
        };
        let expected = "MONITOR of h:1: ended at 1.02 KiB, and that of all primaries with it, after 3.2 of 60 s";
        assert_eq!(cut(&monitor).collect::<Vec<_>>(), [expected]);
    }

    #[test]
    fn files_are_named_after_their_nodes_and_lead_nowhere_else() {
        assert_eq!(file_stem("10.0.0.1:7001", 0), "1.10.0.0.1-7001");
        assert_eq!(file_stem("../../etc/x", 1), "2.etc-x");
        assert_eq!(file_stem("::", 2), "node-3");
    }
}
