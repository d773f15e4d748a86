//! How Redis and Valkey, and Redis Enterprise, interpret the braces of a key.

use std::ops::Range;

use slotscope_base::slot;
use slotscope_base::slot::policy::enterprise_tag;

/// The braces of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Braces {
    /// The hash tag, if there is one.
    pub tag: Option<Range<usize>>,
    /// The first pair is empty: there is no tag, and later pairs are ignored.
    pub are_empty: bool,
    /// A brace is unmatched.
    pub are_unbalanced: bool,
    /// There are further pairs besides the tag's.
    pub are_several: bool,
    /// Redis Enterprise hashes different bytes under its standard policy.
    pub differ: bool,
}

impl Braces {
    /// The braces of `key`; `None` if it has none.
    pub(super) fn of(key: &[u8]) -> Option<Braces> {
        let first = memchr::memchr2(b'{', b'}', key)?;
        let tag = slot::tag(key);
        let (mut count, mut depth, mut are_unbalanced) = (0u64, 0i64, false);
        for at in memchr::memchr2_iter(b'{', b'}', &key[first..]) {
            depth += if key[first + at] == b'{' { 1 } else { -1 };
            are_unbalanced |= depth < 0;
            count += 1;
        }
        are_unbalanced |= depth != 0;
        let opening = memchr::memchr(b'{', key);
        let are_empty = opening.is_some_and(|at| key.get(at + 1) == Some(&b'}'));
        let ours = tag.clone().map_or(key, |tag| &key[tag]);
        let theirs = enterprise_tag(key).map_or(key, |tag| &key[tag]);
        Some(Braces {
            are_several: tag.is_some() && count > 2,
            tag,
            are_empty,
            are_unbalanced,
            differ: ours != theirs,
        })
    }
}
