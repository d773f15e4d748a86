//! Tags and prefixes over time: the load of the heaviest in each report, and what certainly appeared or vanished.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;

use crate::diff::fate::{Fate, Known};
use crate::diff::report::NameList;
use crate::trend::fit::{Fit, Rate};

/// Maximum names with loads in the JSON, and maximum names that appeared or vanished.
const SERIES: usize = 100;
const EVENTS: usize = 1000;
/// Maximum memory of all reports' lists, in bytes.
const MOST_BYTES: usize = 512 << 20;
/// A name possibly below a list's last row counts as new if it grew beyond this multiple of its possible load there.
const MANY: u64 = 9;
/// Memory per row in addition to the name's bytes.
const ROW_BYTES: usize = 32;

/// The names of one kind over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NameTrend {
    /// The heaviest of the newest report that lists names, heaviest first; 100 at most.
    pub top: Vec<NameSeries>,
    /// Those that a report lists and the report before it does not have, or had a tenth of at most, heaviest first;
    /// 1,000 at most.
    pub appeared: Vec<NameEvent>,
    /// Those that a report lists and the report after it does not have, or has a tenth of at most, heaviest first;
    /// 1,000 at most.
    pub vanished: Vec<NameEvent>,
    /// How many appeared, in all.
    pub appeared_count: u64,
    /// How many vanished, in all.
    pub vanished_count: u64,
}

/// A name over time.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NameSeries {
    /// The name.
    pub name: Name,
    /// Its loads in the reports, in the order of the reports; null if one does not list it.
    pub loads: Vec<Option<u64>>,
    /// Its growth, through the reports that list it; absent where fewer than two do.
    pub growth: Option<Rate>,
    /// Its part of all load in the newest report.
    pub share: f64,
}

/// A name that came or went between two reports.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct NameEvent {
    /// The name.
    pub name: Name,
    /// The place of the earlier report among the points.
    pub from: usize,
    /// The place of the later report.
    pub to: usize,
    /// Its load in the report that lists it.
    pub load: u64,
    /// The most that it may hold in the other report; 0 if that lists every name.
    pub other_at_most: u64,
}

/// The names of all reports, each stored once.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    ids: BTreeMap<Name, u32>,
    bytes: usize,
}

/// A list of one report: name ids with bounds on loads.
#[derive(Debug)]
pub struct Listed {
    /// By id: the counted load, and that plus what may have been missed.
    rows: Vec<(u32, u64, u64)>,
    below: u64,
}

/// The lists of one kind in one report, for each of its metrics.
pub(crate) type Lists = Option<PerMetric<Listed>>;

impl Pool {
    /// The id of a name.
    ///
    /// # Errors
    /// The names need more memory than allowed.
    pub(crate) fn id(&mut self, name: &Name) -> Result<u32> {
        self.take(ROW_BYTES)?;
        if let Some(id) = self.ids.get(name) {
            return Ok(*id);
        }
        self.take(name.0.len() + 2 * ROW_BYTES)?;
        let id = self.ids.len() as u32;
        self.ids.insert(name.clone(), id);
        Ok(id)
    }

    /// Accounts for memory of names.
    ///
    /// # Errors
    /// More than allowed.
    pub(crate) fn take(&mut self, bytes: usize) -> Result<()> {
        self.bytes += bytes;
        if self.bytes <= MOST_BYTES {
            return Ok(());
        }
        let what = "their names need more than 512 MiB of memory; name fewer of them";
        Err(Error::bad("the reports", what))
    }

    /// The names by their ids.
    pub(crate) fn names(&self) -> Vec<&Name> {
        let mut names: Vec<_> = self.ids.iter().collect();
        names.sort_by_key(|(_, id)| **id);
        names.into_iter().map(|(name, _)| name).collect()
    }

    /// A report's list with names replaced by ids.
    ///
    /// # Errors
    /// As for `id`.
    pub(crate) fn listed(&mut self, list: &NameList<'_>) -> Result<Listed> {
        let row = |(name, bounds): (&&Name, &crate::diff::report::Bounds<'_>)| {
            Ok((self.id(name)?, bounds.at_least, bounds.at_most))
        };
        let mut rows = list.rows.iter().map(row).collect::<Result<Vec<_>>>()?;
        rows.sort_unstable();
        Ok(Listed {
            rows,
            below: list.below,
        })
    }
}

impl Listed {
    /// Whether it is complete.
    pub(crate) fn is_whole(&self) -> bool {
        self.below == 0
    }

    fn known(&self, id: u32) -> Known {
        match self.rows.binary_search_by_key(&id, |row| row.0) {
            Ok(at) => Known::Listed {
                at_least: self.rows[at].1,
                at_most: self.rows[at].2,
            },
            Err(_) => Known::Unlisted(self.below),
        }
    }

    fn load(&self, id: u32) -> Option<u64> {
        match self.known(id) {
            Known::Listed { at_least, .. } => Some(at_least),
            Known::Unlisted(_) => None,
        }
    }
}

/// A report in which names are compared.
pub(crate) struct Row<'a> {
    /// Its index among the points.
    pub place: usize,
    /// Months since the first report.
    pub month: f64,
    /// The total load.
    pub total: u64,
    pub list: &'a Listed,
}

impl NameTrend {
    /// Compares the names of `rows`, ordered by date, among `points` reports; `None` if no row has a list.
    pub(crate) fn of(rows: &[Row<'_>], points: usize, pool: &Pool) -> Option<NameTrend> {
        let names = pool.names();
        let newest = rows.last()?;
        let mut heaviest: Vec<_> = newest.list.rows.iter().collect();
        heaviest.sort_by_key(|(id, load, _)| (Reverse(*load), names[*id as usize]));
        heaviest.truncate(SERIES);
        let series = |(id, load, _): &&(u32, u64, u64)| {
            let mut loads = vec![None; points];
            for row in rows {
                loads[row.place] = row.list.load(*id);
            }
            let listed = rows.iter();
            let listed = listed.filter_map(|row| Some((row.month, row.list.load(*id)? as f64)));
            let fit = Fit::new(&listed.collect::<Vec<_>>());
            NameSeries {
                name: names[*id as usize].clone(),
                loads,
                growth: fit.map(|fit| fit.rate()),
                share: *load as f64 / newest.total.max(1) as f64,
            }
        };
        let mut events = [Events::default(), Events::default()];
        for pair in rows.windows(2) {
            compare(&pair[0], &pair[1], &mut events);
            events
                .iter_mut()
                .for_each(|events| events.keep_heaviest(&names));
        }
        let [appeared_count, vanished_count] = [events[0].count, events[1].count];
        let [appeared, vanished] = events.map(|events| events.named(&names));
        Some(NameTrend {
            top: heaviest.iter().map(series).collect(),
            appeared,
            vanished,
            appeared_count,
            vanished_count,
        })
    }
}

/// Events of one kind, and their number before dropping light ones.
#[derive(Default)]
struct Events {
    list: Vec<Event>,
    count: u64,
}

/// An event, by name id.
struct Event {
    id: u32,
    places: [usize; 2],
    load: u64,
    other_at_most: u64,
}

impl Events {
    fn keep_heaviest(&mut self, names: &[&Name]) {
        let name = |event: &Event| names[event.id as usize];
        self.list.sort_by(|a, b| {
            (Reverse(a.load), name(a), a.places).cmp(&(Reverse(b.load), name(b), b.places))
        });
        self.list.truncate(EVENTS);
    }

    fn named(self, names: &[&Name]) -> Vec<NameEvent> {
        let event = |event: Event| NameEvent {
            name: names[event.id as usize].clone(),
            from: event.places[0],
            to: event.places[1],
            load: event.load,
            other_at_most: event.other_at_most,
        };
        self.list.into_iter().map(event).collect()
    }
}

/// Adds what appeared and vanished between two reports.
fn compare(old: &Row<'_>, new: &Row<'_>, [appeared, vanished]: &mut [Events; 2]) {
    use Known::Unlisted;
    let ids = |row: &Row<'_>| {
        row.list
            .rows
            .iter()
            .map(|row| row.0)
            .collect::<BTreeSet<_>>()
    };
    let is_new = |by: u64, below: u64| by >= below.saturating_mul(MANY);
    for id in ids(old).union(&ids(new)) {
        let (before, after) = (old.list.known(*id), new.list.known(*id));
        let (events, load, other_at_most) = match (before.until(after), before, after) {
            (Fate::Appeared(load), ..) => (&mut *appeared, load, 0),
            (Fate::Vanished(load), ..) => (&mut *vanished, load, 0),
            (Fate::Grew(by), Unlisted(below), _) if is_new(by, below) => {
                (&mut *appeared, by + below, below)
            }
            (Fate::Shrank(by), _, Unlisted(below)) if is_new(by, below) => {
                (&mut *vanished, by + below, below)
            }
            _ => continue,
        };
        events.count += 1;
        events.list.push(Event {
            id: *id,
            places: [old.place, new.place],
            load,
            other_at_most,
        });
    }
}

/// Whether two non-empty lists have no name in common: they were redacted with different keys.
pub(crate) fn have_nothing_in_common(old: &Listed, new: &Listed) -> bool {
    let is_in_new = |row: &(u32, u64, u64)| new.load(row.0).is_some();
    !old.rows.is_empty() && !new.rows.is_empty() && !old.rows.iter().any(is_in_new)
}

/// The list of a metric.
pub(crate) fn list_of(lists: &Lists, by: Metric) -> Option<&Listed> {
    lists.as_ref()?.get(by)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(pool: &mut Pool, rows: &[(&str, u64)], below: u64) -> Listed {
        let row = |(name, load): &(&str, u64)| (pool.id(&Name::from(*name)).unwrap(), *load, *load);
        let mut rows: Vec<_> = rows.iter().map(row).collect();
        rows.sort_unstable();
        Listed { rows, below }
    }

    #[test]
    fn a_name_from_below_a_list_appeared_where_it_held_a_tenth_at_most() {
        let mut pool = Pool::default();
        let old = listed(&mut pool, &[("stays", 100), ("goes", 50), ("sinks", 49)], 5);
        let new = listed(&mut pool, &[("stays", 90), ("comes", 50), ("rises", 49)], 5);
        let row = |place, list| Row {
            place,
            month: place as f64,
            total: 400,
            list,
        };
        let found = NameTrend::of(&[row(0, &old), row(1, &new)], 2, &pool).unwrap();
        let names = |events: &[NameEvent]| {
            let named = events.iter();
            let named =
                named.map(|event| (event.name.to_string(), event.load, event.other_at_most));
            named.collect::<Vec<_>>()
        };
        assert_eq!(names(&found.appeared), [(String::from("comes"), 50, 5)]);
        assert_eq!(names(&found.vanished), [(String::from("goes"), 50, 5)]);
        assert_eq!((found.appeared_count, found.vanished_count), (1, 1));
        assert_eq!(found.top[0].name, Name::from("stays"));
        assert_eq!(found.top[0].loads, [Some(100), Some(90)]);
        assert_eq!(found.top[1].loads, [None, Some(50)]);
    }

    #[test]
    fn names_take_a_bounded_amount_of_memory() {
        let mut pool = Pool {
            bytes: MOST_BYTES - 300,
            ..Pool::default()
        };
        pool.id(&Name::from("short")).unwrap();
        let refused = pool.id(&Name(vec![b'x'; 300])).unwrap_err().to_string();
        assert!(refused.contains("more than 512 MiB"), "{refused}");
    }

    #[test]
    fn of_very_many_events_the_heaviest_are_kept_and_all_are_counted() {
        let mut pool = Pool::default();
        let names: Vec<String> = (0..3000).map(|i| format!("n{i}")).collect();
        let rows: Vec<_> = names
            .iter()
            .zip(1..)
            .map(|(name, load)| (name.as_str(), load))
            .collect();
        let (old, new) = (listed(&mut pool, &[], 0), listed(&mut pool, &rows, 0));
        let row = |place, list| Row {
            place,
            month: place as f64,
            total: 1,
            list,
        };
        let found = NameTrend::of(&[row(0, &old), row(1, &new)], 2, &pool).unwrap();
        assert_eq!((found.appeared.len(), found.appeared_count), (EVENTS, 3000));
        assert_eq!((found.appeared[0].load, found.top.len()), (3000, SERIES));
    }
}
