//! The changes between two reports, in one sentence.

use slotscope_base::metric::Metric;
use slotscope_base::text::amount;
use slotscope_model::measure::Measure;
use slotscope_model::words::times;

use crate::diff::{Diff, OldNew, States, Words};

/// The main changes, without a full stop.
pub(super) fn sentence(diff: &Diff) -> String {
    let (verdict, metric) = (&diff.verdict, diff.verdict.by);
    let total = diff.totals.get(metric).copied().unwrap_or_default();
    let Words { old, new } = verdict.words;
    let mut sentence = format!("{}; {}", became(old, new), totals(&total, metric));
    let mut comma = "; ";
    // A limit, or the other role, may decide the verdict.
    if verdict.state != verdict.overall {
        let States { old, new } = verdict.state;
        let noun = Measure::from(metric).noun();
        sentence += &format!("; by {noun} {}", became(old.name(), new.name()));
        comma = ", ";
    }
    if let (Some(old), Some(new)) = (verdict.max_over_mean.old, verdict.max_over_mean.new) {
        sentence += &format!(
            "{comma}the fullest node at {} its share, {} before",
            times(new),
            times(old)
        );
    }
    let tags = diff.tags.iter();
    let first = tags.flat_map(|tags| tags.grew.first().into_iter().chain(tags.appeared.first()));
    if let Some(tag) = first.max_by_key(|tag| tag.at_least) {
        sentence += &format!(
            "; the tag {{{}}} grew most, by {} {}",
            tag.name,
            if diff.estimated { "about" } else { "at least" },
            amount(metric, tag.at_least)
        );
    }
    sentence
}

/// A verdict that changed or stayed.
fn became(old: &str, new: &str) -> String {
    if old == new {
        format!("still {new}")
    } else {
        format!("{old} became {new}")
    }
}

fn totals(total: &OldNew<u64>, metric: Metric) -> String {
    let (old, new) = (total.old.unwrap_or(0), total.new.unwrap_or(0));
    let change = match new.abs_diff(old) {
        0 => String::from("as before"),
        change => {
            let share = if old == 0 {
                String::new()
            } else {
                format!(" ({:+.1}%)", (new as f64 / old as f64 - 1.0) * 100.0)
            };
            format!(
                "{} {} than before{share}",
                amount(metric, change),
                match new > old {
                    true => "more",
                    false if metric.is_size() => "less",
                    false => "fewer",
                }
            )
        }
    };
    format!("{}, {change}", amount(metric, new))
}
