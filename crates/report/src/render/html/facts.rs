//! The numbers at the top of the page, and how the report was made.

use slotscope_base::text::{bytes, counted, grouped, percent, time, truncated};
use slotscope_model::measure::Measure;
use slotscope_model::{Dumped, Summary};

use crate::render::html::spell;

/// A highlighted number.
pub(super) struct Fact {
    /// Its path in report.json.
    pub name: &'static str,
    /// Its display form.
    pub text: String,
    /// The exact number.
    pub value: String,
    /// Its label.
    pub words: &'static str,
}

/// The highlighted numbers.
pub(super) fn facts(summary: &Summary) -> Vec<Fact> {
    let metric = summary.verdict.metric();
    let headline = summary.verdict.headline();
    let balance = summary.nodes.balance.get(metric);
    let ratio = |name, ratio: Option<f64>, words| {
        ratio.map(|ratio| {
            let text = if ratio < 99.95 {
                format!("{ratio:.2} ×")
            } else {
                format!("{} ×", grouped(ratio.round() as u64))
            };
            Fact {
                name,
                text,
                value: ratio.to_string(),
                words,
            }
        })
    };
    let keys = summary.input.keys;
    let tags = summary.tags.as_ref().map(|tags| Fact {
        name: "tags.distinct",
        text: spell::short_count(tags.distinct),
        value: tags.distinct.to_string(),
        words: if tags.distinct_error > 0.0 {
            "distinct hash tags, about"
        } else {
            "distinct hash tags"
        },
    });
    let usable = headline
        .filter(|role| role.judged && role.metric != Measure::Keys)
        .and_then(|role| role.usable_capacity)
        .map(|part| Fact {
            name: "verdict.usable_capacity",
            text: percent(part),
            value: part.to_string(),
            words: if metric.is_of_use() {
                "of the cluster's capacity can be used before its busiest node is at the limit"
            } else {
                "of the cluster can be used before its fullest node is full"
            },
        });
    // For captures alone, the number of keys is unknown.
    let operations = summary.operations.as_ref();
    let only_operations = operations.filter(|_| summary.has_only_operations());
    let (name, read, words) = match only_operations {
        Some(operations) => ("operations.ops", operations.ops, "operations were read"),
        None => ("input.keys", keys, "keys were read"),
    };
    let keys = Fact {
        name,
        text: spell::short_count(read),
        value: read.to_string(),
        words,
    };
    // Weighed where nodes differ, as in the sentence beside it.
    let judged = headline.and_then(|role| Some(role.fullest.as_ref()?.max_over_mean));
    let fullest = ratio(
        "verdict.max_over_mean",
        judged.or_else(|| balance.and_then(|b| b.max_over_mean)),
        "fair share on the fullest node",
    );
    let nodes = Fact {
        name: "nodes.count",
        text: summary.nodes.owning().count().to_string(),
        value: summary.nodes.owning().count().to_string(),
        words: "primaries own slots",
    };
    [fullest, usable, Some(keys), Some(nodes), tags]
        .into_iter()
        .flatten()
        .collect()
}

/// The age of the input (from the dump itself, else from file dates, which copying changes), and the time of analysis.
pub(super) fn made(summary: &Summary) -> String {
    let analyzed = format!("analyzed {}", time(summary.run.started));
    let event = match summary.input.written {
        Some(_) => "dump written",
        None => "file dated",
    };
    match summary.dumped() {
        Some(Dumped { first, last }) if first == last => {
            format!("{event} {} · {analyzed}", time(first))
        }
        Some(Dumped { first, last }) => {
            let [first, last] = [first, last].map(time);
            format!("files dated {first} to {last} · {analyzed}")
        }
        None => analyzed,
    }
}

/// How the report was made: everything that differs between two runs.
pub(super) fn how(summary: &Summary) -> Vec<(&'static str, String)> {
    let run = &summary.run;
    let mut how = vec![
        ("command", truncated(&run.command.to_string(), spell::TEXT)),
        ("slotscope", run.version.clone()),
        ("started", time(run.started)),
        ("took", format!("{:.3} s", run.elapsed_secs)),
        ("threads", run.threads.to_string()),
        ("kernel", run.kernel.clone()),
        ("input read", counted(run.passes.into(), "time")),
        ("keys a second", spell::short_count(run.keys_per_sec as u64)),
        ("input a second", bytes(run.bytes_per_sec as u64)),
    ];
    how.extend(
        run.peak_rss_bytes
            .map(|peak| ("memory at most", bytes(peak))),
    );
    how
}
