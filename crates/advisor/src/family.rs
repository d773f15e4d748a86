//! A family: names with one pattern, as reports list them, and the fields that may become a tag.

use slotscope_base::hash::hash;

use crate::field_kinds::FieldKind;
use crate::places::{FIELD, PlaceKind, Places, Prefix};
use crate::tokens::{Braces, INSIDE, TokenKind, Tokens};

/// A token of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternToken {
    /// The text before the token.
    pub separator: Vec<u8>,
    /// The word or the placeholder.
    pub text: Vec<u8>,
    /// Its kind; for a placeholder, the kind of the values.
    pub kind: TokenKind,
}

impl PatternToken {
    /// The word; `None` if the token is a field of values.
    pub fn literal(&self) -> Option<&[u8]> {
        let is_field = self.kind.mark().is_some();
        (!is_field).then_some(self.text.as_slice())
    }
}

/// Names with one pattern.
#[derive(Debug, Clone)]
pub struct Family {
    /// The pattern, including the names' braces.
    pub pattern: Vec<u8>,
    /// Its tokens.
    pub tokens: Vec<PatternToken>,
    /// The text after the tokens.
    pub tail: Vec<u8>,
    /// Position of the effective braces.
    pub braces: Option<Braces>,
    /// The tokens that are fields: values, and words that batches show to be shared by all keys.
    pub fields: Vec<usize>,
    /// The kinds of the fields.
    pub kinds: Vec<FieldKind>,
    /// Indices of its names in the sample.
    pub names: Vec<u32>,
    /// The load of its names.
    pub load: u64,
    /// Number of accesses to its names in batches.
    pub accesses: u64,
}

impl Family {
    /// The family for names that match no pattern: they are never renamed.
    pub(crate) fn other() -> Self {
        Family {
            pattern: b"(other names)".to_vec(),
            tokens: Vec::new(),
            tail: Vec::new(),
            braces: None,
            fields: Vec::new(),
            kinds: Vec::new(),
            names: Vec::new(),
            load: 0,
            accesses: 0,
        }
    }

    /// The family of a pattern; `None` if the pattern is too long.
    pub(crate) fn of(pattern: &[u8], tokens: &mut Tokens, places: &Places) -> Option<Self> {
        if !tokens.parse(pattern) {
            return None;
        }
        let token = |at: usize| PatternToken {
            separator: tokens.separator(at).to_vec(),
            text: tokens.bytes(at).to_vec(),
            kind: tokens.list[at].kind,
        };
        let list: Vec<PatternToken> = (0..tokens.list.len()).map(token).collect();
        let mut before = Prefix::default();
        let is_field = |token: &PatternToken| {
            let place = before.place(&token.separator);
            let is_word = token.kind == TokenKind::Word;
            let word = if is_word { hash(&token.text) } else { FIELD };
            before.push(&token.separator, word);
            token.kind.mark().is_some() || places.get(place) == Some(PlaceKind::Constant)
        };
        let are_fields: Vec<bool> = list.iter().map(is_field).collect();
        Some(Family {
            pattern: pattern.to_vec(),
            tail: tokens.tail().to_vec(),
            braces: tokens.braces,
            fields: (0..list.len()).filter(|at| are_fields[*at]).collect(),
            tokens: list,
            ..Family::other()
        })
    }

    /// Whether a field is a constant word of the pattern.
    pub(crate) fn is_constant(&self, field: usize) -> bool {
        self.tokens[self.fields[field]].literal().is_some()
    }

    /// The fields whose values differ.
    pub(crate) fn values(&self) -> impl Iterator<Item = usize> {
        (0..self.fields.len()).filter(|field| !self.is_constant(*field))
    }

    /// The fields in today's tag; `None` if there is no tag, empty if the tag is the same in all names.
    pub(crate) fn fields_of_today(&self) -> Option<Vec<usize>> {
        let Braces { open, close } = self.braces?;
        let tagged = usize::from(open.tokens)..usize::from(close.tokens);
        let is_tagged = |field: &usize| tagged.contains(&self.fields[*field]);
        Some((0..self.fields.len()).filter(is_tagged).collect())
    }

    /// The word before a field, if no other field is in between.
    pub(crate) fn word_before(&self, field: usize) -> Option<&[u8]> {
        let before = self.fields[field].checked_sub(1)?;
        self.tokens[before].literal()
    }

    /// The number of fields before the first brace that would take precedence over ours, and whether there is no such
    /// brace.
    pub(crate) fn reachable_fields(&self) -> (usize, bool) {
        let has_brace = |bytes: &[u8]| bytes.contains(&b'{');
        let behind = self
            .tokens
            .iter()
            .position(|token| has_brace(&token.separator));
        let reachable = behind.map_or(self.fields.len(), |at| {
            self.fields.iter().filter(|field| **field < at).count()
        });
        (reachable, behind.is_none() && !has_brace(&self.tail))
    }

    /// The pattern as a name without braces, and the spans of its tokens in it.
    pub(crate) fn bare_pattern(&self) -> (Vec<u8>, Vec<(usize, usize)>) {
        let (mut bare, mut spans) = (Vec::new(), Vec::new());
        for token in &self.tokens {
            bare.extend_from_slice(&token.separator);
            let start = bare.len();
            bare.extend_from_slice(&token.text);
            spans.push((start, bare.len()));
        }
        bare.extend_from_slice(&self.tail);
        (bare, spans)
    }

    /// The positions of the braces in the bare pattern; `None` if they split a token.
    pub(crate) fn brace_positions(&self, spans: &[(usize, usize)]) -> Option<(usize, usize)> {
        let Braces { open, close } = self.braces?;
        let at = |tokens: u8, bytes: u16| {
            let end = usize::from(tokens)
                .checked_sub(1)
                .map_or(0, |last| spans[last].1);
            (bytes != INSIDE).then(|| end + usize::from(bytes))
        };
        Some((at(open.tokens, open.bytes)?, at(close.tokens, close.bytes)?))
    }

    /// The common prefix of all its names.
    pub fn prefix(&self) -> Vec<u8> {
        let (mut bare, spans) = self.bare_pattern();
        let first = self.values().next();
        let end = first.map_or(bare.len(), |field| spans[self.fields[field]].0);
        let positions = self.brace_positions(&spans);
        if self.braces.is_some() && positions.is_none() {
            return Vec::new();
        }
        bare.truncate(end);
        // The closing brace first, so that the position of the opening one stays valid.
        for (position, brace) in positions
            .into_iter()
            .flat_map(|(open, close)| [(close, b'}'), (open, b'{')])
        {
            if position <= end && (position < end || brace == b'{') {
                bare.insert(position, brace);
            }
        }
        bare
    }
}
