//! Turns a merged tally file into the counts of a single process.

use slotscope_base::error::{Error, Result};

use crate::partial::Flags;
use crate::partial::recount_file::RecountFile;
use crate::partial::tally_file::TallyFile;
use crate::partial::{RECOUNT_FILE, TALLY_FILE};
use crate::pipeline::Analysis;
use crate::pipeline::counted::CountedInputs;
use crate::pipeline::two_pass::{Counted, SecondPass};

/// The counts, including the second pass, which a one-pass analysis does without.
///
/// # Errors
/// As for `partial::report`.
pub(crate) fn counted(
    analysis: &Analysis,
    file: TallyFile,
    again: Option<RecountFile>,
) -> Result<CountedInputs> {
    let plan = file.plan.clone();
    let Flags { count, words, .. } = &plan.flags;
    let analysis = analysis
        .on_nodes_of(plan.flags.topology()?, plan.lists_its_nodes())?
        .on_counts_of(count, words)?;
    let again = again.map(|again| (file.digest(), again));
    let (inputs, mut first) = file.into_scanned()?;
    analysis.drop_unwanted(&mut first.tally);
    let mut wanted = SecondPass::of(&first.tally);
    if again.is_none() && analysis.is_one_pass() {
        wanted = None;
    }
    match (&mut wanted, again) {
        (None, None) => {}
        (None, Some(_)) => {
            let reason = "no names were to be counted again for this tally file; leave it out";
            return Err(Error::bad(RECOUNT_FILE, reason));
        }
        (Some(_), None) => {
            let reason = "heavy names are still to be counted; make FILE with slotscope recount --for the tally file -o FILE, \
                        and name it too";
            return Err(Error::bad(TALLY_FILE, reason));
        }
        (Some(wanted), Some((digest, again))) => {
            if !wanted.take(again.into_counted(&digest, &plan)?) {
                let reason = "its counts are not those that the tally file asks for; make it again";
                return Err(Error::bad(RECOUNT_FILE, reason));
            }
        }
    }
    CountedInputs::of_others(analysis, inputs, Counted::of(first, wanted))
}
