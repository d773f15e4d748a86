//! Warnings about the input: the evidence in the counts, and its possible causes.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::{are, counted, grouped, list, percent, short, span, time};

use crate::summary::gaps::Gap;
use crate::summary::integrity::{FilesApart, REQUESTS, TWICE};

/// Keys without a size or an operation count.
pub(crate) fn weight_missing(metric: Metric, keys: u64) -> String {
    let weight = metric.of_a_key();
    format!(
        "{} without a {weight}, counted as 0 {}",
        counted(keys, "key"),
        metric.name()
    )
}

/// Values that could not be read.
pub(crate) fn unreadable(gap: &Gap) -> String {
    format!("{}: what they belong to is not judged", gap.in_words())
}

/// Rows that could not be read as keys, beside those that were.
pub(crate) fn lost_rows(rows: u64, keys: u64) -> String {
    format!(
        "{} beside {} could not be read as a key, and {} left out",
        counted(rows, "row"),
        counted(keys, "key"),
        are(rows)
    )
}

/// Errors of redis-cli or a server stand among the keys.
pub(crate) fn broken_off(error_lines: u64) -> String {
    format!(
        "{} of redis-cli or the server among the keys: a scan broke off; take the dump again and keep its stderr \
         apart",
        counted(error_lines, "error")
    )
}

/// A file of this many bytes without a key.
pub(crate) fn no_keys(file: &Name, bytes: u64) -> String {
    match bytes {
        0 => format!("{file} is empty: if redis-cli wrote it, look at what it printed to stderr"),
        bytes => format!("{file}: no key in its {}", counted(bytes, "byte")),
    }
}

/// A node that was captured for this many seconds without a command on a key.
pub(crate) fn idle(node: &Name, secs: f64) -> String {
    format!("{node}: MONITOR saw no command on a key in {secs:.0} s")
}

/// The sum of all weights does not fit 64 bits.
pub(crate) fn overflow(metric: Metric) -> String {
    format!(
        "all {} together are more than 64 bits hold: sums stop there; is the column right?",
        metric.name()
    )
}

/// A key that is as large as all others together.
pub(crate) fn is_total(name: &Name) -> String {
    format!(
        "{} is exactly as large as all other keys together: is it their total? Then leave its row out",
        short(name)
    )
}

/// SCAN seldom repeats a larger share of the keys.
const OF_SCAN: f64 = 0.05;

/// Each weight that was read is 0.
pub(crate) fn nothing_but_zeros(metric: Metric) -> String {
    let values = match metric {
        Metric::Bytes => "sizes",
        _ => "numbers of operations",
    };
    format!("all {values} are 0, so nothing is judged by them: is the column right?")
}

/// This share of the keys was seen before, in this many files; no key repeats in RDB files.
pub(crate) fn repeated(share: f64, is_exact: bool, files: usize, of_snapshots: bool) -> String {
    let about = if is_exact { "" } else { "about " };
    let cause = if share > REQUESTS {
        "is each row a request? one row per key is needed, with its requests added up as operations"
    } else if share > TWICE && files > 1 {
        "are files of a replica or of the same node twice among them?"
    } else if share > TWICE {
        "is the dump of the same node in it twice?"
    } else if share > OF_SCAN && !of_snapshots {
        "are there several readings of a key in it? each row counts, so they add up"
    } else if of_snapshots {
        "slots moved between the RDB files, or one node has two?"
    } else {
        "SCAN may repeat keys"
    };
    format!(
        "{about}{} of the keys are duplicates: {cause}",
        percent(share)
    )
}

/// RDB files were written more than an hour apart.
pub(crate) fn hours_apart(apart: &FilesApart) -> String {
    format!(
        "{}: keys and slots may have moved in between; back up all nodes at the same time",
        in_times(apart)
    )
}

/// RDB files were written more than a day apart.
pub(crate) fn days_apart(apart: &FilesApart) -> String {
    format!(
        "{}: they are not of the same time; take the backups of all nodes again, at the same time",
        in_times(apart)
    )
}

/// Keys in slots that no node owns.
pub(crate) fn unowned(keys: u64) -> String {
    format!(
        "{} in slots that no node of the topology owns: is it that of another cluster, or an old one?",
        counted(keys, "key")
    )
}

/// A file with keys of one node plus some of others.
pub(crate) fn outside_node(file: &Name, node: &Name, keys: u64) -> String {
    format!(
        "{file}: {} of its keys {} outside the slots of node {node}, which the others are in: is the topology older than the dump, or are they left behind by a move?",
        grouped(keys),
        are(keys)
    )
}

/// Several files hold the keys of the same node.
pub fn same_node(files: &[&Name], node: &Name) -> String {
    format!(
        "{} hold the keys of one node, {node}: a primary and its replica, the same dump twice, or parts of one?",
        list(files.iter(), 3)
    )
}

/// A node reports more keys than the dump holds.
pub(crate) fn shortfall(node: &Name, reported: u64, dumped: u64) -> String {
    format!(
        "node {node} says it has {} keys, the dump holds {} of its slots: is it whole?",
        grouped(reported),
        grouped(dumped)
    )
}

/// `a.rdb was written at 2026-11-21 06:26:35 UTC, b.rdb 2 hours later, at 2026-11-21 08:30:00 UTC`
fn in_times(apart: &FilesApart) -> String {
    let ((oldest, first), (newest, last)) = (&apart.oldest, &apart.newest);
    format!(
        "{oldest} was written at {}, {newest} {} later, at {}",
        time(*first),
        span(apart.seconds()),
        time(*last)
    )
}
