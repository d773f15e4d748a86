//! The pattern of lines that other programs printed around names: cut from both ends until one distinct name is left.
//!
//! The text that all lines share is text of the pattern; a word that is a value or one of a few is a field.

use crate::format::line::matching::unquoted;
use crate::format::line::parse::literal;
use crate::format::parse::quoted;
use crate::format::parse::size::size;
use crate::format::shape::column::{
    Column, MOST, MayBeSize, common_prefix, common_suffix, share_of, unit,
};
use crate::format::shape::{beside, inner};
use crate::format::table::names;

/// Cuts at most.
const CUTS: usize = 40;

/// The pattern of lines with a distinct name each, if there is more in them than names. A title or a bracket may be above
/// and below them.
pub(in crate::format) fn pattern(rows: &[&[u8]]) -> Option<String> {
    of_all(rows)
        .or_else(|| of_all(inner(rows)))
        .or_else(|| of_all(&marked(rows)?))
}

/// Such a pattern with a size or quotes, which prove that the lines contain more than names.
pub(in crate::format) fn proven(rows: &[&[u8]]) -> Option<String> {
    let is_proof = |pattern: &String| pattern.contains("{size}") || pattern.contains("{key:q}");
    pattern(rows).filter(is_proof)
}

/// The lines that start with the same mark, if these are most of them.
fn marked<'a>(rows: &[&'a [u8]]) -> Option<Vec<&'a [u8]>> {
    let start = |row: &&[u8]| row.trim_ascii().first().copied();
    let middle = start(rows.get(rows.len() / 2)?)?;
    let is_like = |row: &&&[u8]| start(row) == Some(middle);
    let like: Vec<&[u8]> = rows.iter().filter(is_like).copied().collect();
    let is_mark = !middle.is_ascii_alphanumeric() && like.len() < rows.len();
    (is_mark && 3 * like.len() >= 2 * rows.len()).then_some(like)
}

fn of_all(rows: &[&[u8]]) -> Option<String> {
    let mut peeled = Peeled {
        rest: rows.iter().map(|row| row.trim_ascii()).collect(),
        ..Peeled::default()
    };
    peeled.places();
    for _ in 0..CUTS {
        if !(peeled.text_before()
            || peeled.text_after()
            || peeled.word_before()
            || peeled.word_after())
        {
            break;
        }
    }
    let key = peeled.key()?;
    let is_more = !peeled.before.is_empty() || !peeled.after.is_empty();
    is_more.then(|| with_size(&format!("{}{key}{}", peeled.before, peeled.after)))
}

/// Stand in a pattern for numbers that may be sizes: with a unit, without one, and small ones or ordinals.
const NUMBERS: [char; 3] = ['\u{E000}', '\u{E001}', '\u{E002}'];

/// The pattern with one of the numbers as the size: one that a word before it calls so, or else with a unit, or else the
/// last one; never a number of something else.
fn with_size(pattern: &str) -> String {
    let rank = |at: usize, number: &str| {
        let before = pattern[..at].trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let label = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let is_labelled = names::speaks_of_size(label.take(1).collect::<String>().as_bytes());
        let after = pattern[at + number.len()..].trim_start();
        let likelihood = NUMBERS
            .into_iter()
            .rev()
            .position(|known| number.starts_with(known));
        match likelihood {
            _ if is_labelled => NUMBERS.len() + 1,
            _ if after.starts_with(char::is_alphabetic) => 0,
            likelihood => likelihood.map_or(0, |likelihood| likelihood + 1),
        }
    };
    let numbers = pattern.match_indices(NUMBERS);
    let size = numbers.map(|(at, number)| (rank(at, number), at)).max();
    let size = size.filter(|(rank, _)| *rank > 0).map(|(_, at)| at);
    let mut text = String::new();
    for (at, letter) in pattern.char_indices() {
        match letter {
            _ if Some(at) == size => text += "{size}",
            letter if NUMBERS.contains(&letter) => text += "{_}",
            letter => text.push(letter),
        }
    }
    text
}

/// Lines without what was cut off.
#[derive(Default)]
struct Peeled<'a> {
    rest: Vec<&'a [u8]>,
    /// The pattern of what was before.
    before: String,
    /// The pattern of what was after.
    after: String,
}

impl<'a> Peeled<'a> {
    /// The field of the key, if one distinct name is left of each line.
    fn key(&self) -> Option<&'static str> {
        let are_quoted = self.are_quoted();
        let inside = |text: &&'a [u8]| match quoted::whole(text) {
            Some((inside, _)) if are_quoted => &text[inside],
            _ => *text,
        };
        let keys = Column::of(self.rest.iter().map(inside).collect());
        // In quotes that are written in a way of their own.
        let is_enclosed = |key: &&[u8]| is_quote(&key[0]) && key.first() == key.last();
        let are_enclosed =
            !are_quoted && share_of(&keys.cells, |key| key.len() > 1 && is_enclosed(key)) > 0.5;
        let is_word = |key: &&[u8]| !key.iter().any(u8::is_ascii_whitespace);
        // A number after a sign without blanks is rather a part of a name.
        let is_argument = !are_quoted && self.after.starts_with('=');
        let are_keys = keys.is_unique()
            && !is_argument
            && !are_enclosed
            && !keys.is_value()
            && keys.look_like_keys() >= 0.7
            && (are_quoted || share_of(&keys.cells, is_word) > 0.5);
        let text = [self.before.as_bytes(), self.after.as_bytes()].concat();
        let count = |of: &[u8]| text.iter().filter(|byte| of.contains(byte)).count();
        let is_whole = count(b"([{") == count(b")]}")
            && (count(b"<") == 0 || count(b"<") == count(b">"))
            && b"\"'`".iter().all(|quote| count(&[*quote]) % 2 == 0);
        (are_keys && is_whole).then_some(if are_quoted { "{key:q}" } else { "{key}" })
    }

    fn are_quoted(&self) -> bool {
        share_of(&self.rest, |text| quoted::whole(text).is_some()) >= MOST
    }

    /// Cuts the text that all lines start with, up to the start of a word.
    fn text_before(&mut self) -> bool {
        let common = common_prefix(&self.rest);
        let len = boundary(common);
        if len == 0 || self.are_quoted() {
            return false;
        }
        let Ok(text) = std::str::from_utf8(&common[..len]) else {
            return false;
        };
        self.before += &literal(text);
        self.rest.iter_mut().for_each(|line| *line = &line[len..]);
        self.trim()
    }

    /// Cuts the text that all lines end with, from the end of a word on.
    fn text_after(&mut self) -> bool {
        let common = common_suffix(&self.rest);
        let is_end = |at: &usize| {
            let byte = common[*at];
            let is_after_quote = *at > 0 && is_quote(&common[*at - 1]) && !is_quote(&byte);
            is_blank(&byte)
                || b")]}<>|,;=~^".contains(&byte)
                || is_after_quote && !byte.is_ascii_alphanumeric()
        };
        let from = (0..common.len()).find(is_end).unwrap_or(common.len());
        let is_after_digit = |line: &&[u8]| {
            let at = line.len() - common.len() + from;
            at > 0 && line[at - 1].is_ascii_digit()
        };
        let unit = unit_len(&common[from..]);
        let from = from
            + if self.rest.iter().all(is_after_digit) {
                unit
            } else {
                0
            };
        let Ok(text) = std::str::from_utf8(&common[from..]) else {
            return false;
        };
        if text.is_empty() || self.are_quoted() {
            return false;
        }
        self.after.insert_str(0, &literal(text));
        let len = text.len();
        self.rest
            .iter_mut()
            .for_each(|line| *line = &line[..line.len() - len]);
        self.trim()
    }

    /// Cuts the first word of each line, if it is a value or one of a few.
    fn word_before(&mut self) -> bool {
        let is_end = |byte: &u8| is_blank(byte) || b"|;,".contains(byte);
        let Some(words) = self.words(|line| Some(&line[..line.iter().position(is_end)?])) else {
            return false;
        };
        let Some(field) = self.field(&words) else {
            return false;
        };
        self.before += &field;
        for (line, word) in self.rest.iter_mut().zip(words) {
            *line = &line[word.len()..];
        }
        self.trim()
    }

    /// Cuts the name of a file and the number of a line, as grep -n prints them.
    fn places(&mut self) {
        if !beside::are_numbered(&self.rest) {
            return;
        }
        loop {
            let end = |line: &'a [u8]| memchr::memchr(b':', line);
            let Some(words) = self.words(|line| Some(&line[..end(line)?])) else {
                return;
            };
            self.before += "{_}:";
            let lines = self
                .rest
                .iter()
                .filter_map(|line| Some(&line[end(line)? + 1..]));
            self.rest = lines.collect();
            if Column::of(words).is_value() {
                return;
            }
        }
    }

    /// Cuts the last word of each line, with the unit after a number, if it is a value or one of a few.
    fn word_after(&mut self) -> bool {
        let Some(words) = self.words(|line| Some(&line[last_word(line)?..])) else {
            return false;
        };
        let Some(field) = self.field(&words) else {
            return false;
        };
        self.after.insert_str(0, &field);
        for (line, word) in self.rest.iter_mut().zip(words) {
            *line = &line[..line.len() - word.len()];
        }
        self.trim()
    }

    /// A word of each line.
    fn words(&self, word: impl Fn(&'a [u8]) -> Option<&'a [u8]>) -> Option<Vec<&'a [u8]>> {
        let words = self.rest.iter().map(|line| word(line));
        words
            .map(|word| word.filter(|word| !word.is_empty()))
            .collect()
    }

    /// The field of words that do not belong to the key.
    fn field(&self, words: &[&'a [u8]]) -> Option<String> {
        let words = Column::of(words.iter().map(|word| unquoted(word)).collect());
        let is_figure = |word: &&[u8]| {
            let is_of_it = |byte: &u8| byte.is_ascii_digit() || b".,'/%+-()#".contains(byte);
            word.iter().all(is_of_it) && word.iter().any(u8::is_ascii_digit)
        };
        let is_beside = words.is_value()
            || words.is_filler()
            || words.are_few()
            || words.is_decorated
            || share_of(&words.cells, is_figure) >= MOST;
        let has_unit = |word: &&[u8]| word.last().is_some_and(u8::is_ascii_alphabetic);
        let number = match words.size() {
            Some(MayBeSize::Likely) if share_of(&words.cells, has_unit) >= 0.5 => NUMBERS[0],
            Some(MayBeSize::Likely) => NUMBERS[1],
            Some(MayBeSize::Hardly) => NUMBERS[2],
            None => return is_beside.then(|| String::from("{_}")),
        };
        is_beside.then(|| number.into())
    }

    /// Takes the blanks at the cuts into the pattern.
    fn trim(&mut self) -> bool {
        if self
            .rest
            .iter()
            .all(|line| line.first().is_some_and(is_blank))
            && !self.before.ends_with(' ')
        {
            self.before.push(' ');
        }
        if self
            .rest
            .iter()
            .all(|line| line.last().is_some_and(is_blank))
            && !self.after.starts_with(' ')
        {
            self.after.insert(0, ' ');
        }
        self.rest
            .iter_mut()
            .for_each(|line| *line = line.trim_ascii());
        true
    }
}

/// The start of the last word of a line, which has its unit if it is a number.
fn last_word(line: &[u8]) -> Option<usize> {
    let is_end = |byte: &u8| is_blank(byte) || b"|;,=(>".contains(byte);
    let at = line.iter().rposition(is_end)?;
    let before = line[..at].iter().rposition(is_end).map_or(0, |at| at + 1);
    let is_unit = line[at..].trim_ascii().iter().all(u8::is_ascii_alphabetic);
    let has_unit = is_unit && size(&line[before..at]).is_some() && size(&line[before..]).is_some();
    Some(if has_unit { before } else { at + 1 })
}

/// The length of the unit that a text starts with, which belongs to the number before it.
fn unit_len(text: &[u8]) -> usize {
    let blanks = text.iter().take_while(|byte| is_blank(byte)).count();
    let letters = text[blanks..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    let is_unit = unit(&text[blanks..blanks + letters]).is_some();
    if is_unit { blanks + letters } else { 0 }
}

fn is_quote(byte: &u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The length of a text up to the last place in it where a word may start, in quotes or not. A colon alone is inside names,
/// and a brace starts a hash tag.
fn boundary(text: &[u8]) -> usize {
    let is_mark = |at: usize| {
        is_blank(&text[at])
            || b"([<|,;=>^~".contains(&text[at])
            || text[at] == b'{' && text.get(at + 1).is_some_and(is_quote)
            || at > 0 && text[at - 1..].starts_with(b"::")
    };
    (0..text.len())
        .rev()
        .find(|at| is_mark(*at))
        .map_or(0, |at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: &[&str]) -> Option<String> {
        pattern(&rows.iter().map(|row| row.as_bytes()).collect::<Vec<_>>())
    }

    #[test]
    fn the_text_around_names_is_found() {
        for (rows, expected) in [
            (
                &[
                    "- [ ] user:1 (121 bytes)",
                    "- [ ] cart:2 (97 bytes)",
                    "- [ ] lock:3 (1024 bytes)",
                ][..],
                "- [ ] {key} ({size})",
            ),
            (
                &[
                    "user:1   1.2 KB  string",
                    "cart:2   97 B    hash",
                    "lock:{3} 4.0 MB  set",
                ],
                "{key} {size} {_}",
            ),
            (
                &[
                    "set 'user:1' = 12",
                    "set 'it s:3' = 97",
                    "set 'cart:2' = 450",
                ],
                "set {key:q} = {size}",
            ),
            (
                &[
                    "k.txt:2:user:1",
                    "k.txt:9:cart:2",
                    "k.txt:12:lock:3",
                    "k.txt:30:a:4",
                ],
                "{_}:{_}:{key}",
            ),
            (
                &["<li>user:1</li>", "<li>cart:2</li>", "<li>lock:3</li>"],
                "<li>{key}</li>",
            ),
        ] {
            assert_eq!(of(rows).as_deref(), Some(expected), "{rows:?}");
        }
        let log = (0..9).map(|at| {
            let (level, place) = ([("INFO   ", 12), ("WARNING", 14)])[at % 2];
            format!("2026-11-30 10:1{at}:12.1 | {level} | scan:main:{place} - user:{at} 12{at}{at}")
        });
        let log: Vec<String> = log.collect();
        let log: Vec<&str> = log.iter().map(String::as_str).collect();
        let expected = "2026-11-30 {_} | {_} | {_} - {key} {size}";
        assert_eq!(of(&log).as_deref(), Some(expected));
        for rows in [
            &["user:1", "cart:2", "lock:3"][..],
            &["{user:1}:a", "{user:2}:b", "{user:3}:c"],
            &["search red shoes", "search blue hats", "search my bag"],
            &["10:user:1", "11:user:2", "12:user:3", "13:user:4"],
        ] {
            assert_eq!(of(rows), None, "{rows:?}");
        }
    }
}
