//! `redis-rdb-cli`: its memory report, as CSV (`tool_rows`: keys and sizes are quoted, but quotes inside keys are not
//! escaped) or as JSON (`jsonl`).

use crate::format::parse::json_object;
use crate::format::table::columns::ColumnNames;
use crate::format::table::jsonl::JsonKeys;
use crate::format::table::layout::KeyText;
use crate::format::table::tool_rows;
use crate::format::{Detected, Format, Head, Opened, table};

/// Members that only its JSON has.
const MEMBERS: [&[u8]; 3] = [b"key", b"number_elements", b"used_memory"];

/// The format.
pub(crate) struct RedisRdbCli;

impl Format for RedisRdbCli {
    fn name(&self) -> &'static str {
        "redis-rdb-cli"
    }

    fn example(&self) -> &'static str {
        r#"0,string,"user:{1000}:profile","1.2kB",string,1,"1.1kB","" (below its header line)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        if table::unmarked(head.bytes).starts_with(b"{") {
            return match json_object::first_names(head) {
                Ok(names)
                    if MEMBERS
                        .iter()
                        .all(|member| names.iter().any(|name| name == member)) =>
                {
                    Detected::Yes
                }
                Ok(_) => Detected::No,
                Err(answer) => answer,
            };
        }
        tool_rows::detect(head, true)
    }

    fn note(&self) -> Option<&'static str> {
        Some(
            "redis-rdb-cli rounds sizes to a tenth of their unit; keys are read as written without --escape",
        )
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        match table::unmarked(head.bytes).first() {
            Some(b'{') => {
                let keys = JsonKeys::open(head, &ColumnNames::USUAL, &[])?;
                Ok(Opened::lines(self.name(), keys.in_thousands()))
            }
            _ => tool_rows::open(self.name(), head, KeyText::RawInQuotes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{NEVER, Number};
    use crate::format::rdb::rdb_tools::RdbTools;
    use crate::format::reading::read_whole;
    use crate::format::table::tool_rows::COLUMNS;

    #[test]
    fn keys_and_sizes_lose_their_quotes() {
        let rows = "0,string,\"key\",\"1.2kB\",string,1,\"88 B\",\"\"\n2,hash,\"a\",\"b\"\"\",\"88 B\",hash,1,\"1 B\",\"2022-02-18 06:15:29.123\"\n";
        let found = read_whole(&RedisRdbCli, format!("{COLUMNS},expiry\n{rows}").as_bytes());
        assert_eq!(found.keys, [&b"key"[..], b"a\",\"b\"\""]);
        assert_eq!(
            (
                found.values.weights[0].clone(),
                found.values.number(Number::Database).to_vec()
            ),
            (vec![1200, 88], vec![0, 2])
        );
        assert_eq!(
            found.values.number(Number::Expiry).to_vec(),
            [NEVER, 1_645_164_929_123]
        );
        assert_eq!(found.types, [&b"string"[..], b"hash"]);
        assert!(found.rejects.is_empty());
    }

    #[test]
    fn its_json_is_read_too() {
        let json = r#"{"key":"k\/1","type":"string","number_elements":1,"database":3,"used_memory":"88 B","expiry":"2022-02-17 22:15:29"}"#;
        let head = Head {
            bytes: json.as_bytes(),
            whole: true,
        };
        assert_eq!(RedisRdbCli.detect(head), Detected::Yes);
        let found = read_whole(&RedisRdbCli, json.as_bytes());
        assert_eq!(found.keys, [b"k/1"]);
        assert_eq!(
            (
                found.values.weights[0].clone(),
                found.values.number(Number::Database).to_vec(),
                found.values.number(Number::Expiry).to_vec()
            ),
            (vec![88], vec![3], vec![1_645_136_129_000])
        );
    }

    #[test]
    fn its_rows_tell_it_from_rdb_tools() {
        let detect = |rows: &str, whole| {
            let content = format!("{COLUMNS},expiry\n{rows}");
            let head = Head {
                bytes: content.as_bytes(),
                whole,
            };
            (RedisRdbCli.detect(head), RdbTools.detect(head))
        };
        assert_eq!(
            detect("0,string,\"k\",\"1\",string,1,\"88 B\",\"\"\n", false).0,
            Detected::Yes
        );
        assert_eq!(
            detect("0,string,\"k\",1,string,1,88,\n1,set,b,1,ht,1,1,\n", false),
            (Detected::No, Detected::Yes)
        );
        assert_eq!(detect("", false).0, Detected::NeedMore);
        assert_eq!(detect("", true), (Detected::No, Detected::Yes));
    }
}
