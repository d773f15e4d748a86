//! Inputs that are counted, by this process or by others: findings are made of these values, without the inputs.

use crate::analysis::Analysis;
use crate::analysis::inputs::Inputs;
use crate::analysis::run_info::Started;
use crate::analysis::two_pass::Counted;
use crate::error::Result;
use crate::topology::Topology;

/// The counts of inputs, and the analysis that they are for.
pub struct CountedInputs {
    /// With the nodes that the inputs list, if the user named none.
    pub(super) analysis: Analysis,
    /// What is known of the inputs besides the counts.
    pub inputs: Inputs,
    /// The counts.
    pub counted: Counted,
    /// The nodes as far as they are known without the counts.
    pub(super) topology: Topology,
    pub(super) started: Started,
}

impl CountedInputs {
    /// What other processes counted, for this analysis.
    ///
    /// # Errors
    /// Nodes that cannot be used.
    pub fn of_others(analysis: Analysis, inputs: Inputs, counted: Counted) -> Result<Self> {
        Ok(CountedInputs {
            topology: analysis.first_owners(inputs.files.len())?,
            analysis,
            inputs,
            counted,
            started: Started::now(),
        })
    }
}
