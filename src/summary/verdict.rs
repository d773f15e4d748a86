//! Is it skew, and what kind: the excess of the fullest node, split exactly, and the first row of the table below
//! that fits.
//!
//! For a node with p = its slots / all owned slots and the load W of all n nodes (heavy units: at least 5 % of W / n):
//! ```text
//! load - W/n = (p - 1/n) W                                    placement: it owns more slots
//!            + sum(w, heavy on the node) - p sum(w, all heavy)  heavy tags that landed here, one line each
//!            + the rest                                       chance
//! ```
//! In fair shares (divided by W/n) the fullest node X has M = load n / W, and M - 1 = pl + hv + rs.

use serde::Serialize;

use super::balance::tidy;
use super::expected::{effective_units, node_max_over_mean, slot_cv};
use super::nodes::{NodeLoad, Nodes};
use super::sentence::{self, Facts};
use super::tags::{Tag, Tags};
use crate::name::Name;

/// The bands of max/mean, and what counts as heavy: every limit of the verdict stands here, for charts too.
pub mod limit {
    /// Below this the nodes are even enough for anybody.
    pub const BALANCED: f64 = 1.05;
    /// From here on it is skew, below something to watch.
    pub const SKEWED: f64 = 1.20;
    /// From this ratio on tags bind keys together so much that they shape the slots.
    pub const TAGGED: f64 = 1.5;
    /// A unit is heavy from this part of a node's fair share on.
    pub const HEAVY: f64 = 0.05;
    /// Heavy units matter from this many fair shares on.
    pub const HEAVY_EXCESS: f64 = 0.02;
}

/// The finding in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// There are no keys.
    Empty,
    /// The dump itself is not whole.
    Suspicious,
    /// The nodes are even.
    Balanced,
    /// The nodes are even, the slots are shaped by tags.
    Tagged,
    /// The nodes own unequal numbers of slots.
    Placement,
    /// Uneven, not badly.
    Watch,
    /// Uneven.
    Skewed,
}

/// The verdict and what it rests on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Skew {
    /// The metric it is about.
    pub by: &'static str,
    /// The finding.
    pub verdict: Verdict,
    /// The finding for people.
    pub sentence: String,
    /// The independent units that the keys behave like.
    pub n_eff: Option<f64>,
    /// The coefficient of variation of slot loads that a perfect hash would give those units.
    pub expected_cv: Option<f64>,
    /// sum w_g^2 over units / sum w_k^2 over keys: how much tags bind keys together.
    pub tag_ratio: Option<f64>,
    /// 1 / M: with equal nodes the cluster is full when its fullest node is.
    pub usable_capacity: Option<f64>,
    /// Why the fullest node is above its fair share, in order of weight.
    pub causes: Vec<Cause>,
}

/// A part of the fullest node's excess.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Cause {
    /// What kind.
    pub kind: CauseKind,
    /// The tag, where it is one.
    pub name: Option<Name>,
    /// The fullest node.
    pub node: Name,
    /// In fair shares; all of a node add up to its max/mean less 1.
    pub excess: f64,
}

/// Why a node is fuller than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CauseKind {
    /// A heavy hash tag.
    Tag,
    /// It owns more slots, or fewer.
    Placement,
    /// Chance.
    Noise,
}

/// The fullest node's excess in fair shares, split.
struct Split<'a> {
    fullest: &'a NodeLoad,
    nodes: usize,
    /// Slots that have an owner.
    owned_slots: u32,
    /// M.
    max_over_mean: f64,
    placement: f64,
    /// Heavy tags of all nodes and what each adds to the fullest: less than 0 where it is on another.
    heavy: Vec<(&'a Tag, f64)>,
    /// The units that are not heavy behave like this many.
    rest_units: f64,
}

impl<'a> Split<'a> {
    fn of(nodes: &'a Nodes, tags: &'a Tags, squares: f64, keys: u64) -> Option<Self> {
        let total = nodes.total() as f64;
        let owning: Vec<_> = nodes.owning().collect();
        // The first of equals, so that the name in the report does not depend on anything else.
        let fullest = owning.iter().rev().max_by_key(|node| node.keys).filter(|node| node.keys > 0)?;
        let n = owning.len() as f64;
        let owned_slots: u32 = owning.iter().map(|node| node.slots).sum();
        let p = f64::from(fullest.slots) / f64::from(owned_slots);
        let fair = total / n;
        let is_heavy = |tag: &&Tag| tag.node.is_some() && tag.keys as f64 >= limit::HEAVY * fair;
        let part = |tag: &'a Tag| {
            let here = tag.node.as_ref() == Some(&fullest.id);
            (tag, (f64::from(u8::from(here)) - p) * tag.keys as f64 / fair)
        };
        let heavy: Vec<_> = tags.top.iter().filter(is_heavy).map(part).collect();
        // What no node owns stands apart: its listed tags by name, of the rest as much as its part of the keys.
        let unowned = || tags.top.iter().filter(|tag| tag.node.is_none()).map(|tag| tag.keys as f64);
        let unlisted = (keys as f64 - unowned().sum::<f64>()).max(total);
        let squares = (squares - unowned().map(|keys| keys * keys).sum::<f64>()) * total / unlisted;
        let heavy_total: f64 = heavy.iter().map(|(tag, _)| tag.keys as f64).sum();
        let heavy_squares: f64 = heavy.iter().map(|(tag, _)| (tag.keys as f64).powi(2)).sum();
        let rest = (total - heavy_total).max(0.0);
        Some(Split {
            fullest,
            nodes: owning.len(),
            owned_slots,
            max_over_mean: fullest.keys as f64 / fair,
            placement: (p - 1.0 / n) * n,
            heavy,
            rest_units: effective_units(rest, (squares - heavy_squares).max(rest)).unwrap_or(f64::INFINITY),
        })
    }

    fn heavy_excess(&self) -> f64 {
        self.heavy.iter().map(|(_, excess)| excess).sum()
    }

    fn rest(&self) -> f64 {
        self.max_over_mean - 1.0 - self.placement - self.heavy_excess()
    }

    fn is_chance(&self) -> bool {
        self.heavy_excess() < limit::HEAVY_EXCESS
            && 1.0 + self.rest() <= node_max_over_mean(self.nodes, self.rest_units)
    }

    fn owns_more_slots(&self) -> bool {
        self.fullest.slots as usize > (self.owned_slots as usize).div_ceil(self.nodes)
    }

    fn facts(&self) -> Facts<'_> {
        let heaviest = self.heavy.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
        Facts {
            fullest: self.fullest,
            fair_slots: self.owned_slots as usize / self.nodes,
            max_over_mean: self.max_over_mean,
            heaviest: heaviest.filter(|(_, excess)| *excess > 0.0).map(|(tag, excess)| (&tag.tag, *excess)),
            heavy_excess: self.heavy_excess(),
            chance_among: self.is_chance().then_some(self.rest_units),
            tags_known: true,
        }
    }

    fn causes(&self) -> Vec<Cause> {
        let cause = |kind, name: Option<&Name>, excess: f64| Cause {
            kind,
            name: name.cloned(),
            node: self.fullest.id.clone(),
            excess: tidy(excess),
        };
        let tags = self.heavy.iter().map(|(tag, excess)| cause(CauseKind::Tag, Some(&tag.tag), *excess));
        let others = [(CauseKind::Placement, self.placement), (CauseKind::Noise, self.rest())];
        let mut causes: Vec<_> =
            others.map(|(kind, excess)| cause(kind, None, excess)).into_iter().chain(tags).collect();
        causes.sort_by(|a, b| b.excess.total_cmp(&a.excess));
        causes
    }
}

impl Skew {
    /// Judges the keys of `nodes`. `incomplete` says that a part of the input could not be read.
    pub fn of(nodes: &Nodes, tags: Option<&Tags>, keys: u64, incomplete: bool) -> Self {
        let none = Tags::default();
        let known = tags.unwrap_or(&none);
        let untagged = (keys - known.tagged_keys) as f64;
        let squares = known.squares + untagged;
        let total = keys as f64;
        // Without tags counted, a slot's keys cannot be told from independent ones: no claim is made.
        let n_eff = tags.and_then(|_| effective_units(total, squares));
        let tag_ratio = tags.and((keys > 0).then(|| squares / total));
        let split = Split::of(nodes, known, squares, keys);
        let verdict = verdict(keys, split.as_ref(), tag_ratio.unwrap_or(1.0), incomplete);
        let facts = split.as_ref().map(|split| Facts { tags_known: tags.is_some(), ..split.facts() });
        let sentence = sentence::of(verdict, nodes, facts);
        Skew {
            by: "keys",
            verdict,
            sentence,
            n_eff: n_eff.map(tidy),
            expected_cv: n_eff.map(slot_cv).map(tidy),
            tag_ratio: tag_ratio.map(tidy),
            usable_capacity: split.as_ref().map(|split| tidy(1.0 / split.max_over_mean)),
            causes: split.map(|split| split.causes()).unwrap_or_default(),
        }
    }
}

/// The first row that fits.
fn verdict(keys: u64, split: Option<&Split<'_>>, tag_ratio: f64, incomplete: bool) -> Verdict {
    let even = if tag_ratio < limit::TAGGED { Verdict::Balanced } else { Verdict::Tagged };
    let Some(split) = split.filter(|_| keys > 0) else {
        return if incomplete { Verdict::Suspicious } else { Verdict::Empty };
    };
    match split.max_over_mean {
        _ if incomplete => Verdict::Suspicious,
        m if m < limit::BALANCED => even,
        m if split.placement >= (m - 1.0) / 2.0 && split.owns_more_slots() => Verdict::Placement,
        _ if split.is_chance() => even,
        m if m < limit::SKEWED => Verdict::Watch,
        _ => Verdict::Skewed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Topology;

    /// Keys by slot and tags, judged on `topology`.
    fn judge(topology: &Topology, keys_by_slot: &[u64], tags: &[(&str, u16, u64)]) -> Skew {
        let nodes = Nodes::of(topology, keys_by_slot);
        let keys: u64 = keys_by_slot.iter().sum();
        let node = |slot| topology.owner(slot).map(|node| Name::from(topology.nodes[node].id.as_str()));
        let tag = |(tag, slot, keys): &(&str, u16, u64)| Tag {
            tag: Name::from(*tag),
            slot: *slot,
            node: node(*slot),
            keys: *keys,
            keys_error: 0,
            share: 0.0,
        };
        let top: Vec<_> = tags.iter().map(tag).collect();
        let squares = top.iter().map(|tag| (tag.keys as f64).powi(2)).sum();
        let tagged_keys = top.iter().map(|tag| tag.keys).sum();
        let tags = Tags { exact: true, top, squares, tagged_keys, ..Tags::default() };
        Skew::of(&nodes, Some(&tags), keys, false)
    }

    fn even(n: usize) -> Topology {
        Topology::even(n, format!("even {n}")).unwrap()
    }

    #[test]
    fn even_keys_are_balanced_and_no_keys_are_empty() {
        let skew = judge(&even(3), &[10; 16384], &[]);
        assert_eq!(skew.verdict, Verdict::Balanced);
        assert_eq!(skew.n_eff, Some(163_840.0));
        let skew = judge(&even(3), &[0; 16384], &[]);
        assert_eq!((skew.verdict, skew.n_eff, skew.causes.len()), (Verdict::Empty, None, 0));
    }

    #[test]
    fn a_hot_tag_is_the_cause_and_moving_slots_is_not_the_cure() {
        let mut keys = [10; 16384];
        keys[12_000] += 40_000;
        let skew = judge(&even(3), &keys, &[("config", 12_000, 40_000)]);
        assert_eq!(skew.verdict, Verdict::Skewed);
        assert_eq!(skew.causes[0].kind, CauseKind::Tag);
        assert_eq!(skew.causes[0].name, Some(Name::from("config")));
        assert!(skew.sentence.contains("{config}") && skew.sentence.contains("even-3"), "{}", skew.sentence);
    }

    #[test]
    fn the_parts_add_up_to_the_excess() {
        let listing = b"a 1.1.1.1:1 master - 0 0 1 connected 0-6000\nb 1.1.1.1:2 master - 0 0 1 connected 6001-16383\n";
        let topology = Topology::parse("test", listing).unwrap();
        let mut keys = [7; 16384];
        (keys[5], keys[9000]) = (20_000, 31_000);
        let skew = judge(&topology, &keys, &[("x", 5, 19_993), ("y", 9000, 30_993)]);
        let total: u64 = keys.iter().sum();
        let fullest: u64 = keys[6001..].iter().sum();
        let excess: f64 = skew.causes.iter().map(|cause| cause.excess).sum();
        assert!((excess - (fullest as f64 * 2.0 / total as f64 - 1.0)).abs() < 1e-7, "{:?}", skew.causes);
    }

    #[test]
    fn unequal_slots_are_placement() {
        let listing =
            b"a 1.1.1.1:1 master - 0 0 1 connected 0-12000\nb 1.1.1.1:2 master - 0 0 1 connected 12001-16383\n";
        let skew = judge(&Topology::parse("test", listing).unwrap(), &[10; 16384], &[]);
        assert_eq!(skew.verdict, Verdict::Placement);
        assert_eq!(skew.causes[0].kind, CauseKind::Placement);
    }

    #[test]
    fn what_no_node_owns_stands_apart() {
        let listing = b"a 1.1.1.1:1 master - 0 0 1 connected 0-49\nb 1.1.1.1:2 master - 0 0 1 connected 50-89\n";
        let topology = Topology::parse("test", listing).unwrap();
        let mut keys = [6; 16384];
        keys[16_000] += 60_000;
        let skew = judge(&topology, &keys, &[("common", 16_000, 60_000)]);
        assert_eq!(skew.verdict, Verdict::Placement, "{}", skew.sentence);
        let mut keys = [6; 16384];
        (keys[3], keys[16_000]) = (300, 60_000);
        let skew = judge(&topology, &keys, &[("common", 16_000, 59_994)]);
        assert!(!skew.sentence.contains("common"), "{}", skew.sentence);
        assert!(skew.causes.iter().all(|cause| cause.kind != CauseKind::Tag), "{:?}", skew.causes);
    }

    #[test]
    fn few_keys_are_uneven_by_chance() {
        let mut keys = [0; 16384];
        (0..30).for_each(|i| keys[i * 97] = 1);
        (0..20).for_each(|i| keys[6000 + i * 97] = 1);
        (0..25).for_each(|i| keys[11_000 + i * 97] = 1);
        let skew = judge(&even(3), &keys, &[]);
        assert_eq!(skew.verdict, Verdict::Balanced, "{}", skew.sentence);
        assert!(skew.sentence.contains("chance"), "{}", skew.sentence);
    }

    #[test]
    fn many_small_tags_leave_the_nodes_even_but_shape_the_slots() {
        let keys: Vec<u64> = (0..16384).map(|slot| if slot % 16 == 0 { 100 } else { 0 }).collect();
        let names: Vec<String> = (0..1024).map(|i| format!("t{i}")).collect();
        let tags: Vec<_> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i as u16 * 16, 100)).collect();
        assert_eq!(judge(&even(4), &keys, &tags).verdict, Verdict::Tagged);
    }
}
