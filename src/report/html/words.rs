//! What a verdict means, in words for people who never heard of a hash slot, and what to do next.

use crate::summary::verdict::Verdict;

/// A paragraph.
pub fn meaning(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Empty => "There was no key in what was read, so there is nothing to say about a cluster.",
        Verdict::Suspicious => {
            "What was read is probably not the whole truth about the cluster: keys seem to be missing, doubled, cut or \
             foreign, or a file could not be read to its end. Take the dump again as the warnings say before acting on \
             anything below."
        }
        Verdict::Balanced => {
            "The load is spread as evenly as chance allows. There is nothing to move and nobody to blame; the \
             differences between nodes are those that any fair draw leaves."
        }
        Verdict::Tagged => {
            "The nodes are balanced. Hash tags make some slots fuller than others, which is what tags do; it only \
             matters if one of them grows faster than the rest."
        }
        Verdict::Placement => {
            "A node is fuller because it owns more slots than the others. The keys are fine: moving slots to other \
             nodes cures it."
        }
        Verdict::Watch => {
            "A node carries noticeably more than its fair share, and that is not chance. It is no emergency yet; the \
             causes below say whether moving slots helps or a key or tag has to change."
        }
        Verdict::Skewed => {
            "A node carries much more than its fair share, and that is not chance. It will be full long before the \
             cluster is; the causes below say whether moving slots helps or a key or tag has to change."
        }
    }
}
