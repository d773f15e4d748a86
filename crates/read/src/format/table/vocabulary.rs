//! Words in the names of columns, by what they say about the numbers below.

use slotscope_base::batch::{Number, Word};
use slotscope_base::metric::Metric;

use crate::format::parse::unit::unit_power;
use crate::format::table::role::Role;
use crate::format::table::units::Unit;

pub(super) const KEYS: &[&str] = &[
    "key",
    "keys",
    "keyname",
    "rediskey",
    "clé",
    "clef",
    "clave",
    "llave",
    "chave",
    "chiave",
    "ключ",
    "键",
    "键名",
    "キー",
    "キー名",
    "키",
    "schlüssel",
    "sleutel",
    "nyckel",
    "nøgle",
    "klucz",
    "anahtar",
];
pub(super) const NAMES: &[&str] = &["name", "names"];
pub(super) const SIZES: &[&str] = &[
    "size",
    "sizes",
    "mem",
    "memory",
    "bytes",
    "byte",
    "used",
    "usage",
    "strlen",
    "length",
    "taille",
    "octets",
    "größe",
    "tamaño",
    "tam",
    "tamanho",
    "размер",
    "память",
    "memoria",
    "memória",
    "dimensione",
    "rozmiar",
    "storlek",
    "grootte",
    "geheugen",
    "boyut",
    "大小",
    "内存",
    "サイズ",
];
/// The same in languages that write words without blanks between, or join them.
const SIZES_INSIDE: &[&str] = &[
    "大小",
    "内存",
    "字节",
    "容量",
    "サイズ",
    "メモリ",
    "バイト",
    "크기",
    "메모리",
    "바이트",
    "speicher",
    "größe",
    "mémoire",
];
/// A ratio, a limit or a statistic in these languages.
const RATIOS_INSIDE: &[&str] = &["率", "比", "割合", "비율", "限", "最大", "平均"];
/// Words that leave the meaning of a size as it is.
pub(super) const OF_SIZES: &[&str] = &[
    "b",
    "o",
    "value",
    "values",
    "object",
    "entry",
    "serialized",
    "payload",
    "dump",
    "rdb",
    "string",
    "utilisée",
    "allocated",
    "consumed",
    "consumption",
    "footprint",
    "occupied",
    "sum",
    "en",
    "de",
    "di",
    "em",
    "в",
    "байт",
    "байты",
    "байтах",
    "bytes",
    "占用",
    "使用",
    "사용량",
];
pub(super) const OF_KEYS: &[&str] = &["key", "keys", "value", "object", "entry"];
pub(super) const OF_COUNTS: &[&str] = &["count", "number", "num", "n", "sum", "all"];
pub(super) const OF_OPS: &[&str] = &[
    "hit",
    "op",
    "operation",
    "operations",
    "request",
    "access",
    "accesses",
    "call",
    "calls",
    "command",
    "commands",
];
pub(super) const OF_EXPIRY: &[&str] = &[
    "at",
    "in",
    "on",
    "ts",
    "utc",
    "left",
    "remaining",
    "time",
    "date",
    "timestamp",
    "unix",
    "epoch",
];
pub(super) const SECONDS: &[&str] = &["s", "sec", "secs", "second", "seconds"];
pub(super) const MILLISECONDS: &[&str] = &["ms", "msec", "millis", "millisecond", "milliseconds"];
pub(super) const PERIODS: &[&str] = &["min", "minute", "hour", "day"];
/// The content of a column with one of the first words, if all of its words are among these.
pub(super) const OTHERS: &[(Role, &[&[&str]])] = &[
    (
        Role::Number(Number::Elements),
        &[
            &["elements", "len", "items", "members"],
            &["value"],
            OF_COUNTS,
        ],
    ),
    (
        EXPIRY,
        &[
            &["ttl", "pttl", "expires", "expire", "expiry", "expiration"],
            OF_KEYS,
            OF_EXPIRY,
            SECONDS,
            MILLISECONDS,
        ],
    ),
    (
        Role::Word(Word::Encoding),
        &[&["encoding"], OF_KEYS, &["type", "internal"]],
    ),
    (Role::Word(Word::Type), &[&["type"], OF_KEYS, NAMES]),
    (
        Role::Number(Number::Database),
        &[&["db", "database"], &["number", "index", "id", "no", "nr"]],
    ),
    (
        Role::Number(Number::Idle),
        &[&["idle"], OF_KEYS, &["time"], SECONDS],
    ),
    (
        Role::Number(Number::Lfu),
        &[&["freq", "lfu"], OF_KEYS, &["counter", "access", "log"]],
    ),
    (
        Role::Weight(Metric::Ops),
        &[
            &["hits", "ops", "qps", "requests"],
            OF_KEYS,
            OF_COUNTS,
            OF_OPS,
        ],
    ),
    (
        Role::Weight(Metric::Ops),
        &[&["count"], &["number", "num", "n", "sum", "all"], OF_OPS],
    ),
];
pub(super) const EXPIRY: Role = Role::Number(Number::Expiry);
/// Words of columns that are known and not read: not about a single key, or not an amount.
pub(super) const UNREAD: &[&str] = &[
    "slot",
    "slots",
    "node",
    "host",
    "port",
    "shard",
    "id",
    "no",
    "nr",
    "index",
    "rank",
    "row",
    "unnamed",
    "bits",
    "blocks",
    "pages",
    "thousands",
    "unit",
    "units",
    "percent",
    "pct",
    "ratio",
    "share",
    "max",
    "min",
    "avg",
    "mean",
    "largest",
    "cpu",
    "prefix",
    "pattern",
    "readable",
    "human",
    "date",
    "time",
];
/// Words without meaning.
pub(super) const FILLERS: &[&str] = &[
    "redis",
    "valkey",
    "data",
    "the",
    "in",
    "of",
    "total",
    "estimated",
    "estimate",
    "est",
    "approx",
    "approximate",
    "actual",
    "current",
];
/// The same of anything but a count, which may be one of these.
pub(super) const OF_TABLES: &[&str] = &["col", "column", "field"];

/// Whether a word is about sizes, whatever else is said.
pub(super) fn is_of_size(word: &str) -> bool {
    SIZES.contains(&word) || word.len() > 1 && unit(word).is_some() || is_size_inside(word)
}

/// Whether a word of another language has a size in it, and no ratio.
fn is_size_inside(word: &str) -> bool {
    let has = |parts: &[&str]| parts.iter().any(|part| word.contains(part));
    has(SIZES_INSIDE) && !has(RATIOS_INSIDE)
}

/// The unit denoted by a word in the name of a size.
pub(super) fn unit(word: &str) -> Option<Unit> {
    match unit_power(word)?.0 {
        1 => Some(Unit::Kib),
        2 => Some(Unit::Mib),
        3 => Some(Unit::Gib),
        _ => None,
    }
}
