//! How many shards: what the fullest would hold, by a placement of all slots that was made, beside the bound that none can beat.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_model::Summary;

use crate::capacity::fit::Reached;
use crate::capacity::grow::Grown;
use crate::capacity::months::after;
use crate::capacity::outlook::Outlook;
use crate::capacity::shards::Memory;

/// The most numbers of shards that are tried at once.
pub const MOST: usize = 16;
/// A tag or key gives its slot a name where it holds this part of it.
const NAMING: f64 = 0.5;

/// The cluster with another number of shards.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct ShardCount {
    /// How many.
    pub shards: u64,
    /// The fullest of them in each metric, with a placement for that metric alone; `bytes` are its memory.
    #[serde(flatten)]
    pub fullest: PerMetric<Fullest>,
    /// Whether it fits, where a limit of memory is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fits: Option<Fits>,
    /// Until the fullest is full, in months after the newest report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<Reached>,
    /// When by the estimate, in seconds since 1970 (UTC).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full_on: Option<u64>,
}

/// The load of the fullest shard.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Fullest {
    /// By a placement that was made.
    pub now: u64,
    /// No placement has less on its fullest: the mean, or the heaviest slot.
    pub bound: u64,
    /// After growth: as assumed by `--grow`, else in `horizon` months; absent where neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown: Option<u64>,
    /// With one shard less.
    pub one_lost: u64,
    /// After growth with one shard less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown_one_lost: Option<u64>,
}

/// Whether the fullest shard stays below the part of its limit that is `full_at`; by estimates, without their intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Fits {
    /// Today.
    pub now: bool,
    /// With one shard less.
    pub one_lost: bool,
    /// After growth; absent where it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown: Option<bool>,
    /// After growth with one shard less.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grown_one_lost: Option<bool>,
}

/// From where more shards do not help.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Floor {
    /// The metric.
    pub by: Metric,
    /// With more shards than this the heaviest slot is more than the mean shard.
    pub shards: u64,
    /// The slot.
    pub slot: u16,
    /// Its load.
    pub load: u64,
    /// As `shards`, after growth: as assumed by `--grow`, else in `horizon` months; absent where neither is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shards_grown: Option<u64>,
    /// The hash tag that holds most of it, if the report lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<Name>,
    /// The key that holds most of it, if the report lists it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Name>,
}

/// The numbers of shards: those of `asked`, else some from today's to twice that.
///
/// # Errors
/// Too many, or one that no cluster has.
pub(crate) fn numbers(asked: &[u64], today: u64) -> Result<Vec<u64>> {
    let bad = |reason: String| Err(Error::bad("--shards", reason));
    if asked.len() > MOST {
        return bad(format!("{} numbers; name at most {MOST}", asked.len()));
    }
    if let Some(wrong) = asked
        .iter()
        .find(|shards| !(1..=SLOTS as u64).contains(shards))
    {
        return bad(format!("{wrong} shards; a cluster has 1 to {SLOTS}"));
    }
    let mut numbers = match asked {
        [] => {
            let (from, to) = (today.max(3), (2 * today).clamp(3, SLOTS as u64));
            let steps = (to - from).min(6);
            let at = |step: u64| from + (to - from) * step / steps.max(1);
            (0..=steps).map(at).chain([today]).collect()
        }
        asked => asked.to_vec(),
    };
    numbers.sort_unstable();
    numbers.dedup();
    Ok(numbers.into_iter().filter(|shards| *shards > 0).collect())
}

/// The input of the placements.
pub(crate) struct Sizing<'a> {
    pub summary: &'a Summary,
    pub grown: Option<&'a Grown>,
    pub memory: Memory,
    /// All load over time, and that of the heaviest slot.
    pub total: &'a PerMetric<Outlook>,
    pub heaviest: &'a PerMetric<Outlook>,
    /// Months that growth is looked at after.
    pub horizon: Option<u32>,
    /// Bytes that a shard may fill.
    pub room: Option<f64>,
}

impl Sizing<'_> {
    /// The cluster with each of these numbers of shards; the newest report is of the time `today`.
    pub(crate) fn of(&self, numbers: &[u64], today: u64) -> Vec<ShardCount> {
        let slots = self
            .summary
            .slots
            .loads
            .map(|_, loads| descending(loads.iter().map(|load| *load as f64).collect()));
        let grown = self
            .grown
            .map(|grown| grown.slots.map(|_, loads| descending(loads.clone())));
        let fullest = |metric: Metric, slots: &[f64], shards: u64| {
            let placed = fullest_of(slots, shards);
            let grown = grown.as_ref().and_then(|grown| grown.get(metric));
            let grown_to = |shards| match grown {
                Some(grown) => Some(fullest_of(grown, shards)),
                None => self.in_time(metric, fullest_of(slots, shards)),
            };
            let mean: f64 = slots.iter().sum::<f64>() / shards as f64;
            let bound = slots.first().map_or(mean, |heaviest| heaviest.max(mean));
            let less = shards.max(2) - 1;
            Fullest {
                now: self.spelled(metric, placed),
                bound: self.spelled(metric, bound),
                grown: grown_to(shards).map(|load| self.spelled(metric, load)),
                one_lost: self.spelled(metric, fullest_of(slots, less)),
                grown_one_lost: grown_to(less).map(|load| self.spelled(metric, load)),
            }
        };
        let count = |shards: &u64| {
            let placed = slots.map(|metric, slots| fullest(metric, slots, *shards));
            let fits = placed.bytes().and_then(|placed| self.fits(placed));
            let full = placed.bytes().and_then(|placed| self.full(placed.now));
            ShardCount {
                shards: *shards,
                fullest: placed,
                fits,
                full,
                full_on: full
                    .and_then(|full| full.estimate)
                    .map(|months| after(today, months)),
            }
        };
        numbers.iter().map(count).collect()
    }

    /// The load of the fullest at the horizon, if it grows as all data do, or as the heaviest slot does if that outgrows it.
    fn in_time(&self, metric: Metric, fullest: f64) -> Option<f64> {
        let total = self.total.get(metric)?;
        let growth = total.ahead(self.horizon?)? / (total.now as f64).max(1.0);
        let heaviest = self
            .heaviest
            .get(metric)
            .and_then(|slot| slot.ahead(self.horizon?));
        Some((fullest * growth).max(heaviest.unwrap_or(0.0)))
    }

    /// Bytes of keys as memory.
    fn spelled(&self, metric: Metric, load: f64) -> u64 {
        let load = match metric {
            Metric::Bytes => self.memory.of(load),
            _ => load,
        };
        // A bound of 2.3 keys is 3.
        (load - 1e-6).ceil().max(0.0) as u64
    }

    fn fits(&self, placed: &Fullest) -> Option<Fits> {
        let room = self.room?;
        let fits = |memory: u64| memory as f64 <= room;
        Some(Fits {
            now: fits(placed.now),
            one_lost: fits(placed.one_lost),
            grown: placed.grown.map(fits),
            grown_one_lost: placed.grown_one_lost.map(fits),
        })
    }

    /// When the fullest is full: if it grows as all data do, or earlier, as the heaviest slot does.
    fn full(&self, memory: u64) -> Option<Reached> {
        let (room, total) = (self.memory.keys_in(self.room?), self.total.bytes()?);
        let bytes = self.memory.keys_in(memory as f64).max(1.0);
        let as_all = total.reaches(total.now as f64 * room / bytes)?;
        let slot = self.heaviest.bytes().and_then(|slot| slot.reaches(room));
        let months = |reached: &Reached| reached.estimate.unwrap_or(f64::INFINITY);
        Some(
            slot.filter(|slot| months(slot) < months(&as_all))
                .unwrap_or(as_all),
        )
    }

    /// From where more shards do not help, in a metric.
    pub(crate) fn floor(&self, metric: Metric) -> Option<Floor> {
        let loads = self.summary.slots.loads.get(metric)?;
        let total: f64 = loads.iter().map(|load| *load as f64).sum();
        let (slot, load) = heaviest(loads)?;
        let holds_most = |part: u64| part as f64 >= NAMING * load as f64;
        let tags = self.summary.tags.iter().flat_map(|tags| &tags.top);
        let tag = tags
            .filter(|tag| tag.slot == slot)
            .find(|tag| holds_most(tag.load.get(metric).copied().unwrap_or(0)));
        let keys = self.summary.keys.iter().flat_map(|keys| &keys.top);
        let key = keys
            .filter(|key| key.slot == slot)
            .find(|key| holds_most(key.weight(metric)));
        Some(Floor {
            by: metric,
            shards: (total / load as f64) as u64,
            shards_grown: self.floor_grown(metric).map(|shards| shards as u64),
            slot,
            load,
            tag: tag.map(|tag| tag.tag.clone()),
            key: key.map(|key| key.key.clone()),
        })
    }
}

impl Sizing<'_> {
    /// How many times the heaviest slot all load is after growth.
    fn floor_grown(&self, metric: Metric) -> Option<f64> {
        if let Some(grown) = self.grown {
            let slots = grown.slots.get(metric)?.iter().copied();
            return Some(slots.clone().sum::<f64>() / slots.fold(1.0, f64::max));
        }
        let [total, heaviest] = [self.total, self.heaviest].map(|of| of.get(metric));
        Some(total?.ahead(self.horizon?)? / heaviest?.ahead(self.horizon?)?.max(1.0))
    }
}

/// The heaviest slot and its load; the first of equals, `None` if all are empty.
pub(crate) fn heaviest(loads: &[u64]) -> Option<(u16, u64)> {
    let slots = (0u16..).zip(loads.iter().copied());
    slots
        .max_by_key(|(slot, load)| (*load, Reverse(*slot)))
        .filter(|(_, load)| *load > 0)
}

fn descending(mut loads: Vec<f64>) -> Vec<f64> {
    loads.sort_by(|a, b| b.total_cmp(a));
    loads
}

/// The load of the fullest shard where each slot in turn, the heaviest first, goes to the emptiest (Graham 1969).
fn fullest_of(slots: &[f64], shards: u64) -> f64 {
    // Loads as ordered bits: none is negative.
    let mut emptiest: BinaryHeap<Reverse<u64>> = (0..shards).map(|_| Reverse(0)).collect();
    let mut fullest = 0.0f64;
    for load in slots.iter().take_while(|load| **load > 0.0) {
        let Some(mut least) = emptiest.peek_mut() else {
            return fullest;
        };
        let filled = f64::from_bits(least.0) + load;
        *least = Reverse(filled.to_bits());
        fullest = fullest.max(filled);
    }
    fullest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fullest_is_that_of_a_placement_and_near_the_bound_where_slots_are_small() {
        assert_eq!(fullest_of(&[5.0, 4.0, 3.0, 3.0, 3.0], 2), 10.0);
        assert_eq!(fullest_of(&[9.0, 1.0, 1.0], 3), 9.0);
        assert_eq!(fullest_of(&[], 3), 0.0);
        let mut slots: Vec<f64> = (0..16_384).map(|slot| f64::from(slot % 97)).collect();
        slots[7] = 50_000.0;
        let (slots, total) = (descending(slots.clone()), slots.iter().sum::<f64>());
        for shards in 3..=64 {
            let bound = (total / shards as f64).max(50_000.0);
            assert!(fullest_of(&slots, shards) <= 1.01 * bound, "{shards}");
        }
    }

    #[test]
    fn numbers_are_from_today_to_twice_that_unless_they_are_asked_for() {
        assert_eq!(numbers(&[], 6).unwrap(), [6, 7, 8, 9, 10, 11, 12]);
        assert_eq!(numbers(&[], 1).unwrap(), [1, 3]);
        assert_eq!(numbers(&[12, 6, 8, 6], 6).unwrap(), [6, 8, 12]);
        assert_eq!(numbers(&[], 1000).unwrap().last(), Some(&2000));
        assert!(numbers(&[0], 6).is_err() && numbers(&[20_000], 6).is_err());
        assert!(numbers(&[5; 17], 6).is_err());
    }
}
