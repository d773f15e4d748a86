//! Memory sizes as people write them.

/// A size in bytes, written as in redis.conf: k, m and g are powers of 1000, kb, mb and gb powers of 1024.
pub(crate) fn config_size(text: &str) -> Option<u64> {
    const UNITS: &[(&str, u64)] = &[
        ("kb", 1 << 10),
        ("mb", 1 << 20),
        ("gb", 1 << 30),
        ("tb", 1 << 40),
        ("k", 1_000),
        ("m", 1_000_000),
        ("g", 1_000_000_000),
        ("b", 1),
    ];
    let (number, factor) = with_unit(text.trim(), UNITS)?;
    number.checked_mul(factor)
}

/// The number before a unit (ignoring case), and the value of the unit; 1 without a unit.
pub(crate) fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<(u64, u64)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let is_unit = |(name, _): &&(&str, u64)| unit.eq_ignore_ascii_case(name);
    let factor = match unit {
        "" => 1,
        _ => units.iter().find(is_unit)?.1,
    };
    Some((digits.parse().ok()?, factor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_redis_conf() {
        for (text, bytes) in [
            ("0", 0),
            ("1024", 1024),
            ("1k", 1000),
            ("1KB", 1024),
            ("5mb", 5 << 20),
            ("2g", 2_000_000_000),
        ] {
            assert_eq!(config_size(text), Some(bytes), "{text}");
        }
        for text in [
            "",
            "gb",
            "1.5gb",
            "-1",
            "1x",
            "99999999999999999999",
            "99999999tb",
        ] {
            assert_eq!(config_size(text), None, "{text}");
        }
    }
}
