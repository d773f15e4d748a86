//! The numbers of a report in the text format of Prometheus, for the textfile collector of node_exporter.

use std::io::{self, Write};

use slotscope_engine::name::Name;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::nodes::NodeLoad;
use slotscope_findings::summary::role_verdict::RoleVerdict;
use slotscope_findings::summary::state::{Role, State};

/// The start of every file in this format.
pub const MARK: &str = "# HELP slotscope_";

/// Writes them.
///
/// # Errors
/// Where `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut families = Families::default();
    // Of captures alone they are not known, and are not 0.
    if !summary.has_only_operations() {
        families.add(
            "keys",
            "Keys that were read.",
            &[("", summary.input.keys as f64)],
        );
    }
    if let Some(filter) = &summary.input.filter {
        let flags = format!("filter=\"{}\"", label(&filter.flags));
        let left_out = [
            (
                "filtered_keys",
                "Keys that a filter left out.",
                Some(filter.keys),
            ),
            ("filtered_bytes", "Bytes of these keys.", filter.bytes),
        ];
        for (name, help, amount) in left_out {
            let amount = amount.map(|amount| (flags.clone(), amount as f64));
            families.add(name, help, amount.as_slice());
        }
    }
    let rejected = summary.input.rejected.count as f64;
    families.add(
        "rejected_rows",
        "Rejected rows of the input.",
        &[("", rejected)],
    );
    let started = summary.run.started as f64;
    families.add(
        "analyzed_timestamp_seconds",
        "When the dump was analyzed.",
        &[("", started)],
    );
    let states: Vec<_> = State::ALL
        .iter()
        .map(|of| {
            let label = format!("state=\"{}\"", of.name());
            (label, f64::from(u8::from(summary.verdict.state == *of)))
        })
        .collect();
    families.add(
        "verdict",
        "1 for the state of the verdict, 0 for all others.",
        &states,
    );
    let rank = |state: State| State::ALL.iter().position(|of| *of == state).unwrap_or(0) as f64;
    let roles = summary.verdict.roles.iter();
    let roles = roles.map(|role| (format!("role=\"{}\"", role.name()), rank(role.state)));
    let all = (String::from("role=\"all\""), rank(summary.verdict.state));
    families.add(
        "state",
        "The state from 0 (empty) over 1 (balanced), 2 (unjudged), 3 (watch), 4 (skewed), 5 (suspicious), 6 (limit) to 7 (down).",
        &std::iter::once(all).chain(roles).collect::<Vec<_>>(),
    );
    let of_nodes = |number: &dyn Fn(&NodeLoad, Role) -> Option<f64>| {
        let nodes = summary.nodes.list.iter();
        let each = nodes.flat_map(|node| Role::ALL.map(|role| (node, role)));
        let each = each.filter_map(|(node, role)| {
            let labels = format!("node=\"{}\",role=\"{}\"", label(&node.name()), role.name());
            Some((labels, number(node, role)?))
        });
        each.collect::<Vec<_>>()
    };
    families.add(
        "node_over_share",
        "What a primary holds over its fair share.",
        &of_nodes(&|node, role| node.over_share.of(role)),
    );
    families.add(
        "node_limit_use_ratio",
        "Which part of its limit a primary uses.",
        &of_nodes(&|node, role| node.limit_use.filter(|_| role == Role::Memory)),
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
    let by_metric = |number: fn(&RoleVerdict) -> Option<f64>| {
        let found = summary.verdict.roles.iter();
        let found = found.filter_map(move |found| {
            Some((format!("metric=\"{}\"", found.by().name()), number(found)?))
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
    let risks = summary.verdict.risks().count() as f64;
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
