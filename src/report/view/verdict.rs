//! The verdict: one word, and its sentence. Colours are the renderers'.

use crate::report::view::{Block, Scope, Section};
use crate::summary::Summary;
use crate::summary::cause::Verdict;

/// The verdict in one word.
pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Empty => "Empty",
        Verdict::Suspicious => "Suspicious",
        Verdict::Balanced => "Balanced",
        Verdict::Tagged => "Tagged",
        Verdict::Placement => "Placement",
        Verdict::Watch => "Watch",
        Verdict::Skewed => "Skewed",
    }
}

/// The first line of the report.
pub fn section(summary: &Summary) -> Option<Section<'_>> {
    let skew = &summary.skew;
    let verdict = Block::Verdict(skew.verdict, skew.sentence.to_string());
    Some(Section::untitled().scoped(Scope::Overview).with(verdict))
}
