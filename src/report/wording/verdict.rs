//! The verdict in one sentence: which node is too full, why, and what kind of remedy helps.

use crate::metric::Metric;
use crate::report::wording::InWords;
use crate::summary::cause::{CauseKind, limit};
use crate::summary::explanation::{Explanation, Fullest, NamedUnit, Reason};
use crate::text::{grouped, short};

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
            Explanation::NoKeys => "no keys, so there is nothing to judge".into(),
            Explanation::Fullest(fullest) => fullest.in_words(),
        }
    }
}

impl InWords for Fullest {
    fn in_words(&self) -> String {
        let (m, of) = (self.max_over_mean, of_metric(self.by));
        let holds = format!(
            "node {} holds {m:.2} times its fair share{of}",
            short(&self.node)
        );
        let even = format!("the nodes are even, the fullest holds {m:.3} times its fair share{of}");
        let sentence = match &self.reason {
            Reason::Damaged(sign) => {
                format!(
                    "the dump does not look whole: {}; as it is, {holds}",
                    sign.in_words()
                )
            }
            Reason::Incomplete => format!(
                "the input could not be read to its end; of the part that was read, {holds}"
            ),
            Reason::TagsNotCounted => {
                format!("{holds}; tags were not counted, so why is not known")
            }
            Reason::Chance { units } => {
                let advice = match m >= limit::SKEWED {
                    true => "more of them will even it out; moving slots helps until then",
                    false => "nothing to do",
                };
                let units = grouped(*units as u64);
                format!(
                    "{holds}, which is chance where only {units} independent units are spread: {advice}"
                )
            }
            Reason::Even => format!("{even}: nothing to do"),
            Reason::EvenButTagged => {
                format!("{even}; hash tags make the slots uneven, which the nodes do not feel")
            }
            Reason::Placement { slots, fair_slots } => format!(
                "{holds} because it owns {} slots where {} would be its part: moving slots is enough",
                grouped(u64::from(*slots)),
                grouped(u64::from(*fair_slots))
            ),
            Reason::HeavyUnit { unit, without } => {
                let remedy = match unit.kind {
                    CauseKind::Key => ", which only the application can split",
                    _ => ", and no move of slots can split a tag",
                };
                let kind = match unit.kind {
                    CauseKind::Key => "",
                    _ => "the tag ",
                };
                format!(
                    "{holds}, {without:.2} without {kind}{}{remedy}",
                    name_of(unit)
                )
            }
            Reason::HeavyUnits { heaviest, without } => format!(
                "{holds}, {without:.2} without its heavy tags and keys, the heaviest {}: moving their slots apart helps, but splits none",
                name_of(heaviest)
            ),
            Reason::Unexplained => format!(
                "{holds}: no heavy tag explains it; look at its hottest slots, what is in one slot cannot be parted"
            ),
        };
        match self.assumed_nodes {
            Some(nodes) => format!("on {nodes} equal nodes: {sentence}"),
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

fn name_of(unit: &NamedUnit) -> String {
    match unit.kind {
        CauseKind::Key => format!("the key {}", short(&unit.name)),
        _ => format!("{{{}}}", short(&unit.name)),
    }
}
