//! Units of sizes, as they are written in several languages.

/// Bytes per unit, ignoring case: `K` and `KiB` are 1024, `kB` as many as the writer means.
pub(crate) fn unit_bytes(unit: &[u8], kilobyte: u128) -> Option<u128> {
    // More likely a truncated exponent than exabytes.
    let unit = std::str::from_utf8(unit).ok().filter(|unit| *unit != "e")?;
    let (power, is_writers) = unit_power(&unit.to_lowercase())?;
    let base = if is_writers { kilobyte } else { 1024 };
    Some(base.pow(power))
}

/// Whether a byte may be of a unit, in any script.
pub fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || !byte.is_ascii()
}

/// The power of a thousand that a unit in small letters stands for, and whether its writer decides which thousand: `kb`.
pub(crate) fn unit_power(unit: &str) -> Option<(u32, bool)> {
    /// `i` marks an integer in the line protocol of InfluxDB.
    const BYTES: [&str; 14] = [
        "b",
        "byte",
        "bytes",
        "o",
        "octet",
        "octets",
        "i",
        "б",
        "байт",
        "байта",
        "байтов",
        "字节",
        "バイト",
        "바이트",
    ];
    // The second letters are Cyrillic.
    const LETTERS: [&str; 6] = ["kк", "mм", "gг", "tт", "p", "e"];
    const NAMES: [&str; 3] = ["kilo", "mega", "giga"];
    if BYTES.contains(&unit) {
        return Some((0, false));
    }
    let named = NAMES.iter().position(|name| unit.starts_with(name));
    if let Some(at) = named {
        let is_unit = BYTES.contains(&&unit[NAMES[at].len()..]);
        return is_unit.then_some((at as u32 + 1, true));
    }
    let letter = unit.chars().next()?;
    let at = LETTERS.iter().position(|known| known.contains(letter))?;
    let is_writers = match &unit[letter.len_utf8()..] {
        "" | "i" | "ib" | "io" => false,
        "b" | "o" | "б" | "byte" | "bytes" => true,
        _ => return None,
    };
    Some((at as u32 + 1, is_writers))
}
