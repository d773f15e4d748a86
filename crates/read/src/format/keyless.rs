//! Commands that are in no slot, as they have no key that is known: PUBLISH, KEYS, CLUSTER SLOTS, scripts. They are the work of
//! the node that ran them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;

/// More names than this are not told apart; then there are none, whatever the order in which parts were merged.
const MOST: usize = 1000;
/// The longest name that is kept.
const LONGEST: usize = 64;

/// Commands without keys, by name and by client.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Keyless {
    /// How many.
    pub count: u64,
    /// By name in lower case; one that no server has is empty.
    pub commands: Names,
    /// By the address that they came from, without its port, where the capture has it.
    pub clients: Names,
    /// The first and the last time, in milliseconds since 1970, where the capture has them.
    pub times: Option<(u64, u64)>,
}

/// Counts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Names {
    counts: BTreeMap<Name, u64>,
    are_many: bool,
}

impl Keyless {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Keyless::default()
    }

    /// Adds a command, at this time.
    pub(crate) fn add(&mut self, command: &[u8], client: Option<&[u8]>, time_ms: Option<u64>) {
        self.count += 1;
        self.span(time_ms.map(|time| (time, time)));
        self.commands.add(command, 1);
        if let Some(client) = client {
            self.clients.add(client, 1);
        }
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: Keyless) {
        self.count = self.count.saturating_add(other.count);
        self.commands.merge(other.commands);
        self.clients.merge(other.clients);
        self.span(other.times);
    }

    fn span(&mut self, times: Option<(u64, u64)>) {
        let both = self.times.into_iter().chain(times);
        self.times = both.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)));
    }
}

impl Names {
    fn add(&mut self, name: &[u8], count: u64) {
        if self.are_many || name.len() > LONGEST {
            return;
        }
        match self.counts.get_mut(name) {
            Some(known) => *known = known.saturating_add(count),
            None => drop(self.counts.insert(Name::from(name), count)),
        }
        if self.counts.len() > MOST {
            *self = Names {
                are_many: true,
                ..Names::default()
            };
        }
    }

    fn merge(&mut self, other: Names) {
        if other.are_many {
            *self = other;
            return;
        }
        for (name, count) in other.counts {
            self.add(&name.0, count);
        }
    }

    /// The names and their counts.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, u64)> {
        self.counts.iter().map(|(name, count)| (name, *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_names_are_none_in_any_order_of_merging() {
        let of = |numbers: std::ops::Range<usize>| {
            let mut names = Names::default();
            numbers.for_each(|number| names.add(number.to_string().as_bytes(), 1));
            names
        };
        let [mut few, mut many] = [of(0..MOST), of(0..MOST + 1)];
        assert_eq!((few.iter().count(), many.iter().count()), (MOST, 0));
        few.merge(of(MOST..MOST + 1));
        many.merge(of(0..1));
        assert_eq!(few, many);
    }
}
