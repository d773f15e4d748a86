//! Files recognised by magic bytes: containers that hold a dump in another form. Other binary files are refused for
//! their control bytes.

use std::collections::BTreeSet;

use crate::not_a_dump::{LINES, NotADump, Sign};

const UNPACK: &str = "unpack or convert it first: xz -dc, bzip2 -dc, 7z x -so or unzip -p FILE | slotscope analyze - ; of an archive of \
    several dumps, mkdir dumps && tar -xf FILE -C dumps && slotscope analyze dumps; of a table, duckdb -csv -c \"SELECT key, size FROM \
    'FILE'\" | slotscope analyze -";
const TOPOLOGY: &str = "give it with a dump: slotscope analyze DUMP --topology FILE";

/// The first bytes of compressed files, archives and tables that a dump may be in, or their bytes at an offset.
const PACKED: [(usize, &[u8]); 10] = [
    (0, b"\xFD7zXZ\0"),
    (0, b"BZh"),
    (0, b"7z\xBC\xAF\x27\x1C"),
    (0, b"PK\x03\x04"),
    (257, b"ustar"),
    (0, b"PAR1"),
    // A file that is compressed twice; zstd may begin with a frame to skip, of sixteen kinds.
    (0, b"\x1F\x8B\x08"),
    (0, b"\x28\xB5\x2F\xFD"),
    (1, b"\x2A\x4D\x18"),
    (0, b"\x04\x22\x4D\x18"),
];

/// All signatures.
pub static SIGNATURES: &[NotADump] = &[
    NotADump::new(
        "a compressed file or an archive",
        Sign::Start(is_packed),
        UNPACK,
    ),
    NotADump::new(
        "the first bytes of an RDB file, without any key",
        Sign::Start(is_magic),
        "copy it again: the rest is missing",
    ),
    NotADump::new(
        "a tally file of slotscope",
        Sign::Start(|head| json_starts(head, &["{", "\"plan\"", ":", "{", "\"flags\""])),
        "compress it again: zstd FILE, then slotscope analyze FILE.zst",
    ),
    NotADump::new(
        "a recount file of slotscope",
        Sign::Start(|head| json_starts(head, &["{", "\"of\"", ":", "\""])),
        "name it next to its tally file: slotscope analyze TALLY FILE",
    ),
    NotADump::new(
        "a script",
        Sign::Start(|head| head.starts_with(b"#!/")),
        "run it; a dump is what redis-cli --scan prints",
    ),
    NotADump::new(
        "UTF-16 text",
        Sign::Start(|head| head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF")),
        "iconv -f UTF-16 -t UTF-8 FILE | slotscope analyze -",
    ),
    NotADump::new(
        "CLUSTER SLOTS or CLUSTER SHARDS, a topology",
        Sign::Start(|head| {
            json_starts(head, &["[", "[", "0", ",", "0", ",", "["])
                || json_starts(head, &["[", "{", "\"slots\"", ":", "["])
        }),
        TOPOLOGY,
    ),
    NotADump::new(
        "a report of slotscope",
        Sign::Start(|head| json_starts(head, &["{", "\"schema\"", ":", "\"slotscope."])),
        "slotscope diff OLD FILE compares two",
    ),
    NotADump::new(
        "totals by node",
        Sign::Start(are_totals),
        "redis-cli --cluster check HOST:PORT > FILE, and slotscope analyze --cluster-info FILE judges the nodes by their keys",
    ),
    NotADump::new(
        "a table as polars prints it",
        Sign::Start(|head| head.starts_with(b"shape: (")),
        "its write_csv(FILE) writes all rows with their numbers",
    ),
    NotADump::new(
        "a web page",
        Sign::Start(is_page),
        "see whether the download was refused, then name the dump itself",
    )
    .with_keys(),
];

/// Letters of a signature may start a key as well, but are not followed by text there.
fn is_packed(head: &[u8]) -> bool {
    let is_here =
        |(at, bytes): &(usize, &[u8])| head.get(*at..).is_some_and(|rest| rest.starts_with(bytes));
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    PACKED.iter().any(is_here) && head.iter().take(512).any(is_control)
}

/// Whether there is nothing but the magic of an RDB file, which a part of its version number may lack.
fn is_magic(head: &[u8]) -> bool {
    let version = [&b"REDIS"[..], b"VALKEY"];
    let mut version = version.iter().filter_map(|magic| head.strip_prefix(*magic));
    head.len() <= 9 && version.any(|digits| digits.iter().all(u8::is_ascii_digit))
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

fn is_page(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let starts = |start: &[u8]| {
        let begins = text.get(..start.len());
        begins.is_some_and(|begins| begins.eq_ignore_ascii_case(start))
    };
    let is_error = || memchr::memmem::find(text, b"<Error").is_some();
    starts(b"<!doctype html") || starts(b"<html") || starts(b"<?xml ") && is_error()
}
/// A table with the header `node,keys,used_memory`, in which keys are counts.
fn are_totals(head: &[u8]) -> bool {
    const NODES: [&[u8]; 8] = [
        b"node",
        b"host",
        b"instance",
        b"shard",
        b"server",
        b"primary",
        b"master",
        b"address",
    ];
    const COUNTS: [&[u8]; 3] = [b"keys", b"key_count", b"dbsize"];
    let mut lines = head.split(|byte| *byte == b'\n').take(LINES);
    let header = lines.next().unwrap_or_default();
    let Some(separator) = header.iter().find(|byte| b",;\t|".contains(byte)) else {
        return false;
    };
    let cells = |line: &'_ [u8]| -> Vec<Vec<u8>> {
        let cells = line.split(|byte| byte == separator);
        cells
            .map(|cell| cell.trim_ascii().to_ascii_lowercase())
            .collect()
    };
    let header = cells(header);
    let place = |names: &[&[u8]]| {
        header
            .iter()
            .position(|cell| names.contains(&cell.as_slice()))
    };
    let (Some(node), Some(count)) = (place(&NODES), place(&COUNTS)) else {
        return false;
    };
    // A node has one row; keys may be numbers, too.
    let mut nodes = BTreeSet::new();
    let mut is_of_another = |line: &[u8]| {
        let cells = cells(line);
        let cell = |at: usize| cells.get(at).map_or(&b""[..], Vec::as_slice);
        let is_count = !cell(count).is_empty() && cell(count).iter().all(u8::is_ascii_digit);
        is_count && nodes.insert(cell(node).to_vec())
    };
    let mut rows = lines.filter(|line| !line.trim_ascii().is_empty());
    rows.all(&mut is_of_another) && !nodes.is_empty()
}
