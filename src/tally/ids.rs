//! What of a key is an id: the bytes of a key come in, the places that a pattern has a mark for go out.
//!
//! A token is a run of ASCII letters and digits. All digits: `<n>`. Eight or more hexadecimal digits, a decimal one
//! among them: `<hex>`. Such of 8-4-4-4-12: `<uuid>`. Sixteen or more, mixed: `<id>`. Three or more digits that end a
//! word: `<n>` for them alone (`news001` is `news<n>`; `v1`, `s3`, `utf8` stay).

use crate::lanes::LANES;
use crate::slot::kernel::classes::Classes;

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

/// Length of a UUID, and where its hyphens are.
const UUID: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// Calls `found` with each id of `key`, whose classes are `classes`: where it starts and ends, in order.
#[inline]
pub fn each(key: &[u8], classes: Classes, mut found: impl FnMut(usize, usize, Id)) {
    if key.len() > LANES {
        return each_of_long(key, found);
    }
    let Classes { word, mut digit, hex } = classes;
    // Only tokens with a digit can be ids.
    while digit != 0 {
        let at = digit.trailing_zeros();
        let start = 64 - (!word & below(at)).leading_zeros();
        let end = at + (!(word >> at)).trailing_zeros();
        let token = below(end) & !below(start);
        let (len, from) = (end - start, start as usize);
        let mut past = end;
        if let Some(start) = uuid_around(key, from) {
            found(start, start + UUID, Id::Uuid);
            past = (start + UUID) as u32;
        } else {
            let digits = (classes.digit & token).count_ones();
            let trailing = trailing_digits(classes.digit, end).min(len);
            if let Some((id, skipped)) = kind(len, digits, hex & token == token, trailing) {
                found(from + skipped as usize, end as usize, id);
            }
        }
        digit &= !below(past);
    }
}

/// The bits below `n`.
#[inline]
fn below(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// How many digits in a row end before bit `end`, which is not 0.
#[inline]
fn trailing_digits(digit: u64, end: u32) -> u32 {
    (!(digit << (64 - end))).leading_zeros()
}

/// What a token of these counts is, and how many bytes at its start stay.
#[inline]
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

/// Token by token, byte by byte: for keys that no mask holds.
#[cold]
fn each_of_long(key: &[u8], mut found: impl FnMut(usize, usize, Id)) {
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

/// The pattern of a key: its ids replaced by their marks.
pub fn pattern(key: &[u8], classes: Classes) -> Vec<u8> {
    let (mut pattern, mut from) = (Vec::with_capacity(key.len()), 0);
    each(key, classes, |start, end, id| {
        pattern.extend_from_slice(&key[from..start]);
        pattern.extend_from_slice(id.mark());
        from = end;
    });
    pattern.extend_from_slice(&key[from..]);
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(key: &str) -> String {
        String::from_utf8(pattern(key.as_bytes(), Classes::of(key.as_bytes()))).unwrap()
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
        fn masks_find_what_the_bytes_say(key in "([a-f0-9]{1,12}|[a-z]{1,9}[0-9]{0,4}|[:{}-]|é|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}){0,6}") {
            let mut whole = Vec::new();
            each_of_long(key.as_bytes(), |start, end, id| whole.push((start, end, id)));
            let mut found = Vec::new();
            each(key.as_bytes(), Classes::of(key.as_bytes()), |start, end, id| found.push((start, end, id)));
            prop_assert_eq!(found, whole);
        }
    }
}
