//! Kinds of batches: what batches with the same command and key patterns touch.
//!
//! Keeps the kinds that touch most slots beyond one (space-saving; Metwally, Agrawal, El Abbadi, ICDT 2005): when the
//! table is full, the lighter half is dropped, and a kind that comes later inherits the rank of the heaviest dropped
//! one.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use slotscope_base::name::Name;
use slotscope_keyname::ids::pattern_of;
use slotscope_model::balance::tidy;

use crate::fanout::outcome::BatchOutcome;

/// Kinds listed; twice as many are tracked.
const LISTED: usize = 1000;
/// Key patterns that define a kind, and bytes of each.
const MAX_PATTERNS: usize = 4;
const MAX_PATTERN: usize = 256;
/// Batches by kind.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    known: BTreeMap<Shape, Sums>,
    /// The rank of the heaviest dropped kind.
    floor: u64,
    /// Batches across several slots.
    crossing: u64,
}

/// The definition of a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    command: Option<&'static str>,
    patterns: Vec<Vec<u8>>,
    /// There are more patterns than are kept.
    has_more: bool,
}

/// Totals over all batches of a kind.
#[derive(Debug, Default)]
struct Sums {
    /// `Shapes::floor` when the kind was added.
    inherited: u64,
    batches: u64,
    /// Batches across several slots.
    crossing: u64,
    refused: u64,
    slots: u64,
    nodes: u64,
}

impl Sums {
    /// An upper bound on the slots beyond one per batch.
    fn rank(&self) -> u64 {
        self.inherited + self.slots - self.batches
    }
}

/// The keys, slots and nodes that a batch touches.
pub(crate) struct Touched<'a> {
    /// The command in lower case; `None` for bare keys.
    pub command: Option<&'static str>,
    /// Its keys; if there are very many, the first ones.
    pub keys: &'a [Vec<u8>],
    /// Distinct slots.
    pub slots: u64,
    /// Distinct nodes.
    pub nodes: u64,
    /// Its outcome.
    pub answer: BatchOutcome,
}

/// A kind of batches.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct WorstShape {
    /// The patterns of its keys, separated by blanks.
    pub pattern: Name,
    /// The command, `multi` for a transaction; absent for bare keys.
    pub command: Option<&'static str>,
    /// How many batches there are.
    pub batches: u64,
    /// How many of them touch several slots.
    pub crossing: u64,
    /// How many of them are refused.
    pub refused: u64,
    /// Mean number of slots of one.
    pub mean_slots: f64,
    /// Mean number of nodes of one.
    pub mean_nodes: f64,
}

impl Shapes {
    pub(crate) fn add(&mut self, batch: &Touched<'_>) {
        let shape = shape(batch.command, batch.keys);
        if self.known.len() >= 2 * LISTED && !self.known.contains_key(&shape) {
            self.drop_lighter_half();
        }
        let is_crossing = u64::from(batch.slots > 1);
        self.crossing += is_crossing;
        let inherited = self.floor;
        let sums = self.known.entry(shape).or_insert_with(|| Sums {
            inherited,
            ..Sums::default()
        });
        sums.batches += 1;
        sums.crossing += is_crossing;
        sums.refused += u64::from(batch.answer != BatchOutcome::Served);
        sums.slots += batch.slots;
        sums.nodes += batch.nodes;
    }

    fn drop_lighter_half(&mut self) {
        let mut ranks: Vec<(Reverse<u64>, &Shape)> = self
            .known
            .iter()
            .map(|(shape, sums)| (Reverse(sums.rank()), shape))
            .collect();
        ranks.sort();
        let dropped: Vec<Shape> = ranks[LISTED..]
            .iter()
            .map(|(_, shape)| (*shape).clone())
            .collect();
        for shape in dropped {
            let rank = self.known.remove(&shape).map_or(0, |sums| sums.rank());
            self.floor = self.floor.max(rank);
        }
    }

    /// The kinds across several slots, by slots beyond one.
    pub(crate) fn worst(&self) -> Vec<WorstShape> {
        let crossing = self
            .known
            .iter()
            .filter(|(_, sums)| sums.slots > sums.batches);
        let mut rows: Vec<_> = crossing.collect();
        rows.sort_by_key(|(shape, sums)| {
            let beyond = sums.slots - sums.batches;
            (Reverse(beyond), *shape)
        });
        let listed = rows.into_iter().take(LISTED);
        listed.map(|(shape, sums)| row(shape, sums)).collect()
    }

    /// Batches across several slots of kinds not in `listed`.
    pub(crate) fn crossing_but(&self, listed: &[WorstShape]) -> u64 {
        let of_listed: u64 = listed.iter().map(|kind| kind.crossing).sum();
        self.crossing - of_listed
    }
}

fn shape(command: Option<&'static str>, keys: &[Vec<u8>]) -> Shape {
    let mut patterns: Vec<Vec<u8>> = Vec::new();
    let mut has_more = false;
    for key in keys {
        let mut pattern = pattern_of(key);
        pattern.truncate(MAX_PATTERN);
        if patterns.contains(&pattern) {
            continue;
        }
        has_more |= patterns.len() == MAX_PATTERNS;
        if !has_more {
            patterns.push(pattern);
        }
    }
    patterns.sort();
    Shape {
        command,
        patterns,
        has_more,
    }
}

fn row(shape: &Shape, sums: &Sums) -> WorstShape {
    let mean = |sum: u64| tidy(sum as f64 / sums.batches as f64);
    let mut pattern = shape.patterns.join(&b' ');
    if shape.has_more {
        pattern.extend_from_slice(" …".as_bytes());
    }
    WorstShape {
        pattern: Name(pattern),
        command: shape.command,
        batches: sums.batches,
        crossing: sums.crossing,
        refused: sums.refused,
        mean_slots: mean(sums.slots),
        mean_nodes: mean(sums.nodes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(shapes: &mut Shapes, keys: &[&str]) {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        let mut slots: Vec<u16> = keys
            .iter()
            .map(|key| slotscope_base::slot::slot(key))
            .collect();
        slots.sort_unstable();
        slots.dedup();
        shapes.add(&Touched {
            command: None,
            keys: &keys,
            slots: slots.len() as u64,
            nodes: 1,
            answer: BatchOutcome::Served,
        });
    }

    #[test]
    fn heavy_kinds_are_kept_however_many_light_ones_come_first() {
        let mut shapes = Shapes::default();
        let word = |i: usize| {
            let letter = |place: u32| (b'a' + (i / 26usize.pow(place) % 26) as u8) as char;
            (0..4).map(letter).collect::<String>()
        };
        for i in 0..30_000 {
            batch(
                &mut shapes,
                &[&format!("{}:a", word(i)), &format!("{}:b", word(i))],
            );
            if i >= 5000 {
                batch(&mut shapes, &["heavy:a", "heavy:b", "heavy:c"]);
            }
        }
        assert!(shapes.known.len() <= 2 * LISTED);
        let worst = shapes.worst();
        assert_eq!(worst[0].pattern, Name::from("heavy:a heavy:b heavy:c"));
        assert_eq!(worst[0].batches, 25_000);
        let listed: u64 = worst.iter().map(|kind| kind.crossing).sum();
        assert_eq!(listed + shapes.crossing_but(&worst), 55_000);
    }
}
