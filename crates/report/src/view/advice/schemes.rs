//! The schemes of an advice as a table.

use slotscope_advisor::findings::{AdviseFindings, SchemeScore};
use slotscope_advisor::soundness::Soundness;
use slotscope_base::name::Name;
use slotscope_base::text::list;

use crate::view::advice::NAMED;
use crate::view::table::Rank;
use crate::view::{Cell, Column, Table};

/// The schemes as rows.
pub(super) fn table(findings: &AdviseFindings) -> Table<'_> {
    let sound = |soundness: Soundness| match soundness {
        Soundness::Good => "yes",
        Soundness::Limited => "for a while",
        Soundness::Bad => "no",
    };
    let refused = |scheme: &SchemeScore| {
        let are_counted = findings.batches_that_must > 0;
        are_counted.then_some(scheme.crossslot)
    };
    Table::of(&findings.schemes)
        .column(Column::words("tags").flexible(), |scheme| {
            Cell::text(scheme_name(scheme))
        })
        .column(
            Column::number("one slot").optional().rank(Rank::Main),
            |scheme| Cell::of(scheme.single_slot_share, Cell::share),
        )
        .column(Column::number("refused").optional(), |scheme| {
            Cell::of(refused(scheme), Cell::count)
        })
        .column(
            Column::number("fullest")
                .hint("the fullest node in fair shares")
                .rank(Rank::Main),
            |scheme| Cell::ratio(scheme.max_over_mean.n, 2),
        )
        .column(
            Column::number("on 2n").hint("the same on twice the nodes"),
            |scheme| Cell::ratio(scheme.max_over_mean.twice, 2),
        )
        .column(Column::words("sound"), |scheme| {
            Cell::text(sound(scheme.sound))
        })
        .column(Column::number("heaviest"), |scheme| {
            Cell::share(scheme.heaviest_share)
        })
        .column(Column::number("patterns").rank(Rank::Detail), |scheme| {
            Cell::count(scheme.patterns_renamed as u64)
        })
        .column(Column::number("renamed").rank(Rank::Main), |scheme| {
            Cell::count(scheme.keys_renamed)
        })
        .build()
}

/// The tags of a scheme.
fn scheme_name(scheme: &SchemeScore) -> String {
    let tag = |tag: &Name| {
        if tag.0.is_empty() {
            String::from("no braces")
        } else {
            tag.to_string()
        }
    };
    let tags: Vec<String> = scheme.tags.iter().map(tag).collect();
    if tags.is_empty() {
        String::from("as today")
    } else {
        list(tags.iter(), NAMED)
    }
}
