//! Problems that no step cures, and why.

use crate::steps::Steps;
use crate::steps::situation::Known;
use crate::summary::state::Role;
use crate::summary::step::{Left, LeftText, RoleAfter};

impl Steps<'_> {
    /// Adds the loads above their lower bands after all steps, and why.
    pub(super) fn add_left(&mut self) {
        for role in &self.now.roles {
            let RoleAfter {
                max_over_mean,
                state,
                ..
            } = self.now.role_after(role);
            if role.known > Known::Well || !state.is_uneven() {
                continue;
            }
            let heaviest = role.slots.iter().enumerate().max_by_key(|(_, load)| **load);
            let (slot, load) = heaviest.map_or((0, 0), |(slot, load)| (slot as u16, *load));
            let total: f64 = role.slots.iter().map(|load| *load as f64).sum();
            let fair = total / role.verdict.compared.max(1) as f64;
            let is_one_slot = load as f64 >= role.verdict.bands.lower * fair;
            let pinned = self.pinned.iter().find(|key| key.slot == slot);
            let proven = self
                .proven
                .iter()
                .find(|(metric, ..)| *metric == role.verdict.by());
            let units = self.summary.units.per.get(role.verdict.by());
            let units = units.into_iter().flat_map(|units| &units.named);
            let units: Vec<_> = units
                .filter(|unit| is_one_slot && unit.slot == slot)
                .take(3)
                .collect();
            let is_load = role.verdict.role == Some(Role::Load);
            let reason = match (proven, pinned) {
                (Some((_, slots, least)), _) => LeftText::NoPlacement {
                    slots: slots.clone(),
                    least: *least,
                },
                _ if is_one_slot && is_load && units.is_empty() => LeftText::HotSlot(slot),
                _ if is_one_slot => LeftText::OneSlot(slot),
                (None, Some(key)) => LeftText::Pinned {
                    key: key.key.clone(),
                    block_ms: key.block_ms as f64,
                },
                (None, None) => LeftText::NotFound,
            };
            self.left.push(Left {
                role: role.verdict.name().into(),
                max_over_mean,
                reason: reason.into(),
                units: units.into_iter().map(|unit| unit.name.clone()).collect(),
            });
        }
    }
}
