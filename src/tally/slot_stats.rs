//! Counts made by the server: CLUSTER SLOT-STATS as JSON, one file a primary, with the load of each of its slots.
//!
//! ```text
//! [[0,{"key-count":1,"cpu-usec":5,"network-bytes-in":26,"network-bytes-out":5}],[1,{...}],...]
//! ```

use std::collections::BTreeMap;

use crate::metric::Metric;
use crate::slot::SLOTS;
use crate::tally::Tallies;

/// What `files[].format` calls it.
pub const NAME: &str = "slot-stats";

/// Longer than any reply of a server.
pub const MAX_BYTES: u64 = 64 << 20;

/// The statistic that counts as operations where the user names none.
const OPS: &str = "cpu-usec";

/// Whether an input that starts with `head` is such an answer.
pub fn is_one(head: &[u8]) -> bool {
    let blank = |byte: &u8| byte.is_ascii_whitespace();
    let dense: Vec<u8> = head
        .iter()
        .take(256)
        .filter(|byte| !blank(byte))
        .copied()
        .collect();
    let Some(rest) = dense.strip_prefix(b"[[") else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest[digits..].starts_with(b",{\"")
}

/// A petabyte, or 35 years in microseconds: the sum over all slots stays below 64 bits.
const MAX_COUNT: u64 = 1 << 50;

/// Adds the counts in `text` to `tallies`, `ops` being the statistic that counts as operations; returns its keys.
///
/// # Errors
/// What is wrong with it, as an end to "FILE: ".
pub fn add(tallies: &mut Tallies, text: &[u8], ops: Option<&str>) -> Result<u64, String> {
    let slots: Vec<(u16, BTreeMap<String, u64>)> = serde_json::from_slice(text)
        .map_err(|error| format!("is no answer to CLUSTER SLOT-STATS in JSON: {error}"))?;
    let columns = [
        (Metric::Keys, "key-count"),
        (Metric::Bytes, "memory-bytes"),
        (Metric::Ops, ops.unwrap_or(OPS)),
    ];
    let mut keys = 0u64;
    for (slot, stats) in slots {
        if usize::from(slot) >= SLOTS {
            return Err(format!("slot {slot}: there are only {SLOTS}"));
        }
        if let Some(ops) = ops.filter(|ops| !stats.contains_key(*ops)) {
            let there: Vec<_> = stats
                .keys()
                .map(|name| name.escape_debug().to_string())
                .collect();
            return Err(format!(
                "slot {slot} has no \"{}\"; it has: {}",
                ops.escape_debug(),
                there.join(", ")
            ));
        }
        if let Some((name, count)) = stats.iter().find(|(_, count)| **count > MAX_COUNT) {
            let name = crate::name::Name::from(name.as_str());
            return Err(format!(
                "slot {slot}: \"{name}\" is {count}, more than a server can count; is it an answer to CLUSTER SLOT-STATS?"
            ));
        }
        for (metric, name) in columns {
            let Some(value) = stats.get(name) else {
                continue;
            };
            let loads = tallies
                .slots
                .loads
                .get_or_insert_with(metric, || vec![0; SLOTS]);
            loads[usize::from(slot)] = *value;
        }
        keys = keys.saturating_add(stats.get("key-count").copied().unwrap_or(0));
    }
    Ok(keys)
}

/// The slots that `text` has counts for: two files with counts for one slot are of one node.
pub fn slots(text: &[u8]) -> Vec<u16> {
    let slots: Option<Vec<(u16, serde::de::IgnoredAny)>> = serde_json::from_slice(text).ok();
    slots.into_iter().flatten().map(|(slot, _)| slot).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tally::Parts;

    #[test]
    fn a_count_that_no_server_has_is_refused() {
        let text = format!("[[7,{{\"key-count\":{}}}]]", u64::MAX);
        let refused = add(&mut Tallies::new(Parts::Slots), text.as_bytes(), None).unwrap_err();
        assert!(
            refused.starts_with("slot 7: \"key-count\" is "),
            "{refused}"
        );
    }

    #[test]
    fn keys_bytes_and_operations_are_taken_over() {
        let text = br#"[ [0,{"key-count":3,"cpu-usec":5,"network-bytes-in":26}], [7,{"key-count":4,"cpu-usec":0}] ]"#;
        assert!(is_one(text) && !is_one(b"[[0,5460,[\"127.0.0.1\"") && !is_one(b"[\"a\"]"));
        let mut tallies = Tallies::new(Parts::Slots);
        assert_eq!(add(&mut tallies, text, None), Ok(7));
        let loads = &tallies.slots.loads;
        assert_eq!(
            (
                loads.keys[0],
                loads.keys[7],
                loads.get(Metric::Ops).unwrap()[0]
            ),
            (3, 4, 5)
        );
        assert_eq!(loads.bytes(), None);
        assert_eq!(slots(text), [0, 7]);
        let missing = add(&mut tallies, text, Some("network-bytes-in")).unwrap_err();
        assert_eq!(
            missing,
            "slot 7 has no \"network-bytes-in\"; it has: cpu-usec, key-count"
        );
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        let mut tallies = Tallies::new(Parts::Slots);
        for text in [
            "[[0,{\"key-count\":-1}]]",
            "[[0,{\"key-count\":1}",
            "[[20000,{\"key-count\":1}]]",
        ] {
            assert!(add(&mut tallies, text.as_bytes(), None).is_err(), "{text}");
        }
    }
}
