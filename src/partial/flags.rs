//! The flags that counts depend on: parts that were counted with other flags are not merged.
//!
//! Tally files have the flags in the same form since version 1, so files of different versions merge. Options that came
//! later are in its members `more` and `more_counts`, which a file without them does not have; an older program refuses
//! a file with them.

use serde::{Deserialize, Serialize};

use slotscope_engine::error::Result;
use slotscope_engine::format::chosen::AUTO;
use slotscope_engine::format::frame::walk::{Sizes, Walking};
use slotscope_engine::format::table::columns::ColumnNames;
use slotscope_engine::scan::Only;
use slotscope_findings::topology::Topology;

use crate::pipeline::reading::Options;
use crate::spec::counting::Part;
use crate::spec::nodes::Listing;
use crate::spec::reading::delimiter_byte;
use crate::spec::walking::Size;
use crate::spec::{CountSpec, HashSpec, MemorySpec, ReadSpec, difference, is_default};

/// The specification of the counts; in JSON each part may be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Form", into = "Form")]
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

/// The members of version 1, and what is not among them.
#[derive(Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Form {
    format: String,
    delimiter: Option<u8>,
    columns: ColumnNames,
    db: Option<u64>,
    policy: Vec<String>,
    walking: Walking,
    separator: String,
    patterns: bool,
    slots_only: bool,
    one_pass: bool,
    listing: Option<Listing>,
    words: Vec<String>,
    #[serde(skip_serializing_if = "is_default")]
    more: ReadSpec,
    #[serde(skip_serializing_if = "is_default")]
    more_counts: CountSpec,
}

impl Default for Form {
    fn default() -> Self {
        Form::from(Flags::default())
    }
}

impl From<Flags> for Form {
    fn from(flags: Flags) -> Self {
        let Flags {
            read,
            hash,
            count,
            listing,
            words,
        } = flags;
        Form {
            columns: read.column_names(),
            // A text that is not a delimiter stays in `more`, where using it is an error.
            delimiter: read
                .delimiter
                .as_deref()
                .and_then(|text| delimiter_byte(text).ok()),
            db: read.db,
            walking: read.walking(),
            policy: hash.policy,
            patterns: count.has_patterns(),
            slots_only: count.slots_only(),
            one_pass: count.one_pass,
            separator: count.separator.clone(),
            more_counts: less_version_1(count),
            listing,
            words,
            more: ReadSpec {
                format: AUTO.into(),
                delimiter: read.delimiter.filter(|text| delimiter_byte(text).is_err()),
                key_column: None,
                size_column: None,
                ops_column: None,
                escapes: Default::default(),
                db: None,
                size: Size::default(),
                memory: MemorySpec::default(),
                lfu_log_factor: None,
                lfu_decay_time: None,
                ..read
            },
            format: read.format,
        }
    }
}

/// Resets the members that version 1 does not have.
fn less_version_1(mut count: CountSpec) -> CountSpec {
    let usual = CountSpec::default();
    count.separator = usual.separator;
    count.depth = usual.depth;
    count.only = usual.only;
    count.one_pass = usual.one_pass;
    count
}

impl From<Form> for Flags {
    fn from(form: Form) -> Self {
        let Walking {
            verifies,
            sizes,
            lfu,
        } = form.walking;
        let usual = Walking::default().lfu;
        let (size, allocator) = match sizes {
            Sizes::Memory(allocator) => (Size::Memory, allocator),
            Sizes::Serialized => (Size::Serialized, Default::default()),
        };
        let other = |value: u64, usual: u64| (value != usual).then_some(value);
        let mut count = form.more_counts;
        count.separator = form.separator;
        count.depth *= usize::from(form.patterns);
        count.only = form.slots_only.then_some(Part::Slots);
        count.one_pass = form.one_pass;
        Flags {
            read: ReadSpec {
                format: form.format,
                delimiter: form
                    .delimiter
                    .map(|byte| format!(r"\x{byte:02x}"))
                    .or(form.more.delimiter),
                key_column: form.columns.key,
                size_column: form.columns.size,
                ops_column: form.columns.ops,
                escapes: form.columns.escapes,
                db: form.db,
                size,
                memory: MemorySpec {
                    allocator,
                    no_verify: !verifies,
                },
                lfu_log_factor: other(lfu.log_factor, usual.log_factor),
                lfu_decay_time: other(lfu.decay_minutes, usual.decay_minutes),
                ..form.more
            },
            hash: HashSpec {
                policy: form.policy,
            },
            count,
            listing: form.listing,
            words: form.words,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::FilterSpec;

    #[test]
    fn flags_come_back_and_those_of_version_1_alone_have_nothing_more() {
        let mut flags = Flags {
            read: ReadSpec {
                delimiter: Some(r"\x3b".into()),
                lfu_decay_time: Some(7),
                size_column: Some("s".into()),
                ..ReadSpec::default()
            },
            ..Flags::default()
        };
        let form = |flags: &Flags| serde_json::to_string(&Form::from(flags.clone())).unwrap();
        assert!(!form(&flags).contains("more"), "{}", form(&flags));
        flags.read.filter = FilterSpec {
            globs: vec!["a*".into()],
            ..FilterSpec::default()
        };
        assert!(
            form(&flags).contains(r#""more":{"match":["a*"]}"#),
            "{}",
            form(&flags)
        );
        assert_eq!(Flags::from(Form::from(flags.clone())), flags);
        let read: Flags = serde_json::from_str(r#"{"db":3}"#).unwrap();
        assert_eq!(read.read.db, Some(3));
    }
}
