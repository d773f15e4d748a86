//! Rows that are hard to count: more tags than a table of names holds, in orders and with weights that bounded counters
//! find difficult; and the counts of naive code.

use std::collections::BTreeMap;

use slotscope::metric::{Load, Metric};
use slotscope::name::Name;

/// A key, its size if there is one, and its operations.
pub(super) struct Row {
    pub key: String,
    pub size: Option<u64>,
    pub ops: u64,
}

/// Rows with a name. Without sizes and operations they are a list of keys, else a table.
pub(super) type Stream = (&'static str, fn() -> Vec<Row>);

pub(super) const STREAMS: &[Stream] = &[
    ("a Zipf tail, shuffled", || keys(shuffled(zipf()))),
    ("a Zipf tail, sorted", || keys(sorted(zipf()))),
    ("a Zipf tail in slot order", || keys(by_slot(zipf()))),
    ("heavy at the end", || {
        let late = (0..50_000).map(|i| format!("{{late}}:{i}"));
        keys(shuffled(zipf()).into_iter().chain(late).collect())
    }),
    ("heavy at the start", || {
        let early = (0..5000).map(|i| format!("{{early}}:{i}"));
        keys(early.chain(distinct()).collect())
    }),
    ("three keys a tag", || {
        keys(
            (0..300_000)
                .map(|i| format!("{{tag:{}}}:{i}", i % 100_000))
                .collect(),
        )
    }),
    ("some thousands of tags", || {
        keys(
            (0..40_000)
                .map(|i| format!("{{tag:{}}}:{i}", i % 10_000))
                .collect(),
        )
    }),
    ("all distinct", || keys(distinct().collect())),
    ("one heavy among many", || {
        let one = |(i, key)| {
            (i % 10 == 0)
                .then(|| format!("{{one}}:{i}"))
                .into_iter()
                .chain([key])
        };
        keys(distinct().enumerate().flat_map(one).collect())
    }),
    ("shifting", || {
        let key = |i| match i % 4 {
            0 => format!("{{hot{}}}:{i}", i / 2000),
            _ => format!("{{c{i}}}"),
        };
        keys((0..200_000).map(key).collect())
    }),
    ("a heavy tag too long to list", || {
        let long = "x".repeat(600);
        let key = |i| match i % 50 {
            0 => format!("{{{long}}}:{i}"),
            _ => format!("{{l{i}}}"),
        };
        keys((0..70_000).map(key).collect())
    }),
    ("names that are too many to make patterns of", || {
        keys(testkit::dumps::many_names(7))
    }),
    ("sizes of a Zipf tail", || {
        let rows = shuffled(zipf()).into_iter().enumerate();
        rows.map(|(i, key)| row(key, Some(10 + i as u64 % 977), 0))
            .collect()
    }),
    ("heavy only by bytes, at the end", || {
        light().chain(big()).collect()
    }),
    ("heavy only by bytes, at the start", || {
        big().chain(light()).collect()
    }),
    ("heavy by each metric", || {
        let heavy = |i: usize| match i % 60 {
            0 => Some(row("{by keys}".into(), Some(0), 0)),
            1 if i % 3000 == 1 => Some(row("{by bytes}".into(), Some(100_000), 0)),
            2 if i % 3000 == 2 => Some(row("{by ops}".into(), None, 70_000)),
            _ => None,
        };
        light()
            .enumerate()
            .flat_map(|(i, light)| [Some(light), heavy(i)])
            .flatten()
            .collect()
    }),
    // Heavy at first, then too light to be tracked, then heavy again.
    ("gathering unseen", || {
        let comes_back = |i: usize| match i {
            70_000..70_100 | 190_000..191_000 => true,
            i => (90_000..190_000).contains(&i) && i % 3000 == 0,
        };
        let rows = (0..200_000).map(|i| {
            if comes_back(i) {
                "comes back".into()
            } else {
                format!("d{i}")
            }
        });
        rows.map(|tag| row(format!("{{{tag}}}"), Some(9), 1))
            .collect()
    }),
    ("bytes never known", || {
        light().map(|row| Row { size: None, ..row }).collect()
    }),
];

fn row(key: String, size: Option<u64>, ops: u64) -> Row {
    Row { key, size, ops }
}

fn keys(keys: Vec<String>) -> Vec<Row> {
    keys.into_iter().map(|key| row(key, None, 0)).collect()
}

fn distinct() -> impl Iterator<Item = String> {
    (0..100_000).map(|i| format!("{{d{i}}}"))
}

fn light() -> impl Iterator<Item = Row> {
    distinct()
        .zip(0..)
        .map(|(key, i)| row(key, Some(i % 50), 1))
}

fn big() -> impl Iterator<Item = Row> {
    (0..40).map(|i| row(format!("{{big{}}}:{i}", i % 4), Some(5_000_000), 0))
}

/// 90,000 tags, the first with 9,000 keys, most with one, and keys without a tag.
fn zipf() -> Vec<String> {
    let tags = (1..=90_000u64)
        .flat_map(|i| (0..1 + 9_000 / i).map(move |key| format!("cart:{key}:{{user:{i}}}")));
    tags.chain((0..5_000).map(|i| format!("plain:{i}")))
        .collect()
}

fn shuffled(mut keys: Vec<String>) -> Vec<String> {
    let len = keys.len();
    (0..len).for_each(|i| keys.swap(i, (i * 7919 + 13) % len));
    keys
}

fn sorted(mut keys: Vec<String>) -> Vec<String> {
    keys.sort();
    keys
}

fn by_slot(mut keys: Vec<String>) -> Vec<String> {
    keys.sort_by_cached_key(|key| (hashslot::slot(key.as_bytes()), key.clone()));
    keys
}

/// The rows as a list of keys, or as a table if one has a size or operations.
pub(super) fn dump(rows: &[Row]) -> Vec<u8> {
    if rows.iter().all(|row| row.size.is_none() && row.ops == 0) {
        return rows
            .iter()
            .map(|row| row.key.clone() + "\n")
            .collect::<String>()
            .into();
    }
    let line = |row: &Row| {
        let size = row.size.map(|size| size.to_string()).unwrap_or_default();
        format!("{},{size},{}\n", row.key, row.ops)
    };
    [
        "key,size,ops\n".into(),
        rows.iter().map(line).collect::<String>(),
    ]
    .concat()
    .into()
}

/// The counts of naive code.
#[derive(Default)]
pub(super) struct Truth {
    pub slots: BTreeMap<u16, Load>,
    pub tags: BTreeMap<Name, Load>,
}

impl Truth {
    pub(super) fn of(rows: &[Row]) -> Self {
        let mut truth = Truth::default();
        for Row { key, size, ops } in rows {
            let load = Load::new(1, size.unwrap_or(0), *ops);
            let tag = key
                .split_once('{')
                .and_then(|(_, rest)| rest.split_once('}'));
            let tag = tag.map(|(tag, _)| tag).filter(|tag| !tag.is_empty());
            *truth
                .slots
                .entry(crc16(tag.unwrap_or(key)) % 16_384)
                .or_default() += load;
            if let Some(tag) = tag {
                *truth.tags.entry(Name::from(tag)).or_default() += load;
            }
        }
        truth
    }

    /// The sum of a metric over all tags.
    pub(super) fn tagged(&self, metric: Metric) -> u64 {
        self.tags.values().map(|load| load[metric]).sum()
    }
}

/// CRC16 of XMODEM, bit by bit.
fn crc16(text: &str) -> u16 {
    text.bytes().fold(0, |crc, byte| {
        (0..8).fold(crc ^ u16::from(byte) << 8, |crc: u16, _| {
            (crc << 1) ^ if crc >> 15 == 1 { 0x1021 } else { 0 }
        })
    })
}
