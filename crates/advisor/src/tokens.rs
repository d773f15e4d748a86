//! A key as tokens: words, numbers, dates and ids between separators, after removing the braces of its hash tag.

use slotscope_base::hash::hash;
use slotscope_keyname::ids::{self, Id};
use slotscope_keyname::times;

use crate::places::{FIELD, PlaceKind, Places, Prefix, delimiter};

/// Limits for keys that are tokenized, in bytes and tokens. Longer keys are never renamed.
pub const MOST_BYTES: usize = 512;
const MOST_TOKENS: usize = 64;
/// Segments per key from which places are learned.
const MOST_SEGMENTS: usize = 24;

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TokenKind {
    /// A word.
    Word,
    /// One or two digits at the end of a word: literal until many words differ in them.
    Short,
    /// A number.
    Number,
    /// A number whose value looks like a time.
    Time,
    /// A date.
    Date,
    /// Eight or more hex digits.
    Hex,
    /// Mixed letters and digits.
    Id,
    /// A UUID.
    Uuid,
    /// An IPv4 address.
    Address,
    /// A whole segment that batches show to be a value, or a run of tokens that families show to be one.
    Segment,
}

impl TokenKind {
    fn of(id: Id, text: &[u8]) -> TokenKind {
        match id {
            Id::Number if times::is_time(text) => TokenKind::Time,
            Id::Number => TokenKind::Number,
            Id::Hex => TokenKind::Hex,
            Id::Uuid => TokenKind::Uuid,
            Id::Mixed => TokenKind::Id,
            Id::Date => TokenKind::Date,
            Id::Address => TokenKind::Address,
        }
    }

    /// Its placeholder in a pattern; `None` for literal text.
    pub(crate) fn mark(self) -> Option<Id> {
        match self {
            TokenKind::Word | TokenKind::Short => None,
            TokenKind::Number | TokenKind::Time => Some(Id::Number),
            TokenKind::Date => Some(Id::Date),
            TokenKind::Hex => Some(Id::Hex),
            TokenKind::Uuid => Some(Id::Uuid),
            TokenKind::Address => Some(Id::Address),
            TokenKind::Id | TokenKind::Segment => Some(Id::Mixed),
        }
    }
}

/// A token, as positions in the key without its braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Its kind.
    pub kind: TokenKind,
    /// Start offset.
    pub start: usize,
    /// End offset.
    pub end: usize,
}

/// The position of a brace: after this many tokens, and this many bytes after the last of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BracePlace {
    /// Number of tokens before it.
    pub tokens: u8,
    /// Bytes between the last of them and the brace; `INSIDE` if the brace splits a token.
    pub bytes: u16,
}

/// The value of `bytes` for a brace that splits a token.
pub(crate) const INSIDE: u16 = u16::MAX;

/// The effective braces of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Braces {
    /// The opening one.
    pub open: BracePlace,
    /// The closing one; the tokens before it are those that begin before it.
    pub close: BracePlace,
}

/// A segment between delimiters, as positions in the key without its braces.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    /// Start offset.
    pub start: usize,
    /// End offset.
    pub end: usize,
    /// Its place.
    pub place: u64,
}

/// A tokenized key; reused from key to key to save allocations.
#[derive(Debug, Default)]
pub struct Tokens {
    places: Places,
    /// Whether placeholders are tokens, as in a pattern.
    is_pattern: bool,
    /// Its segments, if places are being learned.
    pub(crate) segments: Vec<Segment>,
    /// The key without its effective braces.
    pub bare: Vec<u8>,
    /// Its tokens.
    pub list: Vec<Token>,
    /// The braces.
    pub braces: Option<Braces>,
    /// The tag, as positions in `bare`.
    pub tag: Option<(usize, usize)>,
}

impl Tokens {
    /// A tokenizer that reads segments at these places as one token each.
    pub(crate) fn with(places: &Places) -> Self {
        Tokens {
            places: places.clone(),
            ..Tokens::default()
        }
    }

    /// A tokenizer for patterns of such keys, whose placeholders are tokens.
    pub(crate) fn of_patterns(places: &Places) -> Self {
        Tokens {
            is_pattern: true,
            ..Tokens::with(places)
        }
    }

    /// Tokenizes `key`; false if it is too long or has too many tokens.
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
        let is_whole = self.find();
        self.place_braces();
        is_whole
    }

    /// Finds the positions of the braces among the tokens.
    pub(crate) fn place_braces(&mut self) {
        self.braces = self.braces_among(&self.list);
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

    /// Writes the key's pattern: placeholders for ids, and its braces.
    pub(crate) fn pattern(&self, pattern: &mut Vec<u8>) {
        let (open, close) = self.tag.unwrap_or((usize::MAX, usize::MAX));
        let brace = |at: usize, pattern: &mut Vec<u8>| {
            // A tag closes before other text begins.
            pattern.extend((at == close).then_some(b'}'));
            pattern.extend((at == open).then_some(b'{'));
        };
        let mut from = 0;
        let literal = |from: usize, to: usize, pattern: &mut Vec<u8>| {
            for at in from..to {
                brace(at, pattern);
                pattern.push(self.bare[at]);
            }
        };
        for token in &self.list {
            if let Some(id) = token.kind.mark() {
                literal(from, token.start, pattern);
                brace(token.start, pattern);
                pattern.extend_from_slice(id.mark());
                from = token.end;
            }
        }
        literal(from, self.bare.len(), pattern);
        brace(self.bare.len(), pattern);
    }

    /// Finds the tokens; false if there are too many.
    fn find(&mut self) -> bool {
        self.list.clear();
        self.segments.clear();
        let delimiter = delimiter(&self.bare).filter(|_| self.places.is_on());
        let mut before = (Prefix::default(), 0);
        let mut at = 0;
        while at < self.bare.len() {
            let is_start = at == 0 || Some(self.bare[at - 1]) == delimiter;
            let whole = delimiter
                .filter(|_| is_start)
                .and_then(|delimiter| self.segment(at, delimiter, &mut before));
            at = match whole {
                Some(token) => {
                    self.list.push(token);
                    token.end
                }
                None => self.push(at),
            };
            if self.list.len() > MOST_TOKENS {
                return false;
            }
        }
        true
    }

    /// The segment at `start` as a token, if its place is known; `before` is the text up to there, consisting of this
    /// many tokens.
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
        let len = memchr::memchr(delimiter, &self.bare[start..]);
        let end = len.map_or(self.bare.len(), |len| start + len);
        if end == start || self.segments.len() == MOST_SEGMENTS {
            return None;
        }
        self.segments.push(Segment { start, end, place });
        let kind = match self.places.get(place)? {
            PlaceKind::Value => TokenKind::Segment,
            PlaceKind::Constant => TokenKind::Word,
        };
        Some(Token { kind, start, end })
    }

    /// Adds the tokens at `start`, if any; returns the earliest start of the next.
    fn push(&mut self, start: usize) -> usize {
        // A brace ends a token: no token spans one.
        let (open, close) = self.tag.unwrap_or_default();
        let limits = [0, open, close, self.bare.len()];
        let from = limits.into_iter().rfind(|limit| *limit <= start);
        let to = limits.into_iter().find(|limit| *limit > start);
        let from = from.unwrap_or(0);
        let text = &self.bare[from..to.unwrap_or(self.bare.len())];
        let rest = &text[start - from..];
        if self.is_pattern
            && let Some(id) = Id::marked(rest)
        {
            let end = start + id.mark().len();
            let kind = TokenKind::of(id, &[]);
            self.list.push(Token { kind, start, end });
            return end;
        }
        let others = rest.iter().take_while(|byte| !byte.is_ascii()).count();
        let (end, id) = match others {
            0 => ids::token_at(text, start - from),
            others => (start - from + others, None),
        };
        let end = from + end;
        if end == start {
            return start + 1;
        }
        let word = &self.bare[start..end];
        let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit());
        let (kind, skipped) = match id {
            Some((id, skipped)) => (TokenKind::of(id, &word[skipped..]), skipped),
            None => (TokenKind::Short, word.len() - digits.count()),
        };
        let middle = start + skipped;
        let halves = [(TokenKind::Word, start, middle), (kind, middle, end)];
        let filled = halves.into_iter().filter(|(_, start, end)| start < end);
        let tokens = filled.map(|(kind, start, end)| Token { kind, start, end });
        self.list.extend(tokens);
        end
    }

    /// The positions of the braces among these tokens of the key.
    pub(crate) fn braces_among(&self, list: &[Token]) -> Option<Braces> {
        let (open, close) = self.tag?;
        let before_open = list.iter().take_while(|token| token.end <= open);
        let before_close = list.iter().take_while(|token| token.start < close);
        Some(Braces {
            open: self.place(list, open, before_open.count()),
            close: self.place(list, close, before_close.count()),
        })
    }

    fn place(&self, list: &[Token], at: usize, tokens: usize) -> BracePlace {
        let end = tokens.checked_sub(1).map_or(0, |last| list[last].end);
        let token = list.get(tokens);
        let next = token.map_or(self.bare.len(), |token| token.start);
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
            ("{t7}:doc:5", "t<short>:doc:<number>"),
            ("host17", "host<short>"),
            ("news001", "news<number>"),
            ("s:123e4567-e89b-42d3-a456-426614174000:x", "s:<uuid>:x"),
            ("m:2026-11-01:a", "m:<date>:a"),
            ("m:2026-11:a", "m:<number>-<number>:a"),
            ("m:20261101:a", "m:<time>:a"),
            ("m:20261301:a", "m:<number>:a"),
            ("m:202611", "m:<time>"),
            ("m:2026110117", "m:<time>"),
            ("rl:10.0.0.1:1717269600", "rl:<address>:<time>"),
            (
                "rl:10.0.0.1.5",
                "rl:<number>.<number>.<number>.<number>.<number>",
            ),
            ("sess:deadbeef01", "sess:<hex>"),
            ("sess:deadbeef", "sess:deadbeef"),
            ("a:x7y8z", "a:x7y8z"),
            ("a:x7y8", "a:x7y<short>"),
            ("a{b}c", "abc"),
            ("x{42}y", "x<number>y"),
            ("a:7x", "a:7x"),
            ("é7:{}:1}", "é<number>:{}:<number>}"),
            ("", ""),
        ] {
            assert_eq!(spelled(key), tokens, "{key}");
        }
    }

    #[test]
    fn the_pattern_of_a_key_is_that_of_keyname() {
        let mut tokens = Tokens::default();
        for key in [
            "cart:{user:7}:x",
            "{t7}:doc:5",
            "x{42}y:{9}",
            "m:{2026-11-01}",
            "a{1}2",
            "{1}{2}",
            "\u{e9}7:a1b2c:news001",
            "a:{}:7",
        ] {
            let mut pattern = Vec::new();
            assert!(tokens.parse(key.as_bytes()));
            tokens.pattern(&mut pattern);
            assert_eq!(pattern, ids::pattern_of(key.as_bytes()), "{key}");
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
        assert_eq!(braces("a{b}c"), Some(((1, 0), (2, 0))));
        assert_eq!(braces("a:{}:7"), None);
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
        assert!(tokens.parse("7:".repeat(MOST_TOKENS).as_bytes()));
        assert!(!tokens.parse("7:".repeat(MOST_TOKENS + 1).as_bytes()));
    }
}
