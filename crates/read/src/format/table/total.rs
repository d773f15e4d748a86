//! Totals below rows, which do not count as keys.

/// Whether a cell is the word for a total. In the last row of reports it is in any language; elsewhere such a short word
/// may be a key.
pub(crate) fn is_total(cell: &[u8], is_last: bool) -> bool {
    const ANYWHERE: [&str; 4] = ["total", "totals", "grand total", "subtotal"];
    const LAST: [&str; 12] = [
        "sum",
        "summe",
        "gesamt",
        "gesamtergebnis",
        "totale",
        "total g\u{e9}n\u{e9}ral",
        "suma",
        "razem",
        "\u{438}\u{442}\u{43e}\u{433}\u{43e}",
        "\u{418}\u{442}\u{43e}\u{433}\u{43e}",
        "\u{5408}\u{8ba1}",
        "\u{5408}\u{8a08}",
    ];
    if !matches!(cell.len(), 3..=20)
        || !matches!(cell[0] | 0x20, b't' | b'g' | b's' | b'r' | 0x80..)
    {
        return false;
    }
    // `Total:`, `Total (59)`.
    let bare = cell.strip_suffix(b":").unwrap_or(cell);
    let count = bare
        .strip_suffix(b")")
        .and_then(|text| text.iter().rposition(|byte| *byte == b'('));
    let is_count = |at: &usize| bare[at + 1..bare.len() - 1].iter().all(u8::is_ascii_digit);
    let bare = count
        .filter(is_count)
        .map_or(bare, |at| bare[..at].trim_ascii_end());
    let is = |word: &&str| bare.eq_ignore_ascii_case(word.as_bytes());
    ANYWHERE.iter().any(is) || is_last && LAST.iter().any(is)
}
