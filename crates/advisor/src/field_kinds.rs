//! Kinds of fields.

use crate::tokens::TokenKind;

/// Number of kinds of tokens.
pub(crate) const KINDS: usize = TokenKind::Segment as usize + 1;

/// The kind of a field's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FieldKind {
    /// Numbers.
    Number,
    /// Dates and times.
    Date,
    /// Hex numbers and ids.
    Hex,
    /// UUIDs.
    Uuid,
    /// IPv4 addresses.
    Address,
    /// The same word in all names.
    Word,
    /// Whole segments between delimiters.
    Segment,
    /// Anything else.
    Id,
}

impl FieldKind {
    /// The kind of a field, by the number of its values of each kind of token.
    pub(crate) fn of(counts: &[u64; KINDS]) -> FieldKind {
        let count = |kind: TokenKind| counts[kind as usize] as f64;
        let total: f64 = counts.iter().map(|count| *count as f64).sum();
        let time = count(TokenKind::Date) + count(TokenKind::Time);
        match () {
            () if count(TokenKind::Segment) > 0.0 => FieldKind::Segment,
            () if count(TokenKind::Word) > 0.0 => FieldKind::Word,
            () if count(TokenKind::Uuid) == total => FieldKind::Uuid,
            () if count(TokenKind::Address) == total => FieldKind::Address,
            () if count(TokenKind::Hex) + count(TokenKind::Id) > 0.02 * total => FieldKind::Hex,
            () if time >= 0.99 * total => FieldKind::Date,
            () if count(TokenKind::Number) + time == total => FieldKind::Number,
            () => FieldKind::Id,
        }
    }
}
