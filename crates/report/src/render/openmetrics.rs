//! The numbers of a report in Prometheus text format, for the textfile collector of node_exporter.

use std::io::{self, Write};

use slotscope_base::name::Name;
use slotscope_model::Summary;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::{Role, State};

use crate::render::families::{Families, Label};

pub use crate::render::families::MARK;

/// A value with its labels.
type Sample = (Vec<Label>, f64);

/// Writes the metrics of a summary.
///
/// # Errors
/// `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    let mut families = Families::default();
    input(&mut families, summary);
    verdict(&mut families, summary);
    nodes(&mut families, summary);
    roles(&mut families, summary);
    let tags = summary.tags.as_ref();
    families.one(
        "tags",
        "Distinct hash tags.",
        tags.map(|tags| tags.distinct as f64),
    );
    families.one(
        "risks",
        "Risks that do not depend on how even the primaries are.",
        Some(summary.verdict.risks().count() as f64),
    );
    out.write_all(families.finish().as_bytes())
}

fn input(families: &mut Families, summary: &Summary) {
    let input = &summary.input;
    // For captures alone, the number of keys is unknown, not 0.
    let keys = (!summary.has_only_operations()).then_some(input.keys as f64);
    families.one("keys", "Keys that were read.", keys);
    let filter = input.filter.as_ref();
    let filtered = |amount: Option<u64>| -> Option<Sample> {
        Some((vec![("filter", filter?.flags.clone())], amount? as f64))
    };
    families.add(
        "filtered_keys",
        "Keys that a filter left out.",
        filtered(filter.map(|filter| filter.keys)),
    );
    families.add(
        "filtered_bytes",
        "Bytes of these keys.",
        filtered(filter.and_then(|filter| filter.bytes)),
    );
    families.one(
        "rejected_rows",
        "Rejected rows of the input.",
        Some(input.rejected.count as f64),
    );
    families.one(
        "analyzed_timestamp_seconds",
        "When the dump was analyzed.",
        Some(summary.run.started as f64),
    );
}

fn verdict(families: &mut Families, summary: &Summary) {
    let verdict = &summary.verdict;
    let is_state = |state: State| f64::from(u8::from(verdict.state == state));
    families.add(
        "verdict",
        "1 for the state of the verdict, 0 for all others.",
        State::ALL.map(|state| (vec![("state", Name::from(state.name()))], is_state(state))),
    );
    let roles = verdict.roles.iter().map(|role| (role.name(), role.state));
    let states = std::iter::once(("all", verdict.state)).chain(roles);
    families.add(
        "state",
        "The state from 0 (empty) over 1 (balanced), 2 (unjudged), 3 (watch), 4 (skewed), 5 (suspicious), 6 (limit) to 7 (down).",
        states.map(|(role, state)| (vec![("role", Name::from(role))], state.rank())),
    );
}

fn nodes(families: &mut Families, summary: &Summary) {
    let nodes = || summary.nodes.list.iter();
    let by_role = |number: fn(&NodeLoad, Role) -> Option<f64>| {
        nodes().flat_map(move |node| {
            Role::ALL.into_iter().filter_map(move |role| {
                let labels = vec![("node", node.name()), ("role", Name::from(role.name()))];
                Some((labels, number(node, role)?))
            })
        })
    };
    families.add(
        "node_over_share",
        "What a primary holds over its fair share.",
        by_role(|node, role| node.over_share.of(role)),
    );
    families.add(
        "node_limit_use_ratio",
        "Which part of its limit a primary uses.",
        by_role(|node, role| node.limit_use.filter(|_| role == Role::Memory)),
    );
    let loads = nodes().flat_map(|node| {
        node.load.iter().map(|(metric, load)| {
            let labels = vec![("node", node.name()), ("metric", Name::from(metric.name()))];
            (labels, *load as f64)
        })
    });
    families.add("node_load", "What a primary holds of a metric.", loads);
    families.add(
        "node_slots",
        "Hash slots that a primary owns.",
        nodes().map(|node| (vec![("node", node.name())], f64::from(node.slots))),
    );
}

fn roles(families: &mut Families, summary: &Summary) {
    let by_metric = |number: fn(&RoleVerdict) -> Option<f64>| {
        summary.verdict.roles.iter().filter_map(move |role| {
            let labels = vec![("metric", Name::from(role.by().name()))];
            Some((labels, number(role)?))
        })
    };
    families.add(
        "node_max_over_mean",
        "The fullest primary in fair shares.",
        by_metric(RoleVerdict::max_over_mean),
    );
    families.add(
        "usable_capacity_ratio",
        "The part of the cluster that is used when its fullest primary is full.",
        by_metric(|role| role.usable_capacity),
    );
    families.add(
        "floor_max_over_mean",
        "No move of slots gets the fullest primary below this.",
        by_metric(|role| role.floor),
    );
}
