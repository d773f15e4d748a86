//! Flags that say how much memory nodes have and use.

use clap::Args;
use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_model::capacity::Room;
use slotscope_topology::Topology;

use crate::cli::values::{self, memory_size};
use crate::options::headings::LIMITS;

/// How much room nodes have.
#[derive(Args, Debug, Clone, Default, PartialEq, Serialize)]
#[command(next_help_heading = LIMITS)]
pub struct CapacityArgs {
    /// The memory limit of a node, as in redis.conf: 4gb
    #[arg(long, value_name = "SIZE")]
    pub maxmemory: Option<String>,
    /// Growth of the data in percent per month: 8, 8%
    #[arg(long, value_name = "PERCENT", hide_short_help = true, requires = "maxmemory", value_parser = values::percent)]
    pub growth: Option<f64>,
    /// Memory that a node really uses; the node by hostname, address or id, or the start of one; may be repeated
    #[arg(
        long,
        value_name = "ID=SIZE",
        hide_short_help = true,
        requires = "maxmemory"
    )]
    pub used_memory: Vec<String>,
}

impl CapacityArgs {
    /// The limits set by the flags; `None` without flags, when the servers' own limits apply.
    ///
    /// # Errors
    /// A flag cannot be parsed, or names an unknown node.
    pub fn room(&self, topology: &Topology) -> Result<Option<Room>> {
        if self.maxmemory.is_none() && self.growth.is_none() && self.used_memory.is_empty() {
            return Ok(None);
        }
        let maxmemory = self.maxmemory.as_ref();
        let growth = self.growth.map(|percent| percent / 100.0);
        if growth.is_some_and(|growth| !growth.is_finite() || growth < 0.0) {
            return Err(Error::option(
                "growth",
                "",
                "must be 0 or more, in percent a month",
            ));
        }
        let mut used = Vec::new();
        for text in &self.used_memory {
            let bad = |hint: &str| Error::option("used-memory", Name::from(text.as_str()), hint);
            let (id, amount) = text
                .split_once('=')
                .ok_or_else(|| bad("write it as ID=SIZE"))?;
            let index = topology.find(id).map_err(|reason| bad(&reason))?;
            used.push((index, memory_size("--used-memory", amount)?));
        }
        Ok(Some(Room {
            maxmemory: maxmemory
                .map(|size| memory_size("--maxmemory", size))
                .transpose()?,
            growth,
            used,
        }))
    }
}
