//! The input of a command, whatever its arguments name: dumps (files, objects, collections, counts by slot), running
//! servers, whose keys are collected first, or tally files.

pub mod kind;
pub mod servers;
pub mod tally_files;

use std::path::{Path, PathBuf};

use slotscope_base::error::{Error, Result};
use slotscope_base::slot::policy::Policy;
use slotscope_read::source::collection::Collection;
use slotscope_topology::Topology;

use crate::cli::input::kind::{Refused, check_paths, check_sources};
use crate::cli::input::servers::{Collected, ServerArgs, Servers};
use crate::cli::input::tally_files::{Tallies, are_tallies, of_file};
use crate::cli::progress::When;
use crate::cli::reading::ReadingArgs;
use crate::options::{self, HashSpec};
use crate::partial;
use crate::partial::TALLY_FILE;
use crate::partial::recount_file::RecountFile;
use crate::partial::tally_file::TallyFile;
use crate::pipeline::counted::CountedInputs;
use crate::pipeline::reading::Reading;
use crate::pipeline::{Analysis, collected_nodes};

/// The flags for naming and reading inputs.
pub struct InputFlags<'a> {
    pub reading: &'a ReadingArgs,
    /// How to connect to servers.
    pub servers: &'a ServerArgs,
    /// The hash policy; `None` for commands that do not compute slots.
    pub hashing: Option<&'a HashSpec>,
    /// The kinds of input the command does not read.
    pub refused: Refused,
}

/// Inputs found but not read.
pub struct FoundInput<'a> {
    reading: &'a ReadingArgs,
    policy: Policy,
    contents: Contents,
}

enum Contents {
    Dumps(Reading),
    Servers(Servers),
    Tallies(Box<Tallies>),
}

/// Inputs ready for counting.
pub struct Input {
    /// The keys to count.
    pub keys: Keys,
    /// The collection from servers; dropping this value may remove it.
    pub collected: Option<Collected>,
}

/// Keys, or counts made elsewhere.
pub enum Keys {
    /// To be counted.
    Reading(Reading),
    /// Counted in parts, with the path of the first file.
    Tallies(Box<TallyFile>, Option<RecountFile>, PathBuf),
}

impl<'a> InputFlags<'a> {
    /// Finds the inputs.
    ///
    /// # Errors
    /// An input cannot be opened or is not supported by the command, or a flag does not apply to it.
    pub fn find(self) -> Result<FoundInput<'a>> {
        let reading = self.reading;
        check_paths(&reading.inputs, self.refused)?;
        let policy = self.hashing.map_or(Ok(Policy::Oss), HashSpec::policy)?;
        let contents = if let Some(servers) = self.servers.servers(&reading.inputs)? {
            Contents::Servers(servers)
        } else if are_tallies(&reading.inputs)? {
            self.check_counted()?;
            Contents::Tallies(Box::new(Tallies::read(&reading.inputs)?))
        } else {
            let reading = reading.reading(policy.clone())?;
            check_sources(&reading.sources, self.refused)?;
            Contents::Dumps(reading)
        };
        Ok(FoundInput {
            reading,
            policy,
            contents,
        })
    }

    /// Refuses reading flags for keys that were already counted.
    fn check_counted(&self) -> Result<()> {
        let of_inputs = options::words(&self.reading.spec.of_counts()?).into_iter();
        let of_hashing = self.hashing.map_or_else(Vec::new, options::words);
        of_inputs
            .chain(of_hashing)
            .next()
            .map_or(Ok(()), |flag| Err(counted_already(flag)))
    }
}

/// The error for a flag of `tally` next to tally files.
pub fn counted_already(flag: String) -> Error {
    Error::bad(
        flag,
        "belongs to slotscope tally, which counted the keys; leave it out",
    )
}

impl FoundInput<'_> {
    /// Files that outputs must not replace.
    pub fn paths(&self) -> Vec<&Path> {
        match &self.contents {
            Contents::Dumps(reading) => reading.paths().collect(),
            Contents::Servers(_) => Vec::new(),
            Contents::Tallies(_) => self.reading.inputs.iter().map(PathBuf::as_path).collect(),
        }
    }

    /// The file name for output about servers.
    pub fn server_name(&self) -> Option<String> {
        match &self.contents {
            Contents::Servers(servers) => Some(servers.name()),
            _ => None,
        }
    }

    /// Whether the keys were counted elsewhere.
    pub fn is_tally(&self) -> bool {
        matches!(self.contents, Contents::Tallies(_))
    }

    /// Collects the keys of servers.
    ///
    /// # Errors
    /// No server answers, or a tally file is missing.
    pub fn read(self, progress: When) -> Result<Input> {
        let (keys, collected) = match self.contents {
            Contents::Dumps(reading) => (Keys::Reading(reading), None),
            Contents::Servers(servers) => {
                let collected = servers.collect(progress)?;
                let reading = collected.reading(self.reading, self.policy)?;
                (Keys::Reading(reading), Some(collected))
            }
            Contents::Tallies(tallies) => {
                let Tallies { tally, again } = *tallies;
                let first = self.reading.inputs.first().cloned().unwrap_or_default();
                let tally = tally.ok_or_else(|| {
                    let reason = "is missing next to the files of recount; name it too";
                    of_file(&first, Error::bad(TALLY_FILE, reason))
                })?;
                (Keys::Tallies(Box::new(tally), again, first), None)
            }
        };
        Ok(Input { keys, collected })
    }
}

impl Input {
    /// The reading, for commands that need names.
    ///
    /// # Errors
    /// The keys were counted elsewhere.
    pub fn reading(self) -> Result<(Reading, Option<Collected>)> {
        match self.keys {
            Keys::Reading(reading) => Ok((reading, self.collected)),
            Keys::Tallies(.., path) => {
                let reason = "has counts and no names; name the dumps that it was counted from";
                Err(of_file(&path, Error::bad(TALLY_FILE, reason)))
            }
        }
    }
}

impl Keys {
    /// Counts the inputs or merges tally files, and passes the counts to `judge`.
    ///
    /// # Errors
    /// As `Analysis::count` and `judge`; tally files are incomplete or have other options.
    pub fn count<R>(
        self,
        analysis: &Analysis,
        judge: impl FnOnce(CountedInputs) -> Result<R>,
    ) -> Result<R> {
        match self {
            Keys::Reading(reading) => judge(analysis.count(reading)?),
            Keys::Tallies(tally, again, path) => {
                let counted = partial::reporting::counted(analysis, *tally, again);
                counted
                    .and_then(judge)
                    .map_err(|error| of_file(&path, error))
            }
        }
    }

    /// Whether each may be one node.
    pub fn may_be_nodes(&self) -> bool {
        match self {
            Keys::Reading(reading) => reading.sources.len() > 1,
            Keys::Tallies(tally, ..) => tally.plan.inputs.len() > 1,
        }
    }

    /// The collections among them.
    ///
    /// # Errors
    /// The flags in a tally file are unusable.
    pub fn collections(&self) -> Result<Vec<Collection>> {
        match self {
            Keys::Reading(reading) => Ok(reading.collections.clone()),
            Keys::Tallies(tally, ..) => Ok(tally.plan.describe_inputs()?.collections),
        }
    }

    /// The nodes according to the inputs themselves.
    ///
    /// # Errors
    /// A listing cannot be read.
    pub fn nodes(&self) -> Result<Option<Topology>> {
        match self {
            Keys::Reading(reading) => collected_nodes::topology(&reading.collections),
            Keys::Tallies(tally, ..) => tally.plan.flags.topology(),
        }
    }
}
