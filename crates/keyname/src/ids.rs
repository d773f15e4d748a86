//! The parts of a key that are ids. A pattern has a placeholder for each.

/// The form of an id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// Digits.
    Number,
    /// Hexadecimal digits.
    Hex,
    /// Hexadecimal digits in groups of 8-4-4-4-12.
    Uuid,
    /// Letters and digits.
    Mixed,
    /// 4-2-2 digits, with hyphens or slashes.
    Date,
    /// An IPv4 address.
    Address,
}

impl Id {
    /// All forms.
    pub const ALL: [Id; 6] = [
        Id::Number,
        Id::Hex,
        Id::Uuid,
        Id::Mixed,
        Id::Date,
        Id::Address,
    ];

    /// Its placeholder in a pattern.
    pub const fn mark(self) -> &'static [u8] {
        match self {
            Id::Number => b"<n>",
            Id::Hex => b"<hex>",
            Id::Uuid => b"<uuid>",
            Id::Mixed => b"<id>",
            Id::Date => b"<date>",
            Id::Address => b"<ip>",
        }
    }

    /// The form whose placeholder `text` starts with.
    pub fn marked(text: &[u8]) -> Option<Id> {
        Id::ALL.into_iter().find(|id| text.starts_with(id.mark()))
    }
}

/// An id in a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// Start offset, in the key or in the block with the key.
    pub start: u32,
    /// End offset.
    pub end: u32,
    /// Its form.
    pub id: Id,
}

/// The ids of a key.
pub fn of_key(key: &[u8]) -> Vec<Found> {
    let mut ids = Vec::new();
    each(key, |id| ids.push(id));
    ids
}

/// The pattern of a key: its ids replaced by placeholders.
pub fn pattern_of(key: &[u8]) -> Vec<u8> {
    let (mut pattern, mut from) = (Vec::with_capacity(key.len()), 0);
    each(key, |Found { start, end, id }| {
        pattern.extend_from_slice(&key[from..start as usize]);
        pattern.extend_from_slice(id.mark());
        from = end as usize;
    });
    pattern.extend_from_slice(&key[from..]);
    pattern
}

/// Calls `visit` with the ids of a key, byte by byte: the reference implementation for faster ones.
#[cold]
pub fn each(key: &[u8], mut visit: impl FnMut(Found)) {
    let mut at = 0;
    while at < key.len() {
        let (end, id) = token_at(key, at);
        if let Some((id, skipped)) = id {
            visit(Found {
                start: (at + skipped) as u32,
                end: end as u32,
                id,
            });
        }
        at = end.max(at + 1);
    }
}

/// The token at `at`, which must not be inside a token: its end (`at` if there is none), and the form of the id in it
/// with its start in the token.
pub fn token_at(key: &[u8], at: usize) -> (usize, Option<(Id, usize)>) {
    if let Some((id, len)) = structured(key, at) {
        return (at + len, Some((id, 0)));
    }
    let len = token_len(&key[at..]);
    let token = &key[at..at + len];
    let digits = digits_in(token);
    let trailing = token.iter().rev().take_while(|byte| byte.is_ascii_digit());
    let trailing = trailing.count();
    let id = match () {
        () if digits == 0 => None,
        () if digits == len => Some((Id::Number, 0)),
        () if len >= 8 && token.iter().all(u8::is_ascii_hexdigit) => Some((Id::Hex, 0)),
        () if len >= 16 => Some((Id::Mixed, 0)),
        () if trailing >= 3 => Some((Id::Number, len - trailing)),
        () => None,
    };
    (at + len, id)
}

/// An id of several tokens at `start`, which must not be inside a token: a UUID with a digit, a date, an address.
fn structured(key: &[u8], start: usize) -> Option<(Id, usize)> {
    let before = start.checked_sub(1).map(|at| key[at]);
    if before.is_some_and(|byte| byte.is_ascii_alphanumeric()) {
        return None;
    }
    let text = &key[start..];
    let uuid = uuid(text).map(|len| (Id::Uuid, len));
    let date = || date(text).map(|len| (Id::Date, len));
    let address = || address(text).filter(|_| before != Some(b'.'));
    uuid.or_else(date)
        .or_else(|| address().map(|len| (Id::Address, len)))
}

/// Length of a UUID.
const UUID: usize = 36;

fn uuid(text: &[u8]) -> Option<usize> {
    let (text, behind) = text.split_at_checked(UUID)?;
    let is_right = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    let is_end = behind
        .first()
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    let is_uuid = text.iter().enumerate().all(is_right) && is_end;
    (is_uuid && digits_in(text) > 0).then_some(UUID)
}

/// The length of a date such as `2026-11-01`, or with slashes.
fn date(text: &[u8]) -> Option<usize> {
    const FORM: usize = 10;
    let sign = *text.get(4).filter(|sign| matches!(sign, b'-' | b'/'))?;
    let is_right = |(at, byte): (usize, &u8)| match at {
        4 | 7 => *byte == sign,
        _ => byte.is_ascii_digit(),
    };
    let is_date = text.len() >= FORM && text[..FORM].iter().enumerate().all(is_right);
    let is_end = text
        .get(FORM)
        .is_none_or(|byte| !byte.is_ascii_alphanumeric());
    (is_date && is_end).then_some(FORM)
}

/// The length of four numbers separated by dots.
fn address(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            text.get(at).filter(|byte| **byte == b'.')?;
            at += 1;
        }
        let digits = text[at..].iter().take_while(|byte| byte.is_ascii_digit());
        at += Some(digits.take(4).count()).filter(|digits| (1..=3).contains(digits))?;
    }
    let is_end = |byte: &u8| !byte.is_ascii_alphanumeric() && *byte != b'.';
    text.get(at).is_none_or(is_end).then_some(at)
}

fn token_len(text: &[u8]) -> usize {
    let token = text.iter().take_while(|byte| byte.is_ascii_alphanumeric());
    token.count()
}

fn digits_in(text: &[u8]) -> usize {
    text.iter().filter(|byte| byte.is_ascii_digit()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("m:2026-11-01:a", "m:<date>:a"),
            ("log/2026/11/01/a", "log/<date>/a"),
            ("m:2026-11/01", "m:<n>-<n>/<n>"),
            ("m:2026-11:a", "m:<n>-<n>:a"),
            ("m:2026-11-01T10", "m:<n>-<n>-01T10"),
            ("x2026-11-01", "x<n>-<n>-<n>"),
            ("rl:10.0.0.1:1717269600", "rl:<ip>:<n>"),
            ("rl:10.0.0.1.5", "rl:<n>.<n>.<n>.<n>.<n>"),
            ("rl:1000.0.0.1", "rl:<n>.<n>.<n>.<n>"),
            ("\u{e9}7", "\u{e9}<n>"),
            ("", ""),
            ("7", "<n>"),
        ] {
            let pattern = String::from_utf8(pattern_of(key.as_bytes())).unwrap();
            assert_eq!(pattern, expected, "{key}");
        }
    }
}
