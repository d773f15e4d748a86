//! The names under which patterns are counted.

use crate::format::batch::NEVER;

/// A pattern as it is counted: keys of different traits apart, for any key of a pattern may have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<'a> {
    /// The pattern.
    pub name: &'a [u8],
    /// The traits that its keys share.
    pub traits: Traits,
}

/// The traits, besides the name, of keys of a pattern that are counted together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// Whether they have a hash tag: a policy may find tags in some keys of a pattern alone.
    pub is_tagged: bool,
    /// Whether they expire.
    pub lifetime: Lifetime,
}

/// Whether a key expires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// The input does not say it.
    #[default]
    Unknown,
    /// It does not.
    Unlimited,
    /// It does.
    Limited,
}

impl Lifetime {
    /// That of a key, from the column of its time of expiry.
    #[inline]
    pub(crate) fn of(expiry: &[u64], key: usize) -> Self {
        match expiry.get(key) {
            None => Lifetime::Unknown,
            Some(&NEVER) => Lifetime::Unlimited,
            Some(_) => Lifetime::Limited,
        }
    }
}

impl From<bool> for Traits {
    fn from(is_tagged: bool) -> Self {
        Traits {
            is_tagged,
            ..Traits::default()
        }
    }
}

impl<'a> Counted<'a> {
    /// The pattern that `written` is.
    pub fn of(written: &'a [u8]) -> Self {
        let (traits, name) = written.split_last().unwrap_or((&0, b""));
        let lifetime = match traits >> 1 {
            1 => Lifetime::Unlimited,
            2 => Lifetime::Limited,
            _ => Lifetime::Unknown,
        };
        Counted {
            name,
            traits: Traits {
                is_tagged: traits & 1 == 1,
                lifetime,
            },
        }
    }

    /// The name under which it is counted.
    pub fn written(name: &[u8], traits: impl Into<Traits>) -> Vec<u8> {
        let Traits {
            is_tagged,
            lifetime,
        } = traits.into();
        [name, &[u8::from(is_tagged) | (lifetime as u8) << 1]].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_written_with_its_traits_and_read_back() {
        for is_tagged in [false, true] {
            for lifetime in [Lifetime::Unknown, Lifetime::Unlimited, Lifetime::Limited] {
                let traits = Traits {
                    is_tagged,
                    lifetime,
                };
                let written = Counted::written(b"user:<n>", traits);
                let name = &b"user:<n>"[..];
                assert_eq!(Counted::of(&written), Counted { name, traits });
            }
        }
        assert_eq!(Counted::of(b"").name, b"");
    }
}
