//! What decides what is counted: parts that were counted with other flags are not merged.

use serde::{Deserialize, Serialize};

use crate::analysis::reading::Options;
use crate::error::Result;
use crate::partial::flags_form::Form;
use crate::scan::Only;
use crate::spec::nodes::Listing;
use crate::spec::{CountSpec, HashSpec, ReadSpec, difference};
use crate::topology::Topology;

/// The specification of the counts; in JSON each part may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
pub struct Flags {
    /// What is read and how, as far as counts depend on it.
    pub read: ReadSpec,
    /// What part of a key is hashed.
    pub hash: HashSpec,
    /// What is counted; in one pass also where an input can be read only once.
    pub count: CountSpec,
    /// The nodes, where the user names them.
    pub listing: Option<Listing>,
    /// The inputs and flags as words of a command line: the commands of remedies have them. Where there are none, they
    /// have the paths of the inputs.
    pub words: Vec<String>,
}

impl Flags {
    /// Those of these specs, in the one spelling that each has in tally files; what does not decide counts is left out.
    ///
    /// # Errors
    /// An option that cannot be used.
    pub fn new(
        read: &ReadSpec,
        hash: &HashSpec,
        count: &CountSpec,
        listing: Option<Listing>,
    ) -> Result<Flags> {
        let flags = Flags {
            read: read.of_counts()?,
            hash: hash.clone(),
            count: count.of_counts()?,
            listing,
            words: Vec::new(),
        };
        Ok(Form::from(flags).into())
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
        self.count.check()?;
        let replicas = self.topology()?.map(|topology| topology.replicas);
        Ok(Options {
            format: self.read.format()?,
            only: Only {
                not_of: replicas.into_iter().flatten().collect(),
                ..self.read.only()?
            },
            policy: self.hash.policy()?,
            walking: self.read.walking(),
            ..own.clone()
        })
    }

    /// The first flag in which others differ.
    pub fn difference(&self, other: &Flags) -> Option<String> {
        difference(&self.read, &other.read)
            .or_else(|| difference(&self.hash, &other.hash))
            .or_else(|| difference(&self.count, &other.count))
            .or_else(|| (self.listing != other.listing).then(|| "--topology".into()))
            .or_else(|| (self.words != other.words).then(|| "INPUT".into()))
    }
}
