//! Number formats of charts.

pub(super) use slotscope_engine::text::three_digits as short;
use slotscope_engine::text::{plural, three_digits};

/// A count with its noun: `1 key`, `4,120 keys`, `12.3 M keys`.
pub(super) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", three_digits(count as f64), plural(count))
}

/// A factor: `1.003×`, `1.17×`, `24.5×`, `2,146×`.
pub(super) fn times(ratio: f64) -> String {
    match ratio {
        r if (0.95..1.05).contains(&r) => times_with(3, r),
        r => times_with(2, r),
    }
}

/// Like `times`, with this many decimals if small.
pub(super) fn times_with(digits: usize, ratio: f64) -> String {
    match ratio {
        r if r < 9.995 => format!("{r:.digits$}×"),
        r if r < 99.95 => format!("{r:.1}×"),
        r => format!("{}×", three_digits(r.round())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_near_one_have_more_digits() {
        assert_eq!(
            [1.0031, 1.174, 24.51, 2146.3].map(times),
            ["1.003×", "1.17×", "24.5×", "2,146×"]
        );
    }
}
