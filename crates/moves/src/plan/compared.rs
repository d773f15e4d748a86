//! The nodes compared in one role, with their loads and fair shares.
//!
//! f_i is the share of node i (they sum to 1), W the total load, M = max load_i / (f_i W).

use slotscope_planner::rest;

/// M: the largest of `loads` in fair shares.
pub(crate) fn ratio(loads: &[f64], shares: &[f64]) -> f64 {
    let total: f64 = loads.iter().sum();
    let over_fair = |(load, share): (&f64, &f64)| match share * total {
        fair if fair > 0.0 => load / fair,
        _ => 0.0,
    };
    loads.iter().zip(shares).map(over_fair).fold(0.0, f64::max)
}

/// M_rest: moves cannot fix a node filled by one slot, and it must not hide nodes they can fix.
pub(crate) fn rest(loads: &[f64], heaviest: &[f64], shares: &[f64]) -> f64 {
    let pairs = loads.iter().zip(heaviest).zip(shares);
    let nodes = pairs.map(|((load, heaviest), share)| rest::NodeLoad {
        load: *load,
        heaviest: *heaviest,
        capacity: *share,
    });
    rest::rest_over_mean(&nodes.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_giants_the_rest_is_the_ratio() {
        let (loads, heaviest) = ([3.0, 1.0], [0.01, 0.01]);
        assert_eq!(rest(&loads, &heaviest, &[0.5, 0.5]), 1.5);
        assert_eq!(
            rest(&loads, &heaviest, &[0.75, 0.25]),
            1.0,
            "shares are weighed"
        );
        assert_eq!(rest(&[], &[], &[]), 0.0);
        assert_eq!(rest(&[0.0, 0.0], &[0.0, 0.0], &[0.5, 0.5]), 0.0);
    }
}
