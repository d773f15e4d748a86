//! Advice, diff: the sentence that a person reads first.

use super::{Diff, OldNew};
use crate::metric::Metric;
use crate::summary::sentence::{bytes, grouped};

/// The totals, the verdict, and the tag that grew most.
pub fn of(diff: &Diff) -> String {
    let by = diff.skew.by;
    let mut sentence = diff.totals.get(by).map_or_else(String::new, |total| totals(total, by));
    let verdict = &diff.skew.verdict;
    sentence += &match verdict.old == verdict.new {
        true => format!("; still {}", verdict.new),
        false => format!("; {} became {}", verdict.old, verdict.new),
    };
    if let (Some(old), Some(new)) = (diff.skew.max_over_mean.old, diff.skew.max_over_mean.new) {
        sentence += &format!(", the fullest node at {new:.2} times its fair share, {old:.2} before");
    }
    let tags = diff.tags.iter().flat_map(|tags| tags.grew.first().into_iter().chain(tags.appeared.first()));
    if let Some(most) = tags.max_by_key(|tag| tag.at_least) {
        sentence += &format!("; the tag {{{}}} grew most, by at least {}", most.name, amount(most.at_least, by));
    }
    sentence
}

fn totals(total: &OldNew<u64>, by: Metric) -> String {
    let (old, new) = (total.old.unwrap_or(0), total.new.unwrap_or(0));
    let change = match new.abs_diff(old) {
        0 => String::from("as before"),
        change => {
            let share =
                if old == 0 { String::new() } else { format!(" ({:+.1} %)", (new as f64 / old as f64 - 1.0) * 100.0) };
            format!("{} {} than before{share}", amount(change, by), if new > old { "more" } else { "less" })
        }
    };
    format!("{}, {change}", amount(new, by))
}

/// A load with its unit.
fn amount(load: u64, by: Metric) -> String {
    match by {
        Metric::Bytes => bytes(load),
        _ if load == 1 => format!("1 {}", by.name().trim_end_matches('s')),
        _ => format!("{} {}", grouped(load), by.name()),
    }
}
