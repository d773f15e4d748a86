//! Every sentence that a report states about its findings: the summary holds numbers and names, `Display` words them.

mod capacity;
mod evidence;
mod integrity;
mod node_counts;
pub mod remedy;
mod risk;
pub mod verdict;

/// A finding that a sentence states, without a capital at its start or a full stop at its end.
pub trait InWords {
    /// The sentence.
    fn in_words(&self) -> String;
}

/// Makes what a finding displays its sentence.
#[doc(hidden)]
#[macro_export]
macro_rules! displayed_in_words {
    ($($finding:ty),+ $(,)?) => {$(
        impl ::std::fmt::Display for $finding {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(&$crate::wording::InWords::in_words(self))
            }
        }
    )+};
}

displayed_in_words! {
    crate::summary::capacity::FullestRoom,
    crate::summary::evidence::Evidence,
    crate::summary::explanation::Explanation,
    crate::summary::integrity::Sign,
    crate::summary::node_counts::CountedFinding,
    crate::summary::risk::RiskFinding,
}
