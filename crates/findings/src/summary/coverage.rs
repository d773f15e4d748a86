//! How much was seen of each node in a role, from what the readers say. Only a capture that is of no node by name leaves it to the
//! operations themselves.

use slotscope_base::LISTED;
use slotscope_base::slot::SLOTS;
use slotscope_model::coverage::{Coverage, Lack, Lacking, NodeCoverage, RoleCoverage, Seen};
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::Nodes;
use slotscope_model::reason::Reason;
use slotscope_model::role_load::RoleLoad;
use slotscope_model::{InputFacts, Summary};
use slotscope_topology::ranges;

use crate::summary::commands;
use crate::summary::observed::{Captures, Observed};
use crate::summary::verdict_inputs::VerdictInputs;
use crate::wording::coverage as said;

/// A part of a node's slots that may come or go while it is read.
const IN_MOTION: f64 = 0.01;

/// The coverage of the roles that are judged, and what the input lacks.
pub(crate) fn of(summary: &Summary) -> Coverage {
    let of_role = |load: &RoleLoad| {
        let nodes = summary.nodes.list.iter().zip(&load.seen);
        let owning = nodes.filter(|(node, _)| node.slots > 0);
        RoleCoverage {
            role: load.role,
            metric: load.measure,
            nodes: owning
                .map(|(node, seen)| NodeCoverage::new(&node.id, *seen))
                .collect(),
        }
    };
    Coverage {
        roles: summary.role_loads.iter().map(of_role).collect(),
        ..summary.coverage.clone()
    }
}

/// The parts that the input as a whole lacks: those that its readers name, and the slots that are in none of several replies.
pub(crate) fn lacks(nodes: &Nodes, observed: &Observed, input: &InputFacts) -> Vec<Lack> {
    let mut lacks = input.lacks.clone();
    lacks.extend(commands::lack(nodes, observed));
    let unread = f64::from(nodes.unowned.slots);
    let are_counted = observed.counted_slots.is_some() && nodes.are_files();
    lacks.extend(
        (are_counted && unread > IN_MOTION * SLOTS as f64).then(|| Lack {
            of: Lacking::Slots,
            role: None,
            sentence: said::slots_of_no_reply(nodes.unowned.slots),
        }),
    );
    lacks
}

impl VerdictInputs<'_> {
    /// Records what was seen of the nodes that `load` would compare: only those that were seen whole are compared, and judged
    /// only if these are all that answer.
    pub(crate) fn see(&self, load: &mut RoleLoad, seen_of: impl Fn(usize) -> Seen) {
        let nodes = &self.summary.nodes.list;
        load.seen = vec![Seen::Whole; nodes.len()];
        for at in &load.compared {
            load.seen[*at] = seen_of(*at);
        }
        let seen = &load.seen;
        // The slots of lost nodes are down, not unseen.
        let is_unseen = |at: &usize| !seen[*at].is_whole() && !nodes[*at].is_lost();
        let is_part = load.compared.iter().any(is_unseen);
        load.compared.retain(|at| seen[*at].is_whole());
        let lacks = lack_for(&self.summary.coverage, load).is_some();
        load.reason = (is_part || lacks)
            .then_some(Reason::NotSeen)
            .or(load.reason);
    }

    /// How much servers' own counts by slot have of a node; the keys of a dump are all that there are.
    pub(crate) fn of_counts(&self, at: usize) -> Seen {
        let counted = self.observed.counted_slots.as_deref();
        counted.map_or(Seen::Whole, |counted| self.of_slots(counted, at))
    }

    fn of_slots(&self, counted: &[bool], at: usize) -> Seen {
        let node = &self.summary.nodes.list[at];
        let slots = ranges::slots(&node.ranges);
        let is_read = |slot: &u16| {
            counted
                .get(usize::from(*slot))
                .is_some_and(|is_read| *is_read)
        };
        let read = slots.filter(is_read).count() as u32;
        let missing = f64::from(node.slots.saturating_sub(read));
        match read {
            0 if node.slots > 0 => Seen::Nothing,
            _ if missing > IN_MOTION * f64::from(node.slots) => Seen::Slots {
                read,
                owned: node.slots,
            },
            _ => Seen::Whole,
        }
    }

    /// How much captures, or two readings of counters, have of a node, one of `owning`.
    pub(crate) fn of_captures(
        &self,
        captures: &Captures,
        owning: &[usize],
        at: usize,
        measure: Measure,
    ) -> Seen {
        let told = captures.seen.get(at).copied().flatten();
        if !told.unwrap_or_else(|| self.is_named_by_operations(at, measure)) {
            return Seen::Nothing;
        }
        let counted = captures.counted_slots.as_deref();
        let of_slots = counted.map_or(Seen::Whole, |counted| self.of_slots(counted, at));
        let has_span = |at: &usize| captures.spans.get(*at).copied().flatten().is_some();
        // Counters of a node that was reset or got other slots cover an unknown time.
        let is_partly = captures.are_counters && owning.iter().any(has_span) && !has_span(&at);
        match of_slots {
            Seen::Whole if is_partly => Seen::Time,
            of_slots => of_slots,
        }
    }

    /// Whether a node is in a capture that is of no node by name: it has operations, or none by chance.
    fn is_named_by_operations(&self, at: usize, measure: Measure) -> bool {
        let node = &self.summary.nodes.list[at];
        let of_metric = self.summary.units.per.get(measure.metric());
        let units = of_metric.map_or(0.0, |units| match units.named.len() {
            named if named < LISTED => named as f64,
            _ => units.count.max(LISTED as f64),
        });
        let owning = self.summary.nodes.owning();
        let owned: f64 = owning.map(|node| f64::from(node.slots)).sum();
        let is_idle = || f64::from(node.slots) / owned * units <= limit::SURELY;
        node.load_by(measure.metric()) > 0 || is_idle()
    }
}

/// The first thing that the input as a whole lacks for a load.
pub(crate) fn lack_for<'a>(coverage: &'a Coverage, load: &RoleLoad) -> Option<&'a Lack> {
    let is_of = |lack: &&Lack| match (lack.role, lack.of) {
        // Memory that servers report needs no column.
        (_, Lacking::Columns) => load.measure == Measure::Keys && load.role == lack.role,
        (role, _) => role.is_none() || role == load.role,
    };
    coverage.lacks.iter().find(is_of)
}
