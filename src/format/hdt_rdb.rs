//! `hdt-rdb`: what HDT3213/rdb makes of a snapshot: its memory, bigkey and hotkey reports as CSV, and its JSON. Its
//! prefix report holds no keys, and is refused.

use super::columns::ColumnNames;
use super::csv::CsvKeys;
use super::jsonl::{self, JsonKeys};
use super::raw_rows::header;
use super::{Detected, Format, Head, Reader};

const MEMORY: &str = "database,key,type,size,size_readable,element_count";
const HOT_KEYS: &str = "database,key,type,size,size_readable,freq";
const PREFIXES: &str = "database,prefix,size,size_readable,key_count";

/// The format.
pub struct HdtRdb;

impl Format for HdtRdb {
    fn name(&self) -> &'static str {
        "hdt-rdb"
    }

    fn example(&self) -> &'static str {
        "0,user:{1000}:profile,hash,64,64B,2,listpack, (below its header line)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        let Some(line) = header(head) else {
            return if head.bytes.len() < 2 * MEMORY.len() { Detected::NeedMore } else { Detected::No };
        };
        if is_header(line, MEMORY) || is_header(line, HOT_KEYS) || is_header(line, PREFIXES) {
            return Detected::Yes;
        }
        match jsonl::first_object(head) {
            // No other tool begins its objects so.
            Ok(object) if object.starts_with(b"{\"db\":") => jsonl::USUAL.detect(head),
            Ok(_) | Err(Detected::Yes) => Detected::No,
            Err(detected) => detected,
        }
    }

    fn note(&self) -> Option<&'static str> {
        Some("sizes are those that HDT3213/rdb models: compare them with those of the same tool only")
    }

    fn open(&self, head: Head<'_>) -> Result<Box<dyn Reader>, String> {
        match header(head) {
            Some(line) if is_header(line, PREFIXES) => Err(String::from(
                "a report by prefix, which is added up already: it holds no keys, so no slots; make one of keys with: rdb -c memory -o FILE DUMP.rdb",
            )),
            Some(line) if line.trim_ascii_start().starts_with(b"database") => {
                Ok(Box::new(CsvKeys::open(self.name(), head, &ColumnNames::USUAL)?))
            }
            _ => Ok(Box::new(JsonKeys::open(self.name(), head, ColumnNames::USUAL))),
        }
    }
}

/// Whether `line` begins with the columns of `header`, in any case.
fn is_header(line: &[u8], header: &str) -> bool {
    let behind = line.get(header.len()).copied();
    let begins = line.get(..header.len()).is_some_and(|start| start.eq_ignore_ascii_case(header.as_bytes()));
    begins && matches!(behind, None | Some(b',' | b'\r'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Notice;
    use crate::format::reading::read_whole;

    #[test]
    fn all_its_reports_of_keys_are_read() {
        let memory = b"database,key,type,size,size_readable,element_count,encoding,expiration\n0,\"ha,sh\",hash,64,64B,2,listpack,2022-02-18T06:15:29+08:00\n";
        let found = read_whole(&HdtRdb, memory);
        assert_eq!((found.keys[0].as_slice(), found.values.bytes[0]), (&b"ha,sh"[..], 64));
        assert_eq!((found.values.expiring[0], found.types[0].as_slice()), (true, &b"hash"[..]));
        let hot = read_whole(&HdtRdb, b"database,key,type,size,size_readable,freq\n0,a,string,10,10B,255\n");
        assert!(hot.values.ops.is_empty(), "a rank is no number of operations");
        let json = b"[\n{\"db\":0,\"key\":\"redis-ver\",\"size\":0,\"type\":\"aux\"},\n{\"db\":0,\"key\":\"s\",\"size\":10,\"type\":\"string\"}\n]\n";
        let found = read_whole(&HdtRdb, json);
        assert_eq!((found.keys, found.seen.count(Notice::NoKey)), (vec![b"s".to_vec()], 1));
    }

    #[test]
    fn its_prefix_report_is_refused_with_the_way_out() {
        let head = Head { bytes: b"database,prefix,size,size_readable,key_count\n0,user:,64,64B,2\n", whole: true };
        assert_eq!(HdtRdb.detect(head), Detected::Yes);
        assert!(HdtRdb.open(head).err().unwrap().contains("rdb -c memory"));
    }
}
