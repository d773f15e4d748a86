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
        "0,string,user:{1000}:profile,184,string,104,104, (rdb -c memory of rdb-tools, below its header line)"
    }

    fn header(&self) -> &'static str {
        tool_rows::HEADER
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
    use crate::format::reading::{assert_reads, refused};
    use crate::format::table::tool_rows::COLUMNS;

    #[test]
    fn keys_may_hold_commas_and_quotes_and_two_lines_are_rejected() {
        let cases = [
            (
                ",expiry\n0,list,lizards,241,quicklist,5,19,\n3,string,s,8,string,1,1,2022-02-18T06:15:29.123000\n",
                "lizards bytes=241 database=0 elements=5 type=list; \
                 s bytes=8 database=3 expiry=1645164929123 elements=1 type=string",
            ),
            (
                ",expiry\n0,set,a,b,,1,set,1,1,\n0,set,,1,set,1,1,\n0,set,\"a\"\"\",1,set,1,1,\n",
                "a,b, bytes=1 database=0 elements=1 type=set; \
                 \u{20}bytes=1 database=0 elements=1 type=set; \
                 \\\"a\\\"\\\"\\\" bytes=1 database=0 elements=1 type=set",
            ),
            (
                ",expiry\n0,set,a\nb,1,set,1,1,\n0,set,c,1,string,1,1,\n0,set,d,e,f,g,h,i,j,k\n",
                "c bytes=1 database=0 elements=1 type=set; !81; !89; !124",
            ),
            // A number is missing, as in a piece of a key.
            (
                ",expiry\n0,set,a,1,set,1,1,\n0,set,b,1,set,1,b,\n0,set,c,1,set,c,1,\n",
                "a bytes=1 database=0 elements=1 type=set; !100; !119",
            ),
            // Older and newer headers.
            (
                "\n0,hash,h,1,ht,1,1\n",
                "h bytes=1 database=0 elements=1 type=hash",
            ),
            (
                ",expiry,idle,freq,slot_id\r\n0,hash,h,1,ht,1,1,,,5,77\r\n",
                "h bytes=1 accesses=0 database=0 elements=1 lfu=5 type=hash",
            ),
        ];
        let cases = cases.map(|(rows, expected)| (format!("{COLUMNS}{rows}"), expected));
        assert_reads(&RdbTools, &cases);
    }

    #[test]
    fn only_its_own_header_is_detected() {
        let row = "0,set,a,1,ht,1,1,\r\n";
        for (content, detected) in [
            (format!("{COLUMNS},expiry\n"), Detected::NeedMore),
            (
                format!("\u{feff}{}\r\n{row}", COLUMNS.to_uppercase()),
                Detected::Yes,
            ),
            (COLUMNS.into(), Detected::NeedMore),
            ("database,key,type,size\n".into(), Detected::No),
        ] {
            let bytes = content.as_bytes();
            let whole = false;
            assert_eq!(RdbTools.detect(Head { bytes, whole }), detected);
        }
        assert_ne!(refused(&RdbTools, "a\n"), "");
    }
}
