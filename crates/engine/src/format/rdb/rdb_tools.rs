//! `rdb-tools`: its memory report, a table whose keys are never quoted, whatever they hold (`raw_rows`).

use crate::format::table::raw_rows::{COLUMNS, RawRows, Shape, header};
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
        match header(head) {
            Some(line) if Shape::of(line, false).is_some() => Detected::Yes,
            None if head.bytes.len() < 2 * COLUMNS.len() => Detected::NeedMore,
            _ => Detected::No,
        }
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        RawRows::open(self.name(), head, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{NEVER, Number};
    use crate::format::reading::{Found, read_whole};

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
    fn keys_may_hold_commas_quotes_and_line_ends() {
        assert_eq!(keys("0,string,a,b,,1,string,1,1,\n"), ["a,b,"]);
        assert_eq!(keys("0,string,,1,string,1,1,\n"), [""]);
        assert_eq!(keys("0,string,\"a\"\"\",1,string,1,1,\n"), ["\"a\"\"\""]);
        assert_eq!(
            keys("0,set,a\n\nb\n,1,string,1,1,\n0,set,c,1,string,1,1,\n"),
            ["a\n\nb\n", "c"]
        );
    }

    #[test]
    fn a_row_that_never_ends_is_one_reject() {
        let found = read("0,set,a\nb\n0,set,c,1,x,1,1,\njunk\n,\n0,set,d\ne,1,x,1,1,\n1,2\n");
        assert_eq!(found.keys, [&b"c"[..], b"d\ne"]);
        let start = COLUMNS.len() + ",expiry\n".len();
        assert_eq!(
            found
                .rejects
                .iter()
                .map(|(at, _)| at - start)
                .collect::<Vec<_>>(),
            [0, 27, 53]
        );
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
        assert_eq!(detect(&format!("{COLUMNS},expiry\n")), Detected::Yes);
        assert_eq!(
            detect(&format!("\u{feff}{}\r\n", COLUMNS.to_uppercase())),
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
