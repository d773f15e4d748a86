//! Generated dumps in every format: rows like its example, with other keys, sizes, types and times.

use std::fmt::Write as _;

use slotscope::detect::named;

use crate::rng::Rng;

/// A key and its columns in a table.
struct Row {
    key: Vec<u8>,
    size: u64,
    kind: &'static str,
}

/// Types of keys.
const TYPES: [&str; 3] = ["string", "hash", "set"];

/// The CLUSTER NODES of three primaries and a replica.
pub const NODES: &str = "\
aa 127.0.0.1:7000@17000 myself,master - 0 0 1 connected 0-5460
bb 127.0.0.1:7001@17001 master - 0 0 2 connected 5461-10922
cc 127.0.0.1:7002@17002 master - 0 0 3 connected 10923-16383
dd 127.0.0.1:7003@17003 slave aa 0 0 1 connected
";

/// The key of all examples.
pub const KEY: &str = "user:{1000}:profile";

/// The header and the row of a format, as its example has them.
pub fn example(format: &str) -> (&'static str, String) {
    let format = named(format).expect("a format");
    let parts = format.example().rsplit_once(" (");
    let (row, _) = parts.expect("a row, and in parentheses what writes it");
    (format.header(), row.replace(r"\r\n", "\r\n"))
}

/// A dump of about `bytes` bytes in the format `format`.
pub fn dump(format: &str, bytes: usize, rng: &mut Rng) -> Vec<u8> {
    let (header, row) = example(format);
    let is_text = row.contains(KEY) && !row.contains("$19");
    let has_quotes = row.contains('"') || !header.is_empty() && format != "rdb-tools";
    let is_raw = is_text && !has_quotes;
    // The range of ids: few ids cause duplicates, many fill the tables of tags and patterns.
    let ids = *rng.pick(&[50, 3000, 10_000_000]);
    let mut rows = Vec::new();
    let mut sum = 0;
    while sum < bytes {
        let key = key(ids, is_raw, rng);
        sum += key.len() + 8;
        rows.push(Row {
            key,
            size: rng.log_between(10.0, 1e6) as u64,
            kind: TYPES[rng.below(TYPES.len())],
        });
    }
    if format == "jsonl" {
        // Rows without a size come first: the detected columns must not depend on how much was read.
        let first_size = rng.below(rows.len());
        rows[..first_size].iter_mut().for_each(|row| row.size = 0);
    }
    let end = *rng.pick(&["\n", "\n", "\r\n"]);
    match format {
        "rdb" => snapshot(&rows),
        _ => written(format, &rows, end),
    }
}

/// A dump of these keys in a text format.
pub fn dump_of(format: &str, keys: &[impl AsRef<[u8]>], end: &str) -> Vec<u8> {
    let rows = keys.iter().map(|key| Row {
        key: key.as_ref().to_vec(),
        size: 184,
        kind: "string",
    });
    written(format, &rows.collect::<Vec<_>>(), end)
}

/// The rows as in the example of the format, each with its own key, number, time, command and, where it has these, size and
/// type.
fn written(format: &str, rows: &[Row], end: &str) -> Vec<u8> {
    let (header, example) = example(format);
    let spelled = spelling(header, &example);
    let mut out = header.as_bytes().to_vec();
    out.extend(end.bytes().filter(|_| !header.is_empty()));
    for (number, row) in rows.iter().enumerate() {
        let size = match row.size {
            0 => example.replace("\"size\":184,", ""),
            size => example.replace("184", &size.to_string()),
        };
        let command = ["\"GET\"", "\"get\"", "\"SET\"", "\"HGETALL\""][row.size as usize % 4];
        let mut text = size
            .replacen("string", row.kind, 1)
            .replace("1795216373", &(1_795_216_373 + number).to_string())
            .replace("\"GET\"", command);
        if let Some(rest) = text.strip_prefix("1)") {
            text = format!("{}){rest}", number + 1);
        }
        let (before, after) = text.split_once(KEY).expect("the key of all examples");
        let length = format!("${}\r\n", row.key.len());
        out.extend(before.replace("$19\r\n", &length).bytes());
        out.extend(spelled(&row.key));
        out.extend(after.bytes());
        out.extend(end.bytes().filter(|_| !after.ends_with('\n')));
    }
    out
}

/// How rows like this have a key: as in JSON, in quotes of a table, with escapes of redis-cli, in a cell, or as it is.
fn spelling(header: &str, row: &str) -> fn(&[u8]) -> Vec<u8> {
    match (row.contains(&format!("\"{KEY}\"")), header.is_empty()) {
        (true, true) if row.starts_with(['[', '{']) => in_json,
        (true, true) => escaped,
        (true, false) => doubled,
        (false, false) => in_cell,
        (false, true) => <[u8]>::to_vec,
    }
}

/// An RDB file with strings, without checksum.
fn snapshot(rows: &[Row]) -> Vec<u8> {
    let text = |bytes: &[u8], out: &mut Vec<u8>| {
        out.extend((0x4000 | bytes.len() as u16).to_be_bytes());
        out.extend(bytes);
    };
    let mut out = b"REDIS0009\xFE\x00".to_vec();
    for row in rows {
        out.push(0);
        text(&row.key, &mut out);
        text(row.kind.as_bytes(), &mut out);
    }
    out.extend([0xFF, 0, 0, 0, 0, 0, 0, 0, 0]);
    out
}

/// A key of one of several kinds; a raw one contains no byte that is special in its format.
fn key(ids: usize, is_raw: bool, rng: &mut Rng) -> Vec<u8> {
    let mut text = String::new();
    let id = rng.below(ids);
    match rng.below(8) {
        0 => write!(text, "user:{{{id}}}:profile"),
        1 => write!(text, "cart:{{cart:{id}}}:items:{}", id % 7),
        2 => write!(text, "cfg:{{common}}:{id}"),
        3 => write!(text, "w{}:{id}:x", letters(id)),
        4 => write!(text, "{}:session", letters(id)),
        5 => write!(text, "sess:{:08x}é", id * 7919),
        6 => write!(text, "a{id}{{}}b}}{{"),
        _ => write!(text, "plain:{id}"),
    }
    .expect("a string takes any text");
    let mut key = text.into_bytes();
    if !is_raw && rng.one_in(5) {
        let odd: Vec<u8> = (0..4).map(|_| *rng.pick(b"\"\\\n\r\0,:; '[]\t")).collect();
        key.extend(odd);
    }
    key
}

fn letters(mut number: usize) -> String {
    let letter = |_| {
        let letter = char::from(b'a' + (number % 26) as u8);
        number /= 26;
        letter
    };
    (0..6).map(letter).collect()
}

fn escaped(key: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for byte in key {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            b'\r' => out.extend(b"\\r"),
            b'\t' => out.extend(b"\\t"),
            b' '..=b'~' => out.push(*byte),
            _ => out.extend(format!("\\x{byte:02x}").bytes()),
        }
    }
    out
}

fn in_json(key: &[u8]) -> Vec<u8> {
    let text = serde_json::to_vec(&String::from_utf8_lossy(key)).expect("a text is JSON");
    text[1..text.len() - 1].to_vec()
}

fn in_cell(key: &[u8]) -> Vec<u8> {
    if key.is_empty() || key.iter().any(|byte| b"\",\r\n".contains(byte)) {
        [&b"\""[..], &doubled(key), b"\""].concat()
    } else {
        key.to_vec()
    }
}

fn doubled(key: &[u8]) -> Vec<u8> {
    let doubled = key.iter().flat_map(|byte| match byte {
        b'"' => vec![b'"'; 2],
        byte => vec![*byte],
    });
    doubled.collect()
}
