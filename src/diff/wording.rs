//! The changes between two reports, in one sentence.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::amount;
use slotscope_findings::summary::state::State;
use slotscope_findings::wording::verdict::times;

use crate::diff::{Headline, OldNew};

impl Headline {
    /// The sentence.
    pub(crate) fn in_words(&self) -> String {
        let [old, new] = [self.state.old, self.state.new].map(State::name);
        let mut sentence = totals(&self.total, self.by);
        sentence += &if old == new {
            format!("; still {new}")
        } else {
            format!("; {old} became {new}")
        };
        if let (Some(old), Some(new)) = (self.max_over_mean.old, self.max_over_mean.new) {
            sentence += &format!(
                ", the fullest node at {} its share, {} before",
                times(new),
                times(old)
            );
        }
        if let Some((tag, at_least)) = &self.fastest_tag {
            sentence += &format!(
                "; the tag {{{tag}}} grew most, by at least {}",
                amount(self.by, *at_least)
            );
        }
        sentence
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
