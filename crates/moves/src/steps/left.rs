//! Problems that no step fixes, each with a reason established by search.

use slotscope_planner::lower_bound::SetBy;
use slotscope_planner::why_not::{WhyNot, why_not};

use crate::plan::placement::PlacedRole;
use crate::plan::requests::request_of;
use crate::steps::Steps;
use crate::wording as said;
use slotscope_model::independent_units::Unit;
use slotscope_model::state::Role;
use slotscope_model::step::Left;

/// Maximum number of tags and keys named.
const NAMED: usize = 3;

impl Steps<'_> {
    /// Adds the loads still above their lower bands after all steps, and why.
    pub(super) fn add_left(&mut self) {
        let request = request_of(self.summary, &self.cluster, &self.now);
        for role in self.now.roles.iter().filter(|role| role.is_judged) {
            let after = self.now.role_after(&self.cluster, role);
            if !after.state.is_uneven() && role.is_by_slot()
                || after.max_over_mean <= role.bands.lower
            {
                continue;
            }
            let metric = role.load.measure.metric();
            let place = request.roles.iter().position(|role| role.metric == metric);
            let (reason, slot) = match place.filter(|_| role.is_by_slot()) {
                None => (
                    "memory by slot is unknown; collect without --slots-only".into(),
                    None,
                ),
                Some(place) => self.reason(role, why_not(&request, place)),
            };
            let units = slot.map_or(Vec::new(), |slot| self.units_in(role, slot));
            self.left.push(Left {
                role: role.verdict.map_or("", |verdict| verdict.name()).into(),
                max_over_mean: after.max_over_mean,
                reason,
                units: units.into_iter().map(|unit| unit.name.clone()).collect(),
            });
        }
    }

    /// A reason, and the slot it concerns.
    fn reason(&self, role: &PlacedRole<'_>, why: WhyNot) -> (String, Option<u16>) {
        let is_load = role.load.role == Some(Role::Load);
        match why {
            WhyNot::Floor(SetBy::Slot(slot)) => {
                let is_unnamed = is_load && self.units_in(role, slot).is_empty();
                let text = if is_unnamed {
                    format!(
                        "slot {slot} alone is more than a fair share; MONITOR shows which key it is"
                    )
                } else {
                    said::why_not(&why)
                };
                (text, Some(slot))
            }
            WhyNot::Fixed(fixed) => {
                let owns = |slot: u16| self.now.owner[usize::from(slot)] == Some(fixed.node);
                let mut pinned = self.cluster.pinned.iter();
                let text = match pinned.find(|key| owns(key.slot)) {
                    Some(key) => said::pinned(&key.key, key.block_ms as f64),
                    None => said::why_not(&why),
                };
                (text, None)
            }
            _ => (said::why_not(&why), None),
        }
    }

    /// The heaviest named tags and keys of a slot.
    pub(super) fn units_in(&self, role: &PlacedRole<'_>, slot: u16) -> Vec<&Unit> {
        let units = self.summary.units.per.get(role.load.measure.metric());
        let named = units.into_iter().flat_map(|units| &units.named);
        named.filter(|unit| unit.slot == slot).take(NAMED).collect()
    }
}
