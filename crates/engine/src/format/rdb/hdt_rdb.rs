//! `hdt-rdb`: output of HDT3213/rdb for an RDB file: its tables `memory`, `bigkey` and `hotkey` (read as `csv`) and its
//! JSON (read as `jsonl`). `freq` and `lfu` are LFU counters, not operations.

use crate::format::parse::json_object;
use crate::format::table::columns::ColumnNames;
use crate::format::table::csv;
use crate::format::table::jsonl::JsonKeys;
use crate::format::table::tool_rows::header;
use crate::format::{Detected, Format, Head, Opened, table};

/// The start of the header of a key table.
const KEYS: &[u8] = b"database,key,type,size,size_readable,";

/// The header of a prefix table.
const PREFIXES: &[u8] = b"database,prefix,size,size_readable,key_count";

/// The first members of each object.
const MEMBERS: [&[u8]; 2] = [b"db", b"key"];

/// Types that are not keys.
const NO_KEYS: &[&str] = &["aux", "functions", "dbsize"];

/// The format.
pub(crate) struct HdtRdb;

impl Format for HdtRdb {
    fn name(&self) -> &'static str {
        "hdt-rdb"
    }

    fn example(&self) -> &'static str {
        "0,user:{1000}:profile,string,184,184B,1,string, (below its header line; or its JSON)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        match header(head) {
            Some(line) if line.starts_with(KEYS) || line.starts_with(PREFIXES) => Detected::Yes,
            None if head.bytes.len() < 2 * KEYS.len() => Detected::NeedMore,
            _ if !table::unmarked(head.bytes).starts_with(b"[\n{") => Detected::No,
            _ => match json_object::first_names(head) {
                Ok(names) if names.iter().take(2).eq(&MEMBERS) => Detected::Yes,
                Ok(_) => Detected::No,
                Err(answer) => answer,
            },
        }
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let text = table::unmarked(head.bytes);
        if text.starts_with(PREFIXES) {
            let reason = "this is the prefix report of rdb: sizes already added up, without the keys, so without slots";
            return Err(format!(
                "{reason}; analyze what `rdb -c memory` prints of the same RDB file"
            ));
        }
        match text.first() {
            Some(b'[') => {
                let keys = JsonKeys::open(head, &ColumnNames::USUAL, NO_KEYS)?;
                Ok(Opened::lines(self.name(), keys))
            }
            _ => Ok(csv::open(head, &ColumnNames::USUAL)?.opened(self.name())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{NEVER, Number};
    use crate::format::reading::read_whole;
    use crate::format::{Notice, detect};

    #[test]
    fn the_tables_of_keys_are_read_with_the_raw_size_and_without_the_rank() {
        let memory = "database,key,type,size,size_readable,element_count,encoding,expiration\n\
            0,hash,hash,64,64B,2,listpack,2022-02-18T06:15:29+08:00\n1,\"a,\"\"b\",string,2048,2K,1,string,\n";
        let found = read_whole(&HdtRdb, memory.as_bytes());
        assert_eq!(found.keys, [&b"hash"[..], b"a,\"b"]);
        assert_eq!(
            (
                found.values.weights[0].clone(),
                found.values.number(Number::Expiry).to_vec()
            ),
            (vec![64, 2048], vec![1_645_136_129_000, NEVER])
        );
        assert_eq!(
            (found.values.number(Number::Database).to_vec(), found.types),
            (vec![0, 1], vec![b"hash".to_vec(), b"string".to_vec()])
        );
        let hotkey = "database,key,type,size,size_readable,freq\n0,a,string,64,64B,255\n";
        assert!(read_whole(&HdtRdb, hotkey.as_bytes()).values.weights[1].is_empty());
    }

    #[test]
    fn entries_of_its_json_that_are_no_keys_are_counted_as_such() {
        let json = "[\n{\"db\":0,\"key\":\"redis-ver\",\"size\":0,\"type\":\"aux\",\"value\":\"7.0\"},\n\
            {\"db\":0,\"key\":\"s\",\"size\":10,\"type\":\"string\",\"lfu\":7,\"value\":\"{\\\"key\\\":1\"},\n\
            {\"db\":1,\"expiration\":\"2022-02-18T06:15:29+08:00\",\"key\":\"h\",\"size\":20,\"type\":\"hash\",\"hash\":{\"key\":\"x\"}}\n]";
        let found = read_whole(&HdtRdb, json.as_bytes());
        assert_eq!(
            (found.keys, found.seen.count(Notice::NoKey)),
            (vec![b"s".to_vec(), b"h".to_vec()], 1)
        );
        assert_eq!(
            (
                found.values.weights[0].clone(),
                found.values.number(Number::Expiry).to_vec()
            ),
            (vec![10, 20], vec![NEVER, 1_645_136_129_000])
        );
        assert!(found.values.weights[1].is_empty() && found.rejects.is_empty());
    }

    #[test]
    fn its_reports_are_told_from_other_tables() {
        let name = |content: &str| {
            detect(Head {
                bytes: content.as_bytes(),
                whole: true,
            })
            .unwrap()
            .name()
        };
        assert_eq!(
            name("database,key,type,size,size_readable,freq\n"),
            "hdt-rdb"
        );
        assert_eq!(
            name("database,prefix,size,size_readable,key_count\n0,a,1,1B,1\n"),
            "hdt-rdb"
        );
        assert_eq!(name("[\n{\"db\":0,\"key\":\"s\",\"size\":1}\n]"), "hdt-rdb");
        assert_eq!(name("[\n{\"key\":\"s\"}\n]"), "jsonl");
        assert_eq!(name("database,key,type,size\n"), "csv");
    }

    #[test]
    fn a_report_of_prefixes_is_refused_with_the_way_out() {
        let head = Head {
            bytes: b"database,prefix,size,size_readable,key_count\n0,a,1,1B,1\n",
            whole: true,
        };
        assert!(HdtRdb.open(head).err().unwrap().contains("rdb -c memory"));
    }
}
