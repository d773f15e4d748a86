//! `analyze` for callers that count in parts: planning, and reporting what was counted.

use slotscope_app::cli::redacted;
use slotscope_app::options::ListingSpec;
use slotscope_app::partial::{self, Plan};
use slotscope_base::error::Result;
use slotscope_base::slot::policy::Policy;
use slotscope_model::Summary;
use slotscope_read::source::chunk::CHUNK;

use crate::cli::analyze::AnalyzeArgs;

impl AnalyzeArgs {
    /// The plan for the inputs, for `partial::tally`.
    ///
    /// # Errors
    /// As for `partial::plan`.
    pub fn plan(&self) -> Result<Plan> {
        let cluster = ListingSpec {
            topology: self.cluster.topology.clone(),
        };
        let flags = self
            .reading
            .flags(&self.hashing, &self.counting, cluster.listing()?)?;
        let reading = self.reading.reading(Policy::Oss)?;
        partial::plan_of(flags, reading, CHUNK).map(|(plan, _)| plan)
    }

    /// The summary of a merged tally file and the files of a second pass, with the flags that `plan` was made with.
    ///
    /// # Errors
    /// As for `partial::report`.
    pub fn summary_of(&self, tally: &[u8], again: &[impl AsRef<[u8]>]) -> Result<Summary> {
        redacted(self.redact, |redaction| {
            let topology = self.cluster.topology()?;
            let plain = self.analysis(&topology)?.redaction(redaction);
            let analysis = plain.node_counts(self.node_counts()?);
            let mut summary = partial::report(&analysis, tally, again)?;
            self.name_run(&mut summary);
            Ok(summary)
        })
    }
}
