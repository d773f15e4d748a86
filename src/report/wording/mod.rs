//! Every sentence that a report states about its findings: the summary holds numbers and names, `Display` words them.

mod capacity;
mod diff;
mod evidence;
mod integrity;
mod node_counts;
pub mod remedy;
mod risk;
mod trend;
pub mod verdict;
mod whatif;

use std::fmt;

/// A finding that a sentence states, without a capital at its start or a full stop at its end.
trait InWords {
    fn in_words(&self) -> String;
}

macro_rules! displayed_in_words {
    ($($finding:ty),+ $(,)?) => {$(
        impl fmt::Display for $finding {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.in_words())
            }
        }
    )+};
}

displayed_in_words! {
    crate::diff::Headline,
    crate::summary::capacity::FullestRoom,
    crate::summary::evidence::Evidence,
    crate::summary::explanation::Explanation,
    crate::summary::integrity::Sign,
    crate::summary::node_counts::CountedFinding,
    crate::summary::risk::RiskFinding,
    crate::trend::Outlook,
    crate::trend::forecast::Full,
    crate::trend::forecast::LastForecast,
    crate::whatif::findings::Comparison,
}
