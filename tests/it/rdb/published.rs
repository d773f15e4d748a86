//! RDB files published by others with lists of their content: `SLOTSCOPE_RDB_SAMPLES` names a folder with them, with
//! `EXPECTED.tsv`, one line per key, and `FILES.tsv`, one line per file; run with `--ignored`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use slotscope::format::Notice;
use slotscope::name::Name;
use slotscope::slot;
use testkit::rdb::{Found, found};

/// The rows of a table, grouped by file.
fn rows(table: &str) -> BTreeMap<String, Vec<Vec<String>>> {
    let mut by_file: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for line in table.lines().skip(1) {
        let mut cells = line.split('\t').map(String::from);
        let file = cells.next().unwrap();
        by_file.entry(file).or_default().push(cells.collect());
    }
    by_file
}

/// A key from a row of EXPECTED.tsv: db, key, type number, type, elements, expiry, LFU, idle, bytes.
fn expected(row: &[String]) -> Found {
    let number = |cell: &String| cell.parse().ok();
    let type_name = row[3].strip_prefix("module:").unwrap_or(&row[3]);
    Found {
        database: row[0].parse().unwrap(),
        key: Name::parse(&row[1]).unwrap(),
        type_name: type_name.to_owned(),
        encoding: "",
        // For modules the list only says that each is one.
        elements: number(&row[4]).filter(|_| type_name == row[3]),
        expires_ms: row[5].parse().ok(),
        lfu: row[6].parse().ok(),
        idle_secs: number(&row[7]),
        bytes: row[8].parse().unwrap(),
        memory: None,
        is_damaged: false,
    }
}

/// Number of keys of each type, from a list of type numbers with optional counts: `0x54,2x3`.
fn types_listed(list: &str) -> BTreeMap<&str, usize> {
    let mut types = BTreeMap::new();
    for (number, count) in list.split(',').filter_map(|item| item.split_once('x')) {
        let name = match number.parse().unwrap() {
            0 => "string",
            1 | 10 | 14 | 18 => "list",
            2 | 11 | 20 => "set",
            3 | 5 | 12 | 17 => "zset",
            4 | 9 | 13 | 16 | 22..=25 => "hash",
            15 | 19 | 21 | 26 | 27 => "stream",
            28 => "array",
            _ => "module",
        };
        *types.entry(name).or_default() += count.parse::<usize>().unwrap();
    }
    types
}

fn types_found(keys: &[Found]) -> BTreeMap<&str, usize> {
    const KNOWN: [&str; 7] = ["string", "list", "set", "zset", "hash", "stream", "array"];
    keys.iter().fold(BTreeMap::new(), |mut types, key| {
        let name = KNOWN.into_iter().find(|known| *known == key.type_name);
        *types.entry(name.unwrap_or("module")).or_default() += 1;
        types
    })
}

#[test]
#[ignore = "needs the folder that SLOTSCOPE_RDB_SAMPLES names"]
fn published_files_hold_the_keys_that_are_listed() {
    let folder = std::env::var_os("SLOTSCOPE_RDB_SAMPLES");
    let folder = PathBuf::from(folder.expect("SLOTSCOPE_RDB_SAMPLES names a folder"));
    let table = |name: &str| rows(&std::fs::read_to_string(folder.join(name)).unwrap());
    let (keys, files) = (table("EXPECTED.tsv"), table("FILES.tsv"));
    let mut compared = 0;
    for (name, file) in &files {
        let Ok(bytes) = std::fs::read(folder.join(name)) else {
            eprintln!("not there: {name}");
            continue;
        };
        let (mut found, remarks, damage) = found(&bytes);
        let [_, _, walk, count, types, _, checksum, behind, note] = &file[0][..] else {
            panic!("{name}: {file:?}");
        };
        let has = |notice| remarks.iter().any(|remark| remark.notice == notice);
        match (walk.as_str(), checksum.as_str()) {
            // An unknown type: the list has its offset, or that of the value after it.
            ("error", _) if note.contains("type ") => {
                let (at, what) = damage.expect(name);
                let numbers = note.split(|c: char| !c.is_ascii_digit());
                let numbers: Vec<u64> = numbers.filter_map(|text| text.parse().ok()).collect();
                assert!(
                    what.contains(&format!("type or opcode, {};", numbers[0])),
                    "{name}: {what}"
                );
                assert!((at..at + 6).contains(&numbers[1]), "{name}: {at}");
            }
            ("error", _) => assert!(found.iter().any(|key| key.is_damaged), "{name}"),
            (_, "BAD") => assert!(damage.unwrap().1.contains("the checksum is"), "{name}"),
            (_, checksum) => {
                assert_eq!(damage, None, "{name}");
                assert_eq!(has(Notice::Unverified), checksum != "ok", "{name}");
                let is_known_tail = ["0", "40"].contains(&behind.as_str());
                assert!(is_known_tail && !has(Notice::Behind), "{name}");
            }
        }
        if walk == "ok" {
            assert_eq!(found.len().to_string(), *count, "{name}");
            assert_eq!(types_found(&found), types_listed(types), "{name}");
        }
        if let Some(headers) = note.strip_suffix(" slot headers") {
            let slots: BTreeSet<u16> = found.iter().map(|key| slot(&key.key.0)).collect();
            assert_eq!(slots.len().to_string(), headers, "{name}");
        }
        let Some(listed) = keys.get(name) else {
            continue;
        };
        found
            .iter_mut()
            .for_each(|key| (key.encoding, key.memory) = ("", None));
        let listed: Vec<_> = listed.iter().map(|row| expected(row)).collect();
        assert_eq!(found, listed, "{name}");
        compared += listed.len();
    }
    println!("{compared} keys of {} files", files.len());
    assert!(compared > 0);
}
