//! Terminal control sequences in captured output.

/// The length of the control sequence that `line` starts with: `ESC [`, numbers, a letter. `m` sets colours; the line
/// editor of redis-cli uses others to move the cursor.
pub fn sequence(line: &[u8]) -> Option<usize> {
    let rest = line.strip_prefix(b"\x1b[")?;
    let digits = rest
        .iter()
        .take_while(|byte| byte.is_ascii_digit() || **byte == b';')
        .count();
    rest.get(digits)
        .is_some_and(u8::is_ascii_alphabetic)
        .then_some(digits + 3)
}

/// The text without its control sequences.
pub fn stripped(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let whole = [b"\x1b[", piece.as_bytes()].concat();
        plain += sequence(&whole).map_or(piece, |len| &piece[len - 2..]);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_and_cursor_moves_are_dropped_and_text_stays() {
        assert_eq!(stripped("\x1b[0;32m[OK]\x1b[0m a\x1b[2Kb"), "[OK] ab");
        assert_eq!(stripped("no sequence"), "no sequence");
        assert_eq!(sequence(b"\x1b[1;31mx"), Some(7));
        assert_eq!(sequence(b"\x1b[1;"), None);
    }
}
