//! What a plan is made for: loads and owners by slot, capacities by node, and what may not move.

/// What is to be planned. Nodes are indices; slots without an owner stay without one.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem<'a> {
    /// The load of each slot, in any one unit; the sum is below 2^62.
    pub loads: &'a [u64],
    /// Other loads of the slots, to be evened out too as far as that of `loads` lets them.
    pub others: Vec<&'a [u64]>,
    /// The bytes in each slot, where they are known: what `MoveLimits::bytes` counts.
    pub bytes: Option<&'a [u64]>,
    /// The node that owns each slot.
    pub owner: Vec<Option<usize>>,
    /// The relative capacity of each node; 0: it is to be emptied. Some node has more than 0.
    pub capacity: Vec<f64>,
    /// Slots that stay where they are.
    pub fixed: Vec<bool>,
    /// How much may move.
    pub limits: MoveLimits,
    /// How far above its fair share a node may be, or above the floor where that is beyond; 0.01 for 1 %.
    pub tolerance: f64,
}

/// How much may move at most.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct MoveLimits {
    /// Slots.
    pub slots: Option<u64>,
    /// Bytes.
    pub bytes: Option<u64>,
}

impl<'a> Problem<'a> {
    /// The same for another load of the slots.
    pub fn by<'b>(&self, loads: &'b [u64]) -> Problem<'b>
    where
        'a: 'b,
    {
        Problem {
            loads,
            others: Vec::new(),
            owner: self.owner.clone(),
            capacity: self.capacity.clone(),
            fixed: self.fixed.clone(),
            ..*self
        }
    }

    /// W, the load of all slots that have an owner.
    pub fn total(&self) -> u64 {
        self.owner
            .iter()
            .zip(self.loads)
            .filter(|(owner, _)| owner.is_some())
            .map(|(_, load)| load)
            .sum()
    }

    /// The fair share of each node: W by capacity.
    pub fn fair(&self) -> Vec<f64> {
        let (total, capacity) = (self.total() as f64, self.capacity.iter().sum::<f64>());
        self.capacity
            .iter()
            .map(|of| total * of / capacity)
            .collect()
    }

    /// The load of each node under `owner`.
    pub fn loads_under(&self, owner: &[Option<usize>]) -> Vec<u64> {
        let mut sums = vec![0; self.capacity.len()];
        for (owner, load) in owner.iter().zip(self.loads) {
            owner.iter().for_each(|node| sums[*node] += load);
        }
        sums
    }
}
