//! `hdt-rdb`: output of HDT3213/rdb for an RDB file: its tables `memory`, `bigkey` and `hotkey` (read as `csv`) and its
//! JSON (read as `jsonl`). `freq` and `lfu` are LFU counters, not operations.

use crate::format::parse::json_object;
use crate::format::table::columns::ColumnNames;
use crate::format::table::first_line;
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
        "0,user:{1000}:profile,string,184,184B,1,string, (rdb -c memory of HDT3213/rdb, below its header line; or its JSON)"
    }

    fn header(&self) -> &'static str {
        "database,key,type,size,size_readable,element_count,encoding,expiration"
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
                Ok(JsonKeys::open(head, &ColumnNames::USUAL, NO_KEYS)?.opened(self.name()))
            }
            _ => first_line::open(head, &ColumnNames::USUAL, self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, named, refused};

    #[test]
    fn its_tables_and_its_json_are_read() {
        assert_reads(
            &HdtRdb,
            &[
                (
                    "database,key,type,size,size_readable,element_count,encoding,expiration\n\
                     0,hash,hash,64,64B,2,listpack,2022-02-18T06:15:29+08:00\n1,\"a,\"\"b\",string,2048,2K,1,string,\n",
                    "hash bytes=64 database=0 expiry=1645136129000 elements=2 type=hash; \
                     a,\\\"b bytes=2048 database=1 elements=1 type=string",
                ),
                (
                    "database,key,type,size,size_readable,freq\n0,a,string,64,64B,255\n",
                    "a bytes=64 accesses=2501 database=0 lfu=255 type=string",
                ),
                (
                    "[\n{\"db\":0,\"key\":\"redis-ver\",\"size\":0,\"type\":\"aux\",\"value\":\"7.0\"},\n\
                     {\"db\":0,\"key\":\"s\",\"size\":10,\"type\":\"string\",\"lfu\":7,\"value\":\"{\\\"key\\\":1\"},\n\
                     {\"db\":1,\"expiration\":\"2022-02-18T06:15:29+08:00\",\"key\":\"h\",\"size\":20,\"type\":\"hash\",\"hash\":{\"key\":\"x\"}}\n]",
                    "s bytes=10 accesses=21 database=0 lfu=7 type=string; \
                     h bytes=20 database=1 expiry=1645136129000 type=hash; NoKey=1",
                ),
            ],
        );
    }

    #[test]
    fn its_reports_are_told_from_other_tables() {
        let prefixes = "database,prefix,size,size_readable,key_count\n0,a,1,1B,1\n";
        for (content, name) in [
            ("database,key,type,size,size_readable,freq\n", "hdt-rdb"),
            (prefixes, "hdt-rdb"),
            ("[\n{\"db\":0,\"key\":\"s\",\"size\":1}\n]", "hdt-rdb"),
        ] {
            assert_eq!(named(content, true), Some(name));
        }
        assert!(refused(&HdtRdb, prefixes).contains("rdb -c memory"));
    }
}
