//! Files written by tools, clients and people: keys, mostly with sizes, in a structure. A form is a line of a table.

use serde_json::json;

use crate::shape::names::{filled, word};
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

/// A form: its name, the right interpretation, the text before and after the rows, and a row with names of values.
pub(super) struct Form {
    pub name: &'static str,
    pub right: Right,
    pub head: String,
    pub tail: String,
    row: String,
}

/// The right interpretation, a name, the text before the rows, a row and the text after them.
const TABLE: &str = r#"
sizes ¦ CSV ¦ key,size\n ¦ <field>,<size> ¦
sizes ¦ a unit in the header ¦ key,size (bytes)\n ¦ <field>,<size> ¦
sizes ¦ a sign before a name ¦ @key,Memory Usage\n ¦ <field>,<size> ¦
sizes ¦ separator named ¦ sep=;\r\nkey;size\r\n ¦ <field>;<size>\r ¦
sizes ¦ comments ¦ # by me\n# on Friday\nkey,size\n ¦ <field>,<size> ¦
sizes ¦ Chinese header ¦ 键名,大小\n ¦ <field>,<size> ¦
sizes ¦ French header ¦ clé;taille\n ¦ <field>;<size> ¦
sizes ¦ German header ¦ Schlüssel;Größe in Bytes\n ¦ <field>;<size> ¦
sizes ¦ index without a name ¦ ,key,size\n ¦ <at>,<field>,<size> ¦
sizes ¦ index of pandas ¦ Unnamed: 0,key,size\n ¦ <at>,<field>,<size> ¦
sizes ¦ blanks around commas ¦ key , size\n ¦ <field> , <size> ¦
sizes ¦ bytes of Python in CSV ¦ ,key,size\n ¦ <at>,<python field>,<size> ¦
sizes ¦ types and times to live ¦ Key,Type,Size in bytes,TTL\n ¦ <field>,<type>,<size>,<ttl> ¦
sizes ¦ title before ¦ Report of 2026-11-20\nserver: 10.0.0.7\n\nkey\tsize\n ¦ <key>\t<size> ¦
sizes ¦ title with as many cells as a row ¦ Report of shop, 2026-11-20\n\nkey,size\n ¦ <field>,<size> ¦
sizes ¦ Markdown ¦ | key | size |\n|---|---|\n ¦ | <key> | <size> | ¦
sizes ¦ Markdown with backticks ¦ # Big keys\n\n| Key | Size (bytes) |\n|---|---|\n ¦ | `<key>` | <size> | ¦
sizes ¦ Markdown in bold ¦ | Key | Size |\n|---|---|\n ¦ | **<key>** | <size> | ¦
sizes ¦ Markdown with backslashes ¦ | Key | Size |\n|---|---|\n ¦ | <backslashed> | <size> | ¦
sizes ¦ backticks in CSV ¦ key,size\n ¦ `<key>`,<size> ¦
sizes ¦ elements under count ¦ key,type,memory,count\n ¦ <field>,hash,<size>,<digit> ¦
keys ¦ a decimal comma ¦ key;Speicher (KB)\n ¦ <field>;<KiB with a comma> ¦
refused ¦ a column without a name ¦ key,size\n ¦ <field>,<size>,<digit> ¦
refused ¦ a unit in JSON ¦  ¦ {"key":<json>,"size":<size>,"unit":"KB"} ¦
sizes ¦ key, blank, groups of three ¦  ¦ <key> <groups> ¦
refused ¦ keys in objects inside ¦  ¦ {"message":"GET","attributes":{"redis":{"key":<json>,"n":<at>}}} ¦
sizes ¦ psql ¦  key | size \n-----+------\n ¦  <key:-40> | <size:5> ¦ (9 rows)\n\n
sizes ¦ MySQL ¦ +----+----+\n| key | size |\n+----+----+\n ¦ | <key:-40> | <size:6> | ¦ +----+----+\n9 rows in set (0.01 sec)\n
sizes ¦ slots prove the key ¦ ranura;nombre;tam\n ¦ <slot>;<field>;<size> ¦
sizes ¦ aligned blanks ¦ KEY                            SIZE\n ¦ <key:-60> <size:8> ¦
sizes ¦ key, blank, size ¦  ¦ <key> <size> ¦
sizes ¦ key, comma, size ¦  ¦ <key>,<size> ¦
sizes ¦ key, TAB, size ¦  ¦ <key>\t<size> ¦
sizes ¦ size, blank, key ¦  ¦ <size> <key> ¦
sizes ¦ key: size ¦  ¦ <key>: <size> ¦
sizes ¦ key -> size ¦  ¦ <key> -> <size> ¦
sizes ¦ key (size bytes) ¦  ¦ <key> (<size> bytes) ¦
sizes ¦ logfmt ¦  ¦ key=<key> size=<size> ¦
sizes ¦ pairs of JSON ¦  ¦ [<json>,<size>] ¦
sizes ¦ pairs of Python ¦  ¦ (<python>, <size>) ¦
sizes ¦ objects of JSON ¦  ¦ {"memory_bytes":<size>,"redis_key":<json>} ¦
sizes ¦ exponents ¦ key,size\n ¦ <field>,<size>e+00 ¦
sizes ¦ kibibytes ¦ key,Memory (KB)\n ¦ <field>,<KiB> ¦
sizes ¦ groups of three ¦ key,size\n ¦ <field>,<quoted groups> ¦
sizes ¦ units where they are many ¦ key,size\n ¦ <field>,<size or KiB> ¦
keys ¦ names that start with a line ¦ _key,_type,_ttl\n ¦ <field>,<type>,-1 ¦
keys ¦ bytes of Python ¦  ¦ <python> ¦
keys ¦ bullets ¦  ¦ - <key> ¦
keys ¦ backticks ¦  ¦ `<key>` ¦
keys ¦ found ¦  ¦ Found: <key> ¦
keys ¦ addresses ¦  ¦ redis://10.0.0.7:6379/0/<key> ¦
keys ¦ type and key ¦  ¦ <type> <key> ¦
keys ¦ items of JSON ¦  ¦ <json>, ¦
operations ¦ MONITOR ¦ OK\n ¦ <record> ¦
operations ¦ MONITOR of compose ¦  ¦ redis-1  | <record> ¦
operations ¦ MONITOR of kubectl ¦ Defaulted container "redis" out of: redis, exporter\nOK\n ¦ <record> ¦
operations ¦ MONITOR on the wire ¦ +OK\r\n ¦ +<record>\r ¦
operations ¦ MONITOR by grep ¦  ¦ 7001.monitor:<record> ¦
operations ¦ MONITOR of journald ¦  ¦ Nov 26 10:01:02 db redis[12]: <record> ¦
refused ¦ MONITOR in JSON ¦  ¦ {"log":<json record>,"stream":"stdout"} ¦
refused ¦ commands ¦  ¦ SET "<escaped>" v<word> ¦
refused ¦ Prometheus ¦  ¦ redis_key_size{key="<escaped>"} <size> ¦
refused ¦ MONITOR of Redis 2.4 ¦ OK\n ¦ 1795216373.<micros> "GET" "<escaped>" ¦
refused ¦ slots and counts ¦  ¦ <at> <below 5> ¦
refused ¦ two lines each ¦  ¦ <key>\n<size> ¦
refused ¦ records of lines ¦  ¦ key: <key>\nsize: <size> ¦
refused ¦ counts of uniq -c ¦  ¦ <size:7> <key> ¦
"#;

/// All forms.
pub(super) fn forms() -> Vec<Form> {
    let decoded = |text: &str| {
        let text = text.replace("\\n", "\n").replace("\\r", "\r");
        text.replace("\\t", "\t")
    };
    let form = |line: &'static str| {
        let cells: Vec<&str> = line.split('¦').collect();
        let [right, name, head, row, tail] = cells[..] else {
            panic!("five cells: {line}")
        };
        // A cell has a blank on both sides; other blanks are its own.
        let cell = |text: &str| {
            let text = text.strip_prefix(' ').unwrap_or(text);
            decoded(text.strip_suffix(' ').unwrap_or(text))
        };
        Form {
            name: name.trim(),
            right: match right.trim() {
                "sizes" => Right::Sizes,
                "keys" => Right::Keys,
                "operations" => Right::Operations,
                _ => Right::Refused,
            },
            head: cell(head),
            tail: cell(tail),
            row: cell(row),
        }
    };
    TABLE.trim().lines().map(form).collect()
}

impl Form {
    /// A row of the file.
    pub(super) fn row(&self, row: &Row<'_>, rng: &mut Rng) -> String {
        filled(&self.row, |name| {
            let (name, width) = name.split_once(':').unwrap_or((name, "0"));
            let (value, width) = (value(name, row, rng), width.parse().unwrap_or(0));
            match usize::try_from(width) {
                Ok(width) => format!("{value:>width$}"),
                Err(_) => format!("{value:<0$}", i32::unsigned_abs(width) as usize),
            }
        })
    }
}

/// The text of a named value in a row.
fn value(name: &str, row: &Row<'_>, rng: &mut Rng) -> String {
    let kib = row.size as f64 / 1024.0;
    match name {
        "key" => row.key.into(),
        "field" => field(row.key),
        "backslashed" => row.key.replace('{', "\\{").replace('}', "\\}"),
        "python" => python(row.key),
        "python field" => field(&python(row.key)),
        "escaped" => escaped(row.key),
        "json" => json!(row.key).to_string(),
        "slot" => hashslot::slot(row.key.as_bytes()).to_string(),
        "size" => row.size.to_string(),
        "groups" => groups(row.size),
        "quoted groups" if row.size < 1000 => row.size.to_string(),
        "quoted groups" => format!("\"{}\"", groups(row.size)),
        "KiB" => kib.to_string(),
        "KiB with a comma" => format!("{kib:.5}").replace('.', ","),
        "size or KiB" if row.at % 50 == 49 => format!("{kib} KiB"),
        "size or KiB" => row.size.to_string(),
        "at" => row.at.to_string(),
        "digit" => (row.at % 9).to_string(),
        "micros" => format!("{:06}", row.at),
        "below 5" => rng.below(5).to_string(),
        "type" => (*rng.pick(&["string", "hash", "list", "set", "zset"])).into(),
        "ttl" => (*rng.pick(&["-1", "3600", "60"])).into(),
        "word" => word(rng).into(),
        "record" => record(row),
        "json record" => json!(record(row)).to_string(),
        other => panic!("no value is called {other}"),
    }
}

/// A number below a million in groups of three digits.
fn groups(number: u64) -> String {
    match (number / 1000, number % 1000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

/// A field according to RFC 4180.
fn field(text: &str) -> String {
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
    let (seconds, micros) = (1_795_216_373 + row.at / 100, row.at % 100 * 9999);
    let (port, key) = (50_000 + row.at % 50, escaped(row.key));
    format!("{seconds}.{micros:06} [0 10.0.0.7:{port}] \"GET\" \"{key}\"")
}
