//! The schemes of an advice: as a table, and as a chart of benefit and cost.

use slotscope_advisor::findings::{Advice, AdviseFindings, SchemeScore};
use slotscope_advisor::soundness::Soundness;
use slotscope_engine::name::Name;
use slotscope_engine::text::{list, percent};

use crate::view::advice::NAMED;
use crate::view::table::Rank;
use crate::view::{Cell, Column, Table};

/// Schemes by the multi-key commands that reach a single slot, and by their fullest node.
#[derive(Debug, Clone)]
pub struct SchemeChart {
    /// Number of primaries.
    pub nodes: usize,
    /// The schemes, the recommended one first.
    pub points: Vec<SchemePoint>,
}

/// A scheme of hash tags.
#[derive(Debug, Clone)]
pub struct SchemePoint {
    /// Its tags.
    pub name: String,
    /// The fraction of multi-key commands that reach a single slot.
    pub single_slot_share: f64,
    /// The fullest node in fair shares.
    pub max_over_mean: f64,
    /// The fullest node with twice the number of nodes.
    pub max_over_mean_2n: f64,
}

impl SchemePoint {
    /// The figures of both axes, in words.
    pub(crate) fn figures(&self) -> String {
        format!(
            "{:.0}%, {:.2} ({:.2})",
            100.0 * self.single_slot_share,
            self.max_over_mean,
            self.max_over_mean_2n
        )
    }
}

impl SchemeChart {
    /// The chart; `None` without multi-key commands, which one of its axes needs, or without alternatives.
    pub fn of(findings: &AdviseFindings) -> Option<Self> {
        let point = |scheme: &SchemeScore| {
            Some(SchemePoint {
                name: scheme_name(scheme),
                single_slot_share: scheme.single_slot_share?,
                max_over_mean: scheme.max_over_mean.n,
                max_over_mean_2n: scheme.max_over_mean.twice,
            })
        };
        let points: Vec<SchemePoint> = findings.schemes.iter().map(point).collect::<Option<_>>()?;
        (points.len() > 1).then_some(SchemeChart {
            nodes: findings.nodes,
            points,
        })
    }
}

/// The schemes as rows.
pub(super) fn table(findings: &AdviseFindings) -> Table<'_> {
    let sound = |of: Soundness| match of {
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

/// The finding as title of the schemes chart.
pub fn chart_title(findings: &AdviseFindings) -> String {
    let today = findings.schemes.iter().find(|scheme| scheme.is_today);
    let share = |scheme: Option<&SchemeScore>| {
        percent(scheme.and_then(|of| of.single_slot_share).unwrap_or(0.0))
    };
    match findings.advice {
        Advice::Change => format!(
            "{} of the multi-key commands in one slot, {} today",
            share(findings.schemes.first()),
            share(today)
        ),
        Advice::Keep => format!(
            "Keep the names: {} of the multi-key commands are in one slot",
            share(today)
        ),
    }
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
