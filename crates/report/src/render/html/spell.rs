//! How the page prints names, counts and times.

use slotscope_base::name::Name;
use slotscope_base::text::{self, truncated};
use slotscope_model::nodes::NodeLoad;

/// Maximum characters of a name; the rest becomes an ellipsis.
pub(super) const SHOWN: usize = 120;
/// Maximum characters of a sentence, which may quote a line of the input.
pub(super) const TEXT: usize = 400;
/// Counts below this are printed in full.
const SHORTENED: u64 = 100_000_000;

/// A name as shown on the page.
pub(super) fn cut(name: &Name) -> String {
    text::name(name, SHOWN)
}

/// A node in the data of the script.
pub(super) fn node(node: &NodeLoad) -> String {
    cut(&node.label())
}

/// `1,234,567`, and from 100 million on `123 M`, `1.54 G`.
pub(super) fn short_count(count: u64) -> String {
    if count < SHORTENED {
        text::grouped(count)
    } else {
        text::three_digits(count as f64)
    }
}

/// Units that must stay on the line of their number.
const UNITS: &[&str] = &[
    "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "k", "M", "G", "T", "P", "E", "µs", "ms", "s",
    "min",
];

/// A sentence for the page: truncated, and without breaks between numbers and units.
pub(super) fn sentence(text: &str) -> String {
    unbroken(&truncated(text, TEXT))
}

/// `text` with no-break spaces between numbers and units.
pub(super) fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (at, word) in text.split(' ').enumerate() {
        let unit = word.trim_end_matches(|c: char| ",.;:)".contains(c));
        let follows_number = out.ends_with(|c: char| c.is_ascii_digit());
        if at > 0 {
            let is_bound = follows_number && UNITS.contains(&unit);
            out.push(if is_bound { '\u{A0}' } else { ' ' });
        }
        out.push_str(word);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_unit() {
        let text = "keys of 2 B, 10.5% (1.5 GiB) in 3 parts; s 7 s";
        let expected = "keys of 2\u{A0}B, 10.5% (1.5\u{A0}GiB) in 3 parts; s 7\u{A0}s";
        assert_eq!(unbroken(text), expected);
    }

    #[test]
    fn large_counts_are_short() {
        let shown = [0, 99_999_999, 123_400_000, 1_543_901_949, 2_500_000_000_000].map(short_count);
        assert_eq!(shown, ["0", "99,999,999", "123 M", "1.54 G", "2.50 T"]);
    }
}
