//! The common parts of timelines: slots, nodes and bursts over time, and names if known.

use slotscope_base::name::Name;
use slotscope_base::slot::{SLOTS, slot_of_part};
use slotscope_model::Rejected;
use slotscope_report::view::Heat;
use slotscope_topology::Topology;

use crate::timeline::bursts::{self, SlotBurst};
use crate::timeline::grid::{Grid, TimeAxis};
use crate::timeline::names::{Heaviest, Kind};
use crate::timeline::nodes::OfNodes;
use crate::timeline::{Bucket, Burst, SCHEMA, SLOTS_PER_ROW, SlotsOverTime, TagOverTime, Timeline};

/// Maximum bursts listed.
const BURSTS: usize = 1000;

/// A grid with nodes and bursts.
pub(super) struct Picture<'a> {
    heat: Heat,
    grid: &'a Grid,
    axis: TimeAxis,
    nodes: OfNodes<'a>,
    /// The largest bursts.
    pub bursts: Vec<SlotBurst>,
    /// The number of further bursts.
    pub more_bursts: u64,
}

impl<'a> Picture<'a> {
    /// Finds the bursts; nodes and bursts are named if `topology` has names.
    pub(super) fn new(
        heat: Heat,
        grid: &'a Grid,
        axis: TimeAxis,
        topology: Option<&'a Topology>,
    ) -> Self {
        let nodes = OfNodes::new(grid, topology, axis);
        let mut bursts = bursts::find(grid, heat.grain(), &nodes.ops, |slot| nodes.owner(slot));
        let more_bursts = bursts.len().saturating_sub(BURSTS) as u64;
        bursts.truncate(BURSTS);
        Picture {
            heat,
            grid,
            axis,
            nodes,
            bursts,
            more_bursts,
        }
    }

    /// The timeline, except for facts about the input; with the heaviest tags by bucket, and the heaviest name of each burst
    /// unless there are too many.
    pub(super) fn timeline(
        self,
        tags: Option<Vec<(Name, Vec<u64>)>>,
        in_bursts: Option<Vec<Option<Heaviest>>>,
    ) -> Timeline {
        let axis = self.axis;
        let total: Vec<u64> = self.nodes.total(axis);
        let ops = total.iter().sum();
        let bucket = |(place, ops): (usize, &u64)| Bucket {
            from: axis.start(place),
            to: axis.start(place + 1),
            ops: *ops,
        };
        let bursts = named_bursts(&self.bursts, in_bursts.as_deref(), &self.nodes, axis);
        let tags = tags.map(|tags| {
            let tags = tags.into_iter();
            tags.map(|series| tag_over_time(series, ops, &self.nodes))
                .collect()
        });
        Timeline {
            schema: SCHEMA,
            by: self.heat,
            ops,
            bucket_secs: axis.bucket_secs(),
            buckets: total.iter().enumerate().map(bucket).collect(),
            slots: slots_over_time(self.grid, axis),
            tags,
            bursts,
            more_bursts: self.more_bursts,
            untimed: 0,
            rejected: Rejected::default(),
            incomplete: Vec::new(),
            notes: Vec::new(),
            nodes: self.nodes.over_time(),
        }
    }
}

/// Rows of slots by bucket.
fn slots_over_time(grid: &Grid, axis: TimeAxis) -> SlotsOverTime {
    let mut rows = vec![vec![0; axis.len]; SLOTS / SLOTS_PER_ROW];
    for (place, ops) in grid.columns() {
        for (row, ops) in rows.iter_mut().zip(ops.chunks(SLOTS_PER_ROW)) {
            row[place] = ops.iter().sum();
        }
    }
    SlotsOverTime {
        slots_per_row: SLOTS_PER_ROW,
        ops: rows,
    }
}

fn tag_over_time((tag, series): (Name, Vec<u64>), total: u64, nodes: &OfNodes<'_>) -> TagOverTime {
    let (slot, ops) = (slot_of_part(&tag.0), series.iter().sum());
    TagOverTime {
        node: nodes.name(slot),
        tag,
        slot,
        ops,
        share: ops as f64 / total as f64,
        over_time: series,
    }
}

fn named_bursts(
    bursts: &[SlotBurst],
    names: Option<&[Option<Heaviest>]>,
    nodes: &OfNodes<'_>,
    axis: TimeAxis,
) -> Vec<Burst> {
    let named = |(number, burst): (usize, &SlotBurst)| {
        let heaviest = names.and_then(|names| names[number].clone());
        let name = heaviest.filter(|(_, _, ops)| ops * 2 >= burst.ops);
        let of_kind = |kind| {
            let name = name.as_ref().filter(|(its_kind, ..)| *its_kind == kind);
            name.map(|(_, name, _)| name.clone())
        };
        let [from, to] = [burst.buckets.0, burst.buckets.1].map(|bucket| axis.start(bucket));
        Burst {
            tag: of_kind(Kind::Tag),
            key: of_kind(Kind::Key),
            slot: burst.slot,
            node: nodes.name(burst.slot),
            from,
            to,
            ops: burst.ops,
            share: burst.ops as f64 / burst.node_ops as f64,
            rate: burst.ops as f64 / (to - from) as f64,
            usual_rate: burst.usual as f64 / axis.bucket_secs() as f64,
            times_usual: burst.times_usual(),
        }
    };
    bursts.iter().enumerate().map(named).collect()
}
