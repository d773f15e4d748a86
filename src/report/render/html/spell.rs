//! How the page spells names, counts and times.

use crate::name::Name;
use crate::summary::nodes::NodeLoad;
use crate::text;

/// Characters of a name that the page shows; the rest is an ellipsis.
pub const SHOWN: usize = 120;
/// Characters of a sentence, which may quote a line of the input.
pub const TEXT: usize = 400;
/// Counts are shown whole below this.
const SHORTENED: u64 = 100_000_000;

/// A name as the page shows it.
pub fn cut(name: &Name) -> String {
    text::name(name, SHOWN)
}

/// A node in the data of the script.
pub fn node(node: &NodeLoad) -> String {
    cut(&node.name())
}

/// `1,234,567`, and from 100 million on `123 M`, `1.54 G`.
pub fn short_count(count: u64) -> String {
    match count < SHORTENED {
        true => text::grouped(count),
        false => text::three_digits(count as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_short() {
        let shown = [0, 99_999_999, 123_400_000, 1_543_901_949, 2_500_000_000_000].map(short_count);
        assert_eq!(shown, ["0", "99,999,999", "123 M", "1.54 G", "2.50 T"]);
    }
}
