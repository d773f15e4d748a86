//! One contiguous slot range per shard, with the fullest as light as possible and the others near the mean.

/// The ranges of `shards` shards in order. No other cut has a lighter fullest shard. `None` for no shards, or more shards
/// than slots.
pub fn even_ranges(loads: &[u64], shards: usize) -> Option<Vec<(u16, u16)>> {
    if shards == 0 || shards > loads.len() {
        return None;
    }
    let loads: Vec<u128> = loads.iter().map(|load| u128::from(*load)).collect();
    let (mut low, mut high) = (loads.iter().max().copied().unwrap_or(0), loads.iter().sum());
    while low < high {
        let middle = low + (high - low) / 2;
        if needed(&loads, middle)[0] <= shards {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    let needed = needed(&loads, low);
    let mut rest: u128 = loads.iter().sum();
    let (mut ranges, mut start) = (Vec::new(), 0);
    for others in (0..shards).rev() {
        let mean = rest / (others as u128 + 1);
        let (mut end, mut held) = (start, 0);
        // Every later shard needs a slot too.
        while loads.len() - end > others && held + loads[end] <= low {
            let is_full = end > start && held + loads[end] / 2 >= mean;
            if is_full && needed[end] <= others {
                break;
            }
            held += loads[end];
            end += 1;
        }
        ranges.push((start as u16, end as u16 - 1));
        (start, rest) = (end, rest - held);
    }
    Some(ranges)
}

/// For each slot, the fewest ranges that hold it and all slots after it, none above `most`.
fn needed(loads: &[u128], most: u128) -> Vec<usize> {
    let mut needed = vec![0; loads.len() + 1];
    let (mut end, mut held) = (loads.len(), 0);
    for start in (0..loads.len()).rev() {
        held += loads[start];
        while held > most {
            end -= 1;
            held -= loads[end];
        }
        needed[start] = 1 + needed[end];
    }
    needed
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::slot::SLOTS;

    fn largest(loads: &[u64], ranges: &[(u16, u16)]) -> u64 {
        let sums = ranges.iter().map(|(first, last)| {
            loads[usize::from(*first)..=usize::from(*last)]
                .iter()
                .sum::<u64>()
        });
        sums.max().unwrap_or(0)
    }

    /// The largest load of the best cut, by brute force.
    fn least(loads: &[u64], shards: usize) -> u64 {
        if shards == 1 {
            return loads.iter().sum();
        }
        let cuts = 1..=loads.len() - (shards - 1);
        let with = |cut: usize| {
            let first: u64 = loads[..cut].iter().sum();
            first.max(least(&loads[cut..], shards - 1))
        };
        cuts.map(with).min().unwrap_or(0)
    }

    #[test]
    fn beside_a_heavy_slot_no_shard_is_above_its_share() {
        let mut loads = vec![10u64; SLOTS];
        loads[15_707] = 10 * SLOTS as u64;
        let ranges = even_ranges(&loads, 6).unwrap();
        let held: Vec<u64> = ranges
            .iter()
            .map(|range| largest(&loads, std::slice::from_ref(range)))
            .collect();
        let fair = loads.iter().sum::<u64>() / 6;
        let heavy: Vec<u64> = held.into_iter().filter(|load| *load > fair).collect();
        assert_eq!(heavy, [10 * SLOTS as u64]);
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
                assert_eq!(
                    largest(&loads, &ranges),
                    least(&loads, shards),
                    "{loads:?} {shards}"
                );
            }
        }
        assert_eq!(even_ranges(&[1, 2], 3), None);
        assert_eq!(even_ranges(&[1, 2], 0), None);
    }
}
