//! Files written by tools, clients and people: keys, mostly with sizes, in a structure.

use serde_json::json;

use crate::shape::names::word;
use testkit::rng::Rng;

pub(super) struct Row<'r> {
    pub key: &'r str,
    pub size: u64,
    pub at: usize,
}

/// The right interpretation of a file.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Right {
    /// Keys with sizes.
    Sizes,
    /// Keys only.
    Keys,
    /// Operations on keys.
    Operations,
    /// A refusal with a suggested command.
    Refused,
}

/// A form: its name, the right interpretation, the text before and after the rows, and a row.
pub(super) struct Form {
    pub name: &'static str,
    pub right: Right,
    pub head: &'static str,
    pub tail: &'static str,
    pub row: fn(&Row<'_>, &mut Rng) -> String,
}

/// A field according to RFC 4180.
pub(super) fn field(text: &str) -> String {
    if text.contains([',', '"', ';', '\n', '|', '\t']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

/// A Python literal.
fn python(key: &str) -> String {
    let escaped = |byte: u8| match byte {
        b'\\' => "\\\\".into(),
        b' '..=b'~' => char::from(byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    };
    let text: String = key.bytes().map(escaped).collect();
    match (text.contains('\''), text.contains('"')) {
        (true, false) => format!("b\"{text}\""),
        _ => format!("b'{}'", text.replace('\'', "\\'")),
    }
}

/// A word as escaped by redis-cli between quotes.
fn escaped(key: &str) -> String {
    let one = |byte: u8| match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        byte => format!("\\x{byte:02x}"),
    };
    key.bytes().map(one).collect()
}

fn record(row: &Row<'_>) -> String {
    let seconds = 1_795_216_373 + row.at / 100;
    format!(
        "{seconds}.{:06} [0 10.0.0.7:{}] \"GET\" \"{}\"",
        row.at % 100 * 9999,
        50_000 + row.at % 50,
        escaped(row.key)
    )
}

macro_rules! form {
    ($right:ident, $name:literal, $head:literal, $tail:literal, |$row:ident, $rng:ident| $text:expr) => {
        Form {
            name: $name,
            right: Right::$right,
            head: $head,
            tail: $tail,
            row: |$row, $rng| {
                let _ = &$rng;
                $text
            },
        }
    };
}

const TYPES: [&str; 5] = ["string", "hash", "list", "set", "zset"];

/// All forms.
pub(super) const FORMS: &[Form] = &[
    form!(Sizes, "CSV", "key,size\n", "", |row, rng| format!(
        "{},{}",
        field(row.key),
        row.size
    )),
    form!(
        Sizes,
        "a unit in the header",
        "key,size (bytes)\n",
        "",
        |row, rng| format!("{},{}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "a sign before a name",
        "@key,Memory Usage\n",
        "",
        |row, rng| format!("{},{}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "separator named",
        "sep=;\r\nkey;size\r\n",
        "",
        |row, rng| format!("{};{}\r", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "comments",
        "# by me\n# on Friday\nkey,size\n",
        "",
        |row, rng| format!("{},{}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "Chinese header",
        "键名,大小\n",
        "",
        |row, rng| format!("{},{}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "French header",
        "clé;taille\n",
        "",
        |row, rng| format!("{};{}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "German header",
        "Schlüssel;Größe in Bytes\n",
        "",
        |row, rng| format!("{};{}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "index without a name",
        ",key,size\n",
        "",
        |row, rng| format!("{},{},{}", row.at, field(row.key), row.size)
    ),
    form!(
        Sizes,
        "index of pandas",
        "Unnamed: 0,key,size\n",
        "",
        |row, rng| format!("{},{},{}", row.at, field(row.key), row.size)
    ),
    form!(
        Sizes,
        "blanks around commas",
        "key , size\n",
        "",
        |row, rng| format!("{} , {}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "bytes of Python in CSV",
        ",key,size\n",
        "",
        |row, rng| format!("{},{},{}", row.at, field(&python(row.key)), row.size)
    ),
    form!(
        Sizes,
        "types and times to live",
        "Key,Type,Size in bytes,TTL\n",
        "",
        |row, rng| {
            format!(
                "{},{},{},{}",
                field(row.key),
                rng.pick(&TYPES),
                row.size,
                rng.pick(&["-1", "3600", "60"])
            )
        }
    ),
    form!(
        Sizes,
        "title before",
        "Report of 2026-11-20\nserver: 10.0.0.7\n\nkey\tsize\n",
        "",
        |row, rng| format!("{}\t{}", row.key, row.size)
    ),
    form!(
        Sizes,
        "title with as many cells as a row",
        "Report of shop, 2026-11-20\n\nkey,size\n",
        "",
        |row, rng| format!("{},{}", field(row.key), row.size)
    ),
    form!(
        Sizes,
        "Markdown",
        "| key | size |\n|---|---|\n",
        "",
        |row, rng| format!("| {} | {} |", row.key, row.size)
    ),
    form!(
        Sizes,
        "Markdown with backticks",
        "# Big keys\n\n| Key | Size (bytes) |\n|---|---|\n",
        "",
        |row, rng| format!("| `{}` | {} |", row.key, row.size)
    ),
    form!(
        Sizes,
        "Markdown in bold",
        "| Key | Size |\n|---|---|\n",
        "",
        |row, rng| format!("| **{}** | {} |", row.key, row.size)
    ),
    form!(
        Sizes,
        "Markdown with backslashes",
        "| Key | Size |\n|---|---|\n",
        "",
        |row, rng| {
            let key = row.key.replace('{', "\\{").replace('}', "\\}");
            format!("| {key} | {} |", row.size)
        }
    ),
    form!(
        Sizes,
        "backticks in CSV",
        "key,size\n",
        "",
        |row, rng| format!("`{}`,{}", row.key, row.size)
    ),
    form!(
        Sizes,
        "elements under count",
        "key,type,memory,count\n",
        "",
        |row, rng| format!("{},hash,{},{}", field(row.key), row.size, row.at % 7)
    ),
    form!(
        Sizes,
        "a decimal comma",
        "key;Speicher (KB)\n",
        "",
        |row, rng| {
            let size = format!("{:.5}", row.size as f64 / 1024.0).replace('.', ",");
            format!("{};{size}", field(row.key))
        }
    ),
    form!(
        Refused,
        "a column without a name",
        "key,size\n",
        "",
        |row, rng| format!("{},{},{}", field(row.key), row.size, row.at % 9)
    ),
    form!(Refused, "a unit in JSON", "", "", |row, rng| json!({
        "key": row.key,
        "size": row.size,
        "unit": "KB"
    })
    .to_string()),
    form!(Sizes, "key, blank, groups of three", "", "", |row, rng| {
        let (thousands, rest) = (row.size / 1000, row.size % 1000);
        if thousands > 0 {
            format!("{} {thousands},{rest:03}", row.key)
        } else {
            format!("{} {rest}", row.key)
        }
    }),
    form!(Refused, "keys in objects inside", "", "", |row, rng| {
        json!({"message": "GET", "attributes": {"redis": {"key": row.key, "n": row.at}}})
            .to_string()
    }),
    form!(
        Sizes,
        "psql",
        " key | size \n-----+------\n",
        "(9 rows)\n\n",
        |row, rng| format!(" {:<40} | {:>5}", row.key, row.size)
    ),
    form!(
        Sizes,
        "MySQL",
        "+----+----+\n| key | size |\n+----+----+\n",
        "+----+----+\n9 rows in set (0.01 sec)\n",
        |row, rng| format!("| {:<40} | {:>6} |", row.key, row.size)
    ),
    form!(
        Sizes,
        "slots prove the key",
        "ranura;nombre;tam\n",
        "",
        |row, rng| {
            format!(
                "{};{};{}",
                hashslot::slot(row.key.as_bytes()),
                field(row.key),
                row.size
            )
        }
    ),
    form!(
        Sizes,
        "aligned blanks",
        "KEY                            SIZE\n",
        "",
        |row, rng| format!("{:<60} {:>8}", row.key, row.size)
    ),
    form!(Sizes, "key, blank, size", "", "", |row, rng| format!(
        "{} {}",
        row.key, row.size
    )),
    form!(Sizes, "key, comma, size", "", "", |row, rng| format!(
        "{},{}",
        row.key, row.size
    )),
    form!(Sizes, "key, TAB, size", "", "", |row, rng| format!(
        "{}\t{}",
        row.key, row.size
    )),
    form!(Sizes, "size, blank, key", "", "", |row, rng| format!(
        "{} {}",
        row.size, row.key
    )),
    form!(Sizes, "key: size", "", "", |row, rng| format!(
        "{}: {}",
        row.key, row.size
    )),
    form!(Sizes, "key -> size", "", "", |row, rng| format!(
        "{} -> {}",
        row.key, row.size
    )),
    form!(Sizes, "key (size bytes)", "", "", |row, rng| format!(
        "{} ({} bytes)",
        row.key, row.size
    )),
    form!(Sizes, "logfmt", "", "", |row, rng| format!(
        "key={} size={}",
        row.key, row.size
    )),
    form!(Sizes, "pairs of JSON", "", "", |row, rng| json!([
        row.key, row.size
    ])
    .to_string()),
    form!(Sizes, "pairs of Python", "", "", |row, rng| format!(
        "({}, {})",
        python(row.key),
        row.size
    )),
    form!(Sizes, "objects of JSON", "", "", |row, rng| {
        json!({"redis_key": row.key, "memory_bytes": row.size}).to_string()
    }),
    form!(Sizes, "exponents", "key,size\n", "", |row, rng| format!(
        "{},{}e+00",
        field(row.key),
        row.size
    )),
    form!(
        Sizes,
        "kibibytes",
        "key,Memory (KB)\n",
        "",
        |row, rng| format!("{},{}", field(row.key), row.size as f64 / 1024.0)
    ),
    form!(Sizes, "groups of three", "key,size\n", "", |row, rng| {
        let (thousands, rest) = (row.size / 1000, row.size % 1000);
        let size = if thousands > 0 {
            format!("\"{thousands},{rest:03}\"")
        } else {
            rest.to_string()
        };
        format!("{},{size}", field(row.key))
    }),
    form!(
        Sizes,
        "units where they are many",
        "key,size\n",
        "",
        |row, rng| if row.at % 50 == 49 {
            format!("{},{} KiB", field(row.key), row.size as f64 / 1024.0)
        } else {
            format!("{},{}", field(row.key), row.size)
        }
    ),
    form!(
        Keys,
        "names that start with a line",
        "_key,_type,_ttl\n",
        "",
        |row, rng| format!("{},{},-1", field(row.key), rng.pick(&TYPES))
    ),
    form!(Keys, "bytes of Python", "", "", |row, rng| python(row.key)),
    form!(Keys, "bullets", "", "", |row, rng| format!("- {}", row.key)),
    form!(Keys, "backticks", "", "", |row, rng| format!(
        "`{}`",
        row.key
    )),
    form!(Keys, "found", "", "", |row, rng| format!(
        "Found: {}",
        row.key
    )),
    form!(Keys, "addresses", "", "", |row, rng| format!(
        "redis://10.0.0.7:6379/0/{}",
        row.key
    )),
    form!(Keys, "type and key", "", "", |row, rng| format!(
        "{} {}",
        rng.pick(&TYPES),
        row.key
    )),
    form!(Keys, "items of JSON", "", "", |row, rng| format!(
        "{},",
        json!(row.key)
    )),
    form!(Operations, "MONITOR", "OK\n", "", |row, rng| record(row)),
    form!(
        Operations,
        "MONITOR of compose",
        "",
        "",
        |row, rng| format!("redis-1  | {}", record(row))
    ),
    form!(
        Operations,
        "MONITOR of kubectl",
        "Defaulted container \"redis\" out of: redis, exporter\nOK\n",
        "",
        |row, rng| record(row)
    ),
    form!(
        Operations,
        "MONITOR on the wire",
        "+OK\r\n",
        "",
        |row, rng| format!("+{}\r", record(row))
    ),
    form!(Operations, "MONITOR by grep", "", "", |row, rng| format!(
        "7001.monitor:{}",
        record(row)
    )),
    form!(
        Operations,
        "MONITOR of journald",
        "",
        "",
        |row, rng| format!("Nov 26 10:01:02 db redis[12]: {}", record(row))
    ),
    form!(Refused, "MONITOR in JSON", "", "", |row, rng| {
        json!({"log": record(row), "stream": "stdout"}).to_string()
    }),
    form!(Refused, "commands", "", "", |row, rng| format!(
        "SET \"{}\" v{}",
        escaped(row.key),
        word(rng)
    )),
    form!(Refused, "Prometheus", "", "", |row, rng| format!(
        "redis_key_size{{key=\"{}\"}} {}",
        escaped(row.key),
        row.size
    )),
    form!(
        Refused,
        "MONITOR of Redis 2.4",
        "OK\n",
        "",
        |row, rng| format!("1795216373.{:06} \"GET\" \"{}\"", row.at, escaped(row.key))
    ),
    form!(Refused, "slots and counts", "", "", |row, rng| format!(
        "{} {}",
        row.at,
        rng.below(5)
    )),
    form!(Refused, "two lines each", "", "", |row, rng| format!(
        "{}\n{}",
        row.key, row.size
    )),
    form!(Refused, "records of lines", "", "", |row, rng| format!(
        "key: {}\nsize: {}",
        row.key, row.size
    )),
    form!(Refused, "counts of uniq -c", "", "", |row, rng| format!(
        "{:>7} {}",
        row.size, row.key
    )),
];
