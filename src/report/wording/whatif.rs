//! What a change of nodes, policy or names comes to, in one sentence.

use crate::report::wording::InWords;
use crate::report::wording::verdict::of_metric;
use crate::text::{grouped, percent};
use crate::whatif::findings::Comparison;

impl InWords for Comparison {
    fn in_words(&self) -> String {
        let Some((before, after)) = self.max_over_mean else {
            return "no node has a key on one side, so there is nothing to compare".into();
        };
        let turn = match after - before {
            change if change <= -0.005 => "better",
            change if change >= 0.005 => "worse",
            _ => "no better and no worse",
        };
        let percent = |keys: u64| percent(keys as f64 / self.keys.max(1) as f64);
        let about = if self.exact { "" } else { "about " };
        let parted = match self.parted_tags {
            0 => String::from("no tag is parted"),
            1 => String::from(
                "one tag is parted: commands with several of its keys become CROSSSLOT",
            ),
            tags => format!(
                "{about}{} tags are parted: commands with several keys of one become CROSSSLOT",
                grouped(tags)
            ),
        };
        let unplaced = match self.unplaced {
            0 => String::new(),
            keys => format!("; {} have no slot any more and are left out", grouped(keys)),
        };
        format!(
            "{turn}: the fullest node holds {after:.2} times its fair share{} in place of {before:.2}; {} of the keys \
             change their slot and {} their node; {parted}{unplaced}",
            of_metric(self.by),
            percent(self.moved),
            percent(self.changed_node),
        )
    }
}
