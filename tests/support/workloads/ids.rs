//! Workloads of keys that share an id of some kind: numbers, words, nanoids, e-mail addresses and others.

use super::workload::{Workload, change, uuid, word};
use crate::rng::Rng;
use crate::run::words;

/// A kind of id: its name, and the function that returns the id of a number.
pub type IdKind = (&'static str, fn(&mut Rng, usize) -> String);

/// All of them.
pub static ID_KINDS: [IdKind; 14] = [
    ("number", |_, i| (1000 + 7 * i).to_string()),
    ("hex", |rng, _| format!("{:016x}", rng.next())),
    ("uuid", |rng, _| uuid(rng)),
    ("mixed", |rng, _| {
        of_letters(rng, 12, b"abcdefghijkmnpqrstuvwxyz0123456789")
    }),
    ("nanoid", |rng, _| of_letters(rng, 21, BASE64URL)),
    ("base64url", |rng, _| of_letters(rng, 27, BASE64URL) + "="),
    ("e-mail", |rng, _| {
        let (name, host) = (word(rng, 5), word(rng, 4));
        format!("{name}.{}@{host}.example.com", word(rng, 3))
    }),
    ("slug", |rng, _| {
        let words: Vec<String> = (0..2 + rng.below(3)).map(|_| word(rng, 4)).collect();
        words.join("-")
    }),
    ("domain", |rng, _| {
        let name = word(rng, 6);
        format!("{}{name}.example", ["www.", "", "api.eu."][rng.below(3)])
    }),
    ("CamelCase", |rng, _| {
        capital(&word(rng, 4)) + &capital(&word(rng, 5))
    }),
    ("UPPER", |rng, _| word(rng, 6).to_uppercase()),
    ("date", |_, i| {
        let (year, month, day) = (2020 + i / 336, 1 + i / 28 % 12, 1 + i % 28);
        format!("{year}-{month:02}-{day:02}")
    }),
    ("script", |rng, _| {
        let first = *rng.pick(&['а', '一']);
        let letter = |rng: &mut Rng| char::from_u32(u32::from(first) + rng.below(32) as u32);
        (0..5).filter_map(|_| letter(rng)).collect()
    }),
    ("word", |rng, _| word(rng, 6)),
];

const BASE64URL: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Kinds of commands.
pub static COMMANDS: [&str; 4] = ["MGET", "MULTI", "EVALSHA", "EVALSHA with undeclared keys"];

fn of_letters(rng: &mut Rng, len: usize, letters: &[u8]) -> String {
    (0..len).map(|_| char::from(*rng.pick(letters))).collect()
}

fn capital(word: &str) -> String {
    word[..1].to_uppercase() + &word[1..]
}

/// Distinct ids of a kind.
pub fn ids(rng: &mut Rng, kind: &IdKind, count: usize) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    while ids.len() < count {
        let id = kind.1(rng, ids.len());
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    ids
}

/// Layouts of a key with an id and a delimiter: after an application, at the start, after the kind of thing.
const LAYOUTS: [fn(&str, &str) -> String; 4] = [
    |id, part| format!("shop:{id}:{part}"),
    |id, part| format!("{id}:{part}"),
    |id, part| format!("{part}:{id}"),
    |id, part| format!("shop/eu/{id}/{part}"),
];

/// Commands on keys that share one of `ids`, with this many parts.
pub fn sharing(rng: &mut Rng, ids: &[String], parts: usize, command: &str) -> Workload {
    let names = words("plan limits owner wait active meta events");
    let key = rng.pick(&LAYOUTS);
    let mut load = Workload::on(3, change(1.0, ids.len()));
    for at in 0..ids.len().max(150) {
        let id = &ids[at % ids.len()];
        let mut keys: Vec<String> = names[..parts].iter().map(|part| key(id, part)).collect();
        if command == "MULTI" && parts > 2 {
            keys.remove(rng.below(parts));
        }
        if command == COMMANDS[3] {
            keys.push(key(id, &(at * 3).to_string()));
        }
        load.batch(command != "MGET", keys);
    }
    let names = load.batches.iter().flat_map(|(_, keys)| keys.clone());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    load.names(names);
    load
}
