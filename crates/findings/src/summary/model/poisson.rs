//! The Poisson distribution of equal units in a slot: far-tail quantiles, and its Gini coefficient.

/// The smallest k with P(X <= k) >= `level`, X Poisson with mean `lambda`; for levels near 1, where a normal
/// approximation is far off.
pub(crate) fn quantile(lambda: f64, level: f64) -> u64 {
    let tail = 1.0 - level;
    let log_pmf = |k: f64| k * lambda.ln() - lambda - log_factorial(k);
    // Sum from far out in the tail, where almost nothing is left, towards the mean.
    let mut k = (lambda + 9.0 * lambda.sqrt() + 30.0).ceil();
    let mut above = 0.0;
    let mut pmf = log_pmf(k).exp();
    while k > 0.0 && above + pmf <= tail {
        above += pmf;
        pmf *= k / lambda;
        k -= 1.0;
    }
    k as u64
}

/// ln k!; from 20 on by Stirling's series (Abramowitz and Stegun, 6.1.41), with a relative error below 1e-10.
fn log_factorial(k: f64) -> f64 {
    if k < 20.0 {
        return (2..=k as u64).map(|i| (i as f64).ln()).sum();
    }
    let n = k + 1.0;
    (n - 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln() + 1.0 / (12.0 * n)
        - 1.0 / (360.0 * n.powi(3))
}

/// Gini coefficient of Poisson counts: exp(-2 lambda) (I0(2 lambda) + I1(2 lambda)), I the modified Bessel functions of
/// the first kind. Source: Ramasubban, "The mean difference and the mean deviation of some discontinuous distributions",
/// Biometrika 45, 1958.
pub(crate) fn gini(lambda: f64) -> f64 {
    let x = 2.0 * lambda;
    if x > 60.0 {
        // The asymptotic expansion (Abramowitz and Stegun, 9.7.1): the series below would need too many terms.
        return (2.0 - 0.25 / x - 3.0 / (64.0 * x * x)) / (std::f64::consts::TAU * x).sqrt();
    }
    let (mut sum, mut term) = (0.0, (-x).exp());
    // I0 has the even powers of x / 2, I1 the odd ones: one combined series.
    for k in 0..200 {
        sum += term;
        term *= x / 2.0 / f64::from(k / 2 + 1);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::model::gini;

    #[test]
    fn a_quantile_is_that_of_the_sum() {
        for lambda in [0.01, 0.6, 6.1, 61.0, 6104.0] {
            for level in [0.9f64, 0.99, 0.999_957] {
                let (mut sum, mut k) = (0.0, 0u64);
                loop {
                    sum += (k as f64 * f64::ln(lambda) - lambda - log_factorial(k as f64)).exp();
                    if sum >= level {
                        break;
                    }
                    k += 1;
                }
                assert_eq!(quantile(lambda, level), k, "{lambda} at {level}");
            }
        }
    }

    #[test]
    fn the_gini_coefficient_is_that_of_the_probabilities() {
        for lambda in [0.01, 0.6, 6.1, 29.9, 30.1, 61.0] {
            let pmf = |k: f64| (k * f64::ln(lambda) - lambda - log_factorial(k)).exp();
            let counts = (0..400).map(|k| (f64::from(k), pmf(f64::from(k))));
            let (found, expected) = (gini(lambda), gini::gini(counts));
            assert!((found / expected - 1.0).abs() < 1e-6, "{lambda}: {found}");
        }
    }
}
