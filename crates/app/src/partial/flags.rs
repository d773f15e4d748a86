//! The flags that affect counts: parts counted with different flags are not merged.

use serde::{Deserialize, Serialize};

use slotscope_base::error::Result;
use slotscope_topology::Topology;

use crate::options::nodes::Listing;
use crate::options::{CountSpec, HashSpec, ReadSpec, difference};
use crate::pipeline::reading::Options;

/// The specification of counts; in JSON every part is optional.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Flags {
    /// The input and the reading flags that affect counts.
    pub read: ReadSpec,
    /// The hash policy.
    pub hash: HashSpec,
    /// The counts to take; also in a single pass if an input can be read only once.
    pub count: CountSpec,
    /// The nodes named by the user, if any.
    pub listing: Option<Listing>,
    /// The inputs and flags as command-line words, for the commands in remedies. If empty, those use the paths of the
    /// inputs.
    pub words: Vec<String>,
}

impl Flags {
    /// Combines specs in their canonical form for tally files, without settings that do not affect counts.
    ///
    /// # Errors
    /// An option is unusable.
    #[cfg(any(feature = "cli", test))]
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

    /// The nodes named by the flags, if any.
    ///
    /// # Errors
    /// As `Topology::parse`.
    pub(crate) fn topology(&self) -> Result<Option<Topology>> {
        self.listing.as_ref().map(Listing::topology).transpose()
    }

    /// How inputs are read: as these flags say, otherwise as `own`, which does not affect counts.
    ///
    /// # Errors
    /// A flag is unusable.
    pub(crate) fn options(&self, own: &Options) -> Result<Options> {
        self.count.check()?;
        Ok(Options {
            format: self.read.format()?,
            only: self.read.only()?,
            policy: self.hash.policy()?,
            walking: self.read.walking(),
            ..own.clone()
        })
    }

    /// The first flag that differs.
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
