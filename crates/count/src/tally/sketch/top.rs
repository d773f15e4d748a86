//! The `K` items of largest weight, ties by the order of items: independent of insertion order and merging.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

/// The heaviest items.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "SerializedTop<T>", from = "SerializedTop<T>")]
#[serde(bound(
    serialize = "T: Ord + Clone + Serialize",
    deserialize = "T: Ord + Deserialize<'de>"
))]
pub(crate) struct Top<T: Ord, const K: usize> {
    /// The lightest one is on top.
    kept: BinaryHeap<(Reverse<u64>, T)>,
    /// Whether there are others.
    dropped: bool,
}

/// The serialized form: the heaviest items in order, and whether there are others.
#[derive(Serialize, Deserialize)]
struct SerializedTop<T> {
    heaviest: Vec<(u64, T)>,
    dropped: bool,
}

impl<T: Ord, const K: usize> From<Top<T, K>> for SerializedTop<T> {
    fn from(top: Top<T, K>) -> Self {
        let heaviest = top.kept.into_sorted_vec().into_iter();
        SerializedTop {
            heaviest: heaviest
                .map(|(Reverse(weight), item)| (weight, item))
                .collect(),
            dropped: top.dropped,
        }
    }
}

impl<T: Ord, const K: usize> From<SerializedTop<T>> for Top<T, K> {
    fn from(listed: SerializedTop<T>) -> Self {
        let heaviest = listed.heaviest.into_iter();
        let mut top = Top {
            dropped: listed.dropped,
            ..Top::default()
        };
        heaviest.for_each(|(weight, item)| top.push((Reverse(weight), item)));
        top
    }
}

impl<T: Ord, const K: usize> Default for Top<T, K> {
    fn default() -> Self {
        Top {
            kept: BinaryHeap::new(),
            dropped: false,
        }
    }
}

impl<T: Ord, const K: usize> Top<T, K> {
    /// Offers an item, built by `make` if it may be among the heaviest. For equal weights, `is_before` decides whether
    /// this one may precede the other.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        weight: u64,
        is_before: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) {
        let last = self.kept.peek().filter(|_| self.kept.len() == K);
        let may_be_kept = last.is_none_or(|(Reverse(floor), last)| {
            weight > *floor || weight == *floor && is_before(last)
        });
        if may_be_kept {
            self.push((Reverse(weight), make()));
        } else {
            self.dropped = true;
        }
    }

    fn push(&mut self, next: (Reverse<u64>, T)) {
        self.kept.push(next);
        if self.kept.len() > K {
            self.kept.pop();
            self.dropped = true;
        }
    }

    /// Merges another list.
    pub(crate) fn merge(&mut self, other: Self) {
        self.dropped |= other.dropped;
        other.kept.into_iter().for_each(|next| self.push(next));
    }

    /// The heaviest items in order, and an upper bound for all others: 0 if there are none.
    pub(crate) fn heaviest(&self) -> (Vec<T>, u64)
    where
        T: Clone,
    {
        let lightest = self.kept.peek().filter(|_| self.dropped);
        let bound = lightest.map_or(0, |(Reverse(weight), _)| *weight);
        let items = self.kept.clone().into_sorted_vec().into_iter();
        (items.map(|(_, item)| item).collect(), bound)
    }
}

/// Ignores the order of items.
impl<T: Ord + Clone, const K: usize> PartialEq for Top<T, K> {
    fn eq(&self, other: &Self) -> bool {
        self.heaviest() == other.heaviest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Three = Top<u64, 3>;

    fn of(things: impl IntoIterator<Item = (u64, u64)>) -> Three {
        let mut top = Three::default();
        for (weight, thing) in things {
            top.offer(weight, |last| thing <= *last, || thing);
        }
        top
    }

    #[test]
    fn the_heaviest_are_kept_whatever_their_order_and_the_parts() {
        // Many of one weight, and two heavier ones.
        let all: Vec<(u64, u64)> = (0..50).map(|thing| (7, thing * 31 % 50)).collect();
        let all: Vec<_> = all.into_iter().chain([(9, 100), (8, 101)]).collect();
        let whole = of(all.clone());
        assert_eq!(whole.heaviest(), (vec![100, 101, 0], 7));
        assert_eq!(of(all.iter().rev().copied()), whole);
        for at in 0..all.len() {
            let (first, second) = all.split_at(at);
            let mut merged = of(first.iter().copied());
            merged.merge(of(second.iter().copied()));
            assert_eq!(merged, whole, "{at}");
        }
    }

    #[test]
    fn no_other_exceeds_nothing_where_all_are_kept() {
        assert_eq!(of([(1, 1), (5, 2), (3, 3)]).heaviest(), (vec![2, 3, 1], 0));
        assert_eq!(of([(1, 1), (5, 2), (3, 3), (1, 4)]).heaviest().1, 1);
        assert_eq!(of([]).heaviest(), (vec![], 0));
    }

    #[test]
    fn a_thing_behind_the_floor_is_not_made() {
        let mut top = of((0..6).map(|thing| (7, thing)));
        top.offer(7, |last| 9 <= *last, || panic!("it comes behind"));
        top.offer(6, |_| true, || panic!("it is lighter"));
    }
}
