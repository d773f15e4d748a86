//! The nodes: how full each is, why the fullest is, and the effect of other numbers of nodes.

use std::collections::BTreeMap;

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::{counted, percent};
use slotscope_model::Summary;
use slotscope_model::capacity::NodeRoom;
use slotscope_model::coverage::Extent;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::Role;

use crate::view::cell::Tone;
use crate::view::table::Rank;
use crate::view::{Cell, Column, Scope, Section, Table, Value};

/// Minimum value of the longest bar, so that bars of even nodes do not look full.
const LONGEST: f64 = 1.25;
/// The explanation of "fair" in column titles.
const FAIR: &str =
    "what a node holds over what the average node holds: 1 is its fair share, the mark on a bar";

/// The nodes relative to their fair share, worst first.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let section = titled(summary)?.scoped(Scope::Overview);
    Some(unowned(
        summary,
        section.table(table_of(summary, &worst_first(summary), false)),
    ))
}

/// The nodes for the page, which has space for bars in every role and for limits.
pub(crate) fn in_full(summary: &Summary) -> Option<Section<'_>> {
    let section = titled(summary)?.scoped(Scope::Page);
    let mut table = table_of(summary, &worst_first(summary), true);
    // On narrow lines, fair shares suffice.
    let amounts = table.columns.iter_mut();
    amounts
        .filter(|column| column.is_number && !column.field.is_empty() && column.hint != FAIR)
        .for_each(|column| column.rank = Rank::Detail);
    Some(unowned(summary, section.table(table)))
}

fn titled(summary: &Summary) -> Option<Section<'_>> {
    let title = format!("Nodes ({})", summary.nodes.source);
    let section = Section::titled(title)
        .anchored("nodes", "Nodes")
        .explained("verdict.md", "how nodes are judged");
    (!summary.has_only_extremes()).then_some(section)
}

/// Adds a line on keys in slots without an owner.
fn unowned<'a>(summary: &'a Summary, section: Section<'a>) -> Section<'a> {
    let unowned = &summary.nodes.unowned;
    if unowned.load.keys == 0 {
        return section;
    }
    section.line(format!(
        "{} ({}) are in the {} that no node owns",
        counted(unowned.load.keys, "key"),
        percent(unowned.load.keys as f64 / summary.input.keys as f64),
        counted(u64::from(unowned.slots), "slot")
    ))
}

/// The nodes in slot order: `nodes.csv`.
pub fn table(summary: &Summary) -> Table<'_> {
    let nodes: Vec<&NodeLoad> = summary.nodes.list.iter().collect();
    table_of(summary, &nodes, false)
}

/// The nodes by their worse role, worst first.
fn worst_first(summary: &Summary) -> Vec<&NodeLoad> {
    let metric = summary.by;
    let worse = |node: &NodeLoad| {
        let roles = Role::ALL.map(|role| node.over_share.of(role).unwrap_or(0.0));
        roles[0].max(roles[1])
    };
    let mut nodes: Vec<&NodeLoad> = summary.nodes.list.iter().collect();
    nodes.sort_by(|a, b| {
        let by_load = || b.load_by(metric).cmp(&a.load_by(metric));
        worse(b).total_cmp(&worse(a)).then_with(by_load)
    });
    nodes
}

/// The table; with `in_full`, all columns of fair shares have bars, not only that of the report's main role.
fn table_of<'a>(summary: &'a Summary, nodes: &[&'a NodeLoad], in_full: bool) -> Table<'a> {
    let metric = summary.by;
    let shares = shares(summary, in_full);
    // Limits are for the page, which has space for all bars.
    let capacity = summary.capacity.as_ref().filter(|_| in_full);
    let rooms: BTreeMap<&Name, &NodeRoom> = capacity
        .iter()
        .flat_map(|capacity| &capacity.nodes)
        .map(|room| (&room.id, room))
        .collect();
    let limits = |node: &NodeLoad| rooms.get(&node.id).copied();
    let columns = Table::of(nodes.iter().copied())
        .column(Column::words("node").flexible(), |node| Cell::node(node))
        .column(Column::words("node_id").only_in_files(), |node| {
            Cell::name(&node.id)
        })
        .column(Column::words("address").only_in_files(), |node| {
            Cell::of(node.address.as_ref(), Cell::name)
        })
        .column(
            Column::words("state").only_for_people().optional(),
            |node| Cell::of(state(summary, node), Cell::text),
        )
        .column(Column::number("slots").rank(Rank::Detail), |node| {
            Cell::count(node.slots)
        })
        .loads(Metric::ALL, metric, |node| node.load)
        .column(
            Column::number("commands").only_for_people().optional(),
            |node| Cell::of(node.commands, Cell::count),
        )
        .columns(
            &shares,
            |share| fair_column(share.measure),
            |share, node| share.cell(node),
        );
    let table = if capacity.is_some() {
        columns
            .column(
                Column::for_people("of maxmemory").rank(Rank::Main),
                |node| {
                    Cell::of(limits(node), |room| {
                        Cell::share(room.used as f64 / room.maxmemory.max(1) as f64)
                    })
                },
            )
            .column(Column::for_people("headroom").rank(Rank::Detail), |node| {
                Cell::of(limits(node), |room| {
                    Value::SignedBytes(room.headroom).into()
                })
            })
    } else {
        columns
    };
    table.build().in_file("nodes.csv")
}

/// Why a node does not serve its slots, according to the topology.
fn state(summary: &Summary, node: &NodeLoad) -> Option<&'static str> {
    let roles = summary.coverage.roles.iter();
    let mut seen = roles.filter_map(|role| role.of(&node.id));
    match () {
        () if node.failed => Some("failed"),
        () if node.is_suspected() => Some("fail?"),
        () => seen.find_map(|seen| match seen {
            Extent::Whole => None,
            Extent::Part => Some("seen in part"),
            Extent::Nothing => Some("not seen"),
        }),
    }
}

/// A column of fair shares: of a role, or of the report's metric if nodes have no role in it.
struct Shares<'a> {
    role: Option<Role>,
    measure: Measure,
    metric: Metric,
    mean: f64,
    /// The maximum, represented by the longest bar.
    most: f64,
    verdict: Option<&'a RoleVerdict>,
    has_bar: bool,
}

/// The columns: both roles if nodes are judged in both, else the report's metric.
fn shares(summary: &Summary, in_full: bool) -> Vec<Shares<'_>> {
    let metric = summary.by;
    let main = summary.verdict.by(metric).and_then(|verdict| verdict.role);
    let is_known = |role: &Role| {
        let mut nodes = summary.nodes.list.iter();
        nodes.any(|node| node.over_share.of(*role).is_some())
    };
    let shares = |role: Option<Role>| {
        let verdict = match role {
            Some(role) => summary.verdict.role(role),
            None => summary.verdict.by(metric),
        };
        let mean = summary.nodes.balance.get(metric);
        let mut shares = Shares {
            role,
            measure: measure(summary, role),
            metric,
            mean: mean.map_or(0.0, |balance| balance.mean),
            most: 1.0,
            verdict: verdict.filter(|verdict| verdict.state.is_uneven()),
            has_bar: in_full || role == main,
        };
        let nodes = summary.nodes.list.iter();
        let ratios = nodes.filter_map(|node| shares.of(node));
        shares.most = ratios.fold(LONGEST, f64::max);
        shares
    };
    let of_roles = || Role::ALL.into_iter().filter(is_known).map(Some).map(shares);
    match main.filter(is_known) {
        Some(_) => of_roles().collect(),
        None => vec![shares(None)],
    }
}

impl Shares<'_> {
    /// The load of a node in fair shares.
    fn of(&self, node: &NodeLoad) -> Option<f64> {
        match self.role {
            Some(role) => node.over_share.of(role),
            None => (self.mean > 0.0).then(|| node.load_by(self.metric) as f64 / self.mean),
        }
    }

    fn cell<'a>(&self, node: &NodeLoad) -> Cell<'a> {
        // Below the upper band, only the finding's node needs attention.
        let is_fullest = |verdict: &RoleVerdict| {
            let fullest = verdict.fullest.as_ref();
            fullest.is_some_and(|fullest| fullest.node == node.id)
        };
        let tone = |ratio: f64| match self.verdict {
            Some(verdict) if ratio >= verdict.bands.upper => Tone::Alarm,
            Some(verdict) if ratio > verdict.bands.lower && is_fullest(verdict) => Tone::Watch,
            _ => Tone::Plain,
        };
        Cell::of(self.of(node), |ratio| {
            if self.has_bar {
                fair(ratio, self.most, tone(ratio))
            } else {
                Cell::ratio(ratio, 2)
            }
        })
    }
}

/// The role that the tables are not sorted by, if nodes are judged in both.
pub(super) fn other_role(summary: &Summary) -> Option<Role> {
    let first = summary.verdict.by(summary.by)?.role?;
    let roles = summary.verdict.roles.iter().filter_map(|role| role.role);
    roles.filter(|role| *role != first).find(|role| {
        let mut nodes = summary.nodes.list.iter();
        nodes.any(|node| node.over_share.of(*role).is_some())
    })
}

pub(super) fn of_role<'a>(node: &NodeLoad, role: Role) -> Cell<'a> {
    Cell::of(node.over_share.of(role), |ratio| Cell::ratio(ratio, 2))
}

/// The measure of a role, or of the report's metric.
pub(super) fn measure(summary: &Summary, role: Option<Role>) -> Measure {
    let verdict = &summary.verdict;
    let (judged, unjudged) = match role {
        // Nodes that slots do not compare are compared by the CPU time of their processes.
        Some(Role::Load) => {
            let load = verdict.role(Role::Load);
            (load.filter(|load| load.fullest.is_some()), Measure::Cpu)
        }
        Some(Role::Memory) => (verdict.role(Role::Memory), summary.by.into()),
        None => (verdict.by(summary.by), summary.by.into()),
    };
    judged.map_or(unjudged, |judged| judged.metric)
}

/// Nodes in fair shares of a measure.
pub(super) fn fair_column(measure: Measure) -> Column {
    let field = match measure {
        Measure::Bytes | Measure::UsedMemory => "memory_over_fair",
        Measure::Keys => "keys_over_fair",
        Measure::Cpu | Measure::Ops | Measure::Commands => "load_over_fair",
        Measure::Accesses => "accesses_over_fair",
    };
    let column = Column::number(field).titled(format!("{} × fair", measure.head()));
    column.rank(Rank::Main).hint(FAIR)
}

/// A ratio to the fair share, with a bar relative to the largest.
pub(super) fn fair<'a>(ratio: f64, most: f64, tone: Tone) -> Cell<'a> {
    Cell::ratio(ratio, 2).with_bar(ratio / most, Some(1.0 / most), tone)
}
