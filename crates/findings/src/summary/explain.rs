//! Chooses the content of a role's sentence: why the fullest node is above its fair share, or why no node is.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::summary::coverage::lack_for;
use crate::summary::explanation::{Fullest, Why, named};
use crate::summary::judge::Judgement;
use crate::summary::observed::Captures;
use crate::summary::role_verdict::RoleInputs;
use crate::summary::split::Split;
use crate::wording::{coverage, verdict as said};
use slotscope_model::cause::{Cause, CauseKind};
use slotscope_model::coverage::Seen;
use slotscope_model::independent_units::UnitKind;
use slotscope_model::measure::Measure;
use slotscope_model::nodes::NodeLoad;
use slotscope_model::reason::Reason;
use slotscope_model::state::{Role, State};

/// A capture of less than this part of the longest one lacks a part.
const ENOUGH: f64 = 0.9;
/// Operations that are never all in this part by chance (e^-10).
const MANY: u64 = 100;

impl RoleInputs<'_> {
    /// For a load that is 0 on all nodes.
    pub(crate) fn nothing(&self) -> String {
        let keys = self.nodes().total(Metric::Keys);
        let sentence = match () {
            () if self.nodes().unowned.load.keys > 0 && keys == 0 => said::ALL_UNOWNED,
            () if keys > 0 => return said::no_load(self.load.measure),
            () if !self.verdict.summary.input.incomplete.is_empty() => said::CUT_OFF,
            () if !self.verdict.summary.extremes.is_empty() => said::ONLY_EXTREMES,
            () => said::NO_KEYS,
        };
        sentence.into()
    }

    /// For compared nodes, the fullest of which is in `split`.
    pub(crate) fn fullest(
        &self,
        split: &Split<'_>,
        judgement: &Judgement,
        causes: &[Cause],
    ) -> String {
        let (nodes, load, observed) = (self.nodes(), self.load, self.verdict.observed);
        let owning = nodes.owning().count();
        let is_captured = load.measure.role() == Role::Load;
        let known = observed.of_load(load.measure.metric());
        let captures = known.filter(|_| is_captured);
        let fullest = Fullest {
            assumed_nodes: nodes.are_assumed().then_some(nodes.list.len()),
            node: split.fullest.label(),
            measure: load.measure,
            max_over_mean: split.max_over_mean,
            reason: self.why(split, judgement, causes),
            compared: Some((split.nodes(), owning))
                .filter(|(compared, owning)| compared < owning && load.reason.is_none()),
            shorter: captures.and_then(|captures| self.shorter(captures)),
            memory_is_unknown: load.measure == Measure::Keys && load.role == Some(Role::Memory),
            is_estimated: load.is_estimated,
            are_writes: captures.is_some_and(|captures| captures.are_writes),
        };
        fullest.in_words()
    }

    /// The node whose capture is the shortest, if it lacks a tenth of the time of the longest which chance does not explain: the
    /// first and the last of its many operations would be nearer to the ends.
    fn shorter(&self, captures: &Captures) -> Option<(Name, f64, f64)> {
        let nodes = &self.nodes().list;
        let span = |at: &usize| Some((*at, captures.spans.get(*at).copied().flatten()?));
        let spans: Vec<_> = self.load.compared.iter().filter_map(span).collect();
        let (at, least) = *spans.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
        let most = spans.iter().map(|(_, span)| *span).fold(0.0, f64::max);
        let is_live = !captures.are_writes && !captures.are_counters;
        let is_shorter = is_live && least < ENOUGH * most && nodes[at].load_by(Metric::Ops) >= MANY;
        is_shorter.then(|| (nodes[at].label(), least, most))
    }

    fn why(&self, split: &Split<'_>, judgement: &Judgement, causes: &[Cause]) -> Why {
        if let Some(sign) = self.verdict.signs.first() {
            return Why::Damaged(sign.clone());
        }
        let counted = match self.load.measure.role() {
            Role::Memory => self.nodes().total(Metric::Keys) as u64,
            Role::Load => split.total() as u64,
        };
        match (judgement.reason, judgement.state) {
            (Some(Reason::TooFew), _) => Why::TooFew {
                counted,
                nodes: split.nodes(),
            },
            (Some(Reason::Idle), _) => Why::Idle,
            (Some(Reason::Capped), _) => Why::Capped,
            (Some(Reason::NotSeen), _) => Why::Unseen(self.unseen(), named(causes)),
            (Some(Reason::Unreadable), _) => match self.verdict.gaps.unreadable(self.load) {
                Some(gap) => Why::Unreadable(gap.clone()),
                None => Why::Even,
            },
            (Some(Reason::Missing), _) => Why::Missing {
                missing: self.verdict.gaps.without_size,
                keys: self.verdict.gaps.keys,
            },
            (_, State::Suspicious) => Why::LostRows(self.verdict.gaps.lost_rows),
            (reason, State::Watch | State::Skewed) => {
                let moving = self.moving.filter(|_| reason == Some(Reason::Moving));
                let mut causes = named(causes);
                causes.retain(|cause| {
                    self.verdict.summary.input.doubt.is_none()
                        || cause.kind != CauseKind::Collisions
                });
                Why::Causes(causes, moving.cloned())
            }
            _ if split.nodes() < 2 => Why::OneNode,
            _ => Why::Even,
        }
    }

    /// For nodes that are not compared.
    pub(crate) fn not_compared(&self, reason: Reason) -> String {
        let measure = self.load.measure;
        let captures = self.verdict.observed.of_load(measure.metric());
        let is_one_reading = captures.is_some_and(|captures| captures.is_one_reading);
        let why = match reason {
            Reason::Counters if measure == Measure::Accesses => said::REPLICA_COUNTERS.into(),
            Reason::Counters if is_one_reading => said::ONE_READING.into(),
            Reason::Counters => said::OTHER_TIMES.into(),
            Reason::OutsideSlots => said::OUTSIDE_SLOTS.into(),
            _ if self.verdict.summary.input.sample_percent.is_some() => said::SAMPLED.into(),
            _ => said::not_compared(&self.unseen()),
        };
        let heaviest = self.heaviest();
        why + &heaviest.map_or(String::new(), |seen| said::gets(&seen, measure))
    }

    /// The nodes that were not seen, and what of them.
    fn unseen(&self) -> String {
        let nodes = &self.nodes().list;
        let rows = nodes.iter().zip(&self.load.seen);
        let is_unseen = |(node, seen): &(&NodeLoad, &Seen)| !seen.is_whole() && !node.is_lost();
        let rows = rows.filter(is_unseen);
        let unseen: Vec<_> = rows.map(|(node, seen)| (node.label(), *seen)).collect();
        let lack = lack_for(&self.verdict.summary.coverage, self.load);
        match lack.filter(|_| unseen.is_empty()) {
            Some(lack) => lack.sentence.clone(),
            None => {
                let owning = self.nodes().owning().count();
                coverage::unseen(&unseen, owning, self.load.measure)
            }
        }
    }

    /// The heaviest tag or key of the observed load: its name, its kind, and its part of that load.
    pub(crate) fn heaviest(&self) -> Option<(Name, UnitKind, f64)> {
        let heaviest = self.units.named.iter().find(|unit| unit.node.is_some());
        let total = self.units.total.max(f64::MIN_POSITIVE);
        heaviest.map(|unit| {
            let part = unit.load / total;
            (unit.name.clone(), unit.kind, part)
        })
    }
}
