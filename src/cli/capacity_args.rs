//! Flags that say how much memory nodes have and use.

use clap::Args;
use serde::Serialize;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;
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
    pub(crate) fn room(&self, topology: &Topology) -> Result<Option<Room>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_named_by_the_start_of_its_id_or_its_address() {
        let text =
            b"abc1 10.0.0.1:1@2 master - 0 0 1 connected 0-99\nabd2 10.0.0.2:1@2 master - 0 0 1 connected 100-16383\n";
        let topology = Topology::parse("nodes", text).unwrap();
        let room = |used: &str| {
            let flags = CapacityArgs {
                maxmemory: Some("1gb".into()),
                growth: None,
                used_memory: vec![used.into()],
            };
            flags
                .room(&topology)
                .map(|room| room.unwrap().used)
                .map_err(|error| error.to_string())
        };
        assert_eq!(room("abc=1k"), Ok(vec![(0, 1000)]));
        assert_eq!(room("10.0.0.2:1=7kb"), Ok(vec![(1, 7 << 10)]));
        assert!(room("abc=4").unwrap_err().contains("4 bytes? write 4gb"));
        assert!(room("ab=1").unwrap_err().contains("2 nodes are called so"));
        assert!(room("x=1").unwrap_err().contains("no such node"));
        assert!(room("=1").is_err() && room("abc").is_err() && room("abc=x").is_err());
    }
}
