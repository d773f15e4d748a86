//! The tail of the standard normal distribution.

/// The probability that a standard normal deviate exceeds `z`, for z of 0 or more. Sources: the power series of the
/// integral (Abramowitz and Stegun, 26.2.11) and Laplace's continued fraction for the tail (26.2.14).
pub(crate) fn upper_tail(z: f64) -> f64 {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_tables() {
        for (z, tail) in [
            (0.0, 0.5),
            (1.959_964, 0.025),
            (2.5, 0.006_209_665),
            (3.719_016, 1e-4),
            (5.997_807, 1e-9),
        ] {
            let found = upper_tail(z);
            assert!((found / tail - 1.0).abs() < 1e-5, "{z}: {found}");
        }
    }
}
