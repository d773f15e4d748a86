//! Numbers as tools print them: plain integers, and sizes made for people.
//!
//! The unit decides the base: `kB`, `MB` (redis-rdb-cli) count in thousands; `K`, `M` (HDT3213/rdb, redis-cli) in 1024s.

use crate::format::batch::MISSING;

/// How a number is read.
pub(crate) type ReadNumber = fn(&[u8]) -> Option<u64>;

/// A number without sign or unit. `MISSING` itself is not a size.
pub fn integer(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 20 {
        return None;
    }
    let number = text.iter().try_fold(0u64, |number, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then_some(())?;
        number.checked_mul(10)?.checked_add(u64::from(digit))
    })?;
    (number != MISSING).then_some(number)
}

/// The number in the first `len` of sixteen bytes, where they are from 1 to 16 digits and nothing else.
#[inline]
pub(crate) fn sixteen_digits(text: u128, len: u32) -> Option<u64> {
    const ZEROS: u128 = u128::from_ne_bytes([b'0'; 16]);
    const TO_HIGH_BIT: u128 = u128::from_ne_bytes([0x80 - 10; 16]);
    const HIGH_BITS: u128 = u128::from_ne_bytes([0x80; 16]);
    if len.wrapping_sub(1) < 8 {
        return up_to_eight_digits(text as u64, len);
    }
    if len.wrapping_sub(1) >= 16 {
        return None;
    }
    // The digits move to the end, and zero bytes before them count as zeros.
    let shift = 128 - 8 * len;
    let digits = (text << shift) ^ (ZEROS << shift);
    let is_number = (digits | digits.wrapping_add(TO_HIGH_BIT)) & HIGH_BITS == 0;
    is_number
        .then(|| eight_digits(digits as u64) * 100_000_000 + eight_digits((digits >> 64) as u64))
}

/// The same of 1 to 8 digits in eight bytes.
#[inline]
fn up_to_eight_digits(text: u64, len: u32) -> Option<u64> {
    const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);
    const TO_HIGH_BIT: u64 = u64::from_ne_bytes([0x80 - 10; 8]);
    const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
    let shift = 64 - 8 * len;
    let digits = (text << shift) ^ (ZEROS << shift);
    let is_number = (digits | digits.wrapping_add(TO_HIGH_BIT)) & HIGH_BITS == 0;
    is_number.then(|| eight_digits(digits))
}

/// The number of eight digits, the first in the lowest byte: pairs, then fours, then all of them are put together.
#[inline]
fn eight_digits(digits: u64) -> u64 {
    const FIRST_OF_FOUR: u64 = 0x0000_00FF_0000_00FF;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let first = (pairs & FIRST_OF_FOUR).wrapping_mul(100 + (1_000_000 << 32));
    let second = (pairs >> 16 & FIRST_OF_FOUR).wrapping_mul(1 + (10_000 << 32));
    first.wrapping_add(second) >> 32
}

/// A size in bytes: an integer, or a decimal number and a unit, with or without a space between them. What a unit
/// rounded off is lost, so the result is a whole number near the truth.
pub(crate) fn size(text: &[u8]) -> Option<u64> {
    let digits = text
        .iter()
        .position(|byte| !byte.is_ascii_digit())
        .unwrap_or(text.len());
    let whole = integer(&text[..digits])?;
    let rest = &text[digits..];
    let (fraction, unit) = match rest.strip_prefix(b".") {
        None => (&rest[..0], rest),
        Some(rest) => rest.split_at(
            rest.iter()
                .position(|byte| !byte.is_ascii_digit())
                .unwrap_or(rest.len()),
        ),
    };
    let unit = match unit.strip_prefix(b" ") {
        Some(b"") => return None,
        Some(unit) => unit_bytes(unit)?,
        None => unit_bytes(unit)?,
    };
    if fraction.is_empty() {
        return u128::from(whole).checked_mul(unit).and_then(narrow);
    }
    // More digits than these say nothing, even of an exabyte.
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10u128.pow(fraction.len() as u32);
    let parts = u128::from(integer(fraction)?);
    let rounded = (parts * unit + scale / 2) / scale;
    narrow(u128::from(whole).checked_mul(unit)?.checked_add(rounded)?)
}

fn narrow(number: u128) -> Option<u64> {
    u64::try_from(number)
        .ok()
        .filter(|number| *number != MISSING)
}

fn unit_bytes(unit: &[u8]) -> Option<u128> {
    const LETTERS: &[u8] = b"KMGTPE";
    let power = |letter: u8| {
        LETTERS
            .iter()
            .position(|known| *known == letter)
            .map(|at| at as u32 + 1)
    };
    match unit {
        b"" | b"B" => Some(1),
        b"kB" => Some(1000),
        [letter] => Some(1024u128.pow(power(*letter)?)),
        [letter, b'B'] if *letter != b'K' => Some(1000u128.pow(power(*letter)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn sixteen_digits_are_read_as_the_standard_library_does(text in "[0-9]{0,17}|[0-9/:a\u{80}\u{fa} ]{0,8}", fill: u128) {
            let mut bytes = fill.to_le_bytes();
            let len = text.len().min(16);
            bytes[..len].copy_from_slice(&text.as_bytes()[..len]);
            let expected = if text.len() <= 16 { text.parse().ok() } else { None };
            proptest::prop_assert_eq!(sixteen_digits(u128::from_le_bytes(bytes), text.len() as u32), expected);
        }
    }

    #[test]
    fn sizes_of_all_three_tools_are_read_in_their_base() {
        let java = [
            ("88 B", 88),
            ("1.2kB", 1200),
            ("3.4MB", 3_400_000),
            ("1.0EB", 1_000_000_000_000_000_000),
        ];
        let go = [
            ("0", 0),
            ("64B", 64),
            ("1.5K", 1536),
            ("2M", 2 << 20),
            ("1G", 1 << 30),
        ];
        let redis_cli = [("104B", 104), ("1.00M", 1 << 20), ("1.38K", 1413)];
        for (text, expected) in [&java[..], &go, &redis_cli].concat() {
            assert_eq!(size(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "",
            "-1",
            "+1",
            "1e3",
            " 1",
            "1 ",
            "x",
            ".5",
            "1.5X",
            "1KB",
            "99999999999999999999",
            "20000E",
        ] {
            assert_eq!(size(text.as_bytes()), None, "{text}");
        }
        assert_eq!(
            integer(u64::MAX.to_string().as_bytes()),
            None,
            "it would read as missing"
        );
        assert_eq!(
            integer((u64::MAX - 1).to_string().as_bytes()),
            Some(u64::MAX - 1)
        );
        assert_eq!(integer(b"00000000000000000007"), Some(7));
    }
}
