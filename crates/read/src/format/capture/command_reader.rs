//! Reads RESP commands word by word: unneeded words are skipped by length, long ones are truncated.

use std::ops::Range;

use slotscope_base::block::Block;

use crate::format::capture::run;
use crate::format::frame::fault::{Fault, Read, wrong};
use crate::format::parse::size::integer;
use crate::source::forward::Forward;

/// Maximum words per command: the limit of servers.
const MAX_WORDS: u64 = 1 << 20;
/// Maximum word length: above anything a server can be configured to accept (proto-max-bulk-len is 512 MB by default).
const MAX_LENGTH: u64 = 1 << 40;
/// The most that is kept of one word, and of all words of a command.
const KEPT_OF_A_WORD: u64 = 1 << 20;
const KEPT: u64 = 64 << 20;
/// Maximum length of other lines: `*3`, `$12`, `#TS:1795318593`.
const MAX_LINE: usize = 64;

/// The next item.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The end of the input.
    End,
    /// A line between commands, which may give the time of the following commands, in milliseconds since 1970.
    Comment(Option<u64>),
    /// A command of this many words, which must be read or skipped.
    Command(u64),
}

/// Reads commands and keeps the words of the last one.
pub(super) struct CommandReader {
    input: Forward,
    words: Vec<u8>,
    /// The end of each word.
    ends: Vec<usize>,
    /// Indices of truncated words, ascending.
    cut: Vec<usize>,
}

impl CommandReader {
    pub(super) fn new(input: Forward) -> Self {
        CommandReader {
            input,
            words: Vec::new(),
            ends: Vec::new(),
            cut: Vec::new(),
        }
    }

    /// The offset of the next byte.
    #[inline]
    pub(super) fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// The next item; drops the words of the last command.
    ///
    /// # Errors
    /// The bytes are neither a command nor a comment.
    #[inline]
    pub(super) fn next(&mut self) -> Read<Next> {
        let at = self.offset();
        let next = match self.input.ahead().first() {
            None => self.input.peek(1)?.first(),
            next => next,
        };
        match next {
            None => Ok(Next::End),
            Some(b'#') => self.comment(),
            Some(b'*') => {
                self.words.clear();
                self.ends.clear();
                self.cut.clear();
                let count = self.number_behind(b'*')?;
                if count <= MAX_WORDS {
                    Ok(Next::Command(count))
                } else {
                    wrong(at, "a number of words that no command has")
                }
            }
            Some(_) => wrong(at, "neither a command (*N) nor a time (#TS:)"),
        }
    }

    fn comment(&mut self) -> Read<Next> {
        let line = self.line()?;
        let seconds = line.strip_prefix(b"#TS:").and_then(integer);
        let ms = seconds.and_then(|seconds| seconds.checked_mul(1000));
        Ok(Next::Comment(ms))
    }

    /// The bytes buffered ahead.
    pub(super) fn bytes_ahead(&self) -> &[u8] {
        self.input.ahead()
    }

    /// Reads until `bytes` bytes are buffered or the input ends; returns whether any were added.
    pub(super) fn read_ahead(&mut self, bytes: usize) -> bool {
        let before = self.input.ahead().len();
        // An I/O error recurs when the bytes are actually needed.
        self.input
            .peek(bytes)
            .is_ok_and(|ahead| ahead.len() > before)
    }

    /// Consumes buffered bytes and moves them to `block`; returns where they start there.
    pub(super) fn take(&mut self, bytes: usize, block: &mut Block) -> usize {
        self.input.take(bytes, block)
    }

    /// Reads the next word of the command.
    ///
    /// # Errors
    /// There is no next word.
    #[inline]
    pub(super) fn word(&mut self) -> Read<()> {
        match self.ahead() {
            Some(word) => {
                let text = &self.input.ahead()[word.clone()];
                self.words.extend_from_slice(text);
                self.ends.push(self.words.len());
                self.input.pass(word.end + 2);
                Ok(())
            }
            None => self.any_word(),
        }
    }

    fn any_word(&mut self) -> Read<()> {
        let len = self.word_length()?;
        let kept = len.min(KEPT_OF_A_WORD).min(KEPT - self.words.len() as u64);
        self.input.read(&mut self.words, kept)?;
        if kept < len {
            self.cut.push(self.ends.len());
            self.input.skip(len - kept)?;
        }
        self.ends.push(self.words.len());
        self.end_of_word()
    }

    /// Skips the next word of the command.
    ///
    /// # Errors
    /// As for `word`.
    #[inline]
    pub(super) fn skip_word(&mut self) -> Read<()> {
        if let Some(word) = self.ahead() {
            self.input.pass(word.end + 2);
            return Ok(());
        }
        let len = self.word_length()?;
        self.input.skip(len)?;
        self.end_of_word()
    }

    /// The number of words read.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The kept part of a word.
    #[inline]
    pub(super) fn get(&self, word: usize) -> &[u8] {
        let start = word.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[word]]
    }

    /// Appends the words that were read to `block`; returns where they are there.
    pub(super) fn copy_to(&self, block: &mut Block) -> Vec<Range<usize>> {
        let start = block.len();
        block.append(&self.words);
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let words = starts.zip(&self.ends);
        words.map(|(from, to)| start + from..start + to).collect()
    }

    /// Indices of truncated words, ascending.
    pub(super) fn cut(&self) -> &[usize] {
        &self.cut
    }

    /// All words that were read.
    pub(super) fn words(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len()).map(|word| self.get(word))
    }

    /// Skips the rest of the input. Read errors do not matter here.
    pub(super) fn skip_rest(&mut self) {
        drop(self.input.skip_rest());
    }

    /// Where the next word is in the bytes ahead, if it is short and buffered, as most are.
    #[inline]
    fn ahead(&self) -> Option<Range<usize>> {
        let word = run::word(self.input.ahead(), 0).ok()?;
        (self.words.len() + word.len() <= KEPT as usize).then_some(word)
    }

    #[inline]
    fn word_length(&mut self) -> Read<u64> {
        let at = self.offset();
        let len = self.number_behind(b'$')?;
        if len <= MAX_LENGTH {
            Ok(len)
        } else {
            wrong(at, "a word that is longer than any server takes")
        }
    }

    #[inline]
    fn end_of_word(&mut self) -> Read<()> {
        let at = self.offset();
        match &self.input.array()? {
            b"\r\n" => Ok(()),
            _ => wrong(at, "a word of another length than it says"),
        }
    }

    /// The number of a line such as `*3` or `$12`.
    #[inline]
    fn number_behind(&mut self, sign: u8) -> Read<u64> {
        match run::number(self.input.ahead(), 0, sign) {
            Ok((number, len)) => {
                self.input.pass(len);
                Ok(number as u64)
            }
            Err(_) => self.any_number_behind(sign),
        }
    }

    #[cold]
    fn any_number_behind(&mut self, sign: u8) -> Read<u64> {
        let at = self.offset();
        let line = self.line()?;
        match line.split_first() {
            Some((first, digits)) if *first == sign => match integer(digits) {
                Some(number) => Ok(number),
                None => wrong(at, "a line of RESP without its number"),
            },
            _ => wrong(at, "no word ($length) where one is to be"),
        }
    }

    /// A line without its line end, which is consumed.
    fn line(&mut self) -> Read<&[u8]> {
        let at = self.offset();
        let ahead = self.input.peek(MAX_LINE)?;
        let Some(end) = ahead.iter().position(|byte| *byte == b'\n') else {
            return if ahead.len() < MAX_LINE {
                Err(Fault::CutOff)
            } else {
                wrong(at, "a line that no command has")
            };
        };
        self.input.pass(end + 1);
        let line = &self.input.behind(end + 1)[..end];
        Ok(line.strip_suffix(b"\r").unwrap_or(line))
    }
}
