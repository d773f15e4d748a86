//! A key as tokens: words, numbers, dates and ids between separators, once the braces of its hash tag are taken out.

use slotscope_engine::hash::hash;

use crate::places::{FIELD, PlaceKind, Places, Prefix, delimiter};

/// Bytes of a key that are looked at, and tokens of it. Longer keys keep their names.
pub const MOST_BYTES: usize = 512;
const MOST_TOKENS: usize = 24;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenKind {
    /// A word, literal until the families show that it is a value.
    Word,
    /// A number.
    Number,
    /// A day or a month.
    Date,
    /// A Unix time in seconds or milliseconds.
    Time,
    /// Eight or more hex digits.
    Hex,
    /// Letters and digits mixed.
    Id,
    /// A UUID.
    Uuid,
    /// An IPv4 address.
    Address,
    /// A whole segment that batches show to be a value.
    Segment,
}

/// A token, as positions in the key without its braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// Where a brace is: after this many tokens, and this many bytes after the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BracePlace {
    /// Tokens before it.
    pub tokens: u8,
    /// Bytes between the last of them and the brace; `INSIDE` where it splits a token.
    pub bytes: u16,
}

/// The bytes of a brace that splits a token.
pub(crate) const INSIDE: u16 = u16::MAX;

/// The effective braces of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Braces {
    /// The opening one.
    pub open: BracePlace,
    /// The closing one; its tokens are those that begin before it.
    pub close: BracePlace,
}

/// A segment between delimiters, as positions in the key without its braces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// Where it starts.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// Its place.
    pub place: u64,
}

/// A key in parts; kept from key to key for its memory.
#[derive(Debug, Default)]
pub struct Tokens {
    places: Places,
    /// Its segments, where places are learned.
    pub(crate) segments: Vec<Segment>,
    /// The key without its effective braces.
    pub bare: Vec<u8>,
    /// Its tokens.
    pub list: Vec<Token>,
    /// The braces.
    pub braces: Option<Braces>,
    /// The tag, as positions in `bare`.
    pub tag: Option<(usize, usize)>,
    /// There are more tokens than are looked at.
    pub is_cut: bool,
}

impl Tokens {
    /// Takes keys apart whose segments at these places are one token each.
    pub(crate) fn with(places: &Places) -> Self {
        Tokens {
            places: places.clone(),
            ..Tokens::default()
        }
    }

    /// Takes `key` apart. False where it is too long for that.
    pub fn parse(&mut self, key: &[u8]) -> bool {
        if key.len() > MOST_BYTES {
            return false;
        }
        self.bare.clear();
        self.tag = hashslot::tag(key).map(|tag| {
            self.bare.extend_from_slice(&key[..tag.start - 1]);
            self.bare.extend_from_slice(&key[tag.clone()]);
            self.bare.extend_from_slice(&key[tag.end + 1..]);
            (tag.start - 1, tag.end - 1)
        });
        if self.tag.is_none() {
            self.bare.extend_from_slice(key);
        }
        self.find();
        self.braces = self.tag.map(|(open, close)| self.braces_at(open, close));
        true
    }

    /// The bytes of a token.
    pub(crate) fn bytes(&self, at: usize) -> &[u8] {
        &self.bare[self.list[at].start..self.list[at].end]
    }

    /// The text between a token and the one before it.
    pub fn separator(&self, at: usize) -> &[u8] {
        let from = at.checked_sub(1).map_or(0, |before| self.list[before].end);
        &self.bare[from..self.list[at].start]
    }

    /// The text after the last token.
    pub(crate) fn tail(&self) -> &[u8] {
        &self.bare[self.list.last().map_or(0, |last| last.end)..]
    }

    fn find(&mut self) {
        self.list.clear();
        self.segments.clear();
        self.is_cut = false;
        let delimiter = delimiter(&self.bare).filter(|_| self.places.is_on());
        let mut before = (Prefix::default(), 0);
        let (mut at, mut found) = (0, 0);
        while at < self.bare.len() {
            let is_start = at == 0 || Some(self.bare[at - 1]) == delimiter;
            let whole = delimiter
                .filter(|_| is_start)
                .and_then(|delimiter| self.segment(at, delimiter, &mut before));
            if whole.is_none() && !is_token(self.bare[at]) {
                at += 1;
                continue;
            }
            if found == MOST_TOKENS {
                self.is_cut = true;
                return;
            }
            found += 1;
            at = match whole {
                Some(token) => {
                    self.list.push(token);
                    token.end
                }
                None => self.push(at),
            };
        }
    }

    /// The segment at `start` as a token, if its place is known; `before` is the text up to there, of this many tokens.
    fn segment(
        &mut self,
        start: usize,
        delimiter: u8,
        before: &mut (Prefix, usize),
    ) -> Option<Token> {
        while before.1 < self.list.len() {
            let word = match self.list[before.1].kind {
                TokenKind::Word => hash(self.bytes(before.1)),
                _ => FIELD,
            };
            before.0.push(self.separator(before.1), word);
            before.1 += 1;
        }
        let last = self.list.last().map_or(0, |last| last.end);
        let place = before.0.place(&self.bare[last..start]);
        let end = memchr::memchr(delimiter, &self.bare[start..]);
        let end = end.map_or(self.bare.len(), |len| start + len);
        if end == start || self.segments.len() == MOST_TOKENS {
            return None;
        }
        self.segments.push(Segment { start, end, place });
        let kind = match self.places.get(place)? {
            PlaceKind::Value => TokenKind::Segment,
            PlaceKind::Constant => TokenKind::Word,
        };
        Some(Token { kind, start, end })
    }

    /// Adds the token that starts at `start`; returns where it ends.
    fn push(&mut self, start: usize) -> usize {
        let rest = &self.bare[start..];
        let is_after_number =
            start > 0 && (self.bare[start - 1].is_ascii_digit() || self.bare[start - 1] == b'.');
        let structured = if !rest[0].is_ascii_hexdigit() {
            None
        } else {
            uuid(rest)
                .map(|len| (TokenKind::Uuid, len))
                .or_else(|| date(rest).map(|len| (TokenKind::Date, len)))
                .or_else(|| {
                    address(rest)
                        .filter(|_| !is_after_number)
                        .map(|len| (TokenKind::Address, len))
                })
        };
        let (kind, len) = structured.unwrap_or_else(|| {
            let len = rest
                .iter()
                .position(|byte| !is_token(*byte))
                .unwrap_or(rest.len());
            (kind_of(&rest[..len]), len)
        });
        let end = start + len;
        let mut start = start;
        if kind == TokenKind::Word
            && let Some(letters) = letters_then_digits(&self.bare[start..end])
        {
            // `t0` and `host7` are a word and a number: 40 tenants are one family, not 40.
            self.list.push(Token {
                kind,
                start,
                end: start + letters,
            });
            start += letters;
            self.list.push(Token {
                kind: TokenKind::Number,
                start,
                end,
            });
            return end;
        }
        self.list.push(Token { kind, start, end });
        end
    }

    fn braces_at(&self, open: usize, close: usize) -> Braces {
        let before_open = self
            .list
            .iter()
            .take_while(|token| token.end <= open)
            .count();
        let before_close = self
            .list
            .iter()
            .take_while(|token| token.start < close)
            .count();
        Braces {
            open: self.place(open, before_open),
            close: self.place(close, before_close),
        }
    }

    fn place(&self, at: usize, tokens: usize) -> BracePlace {
        let end = tokens.checked_sub(1).map_or(0, |last| self.list[last].end);
        // The rest of a name of too many tokens is not looked at.
        let rest = if self.is_cut { end } else { self.bare.len() };
        let next = self.list.get(tokens).map_or(rest, |token| token.start);
        let bytes = if (end..=next).contains(&at) {
            (at - end) as u16
        } else {
            INSIDE
        };
        BracePlace {
            tokens: tokens as u8,
            bytes,
        }
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

fn are_digits(bytes: &[u8]) -> bool {
    bytes.iter().all(u8::is_ascii_digit)
}

/// The kind of a run of letters and digits; a word where it may still be letters, then digits.
fn kind_of(run: &[u8]) -> TokenKind {
    let has_digit = run.iter().any(u8::is_ascii_digit);
    match run.len() {
        _ if !has_digit => TokenKind::Word,
        len if are_digits(run) => number(run, len),
        8.. if run.iter().all(u8::is_ascii_hexdigit) => TokenKind::Hex,
        16.. => TokenKind::Id,
        5.. if !run[0].is_ascii_digit() && letters_then_digits(run).is_none() => TokenKind::Id,
        _ => TokenKind::Word,
    }
}

fn number(digits: &[u8], len: usize) -> TokenKind {
    match len {
        6 if is_year(digits) && is_in(&digits[4..], 1, 12) => TokenKind::Date,
        8 | 10 | 12 if is_day(digits) => TokenKind::Date,
        // 2001 to 2033 in seconds, 2001 to 2033 in milliseconds.
        10 | 13 if digits[0] == b'1' => TokenKind::Time,
        _ => TokenKind::Number,
    }
}

/// `20261101`, and an hour and a minute after it.
fn is_day(digits: &[u8]) -> bool {
    is_year(digits)
        && is_in(&digits[4..6], 1, 12)
        && is_in(&digits[6..8], 1, 31)
        && digits.get(8..10).is_none_or(|hour| is_in(hour, 0, 23))
        && digits.get(10..12).is_none_or(|minute| is_in(minute, 0, 59))
}

fn is_year(digits: &[u8]) -> bool {
    matches!(&digits[..2], b"19" | b"20") && are_digits(&digits[..4])
}

fn is_in(two: &[u8], from: u8, to: u8) -> bool {
    are_digits(two) && (from..=to).contains(&(10 * (two[0] - b'0') + two[1] - b'0'))
}

fn letters_then_digits(run: &[u8]) -> Option<usize> {
    let letters = run
        .iter()
        .take_while(|byte| byte.is_ascii_alphabetic())
        .count();
    (letters > 0 && letters < run.len() && are_digits(&run[letters..])).then_some(letters)
}

/// The length of a UUID at the start of `text`.
fn uuid(text: &[u8]) -> Option<usize> {
    let uuid = text.get(..36)?;
    let is_right = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    uuid.iter().enumerate().all(is_right).then_some(36)
}

/// The length of `2026-11` or `2026-11-01`, also with slashes.
fn date(text: &[u8]) -> Option<usize> {
    let ends = |at: usize| text.get(at).is_none_or(|byte| !byte.is_ascii_digit());
    let is_sign = |at: usize| matches!(text.get(at), Some(b'-' | b'/'));
    let two = |at: usize, from, to| text.get(at..at + 2).is_some_and(|two| is_in(two, from, to));
    if text.len() < 7 || !is_year(text) || !is_sign(4) || !two(5, 1, 12) {
        return None;
    }
    if is_sign(7) && two(8, 1, 31) && ends(10) {
        Some(10)
    } else {
        ends(7).then_some(7)
    }
}

/// The length of an IPv4 address.
fn address(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let digits = text[at..]
            .iter()
            .take(4)
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if !(1..=3).contains(&digits) {
            return None;
        }
        at += digits;
    }
    let is_end = text
        .get(at)
        .is_none_or(|byte| !byte.is_ascii_digit() && *byte != b'.');
    is_end.then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(key: &str) -> String {
        let mut tokens = Tokens::default();
        assert!(tokens.parse(key.as_bytes()));
        let token = |at: usize| {
            let kind = match tokens.list[at].kind {
                TokenKind::Word => String::from_utf8_lossy(tokens.bytes(at)).into_owned(),
                kind => format!("<{kind:?}>").to_lowercase(),
            };
            format!("{}{kind}", String::from_utf8_lossy(tokens.separator(at)))
        };
        let all: String = (0..tokens.list.len()).map(token).collect();
        all + &String::from_utf8_lossy(tokens.tail())
    }

    #[test]
    fn tokens_are_what_people_take_them_for() {
        for (key, tokens) in [
            ("cart:42:items", "cart:<number>:items"),
            ("{t7}:doc:5", "t<number>:doc:<number>"),
            ("host17", "host<number>"),
            ("s:123e4567-e89b-42d3-a456-426614174000:x", "s:<uuid>:x"),
            ("m:2026-11-01:a", "m:<date>:a"),
            ("m:2026-11:a", "m:<date>:a"),
            ("m:20261101:a", "m:<date>:a"),
            ("m:20261301:a", "m:<number>:a"),
            ("m:202611", "m:<date>"),
            ("m:2026110117", "m:<date>"),
            ("rl:10.0.0.1:1717269600", "rl:<address>:<time>"),
            (
                "rl:10.0.0.1.5",
                "rl:<number>.<number>.<number>.<number>.<number>",
            ),
            ("sess:deadbeef01", "sess:<hex>"),
            ("sess:deadbeef", "sess:deadbeef"),
            ("a:x7y8z", "a:<id>"),
            ("a:7x", "a:7x"),
            ("é:{}:1}", "é:{}:<number>}"),
            ("", ""),
        ] {
            assert_eq!(spelled(key), tokens, "{key}");
        }
    }

    #[test]
    fn braces_are_placed_by_the_tokens_around_them() {
        let braces = |key: &str| {
            let mut tokens = Tokens::default();
            tokens.parse(key.as_bytes());
            tokens.braces.map(|braces| {
                let [open, close] =
                    [braces.open, braces.close].map(|place| (place.tokens, place.bytes));
                (open, close)
            })
        };
        assert_eq!(braces("cart:{user:7}:x"), Some(((1, 1), (3, 0))));
        assert_eq!(braces("{t7}:x"), Some(((0, 0), (2, 0))));
        assert_eq!(braces("t{7}:x"), Some(((1, 0), (2, 0))));
        assert_eq!(braces("a{b}c"), Some(((0, INSIDE), (1, INSIDE))));
        assert_eq!(braces("a:{}:7"), None);
        let long = "a:".repeat(MOST_TOKENS);
        let rest = (MOST_TOKENS as u8, INSIDE);
        assert_eq!(braces(&format!("{long}:{{b}}:c")), Some((rest, rest)));
    }

    #[test]
    fn no_key_makes_it_panic_and_long_ones_are_left() {
        let mut tokens = Tokens::default();
        for len in 0..64 {
            for byte in 0..=255u8 {
                let key: Vec<u8> = (0..len)
                    .map(|at| {
                        byte.wrapping_mul(at)
                            .wrapping_add(b"0-{}.a:\xff"[at as usize % 8])
                    })
                    .collect();
                tokens.parse(&key);
            }
        }
        assert!(!tokens.parse(&[b'a'; MOST_BYTES + 1]));
        assert!(tokens.parse("7:".repeat(60).as_bytes()) && tokens.is_cut);
        assert_eq!(tokens.list.len(), MOST_TOKENS);
    }
}
