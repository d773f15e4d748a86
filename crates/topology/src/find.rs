//! Finds nodes as people name them: by hostname, address or id, or a prefix of one.

use slotscope_base::name::Name;
use slotscope_base::text::{self, list};

use crate::{Node, Topology};

/// Maximum number of names in an error.
const SHOWN: usize = 6;

/// The names of a node.
#[derive(Debug, Clone, Copy)]
pub struct Called<'a> {
    /// Its id.
    pub id: &'a str,
    /// `ip:port` or `hostname:port`.
    pub address: Option<&'a str>,
    /// Its hostname, without a port.
    pub hostname: Option<&'a str>,
}

impl Called<'_> {
    /// Its display name.
    pub(crate) fn name(&self) -> Name {
        let [address, hostname] = [self.address, self.hostname].map(|name| name.map(Name::from));
        text::node_name(&Name::from(self.id), address.as_ref(), hostname.as_ref())
    }

    /// How well `name` matches: a full name beats a full host, which beats a prefix.
    fn fit(&self, name: &str) -> Option<Fit> {
        let shown = self.name().to_string();
        let names = [
            Some(self.id),
            self.address,
            self.hostname,
            Some(shown.as_str()),
        ];
        let fit = |called: &str| match called.strip_prefix(name)?.bytes().next() {
            None => Some(Fit::Whole),
            Some(b'.' | b':') => Some(Fit::Host),
            Some(_) => Some(Fit::Start),
        };
        names.into_iter().flatten().filter_map(fit).max()
    }
}

/// How much of a node's name matches, worst to best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// A prefix.
    Start,
    /// Everything up to a dot or colon: the pod of a hostname, the host of an address.
    Host,
    /// The full name.
    Whole,
}

impl Node {
    pub(crate) fn called(&self) -> Called<'_> {
        Called {
            id: &self.id,
            address: self.address.as_deref(),
            hostname: self.hostname.as_deref(),
        }
    }

    /// Its display name: its hostname with the port, else its address, else its id, shortened.
    pub fn name(&self) -> Name {
        self.called().name()
    }
}

impl Topology {
    /// The index of the node called `name`.
    ///
    /// # Errors
    /// As for `find`.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        find(self.nodes.iter().map(Node::called), name)
    }
}

/// The index of the best match for `name` among `nodes`.
///
/// # Errors
/// No node matches, or several do; for display.
pub fn find<'n>(nodes: impl Iterator<Item = Called<'n>>, name: &str) -> Result<usize, String> {
    let nodes: Vec<Called<'_>> = nodes.collect();
    let fits: Vec<Option<Fit>> = nodes
        .iter()
        .map(|node| node.fit(name).filter(|_| !name.is_empty()))
        .collect();
    let best = fits.iter().copied().flatten().max();
    let fitting: Vec<usize> = (0..nodes.len())
        .filter(|at| best.is_some() && fits[*at] == best)
        .collect();
    let listed = |places: &mut dyn ExactSizeIterator<Item = usize>| {
        list(places.map(|at| format!("\"{}\"", nodes[at].name())), SHOWN)
    };
    match fitting.as_slice() {
        [at] => Ok(*at),
        [] => Err(format!(
            "no such node; the nodes are: {}",
            listed(&mut (0..nodes.len()))
        )),
        several => Err(format!(
            "{} nodes are called so, write more of the name: {}",
            several.len(),
            listed(&mut several.iter().copied())
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn topology() -> Topology {
        let text = b"abc1 10.0.0.1:1@2,r-1.redis.svc master - 0 0 1 connected 0-99\n\
            abd2 10.0.0.2:1@2,r-10.redis.svc master - 0 0 1 connected 100-16381\n\
            abd22 10.0.0.3:1@2 master - 0 0 1 connected 16382\n\
            0123456789abcdef0123456789abcdef01234567 :0@0 master,noaddr - 0 0 1 connected 16383\n";
        Topology::parse("nodes", text).unwrap()
    }

    #[test]
    fn a_node_is_named_by_its_hostname_address_or_id_or_the_start_of_one() {
        for (name, at) in [
            ("abc", 0),
            ("abc1", 0),
            ("10.0.0.2:1", 1),
            ("10.0.0.2", 1),
            ("abd2", 1),
            ("abd22", 2),
            ("r-1.redis.svc:1", 0),
            ("r-1.redis.svc", 0),
            ("r-1", 0),
            ("r-10", 1),
            ("r-10.redis.svc:", 1),
            ("0123", 3),
        ] {
            assert_eq!(topology().find(name), Ok(at), "{name}");
        }
    }

    #[test]
    fn an_error_lists_names_and_no_whole_id() {
        let several = "2 nodes are called so, write more of the name: \"r-1.redis.svc:1\", \"r-10.redis.svc:1\"";
        assert_eq!(topology().find("r-"), Err(several.into()));
        let all = r#""r-1.redis.svc:1", "r-10.redis.svc:1", "10.0.0.3:1", "01234567""#;
        for name in ["", "x", "10.0.0.9", "abc12", "0.0.0"] {
            let none = format!("no such node; the nodes are: {all}");
            assert_eq!(topology().find(name), Err(none), "{name}");
        }
        let many = Topology::even(9, String::new()).unwrap();
        assert!(
            many.find("x")
                .unwrap_err()
                .ends_with("\"even-5\", \"even-6\" and 3 more")
        );
    }

    #[test]
    fn two_nodes_of_one_host_are_named_with_their_ports() {
        let text = b"a 127.0.0.1:1@2,host master - 0 0 1 connected 0-99\n\
            b 127.0.0.1:2@3,host master - 0 0 1 connected 100\n";
        let topology = Topology::parse("nodes", text).unwrap();
        assert_eq!(topology.find("host:2"), Ok(1));
        assert!(
            topology
                .find("host")
                .unwrap_err()
                .ends_with(": \"host:1\", \"host:2\"")
        );
    }
}
