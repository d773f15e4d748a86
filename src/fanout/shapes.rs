//! Kinds of batches: what all batches of a command and of the same key patterns touch.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fanout::outcome::BatchOutcome;
use crate::fanout::suggestion::{Parsed, TagSuggestion};
use crate::name::Name;
use crate::summary::balance::tidy;

/// Kinds that are counted separately; batches of later kinds are counted together.
const MAX_SHAPES: usize = 1000;
/// Patterns of keys that define a kind, and bytes of each.
const MAX_PATTERNS: usize = 4;
const MAX_PATTERN: usize = 256;
/// Tags that are tried for a kind.
const MAX_SUGGESTIONS: usize = 4;

/// Batches by kind.
#[derive(Debug, Default)]
pub struct Shapes {
    known: BTreeMap<Shape, Sums>,
    /// Batches over several slots of kinds beyond those.
    pub left_out: u64,
}

/// What defines a kind.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    command: Option<&'static str>,
    patterns: Vec<Vec<u8>>,
    /// There are more patterns than are kept.
    more: bool,
}

/// What all batches of a kind touch.
#[derive(Debug, Default)]
struct Sums {
    batches: u64,
    refused: u64,
    slots: u64,
    nodes: u64,
    /// Tags that would bring the first batch together, and the slots of all with it.
    suggestions: Vec<(TagSuggestion, u64)>,
    tried: bool,
}

/// What a batch touches.
pub struct Touched<'a> {
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
    /// How many of them are refused.
    pub refused: u64,
    /// Slots of one, in the mean.
    pub mean_slots: f64,
    /// Nodes of one, in the mean.
    pub mean_nodes: f64,
    /// A tag that would bring its keys together; absent where no id is common to them.
    pub suggestion: Option<Suggestion>,
}

/// A tag for the keys of a kind of batches.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Suggestion {
    /// What the keys look like with it.
    pub retag: Name,
    /// Slots of one batch then, in the mean.
    pub mean_slots_after: f64,
    /// Rules for `whatif --retag` that rename them so.
    pub rules: Vec<String>,
}

impl Shapes {
    /// Takes in a batch.
    pub fn add(&mut self, batch: &Touched<'_>) {
        let keys: Vec<Parsed<'_>> = batch.keys.iter().map(|key| Parsed::of(key)).collect();
        let shape = shape(batch.command, &keys);
        let can_be_tagged = !shape.more && keys.iter().all(|key| key.pattern.len() <= MAX_PATTERN);
        if self.known.len() == MAX_SHAPES && !self.known.contains_key(&shape) {
            self.left_out += u64::from(batch.slots > 1);
            return;
        }
        let sums = self.known.entry(shape).or_default();
        sums.batches += 1;
        sums.refused += u64::from(batch.answer != BatchOutcome::Served);
        sums.slots += batch.slots;
        sums.nodes += batch.nodes;
        if batch.slots > 1 && can_be_tagged && !sums.tried {
            // The batches before are of one slot each; a tag must not separate them, as far as it is of a common id.
            let before = sums.batches - 1;
            sums.tried = true;
            sums.suggestions = TagSuggestion::all(&keys, MAX_SUGGESTIONS)
                .into_iter()
                .map(|suggestion| (suggestion, before))
                .collect();
        }
        for (suggestion, slots) in &mut sums.suggestions {
            let mut after: Vec<Option<u16>> = keys.iter().map(|key| suggestion.slot(key)).collect();
            after.sort_unstable();
            after.dedup();
            *slots += after.len() as u64;
        }
    }

    /// The kinds that touch several slots, those first that touch the most beyond one each.
    pub fn worst(&self) -> Vec<WorstShape> {
        let mut rows: Vec<_> = self
            .known
            .iter()
            .filter(|(_, sums)| sums.slots > sums.batches)
            .collect();
        rows.sort_by_key(|(shape, sums)| (Reverse(sums.slots - sums.batches), *shape));
        rows.into_iter()
            .map(|(shape, sums)| row(shape, sums))
            .collect()
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
    let best = sums
        .suggestions
        .iter()
        .min_by_key(|(_, slots)| *slots)
        .filter(|(_, slots)| *slots < sums.slots);
    let suggestion = best.map(|(suggestion, slots)| Suggestion {
        retag: Name(
            suggestion
                .patterns()
                .iter()
                .map(|name| name.0.as_slice())
                .collect::<Vec<_>>()
                .join(&b' '),
        ),
        mean_slots_after: mean(*slots),
        rules: suggestion.rules(),
    });
    WorstShape {
        pattern: Name(pattern),
        command: shape.command,
        batches: sums.batches,
        refused: sums.refused,
        mean_slots: mean(sums.slots),
        mean_nodes: mean(sums.nodes),
        suggestion,
    }
}
