//! One contiguous slot range per shard, with the fullest as light as possible and the others as even as possible.

/// Up to this many shards all ranges are as even as can be; of more, only the fullest is as small as can be.
const MOST_EVEN: usize = 1024;

/// The ranges of `shards` shards in order. Among all cuts with the least maximum load, the one with the least sum of
/// squared loads, so that a single heavy slot does not leave the others uneven. `None` for no shards, or more shards
/// than slots.
pub fn even_ranges(loads: &[u64], shards: usize) -> Option<Vec<(u16, u16)>> {
    if shards == 0 || shards > loads.len() {
        return None;
    }
    let (mut low, mut high) = (0u128, loads.iter().map(|load| u128::from(*load)).sum());
    while low < high {
        let middle = low + (high - low) / 2;
        match ends(loads, shards, middle) {
            Some(_) => high = middle,
            None => low = middle + 1,
        }
    }
    let ends = if shards <= MOST_EVEN {
        Cuts::new(loads, low).even(shards)
    } else {
        ends(loads, shards, low)?
    };
    let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
    let ranges = starts
        .zip(&ends)
        .map(|(start, end)| (start as u16, *end as u16));
    Some(ranges.collect())
}

/// Cuts of the slots into ranges, none above a limit.
struct Cuts {
    /// Prefix sums of slot loads.
    sums: Vec<u128>,
    limit: u128,
}

impl Cuts {
    fn new(loads: &[u64], limit: u128) -> Self {
        let mut sums = vec![0];
        for (at, load) in loads.iter().enumerate() {
            sums.push(sums[at] + u128::from(*load));
        }
        Cuts { sums, limit }
    }

    /// The squared load of the slots `from..to`; infinite if there are none, or if above the limit.
    fn cost(&self, from: usize, to: usize) -> f64 {
        if from >= to {
            return f64::INFINITY;
        }
        let load = self.sums[to] - self.sums[from];
        if load > self.limit {
            f64::INFINITY
        } else {
            (load as f64).powi(2)
        }
    }

    /// The last slot of each range, for the least sum of squares.
    ///
    /// Adds one range at a time, for all prefixes of the slots. The best start of the last range is monotonic in the
    /// prefix length (the costs satisfy the quadrangle inequality), so divide and conquer needs only part of the starts
    /// for each half.
    fn even(&self, shards: usize) -> Vec<usize> {
        let slots = self.sums.len() - 1;
        let mut costs: Vec<f64> = (0..=slots).map(|to| self.cost(0, to)).collect();
        let mut starts: Vec<Vec<u16>> = Vec::new();
        for ranges in 2..=shards {
            let mut longer = Longer {
                ranges,
                costs: vec![f64::INFINITY; slots + 1],
                starts: vec![0; slots + 1],
            };
            self.add_range(&costs, &mut longer, (1, slots), (0, slots));
            costs = longer.costs;
            starts.push(longer.starts);
        }
        let mut end = slots;
        let mut ends = vec![slots - 1];
        for start in starts.iter().rev() {
            end = usize::from(start[end]);
            ends.push(end - 1);
        }
        ends.reverse();
        ends
    }

    /// Fills in the best last range of the prefixes `from..=to`, whose start is in `first..=last`.
    fn add_range(
        &self,
        shorter: &[f64],
        longer: &mut Longer,
        (from, to): (usize, usize),
        (first, last): (usize, usize),
    ) {
        if from > to {
            return;
        }
        let middle = from + (to - from) / 2;
        let starts = (first..=last.min(middle)).map(|at| (shorter[at] + self.cost(at, middle), at));
        let best = starts.min_by(|a, b| a.0.total_cmp(&b.0));
        let (before, after) = ((from, middle - 1), (middle + 1, to));
        match best.filter(|(cost, _)| cost.is_finite()) {
            Some((cost, start)) => {
                (longer.costs[middle], longer.starts[middle]) = (cost, start as u16);
                self.add_range(shorter, longer, before, (first, start));
                self.add_range(shorter, longer, after, (start, last));
            }
            // Too few slots for the ranges, or too much load: try more slots or fewer.
            None if middle < longer.ranges => self.add_range(shorter, longer, after, (first, last)),
            None => self.add_range(shorter, longer, before, (first, last)),
        }
    }
}

/// The best cuts of the prefixes with one more range: their costs, and the start of the last range.
struct Longer {
    ranges: usize,
    costs: Vec<f64>,
    starts: Vec<u16>,
}

/// The last slot of each of `shards` ranges, none above `most`; `None` if impossible.
fn ends(loads: &[u64], shards: usize, most: u128) -> Option<Vec<usize>> {
    let (mut ends, mut sum) = (Vec::new(), 0u128);
    for (slot, load) in loads.iter().enumerate() {
        let load = u128::from(*load);
        if load > most {
            return None;
        }
        // Every later shard needs a slot too.
        let must_end = slot > 0 && loads.len() - slot == shards - ends.len() - 1;
        if slot > 0 && (sum + load > most || must_end) {
            ends.push(slot - 1);
            sum = 0;
        }
        if ends.len() == shards {
            return None;
        }
        sum += load;
    }
    ends.push(loads.len() - 1);
    Some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_engine::slot::SLOTS;

    fn largest(loads: &[u64], ranges: &[(u16, u16)]) -> u64 {
        let sums = ranges.iter().map(|(first, last)| {
            loads[usize::from(*first)..=usize::from(*last)]
                .iter()
                .sum::<u64>()
        });
        sums.max().unwrap_or(0)
    }

    /// The largest load and the sum of squares of all cuts, by brute force.
    fn all(loads: &[u64], shards: usize) -> Vec<(u64, u64)> {
        let sum: u64 = loads.iter().sum();
        if shards == 1 {
            return vec![(sum, sum * sum)];
        }
        let cuts = 1..=loads.len() - (shards - 1);
        let with = |cut: usize| {
            let first: u64 = loads[..cut].iter().sum();
            let rest = all(&loads[cut..], shards - 1).into_iter();
            rest.map(move |(most, squares)| (first.max(most), first * first + squares))
        };
        cuts.flat_map(with).collect()
    }

    fn squares(loads: &[u64], ranges: &[(u16, u16)]) -> u64 {
        let sums = ranges.iter().map(|(first, last)| {
            let held = &loads[usize::from(*first)..=usize::from(*last)];
            held.iter().sum::<u64>().pow(2)
        });
        sums.sum()
    }

    #[test]
    fn one_heavy_slot_does_not_let_the_others_be_uneven() {
        let mut loads = vec![10u64; SLOTS];
        loads[15_707] = 10 * SLOTS as u64;
        let ranges = even_ranges(&loads, 6).unwrap();
        let held: Vec<u64> = ranges
            .iter()
            .map(|range| largest(&loads, std::slice::from_ref(range)))
            .collect();
        assert_eq!(held[4], 10 * SLOTS as u64);
        assert!(
            held[..4].iter().all(|load| (39_260..39_280).contains(load)),
            "{held:?}"
        );
        assert_eq!(ranges[4], (15_707, 15_707));
    }

    #[test]
    fn no_other_way_to_cut_is_better() {
        let mut state = 7u64;
        for case in 0..200 {
            let loads: Vec<u64> = (0..9)
                .map(|_| {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    (state >> 33) % [2, 10, 1000][case % 3]
                })
                .collect();
            for shards in 1..=9 {
                let ranges = even_ranges(&loads, shards).unwrap();
                assert_eq!(ranges.len(), shards, "{loads:?}");
                assert_eq!((ranges[0].0, ranges[shards - 1].1), (0, 8));
                assert!(ranges.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
                assert!(ranges.iter().all(|(first, last)| first <= last));
                let found = (largest(&loads, &ranges), squares(&loads, &ranges));
                let least = all(&loads, shards).into_iter().min();
                assert_eq!(Some(found), least, "{loads:?} {shards}");
            }
        }
        assert_eq!(even_ranges(&[1, 2], 3), None);
        assert_eq!(even_ranges(&[1, 2], 0), None);
    }
}
