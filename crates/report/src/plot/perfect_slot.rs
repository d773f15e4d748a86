//! The distribution of a slot's load under a perfect hash: a compound Poisson sum of unit sizes.
//!
//! If the sizes of all units are known, the sum is computed term by term (Panjer, "Recursive evaluation of a family of
//! compound distributions", ASTIN Bulletin 12, 1981). Otherwise heavy named units are placed one by one, and the rest,
//! of known mean and variance, is approximated by a gamma distribution (Bowers et al., Actuarial Mathematics, 1997,
//! section 12.5).

use slotscope_engine::metric::Metric;
use slotscope_engine::slot::SLOTS;

use slotscope_model::independent_units::{UnitKind, Units, UnitsBy};

/// Maximum mean number of units per slot for the recursion, which starts from exp(-units) and must not underflow.
const MAX_UNITS: f64 = 600.0;
/// Maximum load for the recursion, whose time is quadratic in it.
const MAX_TERMS: usize = 20_000;
/// This many of the largest units may share a slot.
const TOGETHER: usize = 4;
/// Points representing a gamma distribution.
const GAMMA_POINTS: usize = 4000;
/// Loads further than this many standard deviations from the mean are dropped.
const REACH: f64 = 9.0;
/// A unit above this many standard deviations of the rest is placed individually.
const HEAVY: f64 = 3.0;

/// The distribution of the load of one slot.
pub(crate) struct CompoundPoisson {
    /// (load, probability), ascending by load.
    atoms: Vec<(f64, f64)>,
    /// P(load <= that of the atom at this index).
    cumulative: Vec<f64>,
}

impl CompoundPoisson {
    /// The distribution that `units` give in `metric`; `None` if they were not counted or have no weight.
    pub(crate) fn of(units: &Units, metric: Metric) -> Option<Self> {
        let of_metric = units.per.get(metric)?;
        let squares = of_metric.squares.filter(|squares| *squares > 0.0)?;
        if of_metric.total <= 0.0 {
            return None;
        }
        let sizes = units.key_sizes.as_ref().filter(|_| metric == Metric::Keys);
        Some(CompoundPoisson::from(match sizes {
            Some(sizes) => panjer(sizes).unwrap_or_else(|| gamma_mixture(Moments::of_sizes(sizes))),
            None => gamma_mixture(Moments::of(of_metric, squares, units.are_exact)),
        }))
    }

    /// The range of slot loads without the lowest and highest 1%.
    pub(crate) fn middle_98_percent(&self) -> (f64, f64) {
        (self.quantile(0.01), self.quantile(0.99))
    }

    /// The range of slot loads without the lowest and highest 0.1%.
    pub(crate) fn middle_998_permille(&self) -> (f64, f64) {
        (self.quantile(0.001), self.quantile(0.999))
    }

    fn quantile(&self, level: f64) -> f64 {
        let place = self.cumulative.partition_point(|sum| *sum < level);
        let atom = self.atoms.get(place).or(self.atoms.last());
        atom.map_or(0.0, |(load, _)| *load)
    }

    /// The expected number of slots holding `from` up to `to`, exclusive.
    pub(crate) fn slots_between(&self, from: u64, to: u64) -> f64 {
        (self.at_most(to as f64 - 1.0) - self.at_most(from as f64 - 1.0)) * SLOTS as f64
    }

    /// P(a slot's load <= `load`).
    fn at_most(&self, load: f64) -> f64 {
        let place = self.atoms.partition_point(|(least, _)| *least <= load);
        place
            .checked_sub(1)
            .map_or(0.0, |last| self.cumulative[last])
    }
}

impl From<Vec<(f64, f64)>> for CompoundPoisson {
    fn from(mut atoms: Vec<(f64, f64)>) -> Self {
        atoms.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut sum = 0.0;
        let mut add = |(_, probability): &(f64, f64)| {
            sum += probability;
            f64::min(sum, 1.0)
        };
        let cumulative = atoms.iter().map(&mut add).collect();
        CompoundPoisson { atoms, cumulative }
    }
}

/// The atoms by Panjer's recursion: with q(j) units of size j in the average slot, P(0) = exp(-sum q) and k P(k) = sum
/// of j q(j) P(k - j). Units above the largest term are placed individually, on top of the mean of the rest. `None` if
/// the recursion would take too long for a chart.
fn panjer(sizes: &[(f64, f64)]) -> Option<Vec<(f64, f64)>> {
    let slots = SLOTS as f64;
    let rest = Moments::of_sizes(sizes);
    let (mean, sigma) = (rest.total / slots, (rest.squares / slots).sqrt());
    let reach = (mean + REACH * sigma) as usize + 8;
    // A slot may hold several of the largest units, even if these exceed the spread of all others.
    let whole = sizes.iter().map(|(size, _)| *size as usize);
    let largest = whole.filter(|size| *size < reach).max().unwrap_or(0);
    let terms = reach.max((TOGETHER * largest + 1).min(MAX_TERMS));
    let q: Vec<_> = sizes
        .iter()
        .map(|(size, count)| (*size as usize, count / slots))
        .collect();
    let units: f64 = q.iter().map(|(_, count)| count).sum();
    if terms > MAX_TERMS || units > MAX_UNITS {
        return None;
    }
    let (heavy, light): (Vec<_>, Vec<_>) = q
        .into_iter()
        .filter(|(size, _)| *size > 0)
        .partition(|(size, _)| *size >= reach);
    let mut p = vec![(-units).exp()];
    for k in 1..terms {
        let sum: f64 = light
            .iter()
            .filter(|(size, _)| *size <= k)
            .map(|(size, q)| *size as f64 * q * p[k - size])
            .sum();
        p.push(sum / k as f64);
    }
    let light = p.into_iter().enumerate().map(|(k, p)| (k as f64, p));
    let heavy = heavy.into_iter().map(|(size, q)| (size as f64 + mean, q));
    Some(light.chain(heavy).collect())
}

/// Sums over units, and the heavy ones excluded from the sums.
struct Moments {
    total: f64,
    squares: f64,
    count: f64,
    heavy: Vec<f64>,
}

impl Moments {
    /// Removes heavy units, given heaviest first, from the sums.
    fn without_heavy(mut self, heaviest: impl Iterator<Item = f64>, least_squares: f64) -> Self {
        for load in heaviest {
            let rest = (self.squares - load * load).max(least_squares);
            if load <= HEAVY * (rest / SLOTS as f64).sqrt() {
                break;
            }
            self.total = (self.total - load).max(0.0);
            self.count = (self.count - 1.0).max(0.0);
            self.squares = rest;
            self.heavy.push(load);
        }
        self
    }

    fn of_sizes(sizes: &[(f64, f64)]) -> Self {
        let sum = |pow: fn(f64) -> f64| sizes.iter().map(|(size, n)| pow(*size) * n).sum::<f64>();
        let moments = Moments {
            total: sum(|x| x),
            squares: sum(|x| x * x),
            count: sum(|_| 1.0),
            heavy: Vec::new(),
        };
        // A common size is not an outlier.
        let mut rare: Vec<_> = sizes
            .iter()
            .filter(|(size, count)| *size > 1.0 && *count <= 8.0)
            .collect();
        rare.sort_by(|a, b| b.0.total_cmp(&a.0));
        let each = rare
            .into_iter()
            .flat_map(|(size, count)| std::iter::repeat_n(*size, count.round() as usize));
        moments.without_heavy(each, 0.0)
    }

    /// The estimate `squares` may be below the squares of the heavy units alone; the rest has at least the squares of
    /// its keys.
    fn of(units: &UnitsBy, squares: f64, are_exact: bool) -> Self {
        let keys = units.named.iter().filter(|unit| unit.kind != UnitKind::Tag);
        let named_squares: f64 = keys.map(|unit| unit.load * unit.load).sum();
        let least = if are_exact {
            0.0
        } else {
            (units.key_squares - named_squares).max(0.0)
        };
        let moments = Moments {
            total: units.total,
            squares,
            count: units.count,
            heavy: Vec::new(),
        };
        moments.without_heavy(units.named.iter().map(|unit| unit.load), least)
    }
}

/// Atoms of a gamma distribution for the light units, with empty slots at 0, and of the heavy units, each in its own
/// slot on top of the mean of the light ones.
fn gamma_mixture(units: Moments) -> Vec<(f64, f64)> {
    let slots = SLOTS as f64;
    let (mean, variance) = (units.total / slots, units.squares / slots);
    let empty = (-units.count / slots).exp();
    let light = 1.0 - (units.heavy.len() as f64 / slots).min(1.0);
    let filled = gamma(mean, variance, empty)
        .into_iter()
        .map(|(load, p)| (load, p * light * (1.0 - empty)));
    let heavy = units.heavy.iter().map(|load| (load + mean, 1.0 / slots));
    std::iter::once((0.0, light * empty))
        .chain(filled)
        .chain(heavy)
        .collect()
}

/// Points of the gamma distribution that has this mean and variance when a share `empty` of the slots is at 0.
fn gamma(mean: f64, variance: f64, empty: f64) -> Vec<(f64, f64)> {
    if mean <= 0.0 || empty >= 1.0 {
        return Vec::new();
    }
    let filled_mean = mean / (1.0 - empty);
    let filled_variance =
        ((variance + mean * mean) / (1.0 - empty) - filled_mean * filled_mean).max(0.0);
    if filled_variance <= 1e-12 * filled_mean * filled_mean {
        return vec![(filled_mean, 1.0)];
    }
    let shape = filled_mean * filled_mean / filled_variance;
    let scale = filled_variance / filled_mean;
    let reach = REACH * filled_variance.sqrt();
    let (from, to) = ((filled_mean - reach).max(0.0), filled_mean + reach);
    let load = |i: usize| from + (to - from) * (i as f64 + 0.5) / GAMMA_POINTS as f64;
    // Relative to the density at the mean: the density itself overflows for a large shape.
    let log_density = |x: f64| (shape - 1.0) * (x / filled_mean).ln() - (x - filled_mean) / scale;
    let densities: Vec<f64> = (0..GAMMA_POINTS)
        .map(|i| log_density(load(i)).exp())
        .collect();
    let sum: f64 = densities.iter().sum();
    let points = densities.iter().enumerate();
    points
        .map(|(i, density)| (load(i), density / sum))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_model::independent_units::slot_cv;

    fn moments(atoms: &[(f64, f64)]) -> (f64, f64) {
        let mean: f64 = atoms.iter().map(|(load, part)| load * part).sum();
        (
            mean,
            atoms
                .iter()
                .map(|(load, part)| (load - mean).powi(2) * part)
                .sum(),
        )
    }

    #[test]
    fn equal_units_have_the_moments_of_their_number() {
        for keys in [1e5, 1e6, 5e6] {
            let (mean, variance) = moments(&panjer(&[(1.0, keys)]).unwrap());
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < 1e-4 * expected,
                    "{keys}: {found} for {expected}"
                )
            };
            close(mean, keys / SLOTS as f64);
            close(variance.sqrt() / mean, slot_cv(keys));
        }
    }

    #[test]
    fn the_keys_of_a_tag_share_a_slot() {
        // 3 keys at a time: no slot holds just one or two.
        let three = panjer(&[(3.0, SLOTS as f64)]).unwrap();
        assert_eq!((three[1].1, three[2].1, three[4].1), (0.0, 0.0, 0.0));
        assert!((three[3].1 - (-1f64).exp()).abs() < 1e-12);
        let mixed = [(1.0, 50_000.0), (4.0, 9_000.0), (70.0, 30.0)];
        let sum = |of: fn(f64) -> f64| {
            mixed
                .iter()
                .map(|(size, count)| of(*size) * count)
                .sum::<f64>()
                / SLOTS as f64
        };
        let (found, variance) = moments(&panjer(&mixed).unwrap());
        assert!((found / sum(|x| x) - 1.0).abs() < 0.01, "{found}");
        assert!((variance / sum(|x| x * x) - 1.0).abs() < 0.03, "{variance}");
    }

    #[test]
    fn coarse_tags_that_share_a_slot_are_expected() {
        // Two or three of 400 tags, or of 1,000, share a slot.
        for (tags, keys, median, p99) in [(400.0, 75.0, 81.9, 122.9), (1000.0, 30.0, 32.8, 49.2)] {
            let found = CompoundPoisson::from(panjer(&[(keys, tags)]).unwrap());
            let mean = tags * keys / SLOTS as f64;
            for (level, truth) in [(0.5f64, median), (0.99, p99)] {
                let largest = found.quantile(level.powf(1.0 / SLOTS as f64)) / mean;
                assert!((largest / truth - 1.0).abs() < 0.01, "{largest}");
            }
        }
    }

    #[test]
    fn a_gamma_distribution_has_the_mean_and_the_variance_that_were_asked_for() {
        for (mean, variance, empty) in [
            (610.0, 610.0, 0.0),
            (3e9, 4e16, 0.0),
            (40.0, 900.0, 0.05),
            (7.0, 7e-9, 0.0),
        ] {
            let mut atoms = gamma(mean, variance, empty);
            atoms.iter_mut().for_each(|(_, part)| *part *= 1.0 - empty);
            atoms.push((0.0, empty));
            let (found, spread) = moments(&atoms);
            assert!((found / mean - 1.0).abs() < 1e-3, "{mean}: {found}");
            assert!(
                (spread / variance - 1.0).abs() < 0.01,
                "{variance}: {spread}"
            );
        }
    }

    #[test]
    fn a_heavy_unit_is_an_atom_of_its_own() {
        let heavy = slotscope_model::independent_units::Unit {
            kind: slotscope_model::independent_units::UnitKind::Tag,
            name: slotscope_engine::name::Name::from("x"),
            slot: 1,
            node: None,
            load: 1e6,
            at_most: 1e6,
            main_key: None,
            reads: None,
        };
        let units = UnitsBy {
            total: 1e7 + 1e6,
            count: 1e7,
            named: vec![heavy],
            ..UnitsBy::default()
        };
        let atoms = gamma_mixture(Moments::of(&units, 1e7 + 1e12, true));
        let last = atoms.last().unwrap();
        assert!((last.0 - (1e6 + 1e7 / SLOTS as f64)).abs() < 1.0);
        assert!((last.1 * SLOTS as f64 - 1.0).abs() < 1e-9);
        let (mean, _) = moments(&atoms[..atoms.len() - 1]);
        assert!((mean / (1e7 / SLOTS as f64) - 1.0).abs() < 1e-3, "{mean}");
    }
}
