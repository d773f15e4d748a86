//! Splits a line of a batch file into words, quoted as in redis-cli.

use std::borrow::Cow;

use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;

/// Maximum words per line: the limit of servers for one command.
const MAX_WORDS: usize = 1 << 20;

/// A word, copied only if it contains quotes or escapes.
pub type Word<'l> = Cow<'l, [u8]>;

/// The words of `line`: `"..."` with C escapes, `'...'` where only `\'` is an escape, else bytes up to a blank.
///
/// # Errors
/// A quote is unclosed or followed by something, or there are more than a million words.
pub fn words(line: &[u8]) -> Result<Vec<Word<'_>>, &'static str> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii_start();
    while !rest.is_empty() {
        if words.len() == MAX_WORDS {
            return Err("more than 1,048,576 words");
        }
        let (word, after) = next_word(rest)?;
        words.push(word);
        rest = after.trim_ascii_start();
    }
    Ok(words)
}

fn next_word(text: &[u8]) -> Result<(Word<'_>, &[u8]), &'static str> {
    let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'');
    let (plain, rest) = text.split_at(text.iter().position(ends).unwrap_or(text.len()));
    let Some((quote @ (b'"' | b'\''), after)) = rest.split_first() else {
        return Ok((Cow::Borrowed(plain), rest));
    };
    let (word, rest) =
        if let Some(inside) = as_it_stands(after, *quote).filter(|_| plain.is_empty()) {
            (Cow::Borrowed(inside), &after[inside.len() + 1..])
        } else {
            let mut word = plain.to_vec();
            let rest = quoted(after, *quote, &mut word)?;
            (Cow::Owned(word), rest)
        };
    match rest.first() {
        Some(next) if !next.is_ascii_whitespace() => {
            Err("a closing quote is followed by something other than a blank")
        }
        _ => Ok((word, rest)),
    }
}

/// The text before the closing `quote`, if it has no backslash.
fn as_it_stands(text: &[u8], quote: u8) -> Option<&[u8]> {
    let end = memchr::memchr2(quote, b'\\', text)?;
    (text[end] == quote).then(|| &text[..end])
}

/// Appends the text before the closing `quote`; returns the rest.
fn quoted<'t>(text: &'t [u8], quote: u8, word: &mut Vec<u8>) -> Result<&'t [u8], &'static str> {
    const OPEN: &str = "a quote is not closed";
    if quote == b'"' {
        let end = escape::close(text, 0).ok_or(OPEN)?;
        let start = word.len();
        word.extend_from_slice(&text[..end]);
        let end_of_word = escape::undo(Escapes::C, word, start, start + end);
        word.truncate(end_of_word);
        return Ok(&text[end + 1..]);
    }
    let mut rest = text;
    loop {
        match rest {
            [] => return Err(OPEN),
            [b'\\', b'\'', after @ ..] => {
                word.push(b'\'');
                rest = after;
            }
            [b'\'', after @ ..] => return Ok(after),
            [byte, after @ ..] => {
                word.push(*byte);
                rest = after;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_separated_and_quoted_as_redis_cli_reads_them() {
        fn separated(line: &[u8]) -> Vec<Word<'_>> {
            words(line).unwrap()
        }
        assert_eq!(
            separated(b"  MGET a\t{b}c \r"),
            [&b"MGET"[..], b"a", b"{b}c"]
        );
        assert_eq!(
            separated(br#""a b\x00\xfF\n\"\q" 'it\'s \n' """#),
            [&b"a b\0\xff\n\"q"[..], b"it's \\n", b""]
        );
        assert_eq!(separated(b"   "), Vec::<Vec<u8>>::new());
        assert_eq!(separated(br"\x41 a\b"), [&br"\x41"[..], br"a\b"]);
    }

    #[test]
    fn a_line_of_endless_words_is_refused() {
        assert_eq!(
            words(&b"a ".repeat(MAX_WORDS)).map(|words| words.len()),
            Ok(MAX_WORDS)
        );
        assert!(
            words(&b"a ".repeat(MAX_WORDS + 1))
                .unwrap_err()
                .starts_with("more than")
        );
    }

    #[test]
    fn quotes_that_do_not_end_a_word_are_refused() {
        for line in [&b"\"open"[..], b"'open", b"\"a\"b", b"'a'\"b\"", b"\"a\\"] {
            assert!(words(line).is_err(), "{}", line.escape_ascii());
        }
    }
}
