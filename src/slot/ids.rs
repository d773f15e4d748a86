//! Stage 3, beside the slots: what of a key is an id. Keys come in, the places that a pattern has a mark for go out.
//!
//! A token is a run of ASCII letters and digits. All digits: `<n>`. Eight or more hexadecimal digits, a decimal one
//! among them: `<hex>`. Such of 8-4-4-4-12: `<uuid>`. Sixteen or more, mixed: `<id>`. Three or more digits that end a
//! word: `<n>` for them alone (`news001` is `news<n>`; `v1`, `s3`, `utf8` stay).

use crate::format::batch::Spans;
use crate::lanes::{LANES, Lanes};
use crate::source::block::Padded;

/// What an id looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// Digits.
    Number,
    /// Hexadecimal digits.
    Hex,
    /// 8-4-4-4-12 of them.
    Uuid,
    /// Letters and digits.
    Mixed,
}

impl Id {
    /// What stands for it in a pattern.
    pub fn mark(self) -> &'static [u8] {
        match self {
            Id::Number => b"<n>",
            Id::Hex => b"<hex>",
            Id::Uuid => b"<uuid>",
            Id::Mixed => b"<id>",
        }
    }
}

/// An id in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Where it starts in the block.
    pub start: u32,
    /// Where it ends.
    pub end: u32,
    /// What it is.
    pub id: Id,
}

/// The ids of a batch of keys.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ids {
    /// For each key, how many ids it and all before it have.
    pub ends: Vec<u32>,
    /// All of them, in order.
    pub found: Vec<Found>,
}

impl Ids {
    /// Forgets all, keeps the memory.
    fn clear(&mut self) {
        self.ends.clear();
        self.found.clear();
    }

    /// Those of a key alone, byte by byte.
    pub fn of_key(key: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        each_by_byte(key, |start, end, id| found.push(Found { start: start as u32, end: end as u32, id }));
        found
    }
}

/// The pattern of a key: its ids, which are at these places of it, replaced by their marks.
pub fn pattern(key: &[u8], ids: impl Iterator<Item = Found>) -> Vec<u8> {
    let (mut pattern, mut from) = (Vec::with_capacity(key.len()), 0);
    for Found { start, end, id } in ids {
        pattern.extend_from_slice(&key[from..start as usize]);
        pattern.extend_from_slice(id.mark());
        from = end as usize;
    }
    pattern.extend_from_slice(&key[from..]);
    pattern
}

/// Finds the ids of each key by masks: which of its bytes are letters and digits.
///
/// ```text
/// key      n e w s 0 0 1 : a f 3
/// word     1 1 1 1 1 1 1 . 1 1 1     letters and digits
/// digit    . . . . 1 1 1 . . . 1
/// hex      . 1 . . 1 1 1 . 1 1 1     digits, a to f and A to F
/// ```
///
/// # Safety
/// The keys must lie in `base`, the CPU must have the instructions of `L`.
#[inline(always)]
pub unsafe fn find<L: Lanes>(base: Padded<'_>, keys: &Spans, ids: &mut Ids) {
    ids.clear();
    for (&start, &end) in keys.start.iter().zip(&keys.end) {
        let key = &base.bytes()[start as usize..end as usize];
        if key.len() > LANES {
            let found = |from, to, id| ids.found.push(Found { start: start + from as u32, end: start + to as u32, id });
            each_by_byte(key, found);
        } else {
            // SAFETY: the key starts in the block, 64 bytes after the block may be read.
            let lanes = unsafe { L::load(base.as_ptr().add(start as usize)) };
            let in_key = below(end - start);
            let letters = |low: u8, high: u8| lanes.within(low, high) | lanes.within(low & !0x20, high & !0x20);
            let digit = lanes.within(b'0', b'9') & in_key;
            let word = digit | letters(b'a', b'z') & in_key;
            let hex = digit | letters(b'a', b'f') & in_key;
            let has_hyphens = key.len() >= UUID && (lanes.equal(b'-') & in_key).count_ones() >= 4;
            let mut left = digit;
            // Only tokens with a digit can be ids.
            while left != 0 {
                let at = left.trailing_zeros();
                let from = 64 - (!word & below(at)).leading_zeros();
                let to = at + (!(word >> at)).trailing_zeros();
                let token = below(to) & !below(from);
                let uuid = if has_hyphens { uuid_around(key, from as usize) } else { None };
                if let Some(from) = uuid {
                    let from = from as u32;
                    ids.found.push(Found { start: start + from, end: start + from + UUID as u32, id: Id::Uuid });
                    left &= !below(from + UUID as u32);
                    continue;
                }
                let digits = (digit & token).count_ones();
                let trailing = trailing_digits(digit, to).min(to - from);
                if let Some((id, skipped)) = kind(to - from, digits, hex & token == token, trailing) {
                    ids.found.push(Found { start: start + from + skipped, end: start + to, id });
                }
                left &= !below(to);
            }
        }
        ids.ends.push(ids.found.len() as u32);
    }
}

/// Length of a UUID, and where its hyphens are.
const UUID: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The bits below `n`.
#[inline(always)]
fn below(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// How many digits in a row end before bit `end`, which is not 0.
#[inline(always)]
fn trailing_digits(digit: u64, end: u32) -> u32 {
    (!(digit << (64 - end))).leading_zeros()
}

/// What a token of these counts is, and how many bytes at its start stay.
#[inline(always)]
fn kind(len: u32, digits: u32, is_hex: bool, trailing: u32) -> Option<(Id, u32)> {
    match () {
        () if digits == 0 => None,
        () if digits == len => Some((Id::Number, 0)),
        () if is_hex && len >= 8 => Some((Id::Hex, 0)),
        () if len >= 16 => Some((Id::Mixed, 0)),
        () if trailing >= 3 => Some((Id::Number, len - trailing)),
        () => None,
    }
}

/// The start of the UUID that has the token at `token` as one of its five, which is the first with a digit in it.
fn uuid_around(key: &[u8], token: usize) -> Option<usize> {
    let starts = [0, 9, 14, 19, 24].map(|before| token.checked_sub(before));
    starts.into_iter().flatten().find(|start| is_uuid(key, *start))
}

fn is_uuid(key: &[u8], start: usize) -> bool {
    let Some(text) = key.get(start..start + UUID) else { return false };
    let alone = |at: Option<usize>| at.and_then(|at| key.get(at)).is_none_or(|byte| !byte.is_ascii_alphanumeric());
    HYPHENS.iter().all(|at| text[*at] == b'-')
        && alone(start.checked_sub(1))
        && alone(Some(start + UUID))
        && text.iter().enumerate().all(|(i, byte)| HYPHENS.contains(&i) || byte.is_ascii_hexdigit())
}

/// Finds the ids of each key byte by byte.
pub fn find_by_byte(base: Padded<'_>, keys: &Spans, ids: &mut Ids) {
    ids.clear();
    for i in 0..keys.len() {
        let start = keys.start[i];
        let found = |from, to, id| ids.found.push(Found { start: start + from as u32, end: start + to as u32, id });
        each_by_byte(keys.get(base, i), found);
        ids.ends.push(ids.found.len() as u32);
    }
}

/// Token by token, byte by byte.
#[cold]
fn each_by_byte(key: &[u8], mut found: impl FnMut(usize, usize, Id)) {
    let mut at = 0;
    while at < key.len() {
        let len = key[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if len == 0 {
            at += 1;
            continue;
        }
        let token = &key[at..at + len];
        let digits = token.iter().filter(|byte| byte.is_ascii_digit()).count();
        let has_digit = |start: usize| key[start..start + UUID].iter().any(u8::is_ascii_digit);
        if is_uuid(key, at) && has_digit(at) {
            found(at, at + UUID, Id::Uuid);
            at += UUID;
            continue;
        }
        let trailing = token.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let is_hex = token.iter().all(u8::is_ascii_hexdigit);
        if let Some((id, skipped)) = kind(len as u32, digits as u32, is_hex, trailing as u32) {
            found(at + skipped as usize, at + len, id);
        }
        at += len;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::kernel;
    use crate::source::block::Block;
    use proptest::prelude::*;

    fn of(key: &str) -> String {
        String::from_utf8(pattern(key.as_bytes(), Ids::of_key(key.as_bytes()).into_iter())).unwrap()
    }

    #[test]
    fn ids_are_what_the_rules_say() {
        for (key, expected) in [
            ("prod:uc:profile:1001:base", "prod:uc:profile:<n>:base"),
            ("news001", "news<n>"),
            ("v1:s3:utf8", "v1:s3:utf8"),
            ("a12", "a12"),
            ("sess:0123456789abcdef", "sess:<hex>"),
            ("sess:deadbeef", "sess:deadbeef"),
            ("sess:deadbee1", "sess:<hex>"),
            ("t:00112233445566778899", "t:<n>"),
            ("k:abcdefghijklmnop1", "k:<id>"),
            ("k:abcdefghijklmnopq", "k:abcdefghijklmnopq"),
            ("u:123e4567-e89b-12d3-a456-426614174000:x", "u:<uuid>:x"),
            ("u:abcdefab-cdef-abcd-efab-cdefabcdefa1", "u:<uuid>"),
            ("x123e4567-e89b-12d3-a456-426614174000", "x123e<n>-e89b-12d3-a<n>-<n>"),
            ("{42}:7", "{<n>}:<n>"),
            ("", ""),
            ("7", "<n>"),
        ] {
            assert_eq!(of(key), expected, "{key}");
        }
    }

    proptest! {
        #[test]
        fn every_kernel_finds_what_the_bytes_say(
            keys in prop::collection::vec(
                "([a-f0-9]{1,12}|[a-z]{1,9}[0-9]{0,4}|[:{}-]|é|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}){0,6}",
                0..40,
            ),
        ) {
            let (mut content, mut spans) = (Vec::new(), Spans::default());
            for key in &keys {
                spans.push(content.len() as u32, (content.len() + key.len()) as u32);
                content.extend_from_slice(key.as_bytes());
            }
            let block = Block::from_bytes(&content);
            let mut truth = Ids::default();
            find_by_byte(block.padded(), &spans, &mut truth);
            for kernel in kernel::available() {
                let mut found = Ids::default();
                kernel.ids(block.padded(), &spans, &mut found);
                prop_assert_eq!(&found, &truth, "{}", kernel.name);
            }
        }
    }
}
