//! Expiry times, as written by tools.

use slotscope_base::batch::{LEFT, NEVER, SOMETIME};
use slotscope_base::calendar::days;

use crate::format::parse::size::{integer, is_missing, rounded};

/// Numbers below this are TTLs in seconds: as times they would be before September 2001.
const EPOCH_SECONDS: u64 = 1_000_000_000;
/// Numbers from this on are milliseconds: as seconds they would be past the year 5138.
const EPOCH_MILLISECONDS: u64 = 100_000_000_000;

/// An expiry time in milliseconds since 1970, from seconds or milliseconds since then, or from a timestamp such as
/// `2022-02-18T06:15:29.123+08:00` (UTC without a zone). A TTL in seconds yields a value from `LEFT` on. `NEVER` if the
/// text is empty or says so; `SOMETIME` if it has another form.
pub(crate) fn expiry(text: &[u8]) -> u64 {
    expiry_of(text, EPOCH_SECONDS, 1000)
}

/// The same, with TTLs in milliseconds.
pub(crate) fn expiry_in_milliseconds(text: &[u8]) -> u64 {
    expiry_of(text, EPOCH_MILLISECONDS, 1)
}

fn expiry_of(text: &[u8], left_below: u64, milliseconds: u64) -> u64 {
    let text = text.trim_ascii();
    if is_missing(text) || text == b"0" {
        return NEVER;
    }
    match rounded(text) {
        Some(left) if left < left_below => LEFT + left * milliseconds,
        Some(seconds) if seconds < EPOCH_MILLISECONDS => seconds * 1000,
        Some(milliseconds) if milliseconds < LEFT => milliseconds,
        Some(_) => SOMETIME,
        None if is_never(text) => NEVER,
        None => timestamp(text).unwrap_or(SOMETIME),
    }
}

/// Whether `text` says that there is no expiry.
fn is_never(text: &[u8]) -> bool {
    const WORDS: &str = "never|no limit|no ttl|no expiry|no expiration|persistent|persist|permanent|infinite|infinity|inf|forever|∞";
    WORDS
        .split('|')
        .any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// `2022-02-18T06:15:29`, with optional fraction and zone.
pub fn timestamp(text: &[u8]) -> Option<u64> {
    let (date, rest) = (text.get(..10)?, text.get(11..)?);
    let (clock, rest) = (rest.get(..8)?, rest.get(8..)?);
    let is_separated = b"Tt ".contains(&text[10])
        && [date[4], date[7]] == *b"--"
        && [clock[2], clock[5]] == *b"::";
    if !is_separated {
        return None;
    }
    let [year, month, day] = [&date[..4], &date[5..7], &date[8..]].map(digits);
    let [hour, minute, second] = [&clock[..2], &clock[3..5], &clock[6..]].map(digits);
    let (month, day) = (month?, day?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour? > 23 || minute? > 59 {
        return None;
    }
    let (milliseconds, zone) = fraction(rest)?;
    let local = days(year?, month, day) * 86_400 + (hour? * 60 + minute?) * 60 + second?;
    let seconds = local - offset(zone)?;
    u64::try_from(seconds * 1000 + milliseconds).ok()
}

/// The value of up to nine digits.
fn digits(text: &[u8]) -> Option<i64> {
    integer(text)
        .filter(|_| text.len() <= 9)
        .map(|number| number as i64)
}

/// Milliseconds after a point, and the rest.
fn fraction(text: &[u8]) -> Option<(i64, &[u8])> {
    let Some(rest) = text.strip_prefix(b".") else {
        return Some((0, text));
    };
    let end = rest.iter().position(|byte| !byte.is_ascii_digit());
    let (fraction, zone) = rest.split_at(end.unwrap_or(rest.len()));
    let shown = digits(fraction.get(..fraction.len().min(3))?)?;
    Some((shown * 10i64.pow(3 - fraction.len().min(3) as u32), zone))
}

/// The UTC offset of a zone in seconds.
fn offset(zone: &[u8]) -> Option<i64> {
    let (sign, clock) = match zone {
        b"" | b"Z" | b"z" => return Some(0),
        [b'+', clock @ ..] => (1, clock),
        [b'-', clock @ ..] => (-1, clock),
        _ => return None,
    };
    let (hours, minutes) = match clock {
        [h1, h2, b':', m1, m2] | [h1, h2, m1, m2] => ([*h1, *h2], [*m1, *m2]),
        [h1, h2] => ([*h1, *h2], *b"00"),
        _ => return None,
    };
    Some(sign * (digits(&hours)? * 60 + digits(&minutes)?) * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_every_tool_are_read() {
        for (text, expected) in [
            ("", NEVER),
            ("-1", NEVER),
            (" null ", NEVER),
            ("3600", LEFT + 3_600_000),
            ("60.0", LEFT + 60_000),
            ("None", NEVER),
            ("1645136129", 1_645_136_129_000),
            ("1645136129123", 1_645_136_129_123),
            ("1970-01-01T00:00:00Z", 0),
            ("2022-02-17T22:15:29", 1_645_136_129_000),
            ("2022-02-17 22:15:29.123000", 1_645_136_129_123),
            ("2022-02-18T06:15:29.5+08:00", 1_645_136_129_500),
            ("2024-02-29T23:59:60-0030", 1_709_253_000_000),
            ("2000-03-01T00:00:00+00", 951_868_800_000),
            ("1969-12-31T23:59:59", SOMETIME),
            ("2022-13-01T00:00:00", SOMETIME),
            ("2022-02-17T24:00:00", SOMETIME),
            ("2022-02-17T22:15:29+8", SOMETIME),
            ("2022/02/17T22:15:29", SOMETIME),
            ("soon", SOMETIME),
            ("never", NEVER),
            ("No limit", NEVER),
            ("∞", NEVER),
            ("5 min", SOMETIME),
        ] {
            assert_eq!(expiry(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn no_text_is_too_odd() {
        let text = b"9999-12-31T23:59:59.999999999+99:99";
        for end in 0..=text.len() {
            let _ = expiry(&text[..end]);
        }
        assert_eq!(expiry(b"18446744073709551614"), SOMETIME);
        assert_eq!(expiry_in_milliseconds(b"3600000000"), LEFT + 3_600_000_000);
    }
}
