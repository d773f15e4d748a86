//! Slot owners, shared by all commands that name nodes.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use slotscope_base::error::Result;
use slotscope_read::source::collection::manifest::NODES_FILE;
use slotscope_read::source::listed::in_directory;
use slotscope_topology::Topology;

#[cfg(feature = "cli")]
use crate::options::headings::CLUSTER;
use crate::options::members::displayed;
use crate::pipeline::Analysis;

/// Where the nodes come from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(serialize_with = "displayed")]
    pub topology: Option<PathBuf>,
    /// An even split of the slots over N primaries
    ///
    /// [default: each input is a node, where they share no slot; else 3 nodes]
    #[cfg_attr(feature = "cli", arg(long, value_name = "N"))]
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
        reader(&in_directory(path, NODES_FILE)?)
    } else {
        reader(path)
    }
}
