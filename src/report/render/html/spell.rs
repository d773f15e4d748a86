//! How the page spells names, counts and times.

use crate::name::Name;
use crate::summary::nodes::NodeLoad;
use crate::text::{self, truncated};

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

/// Units that stay on the line of their number.
const UNITS: [&str; 8] = ["%", "B", "KiB", "MiB", "GiB", "TiB", "ms", "s"];

/// A sentence of the page: cut to its room, and no number is parted from its unit.
pub fn sentence(text: &str) -> String {
    let mut sentence = String::with_capacity(text.len());
    for word in truncated(text, TEXT).split_inclusive(' ') {
        let unit = word.trim_end_matches([' ', ',', ';', ':', ')']);
        let is_parted = UNITS.contains(&unit)
            && sentence.ends_with(' ')
            && sentence
                .trim_end()
                .ends_with(|last: char| last.is_ascii_digit());
        if is_parted {
            sentence.pop();
            sentence.push('\u{a0}');
        }
        sentence.push_str(word);
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_is_parted_from_its_unit() {
        let text = "10.5 % of them (3 MiB) take 2 s, a %, and 7 keys";
        let shown = "10.5\u{a0}% of them (3\u{a0}MiB) take 2\u{a0}s, a %, and 7 keys";
        assert_eq!(sentence(text), shown);
    }

    #[test]
    fn large_counts_are_short() {
        let shown = [0, 99_999_999, 123_400_000, 1_543_901_949, 2_500_000_000_000].map(short_count);
        assert_eq!(shown, ["0", "99,999,999", "123 M", "1.54 G", "2.50 T"]);
    }
}
