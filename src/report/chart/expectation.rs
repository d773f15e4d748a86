//! How much the slots would hold under a perfect hash, for curves to hold the measured ones against.
//!
//! Each unit, a hash tag with all its keys or a key alone, falls into a slot at random: a slot's load is a compound
//! Poisson sum. Where the sizes of all units are known it is added up term by term (Panjer, ASTIN Bulletin 12, 1981);
//! else the named heavy units stand apart and the rest, whose mean and deviation are known, is drawn as a gamma
//! distribution, as is usual for sums of unequal claims (Bowers et al., Actuarial Mathematics, 1997, 12.5).

use super::loads::Loads;
use crate::metric::Metric;
use crate::slot::SLOTS;
use crate::summary::Summary;
use crate::summary::units::UnitsBy;

/// Up to so many units in the average slot the sum is added up: exp(-units), where it starts, is far from 0 then.
const UNITS: f64 = 600.0;
/// Up to so many keys in a slot it is added up.
const TERMS: usize = 20_000;
/// Points of a gamma distribution.
const POINTS: usize = 4000;
/// Standard deviations of a slot's load to the side of its mean that are looked at.
const REACH: f64 = 9.0;
/// A named unit of more than so many standard deviations of the rest stands apart.
const APART: f64 = 3.0;

/// The load of a slot under a perfect hash.
pub struct PerfectHash {
    /// Ascending loads, each with the part of the slots that holds it.
    atoms: Vec<(f64, f64)>,
    /// P(load <= that of the atom of the same place).
    at_most: Vec<f64>,
}

impl PerfectHash {
    /// Of the units of `summary`; `None` where they were not counted.
    pub fn of(summary: &Summary, loads: &Loads<'_>) -> Option<Self> {
        let units = summary.units.per.get(loads.by)?;
        let (mean, squares) = (loads.mean(), units.squares?);
        let sigma = (squares / SLOTS as f64 * (1.0 - 1.0 / SLOTS as f64)).sqrt();
        if mean <= 0.0 || sigma <= 0.0 {
            return None;
        }
        let sizes = if loads.by == Metric::Keys { sizes(summary) } else { None };
        let atoms = sizes.and_then(|sizes| added_up(&sizes, mean, sigma)).unwrap_or_else(|| drawn(units, squares));
        let mut sum = 0.0;
        let mut add = |part: &f64| {
            sum += part;
            f64::min(sum, 1.0)
        };
        let at_most = atoms.iter().map(|(_, part)| add(part)).collect();
        Some(PerfectHash { atoms, at_most })
    }

    /// Least and most of all slots but the first and the last thousandth.
    pub fn band(&self) -> (f64, f64) {
        (self.quantile(0.001), self.quantile(0.999))
    }

    fn quantile(&self, part: f64) -> f64 {
        let place = self.at_most.partition_point(|at_most| *at_most < part);
        self.atoms.get(place).or(self.atoms.last()).map_or(0.0, |(load, _)| *load)
    }

    /// The part of the slots that hold at most `load`.
    pub fn at_most(&self, load: f64) -> f64 {
        let place = self.atoms.partition_point(|(least, _)| *least <= load);
        if place == 0 { 0.0 } else { self.at_most[place - 1] }
    }

    /// The Lorenz curve: part of the slots, part of the load that those with the least hold.
    pub fn lorenz(&self) -> Vec<(f64, f64)> {
        let sums = |(slots, sum): (f64, f64), (load, part): &(f64, f64)| (slots + part, sum + load * part);
        let all = self.atoms.iter().fold((0.0, 0.0), sums);
        let mut below = (0.0, 0.0);
        let point = |atom| {
            below = sums(below, atom);
            ((below.0 / all.0).min(1.0), (below.1 / all.1).min(1.0))
        };
        std::iter::once((0.0, 0.0)).chain(self.atoms.iter().map(point)).chain([(1.0, 1.0)]).collect()
    }
}

/// How many units there are of each size in keys, ascending; `None` where only some were counted.
fn sizes(summary: &Summary) -> Option<Vec<(u64, u64)>> {
    let tagged = summary.tags.as_ref()?.tagged_keys;
    let tags = match &summary.tag_sizes {
        Some(sizes) if sizes.sampled.is_none() => sizes.keys.counts.as_slice(),
        None if tagged == 0 => &[],
        _ => return None,
    };
    let alone = (1, summary.input.keys.saturating_sub(tagged));
    Some(std::iter::once(alone).chain(tags.iter().copied()).collect())
}

/// The compound Poisson sum by Panjer's recursion: with q(j) units of size j in the average slot,
/// P(0) = exp(-sum q), k P(k) = sum of j q(j) P(k - j). Larger units than there are terms stand apart.
fn added_up(sizes: &[(u64, u64)], mean: f64, sigma: f64) -> Option<Vec<(f64, f64)>> {
    let terms = (mean + REACH * sigma) as usize + 8;
    let expected: Vec<_> = sizes.iter().map(|(size, count)| (*size as usize, *count as f64 / SLOTS as f64)).collect();
    let units: f64 = expected.iter().map(|(_, count)| count).sum();
    if terms > TERMS || units > UNITS {
        return None;
    }
    let mut parts = vec![(-units).exp()];
    for k in 1..terms {
        let within = expected.iter().filter(|(size, _)| (1..=k).contains(size));
        let sum: f64 = within.map(|(size, count)| *size as f64 * count * parts[k - size]).sum();
        parts.push(sum / k as f64);
    }
    let apart = expected.iter().filter(|(size, _)| *size >= terms).map(|(size, count)| (*size as f64, *count));
    Some(parts.into_iter().enumerate().map(|(k, part)| (k as f64, part)).chain(apart).collect())
}

/// Heavy units each in a slot of their own, on top of a gamma distribution of the rest; what a slot has no unit for
/// is 0.
fn drawn(units: &UnitsBy, squares: f64) -> Vec<(f64, f64)> {
    let slots = SLOTS as f64;
    let (mut total, mut squares, mut apart) = (units.total, squares, Vec::new());
    for unit in &units.named {
        let rest = (squares - unit.load * unit.load).max(0.0);
        if unit.load <= APART * (rest / slots).sqrt() {
            break;
        }
        (total, squares) = ((total - unit.load).max(0.0), rest);
        apart.push(unit.load);
    }
    let (mean, variance) = (total / slots, squares / slots);
    let empty = (-(units.count - apart.len() as f64).max(0.0) / slots).exp();
    let common = 1.0 - (apart.len() as f64 / slots).min(1.0);
    let mut atoms = vec![(0.0, common * empty)];
    atoms.extend(gamma(mean, variance, empty).into_iter().map(|(load, part)| (load, part * common * (1.0 - empty))));
    atoms.extend(apart.iter().rev().map(|load| (load + mean, 1.0 / slots)));
    atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
    atoms
}

/// Points of the gamma distribution that, with `empty` of the slots at 0, has this mean and variance.
fn gamma(mean: f64, variance: f64, empty: f64) -> Vec<(f64, f64)> {
    if mean <= 0.0 || empty >= 1.0 {
        return Vec::new();
    }
    let filled_mean = mean / (1.0 - empty);
    let filled_variance = ((variance + mean * mean) / (1.0 - empty) - filled_mean * filled_mean).max(0.0);
    if filled_variance <= 1e-12 * filled_mean * filled_mean {
        return vec![(filled_mean, 1.0)];
    }
    let (shape, scale) = (filled_mean * filled_mean / filled_variance, filled_variance / filled_mean);
    let reach = REACH * filled_variance.sqrt();
    let (from, to) = ((filled_mean - reach).max(0.0), filled_mean + reach);
    let load = |i: usize| from + (to - from) * (i as f64 + 0.5) / POINTS as f64;
    // Against the value at the mean: the density itself would leave the numbers that there are.
    let log_density = |x: f64| (shape - 1.0) * (x / filled_mean).ln() - (x - filled_mean) / scale;
    let parts: Vec<f64> = (0..POINTS).map(|i| log_density(load(i)).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.iter().enumerate().map(|(i, part)| (load(i), part / sum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moments(atoms: &[(f64, f64)]) -> (f64, f64) {
        let mean: f64 = atoms.iter().map(|(load, part)| load * part).sum();
        (mean, atoms.iter().map(|(load, part)| (load - mean).powi(2) * part).sum())
    }

    #[test]
    fn keys_alone_fall_like_rain() {
        let lambda = 9994.0 / SLOTS as f64;
        let rain = added_up(&[(1, 9994)], lambda, lambda.sqrt()).unwrap();
        assert!((rain[0].1 - (-lambda).exp()).abs() < 1e-12 && (rain[2].1 / rain[1].1 - lambda / 2.0).abs() < 1e-9);
    }

    #[test]
    fn tags_move_as_one() {
        // 3 keys at a time: no slot holds one or two.
        let three = added_up(&[(3, SLOTS as u64)], 3.0, 3.0).unwrap();
        assert_eq!((three[1].1, three[2].1, three[4].1), (0.0, 0.0, 0.0));
        assert!((three[3].1 - (-1f64).exp()).abs() < 1e-12);
        let mixed = [(1, 50_000), (4, 9_000), (70, 30)];
        let (mean, squares) = mixed.iter().fold((0.0, 0.0), |(mean, squares), (size, count)| {
            (mean + (size * count) as f64 / SLOTS as f64, squares + (size * size * count) as f64 / SLOTS as f64)
        });
        let (found, variance) = moments(&added_up(&mixed, mean, squares.sqrt()).unwrap());
        assert!((found / mean - 1.0).abs() < 1e-3 && (variance / squares - 1.0).abs() < 0.01, "{found} {variance}");
    }

    #[test]
    fn a_gamma_distribution_has_the_mean_and_the_variance_that_were_asked_for() {
        for (mean, variance, empty) in [(610.0, 610.0, 0.0), (3e9, 4e16, 0.0), (40.0, 900.0, 0.05), (7.0, 7e-9, 0.0)] {
            let mut atoms = gamma(mean, variance, empty);
            atoms.iter_mut().for_each(|(_, part)| *part *= 1.0 - empty);
            atoms.push((0.0, empty));
            let (found, spread) = moments(&atoms);
            assert!((found / mean - 1.0).abs() < 1e-3, "{mean}: {found}");
            assert!((spread / variance - 1.0).abs() < 0.01, "{variance}: {spread}");
        }
    }

    #[test]
    fn a_heavy_unit_stands_apart() {
        let heavy = crate::summary::units::Unit {
            kind: crate::summary::verdict::CauseKind::Tag,
            name: crate::name::Name::from("x"),
            slot: 1,
            node: None,
            load: 1e6,
            at_most: 1e6,
        };
        let units = UnitsBy { total: 1e7 + 1e6, count: 1e7, named: vec![heavy], ..UnitsBy::default() };
        let atoms = drawn(&units, 1e7 + 1e12);
        let last = atoms.last().unwrap();
        assert!((last.0 - (1e6 + 1e7 / SLOTS as f64)).abs() < 1.0 && (last.1 * SLOTS as f64 - 1.0).abs() < 1e-9);
        let (mean, _) = moments(&atoms[..atoms.len() - 1]);
        assert!((mean / (1e7 / SLOTS as f64) - 1.0).abs() < 1e-3, "{mean}");
    }
}
