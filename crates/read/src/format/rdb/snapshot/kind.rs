//! Value types by number. Redis and Valkey use some numbers for different types, so the magic decides.

use std::borrow::Cow;

/// A numbering of types and opcodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Space {
    /// `REDIS` and four digits: Redis, and Valkey before 9.0.
    Redis,
    /// `VALKEY` and three digits.
    Valkey,
    /// `REDIS0009` with an aux field that names Dragonfly: types from 30 and opcodes from 200 are its own.
    Dragonfly,
}

/// Numbers below this are types, not opcodes.
pub(super) const FIRST_OPCODE: u8 = 107;

/// A type of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kind {
    /// The reply to TYPE; the type of a module value is the module's own.
    pub name: &'static str,
    /// The reply to OBJECT ENCODING for a value stored this way; for a string it depends on the bytes.
    pub encoding: &'static str,
    pub layout: Layout,
}

/// The layout of a value after its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// A string.
    Text,
    /// A count, then that many strings: list elements.
    Elements,
    /// A count, then that many strings: set members.
    Members,
    /// A count, then that many fields and values.
    Fields,
    /// A count, then that many pairs of a string and a score, either eight bytes or text.
    Scores { binary: bool },
    /// A string that packs all elements, with this many entries each.
    Packed(Packing, u64),
    /// A count, then that many packed strings.
    Nodes(Packing),
    /// As `Nodes`, but a node may also be a single plain element.
    Containers,
    /// A stream.
    Stream(StreamForm),
    /// A value written by a module.
    Module,
    /// A count, then that many triples of field, value and expiry time in eight bytes.
    FieldsThenExpiry,
    /// A count, then that many triples of expiry time, field and value; preceded by the earliest expiry, if `first`.
    ExpiryThenFields { first: bool },
    /// Packed triples of field, value and expiry; preceded by the earliest expiry, if `first`.
    PackedExpiry { first: bool },
    /// Indexed elements, each a string or eight bytes.
    Array,
    /// Field names, packed or one by one, then packed values.
    TemplateNames,
    /// Packed values of a template; the first entry is the template's number.
    TemplateValues,
    /// A count, then that many members or field-value pairs, each followed by its expiry time.
    WithExpiry { fields: bool },
    /// Field names, then as many values.
    TemplateFields,
    /// The number of a template, then a value per field.
    TemplateRef,
}

/// How elements are packed into a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    /// A ziplist.
    Ziplist,
    /// A listpack.
    Listpack,
    /// An intset.
    Intset,
    /// A zipmap.
    Zipmap,
}

/// The fields of a stream, by version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum StreamForm {
    /// Redis 5.0.
    Plain,
    /// Plus first and deleted ids, and entry counters.
    Offsets,
    /// Plus the time a consumer was last active.
    Activity,
    /// Plus producer ids.
    Producers,
    /// Plus entries that were refused.
    Refused,
}

/// The reply to TYPE for a string.
pub(super) const TEXT: &str = "string";
const HASH: &str = "hash";
const LIST: &str = "list";
const SET: &str = "set";
const SORTED: &str = "zset";
const STREAM: &str = "stream";

/// The type with a number; `None` if it does not exist or its layout is unknown.
pub(super) fn kind(number: u8, space: Space) -> Option<Kind> {
    use Layout::*;
    use Packing::*;
    use Space::*;
    let (name, encoding, layout) = match (number, space) {
        (0, _) => (TEXT, "raw", Text),
        (1, _) => (LIST, "linkedlist", Elements),
        (2, _) => (SET, "hashtable", Members),
        (3, _) => (SORTED, "skiplist", Scores { binary: false }),
        (4, _) => (HASH, "hashtable", Fields),
        (5, _) => (SORTED, "skiplist", Scores { binary: true }),
        (7, _) => ("module", "", Module),
        (9, _) => (HASH, "zipmap", Packed(Zipmap, 1)),
        (10, _) => (LIST, "ziplist", Packed(Ziplist, 1)),
        (11, _) => (SET, "intset", Packed(Intset, 1)),
        (12, _) => (SORTED, "ziplist", Packed(Ziplist, 2)),
        (13, _) => (HASH, "ziplist", Packed(Ziplist, 2)),
        (14, _) => (LIST, "quicklist", Nodes(Ziplist)),
        (15, _) => (STREAM, STREAM, Stream(StreamForm::Plain)),
        (16, _) => (HASH, "listpack", Packed(Listpack, 2)),
        (17, _) => (SORTED, "listpack", Packed(Listpack, 2)),
        (18, _) => (LIST, "quicklist", Containers),
        (19, _) => (STREAM, STREAM, Stream(StreamForm::Offsets)),
        (20, _) => (SET, "listpack", Packed(Listpack, 1)),
        (21, _) => (STREAM, STREAM, Stream(StreamForm::Activity)),
        (22, Valkey) => (HASH, "hashtable", FieldsThenExpiry),
        (22, Redis) => (HASH, "hashtable", ExpiryThenFields { first: false }),
        (23, Redis) => (HASH, "listpackex", PackedExpiry { first: false }),
        (24, Redis) => (HASH, "hashtable", ExpiryThenFields { first: true }),
        (25, Redis) => (HASH, "listpackex", PackedExpiry { first: true }),
        (26, Redis) => (STREAM, STREAM, Stream(StreamForm::Producers)),
        (27, Redis) => (STREAM, STREAM, Stream(StreamForm::Refused)),
        (28, Redis) => ("array", "sliced-array", Array),
        (29, Redis) => (HASH, "template", TemplateNames),
        (30, Redis) => (HASH, "template", TemplateValues),
        (31, Redis) => (HASH, "template", TemplateFields),
        (32, Redis) => (HASH, "template", TemplateRef),
        (30, Dragonfly) => ("ReJSON-RL", "", Text),
        (31, Dragonfly) => (HASH, "hashtable", WithExpiry { fields: true }),
        (32, Dragonfly) => (SET, "hashtable", WithExpiry { fields: false }),
        _ => return None,
    };
    Some(Kind {
        name,
        encoding,
        layout,
    })
}

/// A module's type name from its number: nine characters of six bits, followed by ten bits of version.
pub(super) fn module_type(number: u64) -> Cow<'static, str> {
    const CHARACTERS: &[u8; 64] =
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let character = |at: u32| char::from(CHARACTERS[(number >> (58 - 6 * at) & 63) as usize]);
    (0..9).map(character).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_magic_decides_what_a_number_means() {
        let layouts = [Space::Redis, Space::Valkey].map(|space| kind(22, space).unwrap().layout);
        assert_ne!(layouts[0], layouts[1]);
        assert!(kind(24, Space::Redis).is_some() && kind(24, Space::Valkey).is_none());
        for number in [6, 8, 33, 107, 150, 255] {
            assert!(
                [Space::Redis, Space::Valkey]
                    .iter()
                    .all(|space| kind(number, *space).is_none())
            );
        }
    }

    #[test]
    fn a_module_is_named_by_the_bits_of_its_number() {
        let bits = b"ReJSON-RL".iter().fold(0u64, |bits, character| {
            let all = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
            bits << 6 | all.iter().position(|other| other == character).unwrap() as u64
        });
        assert_eq!(module_type(bits << 10 | 3), "ReJSON-RL");
    }
}
