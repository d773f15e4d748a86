//! Noise around keys in recorded redis-cli output: prompts, timings, errors, colours. Classifies lines. Nothing is
//! dropped without being counted.

use slotscope_base::ansi;

use crate::format::redis_cli::errors;
use crate::format::{Detected, Head, Notice};

/// Lines of a head that decide the format.
const LINES: usize = 200;

/// The kind of noise in `line`, which has no line end; `None` if it may be a row.
pub fn noise(line: &[u8]) -> Option<Notice> {
    let line = bare(line);
    let ends = |start: &[u8], end: &[u8]| {
        line.len() >= start.len() + end.len() && line.starts_with(start) && line.ends_with(end)
    };
    match line.first() {
        None => Some(Notice::BlankLine),
        Some(b'W') if line.starts_with(b"Warning: Using a password") => Some(Notice::Warning),
        Some(_) if errors::is_failure(line) => Some(Notice::ErrorReply),
        Some(b'(')
            if [
                b"(empty array)".as_slice(),
                b"(empty list or set)",
                b"(empty set)",
            ]
            .contains(&line) =>
        {
            Some(Notice::EmptyReply)
        }
        Some(b'(') if ends(b"(", b"s)") => {
            let number = &line[1..line.len() - 2];
            let digits = number
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
                && !number.is_empty();
            digits.then_some(Notice::Timing)
        }
        Some(b'S')
            if line.starts_with(b"Script started on ") || line.starts_with(b"Script done on ") =>
        {
            Some(Notice::Warning)
        }
        Some(b'>') if line.starts_with(b">>> ") => Some(Notice::Progress),
        _ => is_prompt(line).then_some(Notice::Prompt),
    }
}

/// `line` without a trailing carriage return and surrounding terminal codes.
pub fn bare(line: &[u8]) -> &[u8] {
    without_codes(line).1
}

/// The same, with the number of leading code bytes.
pub(crate) fn without_codes(line: &[u8]) -> (usize, &[u8]) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let mut from = 0;
    while let Some(len) = ansi::sequence(&line[from..]) {
        from += len;
    }
    let mut line = &line[from..];
    while line.last().is_some_and(u8::is_ascii_alphabetic) {
        let Some(start) = memchr::memrchr(0x1B, line)
            .filter(|start| ansi::sequence(&line[*start..]) == Some(line.len() - start))
        else {
            break;
        };
        line = &line[..start];
    }
    (from, line.strip_suffix(b"\r").unwrap_or(line))
}

/// A redis-cli prompt at the start: `host:port> ` or `host:port[db]> `.
fn is_prompt(line: &[u8]) -> bool {
    let Some(end) = memchr::memchr(b'>', line) else {
        return false;
    };
    let (before, after) = (&line[..end], &line[end + 1..]);
    let name = before
        .split(|byte| *byte == b'[')
        .next()
        .unwrap_or_default();
    let plain = before
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b".:-_[]()".contains(byte));
    let port = name.rsplit(|byte| *byte == b':').next().unwrap_or_default();
    let has_port =
        port.len() < name.len() && !port.is_empty() && port.iter().all(u8::is_ascii_digit);
    plain && matches!(after.first(), None | Some(b' ')) && (has_port || name == b"not connected")
}

/// Whether nine in ten lines of a head that are not noise, including the first, satisfy `is_row`. An input of noise
/// alone also counts if it reports an empty or failed reply.
pub(crate) fn detect(head: Head<'_>, is_row: impl Fn(&[u8]) -> bool) -> Detected {
    let whole_lines = match memchr::memrchr(b'\n', head.bytes) {
        _ if head.whole => head.bytes,
        Some(end) => &head.bytes[..end],
        None => return Detected::NeedMore,
    };
    let mut replies = 0;
    let lines = whole_lines
        .split(|byte| *byte == b'\n')
        .filter(|line| match noise(line) {
            None => true,
            Some(notice) => {
                replies += u32::from(matches!(notice, Notice::EmptyReply | Notice::ErrorReply));
                false
            }
        });
    let (mut rows, mut others) = (0, 0);
    let cut_off = whole_lines.rsplit(|byte| *byte == b'\n').next();
    for line in lines.take(LINES) {
        match is_row(bare(line)) {
            true => rows += 1,
            false if rows == 0 => return Detected::No,
            // The dump may end in the middle of a row.
            false if cut_off.is_some_and(|last| std::ptr::eq(last, line)) => {}
            false => others += 1,
        }
    }
    let says_none = rows + others == 0 && head.whole && replies > 0;
    if rows > 9 * others || says_none {
        Detected::Yes
    } else {
        Detected::No
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_what_redis_cli_prints_around_keys() {
        for (line, notice) in [
            ("127.0.0.1:6379> KEYS *", Notice::Prompt),
            ("127.0.0.1:6379[3]> ", Notice::Prompt),
            (
                "\u{1b}[0;31mredis.example.com:6379>\u{1b}[0m",
                Notice::Prompt,
            ),
            ("(1.23s)", Notice::Timing),
            (
                "(error) NOAUTH Authentication required.\r",
                Notice::ErrorReply,
            ),
            ("(empty array)", Notice::EmptyReply),
            (
                "Warning: Using a password with '-a' may not be safe.",
                Notice::Warning,
            ),
            ("\u{1b}[29;1m>>> Calling KEYS *", Notice::Progress),
            ("\r", Notice::BlankLine),
            (
                "\u{1b}[6n127.0.0.1:7801> \r\u{1b}[0K127.0.0.1:7801> KEYS *\r\u{1b}[22C\r",
                Notice::Prompt,
            ),
        ] {
            assert_eq!(noise(line.as_bytes()), Some(notice), "{line}");
        }
    }

    #[test]
    fn a_row_is_no_noise() {
        for line in [
            "\"(1.23s)\"",
            "1) \"a\"",
            "(s)",
            "(nil)",
            "a:1",
            "a -> b",
            "user:1>2",
            "a>",
            "\u{1b}[31",
        ] {
            assert_eq!(noise(line.as_bytes()), None, "{line}");
        }
    }
}
