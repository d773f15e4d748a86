//! Chooses the content of a role's sentence: why the fullest node is above its fair share, or why no node is.

use slotscope_engine::name::Name;

use crate::summary::cause::{Cause, CauseKind};
use crate::summary::explanation::{Explanation, Fullest, NotCompared, Unseen, Why, named};
use crate::summary::gaps::Gaps;
use crate::summary::independent_units::{UnitKind, UnitsBy};
use crate::summary::integrity::Integrity;
use crate::summary::judge::{Amounts, Judgement};
use crate::summary::measure::Measure;
use crate::summary::nodes::Nodes;
use crate::summary::observed::Observed;
use crate::summary::reason::Reason;
use crate::summary::role_load::RoleLoad;
use crate::summary::split::Split;
use crate::summary::state::{Role, State};

/// The inputs of a role's explanation.
pub(crate) struct Explained<'a> {
    pub nodes: &'a Nodes,
    pub amounts: Amounts,
    pub load: &'a RoleLoad,
    pub units: &'a UnitsBy,
    pub observed: &'a Observed,
    /// The first sign that the dump is damaged.
    pub sign: Option<&'a Integrity>,
    /// Whether reading stopped before the end of the input.
    pub is_incomplete: bool,
    /// A node that is being filled or drained.
    pub moving: Option<&'a Name>,
    /// Whether key listings are the only input.
    pub has_only_extremes: bool,
    /// Whether the dump may lack keys; crowded slots are then not a cause.
    pub is_doubtful: bool,
    pub gaps: &'a Gaps,
}

impl Explained<'_> {
    /// For a load that is 0 on all nodes.
    pub(crate) fn nothing(&self) -> Explanation {
        let keys = self.nodes.total(slotscope_engine::metric::Metric::Keys);
        match () {
            () if self.nodes.unowned.load.keys > 0 && keys == 0 => Explanation::Unowned,
            () if keys > 0 => Explanation::NoLoad(self.load.measure),
            () if self.is_incomplete => Explanation::NothingRead,
            () if self.has_only_extremes => Explanation::OnlyExtremes,
            () => Explanation::NoKeys,
        }
    }

    /// For compared nodes, the fullest of which is in `split`.
    pub(crate) fn fullest(
        &self,
        split: &Split<'_>,
        judgement: &Judgement,
        causes: &[Cause],
    ) -> Explanation {
        let Explained {
            nodes,
            load,
            observed,
            ..
        } = *self;
        let owning = nodes.owning().count();
        let is_captured = load.measure.role() == Role::Load;
        let known = observed.of_load(load.measure.metric());
        let captures = known.filter(|_| is_captured);
        Explanation::Fullest(Fullest {
            assumed_nodes: nodes.are_assumed().then_some(nodes.list.len()),
            node: split.fullest.label(),
            measure: load.measure,
            max_over_mean: split.max_over_mean,
            reason: self.why(split, judgement, causes),
            compared: Some((split.nodes(), owning)).filter(|(compared, owning)| compared < owning),
            memory_is_unknown: load.measure == Measure::Keys && load.role == Some(Role::Memory),
            is_estimated: load.is_estimated,
            are_writes: captures.is_some_and(|captures| captures.are_writes),
        })
    }

    fn why(&self, split: &Split<'_>, judgement: &Judgement, causes: &[Cause]) -> Why {
        if let Some(sign) = self.sign {
            return Why::Damaged(sign.clone());
        }
        let counted = match self.load.measure.role() {
            Role::Memory => self.nodes.total(slotscope_engine::metric::Metric::Keys) as u64,
            Role::Load => split.total() as u64,
        };
        match (judgement.reason, judgement.state) {
            (Some(Reason::TooFew), _) => Why::TooFew {
                counted,
                nodes: split.nodes(),
            },
            (Some(Reason::Idle), _) => Why::Idle,
            (Some(Reason::Capped), _) => Why::Capped,
            (Some(Reason::Unreadable), _) => match self.gaps.unreadable(self.load) {
                Some(gap) => Why::Unreadable(gap.clone()),
                None => Why::Even,
            },
            (Some(Reason::Missing), _) => Why::Missing {
                missing: self.gaps.without_size,
                keys: self.gaps.keys,
            },
            (_, State::Suspicious) => Why::LostRows(self.gaps.lost_rows),
            (reason, State::Watch | State::Skewed) => {
                let moving = self.moving.filter(|_| reason == Some(Reason::Moving));
                let mut causes = named(causes);
                causes.retain(|cause| !self.is_doubtful || cause.kind != CauseKind::Collisions);
                Why::Causes(causes, moving.cloned())
            }
            _ if split.nodes() < 2 => Why::OneNode,
            _ => Why::Even,
        }
    }

    /// For nodes that are not compared.
    pub(crate) fn not_compared(&self, reason: Reason) -> Explanation {
        let heaviest = self.units.named.iter().find(|unit| unit.node.is_some());
        let total = self.units.total.max(f64::MIN_POSITIVE);
        let captures = self.observed.of_load(self.load.measure.metric());
        let is_one_reading = captures.is_some_and(|captures| captures.is_one_reading);
        let why = match reason {
            Reason::Counters if self.load.measure == Measure::Accesses => Unseen::Replicas,
            Reason::Counters if is_one_reading => Unseen::OneReading,
            Reason::Counters => Unseen::Apart,
            Reason::OutsideSlots => Unseen::OutsideSlots,
            _ if self.load.measure.role() == Role::Memory => Unseen::Sample,
            _ => {
                let compared = self.load.compared.iter();
                let seen = compared.map(|at| self.nodes.list[*at].label());
                Unseen::Captured(seen.collect(), self.nodes.owning().count())
            }
        };
        Explanation::NotCompared(NotCompared {
            measure: self.load.measure,
            why,
            heaviest: heaviest.map(|unit| {
                let part = unit.load / total;
                (unit.name.clone(), unit.kind == UnitKind::Tag, part)
            }),
        })
    }
}
