//! Finds the family of a name, and the parts of the name that are its fields.

use std::collections::HashMap;

use slotscope_base::hash::{fold, hash};
use slotscope_keyname::ids::Id;

use crate::family::Family;
use crate::tokens::{Braces, Token, TokenKind, Tokens};

/// Steps tried per name: only adversarial families need more.
const MOST_STEPS: u32 = 1024;

/// A trie of the tokens of patterns.
#[derive(Debug, Default, Clone)]
pub(crate) struct Matcher {
    /// By state and hash of separator and word or placeholder: the next state.
    steps: HashMap<(u32, u64), u32>,
    /// By state: the ids that may span several tokens.
    runs: HashMap<u32, Vec<Run>>,
    ends: HashMap<(u32, u64), u32>,
}

/// An id not recognizable by its form: it extends up to a text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    separator: Vec<u8>,
    /// The text after the id, up to the next placeholder; empty at the end of a name.
    stop: Vec<u8>,
    next: u32,
}

/// A name that is being matched.
struct Walk<'a> {
    tokens: &'a Tokens,
    /// The tokens so far.
    matched: Vec<Token>,
    steps: u32,
}

impl Matcher {
    pub(crate) fn insert(&mut self, family: &Family, number: u32) {
        let mut state = 0;
        for (at, token) in family.tokens.iter().enumerate() {
            let step = fold(hash(&token.separator), hash(&token.text));
            let fresh = self.steps.len() as u32 + 1;
            let next = *self.steps.entry((state, step)).or_insert(fresh);
            if token.kind == TokenKind::Id {
                let runs = self.runs.entry(state).or_default();
                let separator = token.separator.clone();
                let stop = text_after(family, at);
                let run = Run {
                    separator,
                    stop,
                    next,
                };
                if !runs.contains(&run) {
                    runs.push(run);
                    // The end of a name is tried after every other text.
                    runs.sort_by_key(|run| std::cmp::Reverse(run.stop.len()));
                }
            }
            state = next;
        }
        self.ends
            .insert((state, end_hash(&family.tail, family.braces)), number);
    }

    /// Renumbers the families.
    pub(crate) fn renumber(&mut self, new: &[u32]) {
        self.ends
            .values_mut()
            .for_each(|number| *number = new[*number as usize]);
    }

    /// The number of a name's family; the tokens become those of the family.
    pub(crate) fn find(&self, tokens: &mut Tokens) -> Option<u32> {
        let matched = Vec::with_capacity(tokens.list.len());
        let mut walk = Walk {
            tokens,
            matched,
            steps: 0,
        };
        let number = self.walk(&mut walk, 0, 0)?;
        tokens.list = walk.matched;
        tokens.place_braces();
        Some(number)
    }

    /// Continues from a state with token `at` of the name.
    fn walk(&self, walk: &mut Walk<'_>, state: u32, at: usize) -> Option<u32> {
        walk.steps += 1;
        if walk.steps > MOST_STEPS {
            return None;
        }
        let from = walk.matched.last().map_or(0, |last| last.end);
        let bare = &walk.tokens.bare;
        let Some(token) = walk.tokens.list.get(at).copied() else {
            let braces = walk.tokens.braces_among(&walk.matched);
            let end = self.ends.get(&(state, end_hash(&bare[from..], braces)));
            return end.copied();
        };
        let separator = hash(&bare[from..token.start]);
        let text = &bare[token.start..token.end];
        let literal = token.kind.mark().is_none().then(|| hash(text));
        let marks = marks(token.kind, text).iter().map(|id| hash(id.mark()));
        for word in literal.into_iter().chain(marks) {
            if let Some(next) = self.steps.get(&(state, fold(separator, word))) {
                let number = self.walk_over(walk, token, *next, at + 1);
                if number.is_some() {
                    return number;
                }
            }
        }
        let runs = self.runs.get(&state).into_iter().flatten();
        runs.filter_map(|run| Some((run, run.end(&bare[from..])?)))
            .find_map(|(run, end)| {
                let (start, end) = (from + run.separator.len(), from + end);
                let next = walk.tokens.list.partition_point(|token| token.end <= end);
                let is_split = walk
                    .tokens
                    .list
                    .get(next)
                    .is_some_and(|token| token.start < end);
                let kind = TokenKind::Segment;
                let token = Token { kind, start, end };
                (!is_split).then(|| self.walk_over(walk, token, run.next, next))?
            })
    }

    fn walk_over(&self, walk: &mut Walk<'_>, token: Token, state: u32, at: usize) -> Option<u32> {
        walk.matched.push(token);
        let number = self.walk(walk, state, at);
        if number.is_none() {
            walk.matched.pop();
        }
        number
    }
}

impl Run {
    /// The end of the run in a text that begins with its separator.
    fn end(&self, text: &[u8]) -> Option<usize> {
        let from = self.separator.len();
        let rest = text.strip_prefix(self.separator.as_slice())?;
        let len = match self.stop.as_slice() {
            [] => rest.len(),
            stop => 1 + memchr::memmem::find(rest.get(1..)?, stop)?,
        };
        // An id stays within a segment.
        let is_segment = memchr::memchr(b':', &rest[..len]).is_none();
        (len > 0 && is_segment).then_some(from + len)
    }
}

/// The placeholders that a token may match: ids without a letter may be among ids that have one.
fn marks(kind: TokenKind, text: &[u8]) -> &'static [Id] {
    let is_hex = || text.len() >= 8 && text.iter().all(u8::is_ascii_hexdigit);
    match kind {
        TokenKind::Number | TokenKind::Time => &[Id::Number, Id::Hex, Id::Mixed],
        TokenKind::Short => &[Id::Number],
        TokenKind::Hex => &[Id::Hex, Id::Mixed],
        TokenKind::Word if is_hex() => &[Id::Hex, Id::Mixed],
        TokenKind::Word => &[],
        TokenKind::Uuid => &[Id::Uuid],
        TokenKind::Date => &[Id::Date],
        TokenKind::Address => &[Id::Address],
        TokenKind::Id | TokenKind::Segment => &[Id::Mixed],
    }
}

/// The text after a token of a family, up to the next placeholder.
fn text_after(family: &Family, at: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for token in &family.tokens[at + 1..] {
        text.extend_from_slice(&token.separator);
        let Some(word) = token.literal() else {
            return text;
        };
        text.extend_from_slice(word);
    }
    text.extend_from_slice(&family.tail);
    text
}

/// A hash of the text after the last token, and of the braces.
fn end_hash(tail: &[u8], braces: Option<Braces>) -> u64 {
    let place = |tokens: u8, bytes: u16| u64::from(tokens) << 16 | u64::from(bytes);
    let braces = braces.map_or(0, |Braces { open, close }| {
        1 + (place(open.tokens, open.bytes) << 32 | place(close.tokens, close.bytes))
    });
    fold(hash(tail) ^ 5, braces)
}
