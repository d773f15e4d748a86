//! The verdict in one sentence: which node is fuller than its share, and why.

use crate::metric::Metric;
use crate::report::wording::InWords;
use crate::summary::cause::{Cause, CauseKind};
use crate::summary::explanation::{Explanation, Fullest, Reason};
use crate::text::{counted, grouped, short};

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
                "no keys, so there is nothing to judge; did redis-cli fail? See what it wrote to stderr"
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
        let ratio = match self.max_over_mean {
            near if near < 1.1 => format!("{near:.3}"),
            far => format!("{far:.2}"),
        };
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
                "{has}, but {} on {} are too few to judge: chance alone does this",
                counted(*keys, "key"),
                counted(*nodes as u64, "node")
            ),
            Reason::Causes(causes) => {
                let causes: Vec<String> = together(causes)
                    .iter()
                    .map(|of| in_words(of, self.by))
                    .collect();
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

/// The metric of a fair share; of keys it goes without saying.
pub fn of_metric(by: Metric) -> String {
    match by {
        Metric::Keys => String::new(),
        by => format!(" of the {}", by.units()),
    }
}

/// Equal tags or keys that follow each other are one.
fn together(causes: &[Cause]) -> Vec<&[Cause]> {
    let is_same = |a: &Cause, b: &Cause| {
        a.name.is_some() && a.kind == b.kind && (a.excess - b.excess).abs() < 0.0005
    };
    causes.chunk_by(is_same).collect()
}

/// Names of equal tags or keys that a sentence has room for.
const NAMES: usize = 3;

/// A cause, or equal ones, and what they add.
fn in_words(equal: &[Cause], by: Metric) -> String {
    let Some(cause) = equal.first() else {
        return String::new();
    };
    let excess: f64 = equal.iter().map(|cause| cause.excess).sum();
    match equal.len() {
        1 => match cause.by_chance.filter(|_| cause.kind == CauseKind::Chance) {
            Some(most) => format!(
                "{} ({excess:+.2}; a perfect hash gives up to {most:+.2})",
                cause_in_words(cause, by)
            ),
            None => format!("{} ({excess:+.2})", cause_in_words(cause, by)),
        },
        _ => {
            let names: Vec<String> = equal.iter().take(NAMES).map(name_of).collect();
            let more = match equal.len() - names.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let kind = if cause.kind == CauseKind::Tag {
                "hash tags"
            } else {
                "keys"
            };
            format!("{kind} {}{more} ({excess:+.2})", names.join(", "))
        }
    }
}

/// A cause without what it adds.
pub fn cause_in_words(cause: &Cause, by: Metric) -> String {
    let share = || format!("{:.0} %", 100.0 * cause.share.unwrap_or(0.0));
    let units = || match (cause.units.unwrap_or(0), by) {
        (1, Metric::Keys) => String::from("one heavy hash tag"),
        (1, _) => String::from("one heavy hash tag or key"),
        (units, Metric::Keys) => format!("{} heavy hash tags", grouped(units)),
        (units, _) => format!("{} heavy hash tags and keys", grouped(units)),
    };
    match cause.kind {
        CauseKind::Slots => format!("it owns {} of the slots", share()),
        CauseKind::Tag => format!("hash tag {}", name_of(cause)),
        CauseKind::Key => format!("key {}", name_of(cause)),
        CauseKind::CoarseTags => format!("{} hold {} of the {}", units(), share(), by.units()),
        CauseKind::Elsewhere => format!("{} on other nodes", units()),
        CauseKind::Collisions => {
            let slots: Vec<String> = cause.slots.iter().map(u16::to_string).collect();
            format!(
                "many tags or keys in the same slots, most in {}",
                slots.join(", ")
            )
        }
        CauseKind::Chance => format!(
            "chance among {} other tags and keys",
            grouped(cause.units.unwrap_or(0))
        ),
        CauseKind::Unknown => "tags were not counted, so why is not known".into(),
    }
}

fn name_of(cause: &Cause) -> String {
    let name = cause.name.as_ref().map(short).unwrap_or_default();
    match cause.kind {
        CauseKind::Key => name,
        _ => format!("{{{name}}}"),
    }
}
