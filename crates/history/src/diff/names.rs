//! Names of a list that certainly grew, shrank, appeared or vanished, given the bounds of their counts.

use std::cmp::Reverse;

use serde::Serialize;

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;

use crate::diff::fate::Fate;
use crate::diff::report::{Bounds, NameList, Report};
use crate::diff::{OldNew, per_metric};

/// The names of two lists that changed; each row once, what changed most first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Change {
    /// The name.
    pub name: Name,
    /// Its counts.
    #[serde(flatten)]
    pub load: PerMetric<OldNew<u64>>,
    /// In the metric that is compared it changed at least by this, whatever the counts missed; by about this, where sizes are
    /// estimated.
    pub at_least: u64,
    /// Its part of the load of all keys.
    pub share: OldNew<f64>,
}

impl Names {
    /// The names that changed for certain, by what happened to them.
    pub(crate) fn by_fate(&self) -> [(&'static str, &Vec<Change>); 4] {
        [
            ("grew", &self.grew),
            ("appeared", &self.appeared),
            ("vanished", &self.vanished),
            ("shrank", &self.shrank),
        ]
    }

    /// Compares the lists of two reports; `None` if one does not have this list.
    pub(crate) fn of(
        old: (Option<NameList<'_>>, &Report),
        new: (Option<NameList<'_>>, &Report),
        metric: Metric,
    ) -> Option<Names> {
        let (old_list, new_list) = (old.0?, new.0?);
        let change = |name: &Name, at_least: u64| {
            let (old_row, new_row) = (old_list.rows.get(name), new_list.rows.get(name));
            let part = |report: &Report, row: Option<&Bounds<'_>>| {
                Some(report.share(row?.at_least, metric))
            };
            let load = |metric| {
                let amount =
                    |row: Option<&Bounds<'_>>| row.and_then(|row| row.load.get(metric).copied());
                OldNew::of(amount(old_row), amount(new_row))
            };
            Change {
                name: name.clone(),
                load: per_metric(load),
                at_least,
                share: OldNew::of(part(old.1, old_row), part(new.1, new_row)),
            }
        };
        let mut names = Names::default();
        let listed = old_list.rows.keys();
        let gone = listed.filter(|name| !new_list.rows.contains_key(*name));
        for name in new_list.rows.keys().chain(gone) {
            let (list, at_least) = match old_list.known(name).until(new_list.known(name)) {
                Fate::Grew(amount) => (&mut names.grew, amount),
                Fate::Shrank(amount) => (&mut names.shrank, amount),
                Fate::Appeared(amount) => (&mut names.appeared, amount),
                Fate::Vanished(amount) => (&mut names.vanished, amount),
                Fate::Open => (&mut names.below_the_list, 0),
                Fate::Same => continue,
            };
            list.push(change(name, at_least));
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
