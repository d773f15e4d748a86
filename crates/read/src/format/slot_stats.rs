//! Counts kept by servers: CLUSTER SLOT-STATS in JSON. A reply as printed by redis-cli is one node at one time; lines
//! written by `collect` are nodes over time.
//!
//! ```text
//! [[0,{"key-count":1,"cpu-usec":5,"network-bytes-in":26,"network-bytes-out":5}],[1,{...}],...]
//! {"time":"2026-11-22T10:00:00.123Z","node":"127.0.0.1:7001","slots":[[0,{"key-count":1,...}],...]}
//! ```

use std::borrow::Cow;
use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::format::parse::time::timestamp;

/// Its name in `files[].format`.
pub const NAME: &str = "slot-stats";

/// Longer than any server reply.
pub const MAX_BYTES: usize = 64 << 20;

/// Nearly a petabyte, or 35 years in microseconds: a sum over all slots fits into 64 bits.
pub const MAX_COUNT: u64 = (1 << 50) - 1;
/// More statistics per slot than any server has.
const MAX_STATS: usize = 64;
const SLOTS: usize = 16_384;
/// Keys, as servers and tables name them.
pub const KEYS: &str = "key-count";
const BYTES: &str = "memory-bytes";
/// Operations, which tables alone have.
pub const OPS: &str = "ops";

/// How counts are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spelling {
    /// One server reply.
    Answer,
    /// Lines with a time and a node each.
    Lines,
    /// A table with the columns `slot,count[,bytes][,ops]`.
    Table,
}

/// The spelling of an input starting with `head`; `None` if it has no counts by slot.
pub fn spelling(head: &[u8]) -> Option<Spelling> {
    if columns(head.split(|byte| *byte == b'\n').next().unwrap_or_default()).is_some() {
        return Some(Spelling::Table);
    }
    let dense: Vec<u8> = head
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .copied()
        .collect();
    let is_pairs = |pairs: &[u8]| {
        let digits = pairs.iter().take_while(|byte| byte.is_ascii_digit());
        let rest = &pairs[digits.clone().count()..];
        digits.count() > 0 && (rest.starts_with(b",{\"") || rest.starts_with(b",[\""))
    };
    if let Some(pairs) = dense.strip_prefix(b"[[") {
        return is_pairs(pairs).then_some(Spelling::Answer);
    }
    // It follows the time and the node, which are short.
    const SLOTS: &[u8] = b"\"slots\":[";
    let place = memchr::memmem::find(&dense, SLOTS)?;
    let pairs = &dense[place + SLOTS.len()..];
    let is_line = dense.starts_with(b"{\"")
        && memchr::memmem::find(&dense[..place], b"\"node\":\"").is_some()
        && (pairs.starts_with(b"]") || pairs.strip_prefix(b"[").is_some_and(is_pairs));
    is_line.then_some(Spelling::Lines)
}

/// The names of the columns of a table of counts, after that of the slot; `None` if this is not a header of one.
fn columns(header: &[u8]) -> Option<Vec<&'static str>> {
    let header = header.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(header);
    let mut names = header.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
    let is = |name: &[u8], names: &[&str]| {
        names
            .iter()
            .any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
    };
    if !is(names.next()?, &["slot"]) {
        return None;
    }
    let column = |name: &[u8]| match () {
        () if is(name, &["count", "keys", "key_count", "key-count"]) => Some(KEYS),
        () if is(
            name,
            &["bytes", "size", "memory", "memory_bytes", "memory-bytes"],
        ) =>
        {
            Some(BYTES)
        }
        () if is(name, &["ops", "operations"]) => Some(OPS),
        () => None,
    };
    let columns: Option<Vec<_>> = names.map(column).collect();
    columns.filter(|columns| {
        let are_different = (1..columns.len()).all(|at| !columns[..at].contains(&columns[at]));
        columns.first() == Some(&KEYS) && are_different
    })
}

/// Parses a table of counts by slot; the slots that it lacks were not counted.
///
/// # Errors
/// As for `answer`.
pub fn table(text: &[u8]) -> Result<Sample<'static>, String> {
    let mut lines = (1u32..).zip(text.split(|byte| *byte == b'\n'));
    let columns = lines.next().and_then(|(_, header)| columns(header));
    let columns = columns.ok_or("has no header slot,count[,bytes][,ops]")?;
    let (mut slots, mut seen) = (Vec::new(), vec![false; SLOTS]);
    for (number, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
        let numbers: Option<Vec<u64>> = line.split(|byte| *byte == b',').map(count).collect();
        let row = numbers.filter(|row| row.len() == columns.len() + 1);
        let row = row.ok_or_else(|| {
            format!(
                "line {number} is not a slot and {} below {MAX_COUNT}",
                slotscope_base::text::counted(columns.len() as u64, "count")
            )
        })?;
        let slot = usize::try_from(row[0]).unwrap_or(SLOTS);
        match seen.get_mut(slot) {
            None => {
                return Err(format!(
                    "line {number}: {} is not a slot: they are 0 to 16383",
                    row[0]
                ));
            }
            Some(true) => {
                return Err(format!(
                    "line {number}: slot {slot} is there twice; one row a slot"
                ));
            }
            Some(seen) => *seen = true,
        }
        let stats = columns
            .iter()
            .zip(&row[1..])
            .map(|(name, count)| (Cow::Borrowed(*name), *count));
        slots.push((slot as u16, Stats(stats.collect())));
    }
    Ok(Sample {
        time: None,
        node: None,
        slots,
    })
}

fn count(cell: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(cell.trim_ascii()).ok()?;
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|count| is_number && *count <= MAX_COUNT)
}

/// A node's counts at one time.
#[derive(Debug, PartialEq)]
pub struct Sample<'t> {
    /// In milliseconds since 1970; `None` for a bare reply.
    pub time: Option<u64>,
    /// The node's name; `None` for a bare reply.
    pub node: Option<String>,
    /// By slot.
    pub slots: Vec<(u16, Stats<'t>)>,
}

/// The statistics of a slot.
#[derive(Debug, Default, PartialEq)]
pub struct Stats<'t>(Vec<(Cow<'t, str>, u64)>);

impl Stats<'_> {
    /// The statistic called `name`.
    pub fn get(&self, name: &str) -> Option<u64> {
        let stat = self.0.iter().find(|(metric, _)| metric == name);
        stat.map(|(_, value)| *value)
    }

    /// The names, for error messages.
    pub fn names(&self) -> String {
        let names = self
            .0
            .iter()
            .map(|(name, _)| format!("\"{}\"", escaped(name)));
        names.collect::<Vec<_>>().join(", ")
    }
}

/// Parses a server reply.
///
/// # Errors
/// A description of the problem, to follow "FILE: ".
pub fn answer(text: &[u8]) -> Result<Sample<'_>, String> {
    let parsed = serde_json::from_slice::<Slots<'_>>(text);
    let slots = parsed.map_err(|error| refused(&error))?.0;
    Ok(Sample {
        time: None,
        node: None,
        slots,
    })
}

/// Parses a line.
///
/// # Errors
/// As for `answer`.
pub fn line(text: &[u8]) -> Result<Sample<'_>, String> {
    #[derive(Deserialize)]
    struct Line<'t> {
        time: String,
        node: String,
        #[serde(borrow)]
        slots: Slots<'t>,
    }
    let line: Line<'_> = serde_json::from_slice(text).map_err(|error| refused(&error))?;
    let parsed = timestamp(line.time.as_bytes());
    let time = parsed.ok_or_else(|| format!("\"{}\" is not a time", escaped(&line.time)))?;
    Ok(Sample {
        time: Some(time),
        node: Some(line.node),
        slots: line.slots.0,
    })
}

fn refused(error: &serde_json::Error) -> String {
    format!("is not a reply to CLUSTER SLOT-STATS in JSON: {error}")
}

fn escaped(text: &str) -> String {
    slotscope_base::name::Name::from(text).to_string()
}

/// Pairs of a slot and its statistics; no slot repeats.
struct Slots<'t>(Vec<(u16, Stats<'t>)>);

impl<'de: 't, 't> Deserialize<'de> for Slots<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let (mut slots, mut is_known) = (Vec::new(), vec![false; SLOTS]);
        for (slot, stats) in Vec::<(u64, Stats<'de>)>::deserialize(from)? {
            check(slot, &stats, &mut is_known).map_err(D::Error::custom)?;
            slots.push((slot as u16, stats));
        }
        Ok(Slots(slots))
    }
}

fn check(slot: u64, stats: &Stats<'_>, known: &mut [bool]) -> Result<(), String> {
    let is_known = usize::try_from(slot).ok().and_then(|at| known.get_mut(at));
    match is_known {
        None => return Err(format!("slot {slot}: there are only {SLOTS}")),
        Some(true) => return Err(format!("slot {slot} comes twice")),
        Some(is_known) => *is_known = true,
    }
    let too_much = stats.0.iter().find(|(_, count)| *count > MAX_COUNT);
    too_much.map_or(Ok(()), |(name, count)| {
        Err(format!(
            "slot {slot}: \"{}\" is {count}, more than a server can count; is it an answer to CLUSTER SLOT-STATS?",
            escaped(name)
        ))
    })
}

impl<'de: 't, 't> Deserialize<'de> for Stats<'t> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Statistics;

        fn push<'t, E: Error>(stats: &mut Stats<'t>, name: Word<'t>, value: u64) -> Result<(), E> {
            if stats.0.len() < MAX_STATS {
                stats.0.push((name.0, value))
            } else {
                return Err(E::custom("more statistics than a server has"));
            }
            Ok(())
        }

        impl<'de> Visitor<'de> for Statistics {
            type Value = Stats<'de>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("statistics of a slot")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Stats<'de>, A::Error> {
                let mut stats = Stats::default();
                while let Some((name, value)) = map.next_entry()? {
                    push(&mut stats, name, value)?;
                }
                Ok(stats)
            }

            /// RESP2 has no maps: names and values alternate.
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Stats<'de>, A::Error> {
                let mut stats = Stats::default();
                while let Some(name) = list.next_element()? {
                    let next = list.next_element()?;
                    let value = next.ok_or_else(|| A::Error::custom("a name without a value"))?;
                    push(&mut stats, name, value)?;
                }
                Ok(stats)
            }
        }
        from.deserialize_any(Statistics)
    }
}

/// A text, borrowed if it has no escapes.
#[derive(Deserialize)]
struct Word<'t>(#[serde(borrow)] Cow<'t, str>);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LINE: &[u8] = br#"{"time":"2026-11-22T10:00:00.123Z","node":"127.0.0.1:7001","slots":[[7,{"key-count":4,"cpu-usec":9}]]}"#;

    #[test]
    fn both_spellings_are_recognised_and_other_json_is_not() {
        let answer = br#"[ [0,{"key-count":3}] ]"#;
        assert_eq!(spelling(answer), Some(Spelling::Answer));
        assert_eq!(
            spelling(br#"[[0,["key-count",3]]]"#),
            Some(Spelling::Answer)
        );
        assert_eq!(spelling(LINE), Some(Spelling::Lines));
        let empty = br#"{"time": "", "node": "a", "slots": []}"#;
        assert_eq!(spelling(empty), Some(Spelling::Lines));
        for other in [
            &b"[[0,5460,[\"127.0.0.1\""[..],
            b"[\"a\"]",
            b"",
            br#"{"key":"\"node\":\"a\",\"slots\":[[0,{\""}"#,
            br#"{"node":"a","slots":["0-5460"]}"#,
        ] {
            assert_eq!(spelling(other), None, "{}", other.escape_ascii());
        }
    }

    #[test]
    fn both_spellings_have_the_same_statistics() {
        let found = line(LINE).unwrap();
        assert_eq!(found.time, Some(1_795_341_600_123));
        assert_eq!(found.node.as_deref(), Some("127.0.0.1:7001"));
        let map = br#"[[7,{"key-count":4,"cpu-usec":9}]]"#;
        let list = br#"[[7,["key-count",4,"cpu-usec",9]]]"#;
        for text in [&map[..], list] {
            assert_eq!(answer(text).unwrap().slots, found.slots);
        }
        assert_eq!(found.slots[0].1.names(), "\"key-count\", \"cpu-usec\"");
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(cut in 0..LINE.len(), byte: u8, bytes: Vec<u8>) {
            let mut text = LINE.to_vec();
            text[cut] = byte;
            for text in [&text[..], &text[..cut], &bytes] {
                let _ = (spelling(text), line(text), answer(text));
            }
        }
    }

    #[test]
    fn what_no_server_answers_is_refused() {
        for (text, why) in [
            ("[[0,{\"key-count\":-1}]]", "invalid value"),
            ("[[0,{\"key-count\":1}", "EOF"),
            ("[[20000,{\"a\":1}]]", "slot 20000: there are only 16384"),
            ("[[5,{}],[5,{}]]", "slot 5 comes twice"),
            ("[[5,[\"a\"]]]", "a name without a value"),
            (
                "[[7,{\"key-count\":18446744073709551615}]]",
                "slot 7: \"key-count\" is 18446744073709551615, more",
            ),
        ] {
            let refused = answer(text.as_bytes()).unwrap_err();
            assert!(refused.contains(why), "{text}: {refused}");
        }
        let many: Vec<_> = (0..65).map(|i| format!("\"{i}\":1")).collect();
        let text = format!("[[0,{{{}}}]]", many.join(","));
        let refused = answer(text.as_bytes()).unwrap_err();
        assert!(refused.contains("more statistics"), "{refused}");
        let no_time = br#"{"time":"soon","node":"a","slots":[]}"#;
        assert_eq!(line(no_time).unwrap_err(), "\"soon\" is not a time");
    }
}
