//! How many keys the slots would hold under a perfect hash, for curves to hold the measured ones against.
//!
//! Untagged keys fall like rain: a slot's keys are Poisson with mean lambda = keys / slots. With tags only the mean
//! and the deviation are known; where that is small, the shape is close to normal.

use crate::slot::SLOTS;
use crate::summary::Summary;

/// Up to here the Poisson distribution is added up term by term; above it is normal to the eye.
const ADDED_UP: f64 = 10_000.0;
/// From this part of the keys on, the independent units are the keys themselves.
const UNTAGGED: f64 = 0.95;
/// Up to this relative deviation the sum of unequal units is close to normal.
const NORMAL: f64 = 0.25;

/// Keys of a slot under a perfect hash.
pub struct PerfectHash {
    /// Keys of the average slot.
    pub mean: f64,
    /// Standard deviation.
    pub sigma: f64,
    /// P(keys <= k), for k from 0.
    added_up: Vec<f64>,
    shape_known: bool,
}

impl PerfectHash {
    /// Of the units of `summary`; `None` where they were not counted.
    pub fn of(summary: &Summary) -> Option<Self> {
        let (units, cv) = (summary.skew.n_eff?, summary.skew.expected_cv?);
        let mean = super::all_keys(summary) / SLOTS as f64;
        let untagged = units >= UNTAGGED * super::all_keys(summary);
        let added_up = if untagged && mean <= ADDED_UP { poisson(mean) } else { Vec::new() };
        let shape_known = untagged || cv <= NORMAL;
        (mean > 0.0).then_some(PerfectHash { mean, sigma: mean * cv, added_up, shape_known })
    }

    /// Least and most keys that nearly all slots hold: mean -+ 3 sigma.
    pub fn band(&self) -> (f64, f64) {
        ((self.mean - 3.0 * self.sigma).max(0.0), self.mean + 3.0 * self.sigma)
    }

    /// Whether `at_most` is known.
    pub fn has_shape(&self) -> bool {
        self.shape_known
    }

    /// The part of the slots that hold at most `keys`.
    pub fn at_most(&self, keys: f64) -> f64 {
        match (keys < 0.0, self.added_up.is_empty()) {
            (true, _) => 0.0,
            (_, true) => normal((keys + 0.5 - self.mean) / self.sigma),
            _ => self.added_up[(keys as usize).min(self.added_up.len() - 1)],
        }
    }

    /// The Lorenz curve: part of the slots, part of the keys that those with the fewest hold. Poisson: the slots
    /// with at most k keys hold P(X <= k - 1) of them, since k P(k) = lambda P(k - 1).
    pub fn lorenz(&self) -> Vec<(f64, f64)> {
        let ends = [(1.0, 1.0)];
        if self.added_up.is_empty() {
            let density = |z: f64| (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
            let cv = self.sigma / self.mean;
            let points = (-40..=40).map(|i| f64::from(i) / 10.0).map(|z| (normal(z), normal(z) - cv * density(z)));
            return std::iter::once((0.0, 0.0)).chain(points.map(|(x, y)| (x, y.max(0.0)))).chain(ends).collect();
        }
        let before = std::iter::once(0.0).chain(self.added_up.iter().copied());
        std::iter::once((0.0, 0.0)).chain(self.added_up.iter().copied().zip(before)).chain(ends).collect()
    }
}

/// P(X <= k) for k from 0 until hardly anything is left. In logarithms: exp(-lambda) alone would be 0 from 745 on.
fn poisson(lambda: f64) -> Vec<f64> {
    let last = (lambda + 12.0 * lambda.sqrt() + 20.0) as usize;
    let mut log_factorial = 0.0;
    let mut sum = 0.0;
    let at_most = |k: usize| {
        log_factorial += if k > 0 { (k as f64).ln() } else { 0.0 };
        sum += (k as f64 * lambda.ln() - lambda - log_factorial).exp();
        f64::min(sum, 1.0)
    };
    (0..=last).map(at_most).collect()
}

/// P(Z <= z) of a standard normal deviate, to seven digits: Abramowitz & Stegun, 1964, 26.2.17.
fn normal(z: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.2316419 * z.abs());
    let series = [0.319381530, -0.356563782, 1.781477937, -1.821255978, 1.330274429];
    let upper =
        (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt() * series.iter().rev().fold(0.0, |sum, b| (sum + b) * t);
    if z > 0.0 { 1.0 - upper } else { upper }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distributions_are_those_of_the_tables() {
        assert!((normal(1.959964) - 0.975).abs() < 1e-6 && (normal(-3.0) - 0.001349898).abs() < 1e-7);
        let rain = poisson(0.61);
        assert!((rain[0] - (-0.61f64).exp()).abs() < 1e-12 && (rain[1] - 1.61 * (-0.61f64).exp()).abs() < 1e-12);
        let rain = poisson(6104.0);
        assert!((rain[6104] - 0.5034).abs() < 1e-3 && rain.last().unwrap() > &0.999_999);
    }
}
