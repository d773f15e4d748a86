//! Generated dumps in every format, as written by the format's tools.

use std::fmt::Write as _;

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

/// A dump of about `bytes` bytes in the format `format`.
pub fn dump(format: &str, bytes: usize, rng: &mut Rng) -> Vec<u8> {
    let is_raw = ["lines", "rdb-tools"].contains(&format);
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
    let rows = rows.as_slice();
    let end = *rng.pick(&["\n", "\n", "\r\n"]);
    match format {
        "lines" => lines(rows, end, |row, out| out.extend(&row.key)),
        "quoted" => lines(rows, end, |row, out| out.extend(c_quoted(&row.key))),
        "sized" => lines(rows, end, |row, out| {
            out.extend(c_quoted(&row.key));
            out.extend(format!(" {}", row.size).bytes());
        }),
        "numbered" => {
            let mut number = 0;
            lines(rows, end, |row, out| {
                number += 1;
                out.extend(format!("{number}) ").bytes());
                out.extend(c_quoted(&row.key));
            })
        }
        "monitor" => {
            let commands = ["SET", "get", "DEL", "HGETALL"];
            let mut micros = 1_795_216_373_000_000u64;
            lines(rows, end, |row, out| {
                micros += row.size;
                let (seconds, rest) = (micros / 1_000_000, micros % 1_000_000);
                let command = commands[row.size as usize % commands.len()];
                out.extend(format!("{seconds}.{rest:06} [0 127.0.0.1:5] \"{command}\" ").bytes());
                out.extend(c_quoted(&row.key));
            })
        }
        "hotkeys" => {
            let mut out = Vec::new();
            for rows in rows.chunks(20) {
                out.extend(b"[{\"tracking-active\":1,\"by-cpu-time-us\":[");
                for (i, row) in rows.iter().enumerate() {
                    out.extend(if i > 0 { &b","[..] } else { b"" });
                    out.extend(json_quoted(&row.key));
                    out.extend(format!(",{}", row.size).bytes());
                }
                out.extend(format!("]}}]{end}").bytes());
            }
            out
        }
        "command-log" => {
            let mut number = 0;
            lines(rows, end, |row, out| {
                number += 1;
                let entry = format!("{number}) 1) (integer) 1{end}   2) (integer) 1795347491{end}");
                let words = format!("{}{end}   4) 1) \"GET\"{end}      2) ", row.size);
                out.extend(format!("{entry}   3) (integer) {words}").bytes());
                out.extend(c_quoted(&row.key));
            })
        }
        "top-keys" => lines(rows, end, |row, out| {
            let start = format!("Biggest {:>6} found ", row.kind);
            out.extend(start.bytes());
            out.extend(c_quoted(&row.key));
            out.extend(format!(" has {} bytes", row.size).bytes());
        }),
        "aof" => {
            let mut out = b"#TS:1795216373\r\n".to_vec();
            for row in rows {
                out.extend(format!("*2\r\n$4\r\nINCR\r\n${}\r\n", row.key.len()).bytes());
                out.extend(&row.key);
                out.extend(b"\r\n");
            }
            out
        }
        "redis-json" => [b"[", &list(rows)[..], b"]\n"].concat(),
        "resp" => {
            let mut out = format!("*{}\r\n", rows.len()).into_bytes();
            for row in rows {
                out.extend(format!("${}\r\n", row.key.len()).bytes());
                out.extend(&row.key);
                out.extend(b"\r\n");
            }
            out
        }
        "csv" => table("key,size,type", end, rows, |row, out| {
            out.extend(csv_quoted(&row.key));
            out.extend(format!(",{},{}", row.size, row.kind).bytes());
        }),
        "jsonl" => {
            // Rows without a size come first: the detected columns must not depend on how much was read.
            let (first_size, mut number) = (rng.below(rows.len()), 0);
            lines(rows, end, |row, out| {
                out.extend(b"{\"key\":");
                out.extend(json_quoted(&row.key));
                if number >= first_size {
                    out.extend(format!(",\"size\":{}", row.size).bytes());
                }
                out.extend(format!(",\"type\":\"{}\"}}", row.kind).bytes());
                number += 1;
            })
        }
        "rdb-tools" => table(RDB_TOOLS, end, rows, |row, out| {
            out.extend(format!("0,{},", row.kind).bytes());
            out.extend(&row.key);
            out.extend(format!(",{},ht,1,1,", row.size).bytes());
        }),
        "redis-rdb-cli" => table(RDB_TOOLS, end, rows, |row, out| {
            out.extend(format!("0,{},", row.kind).bytes());
            out.extend(always_quoted(&row.key));
            out.extend(format!(",\"{}B\",ht,1,\"1 B\",\"\"", row.size).bytes());
        }),
        "hdt-rdb" => {
            let header = "database,key,type,size,size_readable,element_count,encoding,expiration";
            table(header, end, rows, |row, out| {
                out.extend(b"0,");
                out.extend(csv_quoted(&row.key));
                out.extend(format!(",{},{},1K,2,listpack,", row.kind, row.size).bytes());
            })
        }
        "rdb" => snapshot(rows),
        _ => panic!("tests of all formats need a dump of {format} from here"),
    }
}

/// The header of tables by rdb-tools and redis-rdb-cli.
pub const RDB_TOOLS: &str =
    "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry";

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

fn lines(rows: &[Row], end: &str, mut write: impl FnMut(&Row, &mut Vec<u8>)) -> Vec<u8> {
    let mut out = Vec::new();
    for row in rows {
        write(row, &mut out);
        out.extend(end.bytes());
    }
    out
}

fn table(header: &str, end: &str, rows: &[Row], write: impl FnMut(&Row, &mut Vec<u8>)) -> Vec<u8> {
    [header.as_bytes(), end.as_bytes(), &lines(rows, end, write)].concat()
}

fn list(rows: &[Row]) -> Vec<u8> {
    let items: Vec<_> = rows.iter().map(|row| json_quoted(&row.key)).collect();
    items.join(&b","[..])
}

fn c_quoted(key: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
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
    out.push(b'"');
    out
}

fn json_quoted(key: &[u8]) -> Vec<u8> {
    serde_json::to_vec(&String::from_utf8_lossy(key)).expect("a text is JSON")
}

fn csv_quoted(key: &[u8]) -> Vec<u8> {
    if key.iter().any(|byte| b"\",\r\n".contains(byte)) {
        always_quoted(key)
    } else {
        key.to_vec()
    }
}

fn always_quoted(key: &[u8]) -> Vec<u8> {
    let doubled = key.iter().flat_map(|byte| match byte {
        b'"' => vec![b'"'; 2],
        byte => vec![*byte],
    });
    [&b"\""[..], &doubled.collect::<Vec<_>>(), b"\""].concat()
}
