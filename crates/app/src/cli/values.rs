//! Parses flag values as people write them: key counts, memory sizes, slot ranges.

use std::time::Duration;

use slotscope_base::error::{Error, Result as Checked};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_topology::ranges;

use crate::options::sizes::{config_size, with_unit};

/// A number of keys: digits, optionally with `_` between them, and k, M or G for thousand, million, billion.
///
/// # Errors
/// Not a number, or more than 64 bits can hold; for display.
pub fn count(text: &str) -> Result<u64, String> {
    const UNITS: &[(&str, u64)] = &[("k", 1_000), ("m", 1_000_000), ("g", 1_000_000_000)];
    let bad = "not a number of keys; write it like 5000, 10_000 or 2M";
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(bad.into());
    }
    let (number, factor) = with_unit(&text.replace('_', ""), UNITS).ok_or(bad)?;
    number
        .checked_mul(factor)
        .ok_or_else(|| "more keys than 64 bits can count".into())
}

/// The value of `flag`, a size as in redis.conf.
///
/// # Errors
/// Not a valid size.
pub fn memory_size(flag: &str, text: &str) -> Result<u64, Error> {
    let place = || format!("{flag} {}", Name::from(text));
    let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
    match config_size(text).filter(|size| *size > 0) {
        // No server has this little memory: a unit is missing.
        Some(size) if is_number && size < LEAST_MEMORY => {
            Err(Error::bad(place(), format!("{size} bytes? write {size}gb")))
        }
        Some(size) => Ok(size),
        None => Err(Error::bad(
            place(),
            "not a size; write bytes, or 512mb, 4gb as in redis.conf",
        )),
    }
}

/// A smaller number without a unit lacks one.
const LEAST_MEMORY: u64 = 1024;

/// A number above 0, small enough for sums and quotients.
fn positive(text: &str) -> Option<f64> {
    text.parse()
        .ok()
        .filter(|number| (1e-6..=1e6).contains(number))
}

/// Slots and slot ranges: `0-5,77`.
pub fn slot_ranges(text: &str) -> Option<Vec<(u16, u16)>> {
    let range = |part: &str| {
        let (first, last) = ranges::parse(part.trim())?;
        (first <= last && last < SLOTS as u64).then_some((first as u16, last as u16))
    };
    text.split(',').map(range).collect()
}

/// A percentage: `8`, `8%`.
pub fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().trim_end_matches('%').trim_end();
    number
        .parse()
        .map_err(|_| "not a number of percent; write 8 or 8%".into())
}

/// A percentage above 0, up to 100: `25`, `2.5%`.
pub fn part_percent(text: &str) -> Result<f64, String> {
    let percent = percent(text)?;
    let is_fine = percent > 0.0 && percent <= 100.0;
    is_fine
        .then_some(percent)
        .ok_or_else(|| "not above 0 and up to 100".into())
}

/// A duration: `500ms`, `10s`, `5m`, `1h`; above zero and at most a day.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => 0.0,
    };
    let seconds = number.parse::<f64>().unwrap_or(0.0) * factor;
    if (0.001..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("not a time; write 500ms, 10s, 5m or 1h, at most a day".into())
    }
}

/// Node names with relative capacities, each as ID=W.
///
/// # Errors
/// A text has another form, or a weight is not above 0.
pub fn node_weights(texts: &[String]) -> Checked<Vec<(String, f64)>> {
    let weight = |text: &String| {
        let bad = |reason| Error::option("weight", Name::from(text.as_str()), reason);
        let (name, weight) = text
            .rsplit_once('=')
            .ok_or_else(|| bad("write it as ID=W"))?;
        let weight =
            positive(weight).ok_or_else(|| bad("W must be above 0; --remove ID empties a node"))?;
        Ok((name.to_owned(), weight))
    };
    texts.iter().map(weight).collect()
}

/// A duration in the form read by `duration`.
pub fn written(duration: Duration) -> String {
    match duration.subsec_millis() {
        0 => format!("{}s", duration.as_secs()),
        _ => format!("{}ms", duration.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_of_keys_is_read_as_people_write_it() {
        for (text, number) in [
            ("0", 0),
            ("10_000_000", 10_000_000),
            ("5k", 5_000),
            ("2M", 2_000_000),
            ("1g", 1_000_000_000),
        ] {
            assert_eq!(count(text), Ok(number));
        }
        for text in [
            "",
            "k",
            "_1",
            "-1",
            "+1",
            "1.5M",
            "ten",
            "5kk",
            "99999999999G",
        ] {
            assert!(count(text).is_err(), "{text}");
        }
    }

    #[test]
    fn slots_are_single_numbers_and_ranges_that_rise() {
        assert_eq!(slot_ranges("0-5, 77"), Some(vec![(0, 5), (77, 77)]));
        assert_eq!(slot_ranges("16383"), Some(vec![(16383, 16383)]));
        for text in ["", "5-", "5-4", "16384", "1,,2", "+1", "0x5"] {
            assert_eq!(slot_ranges(text), None, "{text}");
        }
    }

    #[test]
    fn times_and_percentages_are_read_as_people_write_them() {
        for (text, ms) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("2", 2000),
            ("1.5m", 90_000),
            ("24h", 86_400_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
            assert_eq!(
                duration(&written(Duration::from_millis(ms))),
                duration(text)
            );
        }
        for text in ["", "s", "0s", "-1s", "25h", "1d", "1e9s", "NaN"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(
            (part_percent("25"), part_percent("2.5%")),
            (Ok(25.0), Ok(2.5))
        );
        for text in ["0", "101", "-1", "x", "NaN"] {
            assert!(part_percent(text).is_err(), "{text}");
        }
    }
}
