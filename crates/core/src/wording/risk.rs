//! Risks, each in one sentence.

use crate::summary::risk::{RiskFinding, RiskKind};
use crate::text::{bytes, counted, short};
use crate::wording::InWords;

impl InWords for RiskFinding {
    fn in_words(&self) -> String {
        let name = self.name.as_ref().map(short).unwrap_or_default();
        let share = || format!("{:.0} %", 100.0 * self.value);
        let of = self.metric.units();
        match self.kind {
            RiskKind::LargeKey => format!(
                "key {name} has {}: MIGRATE and DEL block the node for as long as they take",
                bytes(self.value as u64)
            ),
            RiskKind::ManyElements => format!(
                "key {name} has {}: MIGRATE and DEL block the node for as long as they take",
                counted(self.value as u64, "element")
            ),
            RiskKind::ExpiringTogether => {
                let within = match self.minutes {
                    None | Some(1) => String::from("minute"),
                    Some(minutes) => format!("{minutes} minutes"),
                };
                format!("{} of the keys expire within the same {within}", share())
            }
            RiskKind::HeavyKey => {
                format!(
                    "key {name} alone is {} of a node's fair share of the {of}",
                    share()
                )
            }
            RiskKind::HeavyTag => format!(
                "hash tag {{{name}}} alone is {} of a node's fair share of the {of}",
                share()
            ),
            RiskKind::FailedNode => format!(
                "primary {name} has failed and owns {}",
                counted(self.value as u64, "slot")
            ),
            RiskKind::EmptyNode => format!("primary {name} owns no slots"),
            RiskKind::SlotsInFlight => format!(
                "{} being moved; redis-cli --cluster fix ends a move that was cut off",
                match self.value as u64 {
                    1 => "1 slot is".into(),
                    slots => format!("{} are", counted(slots, "slot")),
                }
            ),
            RiskKind::MemoryUnknown => {
                "memory is unknown: the input has no sizes, so a big key would be invisible".into()
            }
        }
    }
}
