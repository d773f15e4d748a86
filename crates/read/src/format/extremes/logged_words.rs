//! A command's words as logged by servers (SLOWLOG, COMMANDLOG): at most 32 words of 128 bytes.

use slotscope_base::command::{COMMANDS, Command};

/// Words kept by the server; the last one may state how many were omitted.
const WORDS: usize = 32;
/// Bytes kept per word.
const BYTES: usize = 128;
/// More words than any command has.
const MAX_WORDS: usize = 1 << 20;

/// The words of a command; omitted ones are empty.
pub struct LoggedWords<'w> {
    words: Vec<&'w [u8]>,
    kept: usize,
}

impl<'w> LoggedWords<'w> {
    /// The words of an entry.
    pub fn new(mut words: Vec<&'w [u8]>) -> Self {
        let left_out = left_out(&words).unwrap_or(0);
        let kept = words.len() - usize::from(left_out > 0);
        words.truncate(kept);
        words.resize(kept + left_out, b"");
        LoggedWords { words, kept }
    }

    /// The number of words in the log.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// The command, if it is known.
    pub fn command(&self) -> Option<&'static Command> {
        COMMANDS.find(&self.words)
    }

    /// The indices of its keys, some of which may be omitted from the log.
    pub(super) fn keys(&self, command: &Command) -> Result<Vec<usize>, String> {
        command.keys(&self.words)
    }

    /// Its first key, and whether it is complete; `None` if there is no key or it is omitted.
    pub fn first_key(&self) -> Option<(&'w [u8], bool)> {
        let keys = self.keys(self.command()?).ok()?;
        let first = *keys.first().filter(|first| **first < self.kept)?;
        let key = self.words[first];
        Some(start_of_cut(key).map_or((key, true), |start| (start, false)))
    }
}

/// The number of words omitted according to the last one, `... (30 more arguments)`.
fn left_out(words: &[&[u8]]) -> Option<usize> {
    let last = words.get(WORDS - 1).filter(|_| words.len() == WORDS)?;
    let digits = last
        .strip_prefix(b"... (")?
        .strip_suffix(b" more arguments)")?;
    let number: usize = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (number <= MAX_WORDS).then_some(number)
}

/// The kept start of a word that ends in the server's truncation mark: `... (72 more bytes)`.
pub(super) fn start_of_cut(word: &[u8]) -> Option<&[u8]> {
    let (start, end) = word.split_at_checked(BYTES)?;
    let number = end.strip_prefix(b"... (")?.strip_suffix(b" more bytes)")?;
    let is_number = !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    is_number.then_some(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_key_is_known_as_far_as_the_log_has_it() {
        let long = [&[b'a'; BYTES][..], b"... (72 more bytes)"].concat();
        for (words, expected) in [
            (vec![&b"GET"[..], b"k"], Some((&b"k"[..], true))),
            (vec![b"set", &long, b"v"], Some((&[b'a'; BYTES][..], false))),
            (vec![b"PING"], None),
            (vec![b"NOSUCH", b"k"], None),
            (vec![b"GET"], None),
            (vec![b"EVAL", b"s", b"1", b"k"], Some((b"k", true))),
        ] {
            assert_eq!(LoggedWords::new(words).first_key(), expected);
        }
        // The word with the number of keys is kept, the keys are not.
        let mut words = vec![&b"eval"[..], b"s", b"0"];
        words.resize(WORDS - 1, b"x");
        words.push(b"... (9 more arguments)");
        let logged = LoggedWords::new(words);
        assert_eq!((logged.words.len(), logged.kept()), (WORDS + 8, WORDS - 1));
        assert_eq!(logged.first_key(), None);
    }
}
