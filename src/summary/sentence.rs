//! The verdict as one line for people: who is too full, why, and what kind of cure helps.

use super::nodes::Nodes;
use super::split::Split;
use super::units::Unit;
use super::verdict::{CauseKind, Verdict, limit};
use crate::metric::Metric;
use crate::name::Name;

/// What the sentence is about.
pub struct Facts<'a> {
    /// The fullest node's excess.
    pub split: &'a Split<'a>,
    /// In this metric.
    pub by: Metric,
    /// Whether tags were counted; where not, nothing is said of them.
    pub tags_known: bool,
}

/// The sentence; it says on what nodes where those are an assumption.
pub fn of(verdict: Verdict, nodes: &Nodes, facts: Option<Facts<'_>>, broken: Option<&str>) -> String {
    let sentence = match facts {
        None if broken.is_none() && verdict == Verdict::Suspicious => {
            return String::from("the input could not be read to its end, and the part that was read holds no key");
        }
        None if nodes.unowned.load.keys > 0 => {
            return String::from("no node owns a slot that holds a key: is this the topology of another cluster?");
        }
        None => return String::from("no keys, so there is nothing to judge"),
        Some(facts) => about(verdict, &facts, broken),
    };
    match nodes.source.0 == format!("assumed even {}", nodes.list.len()).as_bytes() {
        true => format!("on {} equal nodes: {sentence}", nodes.list.len()),
        false => sentence,
    }
}

fn about(verdict: Verdict, facts: &Facts<'_>, broken: Option<&str>) -> String {
    let Facts { split, by, tags_known } = facts;
    let (fullest, m) = (split.fullest, split.max_over_mean);
    let node = short(fullest.address.as_ref().unwrap_or(&fullest.id));
    let of = match by {
        Metric::Keys => "",
        Metric::Bytes => " of the bytes",
        Metric::Ops => " of the operations",
    };
    let holds = format!("node {node} holds {m:.2} times its fair share{of}");
    let chance = split.is_chance();
    let heaviest = split.heavy.iter().max_by(|(_, a), (_, b)| a.total_cmp(b)).filter(|(_, excess)| *excess > 0.0);
    if let Some(broken) = broken {
        return format!("the dump does not look whole: {broken}; as it is, {holds}");
    }
    match (verdict, heaviest) {
        (Verdict::Suspicious, _) => {
            format!("the input could not be read to its end; of the part that was read, {holds}")
        }
        (Verdict::Watch | Verdict::Skewed, _) if !tags_known => {
            format!("{holds}; tags were not counted, so why is not known")
        }
        (Verdict::Balanced | Verdict::Tagged, _) if chance && m >= limit::BALANCED => {
            let advice = match m >= limit::SKEWED {
                true => "more of them will even it out; moving slots helps until then",
                false => "nothing to do",
            };
            let units = grouped(split.rest_units as u64);
            format!("{holds}, which is chance where only {units} independent units are spread: {advice}")
        }
        (Verdict::Balanced | Verdict::Empty, _) => {
            format!("the nodes are even, the fullest holds {m:.3} times its fair share{of}: nothing to do")
        }
        (Verdict::Tagged, _) => format!(
            "the nodes are even, the fullest holds {m:.3} times its fair share{of}; hash tags make the slots uneven, which the nodes do not feel"
        ),
        (Verdict::Placement, _) => format!(
            "{holds} because it owns {} slots where {} would be its part: moving slots is enough",
            grouped(u64::from(fullest.slots)),
            grouped(u64::from(split.owned_slots) / split.nodes as u64)
        ),
        (_, Some((unit, excess))) if *excess >= (m - 1.0) / 2.0 => {
            format!("{holds}, {:.2} without {}", m - excess, named(unit))
        }
        (_, Some((unit, _))) if split.heavy_excess() >= (m - 1.0) / 2.0 => format!(
            "{holds}, {:.2} without its heavy tags and keys, the heaviest {}: moving their slots apart helps, but splits none",
            m - split.heavy_excess(),
            name_of(unit)
        ),
        _ => format!(
            "{holds}: no heavy tag explains it; look at its hottest slots, what is in one slot cannot be parted"
        ),
    }
}

/// The unit that is most of the excess, and what does not help.
fn named(unit: &Unit) -> String {
    match unit.kind {
        CauseKind::Key => format!("the key {}, which only the application can split", short(&unit.name)),
        _ => format!("the tag {{{}}}, and no move of slots can split a tag", short(&unit.name)),
    }
}

fn name_of(unit: &Unit) -> String {
    match unit.kind {
        CauseKind::Key => format!("the key {}", short(&unit.name)),
        _ => format!("{{{}}}", short(&unit.name)),
    }
}

/// A name in a sentence: its first characters, an ellipsis for the rest of a long one.
pub fn short(name: &Name) -> String {
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

/// A number of bytes with a binary unit: `1.50 GiB`, below 1 KiB `512 B`.
pub fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = "B";
    for next in UNITS {
        // 1023.995 would be shown as 1024.00.
        if value < 1023.995 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{value:.2} {unit}") }
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
