//! The parts of a key that are ids. A pattern has a mark in their place.
//!
//! A token is a run of ASCII letters and digits. All digits: `<n>`. Eight or more hexadecimal digits, a decimal one
//! among them: `<hex>`. Such of 8-4-4-4-12: `<uuid>`. Sixteen or more, mixed: `<id>`. Three or more digits that end a
//! word: `<n>` for them alone (`news001` is `news<n>`; `v1`, `s3`, `utf8` stay).

use hashslot::simd::{Bytes64, LANES};

use crate::source::block::Padded;

/// The form of an id.
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
    /// Its mark in a pattern.
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
    /// Its form.
    pub id: Id,
}

/// The ids of a key, byte by byte.
pub fn of_key(key: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    by_byte(key, |start, end, id| {
        found.push(Found {
            start: start as u32,
            end: end as u32,
            id,
        })
    });
    found
}

/// The pattern of a key: its ids replaced by their marks.
pub fn pattern_of(key: &[u8]) -> Vec<u8> {
    let (mut pattern, mut from) = (Vec::with_capacity(key.len()), 0);
    for Found { start, end, id } in of_key(key) {
        pattern.extend_from_slice(&key[from..start as usize]);
        pattern.extend_from_slice(id.mark());
        from = end as usize;
    }
    pattern.extend_from_slice(&key[from..]);
    pattern
}

/// Finds the ids of the key at `start..end` of `base` by masks: which of its bytes are letters and digits.
///
/// ```text
/// key      n e w s 0 0 1 : a f 3
/// word     1 1 1 1 1 1 1 . 1 1 1     letters and digits
/// digit    . . . . 1 1 1 . . . 1
/// hex      . 1 . . 1 1 1 . 1 1 1     digits, a to f and A to F
/// ```
///
/// # Safety
/// The key must lie in `base`, the CPU must have the instructions of `B`.
#[inline(always)]
pub(crate) unsafe fn by_masks<B: Bytes64>(
    base: Padded<'_>,
    start: u32,
    end: u32,
    mut found: impl FnMut(Found),
) {
    let key = &base.bytes()[start as usize..end as usize];
    if key.len() > LANES {
        return by_byte(key, |from, to, id| {
            found(Found {
                start: start + from as u32,
                end: start + to as u32,
                id,
            })
        });
    }
    // SAFETY: the key starts in the block, 64 bytes after the block may be read.
    let bytes = unsafe { B::load(base.as_ptr().add(start as usize)) };
    let Masks {
        digit,
        word,
        hex,
        uuid,
    } = Masks::of(bytes, end - start);
    let mut left = digit;
    // Only tokens with a digit can be ids.
    while left != 0 {
        let at = left.trailing_zeros();
        let from = 64 - (!word & below(at)).leading_zeros();
        let to = at + (!(word >> at)).trailing_zeros();
        let token = below(to) & !below(from);
        left &= !below(to);
        if uuid & token != 0 {
            found(Found {
                start: start + from,
                end: start + to,
                id: Id::Uuid,
            });
            continue;
        }
        let digits = (digit & token).count_ones();
        let trailing = trailing_digits(digit, to).min(to - from);
        if let Some((id, skipped)) = kind(to - from, digits, hex & token == token, trailing) {
            found(Found {
                start: start + from + skipped,
                end: start + to,
                id,
            });
        }
    }
}

/// Masks of the bytes of a key of up to 64 bytes, by kind.
#[derive(Clone, Copy)]
pub(super) struct Masks {
    pub digit: u64,
    /// Letters and digits, and the hyphens in a UUID: so it is one token.
    pub word: u64,
    pub hex: u64,
    /// Where UUIDs with a digit start.
    pub uuid: u64,
}

impl Masks {
    #[inline(always)]
    pub(super) fn of<B: Bytes64>(bytes: B, len: u32) -> Masks {
        let in_key = below(len);
        let digit = bytes.within(b'0', b'9') & in_key;
        let word = digit | bytes.letters(b'a', b'z') & in_key;
        let hex = digit | bytes.letters(b'a', b'f') & in_key;
        let hyphen = bytes.equal(b'-') & in_key;
        let mut masks = Masks {
            digit,
            word,
            hex,
            uuid: 0,
        };
        if (len >= UUID as u32) & (hyphen.count_ones() >= HYPHENS.len() as u32) {
            masks.join_uuids(hyphen);
        }
        masks
    }

    /// Finds UUIDs: hyphens in the right places, hexadecimal digits between them, no letter or digit on either side.
    fn join_uuids(&mut self, hyphen: u64) {
        let four = self.hex & self.hex >> 1 & self.hex >> 2 & self.hex >> 3;
        let [a, b, c, d] = HYPHENS;
        let hyphens = hyphen >> a & hyphen >> b & hyphen >> c & hyphen >> d;
        let digits = four
            & four >> 4
            & four >> 9
            & four >> 14
            & four >> 19
            & four >> 24
            & four >> 28
            & four >> 32;
        let adjacent = self.word << 1 | self.word >> UUID;
        let mut starts = hyphens & digits & !adjacent;
        while starts != 0 {
            let start = starts.trailing_zeros();
            starts &= starts - 1;
            if self.digit >> start & below(UUID as u32) != 0 {
                self.uuid |= 1 << start;
                self.word |= below(UUID as u32) << start;
            }
        }
    }
}

/// Length of a UUID, and where its hyphens are.
const UUID: usize = 36;
const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// The bits below `n`.
#[inline(always)]
pub(super) fn below(n: u32) -> u64 {
    if n >= 64 { u64::MAX } else { (1 << n) - 1 }
}

/// How many digits in a row end before bit `end`, which is not 0.
#[inline(always)]
fn trailing_digits(digit: u64, end: u32) -> u32 {
    (!(digit << (64 - end))).leading_zeros()
}

/// The form of a token with these counts, and how many bytes at its start stay.
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

fn is_uuid(key: &[u8], start: usize) -> bool {
    let Some(text) = key.get(start..start + UUID) else {
        return false;
    };
    let alone = |at: Option<usize>| {
        at.and_then(|at| key.get(at))
            .is_none_or(|byte| !byte.is_ascii_alphanumeric())
    };
    HYPHENS.iter().all(|at| text[*at] == b'-')
        && alone(start.checked_sub(1))
        && alone(Some(start + UUID))
        && text
            .iter()
            .enumerate()
            .all(|(i, byte)| HYPHENS.contains(&i) || byte.is_ascii_hexdigit())
}

/// Token by token, byte by byte.
#[cold]
pub(super) fn by_byte(key: &[u8], mut found: impl FnMut(usize, usize, Id)) {
    let mut at = 0;
    while at < key.len() {
        let len = key[at..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric())
            .count();
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
        let trailing = token
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
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

    fn of(key: &str) -> String {
        String::from_utf8(pattern_of(key.as_bytes())).unwrap()
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
            (
                "x123e4567-e89b-12d3-a456-426614174000",
                "x123e<n>-e89b-12d3-a<n>-<n>",
            ),
            ("{42}:7", "{<n>}:<n>"),
            ("", ""),
            ("7", "<n>"),
        ] {
            assert_eq!(of(key), expected, "{key}");
        }
    }
}
