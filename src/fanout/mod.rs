//! How many slots and nodes batches touch, which the cluster refuses, the tail, and tags that would help.
//!
//! Lines are added in their order, for MULTI and EXEC are lines of their own. Memory does not grow with their number.

pub mod commands;
pub mod outcome;
pub mod shapes;
pub mod suggestion;
#[cfg(feature = "cli")]
pub(crate) mod view;
pub mod words;

use schemars::JsonSchema;
use serde::Serialize;

use crate::fanout::commands::Commands;
use crate::fanout::outcome::{BatchOutcome, SlotSet, Transaction};
use crate::fanout::shapes::{Shapes, Touched, WorstShape};
use crate::name::Name;
use crate::slot::policy::Policy;
use crate::summary::balance::tidy;
use crate::summary::quantiles::Quantiles;
use crate::summary::{Incomplete, Rejected};
use crate::tally::sketch::histogram::Histogram;
use crate::topology::Topology;

/// The name and version of the form of the JSON.
pub const SCHEMA: &str = "slotscope.fanout/1";

/// Keys of a batch that are looked at for its kind and its suggestion, and bytes of them; slots and nodes are counted of all.
const KEPT_KEYS: usize = 1024;
const KEPT_BYTES: usize = 1 << 20;

/// What the lines are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Lines {
    /// Commands where the first word is one, else keys
    #[default]
    Auto,
    /// Keys, which one command asks for
    Keys,
    /// Commands
    Commands,
}

/// What was found of the lines so far.
pub struct Fanout<'a> {
    topology: &'a Topology,
    policy: &'a Policy,
    lines: Lines,
    commands: Commands,
    /// Open between MULTI and EXEC.
    transaction: Option<(Transaction, Batch)>,
    /// Kept from batch to batch for its memory.
    batch: Batch,
    keyless: u64,
    blank: u64,
    discarded: u64,
    keys: u64,
    slots: Histogram,
    nodes: Histogram,
    answers: [u64; BatchOutcome::ALL.len()],
    shapes: Shapes,
}

/// A batch that is being put together.
#[derive(Default)]
struct Batch {
    slots: SlotSet,
    keys: u64,
    kept: Vec<Vec<u8>>,
    kept_bytes: usize,
}

/// All findings; the fields are those of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct FanoutFindings {
    /// The name and version of this form.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// Where the nodes are from.
    pub nodes: Name,
    /// Batches that have keys.
    pub batches: u64,
    /// Their keys.
    pub keys: u64,
    /// Batches that are refused because of their slots.
    pub crossslot: u64,
    /// Batches by how they end.
    pub answers: Vec<OutcomeCount>,
    /// Distinct slots of a batch.
    pub slots_per_batch: Quantiles,
    /// Distinct nodes of a batch.
    pub nodes_per_batch: Quantiles,
    /// What one slow node does to batches.
    pub tail: Tail,
    /// Kinds of batches over several slots, those first that touch the most.
    pub worst: Vec<WorstShape>,
    /// Batches over several slots of kinds that are not told apart, for there are too many.
    pub other_shapes: u64,
    /// Commands without keys, which any node runs.
    pub without_keys: u64,
    /// Transactions that end with DISCARD.
    pub discarded: u64,
    /// Lines of nothing.
    pub blank_lines: u64,
    /// Lines that are no batch.
    pub rejected: Rejected,
    /// Places behind which an input could not be read.
    pub incomplete: Vec<Incomplete>,
}

/// Batches that end one way.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct OutcomeCount {
    /// The way.
    pub answer: BatchOutcome,
    /// How many.
    pub batches: u64,
    /// Their share.
    pub share: f64,
}

/// What a slow node does: a batch over k nodes is slow with 1 - (1 - p)^k where each node is with p.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Tail {
    /// p.
    pub slow: f64,
    /// The share of all batches that are slow.
    pub batches_slow: f64,
    /// By nodes of a batch, ascending.
    pub by_nodes: Vec<TailRow>,
}

/// Batches over so many nodes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct TailRow {
    /// k.
    pub nodes: u64,
    /// How many.
    pub batches: u64,
    /// The probability that one is slow.
    pub slow: f64,
}

impl<'a> Fanout<'a> {
    /// Nothing found yet, on these nodes and by this policy.
    pub fn new(topology: &'a Topology, policy: &'a Policy, lines: Lines) -> Self {
        Fanout {
            topology,
            policy,
            lines,
            commands: Commands::table(),
            transaction: None,
            batch: Batch::default(),
            keyless: 0,
            blank: 0,
            discarded: 0,
            keys: 0,
            slots: Histogram::default(),
            nodes: Histogram::default(),
            answers: [0; BatchOutcome::ALL.len()],
            shapes: Shapes::default(),
        }
    }

    /// Takes in the next line, without its end.
    ///
    /// # Errors
    /// What keeps it from being a batch, for people; it counts for nothing then.
    pub fn add(&mut self, line: &[u8]) -> Result<(), String> {
        let words = words::words(line)?;
        if words.is_empty() {
            self.blank += 1;
            return Ok(());
        }
        let command = match self.lines {
            Lines::Keys => None,
            Lines::Auto => self.commands.find(&words),
            Lines::Commands => Some(self.commands.find(&words).ok_or_else(|| self.unknown())?),
        };
        let Some(command) = command else {
            return match self.transaction {
                Some(_) => Err(format!(
                    "between MULTI and EXEC there are only commands; {}",
                    self.unknown()
                )),
                None => self.add_command(None, words),
            };
        };
        let (name, places) = (command.name, command.keys(&words)?);
        match name {
            "multi" if self.transaction.is_some() => Err("MULTI inside MULTI".into()),
            "multi" => {
                self.transaction = Some(Default::default());
                Ok(())
            }
            "exec" | "discard" => self.end_transaction(name),
            _ => {
                let mut words = words;
                let keys = places
                    .into_iter()
                    .map(|place| std::mem::take(&mut words[place]))
                    .collect();
                self.add_command(Some(name), keys)
            }
        }
    }

    /// Says that the input ends here.
    ///
    /// # Errors
    /// A transaction that was begun and not ended.
    pub fn end_input(&mut self) -> Result<(), String> {
        match self.transaction.take() {
            None => Ok(()),
            Some(_) => Err("the input ends between MULTI and EXEC".into()),
        }
    }

    fn unknown(&self) -> String {
        format!(
            "no command of {} begins so; --batches keys reads lines as bare keys",
            Commands::server()
        )
    }

    fn add_command(
        &mut self,
        name: Option<&'static str>,
        keys: Vec<Vec<u8>>,
    ) -> Result<(), String> {
        let slot = |key: &Vec<u8>| {
            self.policy
                .slot(key)
                .ok_or_else(|| String::from("no pattern of --policy matches one of its keys"))
        };
        let slots: Vec<u16> = keys.iter().map(slot).collect::<Result<_, _>>()?;
        if let Some((queue, batch)) = &mut self.transaction {
            queue.queue(&slots, self.topology);
            batch.add(&slots, keys);
            return Ok(());
        }
        let answer = outcome::of_command(&slots, self.topology);
        let mut batch = std::mem::take(&mut self.batch);
        batch.add(&slots, keys);
        self.count(name, &batch, answer);
        batch.clear();
        self.batch = batch;
        Ok(())
    }

    fn end_transaction(&mut self, name: &str) -> Result<(), String> {
        let Some((queue, batch)) = self.transaction.take() else {
            return Err(format!("{} without MULTI", name.to_uppercase()));
        };
        match name {
            "discard" => self.discarded += 1,
            _ => self.count(Some("multi"), &batch, queue.exec()),
        }
        Ok(())
    }

    fn count(&mut self, command: Option<&'static str>, batch: &Batch, answer: BatchOutcome) {
        if batch.keys == 0 {
            self.keyless += 1;
            return;
        }
        let slots = batch.slots.members();
        let mut nodes: Vec<_> = slots
            .iter()
            .filter_map(|slot| self.topology.owner(*slot))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let (slots, nodes) = (slots.len() as u64, nodes.len() as u64);
        self.keys += batch.keys;
        self.slots.add(std::iter::once(slots));
        self.nodes.add(std::iter::once(nodes));
        self.answers[answer as usize] += 1;
        self.shapes.add(&Touched {
            command,
            keys: &batch.kept,
            slots,
            nodes,
            answer,
        });
    }

    /// The findings, where a node is slow with probability `slow`.
    pub fn findings(
        &self,
        slow: f64,
        rejected: Rejected,
        incomplete: Vec<Incomplete>,
    ) -> FanoutFindings {
        let slots_per_batch = Quantiles::of(&self.slots);
        let batches = slots_per_batch.count;
        let share = |count: u64| tidy(count as f64 / batches.max(1) as f64);
        let answers = BatchOutcome::ALL.into_iter().map(|answer| {
            let batches = self.answers[answer as usize];
            OutcomeCount {
                answer,
                batches,
                share: share(batches),
            }
        });
        let answers: Vec<_> = answers.collect();
        let crossing = answers
            .iter()
            .filter(|answered| answered.answer.is_cross_slot());
        FanoutFindings {
            schema: SCHEMA,
            nodes: Name::from(self.topology.source.as_str()),
            batches,
            keys: self.keys,
            crossslot: crossing.map(|answered| answered.batches).sum(),
            slots_per_batch,
            nodes_per_batch: Quantiles::of(&self.nodes),
            tail: Tail::of(&self.nodes, slow),
            worst: self.shapes.worst(),
            other_shapes: self.shapes.left_out,
            without_keys: self.keyless,
            discarded: self.discarded,
            blank_lines: self.blank,
            rejected,
            incomplete,
            answers,
        }
    }
}

impl Batch {
    fn add(&mut self, slots: &[u16], keys: Vec<Vec<u8>>) {
        slots.iter().for_each(|slot| self.slots.insert(*slot));
        self.keys += keys.len() as u64;
        for key in keys {
            if self.kept.len() < KEPT_KEYS && self.kept_bytes + key.len() <= KEPT_BYTES {
                self.kept_bytes += key.len();
                self.kept.push(key);
            }
        }
    }

    fn clear(&mut self) {
        self.slots.clear();
        self.keys = 0;
        self.kept.clear();
        self.kept_bytes = 0;
    }
}

impl Tail {
    fn of(nodes: &Histogram, slow: f64) -> Self {
        let probability = |nodes: u64| 1.0 - (1.0 - slow).powf(nodes as f64);
        let row = |(nodes, batches)| TailRow {
            nodes,
            batches,
            slow: tidy(probability(nodes)),
        };
        let batches_slow: f64 = nodes
            .pairs()
            .map(|(nodes, batches)| batches as f64 * probability(nodes))
            .sum();
        Tail {
            slow,
            batches_slow: tidy(batches_slow / nodes.count().max(1) as f64),
            by_nodes: nodes.pairs().map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_line_is_lost_and_none_makes_it_panic(
            lines in prop::collection::vec(
                prop_oneof![
                    "(multi|EXEC|discard|MGET a b|GET \\{a\\}|EVAL s [0-9-]{1,3} a b|SORT a STORE b|a:12 b:12|'x\"|PING)",
                    "[a-z{}:0-9<> \"'\\\\]{0,20}",
                ],
                0..20,
            ),
            bytes: Vec<u8>,
        ) {
            let (topology, policy) = (Topology::even(3, String::new()).unwrap(), Policy::Oss);
            let mut fanout = Fanout::new(&topology, &policy, Lines::Auto);
            let (mut rejected, mut opened) = (0, 0);
            for line in lines.iter().map(String::as_bytes).chain([bytes.as_slice()]) {
                let was_open = fanout.transaction.is_some();
                rejected += u64::from(fanout.add(line).is_err());
                // MULTI and what follows it are one batch.
                opened += u64::from(was_open || fanout.transaction.is_some());
            }
            let found = fanout.findings(0.01, Rejected::default(), Vec::new());
            let told = found.batches + found.without_keys + found.blank_lines + rejected;
            prop_assert!(told <= lines.len() as u64 + 1 && told + opened > lines.len() as u64);
            prop_assert_eq!(found.answers.iter().map(|answered| answered.batches).sum::<u64>(), found.batches);
            prop_assert_eq!(found.slots_per_batch.count, found.nodes_per_batch.count);
            for kind in &found.worst {
                let after = kind.suggestion.as_ref().map_or(1.0, |suggestion| suggestion.mean_slots_after);
                prop_assert!((1.0..kind.mean_slots).contains(&after), "{:?}", kind);
            }
        }
    }

    #[test]
    fn a_hostile_batch_holds_no_more_than_its_room() {
        let mut batch = Batch::default();
        batch.add(&[1], (0..3000).map(|i| vec![b'x'; 1 + i]).collect());
        assert_eq!(batch.keys, 3000);
        assert!(
            batch.kept.len() <= KEPT_KEYS
                && batch.kept.iter().map(Vec::len).sum::<usize>() <= KEPT_BYTES
        );
        batch.clear();
        assert_eq!(
            (
                batch.kept.len(),
                batch.kept_bytes,
                batch.slots.members().len()
            ),
            (0, 0, 0)
        );
    }
}
