//! The sentences about what commands find; those about the summary are in crates/core.

mod diff;
mod trend;
mod whatif;

use slotscope_findings::displayed_in_words;

displayed_in_words! {
    crate::diff::Headline,
    crate::trend::Outlook,
    crate::trend::forecast::Full,
    crate::trend::forecast::LastForecast,
    crate::whatif::findings::Comparison,
}
