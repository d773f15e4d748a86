//! The heaviest of many tags with unknown names, chosen by load and slot alone.

use std::cmp::Reverse;

use slotscope_base::slot::spread;

/// Tags by load, ties by slot, neighbours far apart. Tags of equal load and slot are kept or dropped together.
#[derive(Debug, Clone)]
pub(super) struct Heaviest {
    wanted: usize,
    most: usize,
    tags: Vec<(Rank, usize)>,
    /// Tags of this rank or lower are dropped.
    floor: Option<Rank>,
    left_out: u64,
}

/// Load, then the first in the spread order of slots.
type Rank = (u64, Reverse<u16>);

impl Heaviest {
    /// Keeps the `wanted` heaviest tags and ties with the last one, unless that exceeds `most`.
    pub(super) fn of(wanted: usize, most: usize) -> Self {
        Heaviest {
            wanted,
            most,
            tags: Vec::new(),
            floor: None,
            left_out: 0,
        }
    }

    /// Offers a tag, identified by its cell.
    #[inline]
    pub(super) fn offer(&mut self, load: u64, slot: u16, cell: usize) {
        let rank = (load, Reverse(spread(slot)));
        if load == 0 || self.floor.is_some_and(|floor| rank <= floor) {
            self.left_out = self.left_out.max(load);
            return;
        }
        self.tags.push((rank, cell));
        if self.tags.len() >= 4 * self.most {
            self.cut();
        }
    }

    /// Merges the tags of another list.
    pub(super) fn merge(&mut self, other: Heaviest) {
        self.left_out = self.left_out.max(other.left_out);
        self.tags.extend(other.tags);
        if let Some(floor) = self.floor.max(other.floor) {
            self.leave_out(floor);
        }
        self.cut();
    }

    /// Drops tags that are not among the heaviest so far, and hence not in the end.
    fn cut(&mut self) {
        if self.tags.len() <= self.wanted {
            return;
        }
        let by_rank = |(rank, _): &(Rank, usize)| Reverse(*rank);
        let (_, last, _) = self
            .tags
            .select_nth_unstable_by_key(self.wanted - 1, by_rank);
        let last = last.0;
        let kept = self.tags.iter().filter(|(rank, _)| *rank >= last).count();
        let below = self.tags.iter().map(|(rank, _)| *rank);
        let floor = if kept > self.most {
            Some(last)
        } else {
            below.filter(|rank| *rank < last).max()
        };
        if let Some(floor) = floor {
            self.leave_out(floor);
        }
    }

    fn leave_out(&mut self, floor: Rank) {
        self.floor = Some(floor);
        let left_out = self.tags.iter().filter(|(rank, _)| *rank <= floor);
        let most = left_out.map(|((load, _), _)| *load).max();
        self.left_out = self.left_out.max(most.unwrap_or(0));
        self.tags.retain(|(rank, _)| *rank > floor);
    }

    /// The cells of the kept tags, once all were offered and merged.
    pub(super) fn cells(&self) -> impl Iterator<Item = usize> {
        self.tags.iter().map(|(_, cell)| *cell)
    }

    /// An upper bound on dropped tags.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}
