//! Text as written by `redis-cli --quoted-json`: finds its end, and decodes escapes in place.
//!
//! redis-cli writes a key with C escapes and then doubles every backslash, but leaves quotes alone: a quote in a key
//! becomes `\\"`, which would end a JSON string. This is still unambiguous. A backslash in the key becomes four, any
//! other escape starts with two, so a quote after a multiple of four backslashes ends the text and one after two more
//! does not. Verified with redis-cli 7.0.15 for every byte.

use crate::format::parse::escape;
use crate::format::parse::escape::Escapes;

/// The position of the quote that closes the text starting at `from`.
pub(crate) fn close(bytes: &[u8], from: usize) -> Option<usize> {
    let mut quotes = memchr::memchr_iter(b'"', bytes.get(from..)?).map(|at| from + at);
    quotes.find(|at| {
        bytes[from..*at]
            .iter()
            .rev()
            .take_while(|byte| **byte == b'\\')
            .count()
            % 4
            == 0
    })
}

/// Whether redis-cli could have written this text: printable ASCII, every backslash doubled.
pub(crate) fn is_written(text: &[u8]) -> bool {
    let runs_are_even = text
        .split(|byte| *byte != b'\\')
        .all(|run| run.len() % 2 == 0);
    runs_are_even && text.iter().all(|byte| (b' '..=b'~').contains(byte))
}

/// Decodes `content[from..to]`, a text that `is_written`; returns its new end.
pub(crate) fn undo(content: &mut [u8], from: usize, to: usize) -> usize {
    let (mut read, mut write) = (from, from);
    while let Some(plain) = memchr::memchr(b'\\', &content[read..to]) {
        content.copy_within(read..read + plain + 1, write);
        (read, write) = ((read + plain + 2).min(to), write + plain + 1);
    }
    content.copy_within(read..to, write);
    escape::undo(Escapes::C, content, from, write + (to - read))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// redis-cli's encoding: `sdscatrepr`, then every backslash doubled.
    fn written(key: &[u8]) -> Vec<u8> {
        let one = |byte: &u8| match byte {
            b'"' | b'\\' => vec![b'\\', *byte],
            b' '..=b'~' => vec![*byte],
            b'\n' => br"\n".to_vec(),
            b'\r' => br"\r".to_vec(),
            b'\t' => br"\t".to_vec(),
            0x07 => br"\a".to_vec(),
            0x08 => br"\b".to_vec(),
            _ => format!("\\x{byte:02x}").into_bytes(),
        };
        let quoted: Vec<u8> = key.iter().flat_map(one).collect();
        quoted
            .iter()
            .flat_map(|byte| {
                if *byte == b'\\' {
                    vec![b'\\'; 2]
                } else {
                    vec![*byte]
                }
            })
            .collect()
    }

    proptest! {
        #[test]
        fn every_key_comes_back_whatever_stands_behind_it(
            key in prop::collection::vec(prop_oneof![2 => any::<u8>(), 8 => prop::sample::select(br#"\"n,]x"#.to_vec())], 0..20),
            behind in r#"["\\,]{0,6}"#,
        ) {
            let text = written(&key);
            let mut content = [b"\"", &text[..], b"\"", behind.as_bytes()].concat();
            prop_assert_eq!(close(&content, 1), Some(1 + text.len()));
            prop_assert!(is_written(&text));
            let end = undo(&mut content, 1, 1 + text.len());
            prop_assert_eq!(&content[1..end], &key[..]);
            prop_assert!(content.ends_with(behind.as_bytes()));
        }
    }

    #[test]
    fn what_redis_cli_does_not_write_is_told() {
        for no in [&br"a\nb"[..], br"\\\", b"\xe9", b"a\nb"] {
            assert!(!is_written(no), "{}", no.escape_ascii());
        }
    }
}
