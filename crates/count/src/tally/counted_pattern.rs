//! The names under which patterns are counted.

use slotscope_base::batch::NEVER;

/// A pattern as counted: keys with different traits are counted separately, since any key of a pattern may have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted<'a> {
    /// The pattern.
    pub name: &'a [u8],
    /// The traits shared by its keys.
    pub traits: Traits,
}

/// Traits of keys, apart from their name, that are counted separately.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traits {
    /// Whether they have a hash tag: under a policy, only some keys of a pattern may.
    pub is_tagged: bool,
    /// Whether they have a TTL.
    pub lifetime: Lifetime,
}

/// Whether a key has a TTL.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Lifetime {
    /// The input does not tell.
    #[default]
    Unknown,
    /// No TTL.
    Unlimited,
    /// A TTL.
    Limited,
}

impl Lifetime {
    /// The lifetime of a key, from its expiry column.
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
    /// Parses the name written by `written`.
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
