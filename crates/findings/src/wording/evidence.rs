//! Warnings about the input: the evidence in the counts, and its possible causes.

use slotscope_engine::text::{are, counted, grouped, list, percent, span, time};

use crate::summary::evidence::Evidence;
use crate::summary::integrity::{FilesApart, REQUESTS, TWICE};
use crate::summary::nodes::Shortfall;
use crate::wording::InWords;

impl InWords for Evidence {
    fn in_words(&self) -> String {
        match self {
            Evidence::WeightMissing { metric, keys } => {
                let weight = metric.of_a_key();
                format!(
                    "{} without a {weight}, counted as 0 {}",
                    counted(*keys, "key"),
                    metric.name()
                )
            }
            Evidence::Unreadable(gap) => {
                format!("{}: what they belong to is not judged", gap.in_words())
            }
            Evidence::LostRows { rows, keys } => format!(
                "{} beside {} could not be read as a key, and {} left out",
                counted(*rows, "row"),
                counted(*keys, "key"),
                are(*rows)
            ),
            Evidence::BrokenOff { error_lines } => format!(
                "{} of redis-cli or the server among the keys: a scan broke off; take the dump again and keep its stderr \
                 apart",
                counted(*error_lines, "error")
            ),
            Evidence::NoCommands { node, secs } => {
                format!("{node}: MONITOR saw no command on a key in {secs:.0} s")
            }
            Evidence::NoKeys { file, bytes } => format!(
                "{file} holds {}: did redis-cli fail? look at what it printed to stderr",
                if *bytes == 0 { "nothing" } else { "no key" }
            ),
            Evidence::Overflow { metric } => format!(
                "all {} together are more than 64 bits hold: sums stop there; is the column right?",
                metric.name()
            ),
            Evidence::Repeated {
                share,
                exact,
                of_snapshots,
            } => {
                let about = if *exact { "" } else { "about " };
                let cause = if *share > REQUESTS {
                    "is each row a request? one row per key is needed, with its requests added up as operations"
                } else if *share > TWICE {
                    "a replica, or the same node twice?"
                } else if *of_snapshots {
                    "slots moved between the RDB files, or one node has two?"
                } else {
                    "SCAN may repeat keys, and a dump may cut names short at a NUL or a newline"
                };
                format!(
                    "{about}{} of the keys are duplicates: {cause}",
                    percent(*share)
                )
            }
            Evidence::FilesApart(apart) => format!(
                "{}: keys and slots may have moved in between; back up all nodes at the same time",
                in_times(apart)
            ),
            Evidence::Unowned { keys } => format!(
                "{} in slots that no node of the topology owns: is it that of another cluster, or an old one?",
                counted(*keys, "key")
            ),
            Evidence::OutsideNode { file, node, keys } => format!(
                "{file}: {} of its keys {} outside the slots of node {node}, which the others are in: is the topology older than the dump, or are they left behind by a move?",
                grouped(*keys),
                are(*keys)
            ),
            Evidence::SameNode { files, node } => {
                format!(
                    "{} hold the keys of one node, {node}: a primary and its replica, the same dump twice, or parts of one?",
                    list(files.iter(), 3)
                )
            }
            Evidence::Sign(sign) => sign.in_words(),
            Evidence::Shortfall(shortfall) => shortfall.in_words(),
        }
    }
}

/// `a.rdb was written at 2026-11-21 06:26:35 UTC, b.rdb 2 hours later, at 2026-11-21 08:30:00 UTC`
pub(super) fn in_times(apart: &FilesApart) -> String {
    let ((oldest, first), (newest, last)) = (&apart.oldest, &apart.newest);
    format!(
        "{oldest} was written at {}, {newest} {} later, at {}",
        time(*first),
        span(apart.seconds()),
        time(*last)
    )
}

impl InWords for Shortfall {
    fn in_words(&self) -> String {
        format!(
            "node {} says it has {} keys, the dump holds {} of its slots: is it whole?",
            self.node,
            grouped(self.reported),
            grouped(self.dumped)
        )
    }
}
