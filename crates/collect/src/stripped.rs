//! MONITOR lines without values: keeps commands, keys, and the numbers that tell where keys are. What users store is
//! not collected.

use slotscope_base::command::{COMMANDS, Command};
use slotscope_read::format::capture::monitor_line::MonitorLine;
use slotscope_read::format::parse::words::Word;

/// The placeholder of a value.
const VALUE: &[u8] = b"\"?\"";
/// Words that tell where keys are.
const KEYWORDS: [&[u8]; 4] = [b"STREAMS", b"STORE", b"STOREDIST", b"KEYS"];
/// Maximum digits of a number of keys.
const DIGITS: usize = 6;

/// Removes values from lines.
#[derive(Default)]
pub(crate) struct Stripped {
    text: Vec<u8>,
}

impl Stripped {
    /// The line to write, with its line end; `None` if it is not a MONITOR line, or if keys cannot be told from values.
    pub(crate) fn line(&mut self, line: &[u8]) -> Option<&[u8]> {
        let line = line.strip_prefix(b"+").unwrap_or(line);
        let start = command_start(line)?;
        let tokens = tokens(&line[start..])?;
        let words = MonitorLine::parse(line)?.words().ok()?;
        if words.len() != tokens.len() {
            return None;
        }
        let command = COMMANDS.find(&words)?;
        let keys = command.keys(&words).unwrap_or_default();
        let keeps = [false, true].into_iter().find_map(|with_numbers| {
            let kept = kept(&words, &keys, with_numbers);
            has_keys(command, &words, &kept, &keys).then_some(kept)
        });
        self.text.clear();
        self.text.extend_from_slice(&line[..start]);
        for (at, (token, is_kept)) in tokens.iter().zip(keeps?).enumerate() {
            self.text.extend_from_slice(if at > 0 { b" " } else { b"" });
            self.text
                .extend_from_slice(if is_kept { token } else { VALUE });
        }
        self.text.push(b'\n');
        Some(&self.text)
    }
}

/// The path of a Unix socket may contain a bracket.
fn command_start(line: &[u8]) -> Option<usize> {
    let end = line.windows(3).position(|part| part == b"] \"")?;
    Some(end + 2)
}

/// The quoted words, verbatim; `None` if a quote is unclosed.
fn tokens(mut text: &[u8]) -> Option<Vec<&[u8]>> {
    let mut tokens = Vec::new();
    while let Some(rest) = text.strip_prefix(b"\"") {
        let mut is_escaped = false;
        let end = rest.iter().position(|byte| {
            let is_end = *byte == b'"' && !is_escaped;
            is_escaped = *byte == b'\\' && !is_escaped;
            is_end
        })?;
        tokens.push(&text[..end + 2]);
        text = &rest[end + 1..];
        text = text.strip_prefix(b" ").unwrap_or(text);
    }
    (text.is_empty() && !tokens.is_empty()).then_some(tokens)
}

/// The words to keep: command name, keys, and optionally numbers and words that lead to keys.
fn kept(words: &[Word<'_>], keys: &[usize], with_numbers: bool) -> Vec<bool> {
    let leads = |word: &[u8]| {
        let is_number = word.len() <= DIGITS && word.iter().all(u8::is_ascii_digit);
        is_number || KEYWORDS.iter().any(|name| word.eq_ignore_ascii_case(name))
    };
    let words = words.iter().enumerate();
    words
        .map(|(at, word)| at == 0 || keys.contains(&at) || with_numbers && leads(word))
        .collect()
}

/// Whether the stripped line still has the same keys.
fn has_keys(command: &Command, words: &[Word<'_>], kept: &[bool], keys: &[usize]) -> bool {
    let pairs = words.iter().zip(kept);
    let written: Vec<&[u8]> = pairs
        .map(|(word, is_kept)| if *is_kept { word } else { &b"?"[..] })
        .collect();
    let stripped = COMMANDS.find(&written);
    let is_same = stripped.is_some_and(|stripped| stripped.name == command.name || keys.is_empty());
    is_same && stripped.is_some_and(|stripped| stripped.keys(&written).unwrap_or_default() == keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(command: &str) -> Option<String> {
        let start = "1795216373.125436 [0 127.0.0.1:58548] ";
        let mut of = Stripped::default();
        let text = of.line(format!("+{start}{command}").as_bytes())?;
        let text = String::from_utf8(text.to_vec()).unwrap();
        Some(text.strip_prefix(start).unwrap().trim_end().to_owned())
    }

    #[test]
    fn commands_and_keys_stay_and_values_go() {
        for (line, expected) in [
            (r#""GET" "user:1""#, r#""GET" "user:1""#),
            (
                r#""set" "k\"1" "secret" "EX" "60""#,
                r#""set" "k\"1" "?" "?" "?""#,
            ),
            (
                r#""MSET" "a" "secret" "b" "secret""#,
                r#""MSET" "a" "?" "b" "?""#,
            ),
            (
                r#""EVAL" "return secret" "1" "k" "secret""#,
                r#""EVAL" "?" "1" "k" "?""#,
            ),
            (
                r#""XREAD" "COUNT" "2" "STREAMS" "s" "5-1""#,
                r#""XREAD" "?" "2" "STREAMS" "s" "?""#,
            ),
            (r#""PING""#, r#""PING""#),
            (
                r#""ZUNIONSTORE" "d" "2" "a" "b""#,
                r#""ZUNIONSTORE" "d" "2" "a" "b""#,
            ),
        ] {
            assert_eq!(stripped(line).as_deref(), Some(expected), "{line}");
        }
    }

    #[test]
    fn what_cannot_be_told_apart_is_not_written() {
        for line in [r#""GET" "open"#, r#""NOSUCH" "secret""#, r#""GET""x""#, ""] {
            assert!(
                stripped(line).is_none_or(|text| !text.contains("secret")),
                "{line}"
            );
        }
        assert_eq!(Stripped::default().line(b"OK"), None);
    }
}
