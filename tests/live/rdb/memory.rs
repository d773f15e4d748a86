//! Memory estimates compared with each server's replies to MEMORY USAGE.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::rdb::asked::{saved, say, usage};
use crate::rdb::{Short, fill, start};
use slotscope::format::rdb::snapshot::allocator::Allocator;
use testkit::kinds::{Kind, jemalloc};
use testkit::rdb::{Found, found_with};
use testkit::redis::Server;
use testkit::run::{Scratch, report};

/// Servers whose allocator is known, which excludes Valkey 9.0. The last one is measured if given.
const MEASURED: [Kind; 5] = [
    Kind::Installed,
    Kind::Redis74,
    Kind::Redis82,
    Kind::Valkey91,
    Kind::Given,
];

/// Limits in percent for each of `MEASURED`: after a restart, and while the server runs.
type Limits = [(f64, f64); 5];

/// The limits for a kind.
fn of_kind(limits: Limits, kind: Kind) -> (f64, f64) {
    let mut measured = MEASURED.iter();
    limits[measured.position(|of| *of == kind).unwrap()]
}

/// Maximum error of an estimate for a key by type, encoding and number of elements. The manual has this table; for
/// other keys it says that estimate and reply are equal.
const MOST: [(&str, &str, RangeInclusive<u64>, Limits); 8] = [
    ("string", "raw", ANY, [(0.0, 50.0); 5]),
    (
        "set",
        "hashtable",
        ANY,
        [
            (0.0, 20.0),
            (0.0, 20.0),
            (0.0, 20.0),
            (12.0, 20.0),
            (0.0, 20.0),
        ],
    ),
    (
        "hash",
        "hashtable",
        ANY,
        [
            (6.0, 15.0),
            (10.0, 15.0),
            (10.0, 15.0),
            (15.0, 20.0),
            (10.0, 15.0),
        ],
    ),
    (
        "stream",
        "stream",
        ANY,
        [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (5.0, 5.0)],
    ),
    (
        "array",
        "sliced-array",
        ANY,
        [NONE, NONE, NONE, NONE, (0.0, 50.0)],
    ),
    (
        "vectorset",
        "raw",
        ANY,
        [NONE, NONE, (3.0, 5.0), NONE, (3.0, 5.0)],
    ),
    // Once in a million, an element has ten levels more than the mean, which few others cannot average out.
    ("zset", "skiplist", 0..=FEW, [(30.0, 30.0); 5]),
    (
        "zset",
        "skiplist",
        FEW + 1..=u64::MAX,
        [
            (10.0, 15.0),
            (10.0, 15.0),
            (10.0, 15.0),
            (10.0, 20.0),
            (10.0, 15.0),
        ],
    ),
];

/// For types that the server does not have.
const NONE: (f64, f64) = (0.0, 0.0);

/// Any number of elements.
const ANY: RangeInclusive<u64> = 0..=u64::MAX;

/// The elements of a sorted set that fit in a list if all are short.
const FEW: u64 = 128;

/// Like `MOST`, for all keys together.
const MOST_IN_ALL: Limits = [(0.5, 5.0), (1.0, 5.0), (1.0, 5.0), (1.0, 5.0), (1.0, 5.0)];

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

/// The limit for this state in a pair, as a fraction.
fn limit((restarted, running): (f64, f64), state: State) -> f64 {
    match state {
        State::Restarted => restarted / 100.0,
        State::Running => running / 100.0,
    }
}

/// Whether an estimate is as close to the reply as the manual says.
fn is_close(kind: Kind, state: State, key: &Found, said: u64) -> bool {
    let estimated = key.memory.unwrap();
    let mut most = MOST.iter();
    let most = most.find(|(type_name, encoding, elements, _)| {
        (key.type_name.as_str(), key.encoding) == (type_name, encoding)
            && elements.contains(&key.elements.unwrap_or(0))
    });
    let share = most.map_or(0.0, |(.., limits)| limit(of_kind(*limits, kind), state));
    let blocks = match key.encoding {
        "hashtable" | "skiplist" => 2 * key.elements.unwrap(),
        _ => 2,
    };
    let spare = match kind {
        kind if kind.is_valkey() && jemalloc().is_none() => {
            (SPARE.0 * blocks).max((SPARE.1 * said as f64) as u64)
        }
        _ => 0,
    };
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

/// The keys of a server in its present state, with estimates and replies.
pub(super) fn measured(server: &Server, kind: Kind) -> Vec<(Found, u64)> {
    let client = &mut server.connect();
    let bytes = saved(server, client);
    let usage = usage(client);
    // A server's replies do not reveal its version of jemalloc.
    let allocators: &[Allocator] = match kind {
        Kind::Installed | Kind::Valkey90 => &[
            Allocator::Jemalloc,
            Allocator::SystemJemalloc,
            Allocator::Libc,
        ],
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
    let exact = |keys: &Vec<(Found, u64)>| {
        keys.iter()
            .filter(|(key, said)| key.memory == Some(*said))
            .count()
    };
    allocators.iter().map(with).max_by_key(exact).unwrap()
}

#[test]
fn estimates_are_as_close_to_the_servers_answers_as_the_manual_says() {
    for kind in MEASURED {
        if kind == Kind::Given && !Kind::given().is_some_and(Kind::has_arrays) {
            println!("not run: REDIS_SERVER names no Redis");
            continue;
        }
        let server = start(kind);
        let client = &mut server.connect();
        let version = say(client, "INFO server").text();
        let is_seven = ["7.0.", "7.2."]
            .iter()
            .any(|v| version.contains(&format!("redis_version:{v}")));
        if kind == Kind::Installed && !is_seven {
            println!("not run: of the installed servers 7.0 and 7.2 are measured");
            continue;
        }
        fill::fill(client, kind);
        for state in [State::Running, State::Restarted] {
            if state == State::Restarted {
                say(client, "DEBUG RELOAD");
            }
            let keys = measured(&server, kind);
            let types: BTreeSet<_> = keys
                .iter()
                .map(|(key, _)| (&key.type_name, key.encoding))
                .collect();
            for of in types {
                let of_type = keys
                    .iter()
                    .filter(|(key, _)| (&key.type_name, key.encoding) == of);
                let (error, said) = off(of_type);
                println!("{kind:?}, {state:?}: {of:?}, in all {:+.2}%", 100.0 * error);
                let is_large = state == State::Restarted && said >= 100_000;
                assert!(
                    !is_large || 100.0 * error.abs() <= MOST_OF_TYPE,
                    "{kind:?}: {of:?}"
                );
            }
            let (error, _) = off(keys.iter());
            println!("{kind:?}, {state:?}: in all {:+.2}%", 100.0 * error);
            let far = keys
                .iter()
                .filter(|(key, said)| !is_close(kind, state, key, *said));
            let far: Vec<_> = far
                .map(|(key, said)| format!("{:?}, not {said}", Short(key)))
                .collect();
            assert!(far.is_empty(), "{kind:?}, {state:?}: {far:#?}");
            report_names_errors(kind, &server);
            assert!(
                error.abs() <= limit(of_kind(MOST_IN_ALL, kind), state),
                "{kind:?}"
            );
        }
    }
}

/// Checks that the report on a server's file states the error of its estimates.
fn report_names_errors(kind: Kind, server: &Server) {
    let path = server.folder().join("dump.rdb");
    let output = Scratch::new().run(&["analyze", path.to_str().unwrap(), "--json"]);
    let notes = report(&output)["input"]["notes"].to_string();
    // One note names the largest errors of all servers that were measured.
    let worst = |limits: Vec<(f64, f64)>, state| {
        let errors = limits
            .into_iter()
            .map(|of_kind| 100.0 * limit(of_kind, state));
        errors.fold(0.0, f64::max)
    };
    let of_one = || MOST.iter().flat_map(|(.., limits)| *limits).collect();
    let of_all = || MOST_IN_ALL.to_vec();
    let words = format!(
        "all keys together were off by at most {}%, and one by {}%; before it, where tables grow, by {} and {}%",
        worst(of_all(), State::Restarted),
        worst(of_one(), State::Restarted),
        worst(of_all(), State::Running),
        worst(of_one(), State::Running)
    );
    assert!(notes.contains(&words), "{kind:?}: {notes}");
}

#[test]
fn the_manual_has_the_limits_that_are_tested() {
    let manual = std::fs::read_to_string("docs/formats.md").unwrap();
    let cells = |limits: Limits| {
        limits
            .map(|limits| match limits {
                NONE => String::new(),
                (restarted, running) => format!("{restarted}% ({running}%) "),
            })
            .join("| ")
    };
    let rows = MOST.iter().map(|(type_name, encoding, elements, limits)| {
        let of = match (elements.start(), elements.end()) {
            (_, &u64::MAX) => String::new(),
            (_, most) => format!(" of up to {most} elements"),
        };
        (format!("{type_name} {encoding}{of}"), *limits)
    });
    for (name, limits) in rows.chain([("all keys together".to_owned(), MOST_IN_ALL)]) {
        let row = format!("| {name} | {}|", cells(limits));
        assert!(manual.contains(&row), "docs/formats.md has no row {row}");
    }
}
