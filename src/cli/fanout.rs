//! The flags of `slotscope fanout`, and the reading of batches line by line.

use std::io::{self, IsTerminal};
use std::path::PathBuf;

use clap::Args;

use crate::analysis::rejected;
use crate::cli::cluster::ClusterArgs;
use crate::cli::hashing::HashingArgs;
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::{Ending, values};
use crate::error::{Error, Result};
use crate::fanout::view;
use crate::fanout::{Fanout, Lines};
use crate::name::Name;
use crate::source;
use crate::source::Source;
use crate::source::block::Block;
use crate::source::boundary::line_at;
use crate::source::chunk::{CHUNK, Trouble};
use crate::source::stream;
use crate::source::stream::RowReader;
use crate::summary::Incomplete;
use crate::tally::rejects::{Reject, Rejects};

/// Batches of keys or commands in, their fan-out over slots and nodes out.
#[derive(Args, Debug)]
pub struct FanoutArgs {
    /// Batches, one a line, words separated by blanks or quoted as in redis-cli: keys ("user:1 user:2"), or commands ("MGET
    /// user:1 user:2", MULTI to EXEC is one batch); files, directories, - for standard input
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
    /// What the lines are
    #[arg(long, value_enum, value_name = "KIND", default_value_t = Lines::Auto)]
    pub batches: Lines,
    /// The nodes
    #[command(flatten)]
    pub cluster: ClusterArgs,
    /// The hash policy
    #[command(flatten)]
    pub hashing: HashingArgs,
    /// How often one node is slow, as a percentage or a number from 0 to 1
    #[arg(long, value_name = "P", default_value = "1%")]
    pub slow: String,
    /// Exit with 1 where a batch is refused because its keys are in several slots
    #[arg(long)]
    pub deny_crossslot: bool,
    /// Fail at the first line that is not a batch, without a report
    #[arg(long)]
    pub strict: bool,
    /// Rows in every table
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub top: usize,
    /// The form of the result
    #[command(flatten)]
    pub output: OutputArgs,
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
        let inputs = source::find(&self.paths()?)?.sources;
        let mut found = Fanout::new(&topology, &policy, self.batches);
        let (mut rejects, mut incomplete) = (Rejects::default(), Vec::new());
        for (index, input) in inputs.iter().enumerate() {
            incomplete.extend(read(&**input, index as u32, &mut found, &mut rejects)?);
        }
        rejected::check_strict(self.strict, &inputs, &rejects)?;
        let findings = found.findings(slow, rejected::of(&inputs, &rejects), incomplete);
        self.output.print(&findings, Rows::or_json(self.top), || {
            view::sections(&findings, self.top)
        })?;
        Ok(match findings.incomplete.is_empty() {
            false => Ending::Incomplete,
            true if self.deny_crossslot && findings.crossslot > 0 => Ending::Crossed,
            true => Ending::Done,
        })
    }

    /// The inputs as the user named them; standard input where none is named and something is piped in.
    fn paths(&self) -> Result<Vec<PathBuf>> {
        match self.inputs.as_slice() {
            [] if io::stdin().is_terminal() => Err(Error::bad(
                "no input",
                "name a file of batches, one a line: MGET user:1 user:2, or user:1 user:2",
            )),
            [] => Ok(vec![PathBuf::from("-")]),
            paths => Ok(paths.to_vec()),
        }
    }
}

/// The value of `--slow`.
fn probability(text: &str) -> Result<f64> {
    values::share(text).ok_or_else(|| {
        let place = format!("--slow \"{}\"", Name::from(text));
        Error::bad(
            place,
            "a percentage such as 1% or a number from 0 to 1 is wanted",
        )
    })
}

/// Adds the lines of an input; returns where it could not be read to its end.
fn read(
    input: &dyn Source,
    index: u32,
    found: &mut Fanout<'_>,
    rejects: &mut Rejects,
) -> Result<Option<Incomplete>> {
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
            let (line, next) = line_at(block.content(), from);
            if let Err(reason) = found.add(line) {
                rejects.push(Reject {
                    input: index,
                    byte: piece.offset + from as u64,
                    reason,
                });
            }
            from = next;
        }
        end = piece.offset + block.len() as u64;
    };
    if let Err(reason) = found.end_input() {
        rejects.push(Reject {
            input: index,
            byte: end,
            reason,
        });
    }
    let file = Name::from(input.path());
    match outcome {
        None => Ok(None),
        Some(Trouble::Read(byte, error)) => Ok(Some(Incomplete {
            file,
            byte,
            reason: crate::error::reason(&error),
        })),
        Some(Trouble::Long(byte)) => Err(Error::bad(
            format!("{file}: byte {byte}"),
            "a line longer than 64 MiB; a batch is one line",
        )),
    }
}
