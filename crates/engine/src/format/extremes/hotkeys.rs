//! `hotkeys`: HOTKEYS GET, as JSON or terminal output. Redis returns a map with two lists of keys and amounts, by CPU
//! time and by traffic; Valkey an array of maps, each with a key, a database and lookups per second.

use std::sync::Arc;

use crate::format::batch::{MISSING, Number};
use crate::format::extremes::reply::{self, Part};
use crate::format::extremes::{Text, amount, give};
use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::frame::row_boundary::RowBoundary;
use crate::format::{Columns, Detected, Format, Head, Opened, ReadStats, Reader, Sink};
use crate::metric::extreme::Extreme;
use crate::source::block::{Block, Piece};

/// The format.
pub(crate) struct Hotkeys;

impl Format for Hotkeys {
    fn name(&self) -> &'static str {
        "hotkeys"
    }

    fn example(&self) -> &'static str {
        r#"[{"by-cpu-time-us":["user:{1000}:profile",70]}] or [{"key":"user:{1000}:profile","db":0,"qps":9}] (HOTKEYS GET)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        reply::detect(head, starts, |content, row| {
            let mut maps = Maps::default();
            loop {
                match row.next(content) {
                    Ok(Some(Part::Line(..))) | Ok(None) => return Detected::No,
                    Err(_) => return Detected::NeedMore,
                    Ok(Some(part)) => drop(maps.take(&part, content)),
                }
                match maps.first_names() {
                    Some([Name::List(_) | Name::Redis, ..]) => return Detected::Yes,
                    Some([Name::Other, ..]) => return Detected::No,
                    Some(names) if names.contains(&Name::Lookups) && names.contains(&Name::Key) => {
                        return Detected::Yes;
                    }
                    _ => {}
                }
            }
        })
    }

    fn note(&self) -> Option<&'static str> {
        Some("HOTKEYS names the hottest keys of a time or of a sample: no share of the traffic")
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        let boundary = RowBoundary::Rows(Arc::new(starts));
        Ok(Opened::blocks(self.name(), boundary, Hotkeys))
    }
}

fn starts(line: &[u8]) -> bool {
    let is_map = |first: &[u8]| first.starts_with(b"\"key\"") || first.starts_with(b"\"tracking-");
    reply::starts_row(line, is_map)
}

impl Reader for Hotkeys {
    fn read(
        &self,
        block: &mut Block,
        piece: Piece,
        columns: &mut Columns<'_>,
        sink: &mut dyn Sink,
    ) -> ReadStats {
        let mut gather = BatchBuilder::new(columns, sink);
        let mut maps = Maps::default();
        reply::each_row(block, piece.from, starts, |block, start, end| {
            maps.open.clear();
            reply::each_part(block, (start, end), &mut gather, |block, part, gather| {
                let Some((key, database, says)) = maps.take(&part, block.content())? else {
                    return Ok(false);
                };
                let key = key.undo(block);
                let databases = gather.values().number_mut(Number::Database);
                databases.push(database);
                give(gather, block, key, says);
                Ok(true)
            });
        });
        gather.finish(block)
    }
}

const NO_AMOUNT: &str = "a hot key without a number";

/// The name of a map member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Name {
    /// A list of keys and amounts.
    List(Extreme),
    /// Another member known from Redis.
    Redis,
    Key,
    Database,
    Lookups,
    #[default]
    Other,
}

impl Name {
    fn of(text: &[u8]) -> Name {
        match text {
            b"by-cpu-time-us" => Name::List(Extreme::CpuTime),
            b"by-net-bytes" => Name::List(Extreme::Traffic),
            b"tracking-active" | b"sample-ratio" | b"selected-slots" => Name::Redis,
            b"key" => Name::Key,
            b"db" => Name::Database,
            b"qps" => Name::Lookups,
            _ => Name::Other,
        }
    }
}

/// The open arrays and maps.
#[derive(Default)]
struct Maps {
    open: Vec<Level>,
}

/// An open array or map.
#[derive(Default)]
struct Level {
    /// The list it belongs to, if any.
    list: Option<Extreme>,
    /// The first few names, if it is a map.
    names: Vec<Name>,
    /// Whether a value comes next.
    is_named: bool,
    key: Option<Text>,
    database: Option<u64>,
    lookups: Option<u64>,
}

/// Names kept per map.
const NAMES: usize = 8;

/// A key, its database, and its entry in the list.
type HotKey = (Text, u64, (Extreme, u64));

impl Maps {
    /// The names of the innermost map, once it has any.
    fn first_names(&self) -> Option<&[Name]> {
        let names = &self.open.last()?.names;
        (!names.is_empty()).then_some(names)
    }

    /// Processes a part; returns a key once it is complete.
    fn take(&mut self, part: &Part, content: &[u8]) -> Result<Option<HotKey>, &'static str> {
        match part {
            Part::Open => {
                let list = self.open.last_mut().and_then(|level| {
                    let is_value = std::mem::take(&mut level.is_named);
                    match level.names.last() {
                        Some(Name::List(of)) if is_value => Some(*of),
                        // List entries may be pairs in arrays.
                        _ => level.list,
                    }
                });
                self.open.push(Level {
                    list,
                    ..Level::default()
                });
                Ok(None)
            }
            Part::Close => {
                let level = self.open.pop().unwrap_or_default();
                let lookups = level.lookups.map(|lookups| (Extreme::Lookups, lookups));
                let database = level.database.unwrap_or(MISSING);
                let known = level.key.zip(lookups);
                Ok(known.map(|(key, says)| (key, database, says)))
            }
            Part::Text(value) | Part::Bare(value) => match self.open.last_mut() {
                Some(level) if level.list.is_some() => level.in_list(*value, content),
                Some(level) => level.in_map(*value, content).map(|()| None),
                None => Ok(None),
            },
            Part::Line(..) => Ok(None),
        }
    }
}

impl Level {
    fn in_list(&mut self, value: Text, content: &[u8]) -> Result<Option<HotKey>, &'static str> {
        let (Some(key), Some(of)) = (self.key.take(), self.list) else {
            self.key = Some(value);
            return Ok(None);
        };
        let amount = amount(value.of(content)).ok_or(NO_AMOUNT)?;
        Ok(Some((key, MISSING, (of, amount))))
    }

    fn in_map(&mut self, value: Text, content: &[u8]) -> Result<(), &'static str> {
        self.is_named = !self.is_named;
        if self.is_named {
            let name = Name::of(value.of(content));
            if self.names.len() < NAMES {
                self.names.push(name)
            } else {
                self.names[NAMES - 1] = name
            }
            return Ok(());
        }
        match self.names.last() {
            Some(Name::Key) => self.key = Some(value),
            Some(Name::Database) => self.database = amount(value.of(content)),
            Some(Name::Lookups) => {
                self.lookups = Some(amount(value.of(content)).ok_or(NO_AMOUNT)?);
            }
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::detect;
    use crate::format::reading::read_whole;

    const REDIS: [&str; 5] = [
        r#"[{"tracking-active":1,"sample-ratio":1,"selected-slots":[[0,16383]],"total-net-bytes":9,
"by-cpu-time-us":["a\n",70,"by-net-bytes",5],"by-net-bytes":["{t}:b",300]}]"#,
        r#"["by-cpu-time-us",["a\n",70,"by-net-bytes",5],"by-net-bytes",["{t}:b",300]]"#,
        r#"{"by-cpu-time-us":{"a\n":70,"by-net-bytes":5},"by-net-bytes":[["{t}:b",300]]}"#,
        r#"1)  1) "tracking-active"
    2) (integer) 1
    3) "selected-slots"
    4) 1) 1) (integer) 0
          2) (integer) 16383
    5) "by-cpu-time-us"
    6) 1) "a\n"
       2) (integer) 70
       3) "by-net-bytes"
       4) (integer) 5
    7) "by-net-bytes"
   10) 1) "{t}:b"
       2) (integer) 300
"#,
        r#"1) 1# "tracking-active" => (integer) 1
   2# "selected-slots" => 1) 1) (integer) 0
         2) (integer) 16383
   3# "by-cpu-time-us" => 1) "a\n"
      2) (integer) 70
      3) "by-net-bytes"
      4) (integer) 5
   4# "by-net-bytes" => 1) "{t}:b"
      2) (integer) 300
"#,
    ];

    const VALKEY: [&str; 4] = [
        r#"[{"key":"a\n","db":0,"qps":12.6},{"key":"{t}:b","db":3,"qps":1}]"#,
        r#"[["key","a\n","db",0,"qps","12.6"],["key","{t}:b","db",3,"qps","1"]]"#,
        "1) 1) \"key\"\n   2) \"a\\n\"\n   3) \"db\"\n   4) (integer) 0\n   5) \"qps\"\n   6) \"12.6\"\n\
         2) 1) \"key\"\n   2) \"{t}:b\"\n   3) \"db\"\n   4) (integer) 3\n   5) \"qps\"\n   6) \"1\"\n",
        "1) 1# \"key\" => \"a\\n\"\n   2# \"db\" => (integer) 0\n   3# \"qps\" => (double) 12.6\n\
         2) 1# \"key\" => \"{t}:b\"\n   2# \"db\" => (integer) 3\n   3# \"qps\" => (double) 1\n",
    ];

    fn detected(content: &str) -> &'static str {
        let bytes = content.as_bytes();
        let format = detect(Head { bytes, whole: true });
        format.map_or("", Format::name)
    }

    #[test]
    fn redis_has_keys_by_cpu_time_and_by_traffic() {
        for content in REDIS {
            let found = read_whole(&Hotkeys, content.as_bytes());
            let keys: [&[u8]; 3] = [b"a\n", b"by-net-bytes", b"{t}:b"];
            assert_eq!(found.keys, keys, "{content}");
            let says = [
                (Extreme::CpuTime, 70),
                (Extreme::CpuTime, 5),
                (Extreme::Traffic, 300),
            ];
            assert_eq!(found.values.extremes, says, "{content}");
            assert_eq!(found.rejects, [], "{content}");
            assert_eq!(detected(content), "hotkeys", "{content}");
        }
    }

    #[test]
    fn valkey_has_keys_by_lookups() {
        for content in VALKEY {
            let found = read_whole(&Hotkeys, content.as_bytes());
            let keys: [&[u8]; 2] = [b"a\n", b"{t}:b"];
            assert_eq!(found.keys, keys, "{content}");
            let says = [(Extreme::Lookups, 13), (Extreme::Lookups, 1)];
            assert_eq!(found.values.extremes, says, "{content}");
            assert_eq!(found.values.number(Number::Database), [0, 3]);
            assert_eq!(detected(content), "hotkeys", "{content}");
        }
    }

    #[test]
    fn keys_and_tables_are_other_formats() {
        for (content, name) in [
            ("{\"key\":\"a\",\"size\":5}\n", "jsonl"),
            ("[{\"key\":\"a\",\"ops\":5}]\n", "jsonl"),
            ("[\"key\",\"b\"]", "redis-json"),
            ("1) \"key\"\n2) \"b\"\n", "numbered"),
        ] {
            assert_eq!(detected(content), name, "{content}");
        }
    }

    #[test]
    fn a_reply_that_is_cut_off_is_rejected_behind_its_keys() {
        for content in [REDIS[0], VALKEY[0]] {
            for cut in 1..content.len() {
                if !content.is_char_boundary(cut) {
                    continue;
                }
                let found = read_whole(&Hotkeys, &content.as_bytes()[..cut]);
                assert_eq!(found.rejects.len(), 1, "{cut}");
            }
        }
    }
}
