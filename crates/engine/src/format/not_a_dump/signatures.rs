//! Files recognised by magic bytes: containers that hold a dump in another form. Other binary files are refused for
//! their control bytes.

use crate::format::not_a_dump::{NotADump, Sign};

const SQL: &str = "export columns key and size with a header line: duckdb -csv -c \"SELECT key, size FROM 'FILE'\" | \
    slotscope analyze -";
const TAR: &str = "mkdir dumps && tar -xf FILE -C dumps && slotscope analyze dumps";
const TWICE: &str = "decompress it once: gzip -dc, zstd -dc or lz4 -dc FILE | slotscope analyze -";
const UTF_16: &str = "iconv -f UTF-16 -t UTF-8 FILE | slotscope analyze -";
const TOPOLOGY: &str = "give it with a dump: slotscope analyze DUMP --topology FILE";

/// All signatures, longer ones before their own prefixes.
pub static SIGNATURES: &[NotADump] = &[
    NotADump::new(
        "an xz file",
        Sign::Bytes(0, b"\xFD7zXZ\0"),
        "xz -dc FILE | slotscope analyze -",
    ),
    NotADump::new(
        "a bzip2 file",
        Sign::Start(is_bzip2),
        "bzip2 -dc FILE | slotscope analyze -",
    ),
    NotADump::new(
        "a tally file of slotscope",
        Sign::Bytes(0, b"\x87\xA4plan"),
        "slotscope analyze FILE",
    ),
    NotADump::new(
        "a recount file of slotscope",
        Sign::Bytes(0, b"\x84\xA2of\xD9\x40"),
        "name it next to its tally file: slotscope analyze TALLY FILE",
    ),
    NotADump::new(
        "a gzip file in another one",
        Sign::Bytes(0, b"\x1F\x8B\x08"),
        TWICE,
    ),
    NotADump::new(
        "a zstd file in another one",
        Sign::Bytes(0, b"\x28\xB5\x2F\xFD"),
        TWICE,
    ),
    NotADump::new(
        "an lz4 file in another one",
        Sign::Bytes(0, b"\x04\x22\x4D\x18"),
        TWICE,
    ),
    NotADump::new(
        "a script",
        Sign::Bytes(0, b"#!/"),
        "run it; a dump is what redis-cli --scan prints",
    ),
    NotADump::new(
        "a 7z archive",
        Sign::Bytes(0, b"7z\xBC\xAF\x27\x1C"),
        "7z x -so FILE | slotscope analyze -",
    ),
    NotADump::new(
        "a sheet of Excel",
        Sign::Start(is_sheet),
        "save it as CSV with a column key, and analyze that",
    ),
    NotADump::new(
        "a zip archive",
        Sign::Bytes(0, b"PK\x03\x04"),
        "unzip -p FILE | slotscope analyze -",
    ),
    NotADump::new("a tar archive", Sign::Bytes(257, b"ustar"), TAR),
    NotADump::new("a Parquet file", Sign::Start(is_parquet), SQL),
    NotADump::new("UTF-16 text", Sign::Bytes(0, b"\xFF\xFE"), UTF_16),
    NotADump::new("UTF-16 text", Sign::Bytes(0, b"\xFE\xFF"), UTF_16),
    NotADump::new("CLUSTER SLOTS, a topology", Sign::Start(is_slots), TOPOLOGY),
    NotADump::new(
        "CLUSTER SHARDS, a topology",
        Sign::Start(is_shards),
        TOPOLOGY,
    ),
    NotADump::new(
        "a report of slotscope",
        Sign::Start(is_report),
        "slotscope diff OLD FILE compares two",
    ),
    NotADump::new(
        "rows of JSON with their columns beside them, as pandas writes them",
        Sign::Start(|head| {
            json_starts(head, &["{", "\"columns\"", ":", "["]) && has_rows(head, b"[")
        }),
        "jq -r '.columns, .data[] | @csv' FILE | slotscope analyze -",
    ),
    NotADump::new(
        "rows of JSON with their columns before them, as ClickHouse writes them",
        Sign::Start(|head| json_starts(head, &["{", "\"meta\"", ":", "["]) && has_rows(head, b"[")),
        "jq -r '[.meta[].name], .data[] | @csv' FILE | slotscope analyze -",
    ),
    NotADump::new(
        "objects of JSON with their columns before them, as ClickHouse writes them",
        Sign::Start(|head| json_starts(head, &["{", "\"meta\"", ":", "["]) && has_rows(head, b"{")),
        "jq -c '.data[]' FILE | slotscope analyze -",
    ),
    NotADump::new(
        "JSON with an array of keys",
        Sign::Start(is_keys),
        "jq -r '.keys[]' FILE | slotscope analyze -",
    ),
    NotADump::new(
        "redis-cli --hotkeys, refused by the server (An LFU maxmemory policy is not selected, access frequency not tracked)",
        Sign::Start(is_hotkeys_without_lfu),
        "capture what clients do for a few seconds: timeout 10 redis-cli -h HOST -p PORT MONITOR > HOST-PORT.monitor, then \
         slotscope analyze HOST-PORT.monitor",
    ),
    NotADump::new(
        "a web page",
        Sign::Start(is_page),
        "see whether the download was refused, then name the dump itself",
    ),
];

/// The heading of redis-cli, and the error of a server without an LFU policy.
fn is_hotkeys_without_lfu(head: &[u8]) -> bool {
    let start = &head[..head.len().min(4096)];
    let has = |part: &[u8]| memchr::memmem::find(start, part).is_some();
    has(b"to find hot keys") && has(b"LFU maxmemory policy is not selected")
}

/// The magic, a digit, and the start of a block or the end of the stream.
fn is_bzip2(head: &[u8]) -> bool {
    let rest = head.strip_prefix(b"BZh").and_then(|rest| rest.get(1..7));
    rest.is_some_and(|rest| [&b"1AY&SY"[..], b"\x17rE8P\x90"].contains(&rest))
}

/// A zip archive whose first member is one that Excel writes first.
fn is_sheet(head: &[u8]) -> bool {
    let name = head
        .strip_prefix(b"PK\x03\x04")
        .and_then(|rest| rest.get(26..));
    let firsts = [&b"[Content_Types].xml"[..], b"_rels/", b"xl/"];
    name.is_some_and(|name| firsts.iter().any(|first| name.starts_with(first)))
}

/// Letters that a key may start with as well, but not followed by text.
fn is_parquet(head: &[u8]) -> bool {
    let rest = head.strip_prefix(b"PAR1").unwrap_or_default();
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    rest.iter().take(8).any(is_control)
}

/// Whether JSON starts with these tokens, ignoring white space; `0` matches any number.
fn json_starts(head: &[u8], tokens: &[&str]) -> bool {
    let mut rest = head;
    tokens.iter().all(|token| {
        rest = rest.trim_ascii_start();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let len = match *token {
            "0" if digits > 0 => Some(digits),
            token => rest.starts_with(token.as_bytes()).then_some(token.len()),
        };
        rest = &rest[len.unwrap_or(0)..];
        len.is_some()
    })
}

/// Whether a member data is an array of arrays or objects.
fn has_rows(head: &[u8], open: &[u8]) -> bool {
    const NAME: &[u8] = b"\"data\"";
    let rest = memchr::memmem::find(head, NAME).map(|at| &head[at + NAME.len()..]);
    let array = rest
        .and_then(|rest| rest.trim_ascii_start().strip_prefix(b":"))
        .and_then(|rest| rest.trim_ascii_start().strip_prefix(b"["));
    array.is_some_and(|array| array.trim_ascii_start().starts_with(open))
}

fn is_slots(head: &[u8]) -> bool {
    json_starts(head, &["[", "[", "0", ",", "0", ",", "["])
}

fn is_shards(head: &[u8]) -> bool {
    json_starts(head, &["[", "{", "\"slots\"", ":", "["])
}

fn is_report(head: &[u8]) -> bool {
    json_starts(head, &["{", "\"schema\"", ":", "\"slotscope."])
}

fn is_keys(head: &[u8]) -> bool {
    json_starts(head, &["{", "\"keys\"", ":", "["])
}

fn is_page(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let starts = |start: &[u8]| {
        let begins = text.get(..start.len());
        begins.is_some_and(|begins| begins.eq_ignore_ascii_case(start))
    };
    starts(b"<!doctype html") || starts(b"<html") || starts(b"<?xml ")
}
