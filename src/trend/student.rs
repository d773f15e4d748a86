//! Student's t distribution: how far an estimate from few reports may be off (Abramowitz and Stegun 1972, 26.7.3-4).

/// The t that 95% of the distribution with `freedom` degrees of freedom, at least 1, are within, on both sides of 0.
pub(super) fn t95(freedom: usize) -> f64 {
    let (mut low, mut high) = (1.0, 16.0);
    // Ends where two neighbouring numbers are left: 60 steps halve 15 to less than they are apart.
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if within(middle, freedom) < 0.95 {
            low = middle
        } else {
            high = middle
        }
    }
    high
}

/// The part of the distribution from -t to t: a finite sum, as the degrees of freedom are an integer.
fn within(t: f64, freedom: usize) -> f64 {
    let angle = (t / (freedom as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = freedom % 2 == 1;
    let first = if is_odd { cosine } else { 1.0 };
    let mut term = first;
    let mut sum = if freedom == 1 { 0.0 } else { first };
    for step in (2 + usize::from(is_odd)..freedom.saturating_sub(1)).step_by(2) {
        term *= cosine * cosine * (step - 1) as f64 / step as f64;
        sum += term;
    }
    if is_odd {
        std::f64::consts::FRAC_2_PI * (angle + sine * sum)
    } else {
        sine * sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_that_of_the_printed_tables() {
        for (freedom, printed) in [
            (1, 12.706),
            (2, 4.303),
            (3, 3.182),
            (4, 2.776),
            (5, 2.571),
            (10, 2.228),
            (22, 2.074),
            (29, 2.045),
            (100, 1.984),
            (1000, 1.962),
        ] {
            let t = t95(freedom);
            assert!((t - printed).abs() < 0.0006, "{freedom}: {t}");
        }
    }
}
