//! The pattern of lines that other programs printed around names: cut from both ends until one distinct name is left.
//!
//! The text that all lines share is text of the pattern; a word that is a value or one of a few is a field.

mod words;

use slotscope_read::format::line::Pattern;
use slotscope_read::format::line::matching::unquoted;
use slotscope_read::format::line::parse::literal;
use slotscope_read::format::parse::quoted;

use crate::shape::column::{
    Column, MOST, MayBeSize, common_prefix, common_suffix, is_figure, share_of, with_commas,
};
use crate::shape::{beside, inner};

use words::{
    are_closed, boundary, closing, is_blank, is_quote, is_size_label, key_label, last_word,
    unit_len, without_last, written,
};

/// Cuts at most.
const CUTS: usize = 40;

/// The pattern of lines with a distinct name each, if there is more in them than names. A title or a bracket may be above
/// and below them.
pub(crate) fn pattern(rows: &[&[u8]]) -> Option<String> {
    let text = of_all(rows)
        .or_else(|| of_all(inner(rows)))
        .or_else(|| of_all(&marked(rows)?))?;
    Some(with_commas(text, rows))
}

fn of_all(rows: &[&[u8]]) -> Option<String> {
    let rest: Vec<&[u8]> = rows.iter().map(|row| row.trim_ascii()).collect();
    let peeled = Peeled {
        rest,
        ..Peeled::default()
    };
    peeled
        .clone()
        .pattern()
        .or_else(|| peeled.without_source()?.pattern())
}

/// Such a pattern with a size or quotes, which prove that the lines contain more than names.
pub(crate) fn proven(rows: &[&[u8]]) -> Option<String> {
    let is_proof = |pattern: &String| pattern.contains("{size") || pattern.contains("{key:q}");
    pattern(rows).filter(is_proof)
}

/// The lines that start with the same mark or tag, if these are most of them.
fn marked<'a>(rows: &[&'a [u8]]) -> Option<Vec<&'a [u8]>> {
    let start = |row: &&'a [u8]| -> Option<&'a [u8]> {
        let row = row.trim_ascii_start();
        let tag = memchr::memchr2(b'>', b' ', row).filter(|_| row.starts_with(b"<"));
        row.get(..=tag.unwrap_or(0))
    };
    let middle = start(rows.get(rows.len() / 2)?)?;
    let is_like = |row: &&&'a [u8]| start(row) == Some(middle);
    let like: Vec<&[u8]> = rows.iter().filter(is_like).copied().collect();
    let is_mark = !middle[0].is_ascii_alphanumeric() && like.len() < rows.len();
    (is_mark && 3 * like.len() >= 2 * rows.len()).then_some(like)
}

/// Stand in a pattern for numbers that may be sizes: with a unit, without one, and small ones or ordinals.
const NUMBERS: [char; 3] = ['\u{E000}', '\u{E001}', '\u{E002}'];

/// The pattern with one of the numbers as the size: one that a word before it calls so, or else with a unit, or else the
/// last one; never a number of something else.
fn with_size(pattern: &str) -> String {
    let rank = |at: usize, number: &str| {
        let before = pattern[..at].trim_end_matches(|letter: char| !letter.is_alphanumeric());
        let label = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let is_labelled = is_size_label(label.take(1).collect::<String>().as_bytes());
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
#[derive(Default, Clone)]
struct Peeled<'a> {
    rest: Vec<&'a [u8]>,
    /// The pattern of what was before.
    before: String,
    /// The pattern of what was after.
    after: String,
    /// Labels that were cut with their values.
    labels: usize,
}

impl<'a> Peeled<'a> {
    /// The pattern, once no more can be cut.
    fn pattern(mut self) -> Option<String> {
        self.places();
        for _ in 0..CUTS {
            if !(self.text_before() || self.text_after() || self.word_before() || self.word_after())
            {
                break;
            }
        }
        let key = self.key()?;
        let is_more = !self.before.is_empty() || !self.after.is_empty();
        let text = with_size(&format!("{}{key}{}", self.before, self.after));
        (is_more && Pattern::parse(&text).is_ok()).then_some(text)
    }

    /// Lines without a first word in brackets, which names where each comes from, as kubectl writes it.
    fn without_source(mut self) -> Option<Peeled<'a>> {
        let words = self.words(|line| Some(&line[..line.iter().position(is_blank)?]))?;
        let is_source = |word: &&[u8]| word.starts_with(b"[") && word.ends_with(b"]");
        if !words.iter().all(is_source) {
            return None;
        }
        for (line, word) in self.rest.iter_mut().zip(words) {
            *line = &line[word.len()..];
        }
        self.before += "{_}";
        self.trim().then_some(self)
    }

    /// The field of the key, if one distinct name is left of each line.
    fn key(&self) -> Option<&'static str> {
        let is_quoted = |text: &&[u8]| quoted::whole(text).is_some();
        let are_quoted = self.are_quoted() || self.is_labelled() && self.rest.iter().any(is_quoted);
        // Quotes around some alone would be read as parts of those keys.
        if !are_quoted && self.rest.iter().any(is_quoted) {
            return None;
        }
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
            && self.labels != 1
            && !are_enclosed
            && !keys.is_value()
            && keys.look_like_keys() >= 0.7
            && (are_quoted || share_of(&keys.cells, is_word) > 0.5);
        let text = [self.before.as_bytes(), self.after.as_bytes()].concat();
        let count = |of: &[u8]| text.iter().filter(|byte| of.contains(byte)).count();
        let is_whole = are_closed(&text)
            && (count(b"<") == 0 || count(b"<") == count(b">"))
            && b"\"'`".iter().all(|quote| count(&[*quote]) % 2 == 0);
        (are_keys && is_whole).then_some(if are_quoted { "{key:q}" } else { "{key}" })
    }

    /// Whether a word that says what follows is before each name, which is in quotes only if it needs them.
    fn is_labelled(&self) -> bool {
        Pattern::parse(&format!("{}{{key}}", self.before))
            .is_ok_and(|pattern| pattern.is_labelled())
    }

    fn are_quoted(&self) -> bool {
        share_of(&self.rest, |text| quoted::whole(text).is_some()) >= MOST
    }

    /// Cuts the text that all lines start with, up to the start of a word.
    fn text_before(&mut self) -> bool {
        let common = common_prefix(&self.rest);
        let len = boundary(common).max(key_label(common));
        if len == 0 || self.are_quoted() {
            return false;
        }
        let Ok(text) = std::str::from_utf8(&common[..len]) else {
            return false;
        };
        self.before += &written(text);
        self.rest.iter_mut().for_each(|line| *line = &line[len..]);
        self.trim()
    }

    /// Cuts the text that all lines end with, from the end of a word on.
    fn text_after(&mut self) -> bool {
        let common = common_suffix(&self.rest);
        // `2)` numbers a reply.
        let mark = |line: &'a [u8]| {
            let start = last_word(line)?;
            (start > 0 && line[start - 1] != b'(').then_some(&line[start..])
        };
        if self
            .words(mark)
            .is_some_and(|marks| Column::of(marks).is_decorated)
        {
            return false;
        }
        let before = |line: &[u8]| line.len().checked_sub(common.len() + 1).map(|at| line[at]);
        let are_quoted = self
            .rest
            .iter()
            .all(|line| before(line).is_some_and(|byte| is_quote(&byte)));
        let is_end = |at: &usize| {
            let byte = common[*at];
            let is_quoted = at
                .checked_sub(1)
                .map_or(are_quoted, |at| is_quote(&common[at]));
            let is_after_quote = is_quoted && !is_quote(&byte);
            is_blank(&byte)
                || b")]}<>|,;=~^".contains(&byte)
                || byte == b':' && *at + 1 == common.len() && self.after.starts_with(' ')
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
        self.after.insert_str(0, &written(text));
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
        let words = match closing(&self.before) {
            Some(close) => without_last(close, words),
            None => words,
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
        // A cell may be of several words.
        let cell = |line: &'a [u8]| Some(&line[memchr::memrchr(b'|', line)? + 1..]);
        let cells = self.words(cell).filter(|cells| self.field(cells).is_some());
        let words = || self.words(|line| Some(&line[last_word(line)?..]));
        let Some(words) = cells.or_else(words) else {
            return false;
        };
        let Some(field) = self.field(&words).or_else(|| self.labelled(&words)) else {
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
        let is_beside = words.is_value()
            || words.is_filler()
            || words.are_few()
            || words.is_decorated
            || words.are_leaders()
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

    /// The same of words with one label before a value each: `refcount:1`. One alone that is not of sizes may be a part of names.
    fn labelled(&mut self, words: &[&'a [u8]]) -> Option<String> {
        let common = common_prefix(words);
        let len = common.iter().rposition(|byte| b":=".contains(byte))?;
        let label = std::str::from_utf8(&common[..=len]).ok()?;
        let values: Vec<&[u8]> = words.iter().map(|word| &word[len + 1..]).collect();
        let is_size = is_size_label(&common[..len]);
        let field = self.field(&values).filter(|_| is_size);
        self.labels += 1 + usize::from(is_size);
        Some(literal(label) + field.as_deref().unwrap_or("{_}"))
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

#[cfg(test)]
mod tests;
