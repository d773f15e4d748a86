//! The `K` items of largest weight, ties by the order of items: independent of insertion order and merging.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

/// The heaviest items. Up to twice as many are kept before cutting.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "SerializedTop<T>", try_from = "SerializedTop<T>")]
#[serde(bound(
    serialize = "T: Ord + Clone + Serialize",
    deserialize = "T: Ord + Clone + Deserialize<'de>"
))]
pub(crate) struct Top<T, const K: usize> {
    kept: Vec<(Reverse<u64>, T)>,
    /// The last item kept when cutting: anything after it is not among the heaviest.
    floor: Option<(Reverse<u64>, T)>,
}

/// The serialized form: the heaviest items in order, and whether there are others.
#[derive(Serialize, Deserialize)]
struct SerializedTop<T> {
    heaviest: Vec<(u64, T)>,
    dropped: bool,
}

impl<T: Ord, const K: usize> From<Top<T, K>> for SerializedTop<T> {
    fn from(mut top: Top<T, K>) -> Self {
        top.kept.sort();
        let dropped = top.floor.is_some() || top.kept.len() > K;
        top.kept.truncate(K);
        let heaviest = top.kept.into_iter();
        SerializedTop {
            heaviest: heaviest
                .map(|(Reverse(weight), item)| (weight, item))
                .collect(),
            dropped,
        }
    }
}

impl<T: Ord + Clone, const K: usize> TryFrom<SerializedTop<T>> for Top<T, K> {
    type Error = &'static str;

    fn try_from(listed: SerializedTop<T>) -> Result<Self, &'static str> {
        let heaviest = listed.heaviest.into_iter();
        let mut kept: Vec<_> = heaviest
            .map(|(weight, item)| (Reverse(weight), item))
            .collect();
        if kept.len() > K || listed.dropped && kept.len() < K {
            return Err("an invalid list of the heaviest");
        }
        kept.sort();
        let floor = kept.last().filter(|_| listed.dropped).cloned();
        Ok(Top { kept, floor })
    }
}

impl<T, const K: usize> Default for Top<T, K> {
    fn default() -> Self {
        Top {
            kept: Vec::new(),
            floor: None,
        }
    }
}

impl<T: Ord + Clone, const K: usize> Top<T, K> {
    /// Offers an item, built by `make` if it may be among the heaviest. For equal weights, `is_before` decides whether
    /// this one may precede the other.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        weight: u64,
        is_before: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) {
        let may_be_kept = match &self.floor {
            None => true,
            Some((Reverse(floor), last)) => weight > *floor || weight == *floor && is_before(last),
        };
        if may_be_kept {
            self.push((Reverse(weight), make()));
        }
    }

    fn push(&mut self, next: (Reverse<u64>, T)) {
        self.kept.push(next);
        if self.kept.len() >= 2 * K {
            self.cut();
        }
    }

    /// Keeps `K` items, unordered.
    fn cut(&mut self) {
        if self.kept.len() > K {
            let (_, last, _) = self.kept.select_nth_unstable(K - 1);
            self.floor = Some(last.clone());
            self.kept.truncate(K);
        }
    }

    /// Merges another list.
    pub(crate) fn merge(&mut self, other: Self) {
        // As many items as are kept precede either floor.
        self.floor = match (self.floor.take(), other.floor) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        other.kept.into_iter().for_each(|next| self.push(next));
    }

    /// The heaviest items in order, and an upper bound for all others: 0 if there are none.
    pub(crate) fn heaviest(&self) -> (Vec<T>, u64) {
        let mut kept = self.kept.clone();
        kept.sort();
        let has_more = self.floor.is_some() || kept.len() > K;
        kept.truncate(K);
        let lightest = kept.last().map_or(0, |(weight, _)| weight.0);
        let items = kept.into_iter().map(|(_, item)| item).collect();
        (items, if has_more { lightest } else { 0 })
    }
}

/// Ignores how far the list was cut.
impl<T: Ord + Clone, const K: usize> PartialEq for Top<T, K> {
    fn eq(&self, other: &Self) -> bool {
        self.heaviest() == other.heaviest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Three = Top<u64, 3>;

    #[test]
    fn a_list_that_is_read_may_be_in_another_order() {
        let listed = |heaviest: &[(u64, u64)], dropped| {
            let heaviest = heaviest.to_vec();
            Three::try_from(SerializedTop { heaviest, dropped })
        };
        let read = listed(&[(7, 30), (5, 20), (5, 10)], true).unwrap();
        assert_eq!(read.heaviest(), (vec![30, 10, 20], 5));
        let mut merged = of([(5, 15), (4, 1)]);
        merged.merge(read);
        assert_eq!(merged.heaviest(), (vec![30, 10, 15], 5));
        assert!(listed(&[(7, 30), (5, 20)], true).is_err());
        assert!(listed(&[(7, 30), (5, 20), (5, 10), (5, 11)], false).is_err());
    }

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
