//! The hash tag rule of Redis and Valkey Cluster: which part of a key is hashed.
//!
//! The first `{` and the first `}` after it enclose the tag. Nothing between them, or no such pair: the whole
//! key is hashed, and no later pair counts. Source: the Redis Cluster specification, "Hash tags".

use std::ops::Range;

/// The part of `key` that is hashed, as byte offsets.
///
/// ```
/// use slotscope::slot::hashtag::hashed_part;
/// assert_eq!(hashed_part(b"{user1000}.following"), 1..9);
/// assert_eq!(hashed_part(b"foo{}{bar}"), 0..10);
/// ```
pub fn hashed_part(key: &[u8]) -> Range<usize> {
    tag(key).unwrap_or(0..key.len())
}

/// Where the hash tag of `key` is, if it has one.
pub fn tag(key: &[u8]) -> Option<Range<usize>> {
    let start = memchr::memchr(b'{', key)? + 1;
    let len = memchr::memchr(b'}', &key[start..])?;
    (len > 0).then_some(start..start + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag_of(key: &str) -> Option<&str> {
        tag(key.as_bytes()).map(|range| &key[range])
    }

    #[test]
    fn the_first_pair_counts_and_nothing_else() {
        assert_eq!(tag_of("{user}::{10086}"), Some("user"));
        assert_eq!(tag_of("foo{{bar}}zap"), Some("{bar"));
        assert_eq!(tag_of("a}b{c}d"), Some("c"));
    }

    #[test]
    fn an_empty_or_open_pair_is_no_tag_and_hides_later_ones() {
        for key in ["", "plain", "foo{}{bar}", "foo{bar", "foo}bar", "{}", "{", "}{"] {
            assert_eq!(tag_of(key), None, "{key}");
        }
    }
}
