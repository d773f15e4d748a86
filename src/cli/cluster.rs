//! Flags that say which node owns which slot, shared by all commands that name nodes.

use std::path::PathBuf;

use clap::Args;

use crate::analysis::Analysis;
use crate::cli::headings::CLUSTER;
use crate::collect::manifest::NODES_FILE;
use crate::error::Result;
use crate::partial::Listing;
use crate::topology::Topology;

/// Where the nodes come from.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = CLUSTER)]
pub struct ClusterArgs {
    /// The cluster's own listing: CLUSTER NODES
    ///
    /// Also nodes.conf, or CLUSTER SHARDS or CLUSTER SLOTS as JSON, or a directory of collect, which needs no flag where it
    /// is the input.
    #[arg(long, value_name = "FILE", conflicts_with = "nodes")]
    pub topology: Option<PathBuf>,
    /// An even split of the slots over N primaries
    ///
    /// [default: each input is a node, where they share no slot; else 3 nodes]
    #[arg(long, value_name = "N")]
    pub nodes: Option<usize>,
}

/// The nodes, where keys are counted for a later report.
#[derive(Args, Debug, Clone, Default)]
#[command(next_help_heading = CLUSTER)]
pub struct ListingArgs {
    /// The cluster's own listing: CLUSTER NODES, as for analyze
    ///
    /// Replicas are left out, and the nodes of files are checked. analyze then takes the nodes from the tally file.
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
}

impl ListingArgs {
    /// The listing.
    ///
    /// # Errors
    /// As `Topology::read`.
    pub fn listing(&self) -> Result<Option<Listing>> {
        let of = |path: &PathBuf| match path.is_dir() {
            true => Listing::read(&path.join(NODES_FILE)),
            false => Listing::read(path),
        };
        self.topology.as_ref().map(of).transpose()
    }
}

impl ClusterArgs {
    /// The topology that the flags name; three equal nodes, said to be assumed, where they name none.
    ///
    /// # Errors
    /// A listing that cannot be read, or an impossible number of nodes.
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

    /// An analysis for the nodes that the flags name, which are `topology`.
    pub fn analysis(&self, topology: &Topology) -> Analysis {
        match (&self.topology, self.nodes) {
            (Some(_), _) => Analysis::new().topology(topology.clone()),
            (None, Some(nodes)) => Analysis::new().nodes(nodes),
            (None, None) => Analysis::new(),
        }
    }

    /// The topology that the flags name, if they name one.
    ///
    /// # Errors
    /// As `topology`.
    pub fn named(&self) -> Result<Option<Topology>> {
        match (&self.topology, self.nodes) {
            (Some(path), _) if path.is_dir() => Topology::read(&path.join(NODES_FILE)).map(Some),
            (Some(path), _) => Topology::read(path).map(Some),
            (None, Some(nodes)) => Topology::even(nodes, format!("even {nodes}")).map(Some),
            (None, None) => Ok(None),
        }
    }
}
