//! The fields of a pattern, and the text between them.

use slotscope_base::batch::Number;

use crate::format::table::columns::Role;
use crate::format::table::units::Unit;

/// A field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Field {
    /// Its role; `None` if it is not read.
    pub role: Option<Role>,
    /// How it is written.
    pub written: Written,
    /// The unit of its numbers without one.
    pub unit: Unit,
    /// Whether there is no blank in it, because one is beside it.
    pub is_word: bool,
}

impl Field {
    /// A field with the usual unit.
    pub(crate) fn of(role: Option<Role>, written: Written) -> Field {
        let unit = match role {
            Some(Role::Number(Number::Expiry)) => Unit::SecondsLeft,
            _ => Unit::One,
        };
        Field {
            role,
            written,
            unit,
            is_word: false,
        }
    }
}

/// How a text is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Written {
    /// As it is.
    Plain,
    /// In quotes of some language, with its escapes.
    Quoted,
    /// As a cell of CSV.
    Csv,
    /// With the backslashes of Markdown before punctuation.
    Markdown,
    /// In a column of this many characters, padded with blanks.
    Wide(usize),
}

/// The text between two fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Literal(pub Vec<Atom>);

/// A part of a literal.
#[derive(Debug, Clone, PartialEq)]
pub enum Atom {
    /// A run of at least this many blanks and TABs.
    Blanks(usize),
    /// These bytes.
    Bytes(Vec<u8>),
}

fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

impl Literal {
    /// The least number of blanks that it starts or ends with.
    pub(crate) fn blanks_at(&self, is_at_end: bool) -> usize {
        let atom = if is_at_end {
            self.0.last()
        } else {
            self.0.first()
        };
        match atom {
            Some(Atom::Blanks(least)) => *least,
            _ => 0,
        }
    }

    /// Its first letters, after any blanks.
    pub(crate) fn first_word(&self) -> Option<&[u8]> {
        let atoms = self.0.iter();
        let bytes = atoms.map(|atom| match atom {
            Atom::Bytes(bytes) => bytes.as_slice(),
            Atom::Blanks(_) => &[],
        });
        let text = bytes.take(2).find(|bytes| !bytes.is_empty())?;
        let letters = text.iter().take_while(|byte| byte.is_ascii_alphabetic());
        Some(&text[..letters.count()]).filter(|word| !word.is_empty())
    }

    /// Whether it ends with `=`, or with a word and blanks.
    pub(crate) fn is_label(&self) -> bool {
        match self.0.as_slice() {
            [.., Atom::Bytes(bytes)] => bytes.ends_with(b"="),
            [.., Atom::Bytes(bytes), Atom::Blanks(_)] => {
                bytes.last().is_some_and(u8::is_ascii_alphabetic)
            }
            _ => false,
        }
    }

    /// The end of this literal at the start of `text`.
    pub(crate) fn at_start(&self, text: &[u8]) -> Option<usize> {
        self.0.iter().try_fold(0, |at, atom| match atom {
            Atom::Blanks(least) => {
                let blanks = text[at..].iter().take_while(|byte| is_blank(byte)).count();
                (blanks >= *least).then_some(at + blanks)
            }
            Atom::Bytes(bytes) => text[at..].starts_with(bytes).then_some(at + bytes.len()),
        })
    }

    /// The start of this literal at the end of `text`.
    pub(crate) fn at_end(&self, text: &[u8]) -> Option<usize> {
        self.0
            .iter()
            .rev()
            .try_fold(text.len(), |end, atom| match atom {
                Atom::Blanks(least) => {
                    let blanks = text[..end]
                        .iter()
                        .rev()
                        .take_while(|byte| is_blank(byte))
                        .count();
                    (blanks >= *least).then_some(end - blanks)
                }
                Atom::Bytes(bytes) => text[..end].ends_with(bytes).then(|| end - bytes.len()),
            })
    }

    /// The first place of this literal in `text`.
    pub(crate) fn first_in(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut from = 0;
        loop {
            let rest = &text[from..];
            let at = from
                + match self.0.first()? {
                    Atom::Blanks(_) => memchr::memchr2(b' ', b'\t', rest)?,
                    Atom::Bytes(bytes) if bytes.len() == 1 => memchr::memchr(bytes[0], rest)?,
                    Atom::Bytes(bytes) => memchr::memmem::find(rest, bytes)?,
                };
            if let Some(len) = self.at_start(&text[at..]) {
                return Some((at, at + len));
            }
            // A run of blanks fits as a whole or not at all.
            let blanks = text[at..].iter().take_while(|byte| is_blank(byte)).count();
            from = at + blanks.max(1);
        }
    }

    /// The place at the end of `text` of this literal without its blanks at the end.
    pub(crate) fn before_blanks_at_end(&self, text: &[u8]) -> Option<(usize, usize)> {
        let (Atom::Blanks(_), before) = self.0.split_last()? else {
            return None;
        };
        (!before.is_empty()).then_some(())?;
        let start = Literal(before.to_vec()).at_end(text)?;
        Some((start, text.len()))
    }

    /// The last place of this literal in `text`.
    pub(crate) fn last_in(&self, text: &[u8]) -> Option<(usize, usize)> {
        let mut to = text.len();
        loop {
            let rest = &text[..to];
            let end = match self.0.last()? {
                Atom::Blanks(_) => memchr::memrchr2(b' ', b'\t', rest)? + 1,
                Atom::Bytes(bytes) if bytes.len() == 1 => memchr::memrchr(bytes[0], rest)? + 1,
                Atom::Bytes(bytes) => memchr::memmem::rfind(rest, bytes)? + bytes.len(),
            };
            if let Some(start) = self.at_end(&text[..end]) {
                return Some((start, end));
            }
            let before = text[..end].iter().rev();
            to = end - before.take_while(|byte| is_blank(byte)).count().max(1);
        }
    }
}
