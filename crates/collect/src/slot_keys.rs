//! A bounded number of keys of one slot, with sizes: from a hot slot to names.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use slotscope_base::error::Result;
use slotscope_base::name::Name;

use crate::address::Address;
use crate::connection::{Access, Connection};
use crate::key_facts::{self, Fate, Heat, Questions};

/// Maximum bytes kept of a name.
const MAX_NAME: usize = 1024;

/// Keys of a slot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotKeys {
    /// CLUSTER COUNTKEYSINSLOT.
    pub count: u64,
    /// The keys listed, without those that are gone or moved meanwhile.
    pub keys: Vec<SlotKey>,
    /// Why there are no sizes.
    pub without_memory: Option<&'static str>,
}

/// A key with attributes from the server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SlotKey {
    /// Its name, truncated if long.
    pub name: Name,
    /// TYPE.
    pub kind: String,
    /// The number of elements.
    pub elements: Option<u64>,
    /// MEMORY USAGE.
    pub memory: Option<u64>,
}

/// Asks the server at `address`, the slot's owner, for `most` of its keys.
///
/// # Errors
/// The server does not answer, or refuses.
pub(crate) fn ask(address: &Address, access: &Access, slot: u16, most: u64) -> Result<SlotKeys> {
    let access = access.brief();
    let mut connection = Connection::open(address, &access)?;
    let count = count(&mut connection, slot)?;
    let names = names(&mut connection, slot, most)?;
    let mut questions = Questions::new(Heat::Unasked);
    // Do not wait for a cluster that is down.
    let outage = AtomicBool::new(true);
    let fates = key_facts::ask(&mut connection, &names, &mut questions, &outage)?;
    let key = |(mut name, fate): (Vec<u8>, Fate)| match fate {
        Fate::Known(facts) => {
            name.truncate(MAX_NAME);
            Some(SlotKey {
                name: Name(name),
                kind: facts.kind,
                elements: facts.elements,
                memory: facts.memory,
            })
        }
        _ => None,
    };
    Ok(SlotKeys {
        count,
        keys: names.into_iter().zip(fates).filter_map(key).collect(),
        without_memory: questions.without_memory,
    })
}

/// CLUSTER COUNTKEYSINSLOT.
fn count(connection: &mut Connection, slot: u16) -> Result<u64> {
    const COUNT: &str = "CLUSTER COUNTKEYSINSLOT";
    let slot = slot.to_string();
    let words: [&[u8]; 3] = [b"CLUSTER", b"COUNTKEYSINSLOT", slot.as_bytes()];
    let count = connection.call(COUNT, &words)?.count();
    count.ok_or_else(|| connection.odd(COUNT))
}

/// CLUSTER GETKEYSINSLOT: the names of at most `most` keys of a slot.
///
/// # Errors
/// The server does not answer, or refuses.
pub(crate) fn names(connection: &mut Connection, slot: u16, most: u64) -> Result<Vec<Vec<u8>>> {
    const GET: &str = "CLUSTER GETKEYSINSLOT";
    let asked = usize::try_from(most).unwrap_or(usize::MAX);
    let (slot, most) = (slot.to_string(), most.to_string());
    let words: [&[u8]; 4] = [
        b"CLUSTER",
        b"GETKEYSINSLOT",
        slot.as_bytes(),
        most.as_bytes(),
    ];
    let names = connection.call(GET, &words)?.into_texts();
    let mut names = names.ok_or_else(|| connection.odd(GET))?;
    names.truncate(asked);
    Ok(names)
}

/// The most common hash tag among these keys with its count, if any has one.
pub fn common_tag<'k>(keys: impl IntoIterator<Item = &'k Name>) -> Option<(Name, usize)> {
    let mut counts = BTreeMap::<&[u8], usize>::new();
    let tags = keys
        .into_iter()
        .filter_map(|key| key.0.get(hashslot::tag(&key.0)?));
    tags.for_each(|tag| *counts.entry(tag).or_default() += 1);
    let (tag, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    Some((Name::from(tag), count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{access, start, text};

    #[test]
    fn a_slot_has_a_count_and_keys_with_types_and_sizes() {
        let answer = |command: &str| match command {
            "CLUSTER COUNTKEYSINSLOT 7" => Some(b":5\r\n".to_vec()),
            "CLUSTER GETKEYSINSLOT 7 2" => {
                Some([&b"*2\r\n"[..], &text("a"), &text("gone")].concat())
            }
            "TYPE a" => Some(b"+string\r\n".to_vec()),
            "TYPE gone" => Some(b"+none\r\n".to_vec()),
            "PTTL a" => Some(b":-1\r\n".to_vec()),
            "PTTL gone" => Some(b":-2\r\n".to_vec()),
            "MEMORY USAGE a" => Some(b":64\r\n".to_vec()),
            of if of.starts_with("OBJECT ENCODING") => Some(b"+raw\r\n".to_vec()),
            _ => Some(b"+OK\r\n".to_vec()),
        };
        let found = ask(&start(answer), &access(), 7, 2).unwrap();
        let key = SlotKey {
            name: Name::from("a"),
            kind: "string".into(),
            elements: Some(1),
            memory: Some(64),
        };
        assert_eq!((found.count, found.keys), (5, vec![key]));
    }

    #[test]
    fn a_count_that_no_server_can_have_is_refused() {
        let answer = |command: &str| {
            let is_count = command.starts_with("CLUSTER COUNT");
            let reply = if is_count {
                ":9223372036854775807\r\n"
            } else {
                "*0\r\n"
            };
            Some(reply.into())
        };
        let error = ask(&start(answer), &access(), 7, 2).unwrap_err();
        let said = error.to_string();
        assert!(
            said.contains("the answer to CLUSTER COUNTKEYSINSLOT"),
            "{said}"
        );
    }
}
