//! `hotkeys`: HOTKEYS GET, as JSON. Redis returns a map with two lists of keys and amounts, by CPU
//! time and by traffic; Valkey an array of maps, each with a key, a database and lookups per second.

use slotscope_base::batch::{MISSING, Number};
use slotscope_base::block::{Block, Piece};
use slotscope_base::metric::extreme::Extreme;

use crate::format::extremes::reply::{self, Value};
use crate::format::extremes::{Text, amount, give};
use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::{Columns, Detected, Format, Head, Opened, ReadStats, Reader};

/// The format.
pub(crate) struct Hotkeys;

impl Format for Hotkeys {
    fn name(&self) -> &'static str {
        "hotkeys"
    }

    fn example(&self) -> &'static str {
        r#"[{"by-cpu-time-us":["user:{1000}:profile",184]}] (HOTKEYS GET, as JSON, of Redis or Valkey)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        reply::detect(head, |value, content| {
            matches!(find(value, content, &mut Vec::new()), Ok(true))
        })
    }

    fn note(&self) -> Option<&'static str> {
        Some("HOTKEYS names the hottest keys of a time or of a sample: no share of the traffic")
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(reply::opened(self.name(), Hotkeys))
    }
}

impl Reader for Hotkeys {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let mut gather = BatchBuilder::new(columns);
        reply::each(block, piece.from, &mut gather, |block, _, value, gather| {
            let mut keys = Vec::new();
            let outcome = find(value, block.content(), &mut keys);
            for (key, database, says) in &keys {
                let key = key.undo(block);
                let databases = gather.values().number_mut(Number::Database);
                databases.push(*database);
                give(gather, block, key, *says);
            }
            outcome.map(|_| !keys.is_empty())
        });
        gather.finish(block)
    }
}

const NO_AMOUNT: &str = "a hot key without a number";

/// A key, its database, and its entry in the list.
type HotKey = (Text, u64, (Extreme, u64));

/// Finds the keys of a reply; whether it is one of HOTKEYS.
fn find(value: &Value, content: &[u8], keys: &mut Vec<HotKey>) -> Result<bool, &'static str> {
    let Value::List(items, _) = value else {
        return Ok(false);
    };
    let member = |name: &[u8]| {
        let mut pairs = items.chunks_exact(2);
        let pair = pairs.find(|pair| pair[0].bytes(content) == name);
        pair.map(|pair| &pair[1])
    };
    let number = |value: &Value| amount(value.bytes(content)).ok_or(NO_AMOUNT);
    if let (Some(Value::Text(key)), Some(lookups)) = (member(b"key"), member(b"qps")) {
        let database = member(b"db").and_then(|database| number(database).ok());
        let says = (Extreme::Lookups, number(lookups)?);
        keys.push((*key, database.unwrap_or(MISSING), says));
        return Ok(true);
    }
    let mut is_one = member(b"tracking-active").is_some();
    for (name, extreme) in [
        (&b"by-cpu-time-us"[..], Extreme::CpuTime),
        (b"by-net-bytes", Extreme::Traffic),
    ] {
        let Some(Value::List(list, _)) = member(name) else {
            continue;
        };
        is_one = true;
        // The entries may be pairs in arrays.
        let values = list.iter().flat_map(|entry| match entry {
            Value::List(pair, _) => &pair[..],
            value => std::slice::from_ref(value),
        });
        let entries: Vec<&Value> = values.collect();
        for pair in entries.chunks_exact(2) {
            let (Value::Text(key) | Value::Bare(key)) = pair[0] else {
                return Err(NO_AMOUNT);
            };
            keys.push((*key, MISSING, (extreme, number(pair[1])?)));
        }
    }
    if !is_one {
        for item in items {
            is_one |= find(item, content, keys)?;
        }
    }
    Ok(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, named, read_whole};

    const REDIS: [&str; 3] = [
        r#"[{"tracking-active":1,"sample-ratio":1,"selected-slots":[[0,16383]],"total-net-bytes":9,
"by-cpu-time-us":["a\n",70,"by-net-bytes",5],"by-net-bytes":["{t}:b",300]}]"#,
        r#"["by-cpu-time-us",["a\n",70,"by-net-bytes",5],"by-net-bytes",["{t}:b",300]]"#,
        r#"{"by-cpu-time-us":{"a\n":70,"by-net-bytes":5},"by-net-bytes":[["{t}:b",300]]}"#,
    ];

    const VALKEY: [&str; 2] = [
        r#"[{"key":"a\n","db":0,"qps":12.6},{"key":"{t}:b","db":3,"qps":1}]"#,
        r#"[["key","a\n","db",0,"qps","12.6"],["key","{t}:b","db",3,"qps","1"]]"#,
    ];

    #[test]
    fn keys_are_by_cpu_time_traffic_and_lookups() {
        let redis = r"a\n CpuTime=70; by-net-bytes CpuTime=5; {t}:b Traffic=300";
        assert_reads(&Hotkeys, &REDIS.map(|content| (content, redis)));
        let valkey = r"a\n database=0 Lookups=13; {t}:b database=3 Lookups=1";
        assert_reads(&Hotkeys, &VALKEY.map(|content| (content, valkey)));
        for content in REDIS.into_iter().chain(VALKEY) {
            assert_eq!(named(content, true), Some("hotkeys"), "{content}");
        }
        for (content, name) in [
            ("[\"key\",\"b\"]", "redis-json"),
            ("1) \"key\"\n2) \"b\"\n", "numbered"),
        ] {
            assert_eq!(named(content, true), Some(name), "{content}");
        }
    }

    #[test]
    fn a_reply_that_is_cut_off_is_rejected_behind_its_keys() {
        for content in [REDIS[0], VALKEY[0]] {
            for cut in 1..content.len() {
                let found = read_whole(&Hotkeys, &content.as_bytes()[..cut]);
                assert_eq!(found.rejects.len(), 1, "{cut}");
            }
        }
    }
}
