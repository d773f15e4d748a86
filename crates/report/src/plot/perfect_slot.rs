//! The distribution of a slot's load under a perfect hash: a compound Poisson sum of unit sizes.
//!
//! The sum is computed on a lattice, term by term (Panjer, "Recursive evaluation of a family of compound distributions",
//! ASTIN Bulletin 12, 1981). Units too small for the lattice are many in each slot: their sum is a gamma distribution (Bowers et
//! al., Actuarial Mathematics, 1997, section 12.5). A few that are far heavier than all others are placed one by one.

use slotscope_base::metric::Metric;
use slotscope_base::slot::SLOTS;

use slotscope_model::independent_units::Units;

/// Loads up to this many are computed one by one; of more, this many fewer terms.
const EXACT_TERMS: f64 = 20_000.0;
const TERMS: f64 = 2048.0;
/// A unit of fewer steps of the lattice is rounded too much: its variance would grow by more than 2%.
const LEAST_STEPS: f64 = 4.0;
/// This many of the largest units may share a slot.
const TOGETHER: f64 = 4.0;
/// Loads further than this many standard deviations from the mean are dropped.
const REACH: f64 = 9.0;
/// A unit above this many standard deviations of the rest, of a size that few have, is placed by itself.
const HEAVY: f64 = 3.0;
const FEW: f64 = 8.0;
/// Terms are scaled down where they exceed this.
const LARGE: f64 = 1e200;

/// Loads of units, and how many units have each.
type Sizes = [(f64, f64)];

/// The distribution of the load of one slot.
pub(crate) struct CompoundPoisson {
    /// (load, probability), ascending by load.
    atoms: Vec<(f64, f64)>,
    /// P(load <= that of the atom at this index).
    cumulative: Vec<f64>,
}

impl CompoundPoisson {
    /// The distribution that `units` give in `metric`; `None` if not all were counted, or they have no weight.
    pub(crate) fn of(units: &Units, metric: Metric) -> Option<Self> {
        CompoundPoisson::of_sizes(units.per.get(metric)?.sizes.as_deref()?)
    }

    fn of_sizes(sizes: &Sizes) -> Option<Self> {
        let mut light = sizes.to_vec();
        light.retain(|(size, units)| size * units > 0.0);
        if light.is_empty() {
            return None;
        }
        let mut heavy = without_heavy(&mut light);
        let all = Moments::of(&light);
        let reach = all.mean + REACH * all.variance.sqrt() + 8.0;
        // So rare that two never meet.
        heavy.extend(light.extract_if(.., |(size, _)| *size >= reach));
        let largest = light
            .iter()
            .fold(0.0, |most: f64, (size, _)| most.max(*size));
        let reach = reach.max(TOGETHER * largest + 1.0);
        let step = if reach <= EXACT_TERMS {
            1.0
        } else {
            reach / TERMS
        };
        let terms = (reach / step) as usize;
        let is_fine = |(size, _): &mut (f64, f64)| step > 1.0 && *size < LEAST_STEPS * step;
        let fine: Vec<_> = light.extract_if(.., is_fine).collect();
        let coarse = panjer(&light, step, terms);
        let light = match Moments::of(&fine) {
            fine if fine.mean > 0.0 => convolved(&coarse, &gamma(&fine, step, terms)),
            _ => coarse,
        };
        let light = light
            .into_iter()
            .enumerate()
            .map(|(k, p)| (k as f64 * step, p));
        let heavy = heavy
            .into_iter()
            .map(|(size, units)| (size + all.mean, units / SLOTS as f64));
        Some(light.chain(heavy).collect::<Vec<_>>().into())
    }

    /// The range of slot loads without the lowest and highest 1%.
    pub(crate) fn middle_98_percent(&self) -> (f64, f64) {
        (self.quantile(0.01), self.quantile(0.99))
    }

    /// The range of slot loads without the lowest and highest 0.1%.
    #[cfg(feature = "charts")]
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

/// Takes out the units that are far heavier than the rest.
fn without_heavy(sizes: &mut Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut squares: f64 = sizes.iter().map(|(size, units)| size * size * units).sum();
    let mut heavy = Vec::new();
    while let Some((size, units)) = sizes.pop_if(|(size, units)| {
        let rest = (squares - *size * *size * *units).max(0.0);
        *units <= FEW && *size > 1.0 && *size > HEAVY * (rest / SLOTS as f64).sqrt()
    }) {
        squares -= size * size * units;
        heavy.push((size, units));
    }
    heavy
}

/// The moments of the load of a slot.
struct Moments {
    mean: f64,
    variance: f64,
    /// The probability of a slot without a unit.
    empty: f64,
}

impl Moments {
    fn of(sizes: &Sizes) -> Self {
        let sum = |pow: fn(f64) -> f64| sizes.iter().map(|(size, n)| pow(*size) * n).sum::<f64>();
        Moments {
            mean: sum(|x| x) / SLOTS as f64,
            variance: sum(|x| x * x) / SLOTS as f64,
            empty: (-sum(|_| 1.0) / SLOTS as f64).exp(),
        }
    }
}

/// The probabilities of 0, 1, 2 ... steps by Panjer's recursion: with q(j) units of j steps in the average slot, P(0) = exp(-sum
/// q) and k P(k) = sum of j q(j) P(k - j). It is linear in P(0), which may be too small for a number: the sum is made 1.
fn panjer(sizes: &Sizes, step: f64, terms: usize) -> Vec<f64> {
    let mut q = vec![0.0; terms + 1];
    for (size, units) in sizes {
        // Between two points, so that the mean stays.
        let (below, part) = ((size / step) as usize, (size / step).fract());
        let units = units / SLOTS as f64;
        for (place, part) in [(below, 1.0 - part), (below + 1, part)] {
            q.get_mut(place)
                .into_iter()
                .for_each(|sum| *sum += units * part);
        }
    }
    let places = q
        .iter()
        .enumerate()
        .skip(1)
        .filter(|(_, units)| **units > 0.0);
    let weighed: Vec<_> = places
        .map(|(place, units)| (place, place as f64 * units))
        .collect();
    let mut p = vec![1.0];
    for k in 1..terms {
        let there = weighed.iter().take_while(|(place, _)| *place <= k);
        let next = there
            .map(|(place, weight)| weight * p[k - place])
            .sum::<f64>()
            / k as f64;
        p.push(next);
        if next > LARGE {
            p.iter_mut().for_each(|p| *p /= LARGE);
        }
    }
    normalized(p)
}

/// The gamma distribution with these moments on the lattice, with empty slots at 0.
fn gamma(of: &Moments, step: f64, terms: usize) -> Vec<f64> {
    let full = 1.0 - of.empty;
    let mean = of.mean / full;
    let variance = ((of.variance + of.mean * of.mean) / full - mean * mean).max(step * step / 12.0);
    let (shape, scale) = (mean * mean / variance, variance / mean);
    // Relative to the density at the mean: the density itself overflows for a large shape.
    let density = |x: f64| ((shape - 1.0) * (x / mean).ln() - (x - mean) / scale).exp();
    let points = (0..terms).map(|k| density((k as f64).max(0.5) * step));
    let mut p = normalized(points.collect());
    p.iter_mut().for_each(|p| *p *= full);
    p[0] += of.empty;
    p
}

fn normalized(mut p: Vec<f64>) -> Vec<f64> {
    let sum: f64 = p.iter().sum();
    p.iter_mut().for_each(|p| *p /= sum);
    p
}

/// The distribution of the sum, up to the terms of the first.
fn convolved(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut sum = vec![0.0; a.len()];
    for (i, a) in a.iter().enumerate().filter(|(_, a)| **a > 1e-15) {
        sum[i..]
            .iter_mut()
            .zip(b)
            .for_each(|(sum, b)| *sum += a * b);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_model::independent_units::slot_cv;

    fn moments(of: &CompoundPoisson) -> (f64, f64) {
        let mean: f64 = of.atoms.iter().map(|(load, part)| load * part).sum();
        let squares = of
            .atoms
            .iter()
            .map(|(load, part)| (load - mean).powi(2) * part);
        (mean, squares.sum())
    }

    #[test]
    fn equal_units_have_the_moments_of_their_number() {
        for keys in [1e5, 1e6, 5e6, 1e9] {
            let found = CompoundPoisson::of_sizes(&[(1.0, keys)]).unwrap();
            let (mean, variance) = moments(&found);
            let close = |found: f64, expected: f64, by: f64| {
                let is_close = (found - expected).abs() < by * expected;
                assert!(is_close, "{keys}: {found} for {expected}")
            };
            close(mean, keys / SLOTS as f64, 1e-3);
            close(variance.sqrt() / mean, slot_cv(keys), 0.02);
        }
    }

    #[test]
    fn the_keys_of_a_tag_share_a_slot() {
        // 3 keys at a time: no slot holds just one or two.
        let three = panjer(&[(3.0, SLOTS as f64)], 1.0, 100);
        assert_eq!((three[1], three[2], three[4]), (0.0, 0.0, 0.0));
        assert!((three[3] - (-1f64).exp()).abs() < 1e-12);
    }

    #[test]
    fn coarse_tags_that_share_a_slot_are_expected() {
        // Two or three of 400 tags, or of 1,000, share a slot.
        for (tags, keys, median, p99) in [(400.0, 75.0, 81.9, 122.9), (1000.0, 30.0, 32.8, 49.2)] {
            let found = CompoundPoisson::of_sizes(&[(keys, tags)]).unwrap();
            let mean = tags * keys / SLOTS as f64;
            for (level, truth) in [(0.5f64, median), (0.99, p99)] {
                let largest = found.quantile(level.powf(1.0 / SLOTS as f64)) / mean;
                assert!((largest / truth - 1.0).abs() < 0.01, "{largest}");
            }
        }
    }

    /// The size of a unit by its place among all.
    type SizeAt = fn(f64) -> f64;

    /// Units of many kinds.
    const DUMPS: [(usize, SizeAt); 12] = [
        (400_000, |_| 1.0),
        (20_000, |_| 7.0),
        (400_000, |part| 200.0 + 700.0 * part),
        (400_000, |part| {
            if part < 0.0075 {
                10_000.0
            } else {
                200.0 + 700.0 * part
            }
        }),
        (300_000, |part| 64.0 * part.max(1e-5).powf(-0.6)),
        (60_000, |part| (3.0 + 9.0 * part).exp()),
        (2_000_000, |_| 56.0),
        (2_000_000, |part| if part < 2e-4 { 1e6 } else { 56.0 }),
        (500_000, |part| {
            if part < 2e-6 {
                5e8
            } else {
                100.0 + 50.0 * part
            }
        }),
        (3_000, |part| 1e4 / part.max(1e-3)),
        (3_000, |part| if part < 3e-4 { 9e8 } else { 100.0 }),
        (3_000, |part| if part < 0.5 { 474.0 } else { 539.0 }),
    ];

    #[test]
    fn the_distribution_is_that_of_random_slots() {
        const RUNS: u64 = 8;
        const BARS: usize = 40;
        for (dump, (units, size)) in DUMPS.into_iter().enumerate() {
            let sizes = (0..units).map(|i| size((i as f64 + 0.5) / units as f64).round());
            let mut counted = slotscope_count::tally::sketch::histogram::Histogram::<
                { slotscope_count::tally::sketch::histogram::COARSE },
            >::default();
            counted.add(sizes.clone().map(|size| size as u64));
            let pairs: Vec<_> = counted.means().map(|(size, n)| (size, n as f64)).collect();
            let found = CompoundPoisson::of_sizes(&pairs).unwrap();

            let mut state = dump as u64 + 1;
            let mut slots = vec![0.0; SLOTS * RUNS as usize];
            for run in 0..RUNS as usize {
                for size in sizes.clone() {
                    state = state
                        .wrapping_mul(6364136223846793005)
                        .wrapping_add(1442695040888963407);
                    slots[run * SLOTS + (state >> 50) as usize] += size;
                }
            }
            slots.sort_by(f64::total_cmp);
            // Bars up to what 99% of the slots have, and one for the rest.
            let last = slots[slots.len() * 99 / 100];
            let edge = |bar: usize| (last * bar as f64 / BARS as f64).round() + 0.5;
            let below = |bar: usize| match bar {
                0 => [0.0; 2],
                BARS => [1.0; 2],
                bar => [
                    slots.partition_point(|load| *load < edge(bar)) as f64 / slots.len() as f64,
                    found.at_most(edge(bar)),
                ],
            };
            let apart = |bar: usize| {
                let ([from, expected_from], [to, expected]) = (below(bar), below(bar + 1));
                ((to - from) - (expected - expected_from)).abs()
            };
            let variation = (0..BARS).map(apart).sum::<f64>() / 2.0;
            println!("dump {dump}: total variation {variation:.4}");
            assert!(variation <= 0.03, "dump {dump}: {variation:.4}");
        }
    }

    #[test]
    fn a_heavy_unit_is_placed_by_itself() {
        let found = CompoundPoisson::of_sizes(&[(1.0, 1e7), (1e6, 1.0)]).unwrap();
        let (load, probability) = *found.atoms.last().unwrap();
        assert!((load - (1e6 + 1e7 / SLOTS as f64)).abs() < 1.0, "{load}");
        assert!((probability * SLOTS as f64 - 1.0).abs() < 1e-9);
    }
}
