//! The load that hashing gives a node by chance: every unit lands on it with equal probability and brings its whole
//! weight.
//!
//! The tail of that sum uses the saddlepoint formula of Lugannani and Rice, "Saddle point approximation for the
//! distribution of the sum of independent random variables", Advances in Applied Probability 12, 1980; for equal units,
//! its lattice form. Unlike a normal approximation, it holds for few units and far from the mean.

/// Randomly placed units: some with known weights, the rest modelled as equal ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct RandomUnits {
    /// Distinct weights with the number of units of each.
    units: Vec<(f64, f64)>,
    /// The lattice spacing of possible loads; 0 without a lattice.
    lattice: f64,
}

/// The cumulant generating function at one point: K, K' and K''.
struct At {
    log: f64,
    load: f64,
    variance: f64,
}

/// Tails are followed up to this exponent of one unit: e^-60 is below every level used.
const STEEPEST: f64 = 60.0;
/// From a range of a factor of 16 to the precision of a number.
const BISECTIONS: usize = 56;

impl RandomUnits {
    /// Units of known `weights`, plus others of `total` load with this sum of `squares`.
    pub(crate) fn new(weights: Vec<f64>, total: f64, squares: f64) -> Self {
        let weight = if total > 0.0 { squares / total } else { 0.0 };
        let equal = (weight > 0.0).then(|| (weight, total / weight));
        let known = weights.into_iter().map(|weight| (weight, 1.0));
        let mut units: Vec<(f64, f64)> = known.chain(equal).collect();
        units.sort_by(|a, b| b.0.total_cmp(&a.0));
        units.dedup_by(|unit, before| {
            let is_same = unit.0 == before.0;
            before.1 += if is_same { unit.1 } else { 0.0 };
            is_same
        });
        let least = units.last().map_or(0.0, |(weight, _)| *weight);
        let multiple = |weight: f64| weight / least;
        let is_multiple =
            |(weight, _): &(f64, f64)| (multiple(*weight) - multiple(*weight).round()).abs() < 1e-6;
        let on_lattice = least > 0.0 && units.iter().all(is_multiple);
        RandomUnits {
            units,
            lattice: if on_lattice { least } else { 0.0 },
        }
    }

    /// The equivalent number of units.
    pub(crate) fn count(&self) -> f64 {
        self.units.iter().map(|(_, count)| count).sum()
    }

    /// The total load.
    pub(crate) fn total(&self) -> f64 {
        let load = |(weight, count): &(f64, f64)| weight * count;
        self.units.iter().map(load).sum()
    }

    /// The probability that a node which gets each unit with probability `p` holds `load` or more; 1 up to the mean.
    pub(crate) fn tail(&self, p: f64, load: f64) -> f64 {
        let total = self.total();
        if load <= p * total || p >= 1.0 {
            return 1.0;
        }
        if load >= total * (1.0 - 1e-9) {
            let whole = (self.count() * p.ln()).exp();
            return if load <= total * (1.0 + 1e-9) {
                whole
            } else {
                0.0
            };
        }
        self.tail_at(self.exponent(|t| load - self.load_at(t, p)), p)
    }

    /// The load that a node exceeds with probability `tail`.
    pub(crate) fn upper_quantile(&self, p: f64, tail: f64) -> f64 {
        if p >= 1.0 || self.count() <= 0.0 {
            return p.min(1.0) * self.total();
        }
        let exponent = self.exponent(|t| (self.tail_at(t, p) / tail).ln());
        self.at(exponent, p).load
    }

    /// The root of a decreasing function that starts above 0.
    fn exponent(&self, excess: impl Fn(f64) -> f64) -> f64 {
        let lightest = self.units.last().map_or(0.0, |(weight, _)| *weight);
        root(STEEPEST / lightest.max(f64::MIN_POSITIVE), excess)
    }

    /// P(X >= K'(t)).
    fn tail_at(&self, t: f64, p: f64) -> f64 {
        let At {
            log,
            load,
            variance,
        } = self.at(t, p);
        let w = (2.0 * (t * load - log)).max(0.0).sqrt();
        if w < 1e-3 {
            return 0.5;
        }
        let step = match self.lattice {
            0.0 => t,
            lattice => -(-t * lattice).exp_m1() / lattice,
        };
        let u = step * variance.sqrt();
        if u <= 0.0 {
            // This far out, all units are on the node.
            return (self.count() * p.ln()).exp();
        }
        let density = (-w * w / 2.0).exp() / std::f64::consts::TAU.sqrt();
        (upper_tail(w) + density * (1.0 / u - 1.0 / w)).clamp(0.0, 1.0)
    }

    /// K'(t) alone.
    fn load_at(&self, t: f64, p: f64) -> f64 {
        let load = |(weight, count): &(f64, f64)| count * weight * share(t, p, *weight);
        self.units.iter().map(load).sum()
    }

    fn at(&self, t: f64, p: f64) -> At {
        let mut at = At {
            log: 0.0,
            load: 0.0,
            variance: 0.0,
        };
        for (weight, count) in &self.units {
            let share = share(t, p, *weight);
            at.log += count * (t * weight + (p / share).ln());
            at.load += count * weight * share;
            at.variance += count * weight * weight * share * (1.0 - share);
        }
        at
    }
}

/// The probability of a unit on the node, tilted by e^(tw): p e^(tw) / (1 - p + p e^(tw)), with both sides divided by
/// e^(tw), which would overflow.
fn share(t: f64, p: f64, weight: f64) -> f64 {
    p / (p + (1.0 - p) * (-t * weight).exp())
}

/// The root of a decreasing function between 0, where it is positive, and `high`, by bisection; `high` if the function is
/// positive there, too.
fn root(mut high: f64, excess: impl Fn(f64) -> f64) -> f64 {
    if excess(high) > 0.0 {
        return high;
    }
    // The scale is unknown, so first shrink until the sign changes.
    let mut low = high / 16.0;
    while low > f64::MIN_POSITIVE && excess(low) <= 0.0 {
        (low, high) = (low / 16.0, low);
    }
    for _ in 0..BISECTIONS {
        let middle = (low + high) / 2.0;
        if excess(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The probability that a standard normal deviate exceeds `z`.
fn upper_tail(z: f64) -> f64 {
    libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X >= k) of a binomial distribution for every k up to n, term by term.
    fn binomial_tails(n: u32, p: f64) -> Vec<f64> {
        let odds = (p / (1.0 - p)).ln();
        let mut log = f64::from(n) * (1.0 - p).ln();
        let mut tails = Vec::new();
        for k in 0..=n {
            tails.push(log.exp());
            log += (f64::from(n - k) / f64::from(k + 1)).ln() + odds;
        }
        for k in (0..n as usize).rev() {
            tails[k] += tails[k + 1];
        }
        tails
    }

    #[test]
    fn many_units_of_different_weights_are_not_all_on_one_node() {
        let weights = (0..330).map(|at| f64::from(50 * (1 + at % 17)));
        let light = RandomUnits::new(weights.collect(), 0.0, 0.0);
        let found = 6.0 * light.upper_quantile(1.0 / 6.0, 0.001_67) / light.total();
        assert!((1.3..1.5).contains(&found), "{found}");
    }

    #[test]
    fn equal_units_have_the_tail_of_the_binomial_distribution() {
        for (n, p) in [
            (1, 0.01),
            (2, 0.1),
            (5, 0.03),
            (30, 0.3),
            (300, 0.01),
            (5000, 0.1),
        ] {
            let units = RandomUnits::new(Vec::new(), f64::from(n), f64::from(n));
            for (k, exact) in binomial_tails(n, p).into_iter().enumerate() {
                if k as f64 <= p * f64::from(n) || !(1e-9..0.05).contains(&exact) {
                    continue;
                }
                let found = units.tail(p, k as f64);
                assert!(
                    (found / exact - 1.0).abs() < 0.1,
                    "{n} {p} {k}: {found} for {exact}"
                );
            }
        }
    }

    #[test]
    fn known_weights_and_equal_units_are_one_sum() {
        let weights = RandomUnits::new(vec![3.0; 200], 0.0, 0.0);
        let equal = RandomUnits::new(Vec::new(), 600.0, 1800.0);
        let mixed = RandomUnits::new(vec![3.0; 80], 360.0, 1080.0);
        for load in [75.0, 90.0, 120.0] {
            let found = [&weights, &equal, &mixed].map(|units| units.tail(0.1, load));
            assert!(
                (found[0] / found[1] - 1.0).abs() < 1e-6,
                "{load}: {found:?}"
            );
            assert!(
                (found[0] / found[2] - 1.0).abs() < 1e-6,
                "{load}: {found:?}"
            );
        }
    }

    #[test]
    fn a_quantile_has_the_tail_that_was_asked_for() {
        let units = RandomUnits::new(vec![50.0, 40.0, 7.5], 1e4, 2e4);
        for tail in [0.01, 1e-4, 1e-6] {
            let load = units.upper_quantile(0.1, tail);
            assert!(
                (units.tail(0.1, load) / tail - 1.0).abs() < 0.01,
                "{tail}: {load}"
            );
        }
        // Far too many units for an exact sum: 1 + z sqrt((1 - p) / (N p)).
        let many = RandomUnits::new(Vec::new(), 1e9, 1e9).upper_quantile(0.1, 1e-4);
        assert!(((many / 1e8 - 1.0) / (3.719 * (9.0f64 / 1e9).sqrt()) - 1.0).abs() < 0.01);
    }

    #[test]
    fn what_is_certain_or_impossible_is_so() {
        let one = RandomUnits::new(Vec::new(), 1.0, 1.0);
        assert!((one.tail(0.01, 1.0) - 0.01).abs() < 1e-12);
        assert_eq!(one.tail(0.01, 2.0), 0.0);
        assert_eq!(one.tail(1.0, 1.0), 1.0);
        assert_eq!(RandomUnits::default().upper_quantile(0.5, 0.01), 0.0);
    }
}
