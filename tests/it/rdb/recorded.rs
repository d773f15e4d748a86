//! Files of servers built from source, recorded by tests/servers-from-source: each key is as its server described it.

use std::collections::BTreeMap;
use std::fs;

use testkit::rdb::found;
use testkit::rdb::most;
use testkit::run::root;

/// Sums by type and encoding: estimates, answers.
type Sums<'a> = BTreeMap<(&'a str, &'a str), (u64, u64)>;

#[test]
fn keys_are_as_the_server_said_of_them() {
    let mut folders = 0;
    for folder in fs::read_dir(root().join("tests/recorded")).unwrap() {
        let folder = folder.unwrap().path();
        folders += 1;
        let (keys, remarks, damage) = found(&fs::read(folder.join("dump.rdb")).unwrap());
        assert_eq!((remarks, damage), (vec![], None), "{folder:?}");
        let said = fs::read_to_string(folder.join("keys.tsv")).unwrap();
        let rows = said
            .lines()
            .skip(1)
            .map(|line| line.split('\t').collect::<Vec<_>>());
        let said: BTreeMap<&str, Vec<&str>> = rows.map(|cells| (cells[0], cells)).collect();
        assert_eq!(keys.len(), said.len(), "{folder:?}");
        let mut sums = Sums::new();
        for key in &keys {
            let name = std::str::from_utf8(&key.key.0).unwrap();
            let row = &said[name];
            let number = |at: usize| row[at].parse::<i64>().unwrap();
            assert_eq!([&key.type_name, key.encoding], [row[1], row[2]], "{name}");
            assert_eq!(key.elements, Some(number(3) as u64), "{name}");
            assert_eq!(key.expires_ms.unwrap_or(-1), number(5), "{name}");
            assert_eq!(key.lfu, Some(number(6) as u8), "{name}");
            let sum = sums.entry((row[1], row[2])).or_default();
            (sum.0, sum.1) = (sum.0 + key.memory.unwrap(), sum.1 + number(4) as u64);
        }
        for ((type_name, encoding), (estimated, said)) in sums {
            let off = 100.0 * (estimated as f64 / said as f64 - 1.0);
            let is_near = off.abs() <= most(type_name, encoding);
            assert!(is_near, "{type_name} {encoding}: {off:+.2}%");
        }
    }
    assert!(folders > 0);
}
