//! The plan: all inputs by number, what is counted, and how they may be split. Whoever counts a part needs only the
//! plan and the splits.

use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_count::tally::Tallies;
use slotscope_model::Dumped;
use slotscope_read::source::Source;
use slotscope_read::source::collection::Collection;
use slotscope_read::source::collection::manifest::Manifest;

use crate::options::Listing;
use crate::partial::TALLY_FILE;
use crate::partial::flags::Flags;
use crate::partial::frame;
use crate::partial::input::{Input, changed};
use crate::partial::split::{Part, Split, splits_of};
use crate::pipeline::reading::{Options, Reading};
use crate::pipeline::rejected::Lines;
use crate::pipeline::tally_spec::TallySpec;
use crate::pipeline::{collected_nodes, inputs, slot_stats};

/// The schema of a serialized plan.
pub(crate) const SCHEMA: &str = "slotscope.tally-plan/2";
/// More inputs than any cluster has dumps.
const MAX_INPUTS: usize = 1 << 20;

/// The inputs, and what to count.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The flags that affect counts.
    pub flags: Flags,
    /// The inputs by number, from 0.
    pub inputs: Vec<Input>,
    /// Chunk size in bytes.
    pub chunk: u64,
    /// The directories of collections with their own descriptions.
    collections: Vec<(Name, Manifest)>,
    passed_over: u64,
    left_out: Vec<Name>,
    dumped: Option<Dumped>,
}

impl Plan {
    /// The plan for inputs that were found, in chunks of this many bytes; `reading` has the settings of the flags.
    ///
    /// # Errors
    /// An input cannot be opened, is not in its format, or has no parts.
    pub(crate) fn of(mut flags: Flags, reading: &Reading, chunk: usize) -> Result<Plan> {
        if slot_stats::spellings(&reading.sources)?.is_some() {
            let place = reading.paths().next().map(Name::from).unwrap_or_default();
            let reason = "counts by slot have no keys to be counted in parts; name them to slotscope analyze";
            return Err(Error::bad(place.to_string(), reason));
        }
        flags.count.one_pass |= !reading.is_rereadable();
        let inputs = reading.with_scan("planning", |scan| {
            let scan = scan.clone().chunk(chunk);
            let input = |source: &dyn Source| {
                let may_be_cut = source.size_bytes().is_some();
                let chunks = if may_be_cut {
                    scan.chunks_of(source)?
                } else {
                    1
                };
                Ok(Input::of(source, chunks))
            };
            let sources = reading.sources.iter().map(|source| &**source);
            sources.map(input).collect::<Result<_>>()
        })?;
        let collected = |collection: &Collection| {
            let directory = Name::from(collection.directory.as_path());
            (directory, collection.manifest.clone())
        };
        Ok(Plan {
            flags,
            inputs,
            chunk: chunk as u64,
            collections: reading.collections.iter().map(collected).collect(),
            passed_over: reading.passed_over as u64,
            left_out: (reading.left_out.iter())
                .map(|path| Name::from(path.as_path()))
                .collect(),
            dumped: inputs::dumped(&reading.sources),
        })
    }

    /// Serializes the plan for other processes.
    pub fn to_bytes(&self) -> Vec<u8> {
        frame::write(SCHEMA, self)
    }

    /// The plan in `bytes`.
    ///
    /// # Errors
    /// They are not a plan, or have another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Plan> {
        let plan: Plan = frame::read(SCHEMA, bytes)?;
        plan.check()?;
        Ok(plan)
    }

    /// Fails if no version of slotscope could have made this plan.
    ///
    /// # Errors
    /// The plan is invalid.
    pub(crate) fn check(&self) -> Result<()> {
        let is_cut = |input: &Input| {
            let chunks = input
                .bytes
                .map_or(1, |bytes| bytes.div_ceil(self.chunk).max(1));
            input.chunks == 1 || input.chunks == chunks
        };
        let is_planned = (1..=1 << 30).contains(&self.chunk)
            && self.inputs.len() <= MAX_INPUTS
            && self.flags.count.check().is_ok()
            && self
                .inputs
                .iter()
                .all(|input| input.weight() < 1 << 60 && is_cut(input));
        if is_planned {
            Ok(())
        } else {
            Err(Error::bad(
                TALLY_FILE,
                "slotscope cannot read its inputs; make it again with slotscope tally",
            ))
        }
    }

    /// All inputs in splits of about `bytes` bytes; inputs that cannot be split are one each.
    pub fn splits(&self, bytes: u64) -> Vec<Split> {
        splits_of(&self.inputs, self.chunk, bytes)
    }

    /// The splits of one of several parts of about equal size.
    pub fn part(&self, part: Part) -> Vec<Split> {
        part.splits_of(&self.inputs, self.chunk)
    }

    /// An empty tally for these inputs.
    ///
    /// # Errors
    /// The nodes cannot be read.
    pub fn empty(&self) -> Result<Tallies> {
        let listing = self.flags.topology()?;
        let spec = TallySpec {
            counting: &self.flags.count,
            listing: listing.as_ref(),
            seeks_nodes: listing.is_none(),
        };
        Ok(spec.empty(self.inputs.len()))
    }

    /// A report's description of the inputs, except for rejected rows.
    ///
    /// # Errors
    /// A flag is unusable.
    pub fn describe_inputs(&self) -> Result<inputs::Inputs> {
        let collection = |(directory, manifest): &(Name, Manifest)| Collection {
            directory: inputs::path_of(directory),
            manifest: manifest.clone(),
        };
        let file = |input: &Input| inputs::File {
            path: input.path(),
            object: input.object.clone(),
        };
        Ok(inputs::Inputs {
            counters: None,
            files: self.inputs.iter().map(file).collect(),
            lines: Lines::new(),
            collections: self.collections.iter().map(collection).collect(),
            passed_over: self.passed_over as usize,
            left_out: self.left_out.iter().map(inputs::path_of).collect(),
            options: self.flags.options(&Options::default())?,
            dumped: self.dumped,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        })
    }

    /// Whether the nodes come from a collection rather than the user.
    pub(crate) fn lists_its_nodes(&self) -> bool {
        let mut collections = self.collections.iter();
        collections.any(|(_, manifest)| manifest.cluster)
    }

    /// Fails for parts of another plan, which cannot be combined.
    ///
    /// # Errors
    /// The plans differ.
    pub(crate) fn check_same(&self, other: &Plan) -> Result<()> {
        if self == other {
            return Ok(());
        }
        if let Some(flag) = self.flags.difference(&other.flags) {
            let reason = "the parts were counted with different ones; count all of them with the same flags and inputs";
            return Err(Error::bad(flag, reason));
        }
        let pairs = self.inputs.iter().zip(&other.inputs);
        let other_input = pairs.clone().find(|(mine, theirs)| mine != theirs);
        Err(match other_input {
            Some((mine, theirs)) if mine.name == theirs.name => changed(&mine.name),
            Some((mine, theirs)) => Error::bad(
                theirs.name.to_string(),
                format!(
                    "is an input of one part where another has {}; name the same inputs for all parts",
                    mine.name
                ),
            ),
            None => Error::bad(
                "INPUT",
                "the parts are of different inputs; name the same inputs for all parts",
            ),
        })
    }
}

/// The listing of a collection among the inputs, if the flags name no nodes.
///
/// # Errors
/// A listing cannot be read, or there are two.
pub(crate) fn collected_listing(reading: &Reading) -> Result<Option<Listing>> {
    let listing = collected_nodes::listing(&reading.collections)?;
    let checked = listing.map(|(source, bytes)| Listing::of(source, &bytes));
    checked.transpose()
}
