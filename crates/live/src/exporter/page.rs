//! The page for a scrape: at most 200 series, however many nodes and keys the cluster has.

use std::cmp::Reverse;

use slotscope_app::pipeline::running::pairs;
use slotscope_base::name::Name;
use slotscope_collect::live::Snapshot;
use slotscope_collect::probe::Reading;
use slotscope_collect::work;
use slotscope_findings::summary::processes;
use slotscope_model::Summary;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::role_verdict::RoleVerdict;
use slotscope_model::state::{Role, State};
use slotscope_read::source::collection::load::NodeWork;
use slotscope_report::render::families::{END, Families};

/// Nodes with their own series: those most above their fair share of memory or load.
pub(crate) const NODES: usize = 20;
/// Slots with their own series: the hottest.
pub(crate) const SLOTS: usize = 10;

/// A primary with its last reading, and its work since the previous one.
struct Node<'s> {
    name: &'s str,
    reading: &'s Reading,
    work: NodeWork,
    judged: Option<&'s NodeLoad>,
    /// Its CPU time in fair shares according to INFO: the load if servers do not count it by slot.
    cpu_share: Option<f64>,
}

/// The last readings of a cluster.
pub(crate) struct Observed<'s> {
    /// The value of the cluster label.
    pub cluster: &'s str,
    pub snapshots: [&'s Snapshot; 2],
    /// The verdict on the time between them, if any.
    pub summary: Option<&'s Summary>,
    /// Time of the last reading, in seconds since 1970.
    pub read_at: f64,
    /// Duration of the last reading in seconds.
    pub took: f64,
}

/// The page before any reading.
pub(crate) const NOTHING: &str = END;

/// The page after the first reading: figures are what grew until the second.
pub(crate) fn once_read(cluster: &str) -> String {
    let mut families = of_cluster(cluster);
    families.one("up", UP, Some(1.0));
    families.finish() + END
}

/// The page for an unreadable cluster. If it was read before and no primary answers now, it is known to be down.
pub(crate) fn without_cluster(cluster: &str, is_down: bool) -> String {
    let mut families = of_cluster(cluster);
    families.one("up", UP, Some(0.0));
    let down = is_down.then(|| (vec![("role", Name::from("all"))], State::Down.rank()));
    families.add("state", STATE, down);
    families.finish() + END
}

/// Metric families whose samples all have the cluster label.
fn of_cluster(name: &str) -> Families {
    Families::with_labels(vec![("cluster", Name::from(name))])
}

const UP: &str = "1 where the last reading of the cluster succeeded, else 0.";
const STATE: &str = "The verdict: 0 empty, 1 balanced, 2 unjudged, 3 watch, 4 skewed, 5 suspicious, 6 limit, 7 down.";

impl Observed<'_> {
    pub(crate) fn page(&self) -> String {
        self.families().finish() + END
    }

    fn families(&self) -> Families {
        let mut families = of_cluster(self.cluster);
        let nodes = self.nodes();
        self.add_cluster(&mut families, nodes.len());
        self.add_verdict(&mut families);
        add_nodes(&mut families, &most_over_share(nodes));
        self.add_slots(&mut families);
        families
    }

    fn nodes(&self) -> Vec<Node<'_>> {
        let [first, last] = self.snapshots;
        let list = self.summary.map_or(&[][..], |summary| &summary.nodes.list);
        let rated = pairs(first, last).into_iter().map(|[before, reading]| {
            let id = reading.id.as_deref().unwrap_or_default();
            Node {
                name: &reading.name,
                reading,
                work: work::between(before, reading),
                judged: list.iter().find(|node| node.id.0 == id.as_bytes()),
                cpu_share: None,
            }
        });
        let mut nodes: Vec<Node<'_>> = rated.collect();
        let cpu: Vec<Option<f64>> = nodes.iter().map(|node| node.work.cpu).collect();
        for (node, load) in nodes.iter_mut().zip(processes::loads(&cpu)) {
            node.cpu_share = load.map(|load| load.over_share);
        }
        nodes
    }

    fn add_cluster(&self, families: &mut Families, answering: usize) {
        let count = self.snapshots[1].primaries.len();
        families.one("up", UP, Some(1.0));
        families.one(
            "read_timestamp_seconds",
            "When the cluster was read last.",
            Some(self.read_at),
        );
        families.one(
            "read_duration_seconds",
            "How long that took.",
            Some(self.took),
        );
        families.one("primaries", "Primaries that own slots.", Some(count as f64));
        families.one(
            "primaries_silent",
            "Primaries that own slots and did not answer twice in a row.",
            Some(count.saturating_sub(answering) as f64),
        );
        families.one(
            "nodes_listed",
            "Primaries with series of their own: those with most over their fair share.",
            Some(answering.min(NODES) as f64),
        );
    }

    fn add_verdict(&self, families: &mut Families) {
        let Some(summary) = self.summary else { return };
        let label = |role: &str| vec![("role", Name::from(role))];
        let by_process = processes::judged(summary);
        let is_replaced =
            |role: &&RoleVerdict| by_process.is_some() && role.role == Some(Role::Load);
        let measured = summary.verdict.roles.iter();
        let kept = measured.filter(|role| !is_replaced(role));
        let rows = kept.map(|role| (role.name(), role.max_over_mean(), role.state));
        let replacing =
            by_process.map(|(busiest, state)| (Role::Load.name(), Some(busiest), state));
        let judged: Vec<_> = rows.chain(replacing).collect();
        let states = judged
            .iter()
            .map(|(role, _, state)| (label(role), state.rank()));
        families.add(
            "state",
            STATE,
            std::iter::once((label("all"), summary.verdict.state.rank())).chain(states),
        );
        let fullest = judged.iter();
        families.add(
            "max_over_mean_ratio",
            "The fullest or busiest primary, in fair shares.",
            fullest.filter_map(|(role, fullest, _)| Some((label(role), (*fullest)?))),
        );
    }

    fn add_slots(&self, families: &mut Families) {
        let slots = hottest(&self.snapshots);
        let label = |slot: &HotSlot<'_>| {
            vec![
                ("slot", Name::from(slot.slot.to_string())),
                ("node", Name::from(slot.node)),
            ]
        };
        families.add(
            "slot_cpu_ratio",
            "CPU time a second of the hottest slots; 1 is one core.",
            slots.iter().map(|slot| (label(slot), slot.cpu)),
        );
        families.add(
            "slot_keys",
            "Keys of the hottest slots.",
            slots.iter().map(|slot| (label(slot), slot.keys as f64)),
        );
    }
}

/// The nodes most above their fair share of memory or load, in cluster order.
fn most_over_share(nodes: Vec<Node<'_>>) -> Vec<Node<'_>> {
    let memory: f64 = nodes.iter().filter_map(memory_of).sum();
    let mean = memory / nodes.len().max(1) as f64;
    let over = |node: &Node<'_>| {
        let of_memory = memory_of(node)
            .filter(|_| mean > 0.0)
            .map_or(0.0, |bytes| bytes / mean);
        of_memory.max(node.cpu_share.unwrap_or(0.0))
    };
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by(|a, b| over(&nodes[*b]).total_cmp(&over(&nodes[*a])));
    order.truncate(NODES);
    let nodes = nodes.into_iter().enumerate();
    nodes
        .filter(|(at, _)| order.contains(at))
        .map(|(_, node)| node)
        .collect()
}

fn memory_of(node: &Node<'_>) -> Option<f64> {
    node.reading.server.used_memory.map(|bytes| bytes as f64)
}

fn add_nodes(families: &mut Families, nodes: &[Node<'_>]) {
    let mut add = |name: &str, help: &str, value: &dyn Fn(&Node<'_>) -> Option<f64>| {
        let samples = nodes
            .iter()
            .filter_map(|node| Some((vec![("node", Name::from(node.name))], value(node)?)));
        families.add(name, help, samples);
    };
    add("node_memory_bytes", "used_memory of a primary.", &memory_of);
    add(
        "node_memory_limit_ratio",
        "used_memory over maxmemory, where it has a limit.",
        &|node| {
            let limit = node.reading.server.maxmemory.filter(|limit| *limit > 0)?;
            Some(memory_of(node)? / limit as f64)
        },
    );
    add(
        "node_cpu_ratio",
        "CPU time a second of a primary; 1 is one core.",
        &|node| node.work.cpu,
    );
    add(
        "node_operations_per_second",
        "Commands a second of a primary.",
        &|node| node.work.ops_per_sec,
    );
    let judged = |role: Role| {
        move |node: &Node<'_>| {
            let share = node.judged.and_then(|judged| judged.over_share.of(role));
            share.or(node.cpu_share.filter(|_| role == Role::Load))
        }
    };
    let shares = Role::ALL.into_iter().flat_map(|role| {
        let label = move |node: &Node<'_>| {
            vec![
                ("node", Name::from(node.name)),
                ("role", Name::from(role.name())),
            ]
        };
        nodes
            .iter()
            .filter_map(move |node| Some((label(node), judged(role)(node)?)))
    });
    families.add(
        "node_over_share_ratio",
        "What a primary holds, in fair shares.",
        shares,
    );
}

/// A slot with its CPU time.
struct HotSlot<'s> {
    slot: u16,
    node: &'s str,
    cpu: f64,
    keys: u64,
}

/// The slots with the most CPU time, hottest first; empty if servers do not count by slot.
fn hottest<'s>(snapshots: &[&'s Snapshot; 2]) -> Vec<HotSlot<'s>> {
    let mut slots = Vec::new();
    for [before, after] in pairs(snapshots[0], snapshots[1]) {
        let hot = work::by_slot(Some(before), after).filter_map(|work| {
            Some(HotSlot {
                slot: work.now.slot,
                node: &after.name,
                cpu: work.cpu().filter(|cpu| *cpu > 0.0)?,
                keys: work.now.keys,
            })
        });
        slots.extend(hot);
    }
    slots.sort_by_key(|slot| (Reverse((slot.cpu * 1e9) as u64), slot.slot));
    slots.truncate(SLOTS);
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_collect::live::Primary;
    use slotscope_collect::probe::SlotCounts;
    use slotscope_read::source::collection::servers::ServerReading;

    /// Primaries with `per` slots each, the first of which does half of all work.
    fn snapshot(primaries: usize, at_ms: i64) -> Snapshot {
        let per = 16_384 / primaries;
        let reading = |at: usize| Reading {
            id: Some(format!("{at:040x}")),
            name: format!("10.0.0.{at}:6379"),
            at_ms,
            server: ServerReading {
                used_memory: Some(1 << 30),
                maxmemory: Some(2 << 30),
                used_cpu: Some(at_ms as f64 / 1000.0 * if at == 0 { 0.9 } else { 0.01 }),
                total_commands_processed: Some(at_ms as u64),
                uptime_in_seconds: Some(1),
                ..ServerReading::default()
            },
            slots: Some(
                (0..per)
                    .map(|slot| SlotCounts {
                        slot: (at * per + slot) as u16,
                        keys: 10,
                        cpu: Some(at_ms as u64 * if at == 0 { 100 } else { 1 }),
                        ..SlotCounts::default()
                    })
                    .collect(),
            ),
            ..Reading::default()
        };
        let line = |at: usize| {
            format!(
                "{at:040x} 10.0.0.{at}:6379@16379 master - 0 0 {at} connected {}-{}\n",
                at * per,
                (at + 1) * per - 1
            )
        };
        Snapshot {
            nodes: (0..primaries).map(line).collect(),
            primaries: (0..primaries)
                .map(|at| Primary {
                    id: format!("{at:040x}"),
                    name: format!("10.0.0.{at}:6379"),
                    reading: Ok(reading(at)),
                })
                .collect(),
        }
    }

    fn observed(primaries: usize) -> (usize, String) {
        let snapshots = [
            snapshot(primaries, 1_000_000),
            snapshot(primaries, 1_010_000),
        ];
        let summary =
            slotscope_app::pipeline::running::summary(&snapshots[0], &snapshots[1]).unwrap();
        let observed = Observed {
            cluster: "shop",
            snapshots: [&snapshots[0], &snapshots[1]],
            summary: Some(&summary),
            read_at: 1.0,
            took: 0.5,
        };
        (observed.families().series(), observed.page())
    }

    #[test]
    fn a_page_has_at_most_two_hundred_series_at_any_number_of_nodes() {
        for primaries in [3, 20, 300] {
            let (series, page) = observed(primaries);
            assert!((30..=200).contains(&series), "{primaries}: {series}");
            assert_eq!(
                page.lines().filter(|line| !line.starts_with('#')).count(),
                series
            );
            assert!(
                page.contains("slotscope_state{cluster=\"shop\",role=\"load\"} 4\n"),
                "{page}"
            );
            assert!(
                page.contains(
                    "slotscope_node_cpu_ratio{cluster=\"shop\",node=\"10.0.0.0:6379\"} 0.9"
                ),
                "{page}"
            );
            assert!(page.ends_with("# EOF\n"));
        }
    }
}
