//! Least squares for level and slope with reduced weights for outliers (Huber 1964), and Student's t.

/// A row further off than this many typical deviations weighs less; needs at least five rows to tell what is typical.
const FAR: f64 = 3.0;
const WEIGHED: usize = 5;
/// Iterations for the weights to converge.
const ROUNDS: usize = 8;

/// An equation for level and slope, normalized by its standard deviation: two factors, and the value.
pub(super) type Row = [f64; 3];

/// Equations for independently deviating points.
pub(super) fn sums(levels: &[(f64, f64)]) -> Vec<Row> {
    levels
        .iter()
        .map(|(time, level)| [1.0, *time, *level])
        .collect()
}

/// Equations for a random walk: the last point is on the line, and a step's variance is its length in gaps. Also
/// returns the lengths.
pub(super) fn steps(levels: &[(f64, f64)], gap: f64) -> (Vec<Row>, Vec<f64>) {
    let pairs = levels.windows(2);
    let lengths: Vec<f64> = pairs
        .clone()
        .map(|pair| (pair[1].0 - pair[0].0) / gap)
        .collect();
    let steps = pairs.zip(&lengths).map(|(pair, length)| {
        let spread = length.sqrt();
        [0.0, gap * spread, (pair[1].1 - pair[0].1) / spread]
    });
    (steps.chain([[1.0, 0.0, 0.0]]).collect(), lengths)
}

/// A least-squares solution.
pub(super) struct Solved {
    pub now: f64,
    pub slope: f64,
    /// The variance of the level, their covariance, and the variance of the slope, relative to a row's.
    pub inverse: [f64; 3],
    pub squares: f64,
    pub determinant: f64,
}

fn off(row: &Row, now: f64, slope: f64) -> f64 {
    row[2] - row[0] * now - row[1] * slope
}

fn solved(rows: &[Row], weights: &[f64]) -> Solved {
    let sum = |value: &dyn Fn(&Row) -> f64| -> f64 {
        let weighed = rows.iter().zip(weights);
        weighed.map(|(row, weight)| weight * value(row)).sum()
    };
    let products = |a: usize, b: usize| sum(&|row| row[a] * row[b]);
    let (aa, ab, bb) = (products(0, 0), products(0, 1), products(1, 1));
    let (az, bz) = (products(0, 2), products(1, 2));
    let determinant = aa * bb - ab * ab;
    let now = (bb * az - ab * bz) / determinant;
    let slope = (aa * bz - ab * az) / determinant;
    Solved {
        now,
        slope,
        inverse: [bb, -ab, aa].map(|part| part / determinant),
        squares: sum(&|row| off(row, now, slope).powi(2)),
        determinant,
    }
}

/// Least squares with reduced weights for outliers, and the weights.
pub(super) fn weighed(rows: &[Row], exact: f64) -> (Solved, Vec<f64>) {
    let count = rows.len();
    let mut weights = vec![1.0; count];
    let mut solution = solved(rows, &weights);
    for _ in 0..if count < WEIGHED { 0 } else { ROUNDS } {
        let offs: Vec<f64> = rows
            .iter()
            .map(|row| off(row, solution.now, solution.slope).abs())
            .collect();
        let mut sorted = offs.clone();
        sorted.sort_by(f64::total_cmp);
        // 1.4826 times the median absolute deviation estimates the standard deviation; two degrees of freedom are used
        // up.
        let typical = 1.4826 * sorted[count / 2] * (count as f64 / (count - 2) as f64).sqrt();
        let far = FAR * typical.max(exact);
        weights = offs.iter().map(|off| (far / off).min(1.0)).collect();
        solution = solved(rows, &weights);
    }
    (solution, weights)
}

/// The two-sided 95% quantile of Student's t with `freedom` degrees of freedom, to 0.005 (Abramowitz and Stegun 1972,
/// 26.7.5).
pub(super) fn t95(freedom: usize) -> f64 {
    const FEW: [f64; 4] = [12.706, 4.303, 3.182, 2.776];
    let (z, n): (f64, f64) = (1.959_964, freedom as f64);
    let square = z * z;
    let first = (square + 1.0) / 4.0;
    let second = ((5.0 * square + 16.0) * square + 3.0) / 96.0;
    let third = (((3.0 * square + 19.0) * square + 17.0) * square - 15.0) / 384.0;
    let many = z * (1.0 + first / n + second / n.powi(2) + third / n.powi(3));
    FEW.get(freedom - 1).copied().unwrap_or(many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t_is_that_of_the_printed_tables() {
        for (freedom, printed) in [
            (1, 12.706),
            (4, 2.776),
            (5, 2.571),
            (6, 2.447),
            (10, 2.228),
            (29, 2.045),
            (1000, 1.962),
        ] {
            let t = t95(freedom);
            assert!((t - printed).abs() < 0.005, "{freedom}: {t}");
        }
    }
}
