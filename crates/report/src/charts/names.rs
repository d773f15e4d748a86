//! Names in charts: those of titles share the room, and those of blanks are made visible.

use slotscope_canvas::font::{Style, fit, width};

use slotscope_engine::name::Name;

use crate::charts::sheet::size;
use crate::palette::INK;

/// Width of a title, and of the subtitle.
pub(super) const ROOM: f32 = 1120.0;

/// A title from `parts`; those at indices `names` share the space left by the others at the smallest title size.
pub(super) fn title(parts: &[&str], names: &[usize]) -> String {
    let style = Style::bold(size::SMALL_TITLE, INK);
    let is_name = |at: &usize| names.contains(at);
    let others = (0..parts.len()).filter(|at| !is_name(at));
    let taken: f32 = others.map(|at| width(parts[at], style)).sum();
    let mut room = ROOM - taken;
    let mut shown: Vec<String> = parts.iter().map(|part| String::from(*part)).collect();
    // Shortest first: they leave more for the others.
    let mut order: Vec<(f32, usize)> = names
        .iter()
        .map(|at| (width(parts[*at], style), *at))
        .collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (number, (_, at)) in order.iter().enumerate() {
        shown[*at] = fit(parts[*at], room / (order.len() - number) as f32, style);
        room -= width(&shown[*at], style);
    }
    shown.concat()
}

/// `name` made visible if it is empty or has spaces at its ends.
pub(super) fn spelled(name: &Name) -> String {
    let text = name.to_string();
    let inner = text.trim_matches(' ');
    if text.is_empty() {
        return String::from("\"\"");
    }
    let before = text.len() - text.trim_start_matches(' ').len();
    let after = text.len() - before - inner.len();
    format!("{}{inner}{}", "\\x20".repeat(before), "\\x20".repeat(after))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_a_title_share_its_room() {
        let long = "x".repeat(500);
        let titled = title(&["node-1", " is full of ", &long], &[0, 2]);
        assert!(
            titled.starts_with("node-1 is full of xxx") && titled.contains('…'),
            "{titled}"
        );
        let style = Style::bold(size::SMALL_TITLE, INK);
        assert!(
            (ROOM - 40.0..=ROOM).contains(&width(&titled, style)),
            "{titled}"
        );
    }

    #[test]
    fn names_of_spaces_and_of_nothing_can_be_seen() {
        let shown =
            ["", "   ", " a b", "a ", "a b", "\\x20"].map(|name| spelled(&Name::from(name)));
        assert_eq!(
            shown,
            [
                "\"\"",
                "\\x20\\x20\\x20",
                "\\x20a b",
                "a\\x20",
                "a b",
                "\\\\x20"
            ]
        );
    }
}
