//! Numbers, sizes, names, lists and slot ranges for display. Files and JSON have the exact values.

use crate::calendar::{date, unit_of_time};
use crate::metric::Metric;
pub use crate::name::truncated;
use crate::name::{ISOLATION, Name, has_hidden, shown};

/// Prefixes for powers of a thousand.
const SI: [&str; 7] = ["", " k", " M", " G", " T", " P", " E"];

/// Units of bytes by powers of 1024.
const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Maximum characters of a name in a sentence.
const IN_A_SENTENCE: usize = 60;

/// A count with thousands separators: `16,384`.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 key`, `4,120 keys`, `2 batches`; `noun` is the singular.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = match count {
        1 => "",
        _ if noun.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", grouped(count))
}

/// The ending of a regular noun after `count`.
pub fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// `the minute`, `the 4 minutes`.
pub fn the_minutes(count: u64) -> String {
    match count {
        1 => String::from("the minute"),
        count => format!("the {} minutes", grouped(count)),
    }
}

/// `is` or `are`.
pub fn are(count: u64) -> &'static str {
    if count == 1 { "is" } else { "are" }
}

/// A number of bytes with a binary unit: `1.50 GiB`, below 1 KiB `512 B`.
pub fn bytes(bytes: u64) -> String {
    let (mut value, mut power) = (bytes as f64, 0);
    // 1023.995 would be shown as 1024.00.
    while value >= 1023.995 {
        (value, power) = (value / 1024.0, power + 1);
    }
    match power {
        0 => format!("{bytes} B"),
        power => format!("{value:.2} {}", BINARY[power]),
    }
}

/// Microseconds with the unit that people use: `950 µs`, `12.3 ms`, `4.31 s`, `10 min`.
pub fn micros(micros: f64) -> String {
    let (unit, name) = unit_of_time(micros);
    format!("{} {name}", three_digits(micros / unit))
}

/// An amount of a metric in words: `4,120 keys`, `1.50 GiB`, `1 operation`, `4.31 s of CPU time`.
pub fn amount(metric: Metric, amount: u64) -> String {
    match amount {
        _ if metric.is_size() => bytes(amount),
        _ if metric.is_time() => format!("{} of {}", micros(amount as f64), metric.title()),
        1 => format!("1 {}", metric.unit()),
        _ => format!("{} {}", grouped(amount), metric.units()),
    }
}

/// An amount of a metric in a column or a list that names the metric: `4,120`, `1.50 GiB`, `4.31 s`.
pub fn amount_cell(metric: Metric, amount: u64) -> String {
    if metric.is_size() {
        bytes(amount)
    } else if metric.is_time() {
        micros(amount as f64)
    } else {
        grouped(amount)
    }
}

/// The mean of a metric with its significant digits: `none`, `0.0123`, `12.3`, `4,120`, `1.50 GiB`.
pub fn mean(metric: Metric, mean: f64) -> String {
    match (metric.is_size(), mean) {
        _ if metric.is_time() => micros(mean),
        (true, mean) if mean > 0.0 && mean < 0.5 => String::from("less than a byte"),
        (true, mean) => bytes(mean.round() as u64),
        (_, 0.0) => String::from("none"),
        (_, mean) if mean < 0.1 => format!("{mean:.4}"),
        (_, mean) if mean < 100.0 => format!("{mean:.1}"),
        (_, mean) => grouped(mean.round() as u64),
    }
}

/// A fraction as a percentage with one decimal; a value above zero never prints as zero.
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        percent if percent > 0.0 && percent < 0.05 => String::from("<0.1%"),
        percent => format!("{percent:.1}%"),
    }
}

/// A signed change in percent: `+6.2%`, `-0.5%`, `0.0%`.
pub fn signed_percent(change: f64) -> String {
    match change {
        change if change.abs() < 0.0005 => percent(0.0),
        change if change < 0.0 => format!("-{}", percent(-change)),
        change => format!("+{}", percent(change)),
    }
}

/// A number in about three digits, with an SI prefix at 100,000 and above: `0.61`, `12.3`, `4,120`, `12.3 M`.
pub fn three_digits(value: f64) -> String {
    /// Smaller counts are printed in full.
    const SHORTENED: f64 = 100_000.0;
    if value < SHORTENED.next_down() && (value >= 99.95 || value.fract() == 0.0) {
        return grouped(value.round() as u64);
    }
    if value < SHORTENED {
        // Two non-zero digits, however small it is.
        let small = (1.0 - value.log10().floor()).clamp(2.0, 12.0) as usize;
        let digits = if value >= 9.995 { 1 } else { small };
        return format!("{value:.digits$}");
    }
    let mut power = ((value.log10() / 3.0) as usize).min(SI.len() - 1);
    // 999,960 would be shown as 1000 k.
    if value / 1000f64.powi(power as i32) >= 999.5 && power + 1 < SI.len() {
        power += 1;
    }
    format!(
        "{}{}",
        scaled(value / 1000f64.powi(power as i32)),
        SI[power]
    )
}

/// A number of bytes in about three digits: `0.61 B`, `12.3 KiB`, `64 KiB`.
pub fn bytes_in_three_digits(value: f64) -> String {
    let mut power = power_of_1024(value);
    // 1023.6 KiB would be shown as 1024 KiB.
    if power + 1 < BINARY.len() && value / 1024f64.powi(power as i32) >= 1023.5 {
        power += 1;
    }
    let value = value / 1024f64.powi(power as i32);
    let text = match power {
        0 => three_digits(value),
        _ if value.fract() == 0.0 => grouped(value as u64),
        _ => scaled(value),
    };
    format!("{text} {}", BINARY[power])
}

/// The SI prefix of a power of a thousand, after a space; empty for the power 0.
pub fn si_prefix(power: usize) -> &'static str {
    SI[power.min(SI.len() - 1)]
}

/// The unit of bytes of a power of 1024.
pub fn binary_unit(power: usize) -> &'static str {
    BINARY[power.min(BINARY.len() - 1)]
}

/// The largest power of 1024 that has a unit and is not above `value`.
pub fn power_of_1024(value: f64) -> usize {
    (1..BINARY.len())
        .take_while(|power| value >= 1024f64.powi(*power as i32))
        .count()
}

/// A number below 1000 in three digits.
fn scaled(value: f64) -> String {
    let digits = usize::from(value < 99.95) + usize::from(value < 9.995);
    format!("{value:.digits$}")
}

/// `text` shortened to at most `most` characters by cutting its middle.
pub fn without_middle(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let front = most.saturating_sub(1) / 2;
    let back = most.saturating_sub(1) - front;
    let (front, back) = (text.chars().take(front), text.chars().skip(count - back));
    front.chain(['…']).chain(back).collect()
}

/// A name in at most `most` characters, as `Name::short`.
pub fn name(name: &Name, most: usize) -> String {
    name.short(most)
}

/// A word of a shell command, quoted if necessary.
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if has_hidden(word) {
        // bash, zsh and ksh decode escapes in $'...', which must not contain a quote.
        let spelled = word.replace('\\', r"\\").replace('\'', r"\x27");
        let marks = ISOLATION.map(|mark| (mark, Name::from(mark.to_string()).to_string()));
        let spelled = marks.iter().fold(spelled, |text, (mark, as_bytes)| {
            text.replace(*mark, as_bytes)
        });
        format!("$'{}'", shown(spelled))
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A name in a sentence.
pub fn short(text: &Name) -> String {
    name(text, IN_A_SENTENCE)
}

/// A node's id, shortened to the first 8 of a server's 40 hex digits.
pub fn short_id(id: &Name) -> String {
    Name::from(short_part(id)).to_string()
}

fn short_part(id: &Name) -> &[u8] {
    let is_generated = id.0.len() == 40 && id.0.iter().all(u8::is_ascii_hexdigit);
    if is_generated { &id.0[..8] } else { &id.0 }
}

/// The display name of a node: its hostname with the port, else its address, else its short id.
pub fn node_name(id: &Name, address: Option<&Name>, hostname: Option<&Name>) -> Name {
    let port = |address: &Name| {
        let colon = address.0.iter().rposition(|byte| *byte == b':')?;
        let port = address.0[colon + 1..].to_vec();
        (!port.is_empty() && port.iter().all(u8::is_ascii_digit)).then_some(port)
    };
    match (hostname, address) {
        (Some(hostname), address) => match address.and_then(port) {
            Some(port) => Name([hostname.0.as_slice(), b":", &port].concat()),
            None => hostname.clone(),
        },
        (None, Some(address)) => address.clone(),
        (None, None) => Name::from(short_part(id)),
    }
}

/// The end of a shortened list: `and 12 more`.
pub fn and_more(count: usize) -> String {
    format!("and {} more", grouped(count as u64))
}

/// The first `most` of `items`: `a, b and 12 more`.
pub fn list<T: ToString>(items: impl ExactSizeIterator<Item = T>, most: usize) -> String {
    joined(items, most, ", ")
}

/// A range of slots: `0-99`, or `200` for a single slot.
pub(crate) fn range((first, last): (u16, u16)) -> String {
    if first == last {
        first.to_string()
    } else {
        format!("{first}-{last}")
    }
}

/// The first `most` of `ranges` of slots: `0-99 200 and 12 more`.
pub fn ranges(ranges: &[(u16, u16)], most: usize) -> String {
    joined(ranges.iter().map(|span| range(*span)), most, " ")
}

fn joined<T: ToString>(
    items: impl ExactSizeIterator<Item = T>,
    most: usize,
    separator: &str,
) -> String {
    let unlisted = items.len().saturating_sub(most);
    let shown: Vec<_> = items.take(most).map(|item| item.to_string()).collect();
    match unlisted {
        0 => shown.join(separator),
        unlisted => format!("{} {}", shown.join(separator), and_more(unlisted)),
    }
}

/// The last second of the year 9999, beyond any real clock.
pub const LAST: u64 = 253_402_300_799;

/// `2026-11-21 07:30:05 UTC`, from seconds since 1970.
pub fn time(seconds: u64) -> String {
    let of_day = seconds.min(LAST) % 86_400;
    let (hours, minutes) = (of_day / 3600, of_day / 60 % 60);
    let day = day(seconds);
    let seconds = of_day % 60;
    format!("{day} {hours:02}:{minutes:02}:{seconds:02} UTC")
}

/// `2026-11-21`, from seconds since 1970.
pub fn day(seconds: u64) -> String {
    let (year, month, day) = date((seconds.min(LAST) / 86_400) as i64);
    format!("{year:04}-{month:02}-{day:02}")
}

/// A duration in its largest unit.
pub fn span(secs: u64) -> String {
    match secs {
        s if s >= 86_400 => counted(s / 86_400, "day"),
        s if s >= 3600 => counted(s / 3600, "hour"),
        s if s >= 60 => counted(s / 60, "minute"),
        s => counted(s, "second"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts how each number is shown.
    fn assert_shown<N: Copy + std::fmt::Debug>(show: impl Fn(N) -> String, cases: &[(N, &str)]) {
        for (number, shown) in cases {
            assert_eq!(show(*number), *shown, "{number:?}");
        }
    }

    #[test]
    fn times_are_those_of_the_calendar() {
        let cases = [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (951_868_799, "2000-02-29 23:59:59 UTC"),
            (951_868_800, "2000-03-01 00:00:00 UTC"),
            (1_795_242_395, "2026-11-21 06:26:35 UTC"),
            (1_798_761_599, "2026-12-31 23:59:59 UTC"),
        ];
        assert_shown(time, &cases);
        assert!(time(u64::MAX).starts_with("9999-"));
        assert_shown(day, &[(86_399, "1970-01-01"), (LAST, "9999-12-31")]);
    }

    #[test]
    fn an_amount_has_its_unit_and_about_three_digits() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1_543_901_949, "1,543,901,949"),
        ];
        assert_shown(grouped, &cases);
        let keys = |count| counted(count, "key");
        assert_shown(keys, &[(0, "0 keys"), (1, "1 key"), (1200, "1,200 keys")]);
        let cases = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            ((1 << 20) - 1, "1.00 MiB"),
            (1_610_612_736, "1.50 GiB"),
            (u64::MAX, "16.00 EiB"),
        ];
        assert_shown(bytes, &cases);
        for (metric, of, shown, cell) in [
            (Metric::Keys, 2048, "2,048 keys", "2,048"),
            (Metric::Bytes, 2048, "2.00 KiB", "2.00 KiB"),
            (Metric::Ops, 1, "1 operation", "1"),
            (Metric::Cpu, 2048, "2.05 ms of CPU time", "2.05 ms"),
        ] {
            assert_eq!(
                (amount(metric, of), amount_cell(metric, of)),
                (shown.into(), cell.into())
            );
        }
        let cases = [
            (0.0, "0 µs"),
            (950.0, "950 µs"),
            (999_499.0, "999 ms"),
            (999_500.0, "1.00 s"),
            (1.2e6, "1.20 s"),
            (600e6, "10 min"),
            (9000e6, "2.50 h"),
        ];
        assert_shown(micros, &cases);
        let cases = [
            (0.0, "none"),
            (0.01234, "0.0123"),
            (12.34, "12.3"),
            (4120.4, "4,120"),
        ];
        assert_shown(|of| mean(Metric::Keys, of), &cases);
        let cases = [
            (0.0, "0 B"),
            (0.2, "less than a byte"),
            (2048.0, "2.00 KiB"),
        ];
        assert_shown(|of| mean(Metric::Bytes, of), &cases);
        let cases = [
            (0.0, "0.0%"),
            (0.0001, "<0.1%"),
            (0.1234, "12.3%"),
            (1.0, "100.0%"),
        ];
        assert_shown(percent, &cases);
        let cases = [
            (0.062, "+6.2%"),
            (-0.005, "-0.5%"),
            (-0.0001, "0.0%"),
            (0.0, "0.0%"),
        ];
        assert_shown(signed_percent, &cases);
        let cases = [
            (0.0, "0"),
            (0.000061, "0.000061"),
            (0.61, "0.61"),
            (12.34, "12.3"),
            (99.96, "100"),
            (610.4, "610"),
            (4120.0, "4,120"),
            (99_999.0, "99,999"),
            (123_456.0, "123 k"),
            (999_960.0, "1.00 M"),
            (12_345_678.0, "12.3 M"),
            (1e18, "1.00 E"),
        ];
        assert_shown(three_digits, &cases);
        let cases = [
            (0.0, "0 B"),
            (0.61, "0.61 B"),
            (610.0, "610 B"),
            (1023.7, "1.00 KiB"),
            (12_600.0, "12.3 KiB"),
            (1_048_570.0, "1.00 MiB"),
            (1.5 * 1024f64.powi(3), "1.50 GiB"),
            (65536.0, "64 KiB"),
        ];
        assert_shown(bytes_in_three_digits, &cases);
    }

    #[test]
    fn a_long_name_is_truncated_whatever_its_bytes_are() {
        assert_eq!(truncated("abcd", 4), "abcd");
        assert_eq!(truncated("abcde", 4), "abc…");
        assert_eq!(truncated("名名名", 2), "名…");
        assert_eq!(short(&Name::from("config")), "config");
        assert_eq!(name(&Name::from("a<b"), 3), "a<b");
        for long in [vec![b'x'; 1 << 20], vec![0xff; 1 << 20]] {
            let shown = name(&Name(long), 120);
            assert_eq!((shown.chars().count(), shown.ends_with('…')), (120, true));
        }
        assert!(!name(&Name("名".repeat(120).into_bytes()), 120).ends_with('…'));
    }

    #[test]
    fn a_node_is_called_by_its_hostname_its_address_or_its_short_id() {
        let id = Name::from("0123456789abcdef0123456789abcdef01234567");
        let [address, hostname] = ["10.0.0.1:7000", "redis-0.svc"].map(Name::from);
        for (address, hostname, called) in [
            (Some(&address), Some(&hostname), "redis-0.svc:7000"),
            (Some(&address), None, "10.0.0.1:7000"),
            (None, Some(&hostname), "redis-0.svc"),
            (Some(&hostname), Some(&hostname), "redis-0.svc"),
            (None, None, "01234567"),
        ] {
            assert_eq!(node_name(&id, address, hostname).to_string(), called);
        }
        assert_eq!(short_id(&Name::from("even-1")), "even-1");
    }

    #[test]
    fn a_list_that_is_cut_ends_in_how_many_more_there_are() {
        assert_eq!(list(["a", "b", "c"].iter(), 3), "a, b, c");
        assert_eq!(list(["a", "b", "c"].iter(), 2), "a, b and 1 more");
        let runs = [(0, 99), (200, 200), (300, 301)];
        assert_eq!(ranges(&runs, 3), "0-99 200 300-301");
        assert_eq!(ranges(&runs, 1), "0-99 and 2 more");
    }
}
