//! What decides what is counted: parts that were counted with other flags are not merged.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::analysis::reading::Options;
use crate::error::{Error, Result};
use crate::format::chosen::{AUTO, chosen};
use crate::format::table::columns::ColumnNames;
use crate::format::walk::Walking;
use crate::scan::Only;
use crate::slot::policy::Policy;
use crate::topology::Topology;

/// The flags of the commands that read dumps, as far as counts depend on them; in JSON each may be left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flags {
    /// `--format`; `auto` detects it.
    pub format: String,
    /// `--delimiter`, the byte that it is.
    pub delimiter: Option<u8>,
    /// `--key-column` and the like.
    pub columns: ColumnNames,
    /// `--db`.
    pub db: Option<u64>,
    /// `--policy`, each value.
    pub policy: Vec<String>,
    /// `--size`, `--allocator`, `--no-verify` and the rule of LFU counters.
    pub walking: Walking,
    /// `--separator`.
    pub separator: String,
    /// Whether patterns are counted: `--depth` is not 0.
    pub patterns: bool,
    /// `--only slots`.
    pub slots_only: bool,
    /// `--one-pass`; also set where an input can be read only once.
    pub one_pass: bool,
    /// `--topology`.
    pub listing: Option<Listing>,
    /// The inputs and flags as words of a command line: the commands of remedies have them. Where there are none, they
    /// have the paths of the inputs.
    pub words: Vec<String>,
}

/// A listing of nodes, as the cluster printed it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    /// The file that it is from.
    pub source: String,
    /// What is in it.
    pub text: String,
}

impl Default for Flags {
    fn default() -> Self {
        Flags {
            format: AUTO.into(),
            delimiter: None,
            columns: ColumnNames::USUAL,
            db: None,
            policy: Vec::new(),
            walking: Walking::default(),
            separator: ":".into(),
            patterns: true,
            slots_only: false,
            one_pass: false,
            listing: None,
            words: Vec::new(),
        }
    }
}

impl Listing {
    /// Reads it.
    ///
    /// # Errors
    /// As `Topology::read`.
    pub fn read(path: &Path) -> Result<Listing> {
        let (source, bytes) = Topology::listing(path)?;
        Listing::of(source, &bytes)
    }

    /// One that was read.
    ///
    /// # Errors
    /// As `Topology::parse`.
    pub fn of(source: String, bytes: &[u8]) -> Result<Listing> {
        Topology::parse(&source, bytes)?;
        let text = String::from_utf8_lossy(bytes).into_owned();
        Ok(Listing { source, text })
    }

    /// The nodes that it lists.
    ///
    /// # Errors
    /// As `Topology::parse`.
    pub fn topology(&self) -> Result<Topology> {
        Topology::parse(&self.source, self.text.as_bytes())
    }
}

impl Flags {
    /// What part of a key is hashed.
    ///
    /// # Errors
    /// As `Policy::parse`.
    pub fn policy(&self) -> Result<Policy> {
        Policy::parse(&self.policy)
    }

    /// The nodes, where the flags name them.
    ///
    /// # Errors
    /// As `Topology::parse`.
    pub fn topology(&self) -> Result<Option<Topology>> {
        self.listing.as_ref().map(Listing::topology).transpose()
    }

    /// How inputs are read: as these flags say, and else as `own` says, which decides nothing of what is counted.
    ///
    /// # Errors
    /// A flag that cannot be used.
    pub fn options(&self, own: &Options) -> Result<Options> {
        if self.separator.is_empty() {
            return Err(Error::bad("--separator", "must not be empty"));
        }
        let replicas = self.topology()?.map(|topology| topology.replicas);
        Ok(Options {
            format: chosen(&self.format, self.delimiter, &self.columns)?,
            only: Only {
                database: self.db,
                not_of: replicas.into_iter().flatten().collect(),
            },
            policy: self.policy()?,
            walking: self.walking,
            ..own.clone()
        })
    }

    /// The first flag in which others differ.
    pub fn difference(&self, other: &Flags) -> Option<&'static str> {
        let rows = [
            ("--format", self.format == other.format),
            ("--delimiter", self.delimiter == other.delimiter),
            ("--key-column and the like", self.columns == other.columns),
            ("--db", self.db == other.db),
            ("--policy", self.policy == other.policy),
            ("--size and the like", self.walking == other.walking),
            ("--separator", self.separator == other.separator),
            ("--depth", self.patterns == other.patterns),
            ("--only", self.slots_only == other.slots_only),
            ("--one-pass", self.one_pass == other.one_pass),
            ("--topology", self.listing == other.listing),
            ("INPUT", self.words == other.words),
        ];
        let mut rows = rows.into_iter();
        rows.find(|(_, is_same)| !is_same).map(|(flag, _)| flag)
    }
}
