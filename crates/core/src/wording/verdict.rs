//! The verdict in one sentence: which node is fuller than its share, and why.

use crate::metric::Metric;
use crate::summary::cause::{Cause, CauseKind};
use crate::summary::explanation::{Explanation, Fullest, Reason, alike};
use crate::summary::tags::LISTED;
use crate::text::{are, counted, grouped, list, short};
use crate::wording::InWords;

impl InWords for Explanation {
    fn in_words(&self) -> String {
        match self {
            Explanation::NothingRead => {
                "the input could not be read to its end, and the part that was read holds no key"
                    .into()
            }
            Explanation::Unowned => {
                "no node owns a slot that holds a key: is this the topology of another cluster?"
                    .into()
            }
            Explanation::NoKeys => {
                "nothing was counted: the input holds no key, so this is no verdict on the cluster"
                    .into()
            }
            Explanation::OnlyExtremes => {
                "only lists of the hottest, slowest or largest keys were read: they say where those are, and nothing of \
                 how full or hot the nodes are"
                    .into()
            }
            Explanation::NoLoad(metric) => {
                format!("the {} of all keys are 0, so there is nothing to judge", metric.name())
            }
            Explanation::Fullest(fullest) => fullest.in_words(),
        }
    }
}

impl InWords for Fullest {
    fn in_words(&self) -> String {
        let of = of_metric(self.by);
        let ratio = ratio(self.max_over_mean);
        let has = format!("{} has {ratio} times its fair share{of}", short(&self.node));
        let sentence = match &self.reason {
            Reason::Damaged(sign) => format!(
                "the dump does not look whole: {}; as it is, {has}",
                sign.in_words()
            ),
            Reason::Even => format!(
                "the nodes are even: the fullest, {}, has {ratio} times its fair share{of}",
                short(&self.node)
            ),
            Reason::TooFewKeys { keys, nodes } => format!(
                "{has}, but {} on {} {} too few to judge: chance alone does this",
                counted(*keys, "key"),
                counted(*nodes as u64, "node"),
                are(*keys)
            ),
            Reason::Causes(causes) => {
                let causes: Vec<String> = alike(causes).map(|of| in_words(of, self.by)).collect();
                match causes.is_empty() {
                    true => has,
                    false => format!("{has}: {}", causes.join(", ")),
                }
            }
        };
        match self.assumed_nodes {
            Some(nodes) => format!("on {}: {sentence}", counted(nodes as u64, "equal node")),
            None => sentence,
        }
    }
}

/// Fair shares, with more digits where the nodes are nearly even.
pub fn ratio(fair_shares: f64) -> String {
    match fair_shares < 1.1 {
        true => format!("{fair_shares:.3}"),
        false => format!("{fair_shares:.2}"),
    }
}

/// The metric of a fair share; of keys it goes without saying.
pub fn of_metric(by: Metric) -> String {
    match by {
        Metric::Keys => String::new(),
        by => format!(" of the {}", by.units()),
    }
}

/// Names of tags or keys of one size that a sentence has room for.
pub const NAMES: usize = 3;

/// A cause, or those that are alike, and what they add.
fn in_words(alike: &[Cause], by: Metric) -> String {
    let Some(cause) = alike.first() else {
        return String::new();
    };
    let excess: f64 = alike.iter().map(|cause| cause.excess).sum();
    match alike.len() {
        1 => match cause.by_chance.filter(|_| cause.kind == CauseKind::Chance) {
            Some(most) => format!(
                "{} ({excess:+.2}; a perfect hash gives up to {most:+.2})",
                cause_in_words(cause, by)
            ),
            None => format!("{} ({excess:+.2})", cause_in_words(cause, by)),
        },
        _ => {
            let names = list(alike.iter().map(name_of), NAMES);
            let kind = if cause.kind == CauseKind::Tag {
                "hash tags"
            } else {
                "keys"
            };
            let slot = match cause.slots.as_slice() {
                [slot] if alike.iter().all(|other| other.slots == cause.slots) => {
                    format!(", all in slot {slot}")
                }
                _ => String::new(),
            };
            format!("{kind} {names}{slot} ({excess:+.2})")
        }
    }
}

/// A cause without what it adds.
pub fn cause_in_words(cause: &Cause, by: Metric) -> String {
    let share = || format!("{:.0} %", 100.0 * cause.share.unwrap_or(0.0));
    let units = || match (cause.units.unwrap_or(0), by) {
        (1, Metric::Keys) => String::from("one heavy hash tag"),
        (1, _) => String::from("one heavy hash tag or key"),
        // Of more the names are not known.
        (units, _) if units >= LISTED as u64 => {
            format!("the {} heaviest hash tags", grouped(units))
        }
        (units, Metric::Keys) => format!("{} heavy hash tags", grouped(units)),
        (units, _) => format!("{} heavy hash tags and keys", grouped(units)),
    };
    let slots = || {
        let slots: Vec<String> = cause.slots.iter().map(u16::to_string).collect();
        slots.join(", ")
    };
    match cause.kind {
        CauseKind::Slots => format!("it owns {} of the slots", share()),
        CauseKind::Tag => format!("hash tag {}", name_of(cause)),
        CauseKind::Key => format!("key {}", name_of(cause)),
        CauseKind::CoarseTags => format!("{} hold {} of the {}", units(), share(), by.units()),
        CauseKind::Elsewhere => format!("{} on other nodes", units()),
        CauseKind::Collisions if cause.slots.is_empty() => {
            "more tags and keys than chance gives, spread over its slots".into()
        }
        CauseKind::Collisions => {
            format!("many tags or keys in the same slots, most in {}", slots())
        }
        CauseKind::Chance => match cause.units.unwrap_or(0) {
            0 => "chance among no other tags and keys".into(),
            1 => "chance with one other tag or key".into(),
            units => format!("chance among {} other tags and keys", grouped(units)),
        },
        CauseKind::Unknown => match cause.slots.as_slice() {
            [] => "tags were not counted, so why is not known".into(),
            [slot] => format!(
                "slot {slot} holds {} of the {}; its tags were not counted",
                share(),
                by.units()
            ),
            _ => format!(
                "slots {} hold {} of the {}; their tags were not counted",
                slots(),
                share(),
                by.units()
            ),
        },
    }
}

fn name_of(cause: &Cause) -> String {
    let name = cause.name.as_ref().map(short).unwrap_or_default();
    match cause.kind {
        CauseKind::Key => name,
        _ => format!("{{{name}}}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::name::Name;

    #[test]
    fn chance_has_as_many_tags_and_keys_as_there_are() {
        for (units, words) in [
            (0, "chance among no other tags and keys"),
            (1, "chance with one other tag or key"),
            (4_120, "chance among 4,120 other tags and keys"),
        ] {
            let mut cause = Cause::new(CauseKind::Chance, &Name::from("a"), 0.1);
            cause.units = Some(units);
            assert_eq!(cause_in_words(&cause, Metric::Keys), words);
        }
    }
}
