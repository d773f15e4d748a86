//! The moves of a plan so far: its runs, and how much the limits still allow.

use crate::move_request::MoveLimits;
use crate::state::{PlanState, Run};

impl PlanState<'_> {
    /// The amounts to compare with the limits once `to` has a run: slots, and bytes.
    pub(crate) fn moved_with(&self, run: Run, to: usize) -> (u64, u128) {
        let (mut slots, mut bytes) = self.moved;
        for slot in run.first..run.end {
            let home = self.home(slot);
            let size = self.shares.bytes(slot, slot + 1);
            if self.owner[slot] != home {
                (slots, bytes) = (slots - 1, bytes - size);
            }
            if to != usize::from(home) {
                (slots, bytes) = (slots + 1, bytes + size);
            }
        }
        (slots, bytes)
    }

    /// Slots and bytes that have moved.
    pub(crate) fn moved(&self) -> (u64, u128) {
        self.moved
    }

    /// The part of all data that has moved.
    pub(crate) fn moved_part(&self) -> f64 {
        self.moved.1 as f64 / (self.shares.whole_price() as f64).max(1.0)
    }

    /// Whether the limits let a run go; what moves no more than before is within any.
    pub(crate) fn allows(&self, run: Run, to: usize) -> bool {
        if self.limits == MoveLimits::default() {
            return true;
        }
        let (slots, bytes) = self.moved_with(run, to);
        self.limits
            .slots
            .is_none_or(|most| slots <= most.max(self.moved.0))
            && self
                .limits
                .bytes
                .is_none_or(|most| bytes <= u128::from(most).max(self.moved.1))
    }

    /// The last end of a run from `first` on, up to `end`, that the limits let move if none of it has moved yet.
    pub(crate) fn last_end_within_limits(&self, first: usize, end: usize) -> usize {
        let mut last = end;
        if let Some(most) = self.limits.slots {
            last = last.min(first + most.saturating_sub(self.moved.0) as usize);
        }
        if let Some(most) = self.limits.bytes {
            let left = u128::from(most).saturating_sub(self.moved.1);
            last = self.shares.last_end_within(first, last, left);
        }
        last
    }

    /// The runs of slots that have moved from one node to one other, ascending.
    pub(crate) fn moved_runs(&self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let pair = |slot: usize| (self.home(slot), self.owner[slot]);
        for slot in 0..self.shares.slots {
            if self.owner[slot] == self.home(slot) {
                continue;
            }
            match runs.last_mut() {
                Some(run) if run.end == slot && pair(slot - 1) == pair(slot) => run.end += 1,
                _ => runs.push(Run::single(slot)),
            }
        }
        runs
    }

    /// By how much the number of moved runs changes if `to` gets a run.
    pub(crate) fn more_runs(&self, run: Run, to: usize) -> i32 {
        let key = |slot: usize, owner: u16| {
            let home = self.home(slot);
            (owner != home).then_some((home, owner))
        };
        let mut additional = 0;
        let (mut last, mut last_then) = (None, None);
        for slot in run.first.saturating_sub(1)..(run.end + 1).min(self.shares.slots) {
            let now = key(slot, self.owner[slot]);
            let then = if (run.first..run.end).contains(&slot) {
                key(slot, to as u16)
            } else {
                now
            };
            additional -= i32::from(now.is_some() && now != last);
            additional += i32::from(then.is_some() && then != last_then);
            (last, last_then) = (now, then);
        }
        additional
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::move_request::{MoveRequest, Role};
    use crate::shares::Shares;
    use slotscope_base::metric::Metric;

    #[test]
    fn a_light_slot_that_comes_home_makes_no_room_for_a_heavy_one() {
        let (loads, bytes) = ([1, 1, 1], [10, 100, 5]);
        let owner = vec![Some(0), Some(0), None];
        let mut request = MoveRequest::new(vec![Role::even(Metric::Keys, &loads, 2, 0.03)], owner);
        request.price = Some(&bytes);
        let shares = Shares::new(&request);
        let mut state = PlanState::new(&shares);
        state.limits = MoveLimits {
            slots: Some(1),
            bytes: Some(50),
        };
        assert!(state.allows(Run::single(0), 1));
        assert!(!state.allows(Run::single(1), 1), "100 bytes are beyond 50");
        state.give(Run::single(0), 1);
        assert!(
            state.allows(Run::single(0), 0),
            "what comes home is within any limit"
        );
        assert_eq!(state.last_end_within_limits(1, 2), 1);
    }
}
