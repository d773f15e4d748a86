//! A line of a batch file comes in, its words go out: parted by blanks, quoted as redis-cli reads them.

/// Words of a line: a server takes no more in one command.
const MAX_WORDS: usize = 1 << 20;

/// The words of `line`: `"..."` with C escapes, `'...'` in which only `\'` is one, else bytes up to a blank.
///
/// # Errors
/// A quote that is not closed, or that something stands behind, or more than a million words.
pub fn words(line: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        if words.len() == MAX_WORDS {
            return Err("more than 1,048,576 words");
        }
        let (word, behind) = next_word(rest)?;
        words.push(word);
        rest = behind.trim_ascii_start();
    }
    Ok(words)
}

fn next_word(text: &[u8]) -> Result<(Vec<u8>, &[u8]), &'static str> {
    let mut word = Vec::new();
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        match byte {
            byte if byte.is_ascii_whitespace() => break,
            b'"' | b'\'' => {
                rest = quoted(behind, byte, &mut word)?;
                return match rest.first() {
                    Some(next) if !next.is_ascii_whitespace() => Err("something stands right behind a closing quote"),
                    _ => Ok((word, rest)),
                };
            }
            byte => {
                word.push(byte);
                rest = behind;
            }
        }
    }
    Ok((word, rest))
}

/// Appends what stands before the closing `quote`; returns what is behind it.
fn quoted<'t>(text: &'t [u8], quote: u8, word: &mut Vec<u8>) -> Result<&'t [u8], &'static str> {
    let mut rest = text;
    loop {
        match rest {
            [] => return Err("a quote is not closed"),
            [b'\\', b'\'', behind @ ..] if quote == b'\'' => {
                word.push(b'\'');
                rest = behind;
            }
            [b'\\', b'x', high, low, behind @ ..]
                if quote == b'"' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
                word.push(digit(*high) << 4 | digit(*low));
                rest = behind;
            }
            [b'\\', letter, behind @ ..] if quote == b'"' => {
                word.push(match letter {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                rest = behind;
            }
            [byte, behind @ ..] if *byte == quote => return Ok(behind),
            [byte, behind @ ..] => {
                word.push(*byte);
                rest = behind;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_parted_and_quoted_as_redis_cli_reads_them() {
        let parted = |line: &[u8]| words(line).unwrap();
        assert_eq!(parted(b"  MGET a\t{b}c \r"), [&b"MGET"[..], b"a", b"{b}c"]);
        assert_eq!(parted(br#""a b\x00\xfF\n\"\q" 'it\'s \n' """#), [&b"a b\0\xff\n\"q"[..], b"it's \\n", b""]);
        assert_eq!(parted(b"   "), Vec::<Vec<u8>>::new());
        assert_eq!(parted(br"\x41 a\b"), [&br"\x41"[..], br"a\b"]);
    }

    #[test]
    fn a_line_of_endless_words_is_refused() {
        assert_eq!(words(&b"a ".repeat(MAX_WORDS)).map(|words| words.len()), Ok(MAX_WORDS));
        assert!(words(&b"a ".repeat(MAX_WORDS + 1)).unwrap_err().starts_with("more than"));
    }

    #[test]
    fn quotes_that_do_not_end_a_word_are_refused() {
        for line in [&b"\"open"[..], b"'open", b"\"a\"b", b"'a'\"b\"", b"\"a\\"] {
            assert!(words(line).is_err(), "{}", line.escape_ascii());
        }
    }
}
