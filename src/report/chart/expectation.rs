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
use crate::summary::verdict::CauseKind;

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
        let squares = units.squares?;
        if loads.total() <= 0.0 || squares <= 0.0 {
            return None;
        }
        let sizes = if loads.by == Metric::Keys { sizes(summary) } else { None };
        let atoms = match &sizes {
            Some(sizes) => added_up(sizes).unwrap_or_else(|| drawn(Units::of_sizes(sizes))),
            None => drawn(Units::of(units, squares, summary.tags.as_ref()?.distinct_error == 0.0)),
        };
        let mut sum = 0.0;
        let mut add = |part: &f64| {
            sum += part;
            f64::min(sum, 1.0)
        };
        let at_most = atoms.iter().map(|(_, part)| add(part)).collect();
        Some(PerfectHash { atoms, at_most })
    }

    /// Least and most of all slots but the first and the last hundredth.
    pub fn core(&self) -> (f64, f64) {
        (self.quantile(0.01), self.quantile(0.99))
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

/// How many units there are of each size in keys; `None` where their sizes were not counted. Where only some tags were
/// drawn, they stand for all that are not named for certain.
fn sizes(summary: &Summary) -> Option<Vec<(f64, f64)>> {
    let tags = summary.tags.as_ref()?;
    let alone = (1.0, summary.input.keys.saturating_sub(tags.tagged_keys) as f64);
    let counts = match &summary.tag_sizes {
        Some(sizes) => sizes.keys.counts.iter().map(|(size, count)| (*size as f64, *count as f64)).collect(),
        None if tags.tagged_keys == 0 => Vec::new(),
        None => return None,
    };
    if summary.tag_sizes.as_ref().is_none_or(|sizes| sizes.sampled.is_none()) {
        return Some(std::iter::once(alone).chain(counts).collect());
    }
    let cut = tags.bounds[Metric::Keys] as f64;
    let named = tags.heaviest.keys.iter().map(|tag| tag.load.keys as f64).filter(|size| *size > cut);
    let named: Vec<_> = named.map(|size| (size, 1.0)).collect();
    let sum = |sizes: &[(f64, f64)]| sizes.iter().map(|(size, count)| size * count).sum::<f64>();
    let drawn: Vec<_> = counts.into_iter().filter(|(size, _)| *size <= cut.max(1.0)).collect();
    let each = (tags.tagged_keys as f64 - sum(&named)).max(0.0) / sum(&drawn).max(1.0);
    let drawn = drawn.into_iter().map(|(size, count)| (size, count * each));
    Some(std::iter::once(alone).chain(drawn).chain(named).collect())
}

/// The compound Poisson sum by Panjer's recursion: with q(j) units of size j in the average slot,
/// P(0) = exp(-sum q), k P(k) = sum of j q(j) P(k - j). Larger units than there are terms stand apart, on top of the
/// average rest. `None` where that is more work than a picture is worth.
fn added_up(sizes: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    let slots = SLOTS as f64;
    let rest = Units::of_sizes(sizes);
    let (mean, sigma) = (rest.total / slots, (rest.squares / slots).sqrt());
    let terms = (mean + REACH * sigma) as usize + 8;
    let expected: Vec<_> = sizes.iter().map(|(size, count)| (*size as usize, count / slots)).collect();
    let units: f64 = expected.iter().map(|(_, count)| count).sum();
    if terms > TERMS || units > UNITS {
        return None;
    }
    let within: Vec<_> = expected.iter().copied().filter(|(size, _)| (1..terms).contains(size)).collect();
    let mut parts = vec![(-units).exp()];
    for k in 1..terms {
        let sum: f64 =
            within.iter().filter(|(size, _)| *size <= k).map(|(size, q)| *size as f64 * q * parts[k - size]).sum();
        parts.push(sum / k as f64);
    }
    let apart = expected.iter().filter(|(size, _)| *size >= terms).map(|(size, q)| (*size as f64 + mean, *q));
    let mut atoms: Vec<_> = parts.into_iter().enumerate().map(|(k, part)| (k as f64, part)).chain(apart).collect();
    atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
    Some(atoms)
}

/// Units of which only sums are known, and the heavy ones that stand apart, heaviest first.
struct Units {
    total: f64,
    squares: f64,
    count: f64,
    apart: Vec<f64>,
}

impl Units {
    /// Parts heavy units, given heaviest first, from the others.
    fn part(mut self, heaviest: impl Iterator<Item = f64>, least_squares: f64) -> Self {
        let slots = SLOTS as f64;
        for load in heaviest {
            let rest = (self.squares - load * load).max(least_squares);
            if load <= APART * (rest / slots).sqrt() {
                break;
            }
            (self.total, self.count) = ((self.total - load).max(0.0), (self.count - 1.0).max(0.0));
            self.squares = rest;
            self.apart.push(load);
        }
        self
    }

    fn of_sizes(sizes: &[(f64, f64)]) -> Self {
        let sum = |of: fn(f64) -> f64| sizes.iter().map(|(size, count)| of(*size) * count).sum::<f64>();
        let units = Units { total: sum(|x| x), squares: sum(|x| x * x), count: sum(|_| 1.0), apart: Vec::new() };
        let mut single: Vec<_> = sizes.iter().filter(|(size, count)| *size > 1.0 && *count <= 8.0).collect();
        single.sort_by(|a, b| b.0.total_cmp(&a.0));
        let each = single.into_iter().flat_map(|(size, count)| std::iter::repeat_n(*size, count.round() as usize));
        units.part(each, 0.0)
    }

    /// Where the squares are an estimate, the heavy units' may be more than all of them: the rest has at least those of
    /// its keys.
    fn of(units: &UnitsBy, squares: f64, exact: bool) -> Self {
        let keys = units.named.iter().filter(|unit| unit.kind == CauseKind::Key).map(|unit| unit.load * unit.load);
        let least = if exact { 0.0 } else { (units.key_squares - keys.sum::<f64>()).max(0.0) };
        let all = Units { total: units.total, squares, count: units.count, apart: Vec::new() };
        all.part(units.named.iter().map(|unit| unit.load), least)
    }
}

/// Heavy units each in a slot of their own, on top of a gamma distribution of the rest; a slot without a unit holds 0.
fn drawn(units: Units) -> Vec<(f64, f64)> {
    let slots = SLOTS as f64;
    let (mean, variance) = (units.total / slots, units.squares / slots);
    let empty = (-units.count / slots).exp();
    let common = 1.0 - (units.apart.len() as f64 / slots).min(1.0);
    let mut atoms = vec![(0.0, common * empty)];
    atoms.extend(gamma(mean, variance, empty).into_iter().map(|(load, part)| (load, part * common * (1.0 - empty))));
    atoms.extend(units.apart.iter().map(|load| (load + mean, 1.0 / slots)));
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
        let rain = added_up(&[(1.0, 9994.0)]).unwrap();
        assert!((rain[0].1 - (-lambda).exp()).abs() < 1e-12 && (rain[2].1 / rain[1].1 - lambda / 2.0).abs() < 1e-9);
    }

    #[test]
    fn tags_move_as_one() {
        // 3 keys at a time: no slot holds one or two.
        let three = added_up(&[(3.0, SLOTS as f64)]).unwrap();
        assert_eq!((three[1].1, three[2].1, three[4].1), (0.0, 0.0, 0.0));
        assert!((three[3].1 - (-1f64).exp()).abs() < 1e-12);
        let mixed = [(1.0, 50_000.0), (4.0, 9_000.0), (70.0, 30.0)];
        let sum = |of: fn(f64) -> f64| mixed.iter().map(|(size, count)| of(*size) * count).sum::<f64>() / SLOTS as f64;
        let (found, variance) = moments(&added_up(&mixed).unwrap());
        assert!((found / sum(|x| x) - 1.0).abs() < 0.01, "{found}");
        assert!((variance / sum(|x| x * x) - 1.0).abs() < 0.03, "{variance}");
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
        let atoms = drawn(Units::of(&units, 1e7 + 1e12, true));
        let last = atoms.last().unwrap();
        assert!((last.0 - (1e6 + 1e7 / SLOTS as f64)).abs() < 1.0 && (last.1 * SLOTS as f64 - 1.0).abs() < 1e-9);
        let (mean, _) = moments(&atoms[..atoms.len() - 1]);
        assert!((mean / (1e7 / SLOTS as f64) - 1.0).abs() < 1e-3, "{mean}");
    }
}
