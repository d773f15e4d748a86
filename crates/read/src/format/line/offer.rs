//! Patterns that a message offers: each has just been applied to the first lines, and is offered with what it gave.

use slotscope_base::text::shell_word;

use crate::format::Head;
use crate::format::line::Pattern;
use crate::format::line::tried::tried;

/// The percentage of rows that must fit.
const LEAST: u64 = 80;
/// Offers in a message.
const MOST: usize = 2;

/// The first patterns that fit the lines, each with the first key that it gives; empty if none does.
pub fn offers<P: AsRef<str>>(head: Head<'_>, patterns: impl IntoIterator<Item = P>) -> String {
    let offer = |pattern: P| {
        let pattern = Pattern::parse(pattern.as_ref()).ok()?;
        let tried = tried(&pattern.opened(head).ok()?, head)?;
        // A pattern with sizes gives one to the first key, too.
        let has_size = tried.first.as_ref().is_some_and(|(_, size)| size.is_some());
        let fits = tried.fits_percent(LEAST) && (has_size || !pattern.has_size());
        (fits && !tried.has_more()).then(|| {
            format!(
                "--line {} gives {}",
                shell_word(pattern.text()),
                tried.said()
            )
        })
    };
    let offers: Vec<String> = patterns.into_iter().filter_map(offer).take(MOST).collect();
    offers.join(", ")
}

/// A message with the patterns that fit.
pub fn with_offers<P: AsRef<str>>(
    what: &str,
    head: Head<'_>,
    patterns: impl IntoIterator<Item = P>,
) -> String {
    let offers = offers(head, patterns);
    if offers.is_empty() {
        what.into()
    } else {
        format!("{what}: {offers}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_offered_only_if_it_fits_with_what_it_gives() {
        let bytes = b"likes:5 48213\nlikes:6 12\nlikes:7 1\n";
        let head = Head { bytes, whole: true };
        assert_eq!(
            offers(head, ["{size} {key}", "{key} {size}", "{_} {key}", "{key}"]),
            "--line '{key} {size}' gives \"likes:5\" of 47.08 KiB, --line '{_} {key}' gives \"48213\""
        );
        assert_eq!(offers(head, ["{key},{size}", "{kee}"]), "");
    }
}
