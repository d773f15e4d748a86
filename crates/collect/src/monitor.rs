//! MONITOR of all primaries over the same seconds, each into a file: commands and keys without values, up to a number of
//! bytes. What it costs is measured by the same figures as the load before it.

use std::io::{BufWriter, Write};
use std::time::{Duration, Instant};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::source::collection::load::{MonitorEntry, MonitorNode};
use slotscope_report::output::WholeDirectory;

use crate::connection::{Access, Connection};
use crate::crew::{self, AT_ONCE};
use crate::probe::Probe;
use crate::readings::Asked;
use crate::stripped::Stripped;
use crate::work;

/// MONITOR halves a server's throughput at worst: it never runs for longer.
pub const LONGEST: Duration = Duration::from_secs(10);
/// The most that is read from a node.
const MAX_BYTES: u64 = 64 << 20;
/// The end of a file's name.
pub(crate) const EXTENSION: &str = ".monitor.zst";

/// Runs MONITOR on all of these servers at once.
///
/// # Errors
/// A server refuses, or a file cannot be written.
pub(crate) fn capture(
    access: &Access,
    probe: &mut Probe<'_>,
    servers: &[Asked],
    during: Duration,
    directory: &WholeDirectory,
) -> Result<MonitorEntry> {
    if servers.len() > AT_ONCE {
        let what = format!(
            "runs on at most {AT_ONCE} primaries at once, and the cluster has {}; leave it out",
            servers.len()
        );
        return Err(Error::option("monitor", "", what));
    }
    let during = during.min(LONGEST);
    let before = probe.read(servers)?;
    let end = Instant::now() + during;
    let files = (0..servers.len()).map(|at| {
        (
            at,
            format!("{}{EXTENSION}", file_stem(&servers[at].name, at)),
        )
    });
    let run = |(at, file): (usize, String)| {
        let connection = Connection::open(&servers[at].address, access)?;
        of_node(connection, &servers[at].name, file, end, directory)
    };
    let mut nodes = Vec::new();
    let take = |at: usize, node| nodes.push((at, node));
    crew::each(files, run, take, || {})?;
    let after = probe.read(servers)?;
    nodes.sort_by_key(|(at, _)| *at);
    let with_cost = |(at, node): (usize, Result<MonitorNode>)| {
        let mut node = node?;
        if let (Ok(before), Ok(after)) = (&before[at], &after[at]) {
            let meanwhile = work::between(before, after);
            (node.ops_per_sec, node.cpu) = (meanwhile.ops_per_sec, meanwhile.cpu);
        }
        Ok(node)
    };
    Ok(MonitorEntry {
        secs: during.as_secs_f64(),
        nodes: nodes.into_iter().map(with_cost).collect::<Result<_>>()?,
    })
}

/// The name of a node's file: names of hosts come from servers, and lead nowhere else.
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
        // Servers may give all nodes one name.
        stem => format!("{}.{stem}", at + 1),
    }
}

/// Captures a node until `end`.
fn of_node(
    mut connection: Connection,
    name: &str,
    file: String,
    end: Instant,
    directory: &WholeDirectory,
) -> Result<MonitorNode> {
    let failed = |error| directory.failed(&file, error);
    let out = BufWriter::new(directory.file(&file)?);
    let mut out = zstd::Encoder::new(out, 1).map_err(failed)?;
    connection.call("MONITOR", &[b"MONITOR"])?;
    let (mut stripped, mut line) = (Stripped::default(), Vec::new());
    let mut node = MonitorNode {
        name: name.to_owned(),
        ..MonitorNode::default()
    };
    while let Some(bytes) = connection.line(end, &mut line)? {
        node.bytes += bytes;
        if let Some(text) = stripped.line(&line) {
            node.commands += 1;
            out.write_all(text).map_err(failed)?;
        }
        if node.bytes >= MAX_BYTES {
            node.is_cut = true;
            break;
        }
    }
    let out = out.finish().map_err(failed)?;
    out.into_inner()
        .map_err(|error| failed(error.into_error()))?;
    node.file = file;
    Ok(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_their_nodes_and_lead_nowhere_else() {
        assert_eq!(file_stem("10.0.0.1:7001", 0), "1.10.0.0.1-7001");
        assert_eq!(file_stem("../../etc/x", 1), "2.etc-x");
        assert_eq!(file_stem("::", 2), "node-3");
    }
}
