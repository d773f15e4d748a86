//! The numbers of a report in the text format of Prometheus, for the textfile collector of node_exporter.

use std::io::{self, Write};

use crate::name::Name;
use crate::summary::Summary;
use crate::summary::cause::State;

/// What every such file starts with.
pub const MARK: &str = "# HELP slotscope_";

/// Writes them.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut families = Families::default();
    families.add(
        "keys",
        "Keys that were read.",
        &[("", summary.input.keys as f64)],
    );
    let rejected = summary.input.rejected.count as f64;
    families.add(
        "rejected_rows",
        "Rows of the input that are no keys.",
        &[("", rejected)],
    );
    let started = summary.run.started as f64;
    families.add(
        "analyzed_timestamp_seconds",
        "When the dump was analyzed.",
        &[("", started)],
    );
    let state = |of: &State| {
        let label = format!("state=\"{}\"", of.name());
        (label, f64::from(u8::from(summary.verdict.state == *of)))
    };
    let states: Vec<_> = State::ALL.iter().map(state).collect();
    families.add(
        "verdict",
        "1 for the state of the verdict, 0 for all others.",
        &states,
    );
    let nodes = summary.nodes.list.iter().flat_map(|node| {
        let name = label(&node.name());
        let loads = node.load.iter();
        loads.map(move |(metric, load)| {
            (
                format!("node=\"{name}\",metric=\"{}\"", metric.name()),
                *load as f64,
            )
        })
    });
    families.add(
        "node_load",
        "What a primary holds of a metric.",
        &nodes.collect::<Vec<_>>(),
    );
    let slots = summary.nodes.list.iter();
    let slots = slots.map(|node| {
        (
            format!("node=\"{}\"", label(&node.name())),
            f64::from(node.slots),
        )
    });
    families.add(
        "node_slots",
        "Hash slots that a primary owns.",
        &slots.collect::<Vec<_>>(),
    );
    let by_metric = |number: fn(&crate::summary::verdict::MetricVerdict) -> Option<f64>| {
        let found = summary.verdict.by_metric.iter();
        let found = found.filter_map(move |found| {
            Some((
                format!("metric=\"{}\"", found.metric.name()),
                number(found)?,
            ))
        });
        found.collect::<Vec<_>>()
    };
    let fullest = by_metric(|found| found.max_over_mean());
    families.add(
        "node_max_over_mean",
        "The fullest primary in fair shares.",
        &fullest,
    );
    let usable = by_metric(|found| found.usable_capacity);
    families.add(
        "usable_capacity_ratio",
        "The part of the cluster that is used when its fullest primary is full.",
        &usable,
    );
    let floor = by_metric(|found| found.floor);
    families.add(
        "floor_max_over_mean",
        "No move of slots gets the fullest primary below this.",
        &floor,
    );
    if let Some(tags) = &summary.tags {
        families.add("tags", "Distinct hash tags.", &[("", tags.distinct as f64)]);
    }
    let risks = summary.verdict.risks.len() as f64;
    families.add(
        "risks",
        "Risks that do not depend on how even the primaries are.",
        &[("", risks)],
    );
    out.write_all(families.0.as_bytes())
}

/// Metric families, one after the other.
#[derive(Default)]
struct Families(String);

impl Families {
    /// A gauge with a sample for each set of labels; nothing where there are none.
    fn add(&mut self, name: &str, help: &str, samples: &[(impl AsRef<str>, f64)]) {
        if samples.is_empty() {
            return;
        }
        self.0 += &format!("{MARK}{name} {help}\n# TYPE slotscope_{name} gauge\n");
        for (labels, value) in samples {
            let labels = match labels.as_ref() {
                "" => String::new(),
                labels => format!("{{{labels}}}"),
            };
            self.0 += &format!("slotscope_{name}{labels} {value}\n");
        }
    }
}

/// The value of a label: `\`, `"` and line ends are escaped.
fn label(name: &Name) -> String {
    name.to_string()
        .replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
}
