//! Numbers as printed by tools: plain integers, and human-readable sizes.
//!
//! Units are powers of 1024, whether `K`, `KB` or `KiB`, as in redis.conf, redis-cli and most other tools. Only
//! redis-rdb-cli writes powers of 1000.

use slotscope_base::batch::MISSING;

use crate::format::parse::unit::unit_bytes;

/// A number parser.
pub type ReadNumber = fn(&[u8]) -> Option<u64>;

/// A number without sign or unit. `MISSING` itself is not a valid size.
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

/// The number in the first `len` (1 to 16) of sixteen bytes, if all of them are digits.
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
    // Shift the digits to the end; the zero bytes before them count as zeros.
    let shift = 128 - 8 * len;
    let digits = (text << shift) ^ (ZEROS << shift);
    let is_number = (digits | digits.wrapping_add(TO_HIGH_BIT)) & HIGH_BITS == 0;
    is_number
        .then(|| eight_digits(digits as u64) * 100_000_000 + eight_digits((digits >> 64) as u64))
}

/// The same for 1 to 8 digits in eight bytes.
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

/// The value of eight digits, the first in the lowest byte: combines pairs, then fours, then all.
#[inline]
fn eight_digits(digits: u64) -> u64 {
    const FIRST_OF_FOUR: u64 = 0x0000_00FF_0000_00FF;
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8);
    let first = (pairs & FIRST_OF_FOUR).wrapping_mul(100 + (1_000_000 << 32));
    let second = (pairs >> 16 & FIRST_OF_FOUR).wrapping_mul(1 + (10_000 << 32));
    first.wrapping_add(second) >> 32
}

/// A size in bytes, as written by people and programs, with or without a unit. Precision lost to rounding is gone, so
/// the result is approximate.
pub fn size(text: &[u8]) -> Option<u64> {
    integer(text).or_else(|| Quantity::parse(text)?.in_units_of(1))
}

/// The same of redis-rdb-cli, in whose units a thousand is 1000.
pub(crate) fn size_in_thousands(text: &[u8]) -> Option<u64> {
    integer(text).or_else(|| Quantity::parse_with(text, 1000)?.in_units_of(1))
}

/// The same in a table, where a fraction of a byte is the mark of another quantity.
pub(crate) fn bytes(text: &[u8]) -> Option<u64> {
    let is_size = |size: &Quantity| size.is_known(1) && (size.unit.is_some() || size.is_whole());
    let quantity = || Quantity::parse(text).filter(is_size)?.in_units_of(1);
    integer(text).or_else(quantity)
}

/// The same, with `2^SHIFT` bytes as the default unit: the one in the column name.
pub(crate) fn size_in<const SHIFT: u32>(text: &[u8]) -> Option<u64> {
    let is_size = |size: &Quantity| size.is_known(1 << SHIFT);
    Quantity::parse(text)
        .filter(is_size)?
        .in_units_of(1 << SHIFT)
}

/// The same of a writer who writes a comma before a fraction, and points between groups of digits.
pub(crate) fn size_with_commas<const SHIFT: u32>(text: &[u8]) -> Option<u64> {
    const LONGEST: usize = 40;
    let swapped = |byte: &u8| match byte {
        b',' => b'.',
        b'.' => b',',
        other => *other,
    };
    let text: Vec<u8> = text.iter().take(LONGEST + 1).map(swapped).collect();
    let size = Quantity {
        is_ambiguous: false,
        has_comma: false,
        ..Quantity::parse(&text)?
    };
    let is_size = text.len() <= LONGEST
        && size.is_known(1 << SHIFT)
        && (SHIFT > 0 || size.unit.is_some() || size.is_whole());
    size.in_units_of(1 << SHIFT).filter(|_| is_size)
}

/// A number of anything but bytes: it has no unit, and no part of one is counted.
pub(crate) fn count(text: &[u8]) -> Option<u64> {
    let whole = || decimal(text).filter(Quantity::is_whole)?.in_units_of(1);
    integer(text).or_else(whole)
}

/// A number of seconds or milliseconds, rounded.
pub(crate) fn rounded(text: &[u8]) -> Option<u64> {
    integer(text).or_else(|| decimal(text)?.in_units_of(1))
}

fn decimal(text: &[u8]) -> Option<Quantity> {
    Quantity::parse(text).filter(|quantity| quantity.unit.is_none())
}

/// Whether `text` is a usual spelling of "no number".
pub fn is_missing(text: &[u8]) -> bool {
    const MISSING: [&str; 16] = [
        "",
        "null",
        "nil",
        "(nil)",
        "none",
        "nan",
        "n/a",
        "na",
        "-",
        "--",
        "?",
        "\\n",
        "-1",
        "-2",
        "undefined",
        "unknown",
    ];
    let first = text.first().copied().unwrap_or(b'-');
    !first.is_ascii_digit()
        && MISSING
            .iter()
            .any(|missing| text.eq_ignore_ascii_case(missing.as_bytes()))
}

/// A decimal number and its unit: `digits` times ten to the power of `exponent`.
struct Quantity {
    digits: u128,
    exponent: i32,
    /// Bytes per unit, if given.
    unit: Option<u128>,
    /// Whether it may be no number of bytes: 1.234 is a fraction or what others write as 1,234, and 12,34 a fraction or two
    /// numbers.
    is_ambiguous: bool,
    /// Whether it ends with a comma and three digits: an integer if in bytes, possibly a fraction in larger units.
    has_comma: bool,
}

/// More digits are meaningless, even for exabytes.
const MAX_DIGITS: usize = 24;

impl Quantity {
    /// `184`, `(integer) 184`, `1,234`, `917.0`, `1e+08`, `0,11`, `95.4 MiB`, `12 bytes`, `(184 bytes)`, `[184]`.
    fn parse(text: &[u8]) -> Option<Quantity> {
        Quantity::parse_with(text, 1024)
    }

    /// The same, with this many bytes in a `kB`.
    fn parse_with(text: &[u8], kilobyte: u128) -> Option<Quantity> {
        let reply = text.strip_prefix(b"(integer) ").unwrap_or(text);
        let text = match (reply.first(), reply.last()) {
            (Some(b'('), Some(b')')) | (Some(b'['), Some(b']')) => &reply[1..reply.len() - 1],
            _ => reply,
        };
        let (mut digits, len) = whole(text)?;
        let mut exponent = 0;
        let mut rest = &text[len..];
        let mut fraction = &rest[..0];
        if let Some(behind) = rest.strip_prefix(b".") {
            let len = count_digits(behind);
            (fraction, rest) = behind.split_at(len);
            for digit in fraction.iter().take(MAX_DIGITS) {
                digits = digits.checked_mul(10)? + u128::from(digit - b'0');
                exponent -= 1;
            }
        }
        let mut has_power = false;
        if let [b'e' | b'E', behind @ ..] = rest {
            let (sign, behind) = match behind {
                [b'-', behind @ ..] => (-1, behind),
                [b'+', behind @ ..] => (1, behind),
                behind => (1, behind),
            };
            let len = count_digits(behind);
            if (1..=2).contains(&len) {
                exponent += sign * integer(&behind[..len])? as i32;
                rest = &behind[len..];
                has_power = true;
            }
        }
        let unit = rest.strip_prefix(b" ").unwrap_or(rest);
        if unit.is_empty() && !rest.is_empty() {
            return None;
        }
        let unit = if unit.is_empty() {
            None
        } else {
            Some(unit_bytes(unit, kilobyte)?)
        };
        Some(Quantity {
            digits,
            exponent,
            unit,
            // A byte has no thousandths: these are digits in groups.
            is_ambiguous: fraction.len() == 3 && !has_power && unit.is_none_or(|unit| unit == 1),
            has_comma: text[..len].contains(&b','),
        })
    }

    /// Whether it is a size, in this unit if it has none of its own: 0.00 MB is one that was rounded away.
    fn is_known(&self, unit: u128) -> bool {
        self.digits > 0 || self.unit.unwrap_or(unit) == 1
    }

    fn is_whole(&self) -> bool {
        let power = 10u128.checked_pow(self.exponent.min(0).unsigned_abs());
        power.is_some_and(|power| self.digits.is_multiple_of(power))
    }

    /// It in bytes, where it counts `bytes` of them if it has no unit of its own.
    fn in_units_of(&self, bytes: u128) -> Option<u64> {
        let unit = self.unit.unwrap_or(bytes);
        if self.is_ambiguous && bytes == 1 || self.has_comma && unit > 1 {
            return None;
        }
        let scaled = self.digits.checked_mul(unit)?;
        let power = 10u128.checked_pow(self.exponent.unsigned_abs())?;
        let rounded = if self.exponent < 0 {
            (scaled + power / 2) / power
        } else {
            scaled.checked_mul(power)?
        };
        let number = u64::try_from(rounded).ok()?;
        (number != MISSING).then_some(number)
    }
}

fn count_digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// The integer at the start of `text`, with or without groups of three digits, and its length. One point is a decimal
/// point, two are between groups, and three make an IP address.
fn whole(text: &[u8]) -> Option<(u128, usize)> {
    const BETWEEN: [&[u8]; 6] = [b",", b"'", b"_", b" ", b"\xC2\xA0", b"\xE2\x80\xAF"];
    let mut len = count_digits(text);
    if len == 0 || len > MAX_DIGITS {
        return None;
    }
    let mut number = digits_of(&text[..len]);
    let between = BETWEEN
        .into_iter()
        .find(|between| text[len..].starts_with(between));
    // A leading zero means a fraction: 0,484.
    if let Some(between) = between.filter(|_| len <= 3 && text[0] != b'0') {
        let is_group = |rest: &[u8]| count_digits(rest) == 3;
        while len < MAX_DIGITS
            && let Some(rest) = text[len..].strip_prefix(between)
            && is_group(rest)
        {
            number = number * 1000 + digits_of(&rest[..3]);
            len += between.len() + 3;
        }
    }
    Some((number, len))
}

fn digits_of(text: &[u8]) -> u128 {
    text.iter()
        .fold(0, |number, digit| number * 10 + u128::from(digit - b'0'))
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
        for (text, expected) in java {
            assert_eq!(size_in_thousands(text.as_bytes()), Some(expected), "{text}");
        }
        for (text, expected) in [&go[..], &redis_cli].concat() {
            assert_eq!(size(text.as_bytes()), Some(expected), "{text}");
        }
    }

    #[test]
    fn units_have_their_names_in_other_languages_and_bytes_have_no_thousandths() {
        for (text, expected) in [
            ("340 Б", Some(340)),
            ("2 МБ", Some(2 << 20)),
            ("1,049バイト", Some(1049)),
            ("205i", Some(205)),
            ("2 kilobytes", Some(2048)),
            ("8.995 bytes", None),
            ("8.995", None),
            ("8.9 bytes", Some(9)),
            ("2 Бит", None),
        ] {
            assert_eq!(size(text.as_bytes()), expected, "{text}");
        }
        assert_eq!(size_with_commas::<0>(b"8.995 bytes"), Some(8995));
    }

    #[test]
    fn a_unit_means_the_same_in_a_cell_and_in_the_name_of_its_column() {
        for text in ["3072 KB", "3072kb", "3072K", "3072 KiB"] {
            assert_eq!(bytes(text.as_bytes()), Some(3 << 20), "{text}");
        }
        assert_eq!(size_in::<10>(b"3072"), Some(3 << 20));
    }

    #[test]
    fn a_size_rounded_to_nothing_is_unknown() {
        for text in ["0.00", "0"] {
            assert_eq!(size_in::<20>(text.as_bytes()), None, "{text}");
            assert_eq!(bytes(format!("{text} MB").as_bytes()), None, "{text}");
        }
        assert_eq!((bytes(b"0"), bytes(b"0 bytes")), (Some(0), Some(0)));
    }

    #[test]
    fn sizes_of_scripts_and_spreadsheets_are_read() {
        for (text, expected) in [
            ("1e+08", 100_000_000),
            ("1E8", 100_000_000),
            ("1.5e3", 1500),
            ("917.0", 917),
            ("1,234", 1234),
            ("1'234'567", 1_234_567),
            ("1 234", 1234),
            ("1\u{a0}234", 1234),
            ("(integer) 184", 184),
            ("(184 bytes)", 184),
            ("[184]", 184),
            ("12 bytes", 12),
            ("95.4 MiB", 100_034_150),
            ("1kib", 1024),
            ("1.234 MB", 1_293_943),
        ] {
            assert_eq!(size(text.as_bytes()), Some(expected), "{text}");
        }
        assert_eq!(size_in::<20>(b"0.000122"), Some(128));
        assert_eq!(size_in::<10>(b"5 B"), Some(5));
        assert_eq!((count(b"1e3"), count(b"12 B")), (Some(1000), None));
        assert_eq!(
            (bytes(b"1.5 KiB"), bytes(b"917.0")),
            (Some(1536), Some(917))
        );
        assert_eq!(size_with_commas::<10>(b"0,11"), Some(113));
        for (text, size) in [
            ("3.279", Some(3279)),
            ("1,5", None),
            ("1.234,5 KB", Some(1_264_128)),
        ] {
            assert_eq!(size_with_commas::<0>(text.as_bytes()), size, "{text}");
        }
        assert_eq!((count(b"2.0"), count(b"1.5e1")), (Some(2), Some(15)));
        for fraction in ["0.4", "12.5", "1e-9", "15e-1"] {
            assert_eq!(count(fraction.as_bytes()), None, "{fraction}");
            assert_eq!(bytes(fraction.as_bytes()), None, "{fraction}");
        }
    }

    #[test]
    fn a_number_that_is_not_there_is_missing_and_no_other_text_is() {
        for text in ["", "NaN", "None", "N/A", "(nil)", "\\N", "-1", "null"] {
            assert!(is_missing(text.as_bytes()), "{text}");
        }
        for text in ["0", "-3", "1e+x8", "many", "--5"] {
            assert!(!is_missing(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in [
            "",
            "-1",
            "+1",
            " 1",
            "1 ",
            "x",
            ".5",
            "1.5X",
            "1e+x8",
            "12,34",
            "0,5",
            "3.145.784",
            "1,234,5",
            "1.234",
            "1.5e",
            "99999999999999999999999",
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
