//! Memory estimates compared with each server's replies to MEMORY USAGE, by the limits in docs/formats.md.

use std::collections::BTreeSet;

use crate::rdb::asked::{say, usage};
use crate::rdb::{Short, fill, start};
use slotscope::format::rdb::snapshot::allocator::Allocator;
use testkit::kinds::{Kind, jemalloc};
use testkit::prelude::*;
use testkit::rdb::{Found, found_with};
use testkit::redis::Server;

/// Servers whose allocator is known, which excludes Valkey 9.0. The last one is measured if given.
const MEASURED: [Kind; 5] = [
    Kind::Installed,
    Kind::Redis74,
    Kind::Redis82,
    Kind::Valkey91,
    Kind::Given,
];

/// The manual's table: the largest error of the estimate for a key, by type, encoding and elements, for each of
/// `MEASURED` in each state. For other keys, estimate and reply are equal.
struct Manual(Vec<(String, [Limits; 5])>);

/// Limits as fractions: after a restart, and while the server runs.
type Limits = [f64; 2];

/// The row for the sum over all keys.
const IN_ALL: &str = "all keys together";

impl Manual {
    fn read() -> Manual {
        let text = Scratch::new().read(root().join("docs/formats.md"));
        let lines = text.lines();
        let rows = lines.skip_while(|line| !line.starts_with("| type, encoding | Redis 7.0"));
        let limits = |cell: &str| {
            let numbers = cell
                .split(['%', '(', ' '])
                .filter_map(|word| word.parse().ok());
            let numbers: Vec<f64> = numbers.map(|percent: f64| percent / 100.0).collect();
            <[f64; 2]>::try_from(numbers).unwrap_or_default()
        };
        let row = |line: &str| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            (
                cells[1].to_owned(),
                [2, 3, 4, 5, 6].map(|at| limits(cells[at])),
            )
        };
        let rows: Vec<_> = rows
            .skip(2)
            .take_while(|line| line.starts_with('|'))
            .map(row)
            .collect();
        assert!(rows.len() > 5 && rows.iter().any(|row| row.0 == IN_ALL));
        Manual(rows)
    }

    /// The limit for keys of these names with this many elements.
    fn limit(&self, name: &str, elements: u64, kind: Kind, state: State) -> f64 {
        let is_it = |row: &str| match row.strip_prefix(name) {
            Some("") => true,
            Some(rest) => {
                let most = rest.split(' ').find_map(|word| word.parse::<u64>().ok());
                most.is_some_and(|most| elements <= most)
            }
            None => false,
        };
        let kind = MEASURED.iter().position(|of| *of == kind).unwrap();
        let row = self.0.iter().find(|(row, _)| is_it(row));
        row.map_or(0.0, |(_, limits)| limits[kind][state as usize])
    }

    /// The largest limit of all servers, in percent: for all keys together, or for one.
    fn worst(&self, is_of_all: bool, state: State) -> f64 {
        let rows = self
            .0
            .iter()
            .filter(|(name, _)| (name == IN_ALL) == is_of_all);
        let limits = rows.flat_map(|(_, limits)| limits.map(|of| 100.0 * of[state as usize]));
        limits.fold(0.0, f64::max)
    }
}

/// Maximum error of the sum of a type's estimates after a restart, in percent, if the sum is large enough.
const MOST_OF_TYPE: f64 = 2.0;

/// The last block of a growing stream has this many bytes, whatever its content.
const STREAM_BLOCK: u64 = 4096;

/// Maximum slack of a glibc block, in bytes, and as a fraction of many blocks.
const SPARE: (u64, f64) = (16, 0.01);
/// The moment at which estimates are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Restarted,
    Running,
}

/// Whether an estimate is as close to the reply as the manual says.
fn is_close(manual: &Manual, kind: Kind, state: State, key: &Found, said: u64) -> bool {
    let (estimated, elements) = (key.memory.unwrap(), key.elements.unwrap_or(0));
    let name = format!("{} {}", key.type_name, key.encoding);
    let share = manual.limit(&name, elements, kind, state);
    let blocks = match key.encoding {
        "hashtable" | "skiplist" => 2 * elements,
        _ => 2,
    };
    let is_glibc = kind.is_valkey() && jemalloc().is_none();
    let spare = (SPARE.0 * blocks).max((SPARE.1 * said as f64) as u64);
    let spare = if is_glibc { spare } else { 0 };
    let room = match (&*key.type_name, state) {
        ("stream", State::Running) => STREAM_BLOCK,
        _ => 0,
    };
    estimated.abs_diff(said) <= (share * said as f64) as u64 + spare + room
}
/// The difference between the sums of estimates and replies, relative to the replies, and the sum of the replies.
fn off<'a>(keys: impl Iterator<Item = &'a (Found, u64)>) -> (f64, u64) {
    let sum = |(estimated, said): (u64, u64), (key, usage): &(Found, u64)| {
        (estimated + key.memory.unwrap(), said + usage)
    };
    let (estimated, said) = keys.fold((0, 0), sum);
    (estimated as f64 / said as f64 - 1.0, said)
}

const ALLOCATORS: &[Allocator] = &[
    Allocator::Jemalloc,
    Allocator::SystemJemalloc,
    Allocator::Libc,
];

/// The keys of a server in its present state, with estimates and replies.
pub(super) fn measured(server: &Server, kind: Kind) -> Vec<(Found, u64)> {
    let bytes = server.saved();
    let usage = usage(&mut server.connect());
    // A server's replies do not reveal its version of jemalloc.
    let allocators: &[Allocator] = match kind {
        Kind::Installed | Kind::Valkey90 => ALLOCATORS,
        Kind::Redis74 | Kind::Redis82 | Kind::Given => &[Allocator::Jemalloc],
        _ if jemalloc().is_some() => &[Allocator::SystemJemalloc],
        _ => &[Allocator::Libc],
    };
    let with = |allocator: &Allocator| -> Vec<(Found, u64)> {
        let keys = found_with(&bytes, *allocator).0;
        assert_eq!(keys.len(), usage.len());
        let known = keys.into_iter().filter(|key| key.memory.is_some());
        known.map(|key| (key.clone(), usage[&key.key])).collect()
    };
    let is_exact = |(key, said): &&(Found, u64)| key.memory == Some(*said);
    let exact = |keys: &Vec<(Found, u64)>| keys.iter().filter(is_exact).count();
    allocators.iter().map(with).max_by_key(exact).unwrap()
}

#[test]
fn estimates_are_as_close_to_the_servers_answers_as_the_manual_says() {
    let manual = Manual::read();
    for kind in MEASURED {
        if kind == Kind::Given && !Kind::given().is_some_and(Kind::has_arrays) {
            println!("not run: REDIS_SERVER names no Redis");
            continue;
        }
        let server = start(kind);
        let client = &mut server.connect();
        let version = server.info("redis_version:").unwrap();
        if kind == Kind::Installed && !version.starts_with("7.0.") && !version.starts_with("7.2.") {
            println!("not run: of the installed servers 7.0 and 7.2 are measured");
            continue;
        }
        fill::fill(client, kind);
        for state in [State::Running, State::Restarted] {
            println!("{kind:?}, {state:?}:");
            if state == State::Restarted {
                say(client, "DEBUG RELOAD");
            }
            let keys = measured(&server, kind);
            let of = |key: &Found| (key.type_name.clone(), key.encoding);
            let types: BTreeSet<_> = keys.iter().map(|(key, _)| of(key)).collect();
            for name in types {
                let (error, said) = off(keys.iter().filter(|(key, _)| of(key) == name));
                println!("{name:?}, in all {:+.2}%", 100.0 * error);
                let is_large = state == State::Restarted && said >= 100_000;
                assert!(!is_large || 100.0 * error.abs() <= MOST_OF_TYPE);
            }
            let (error, _) = off(keys.iter());
            println!("in all {:+.2}%", 100.0 * error);
            let is_far = |(key, said): &&(Found, u64)| !is_close(&manual, kind, state, key, *said);
            let far = keys.iter().filter(is_far);
            let far = far.map(|(key, said)| format!("{:?}, not {said}", Short(key)));
            assert_eq!(far.collect::<Vec<_>>(), [""; 0]);
            assert!(error.abs() <= manual.limit(IN_ALL, 0, kind, state));
        }
        // The report on a server's file states the largest errors of all servers that were measured.
        let path = server.folder().join("dump.rdb");
        let report = Scratch::new().report(&format!("analyze {} --json", path.display()));
        report["input"]["notes"].to_string().says(&format!(
            "all keys together were off by at most {}%, and one by {}%; before it, where tables grow, by {} and {}%",
            manual.worst(true, State::Restarted),
            manual.worst(false, State::Restarted),
            manual.worst(true, State::Running),
            manual.worst(false, State::Running)
        ));
    }
}
