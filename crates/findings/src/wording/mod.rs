//! Every sentence a report states about its findings: the summary holds numbers and names, `Display` words them.

mod capacity;
pub mod evidence;
pub mod finding;
pub(crate) mod integrity;
mod measure;
mod node_counts;
pub(crate) mod step;
pub mod verdict;

/// A finding as a sentence, without initial capital or full stop.
pub trait InWords {
    /// The sentence.
    fn in_words(&self) -> String;
}

/// Implements `Display` by the finding's sentence.
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
    crate::summary::explanation::Explanation,
    crate::summary::node_counts::CountedFinding,
}
