//! Slot owners, shared by all commands that name nodes.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::format;
use slotscope_engine::format::Head;
use slotscope_engine::source::collection::manifest::NODES_FILE;
use slotscope_topology::Topology;

#[cfg(feature = "cli")]
use crate::options::headings::CLUSTER;
use crate::options::is_default;
use crate::pipeline::Analysis;

/// Where the nodes come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = CLUSTER))]
#[serde(default, deny_unknown_fields)]
pub struct NodeSpec {
    /// The cluster's own listing: CLUSTER NODES
    ///
    /// Also nodes.conf, CLUSTER SHARDS or CLUSTER SLOTS as JSON, or a directory of collect.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "FILE", conflicts_with = "nodes")
    )]
    #[serde(skip_serializing_if = "is_default")]
    pub topology: Option<PathBuf>,
    /// An even split of the slots over N primaries
    ///
    /// [default: each input is a node, where they share no slot; else 3 nodes]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
    #[serde(skip_serializing_if = "is_default")]
    pub nodes: Option<usize>,
}

/// The nodes, where keys are counted for a later report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = CLUSTER))]
pub struct ListingSpec {
    /// The cluster's own listing: CLUSTER NODES, as for analyze
    ///
    /// Replicas are left out, and analyze takes the nodes from the tally file.
    #[cfg_attr(feature = "cli", arg(long, value_name = "FILE"))]
    pub topology: Option<PathBuf>,
}

/// A node listing as printed by the cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// Its file.
    pub source: String,
    /// Its content.
    pub text: String,
}

impl Listing {
    /// Reads a listing.
    ///
    /// # Errors
    /// As `Topology::read`.
    pub fn read(path: &Path) -> Result<Listing> {
        let (source, bytes) = Topology::listing(path)?;
        Listing::of(source, &bytes)
    }

    /// A listing with this content.
    ///
    /// # Errors
    /// As `Topology::parse`.
    pub fn of(source: String, bytes: &[u8]) -> Result<Listing> {
        Topology::parse(&source, bytes)?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        Ok(Listing { source, text })
    }

    /// The nodes that it lists.
    ///
    /// # Errors
    /// As `Topology::parse`.
    pub fn topology(&self) -> Result<Topology> {
        Topology::parse(&self.source, self.text.as_bytes())
    }
}

impl ListingSpec {
    /// The listing.
    ///
    /// # Errors
    /// As `Topology::read`.
    pub fn listing(&self) -> Result<Option<Listing>> {
        let listing = |path: &PathBuf| read(path, Listing::read);
        self.topology.as_ref().map(listing).transpose()
    }
}

impl NodeSpec {
    /// The topology named by the flags; by default three equal nodes, marked as assumed.
    ///
    /// # Errors
    /// A listing cannot be read, or the number of nodes is impossible.
    pub fn topology(&self) -> Result<Topology> {
        match self.named()? {
            Some(topology) => Ok(topology),
            None => Topology::assumed(),
        }
    }

    /// Whether the flags name any nodes.
    pub fn is_named(&self) -> bool {
        self.topology.is_some() || self.nodes.is_some()
    }

    /// An analysis for the nodes named by the flags, which are `topology`.
    pub fn analysis(&self, topology: &Topology) -> Analysis {
        match (&self.topology, self.nodes) {
            (Some(_), _) => Analysis::new().topology(topology.clone()),
            (None, Some(nodes)) => Analysis::new().nodes(nodes),
            (None, None) => Analysis::new(),
        }
    }

    /// The topology named by the flags, if any.
    ///
    /// # Errors
    /// As for `topology`.
    pub fn named(&self) -> Result<Option<Topology>> {
        match (&self.topology, self.nodes) {
            (Some(path), _) => read(path, Topology::read).map(Some),
            (None, Some(nodes)) => Topology::even(nodes, format!("even {nodes}")).map(Some),
            (None, None) => Ok(None),
        }
    }
}

/// The result of `reader` on a listing, or on the one in a collect directory.
fn read<T>(path: &Path, reader: impl Fn(&Path) -> Result<T>) -> Result<T> {
    if path.is_dir() {
        reader(&path.join(NODES_FILE))
    } else {
        reader(path).map_err(|error| hinted(error, path))
    }
}

/// The error for a file that is not a listing; if it has keys, says where to pass those.
fn hinted(error: Error, path: &Path) -> Error {
    match error {
        Error::Bad { .. } if path.is_file() && holds_keys(path) => {
            let reason = "looks like a key dump, and is no topology. Keys are the INPUT: slotscope analyze DUMP --topology FILE. \
                A topology is CLUSTER NODES, a nodes.conf, or CLUSTER SHARDS or CLUSTER SLOTS by redis-cli --json; make \
                one with: redis-cli -h HOST -p PORT CLUSTER NODES > FILE";
            Error::bad_file(path, reason)
        }
        error => error,
    }
}

fn holds_keys(path: &Path) -> bool {
    Topology::listing(path).is_ok_and(|(_, bytes)| {
        let head = Head {
            bytes: &bytes,
            whole: true,
        };
        // CLUSTER SLOTS without --json starts with a slot, address lists contain nodes, and other listings contain
        // blanks.
        let first = bytes
            .split(|byte| *byte == b'\n')
            .next()
            .unwrap_or_default();
        let is_slot = first.iter().all(u8::is_ascii_digit);
        let is_address =
            str::from_utf8(first).is_ok_and(|first| first.parse::<SocketAddr>().is_ok());
        let is_key = !is_slot && !is_address && !first.contains(&b' ');
        is_key && format::recognise(head).is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_dump_in_place_of_a_listing_is_an_input() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let error = |content: &[u8]| {
            std::fs::write(&file, content).unwrap();
            let topology = Some(file.clone());
            let args = NodeSpec {
                topology,
                nodes: None,
            };
            args.named().unwrap_err().to_string()
        };
        for keys in [
            &b"{u}:1\nuser:2\n"[..],
            b"user:2\n{u}:1\n",
            b"\"user:1\"\n\"user:2\"\n",
            b"[\"user:1\",\"user:2\"]\n",
            b"key,size\nuser:1,10\n",
            b"REDIS0011\xFE\0\0\x01a\x01b\xFF",
        ] {
            let error = error(keys);
            let is_hint = error.contains("Keys are the INPUT");
            assert!(is_hint && error.contains("CLUSTER NODES > FILE"), "{error}");
        }
        for other in [
            &b""[..],
            b"what is this\n",
            b"0\n5460\n127.0.0.1\n7000\naaa\n\n",
            b"127.0.0.1:7000\n127.0.0.1:7001\n",
            b"{\"a\":1}\n",
            b"07c3 127.0.0.1:7000@17000 master - 0 0 1 connected 0-20000\n",
        ] {
            let error = error(other);
            assert!(!error.contains("INPUT"), "{error}");
        }
    }
}
