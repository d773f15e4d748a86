//! The tail of the standard normal distribution and its quantiles.

/// The probability that a standard normal deviate exceeds `z`, for z of 0 or more. Sources: the power series of the
/// integral (Abramowitz and Stegun, 26.2.11) and Laplace's continued fraction for the tail (26.2.14).
pub fn upper_tail(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if z > 2.5 {
        let fraction = (1..=80).rev().fold(z, |under, k| z + f64::from(k) / under);
        return density / fraction;
    }
    let (mut term, mut sum) = (z, z);
    for k in 1..=60 {
        term *= z * z / f64::from(2 * k + 1);
        sum += term;
    }
    0.5 - density * sum
}

/// z such that a standard normal deviate exceeds it with probability `tail`, to seven digits; `tail` in (0, 1).
/// Source: Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37, 1988
/// (PPND7, whose coefficients are below).
pub fn upper_quantile(tail: f64) -> f64 {
    fn ratio<const N: usize, const D: usize>(r: f64, over: [f64; N], under: [f64; D]) -> f64 {
        let horner =
            |coefficients: &[f64]| coefficients.iter().rev().fold(0.0, |sum, c| sum * r + c);
        horner(&over) / (horner(&under) * r + 1.0)
    }
    let q = 0.5 - tail;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        let over = [3.3871327179, 50.434271938, 159.29113202, 59.10937472];
        return q * ratio(r, over, [17.895169469, 78.757757664, 67.187563600]);
    }
    let r = (-tail.min(1.0 - tail).ln()).sqrt();
    let z = if r <= 5.0 {
        ratio(
            r - 1.6,
            [1.4234372777, 2.75681539, 1.3067284816, 0.17023821103],
            [0.7370016425, 0.12021132975],
        )
    } else {
        ratio(
            r - 5.0,
            [6.657905115, 3.081226386, 0.42868294337, 0.017337203997],
            [0.24197894225, 0.012258202635],
        )
    };
    z.copysign(q)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_quantiles_are_those_of_the_tables() {
        let known = [
            (0.5, 0.0),
            (0.025, 1.959964),
            (0.0001, 3.719016),
            (1e-9, 5.997807),
            (0.975, -1.959964),
        ];
        for (tail, z) in known {
            assert!(
                (upper_quantile(tail) - z).abs() < 2e-6,
                "{tail}: {}",
                upper_quantile(tail)
            );
        }
    }

    #[test]
    fn a_tail_is_that_of_the_quantile() {
        for tail in [0.5, 0.1, 0.0062, 1e-4, 1e-9] {
            let found = upper_tail(upper_quantile(tail));
            assert!((found / tail - 1.0).abs() < 1e-5, "{tail}: {found}");
        }
    }
}
