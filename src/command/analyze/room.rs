//! Flags that say how much memory nodes have and use.

use clap::Args;

use crate::error::{Error, Result};
use crate::name::Name;
use crate::summary::Summary;
use crate::summary::capacity::{Capacity, Room};
use crate::topology::Topology;

/// How much room nodes have.
#[derive(Args, Debug, Clone, Default)]
pub struct RoomFlags {
    /// The memory limit of each node, as in redis.conf: 4gb, 512mb
    #[arg(long, value_name = "SIZE")]
    pub maxmemory: Option<String>,
    /// How much the data grows in a month, in percent
    #[arg(long, value_name = "PERCENT", requires = "maxmemory")]
    pub growth: Option<f64>,
    /// The memory that a node really uses, by the start of its id or by its address; may be repeated
    #[arg(long, value_name = "ID=SIZE", requires = "maxmemory")]
    pub used_memory: Vec<String>,
}

impl RoomFlags {
    /// What the flags say; `None` where they say nothing.
    ///
    /// # Errors
    /// A flag that cannot be read, or a node that is not there.
    pub fn room(&self, topology: &Topology) -> Result<Option<Room>> {
        let Some(maxmemory) = &self.maxmemory else { return Ok(None) };
        let size = |flag: &str, text: &str| {
            size(text).ok_or_else(|| {
                Error::bad(
                    format!("{flag} {}", Name::from(text)),
                    "no size; write bytes, or 512mb, 4gb as in redis.conf",
                )
            })
        };
        let growth = self.growth.map(|percent| percent / 100.0);
        if growth.is_some_and(|growth| !growth.is_finite() || growth < 0.0) {
            return Err(Error::bad("--growth", "must be 0 or more, in percent a month"));
        }
        let mut used = Vec::new();
        for text in &self.used_memory {
            let bad = |what: &str| Error::bad(format!("--used-memory {}", Name::from(text.as_str())), what);
            let (id, amount) = text.split_once('=').ok_or_else(|| bad("write it as ID=SIZE"))?;
            let is = |node: &crate::topology::Node| node.id.starts_with(id) || node.address.as_deref() == Some(id);
            let mut nodes = topology.nodes.iter().enumerate().filter(|(_, node)| !id.is_empty() && is(node));
            let (index, _) = nodes.next().ok_or_else(|| bad("no node has this id or address"))?;
            if nodes.next().is_some() {
                return Err(bad("several nodes have an id that begins so"));
            }
            used.push((index, size("--used-memory", amount)?));
        }
        Ok(Some(Room { maxmemory: size("--maxmemory", maxmemory)?, growth, used }))
    }
}

/// The capacity part of a report.
///
/// # Errors
/// Neither the dump nor the flags tell what nodes use.
pub fn capacity(summary: &Summary, room: &Room) -> Result<Capacity> {
    Capacity::of(&summary.nodes, summary.units.per.bytes.as_ref(), room).ok_or_else(|| {
        let what = "the input tells no sizes, so what nodes use is not known; give a dump with sizes, or --used-memory ID=SIZE for every node";
        Error::bad("--maxmemory", what)
    })
}

/// A size as redis.conf has it: k, m and g count in thousands, kb, mb and gb in 1024s.
pub fn size(text: &str) -> Option<u64> {
    const UNITS: [(&str, u64); 8] = [
        ("kb", 1 << 10),
        ("mb", 1 << 20),
        ("gb", 1 << 30),
        ("tb", 1 << 40),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
        ("b", 1),
    ];
    let text = text.trim().to_ascii_lowercase();
    let (digits, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let factor = if unit.is_empty() { 1 } else { UNITS.iter().find(|(name, _)| *name == unit)?.1 };
    digits.parse::<u64>().ok()?.checked_mul(factor).filter(|size| *size > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_redis_conf() {
        for (text, bytes) in [("1024", 1024), ("1k", 1000), ("1KB", 1024), ("5mb", 5 << 20), ("2g", 2_000_000_000)] {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        for text in ["", "0", "gb", "1.5gb", "-1", "1x", "99999999999999999999", "99999999tb"] {
            assert_eq!(size(text), None, "{text}");
        }
    }

    #[test]
    fn a_node_is_named_by_the_start_of_its_id_or_its_address() {
        let text =
            b"abc1 10.0.0.1:1@2 master - 0 0 1 connected 0-99\nabd2 10.0.0.2:1@2 master - 0 0 1 connected 100-16383\n";
        let topology = Topology::parse("nodes", text).unwrap();
        let room = |used: &str| {
            let flags = RoomFlags { maxmemory: Some("1gb".into()), growth: None, used_memory: vec![used.into()] };
            flags.room(&topology).map(|room| room.unwrap().used).map_err(|error| error.to_string())
        };
        assert_eq!(room("abc=1k"), Ok(vec![(0, 1000)]));
        assert_eq!(room("10.0.0.2:1=7"), Ok(vec![(1, 7)]));
        assert!(room("ab=1").unwrap_err().contains("several"));
        assert!(room("x=1").unwrap_err().contains("no node"));
        assert!(room("=1").is_err() && room("abc").is_err() && room("abc=x").is_err());
    }
}
