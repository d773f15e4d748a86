//! The flags of analyze for callers that count in parts: what is planned, and the report of what was counted.

use crate::cli::analyze::{AnalyzeArgs, Part};
use crate::cli::cluster::ListingArgs;
use crate::error::Result;
use crate::partial::plan::Planning;
use crate::partial::{self, Flags, Plan};
use crate::slot::policy::Policy;
use crate::summary::Summary;

impl AnalyzeArgs {
    /// The plan of the inputs, for `partial::tally`.
    ///
    /// # Errors
    /// As `partial::plan`.
    pub fn plan(&self) -> Result<Plan> {
        let cluster = ListingArgs {
            topology: self.cluster.topology.clone(),
        };
        let flags = Flags {
            policy: self.hashing.policy.clone(),
            separator: self.separator.clone(),
            patterns: self.depth > 0,
            slots_only: self.only == Some(Part::Slots),
            one_pass: self.one_pass,
            listing: cluster.listing()?,
            words: [self.reading.words(None), self.hashing.words()].concat(),
            ..self.reading.flags()?
        };
        let reading = self.reading.reading(Policy::Oss)?;
        partial::plan_of(flags, reading, Planning::default()).map(|(plan, _)| plan)
    }

    /// The summary of a merged tally file and of the files of a second pass, by the flags that `plan` was made with.
    ///
    /// # Errors
    /// As `partial::report`.
    pub fn summary_of(&self, tally: &[u8], again: &[impl AsRef<[u8]>]) -> Result<Summary> {
        self.redacted(|redaction| {
            let topology = self.cluster.topology()?;
            let analysis = self.analysis(&topology)?.redaction(redaction);
            let analysis = analysis.node_counts(self.node_counts()?);
            let mut summary = partial::report(&analysis, tally, again)?;
            self.name_run(&mut summary);
            Ok(summary)
        })
    }
}
