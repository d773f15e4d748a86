//! How many slots and nodes batches touch, which batches the cluster refuses, and what the nodes do to latency.
//!
//! Batches are lines of text, MONITOR lines or commands of an append-only file, added in order: MULTI and EXEC are
//! commands like any other. Memory does not depend on their number.

mod batch;
mod commands;
pub mod findings;
#[doc(hidden)]
pub mod kind;
pub mod latency;
pub mod outcome;
mod script;
pub mod shapes;
mod transactions;
pub mod unknown;
pub(crate) mod view;

use slotscope_advisor::batches::Batches;
use slotscope_base::command::{COMMANDS, Command, Commands};
use slotscope_base::name::Name;
use slotscope_base::slot::policy::Policy;
use slotscope_count::tally::sketch::histogram::Histogram;
use slotscope_findings::summary::quantiles;
use slotscope_model::balance::tidy;
use slotscope_model::{Incomplete, Rejected};
use slotscope_read::format::capture::monitor_line::{MonitorLine, Sender};
use slotscope_read::format::capture::whole_commands::WholeCommand;
use slotscope_read::format::parse::words::{self, Word};
use slotscope_topology::Topology;

use crate::fanout::batch::Batch;
use crate::fanout::commands::{keys_of, must_be_together, runs_script};
use crate::fanout::findings::OutcomeCount;
pub use crate::fanout::findings::{FanoutFindings, PassedOver, SCHEMA};
pub use crate::fanout::kind::Lines;
use crate::fanout::latency::{Latency, SLOW};
use crate::fanout::outcome::BatchOutcome;
use crate::fanout::script::Script;
use crate::fanout::shapes::{Shapes, Touched};
use crate::fanout::transactions::Transactions;
use crate::fanout::unknown::{UnknownCommands, is_verb};

/// Bytes of keys kept per batch.
const ROOM: usize = 1 << 20;
/// The client name used for lists of batches and append-only files.
const ONLY: &[u8] = b"";
const FILE: &[u8] = b"file";

/// The findings so far.
pub struct Fanout<'a> {
    topology: &'a Topology,
    policy: &'a Policy,
    lines: Lines,
    /// The share of a node's replies that count as slow.
    slow: f64,
    transactions: Transactions,
    /// The script whose commands follow, in MONITOR.
    script: Script,
    /// Reused from batch to batch.
    batch: Option<Batch>,
    unknown: UnknownCommands,
    /// Whether commands occurred: then a capitalized first word is one too.
    among_commands: bool,
    /// Whether commands occurred in any input.
    had_commands: bool,
    /// Counters of the result.
    pub(crate) sums: FanoutFindings,
    slots: Histogram,
    nodes: Histogram,
    answers: [u64; BatchOutcome::ALL.len()],
    shapes: Shapes,
    /// Collects batches in place of counting them, if requested.
    kept: Option<Batches>,
}

impl<'a> Fanout<'a> {
    /// Starts counting for these nodes under this policy.
    pub fn new(topology: &'a Topology, policy: &'a Policy, lines: Lines) -> Self {
        Fanout {
            topology,
            policy,
            lines,
            slow: SLOW,
            transactions: Transactions::default(),
            script: Script::new(),
            batch: None,
            unknown: UnknownCommands::default(),
            among_commands: false,
            had_commands: false,
            sums: FanoutFindings::default(),
            slots: Histogram::default(),
            nodes: Histogram::default(),
            answers: [0; BatchOutcome::ALL.len()],
            shapes: Shapes::default(),
            kept: None,
        }
    }

    /// Sets the share of a node's replies that count as slow.
    pub fn with_slow(self, slow: f64) -> Self {
        Fanout { slow, ..self }
    }

    /// Only keeps the batches, for `take_batches`, without counting.
    pub(crate) fn only_keeping(mut self) -> Self {
        self.kept = Some(Batches::default());
        self
    }

    /// The kept batches.
    pub(crate) fn take_batches(&mut self) -> Batches {
        self.kept.take().unwrap_or_default()
    }

    /// Whether there were commands, not only keys.
    pub(crate) fn has_commands(&self) -> bool {
        self.had_commands
    }

    /// Adds the next line of commands or keys, without its line end.
    ///
    /// # Errors
    /// Why the line is not a batch, for display; it is then ignored.
    pub fn add(&mut self, line: &[u8]) -> Result<(), String> {
        let words = words::words(line)?;
        let Some(first) = words.first() else {
            self.sums.blank_lines += 1;
            return Ok(());
        };
        if self.lines == Lines::Keys {
            return self.add_keys(None, ONLY, words);
        }
        let command = COMMANDS.find(&words);
        if command.is_some() || self.lines != Lines::Auto || is_verb(first, self.among_commands) {
            return self.add_command(command, words, ONLY);
        }
        if self.transactions.is_open(ONLY) {
            Err(format!(
                "between MULTI and EXEC there are only commands; no command of {} begins so",
                Commands::servers()
            ))
        } else {
            self.add_keys(None, ONLY, words)
        }
    }

    /// Adds the next line of MONITOR.
    ///
    /// # Errors
    /// As for `add`.
    pub(crate) fn add_monitor(&mut self, line: &[u8]) -> Result<(), String> {
        let line = line.trim_ascii_end();
        if matches!(line, b"" | b"OK" | b"+OK") {
            // The reply to MONITOR itself.
            self.sums.blank_lines += u64::from(line.is_empty());
            return Ok(());
        }
        let parsed = MonitorLine::parse(line).ok_or("no line of MONITOR")?;
        let words = parsed.words()?;
        match parsed.sender {
            Sender::Script => self.add_of_script(words),
            Sender::Client(client) => {
                self.end_script();
                let command = COMMANDS.find(&words);
                match command.filter(|command| runs_script(command.name)) {
                    Some(command) if !self.transactions.is_open(client) => {
                        self.begin_script(command, words)
                    }
                    _ => self.add_command(command, words, client),
                }
            }
        }
    }

    /// Adds the next command of an append-only file; words at `cut` are truncated.
    ///
    /// # Errors
    /// As for `add`.
    pub(crate) fn add_found(&mut self, whole: WholeCommand<'_>) -> Result<(), String> {
        let WholeCommand { words, cut, .. } = whole;
        let known = COMMANDS.find(&words);
        let places = known.map_or(Ok(Vec::new()), |command| command.keys(&words))?;
        if places.iter().any(|place| cut.binary_search(place).is_ok()) {
            return Err("a key of more than 1 MiB".into());
        }
        if words.is_empty() {
            Ok(())
        } else {
            self.add_command(known, words, FILE)
        }
    }

    /// Marks the end of an input.
    ///
    /// # Errors
    /// A transaction in a command list was not ended.
    pub fn end_input(&mut self) -> Result<(), String> {
        self.end_script();
        self.among_commands = false;
        let is_list = self.transactions.is_open(ONLY);
        match self.transactions.end_all() {
            0 => Ok(()),
            _ if is_list => Err("the input ends between MULTI and EXEC".into()),
            open => {
                self.transactions.torn += open;
                Ok(())
            }
        }
    }

    /// A command of `client`; `None` if the table lacks it.
    fn add_command(
        &mut self,
        command: Option<&'static Command>,
        words: Vec<Word<'_>>,
        client: &[u8],
    ) -> Result<(), String> {
        let Some(command) = command else {
            self.unknown.add(words.first().map_or(b"", |word| word));
            return Ok(());
        };
        let keys = keys_of(command, words)?;
        self.among_commands = true;
        self.had_commands = true;
        let name = command.name;
        match name {
            "multi" if client == ONLY && self.transactions.is_open(ONLY) => {
                Err("MULTI inside MULTI".into())
            }
            "multi" => {
                self.transactions.begin(client);
                Ok(())
            }
            "exec" | "discard" => self.end_transaction(name, client),
            _ => self.add_keys(Some(name), client, keys),
        }
    }

    fn add_keys(
        &mut self,
        name: Option<&'static str>,
        client: &[u8],
        keys: Vec<Word<'_>>,
    ) -> Result<(), String> {
        let is_open = self.transactions.is_open(client);
        if let Some(kept) = self.kept.as_mut().filter(|_| !is_open) {
            kept.push(name, must_be_together(name), &keys);
            return Ok(());
        }
        let slots = self.slots_of(&keys)?;
        if is_open {
            self.transactions.queue(client, &slots, keys);
            return Ok(());
        }
        let mut batch = self.batch.take().unwrap_or_else(|| Batch::with_room(ROOM));
        batch.add(&slots, keys);
        self.count(name, &batch);
        batch.clear();
        self.batch = Some(batch);
        Ok(())
    }

    /// The slots of keys.
    fn slots_of(&self, keys: &[Word<'_>]) -> Result<Vec<u16>, String> {
        let slot = |key: &Word<'_>| {
            let reason = "no pattern of --policy matches one of its keys";
            self.policy.slot(key).ok_or_else(|| String::from(reason))
        };
        keys.iter().map(slot).collect()
    }

    fn end_transaction(&mut self, name: &str, client: &[u8]) -> Result<(), String> {
        match (self.transactions.end(client), name) {
            (None, name) if client == ONLY => {
                return Err(format!("{} without MULTI", name.to_uppercase()));
            }
            // The capture began after MULTI: the queued commands were counted individually.
            (None, _) => self.transactions.torn += 1,
            (Some(_), "discard") => self.sums.discarded += 1,
            (Some(batch), _) => self.count(Some("multi"), &batch),
        }
        Ok(())
    }

    fn count(&mut self, command: Option<&'static str>, batch: &Batch) {
        if batch.keys == 0 {
            self.sums.without_keys += 1;
            return;
        }
        if let Some(kept) = &mut self.kept {
            kept.push(command, must_be_together(command), &batch.kept);
            return;
        }
        let slots = batch.slots.members();
        let answer = BatchOutcome::of(slots, self.topology);
        let mut nodes: Vec<_> = slots
            .iter()
            .filter_map(|slot| self.topology.owner(*slot))
            .collect();
        nodes.sort_unstable();
        nodes.dedup();
        let (slots, nodes) = (slots.len() as u64, nodes.len() as u64);
        self.sums.keys += batch.keys;
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

    /// The findings.
    pub fn findings(
        &self,
        rejected: Rejected,
        incomplete: Vec<Incomplete>,
        passed_over: Vec<PassedOver>,
    ) -> FanoutFindings {
        let slots_per_batch = quantiles::of(&self.slots);
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
        let worst = self.shapes.worst();
        FanoutFindings {
            schema: SCHEMA,
            nodes: Name::from(self.topology.source.as_str()),
            batches,
            crossslot: self.answers[BatchOutcome::Crossslot as usize],
            slots_per_batch,
            nodes_per_batch: quantiles::of(&self.nodes),
            latency: Latency::of(&self.nodes, self.slow),
            other_shapes: self.shapes.crossing_but(&worst),
            worst,
            unknown_commands: self.unknown.list(),
            unknown: self.unknown.total,
            torn_transactions: self.transactions.torn,
            passed_over,
            rejected,
            incomplete,
            answers: answers.collect(),
            ..self.sums.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use slotscope_read::format::capture::whole_commands::WholeCommands;
    use slotscope_read::source::forward::Forward;
    use std::io::Cursor;

    proptest! {
        #[test]
        fn no_capture_and_no_file_makes_it_panic(
            lines in prop::collection::vec(
                (
                    "(\\+|)[0-9]{1,3}\\.[0-9]{1,3} \\[0 (a:1|b:1|lua)\\] ",
                    "\"(multi|exec|discard|eval|mget|get|x.y|select)\"( \"[a-c{}0-2]{0,2}\"){0,3}",
                ),
                0..40,
            ),
            bytes: Vec<u8>,
            cut in 0usize..100,
        ) {
            let (topology, policy) = (Topology::even(3, String::new()).unwrap(), Policy::Oss);
            let mut fanout = Fanout::new(&topology, &policy, Lines::Auto);
            for (head, command) in &lines {
                let _rejected = fanout.add_monitor(format!("{head}{command}").as_bytes());
            }
            let _rejected = fanout.add_monitor(&bytes);
            let _torn = fanout.end_input();
            let array = |(_, command): &(String, String)| {
                let words = words::words(command.as_bytes()).unwrap_or_default();
                let word = |word: &Word<'_>| format!("${}\r\n{}\r\n", word.len(), word.escape_ascii());
                format!("*{}\r\n{}", words.len(), words.iter().map(word).collect::<String>())
            };
            let mut file = lines.iter().map(array).collect::<String>().into_bytes();
            let at = cut.min(file.len());
            file.splice(at..at, bytes);
            let mut reader = WholeCommands::new(Forward::stream(Box::new(Cursor::new(file))));
            while let Ok(Some(command)) = reader.next_command() {
                let _rejected = fanout.add_found(command);
            }
            let _torn = fanout.end_input();
            let found = fanout.findings(Rejected::default(), Vec::new(), Vec::new());
            prop_assert_eq!(found.answers.iter().map(|of| of.batches).sum::<u64>(), found.batches);
            let listed: u64 = found.worst.iter().map(|kind| kind.crossing).sum();
            prop_assert_eq!(listed + found.other_shapes, found.crossslot);
        }

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
                let was_open = fanout.transactions.is_open(ONLY);
                rejected += u64::from(fanout.add(line).is_err());
                // MULTI and the commands it queues are one batch.
                opened += u64::from(was_open || fanout.transactions.is_open(ONLY));
            }
            let found = fanout.findings(Rejected::default(), Vec::new(), Vec::new());
            let counted = found.batches + found.without_keys + found.unknown + found.blank_lines + rejected;
            prop_assert!(counted <= lines.len() as u64 + 1 && counted + opened > lines.len() as u64);
            prop_assert_eq!(found.answers.iter().map(|answered| answered.batches).sum::<u64>(), found.batches);
            prop_assert_eq!(found.slots_per_batch.count, found.nodes_per_batch.count);
            prop_assert!(found.worst.iter().all(|kind| kind.mean_slots > 1.0), "{:?}", found.worst);
        }
    }
}
