//! The node that a file is named after: `127.0.0.1-7001.monitor`, `7001/appendonlydir/appendonly.aof.1.incr.aof`.

use std::path::Path;

use crate::{Node, Topology};

/// How many path components are checked: the file and its parent directories.
const NAMES: usize = 4;
/// Characters of an id that identify a node.
const SHORT_ID: usize = 8;
/// Shorter names and ports occur in too many paths.
const LEAST: usize = 2;
const LEAST_OF_PORT: usize = 4;

impl Topology {
    /// The node that a file, or a directory near it, is named after; `None` if there is none or several.
    pub fn of_path(&self, path: &Path) -> Option<usize> {
        let whole = path.to_string_lossy();
        let is_whole = |node: &Node| node.id == whole;
        if let Some(node) = self.nodes.iter().position(is_whole) {
            return Some(node);
        }
        let names: Vec<Vec<String>> = self.nodes.iter().map(names).collect();
        let components = path.components().rev().take(NAMES);
        let mut parts = components.map(|part| plain(&part.as_os_str().to_string_lossy()));
        parts.find_map(|part| {
            let fit = |names: &Vec<String>| {
                let fitting = names.iter().filter(|name| has_word(&part, name));
                fitting.map(String::len).max()
            };
            let fits: Vec<Option<usize>> = names.iter().map(fit).collect();
            let most = fits.iter().max().copied().flatten()?;
            let mut best = (0..fits.len()).filter(|at| fits[*at] == Some(most));
            best.next().filter(|_| best.next().is_none())
        })
    }
}

/// The names that a node's file may have.
fn names(node: &Node) -> Vec<String> {
    let mut names = vec![plain(&node.id)];
    if let Some(start) = node.id.get(..SHORT_ID) {
        names.push(plain(start));
    }
    let host = |address: &str| address.rsplit_once(':').map(|(host, _)| plain(host));
    let address = node.address.as_deref();
    let port = address.and_then(|address| address.rsplit_once(':'));
    if let Some((_, port)) = port.filter(|(_, port)| port.len() >= LEAST_OF_PORT) {
        names.push(plain(port));
        let hostname = node.hostname.as_deref();
        names.extend(hostname.map(|hostname| plain(&format!("{hostname}:{port}"))));
    }
    if let Some(address) = address {
        names.push(plain(address));
        names.extend(host(address));
    }
    if let Some(hostname) = &node.hostname {
        names.push(plain(hostname));
        names.extend(hostname.split('.').next().map(plain));
    }
    names.retain(|name| name.len() >= LEAST);
    names
}

/// A name with everything but letters and digits unified: `10.0.0.1:7001` becomes `10.0.0.1-7001` in a file name.
fn plain(name: &str) -> String {
    let plain = |c: char| {
        if c.is_alphanumeric() {
            c.to_ascii_lowercase()
        } else {
            '-'
        }
    };
    name.trim_matches(['[', ']']).chars().map(plain).collect()
}

/// Whether `text` contains `name` as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let ends = [
            text[..at].chars().next_back(),
            text[at + name.len()..].chars().next(),
        ];
        ends.iter()
            .all(|end| end.is_none_or(|c| !c.is_alphanumeric()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology() -> Topology {
        let text = b"0123456789abcdef0123456789abcdef01234567 127.0.0.1:7001@2,r-1.redis.svc master - 0 0 1 connected 0-99\n\
            1123456789abcdef0123456789abcdef01234567 127.0.0.1:7002@2,r-10.redis.svc master - 0 0 1 connected 100-16381\n\
            2123456789abcdef0123456789abcdef01234567 10.0.0.3:6379@2 master - 0 0 1 connected 16382-16383\n";
        Topology::parse("nodes", text).unwrap()
    }

    #[test]
    fn a_file_is_named_after_the_port_the_address_the_host_or_the_id_of_its_node() {
        for (path, node) in [
            ("7001.monitor", Some(0)),
            ("mon/127.0.0.1-7002.txt", Some(1)),
            ("127.0.0.1_7002.monitor.gz", Some(1)),
            ("10.0.0.3.log", Some(2)),
            ("r-1.monitor", Some(0)),
            ("r-10.redis.svc:7002.monitor", Some(1)),
            ("monitor-R-10.txt", Some(1)),
            ("01234567.monitor", Some(0)),
            (
                "/data/7002/appendonlydir/appendonly.aof.1.incr.aof",
                Some(1),
            ),
            ("7001/monitor-7002.txt", Some(1)),
            ("127.0.0.1.monitor", None),
            ("7001-7002.monitor", None),
            ("17001.monitor", None),
            ("monitor.txt", None),
            ("", None),
        ] {
            assert_eq!(topology().of_path(Path::new(path)), node, "{path}");
        }
    }

    #[test]
    fn nodes_that_are_named_after_files_are_found_by_these() {
        let names = ["a/1.rdb", "b/1.rdb"].map(String::from);
        let owner = vec![Some(0); slotscope_base::slot::SLOTS];
        let topology = crate::of_names::of_names("files".into(), &names, &owner);
        let at = topology.nodes.iter().position(|node| node.id == "b/1.rdb");
        assert_eq!(topology.of_path(Path::new("b/1.rdb")), at);
    }
}
