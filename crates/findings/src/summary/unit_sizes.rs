//! The number of units by load, combined from counted or sampled tags and untagged keys.

use slotscope_base::metric::Metric;
use slotscope_count::tally::tags::TagCounter;
use slotscope_count::tally::weights::Weighed;

use slotscope_model::quantiles::TagSizes;
use slotscope_model::tags::Tags;

/// (keys, units) pairs, untagged keys first; `None` if tag sizes were not counted.
///
/// A sample of tags is scaled up to all tags that are not listed with certainty.
pub(crate) fn of_keys(
    tags: &Tags,
    tag_sizes: Option<&TagSizes>,
    keys: u64,
) -> Option<Vec<(f64, f64)>> {
    let untagged = (1.0, keys.saturating_sub(tags.tagged_keys) as f64);
    let pair = |(size, count): &(u64, u64)| (*size as f64, *count as f64);
    let counts: Vec<_> = match tag_sizes {
        Some(sizes) => sizes.keys.counts.iter().map(pair).collect(),
        None if tags.tagged_keys == 0 => Vec::new(),
        None => return None,
    };
    if tag_sizes.is_none_or(|sizes| sizes.sampled.is_none()) {
        return Some(std::iter::once(untagged).chain(counts).collect());
    }
    let bound = tags.bounds[Metric::Keys] as f64;
    let sizes = tags.heaviest.keys.iter().map(|tag| tag.load.keys as f64);
    let listed: Vec<_> = sizes
        .filter(|size| *size > bound)
        .map(|size| (size, 1.0))
        .collect();
    let sampled: Vec<_> = counts
        .into_iter()
        .filter(|(size, _)| *size <= bound.max(1.0))
        .collect();
    let sum = |sizes: &[(f64, f64)]| sizes.iter().map(|(size, count)| size * count).sum::<f64>();
    let scale = (tags.tagged_keys as f64 - sum(&listed)).max(0.0) / sum(&sampled).max(1.0);
    let scaled = sampled
        .into_iter()
        .map(|(size, count)| (size, count * scale));
    Some(
        std::iter::once(untagged)
            .chain(scaled)
            .chain(listed)
            .collect(),
    )
}

/// (load, units) pairs, of loads within 6% their mean; `None` where a unit is not counted by itself.
pub(crate) fn of_weights(
    tags: Option<&TagCounter>,
    weighed: Option<&Weighed>,
    metric: Metric,
) -> Option<Vec<(f64, f64)>> {
    let (weighed, counted) = (weighed?, tags?.weights(metric)?);
    let is_all = weighed.untagged_busy <= weighed.untagged.count();
    let pairs = weighed.untagged.means().chain(counted.means());
    let pairs = pairs.map(|(load, units)| (load, units as f64));
    is_all.then(|| pairs.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_model::quantiles::Quantiles;

    fn counted(counts: Vec<(u64, u64)>, sampled: Option<u64>) -> TagSizes {
        let keys = Quantiles {
            counts,
            ..Quantiles::default()
        };
        TagSizes { keys, sampled }
    }

    #[test]
    fn counted_tags_are_taken_as_they_are() {
        let tags = Tags {
            tagged_keys: 10,
            ..Tags::default()
        };
        let sizes = of_keys(&tags, Some(&counted(vec![(1, 2), (4, 2)], None)), 15);
        assert_eq!(sizes, Some(vec![(1.0, 5.0), (1.0, 2.0), (4.0, 2.0)]));
        assert_eq!(of_keys(&tags, None, 15), None);
        assert_eq!(of_keys(&Tags::default(), None, 15), Some(vec![(1.0, 15.0)]));
    }

    #[test]
    fn a_sample_is_scaled_up_to_all_tagged_keys() {
        let mut tags = Tags {
            tagged_keys: 100,
            ..Tags::default()
        };
        tags.bounds[Metric::Keys] = 50;
        let sizes = of_keys(&tags, Some(&counted(vec![(1, 2), (4, 2)], Some(4))), 130).unwrap();
        assert_eq!(sizes, [(1.0, 30.0), (1.0, 20.0), (4.0, 20.0)]);
    }
}
