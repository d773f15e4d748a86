//! How near each node is to its limits: memory to `maxmemory`, load to one CPU core. An evicting cache is full by
//! design.

use crate::limit;
use crate::state::Role;

/// The fraction of its limits that each node uses, by node index.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Headroom {
    /// Memory, as a fraction of the limit.
    pub memory: Vec<Option<f64>>,
    /// Load, as a fraction of one CPU core.
    pub load: Vec<Option<f64>>,
    /// Whether all nodes are at their memory limit and evict.
    pub is_capped: bool,
    /// Memory limit per node, if known and the node does not evict.
    pub limits: Vec<Option<MemoryLimit>>,
}

/// The limit of a node's memory. Its use is a constant, a part of the bytes of its keys, and an entry for each key in
/// hash tables: those of keys and of their TTLs, which MEMORY USAGE does not count. What a key takes moves with it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryLimit {
    /// The limit.
    pub maxmemory: f64,
    /// Memory used beside keys.
    pub constant: f64,
    /// Memory that a byte of keys takes.
    pub of_keys: f64,
    /// Memory that a key takes in hash tables.
    pub entry: f64,
}

impl MemoryLimit {
    /// The memory that keys of this node take.
    pub fn taken(&self, bytes: f64, keys: f64) -> f64 {
        self.of_keys * bytes + self.entry * keys
    }

    /// The part of the limit that is used where the keys take this much.
    pub fn part(&self, taken: f64) -> f64 {
        (self.constant + taken) / self.maxmemory
    }

    /// The memory that keys take where this part is used.
    pub fn taken_at(&self, part: f64) -> f64 {
        part * self.maxmemory - self.constant
    }
}

impl Headroom {
    /// The fraction of its limit that each node uses in a role.
    pub fn of(&self, role: Option<Role>) -> &[Option<f64>] {
        match role {
            Some(Role::Memory) => &self.memory,
            Some(Role::Load) => &self.load,
            None => &[],
        }
    }

    /// The limit of memory of a node.
    pub fn limit_of(&self, at: usize) -> Option<&MemoryLimit> {
        // An added node has no more room than the existing ones.
        let least = || {
            let known = self.limits.iter().flatten();
            known.min_by(|a, b| a.maxmemory.total_cmp(&b.maxmemory))
        };
        self.limits.get(at).map_or_else(least, Option::as_ref)
    }

    /// The memory that each slot takes of the node that owns it; `None` where no node has a limit.
    pub fn taken(&self, owner: &[Option<usize>], bytes: &[u64], keys: &[u64]) -> Option<Vec<u64>> {
        // Nodes without a limit count as the one whose keys take most in tables.
        let known = self.limits.iter().flatten();
        let usual = known.max_by(|a, b| a.entry.total_cmp(&b.entry))?;
        let slots = owner.iter().zip(bytes.iter().zip(keys));
        let taken = slots.map(|(owner, (bytes, keys))| {
            let limit = owner.and_then(|node| self.limits.get(node)?.as_ref());
            let memory = limit.unwrap_or(usual).taken(*bytes as f64, *keys as f64);
            memory.round() as u64
        });
        Some(taken.collect())
    }

    /// The same with another limit of a node, or of all.
    pub fn with_limit(&self, node: Option<usize>, maxmemory: f64) -> Self {
        let mut raised = self.clone();
        let limits = raised.limits.iter_mut().zip(&mut raised.memory).enumerate();
        let changed = limits.filter(|(at, _)| node.is_none_or(|node| node == *at));
        for (limit, part) in changed.filter_map(|(_, (limit, part))| Some((limit.as_mut()?, part)))
        {
            *part = part.map(|part| part * limit.maxmemory / maxmemory);
            limit.maxmemory = maxmemory;
        }
        raised
    }

    /// The role that comes first: load, unless a node is near its limit of memory.
    pub fn first_role(&self) -> Role {
        let is_close = self
            .memory
            .iter()
            .flatten()
            .any(|part| *part >= limit::CLOSE);
        if is_close { Role::Memory } else { Role::Load }
    }
}
