//! The verdict as one line for people: who is too full, why, and what kind of cure helps.

use super::nodes::{NodeLoad, Nodes};
use super::verdict::{Verdict, limit};
use crate::name::Name;

/// What the sentence is about.
pub struct Facts<'a> {
    /// The fullest node.
    pub fullest: &'a NodeLoad,
    /// Slots that a node owns on average.
    pub fair_slots: usize,
    /// The fullest node's load in fair shares.
    pub max_over_mean: f64,
    /// The heavy tag that adds most to it, and how much in fair shares.
    pub heaviest: Option<(&'a Name, f64)>,
    /// What all heavy tags together add to it.
    pub heavy_excess: f64,
    /// Where the excess is chance: among so many independent units.
    pub chance_among: Option<f64>,
    /// Whether tags were counted; where not, nothing is said of them.
    pub tags_known: bool,
}

/// The sentence; it says on what nodes where those are an assumption.
pub fn of(verdict: Verdict, nodes: &Nodes, facts: Option<Facts<'_>>) -> String {
    let sentence = match facts {
        None if verdict == Verdict::Suspicious => {
            return String::from("the input could not be read to its end, and the part that was read holds no key");
        }
        None if nodes.unowned.keys > 0 => {
            return String::from("no node owns a slot that holds a key: is this the topology of another cluster?");
        }
        None => return String::from("no keys, so there is nothing to judge"),
        Some(facts) => about(verdict, &facts),
    };
    match nodes.source.0 == format!("assumed even {}", nodes.list.len()).as_bytes() {
        true => format!("on {} equal nodes: {sentence}", nodes.list.len()),
        false => sentence,
    }
}

fn about(verdict: Verdict, facts: &Facts<'_>) -> String {
    let node = short(facts.fullest.address.as_ref().unwrap_or(&facts.fullest.id));
    let holds = format!("node {node} holds {:.2} times its fair share", facts.max_over_mean);
    match (verdict, facts.chance_among, facts.heaviest) {
        (Verdict::Suspicious, ..) => {
            format!("the input could not be read to its end; of the part that was read, {holds}")
        }
        (Verdict::Watch | Verdict::Skewed, ..) if !facts.tags_known => {
            format!("{holds}; tags were not counted, so why is not known")
        }
        (_, Some(units), _) if facts.max_over_mean >= limit::BALANCED => {
            format!(
                "{holds}, which is chance where only {} independent units are spread: nothing to do",
                grouped(units as u64)
            )
        }
        (Verdict::Balanced | Verdict::Empty, ..) => {
            format!(
                "the nodes are even, the fullest holds {:.3} times its fair share: nothing to do",
                facts.max_over_mean
            )
        }
        (Verdict::Tagged, ..) => format!(
            "the nodes are even, the fullest holds {:.3} times its fair share; hash tags make the slots uneven, which the nodes do not feel",
            facts.max_over_mean
        ),
        (Verdict::Placement, ..) => format!(
            "{holds} because it owns {} slots where {} would be its part: moving slots is enough",
            grouped(u64::from(facts.fullest.slots)),
            grouped(facts.fair_slots as u64)
        ),
        (_, _, Some((tag, excess))) if excess >= (facts.max_over_mean - 1.0) / 2.0 => {
            let without = facts.max_over_mean - excess;
            format!("{holds}, {without:.2} without the tag {{{}}}, and no move of slots can split a tag", short(tag))
        }
        (_, _, Some((tag, _))) if facts.heavy_excess >= (facts.max_over_mean - 1.0) / 2.0 => format!(
            "{holds}, {:.2} without its heavy tags, the heaviest {{{}}}: moving their slots apart helps, but splits none",
            facts.max_over_mean - facts.heavy_excess,
            short(tag)
        ),
        _ => format!(
            "{holds}: no heavy tag explains it; look at its hottest slots, what is in one slot cannot be parted"
        ),
    }
}

/// A name in a sentence: its first characters, an ellipsis for the rest of a long one.
fn short(name: &Name) -> String {
    const SHOWN: usize = 60;
    let text = name.to_string();
    match text.char_indices().nth(SHOWN) {
        None => text,
        Some((at, _)) => format!("{}…", &text[..at]),
    }
}

/// A count with separators between the thousands: 16,384.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_sentence_is_never_long() {
        assert_eq!(short(&Name::from("config")), "config");
        let long = short(&Name(vec![b'x'; 1 << 20]));
        assert_eq!((long.chars().count(), long.ends_with('…')), (61, true));
    }

    #[test]
    fn thousands_are_separated() {
        assert_eq!([0, 999, 1000, 1_543_901_949].map(grouped), ["0", "999", "1,000", "1,543,901,949"]);
    }
}
