//! `slotscope fanout`: batches come in, one a line; how many slots and nodes they touch and what helps goes out.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;

use super::cluster::Cluster;
use super::hashing::Hashing;
use super::printing::print;
use super::{Ending, refusals};
use crate::advice::fanout::{Fanout, Lines};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::report::{fanout, json};
use crate::source::block::Block;
use crate::source::file::{CHUNK, Trouble};
use crate::source::stream::{self, RowReader};
use crate::source::{self, Input};
use crate::summary::Incomplete;
use crate::tally::rejects::{Reject, Rejects};

/// Batches of keys or commands in, their fan-out over slots and nodes out.
#[derive(Args, Debug)]
pub struct FanoutArgs {
    /// Batches, one a line, words parted by blanks or quoted as in redis-cli: keys ("user:1 user:2"), or commands ("MGET
    /// user:1 user:2", MULTI to EXEC is one batch); files, directories, - for standard input
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// What the lines are
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Lines::Auto)]
    pub batches: Lines,
    /// The nodes
    #[command(flatten)]
    pub cluster: Cluster,
    /// The hash policy
    #[command(flatten)]
    pub hashing: Hashing,
    /// How often one node is slow, as a percentage or a number from 0 to 1
    #[arg(long, value_name = "P", default_value = "1%")]
    pub slow: String,
    /// Exit with 1 where a batch is refused because its keys are in several slots
    #[arg(long)]
    pub deny_crossslot: bool,
    /// A line that is no batch is an error: nothing is reported then
    #[arg(long)]
    pub strict: bool,
    /// Rows in every table
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// One JSON object in place of the text
    #[arg(long)]
    pub json: bool,
}

impl FanoutArgs {
    /// Reads, counts and reports.
    ///
    /// # Errors
    /// A flag, a topology or an input that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        let slow = probability(&self.slow)?;
        let topology = self.cluster.topology()?;
        let policy = self.hashing.policy()?;
        let inputs = source::find(&self.paths()?)?.inputs;
        let mut found = Fanout::new(&topology, &policy, self.batches);
        let (mut rejects, mut incomplete) = (Rejects::default(), Vec::new());
        for (index, input) in inputs.iter().enumerate() {
            incomplete.extend(read(input, index as u32, &mut found, &mut rejects)?);
        }
        refusals::check_strict(self.strict, &inputs, &rejects)?;
        let findings = found.findings(slow, refusals::of(&inputs, &rejects), incomplete);
        print(
            self.json,
            |out| json::write_object(&findings, out),
            |width, out| fanout::write(&findings, width, self.top, out),
        )?;
        Ok(match findings.incomplete.is_empty() {
            false => Ending::Incomplete,
            true if self.deny_crossslot && findings.crossslot > 0 => Ending::Crossed,
            true => Ending::Done,
        })
    }

    /// The inputs as the user named them; standard input where none is named and something is piped in.
    fn paths(&self) -> Result<Vec<PathBuf>> {
        match self.inputs.as_slice() {
            [] if io::stdin().is_terminal() => {
                Err(Error::bad("no input", "name a file of batches, one a line: MGET user:1 user:2, or user:1 user:2"))
            }
            [] => Ok(vec![PathBuf::from("-")]),
            paths => Ok(paths.to_vec()),
        }
    }
}

/// A share as people write it: `1%`, `0.01`.
fn probability(text: &str) -> Result<f64> {
    let parsed = match text.trim().strip_suffix('%') {
        Some(percent) => percent.trim().parse().map(|percent: f64| percent / 100.0),
        None => text.trim().parse(),
    };
    parsed.ok().filter(|share| (0.0..=1.0).contains(share)).ok_or_else(|| {
        let place = format!("--slow \"{}\"", Name::from(text));
        Error::bad(place, "a percentage such as 1% or a number from 0 to 1 is wanted")
    })
}

/// Adds the lines of an input; returns where it could not be read to its end.
fn read(input: &Input, index: u32, found: &mut Fanout<'_>, rejects: &mut Rejects) -> Result<Option<Incomplete>> {
    let mut rows = RowReader::new(stream::open(input)?, CHUNK);
    let mut block = Block::with_capacity(0);
    let mut end = 0;
    let outcome = loop {
        let piece = match rows.next(&mut block) {
            Ok(Some(piece)) => piece,
            Ok(None) => break None,
            Err(trouble) => break Some(trouble),
        };
        let mut from = 0;
        while from < block.len() {
            let line = &block.content()[from..];
            let len = memchr::memchr(b'\n', line).unwrap_or(line.len());
            if let Err(reason) = found.add(&line[..len]) {
                rejects.push(Reject { input: index, byte: piece.offset + from as u64, reason });
            }
            from += len + 1;
        }
        end = piece.offset + block.len() as u64;
    };
    if let Err(reason) = found.end_input() {
        rejects.push(Reject { input: index, byte: end, reason });
    }
    let file = Name::from(input.path());
    match outcome {
        None => Ok(None),
        Some(Trouble::Read(byte, error)) => Ok(Some(Incomplete { file, byte, reason: crate::error::reason(&error) })),
        Some(Trouble::Long(byte)) => {
            Err(Error::bad(format!("{file}: byte {byte}"), "a line longer than 64 MiB; a batch is one line"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_a_percentage_or_a_number_up_to_one() {
        for (text, share) in [("1%", 0.01), ("0.5", 0.5), (" 100 %", 1.0), ("0", 0.0)] {
            assert_eq!(probability(text).unwrap(), share, "{text}");
        }
        for text in ["", "2", "-1%", "NaN", "101%", "x"] {
            assert!(probability(text).unwrap_err().to_string().contains("1% or a number"), "{text}");
        }
    }
}
