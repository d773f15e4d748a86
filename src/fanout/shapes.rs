//! Kinds of batches: what all batches of a command and of the same key patterns touch.
//!
//! The kinds that touch most slots beyond one each are kept (space-saving; Metwally, Agrawal, El Abbadi, ICDT 2005): where
//! the table is full the lighter half goes, and a kind that comes later ranks as if it had what the heaviest of those had.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::name::Name;
use slotscope_findings::summary::balance::tidy;

use crate::fanout::outcome::BatchOutcome;
use crate::fanout::suggestion::{Parsed, TagSuggestion};
use crate::fanout::trial::{NoSuggestion, Trial};

/// Kinds that are listed; twice as many are followed.
const LISTED: usize = 1000;
/// Patterns of keys that define a kind, and bytes of each.
const MAX_PATTERNS: usize = 4;
const MAX_PATTERN: usize = 256;
/// Tags that are tried for a kind, and batches over several slots that are searched for one.
const MAX_TRIALS: usize = 4;
const MAX_SEARCHED: u64 = 16;
/// Batches of a kind from which on a tag is suggested.
pub(crate) const LEAST_BATCHES: u64 = 100;

/// Batches by kind.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    known: BTreeMap<Shape, Sums>,
    /// The rank of the heaviest kind that was dropped.
    floor: u64,
    /// Batches over several slots.
    crossing: u64,
}

/// The parts that define a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    command: Option<&'static str>,
    patterns: Vec<Vec<u8>>,
    /// There are more patterns than are kept.
    more: bool,
}

/// The sums over all batches of a kind.
#[derive(Debug, Default)]
struct Sums {
    /// `Shapes::floor` when the kind came.
    inherited: u64,
    batches: u64,
    /// Those over several slots.
    crossing: u64,
    refused: u64,
    slots: u64,
    nodes: u64,
    /// Tags that would bring a batch together.
    trials: Vec<Trial>,
    searched: u64,
}

impl Sums {
    /// Slots beyond one a batch, as many as there may be.
    fn rank(&self) -> u64 {
        self.inherited + self.slots - self.batches
    }
}

/// The keys, slots and nodes that a batch touches.
pub(crate) struct Touched<'a> {
    /// The command, in lower case; none for bare keys.
    pub command: Option<&'static str>,
    /// Its keys, or the first of very many.
    pub keys: &'a [Vec<u8>],
    /// Distinct slots.
    pub slots: u64,
    /// Distinct nodes.
    pub nodes: u64,
    /// How it ends.
    pub answer: BatchOutcome,
}

/// A kind of batches.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
    /// Slots of one, in the mean.
    pub mean_slots: f64,
    /// Nodes of one, in the mean.
    pub mean_nodes: f64,
    /// A tag that would bring its keys together.
    pub suggestion: Option<Suggestion>,
    /// Why none is suggested; absent where one is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_suggestion: Option<NoSuggestion>,
}

/// A tag for the keys of a kind of batches.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Suggestion {
    /// The keys with it, as a pattern.
    pub retag: Name,
    /// Slots of one batch then, in the mean.
    pub mean_slots_after: f64,
    /// Rules for `whatif --retag` that rename them so.
    pub rules: Vec<String>,
}

impl Shapes {
    /// Takes in a batch.
    pub(crate) fn add(&mut self, batch: &Touched<'_>) {
        let keys: Vec<Parsed<'_>> = batch.keys.iter().map(|key| Parsed::of(key)).collect();
        let shape = shape(batch.command, &keys);
        let can_be_tagged = !shape.more && keys.iter().all(|key| key.pattern.len() <= MAX_PATTERN);
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
        let is_searched = batch.slots > 1 && can_be_tagged && sums.trials.is_empty();
        if is_searched && sums.searched < MAX_SEARCHED {
            sums.searched += 1;
            let found = TagSuggestion::all(&keys, MAX_TRIALS).into_iter();
            sums.trials = found.map(Trial::of).collect();
        }
        sums.trials.iter_mut().for_each(|trial| trial.add(&keys));
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

    /// The kinds that touch several slots, those first that touch the most beyond one each.
    pub(crate) fn worst(&self) -> Vec<WorstShape> {
        let crossing = self
            .known
            .iter()
            .filter(|(_, sums)| sums.slots > sums.batches);
        let mut rows: Vec<_> = crossing.collect();
        rows.sort_by_key(|(shape, sums)| (Reverse(sums.slots - sums.batches), *shape));
        let listed = rows.into_iter().take(LISTED);
        listed.map(|(shape, sums)| row(shape, sums)).collect()
    }

    /// Batches over several slots that are not of `listed` kinds.
    pub(crate) fn crossing_but(&self, listed: &[WorstShape]) -> u64 {
        let of_listed: u64 = listed.iter().map(|kind| kind.crossing).sum();
        self.crossing - of_listed
    }
}

fn shape(command: Option<&'static str>, keys: &[Parsed<'_>]) -> Shape {
    let mut patterns: Vec<Vec<u8>> = Vec::new();
    let mut more = false;
    for key in keys {
        let pattern = &key.pattern[..key.pattern.len().min(MAX_PATTERN)];
        if patterns.iter().any(|known| known == pattern) {
            continue;
        }
        more |= patterns.len() == MAX_PATTERNS;
        if !more {
            patterns.push(pattern.to_vec());
        }
    }
    patterns.sort();
    Shape {
        command,
        patterns,
        more,
    }
}

fn row(shape: &Shape, sums: &Sums) -> WorstShape {
    let mean = |sum: u64| tidy(sum as f64 / sums.batches as f64);
    let mut pattern = shape.patterns.join(&b' ');
    pattern.extend_from_slice(if shape.more { " …".as_bytes() } else { b"" });
    let suggestion = suggestion(sums);
    WorstShape {
        pattern: Name(pattern),
        command: shape.command,
        batches: sums.batches,
        crossing: sums.crossing,
        refused: sums.refused,
        mean_slots: mean(sums.slots),
        mean_nodes: mean(sums.nodes),
        no_suggestion: suggestion.as_ref().err().copied(),
        suggestion: suggestion.ok(),
    }
}

/// The tag that leaves the fewest slots, of those that there is reason to suggest.
fn suggestion(sums: &Sums) -> Result<Suggestion, NoSuggestion> {
    let judged = sums
        .trials
        .iter()
        .filter(|trial| trial.batches >= LEAST_BATCHES);
    if sums.batches < LEAST_BATCHES || !sums.trials.is_empty() && judged.clone().count() == 0 {
        return Err(NoSuggestion::FewBatches);
    }
    let mean_slots = sums.slots as f64 / sums.batches as f64;
    let helps = |trial: &&Trial| trial.brings_together() && trial.mean_slots() < mean_slots;
    let helping = judged.filter(helps);
    let fitting = helping.clone().filter(|trial| trial.why_not().is_none());
    let best = fitting.min_by(|a, b| a.mean_slots().total_cmp(&b.mean_slots()));
    let Some(best) = best else {
        let why_not = helping.filter_map(Trial::why_not).min();
        return Err(why_not.unwrap_or(NoSuggestion::NoCommonId));
    };
    let patterns = best.suggestion.patterns();
    let patterns: Vec<&[u8]> = patterns.iter().map(|name| name.0.as_slice()).collect();
    Ok(Suggestion {
        retag: Name(patterns.join(&b' ')),
        mean_slots_after: tidy(best.mean_slots()),
        rules: best.suggestion.rules(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(shapes: &mut Shapes, keys: &[&str]) {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.as_bytes().to_vec()).collect();
        let mut slots: Vec<u16> = keys
            .iter()
            .map(|key| slotscope_engine::slot::slot(key))
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

    /// The tag for a kind of `count` batches, or why it gets none.
    fn judged(count: usize, keys: impl Fn(usize) -> [String; 2]) -> Result<String, NoSuggestion> {
        let mut shapes = Shapes::default();
        for i in 0..count {
            let [a, b] = keys(i);
            batch(&mut shapes, &[&a, &b]);
        }
        let worst = shapes.worst();
        assert_eq!((worst.len(), worst[0].batches), (1, count as u64));
        match (&worst[0].suggestion, worst[0].no_suggestion) {
            (Some(suggestion), None) => Ok(suggestion.retag.to_string()),
            (None, Some(why)) => Err(why),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_tag_is_suggested_where_many_batches_have_ids_of_their_own_in_common() {
        let carts = |i: usize| {
            [
                format!("cart:{}:items", i * 7),
                format!("cart:{}:meta", i * 7),
            ]
        };
        let tagged = "cart:{cart:<n>}:items cart:{cart:<n>}:meta";
        assert_eq!(judged(100, carts), Ok(tagged.into()));
        assert_eq!(judged(99, carts), Err(NoSuggestion::FewBatches));
        // A year among many ids is an id like the others.
        assert_eq!(judged(400, |i| carts(i + 280)), Ok(tagged.into()));
        // Two numbers that are the same in the first batch are the same by accident.
        let accident = |i: usize| {
            [
                format!("order:{}:a", i * 3 + 100),
                format!("flag:{}:b", i * 7 + 100),
            ]
        };
        assert_eq!(judged(400, accident), Err(NoSuggestion::NoCommonId));
        // The accident may be in the first batch alone, and the id in all others.
        let late = |i: usize| {
            [
                format!("order:{i}:a"),
                format!("order:{}:b", if i == 0 { 5 } else { i }),
            ]
        };
        assert!(judged(400, late).is_ok());
    }

    #[test]
    fn a_tag_that_would_be_hot_is_not_suggested() {
        let dates = |i: usize| {
            let day = format!("2026-{:02}-{:02}", i % 12 + 1, i % 28 + 1);
            [format!("lb:chess:{day}"), format!("lb:go:{day}")]
        };
        assert_eq!(judged(400, dates), Err(NoSuggestion::Date));
        let constant = |i: usize| [format!("a:{i}:4711"), format!("b:{}:4711", i + 1)];
        assert_eq!(judged(400, constant), Err(NoSuggestion::FewValues));
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
