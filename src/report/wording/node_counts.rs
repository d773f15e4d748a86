//! The verdict on the number of keys that each node reports, in one sentence.

use crate::report::wording::InWords;
use crate::summary::cause::{State, limit};
use crate::summary::node_counts::CountedFinding;
use crate::text::grouped;

impl InWords for CountedFinding {
    fn in_words(&self) -> String {
        let Some(fullest) = &self.fullest else {
            return "no node says that it holds keys, so there is nothing to judge".into();
        };
        let m = fullest.max_over_mean;
        let holds = format!(
            "node {} holds {m:.3} times its fair share, the emptiest {:.3}",
            fullest.node, fullest.min_over_mean
        );
        let keys = grouped(self.keys as u64);
        match self.state {
            State::Watch | State::Skewed if fullest.is_by_slots() => format!(
                "{holds}; it owns {} slots where an equal share is {}: redis-cli --cluster rebalance evens out their numbers",
                grouped(u64::from(fullest.slots)),
                grouped((f64::from(fullest.slots) / (1.0 + fullest.placement)).round() as u64)
            ),
            State::Balanced if m <= limit::BALANCED => format!("{holds}: nothing to do"),
            State::Balanced => format!("{holds}, which is chance for {keys} keys: nothing to do"),
            _ => {
                let chance = fullest.by_chance - 1.0;
                let chance = if chance >= 0.0005 {
                    format!("{chance:.3}")
                } else {
                    format!("{chance:.5}")
                };
                let like = self.n_eff.map_or(String::new(), |n_eff| {
                    format!(
                        ": {keys} keys are as uneven as {} independent ones would be",
                        rounded(n_eff)
                    )
                });
                format!(
                    "{holds}, where chance would allow {chance} above{like}; hash tags that bind many keys, keys left on nodes that no longer own their slots, and unequal eviction or expiry all fit, and counts of {} nodes cannot tell which: dump the keys to see",
                    self.nodes
                )
            }
        }
    }
}

/// Rounded to two digits: an estimate from a few nodes is not more precise.
fn rounded(value: f64) -> String {
    let unit = 10f64.powf(value.max(1.0).log10().floor() - 1.0).max(1.0);
    format!("about {}", grouped(((value / unit).round() * unit) as u64))
}

#[cfg(test)]
mod tests {
    use crate::name::Name;
    use crate::summary::node_counts::NodeCounts;
    use crate::topology::cluster_info::NodeKeys;

    fn sentence(keys: &[u64]) -> String {
        let node = |(i, keys): (usize, &u64)| NodeKeys {
            address: format!("10.0.0.{}:6379", i + 1),
            id_start: format!("{i:08x}"),
            keys: *keys,
            slots: 1638,
        };
        let nodes: Vec<_> = keys.iter().enumerate().map(node).collect();
        NodeCounts::of(Name::from("info"), &nodes)
            .verdict
            .sentence
            .to_string()
    }

    #[test]
    fn uneven_counts_of_nodes_name_the_nodes_and_every_possible_cause() {
        let mut keys = [153_823_254; 10];
        (keys[3], keys[7]) = (170_568_518, 142_747_398);
        let sentence = sentence(&keys);
        for part in [
            "10.0.0.4:6379 holds 1.105",
            "emptiest 0.925",
            "independent",
            "hash tags",
            "left on",
            "evict",
            "dump",
        ] {
            assert!(sentence.contains(part), "{part} in {sentence}");
        }
    }

    #[test]
    fn few_keys_are_explained_by_chance() {
        assert!(sentence(&[100, 120, 95]).contains("chance"));
    }
}
