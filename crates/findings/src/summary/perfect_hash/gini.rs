//! The Gini coefficient of members with loads: slots, nodes, or outcomes of a distribution.
//!
//! Members are (load, weight) pairs in ascending order of load; a weight is the number of members with that load, or
//! its probability. Source: Gini, 1912.

/// Twice the area between the Lorenz curve and the diagonal: 0 if all hold the same, near 1 if one holds everything.
///
/// With n the sum of the weights w, W the total load and B the weight below: sum(L w (2 B + w - n)) / (n W).
pub(crate) fn gini(ascending: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (n, total) = ascending
        .clone()
        .fold((0.0, 0.0), |(n, total), (load, weight)| {
            (n + weight, total + load * weight)
        });
    let mut below = 0.0;
    let weighted = ascending.map(|(load, weight)| {
        let rank = 2.0 * below + weight - n;
        below += weight;
        rank * load * weight
    });
    (weighted.sum::<f64>() / (n * total)).max(0.0)
}

/// The members for a list of ascending loads.
pub(crate) fn members(ascending: &[u64]) -> impl Iterator<Item = (f64, f64)> + Clone {
    ascending.iter().map(|load| (*load as f64, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Points of the Lorenz curve from (0, 0) to (1, 1): a share of the members, and the share of the load held by that
    /// many of the lightest. Empty without load.
    fn curve(ascending: impl Iterator<Item = (f64, f64)> + Clone) -> Vec<(f64, f64)> {
        let add = |(members, sum): (f64, f64), (load, weight): (f64, f64)| {
            (members + weight, sum + load * weight)
        };
        let all = ascending.clone().fold((0.0, 0.0), add);
        if all.1 <= 0.0 {
            return Vec::new();
        }
        let mut below = (0.0, 0.0);
        let points = ascending.map(|member| {
            below = add(below, member);
            (below.0 / all.0, below.1 / all.1)
        });
        std::iter::once((0.0, 0.0)).chain(points).collect()
    }

    #[test]
    fn the_curve_of_four_members_is_that_worked_by_hand() {
        assert_eq!(
            curve(members(&[0, 1, 3, 4])),
            [
                (0.0, 0.0),
                (0.25, 0.0),
                (0.5, 0.125),
                (0.75, 0.5),
                (1.0, 1.0)
            ]
        );
        assert_eq!(curve(members(&[0, 0])), []);
    }

    #[test]
    fn the_gini_coefficient_is_twice_the_area_over_the_curve() {
        let loads = [1, 1, 2, 7, 7, 90];
        let area: f64 = curve(members(&loads))
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0) * (pair[1].1 + pair[0].1))
            .sum();
        assert!((gini(members(&loads)) - (1.0 - area)).abs() < 1e-12);
    }

    #[test]
    fn a_weight_counts_as_so_many_members() {
        let weighted = [(1.0, 2.0), (2.0, 1.0), (7.0, 2.0), (90.0, 1.0)].into_iter();
        assert_eq!(gini(weighted), gini(members(&[1, 1, 2, 7, 7, 90])));
        let scaled = [(1.0, 0.2), (2.0, 0.1), (7.0, 0.2), (90.0, 0.1)].into_iter();
        assert!((gini(scaled) - gini(members(&[1, 1, 2, 7, 7, 90]))).abs() < 1e-12);
    }

    #[test]
    fn equal_members_have_no_inequality() {
        assert_eq!(gini(members(&[7; 16384])), 0.0);
    }
}
