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
        r#"0,string,"user:{1000}:profile","184B",string,1,"1.1kB","" (rct -f mem of redis-rdb-cli, below its header line)"#
    }

    fn header(&self) -> &'static str {
        tool_rows::HEADER
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
                Ok(keys.in_thousands().opened(self.name()))
            }
            _ => tool_rows::open(self.name(), head, KeyText::RawInQuotes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::rdb::rdb_tools::RdbTools;
    use crate::format::reading::assert_reads;
    use crate::format::table::tool_rows::COLUMNS;

    #[test]
    fn keys_and_sizes_lose_their_quotes() {
        let rows = "0,string,\"key\",\"1.2kB\",string,1,\"88 B\",\"\"\n2,hash,\"a\",\"b\"\"\",\"88 B\",hash,1,\"1 B\",\"2022-02-18 06:15:29.123\"\n";
        let json = r#"{"key":"k\/1","type":"string","number_elements":1,"database":3,"used_memory":"88 B","expiry":"2022-02-17 22:15:29"}"#;
        assert_reads(
            &RedisRdbCli,
            &[
                (
                    format!("{COLUMNS},expiry\n{rows}"),
                    "key bytes=1200 database=0 elements=1 type=string; \
                     a\\\",\\\"b\\\"\\\" bytes=88 database=2 expiry=1645164929123 elements=1 type=hash",
                ),
                (
                    json.into(),
                    "k/1 bytes=88 database=3 expiry=1645136129000 elements=1 type=string",
                ),
            ],
        );
    }

    #[test]
    fn its_rows_tell_it_from_rdb_tools() {
        use Detected::{NeedMore, No, Yes};
        for (rows, whole, detected) in [
            (
                "0,string,\"k\",\"1\",string,1,\"88 B\",\"\"\n",
                false,
                [Yes, No],
            ),
            (
                "0,string,\"k\",1,string,1,88,\n1,set,b,1,ht,1,1,\n",
                false,
                [No, Yes],
            ),
            ("", false, [NeedMore, NeedMore]),
            ("", true, [No, Yes]),
        ] {
            let content = format!("{COLUMNS},expiry\n{rows}");
            let bytes = content.as_bytes();
            let head = Head { bytes, whole };
            assert_eq!([RedisRdbCli.detect(head), RdbTools.detect(head)], detected);
        }
        let bytes = br#"{"key":"a","number_elements":1,"used_memory":"88 B"}"#;
        let whole = true;
        assert_eq!(RedisRdbCli.detect(Head { bytes, whole }), Yes);
    }
}
