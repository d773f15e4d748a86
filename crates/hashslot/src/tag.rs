//! The hash tag rule of Redis and Valkey Cluster, which selects the hashed part of a key.
//!
//! The first `{` and the first `}` after it enclose the tag. If nothing is between them, or there is no pair, the whole
//! key is hashed, and no later pair counts. Source: the Redis Cluster specification, "Hash tags".

use core::ops::Range;

/// The hashed part of `key`, as byte offsets: its hash tag, or all of it.
///
/// ```
/// use hashslot::hashed_part;
/// assert_eq!(hashed_part(b"{user1000}.following"), 1..9);
/// assert_eq!(hashed_part(b"foo{}{bar}"), 0..10);
/// ```
pub fn hashed_part(key: &[u8]) -> Range<usize> {
    tag(key).unwrap_or(0..key.len())
}

/// The hash tag of `key`, as byte offsets, if it has one.
///
/// ```
/// assert_eq!(hashslot::tag(b"foo{bar}{zap}"), Some(4..7));
/// assert_eq!(hashslot::tag(b"foo"), None);
/// ```
pub fn tag(key: &[u8]) -> Option<Range<usize>> {
    let start = find(key, b'{')? + 1;
    let len = find(&key[start..], b'}')?;
    (len > 0).then_some(start..start + len)
}

/// The first position of `wanted`, searched eight bytes at a time.
#[inline(always)]
fn find(bytes: &[u8], wanted: u8) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    for (i, word) in words.iter().enumerate() {
        if let Some(at) = find_in_word(*word, wanted) {
            return Some(8 * i + at);
        }
    }
    // The last eight bytes, some of them again.
    match bytes.last_chunk::<8>() {
        Some(last) => find_in_word(*last, wanted).map(|at| bytes.len() - 8 + at),
        None => bytes.iter().position(|byte| *byte == wanted),
    }
}

#[inline(always)]
fn find_in_word(word: [u8; 8], wanted: u8) -> Option<usize> {
    const ONES: u64 = u64::MAX / 0xFF;
    let differs = u64::from_le_bytes(word) ^ (u64::from(wanted) * ONES);
    // The top bit of each zero byte. Above the first one a carry may set others.
    let zeros = differs.wrapping_sub(ONES) & !differs & ONES << 7;
    (zeros != 0).then_some(zeros.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_at_its_first_place_whatever_follows() {
        for len in 0..40 {
            for at in 0..=len {
                for around in [0, b'{' - 1, b'{' + 1, b'{' ^ 0x80, 0xFF] {
                    let mut bytes = [around; 40];
                    bytes[at..len].fill(b'{');
                    let found = find(&bytes[..len], b'{');
                    assert_eq!(found, (at < len).then_some(at), "{around} {len}");
                }
            }
        }
    }
}
