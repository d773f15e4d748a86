//! Which names of a list grew, shrank, appeared or vanished for certain, given the bounds of their counts.

use std::cmp::Reverse;

use schemars::JsonSchema;
use serde::Serialize;

use crate::diff::report::{Bounds, NameList, Report};
use crate::diff::{OldNew, per_metric};
use crate::metric::{Metric, PerMetric};
use crate::name::Name;

/// The names of two lists that changed; each row once, what changed most first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Names {
    /// More in the new one for certain. Where the old one does not list it, it held at most what an unlisted name held.
    pub grew: Vec<Change>,
    /// Listed in the new one alone, and the old list has every name.
    pub appeared: Vec<Change>,
    /// Listed in the old one alone, and the new list has every name.
    pub vanished: Vec<Change>,
    /// Less in the new one for certain. Where the new one does not list it, it holds at most what an unlisted name holds.
    pub shrank: Vec<Change>,
    /// Listed in one alone, and light enough to be unlisted in the other: nothing is known of a change.
    pub below_the_list: Vec<Change>,
}

/// A name and its counts; of a list that does not have it, they are absent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Change {
    /// The name.
    pub name: Name,
    /// What was counted of it.
    #[serde(flatten)]
    pub load: PerMetric<OldNew<u64>>,
    /// In the metric that is compared it changed at least by this, whatever the counts missed.
    pub at_least: u64,
    /// Its part of the load of all keys.
    pub share: OldNew<f64>,
}

impl Names {
    /// Compares the lists of two reports; `None` where one has no such list.
    pub fn of(
        old: (Option<NameList<'_>>, &Report),
        new: (Option<NameList<'_>>, &Report),
        by: Metric,
    ) -> Option<Names> {
        let (old_list, new_list) = (old.0?, new.0?);
        let (old_rows, new_rows) = (old_list.rows, new_list.rows);
        let (old_below, new_below) = (old_list.below, new_list.below);
        let change = |name: &Name, at_least: u64| {
            let (old_row, new_row) = (old_rows.get(name), new_rows.get(name));
            let share =
                |report: &Report, row: Option<&Bounds<'_>>| Some(report.share(row?.at_least, by));
            let load = |metric| {
                let of =
                    |row: Option<&Bounds<'_>>| row.and_then(|row| row.load.get(metric).copied());
                OldNew::of(of(old_row), of(new_row))
            };
            let share = OldNew::of(share(old.1, old_row), share(new.1, new_row));
            Change {
                name: name.clone(),
                load: per_metric(load),
                at_least,
                share,
            }
        };
        let mut names = Names::default();
        for (name, row) in &new_rows {
            let (least, most) = (row.at_least, row.at_most);
            match old_rows.get(name) {
                Some(before) => {
                    let grown = least.saturating_sub(before.at_most);
                    let shrunk = before.at_least.saturating_sub(most);
                    if grown > 0 {
                        names.grew.push(change(name, grown));
                    } else if shrunk > 0 {
                        names.shrank.push(change(name, shrunk));
                    }
                }
                None if old_below == 0 => names.appeared.push(change(name, least)),
                None if least > old_below => names.grew.push(change(name, least - old_below)),
                None => names.below_the_list.push(change(name, 0)),
            }
        }
        for (name, row) in old_rows
            .iter()
            .filter(|(name, _)| !new_rows.contains_key(*name))
        {
            match row.at_least {
                least if new_below == 0 => names.vanished.push(change(name, least)),
                least if least > new_below => names.shrank.push(change(name, least - new_below)),
                _ => names.below_the_list.push(change(name, 0)),
            }
        }
        for list in [
            &mut names.grew,
            &mut names.appeared,
            &mut names.vanished,
            &mut names.shrank,
        ] {
            list.sort_by(|a, b| {
                (Reverse(a.at_least), &a.name).cmp(&(Reverse(b.at_least), &b.name))
            });
        }
        names.below_the_list.sort_by(|a, b| a.name.cmp(&b.name));
        Some(names)
    }
}
