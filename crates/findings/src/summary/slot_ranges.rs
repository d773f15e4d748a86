//! One range of slots for each shard, so that the fullest holds as little as contiguous ranges allow.

use slotscope_engine::metric::Metric;

/// The ranges of `shards` shards, in order: of all ways to cut the slots, one whose largest load is the least. `None` with
/// no shards, or more than slots.
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
    let ends = ends(loads, shards, low)?;
    let starts = [0].into_iter().chain(ends.iter().map(|end| end + 1));
    let ranges = starts
        .zip(&ends)
        .map(|(start, end)| (start as u16, *end as u16));
    Some(ranges.collect())
}

/// The last slot of each of `shards` ranges of which none holds more than `most`; `None` where there is no such way.
fn ends(loads: &[u64], shards: usize, most: u128) -> Option<Vec<usize>> {
    let (mut ends, mut sum) = (Vec::new(), 0u128);
    for (slot, load) in loads.iter().enumerate() {
        let load = u128::from(*load);
        if load > most {
            return None;
        }
        // Every later shard needs a slot, too.
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

/// The metric that ranges are evened out by: the one asked for, else bytes, else keys.
pub fn metric_of_ranges(asked: Option<Metric>, has: impl Fn(Metric) -> bool) -> Option<Metric> {
    let usual = [Metric::Bytes, Metric::Keys, Metric::Ops];
    asked.into_iter().chain(usual).find(|metric| has(*metric))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(loads: &[u64], ranges: &[(u16, u16)]) -> u64 {
        let sums = ranges.iter().map(|(first, last)| {
            loads[usize::from(*first)..=usize::from(*last)]
                .iter()
                .sum::<u64>()
        });
        sums.max().unwrap_or(0)
    }

    /// The least largest load of all ways to cut, tried one by one.
    fn least(loads: &[u64], shards: usize) -> u64 {
        if shards == 1 {
            return loads.iter().sum();
        }
        let cuts = 1..=loads.len() - (shards - 1);
        let with = |cut: usize| {
            let first: u64 = loads[..cut].iter().sum();
            first.max(least(&loads[cut..], shards - 1))
        };
        cuts.map(with).min().unwrap_or(u64::MAX)
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
