//! The flags that counts depend on: parts that were counted with other flags are not merged.

use serde::{Deserialize, Serialize};

use slotscope_engine::error::Result;
use slotscope_engine::scan::Only;
use slotscope_findings::topology::Topology;

use crate::options::nodes::Listing;
use crate::options::{CountSpec, HashSpec, ReadSpec, difference};
use crate::pipeline::reading::Options;

/// The specification of the counts; in JSON each part may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flags {
    /// The input and how it is read, as far as counts depend on it.
    pub read: ReadSpec,
    /// The hash policy.
    pub hash: HashSpec,
    /// The counts to take; in one pass also if an input can be read only once.
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
    pub(crate) fn new(
        read: &ReadSpec,
        hash: &HashSpec,
        count: &CountSpec,
        listing: Option<Listing>,
    ) -> Result<Flags> {
        Ok(Flags {
            read: read.of_counts()?,
            hash: hash.clone(),
            count: count.of_counts()?,
            listing,
            words: Vec::new(),
        })
    }

    /// The nodes, where the flags name them.
    ///
    /// # Errors
    /// As `Topology::parse`.
    pub(crate) fn topology(&self) -> Result<Option<Topology>> {
        self.listing.as_ref().map(Listing::topology).transpose()
    }

    /// How inputs are read: as these flags say, and else as `own` says, which decides nothing of what is counted.
    ///
    /// # Errors
    /// A flag that cannot be used.
    pub(crate) fn options(&self, own: &Options) -> Result<Options> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::FilterSpec;

    #[test]
    fn flags_come_back_and_spellings_of_a_delimiter_are_one() {
        let of = |delimiter: &str| {
            let read = ReadSpec {
                delimiter: Some(delimiter.into()),
                filter: FilterSpec {
                    globs: vec!["a*".into()],
                    ..FilterSpec::default()
                },
                ..ReadSpec::default()
            };
            Flags::new(&read, &HashSpec::default(), &CountSpec::default(), None).unwrap()
        };
        let flags = of(r"\t");
        let json = serde_json::to_string(&flags).unwrap();
        assert_eq!(serde_json::from_str::<Flags>(&json).unwrap(), flags);
        assert_eq!(flags.difference(&of(r"\x09")), None);
        assert!(flags.difference(&of(";")).is_some());
    }
}
