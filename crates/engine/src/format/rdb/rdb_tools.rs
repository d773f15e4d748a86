//! `rdb-tools`: its memory report, a table whose keys are never quoted, whatever they hold (`tool_rows`).

use crate::format::table::layout::KeyText;
use crate::format::table::tool_rows;
use crate::format::{Detected, Format, Head, Opened};

/// The format.
pub(crate) struct RdbTools;

impl Format for RdbTools {
    fn name(&self) -> &'static str {
        "rdb-tools"
    }

    fn example(&self) -> &'static str {
        "0,string,user:{1000}:profile,184,string,104,104, (below its header line)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        tool_rows::detect(head, false)
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        tool_rows::open(self.name(), head, KeyText::Raw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{NEVER, Number};
    use crate::format::reading::{Found, read_whole};
    use crate::format::table::tool_rows::COLUMNS;

    fn read(rows: &str) -> Found {
        read_whole(&RdbTools, format!("{COLUMNS},expiry\n{rows}").as_bytes())
    }

    fn keys(rows: &str) -> Vec<String> {
        read(rows)
            .keys
            .into_iter()
            .map(|key| String::from_utf8(key).unwrap())
            .collect()
    }

    #[test]
    fn all_columns_are_read() {
        let found = read(
            "0,list,lizards,241,quicklist,5,19,\n3,string,s,8,string,1,1,2022-02-18T06:15:29.123000\n",
        );
        assert_eq!(found.keys, [&b"lizards"[..], b"s"]);
        assert_eq!(
            (
                found.values.weights[0].clone(),
                found.values.number(Number::Database).to_vec()
            ),
            (vec![241, 8], vec![0, 3])
        );
        assert_eq!(
            found.values.number(Number::Expiry).to_vec(),
            [NEVER, 1_645_164_929_123]
        );
        assert_eq!(found.types, [&b"list"[..], b"string"]);
        assert!(found.values.weights[1].is_empty() && found.rejects.is_empty());
    }

    #[test]
    fn keys_may_hold_commas_and_quotes_and_two_lines_are_rejected() {
        assert_eq!(keys("0,string,a,b,,1,string,1,1,\n"), ["a,b,"]);
        assert_eq!(keys("0,string,,1,string,1,1,\n"), [""]);
        assert_eq!(keys("0,string,\"a\"\"\",1,string,1,1,\n"), ["\"a\"\"\""]);
        let found = read("0,set,a\nb,1,set,1,1,\n0,set,c,1,string,1,1,\n0,set,d,e,f,g,h,i,j,k\n");
        assert_eq!(found.keys, [b"c"]);
        assert_eq!(found.rejects.len(), 3);
        let found = read("0,set,a,1,set,1,1,\n0,set,b,1,set,1,b,\n0,set,c,1,set,c,1,\n");
        assert_eq!((found.keys, found.rejects.len()), (vec![b"a".to_vec()], 2));
    }

    #[test]
    fn older_and_newer_headers_and_line_ends_of_windows_are_read() {
        let old = read_whole(
            &RdbTools,
            format!("{COLUMNS}\n0,hash,h,1,ht,1,1\n").as_bytes(),
        );
        assert_eq!(
            (old.keys, old.values.number(Number::Expiry).to_vec()),
            (vec![b"h".to_vec()], vec![])
        );
        let more = format!("{COLUMNS},expiry,idle,freq,slot_id\r\n0,hash,h,1,ht,1,1,,,5,77\r\n");
        assert_eq!(read_whole(&RdbTools, more.as_bytes()).keys, [b"h"]);
    }

    #[test]
    fn only_its_own_header_is_detected() {
        let detect = |content: &str| {
            RdbTools.detect(Head {
                bytes: content.as_bytes(),
                whole: false,
            })
        };
        let row = "0,set,a,1,ht,1,1,\r\n";
        assert_eq!(detect(&format!("{COLUMNS},expiry\n")), Detected::NeedMore);
        assert_eq!(
            detect(&format!("\u{feff}{}\r\n{row}", COLUMNS.to_uppercase())),
            Detected::Yes
        );
        assert_eq!(detect(COLUMNS), Detected::NeedMore);
        assert_eq!(detect("database,key,type,size\n"), Detected::No);
        assert!(
            RdbTools
                .open(Head {
                    bytes: b"a\n",
                    whole: true
                })
                .is_err()
        );
    }
}
