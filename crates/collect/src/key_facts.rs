//! Attributes of keys from a server: type, expiry, encoding, heat, length, memory. Requested in pipelines, a page at a
//! time.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use slotscope_base::error::Result;

use crate::clock::now_ms;
use crate::connection::Connection;
use crate::resp::{Commands, Reply};

/// MEMORY USAGE samples values with more elements.
pub(crate) const EXACT_ELEMENTS: u64 = 1024;
/// Elements sampled then.
pub(crate) const SAMPLES: u64 = 64;
/// Maximum elements that one pipeline makes the server visit.
const ELEMENTS_AT_ONCE: u64 = 16 * EXACT_ELEMENTS;
/// How often a key is reread if its type changes meanwhile.
const TRIES: usize = 3;
/// How long to wait for a cluster that is down, and the polling interval.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(200);

/// How the use of a key is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heat {
    /// OBJECT FREQ.
    Frequency,
    /// OBJECT IDLETIME.
    Idle,
    /// Not requested: a replica counts its own reads, not those of clients.
    Unasked,
}

/// The attributes to request.
#[derive(Debug)]
pub(crate) struct Questions {
    heat: Heat,
    /// Why memory is no longer requested.
    pub without_memory: Option<&'static str>,
}

impl Questions {
    /// All attributes, with use measured by `heat`.
    pub(crate) fn new(heat: Heat) -> Self {
        Questions {
            heat,
            without_memory: None,
        }
    }
}

/// Why there are no sizes: the user lacks permission, or the server does not know the command.
const NO_RIGHT: &str = "sizes: MEMORY USAGE is refused to this user; slotscope collect --acl prints the rights that are \
    needed, and --keys collects names alone";
const NOT_KNOWN: &str = "sizes: the server does not know MEMORY USAGE, which may be renamed; --keys collects names alone, and \
    faster";

/// The known attributes of a key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct KeyFacts {
    /// The reply to TYPE.
    pub kind: String,
    /// The reply to OBJECT ENCODING.
    pub encoding: Option<String>,
    /// The number of elements.
    pub elements: Option<u64>,
    /// The reply to MEMORY USAGE.
    pub memory: Option<u64>,
    /// The expiry time, in milliseconds since 1970.
    pub expires_ms: Option<i64>,
    /// Its LFU counter.
    pub lfu: Option<u64>,
    /// Idle time in seconds.
    pub idle_secs: Option<u64>,
}

/// The fate of a key meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It exists.
    Known(KeyFacts),
    /// It is gone.
    Vanished,
    /// It is on another node, or its slot is migrating there.
    Elsewhere,
    /// Its type changed while it was read.
    Changed,
    /// The cluster is down: keys are refused because some slots have no primary.
    Down,
}

/// The fates of the keys, in order. During a failover the other primaries refuse too, which is waited for, unless there
/// is an `outage` without a replica that could end it: keys then stay `Down`.
///
/// # Errors
/// The server does not answer, or refuses.
pub(crate) fn ask(
    connection: &mut Connection,
    keys: &[Vec<u8>],
    questions: &mut Questions,
    outage: &AtomicBool,
) -> Result<Vec<Fate>> {
    let mut fates = ask_once(connection, keys, questions)?;
    let (start, mut tries) = (Instant::now(), 1);
    loop {
        let is_down = fates.contains(&Fate::Down);
        if is_down && (outage.load(Relaxed) || start.elapsed() > PATIENCE) {
            return Ok(fates);
        }
        let is_open =
            |fate: &Fate| *fate == Fate::Down || (*fate == Fate::Changed && tries < TRIES);
        let open: Vec<usize> = (0..keys.len()).filter(|at| is_open(&fates[*at])).collect();
        if open.is_empty() {
            return Ok(fates);
        }
        thread::sleep(if is_down { LOOK } else { Duration::ZERO });
        let again: Vec<Vec<u8>> = open.iter().map(|at| keys[*at].clone()).collect();
        let new = ask_once(connection, &again, questions)?;
        open.into_iter()
            .zip(new)
            .for_each(|(at, fate)| fates[at] = fate);
        tries += usize::from(!is_down);
    }
}

fn ask_once(
    connection: &mut Connection,
    keys: &[Vec<u8>],
    questions: &mut Questions,
) -> Result<Vec<Fate>> {
    let mut fates = ask_basics(connection, keys, questions.heat)?;
    ask_lengths(connection, keys, &mut fates, questions)?;
    ask_memory_of_large(connection, keys, &mut fates, questions)?;
    Ok(fates)
}

/// Requests type, expiry, encoding and heat, which reads do not change.
fn ask_basics(connection: &mut Connection, keys: &[Vec<u8>], heat: Heat) -> Result<Vec<Fate>> {
    let mut commands = Commands::default();
    for key in keys {
        commands.add("TYPE", &[b"TYPE", key]);
        commands.add("PTTL", &[b"PTTL", key]);
        commands.add("OBJECT ENCODING", &[b"OBJECT", b"ENCODING", key]);
        match heat {
            Heat::Frequency => commands.add("OBJECT FREQ", &[b"OBJECT", b"FREQ", key]),
            Heat::Idle => commands.add("OBJECT IDLETIME", &[b"OBJECT", b"IDLETIME", key]),
            Heat::Unasked => {}
        }
    }
    let now_ms = now_ms();
    let replies = connection.pipeline(&commands)?;
    let of_a_key = if heat == Heat::Unasked { 3 } else { 4 };
    let fate = |replies: &[Reply]| {
        for (reply, name) in replies.iter().zip(commands.names()) {
            if let Some(fate) = refusal(connection, name, reply)? {
                return Ok(fate);
            }
        }
        let [Reply::Text(kind), Reply::Int(ttl), encoding, ..] = replies else {
            return Err(connection.odd("TYPE and PTTL"));
        };
        if kind == b"none" || *ttl == -2 {
            return Ok(Fate::Vanished);
        }
        let kind = String::from_utf8_lossy(kind).into_owned();
        let is_text = kind == "string";
        let is_known = is_text || length_command(&kind).is_some();
        let used = replies.get(3).and_then(Reply::number);
        Ok(Fate::Known(KeyFacts {
            kind,
            encoding: text(encoding).filter(|_| is_known),
            // As in RDB files, a string is one element.
            elements: is_text.then_some(1),
            expires_ms: (*ttl >= 0).then(|| now_ms.saturating_add(*ttl)),
            lfu: used.filter(|_| heat == Heat::Frequency),
            idle_secs: used.filter(|_| heat == Heat::Idle),
            ..KeyFacts::default()
        }))
    };
    replies.chunks(of_a_key).map(fate).collect()
}

/// Requests lengths, and memory unless it depends on them.
fn ask_lengths(
    connection: &mut Connection,
    keys: &[Vec<u8>],
    fates: &mut [Fate],
    questions: &mut Questions,
) -> Result<()> {
    let mut commands = Commands::default();
    let mut targets = Vec::new();
    for (at, (key, fate)) in keys.iter().zip(fates.iter()).enumerate() {
        let Fate::Known(facts) = fate else {
            continue;
        };
        if let Some(length) = length_command(&facts.kind) {
            commands.add(length, &[length.as_bytes(), key]);
            targets.push((at, false));
        }
        if !is_large_by_length(facts) && questions.without_memory.is_none() {
            commands.add("MEMORY USAGE", &[b"MEMORY", b"USAGE", key]);
            targets.push((at, true));
        }
    }
    take(connection, &commands, &targets, fates, questions)
}

/// Requests the memory of values with tables, trees and lists: exact up to this many elements.
fn ask_memory_of_large(
    connection: &mut Connection,
    keys: &[Vec<u8>],
    fates: &mut [Fate],
    questions: &mut Questions,
) -> Result<()> {
    if questions.without_memory.is_some() {
        return Ok(());
    }
    let mut commands = Commands::default();
    let (mut targets, mut elements) = (Vec::new(), 0);
    for (at, key) in keys.iter().enumerate() {
        let Fate::Known(facts) = &fates[at] else {
            continue;
        };
        if !is_large_by_length(facts) {
            continue;
        }
        let length = facts.elements.unwrap_or(u64::MAX);
        let most = if length <= EXACT_ELEMENTS { 0 } else { SAMPLES };
        let samples = most.to_string();
        let words: [&[u8]; 5] = [b"MEMORY", b"USAGE", key, b"SAMPLES", samples.as_bytes()];
        commands.add("MEMORY USAGE", &words);
        targets.push((at, true));
        elements += length.min(EXACT_ELEMENTS);
        if elements >= ELEMENTS_AT_ONCE {
            take(connection, &commands, &targets, fates, questions)?;
            (commands, targets, elements) = (Commands::default(), Vec::new(), 0);
        }
    }
    take(connection, &commands, &targets, fates, questions)
}

/// Stores the replies; `asked` has the key of each, and whether it is memory or length.
fn take(
    connection: &mut Connection,
    commands: &Commands,
    targets: &[(usize, bool)],
    fates: &mut [Fate],
    questions: &mut Questions,
) -> Result<()> {
    if targets.is_empty() {
        return Ok(());
    }
    let replies = connection.pipeline(commands)?;
    for (((at, is_memory), reply), name) in targets.iter().zip(&replies).zip(commands.names()) {
        if let (true, Reply::Error(refusal)) = (*is_memory, reply)
            && let Some(why) = without_memory(refusal)
        {
            questions.without_memory = Some(why);
            continue;
        }
        if let Some(fate) = refusal(connection, name, reply)? {
            fates[*at] = fate;
            continue;
        }
        let Fate::Known(facts) = &mut fates[*at] else {
            continue;
        };
        match (is_memory, reply) {
            (true, Reply::Nil) => fates[*at] = Fate::Vanished,
            (true, reply) => facts.memory = reply.number(),
            (false, reply) => facts.elements = reply.number(),
        }
    }
    Ok(())
}

/// The fate of a key by the error in a reply; `None` if there is no error, or only this attribute is unavailable.
fn refusal(connection: &Connection, name: &str, reply: &Reply) -> Result<Option<Fate>> {
    let Reply::Error(text) = reply else {
        return Ok(None);
    };
    match text.split(' ').next().unwrap_or_default() {
        "MOVED" | "ASK" | "TRYAGAIN" => Ok(Some(Fate::Elsewhere)),
        "CLUSTERDOWN" => Ok(Some(Fate::Down)),
        "WRONGTYPE" => Ok(Some(Fate::Changed)),
        // The key is gone, its encoding or the eviction policy lacks this attribute, or a module lacks this method.
        "ERR" if !matches!(name, "TYPE" | "PTTL") => Ok(None),
        _ => Err(connection.refused(name, text)),
    }
}

/// Why a server never answers MEMORY USAGE; `None` if its error concerns one key.
fn without_memory(refusal: &str) -> Option<&'static str> {
    let lower = refusal.to_ascii_lowercase();
    if refusal.starts_with("NOPERM") {
        Some(NO_RIGHT)
    } else if lower.contains("unknown command") || lower.contains("unknown subcommand") {
        Some(NOT_KNOWN)
    } else {
        None
    }
}

/// The command for the number of elements of a type; `None` for strings and module types.
fn length_command(kind: &str) -> Option<&'static str> {
    match kind {
        "list" => Some("LLEN"),
        "set" => Some("SCARD"),
        "hash" => Some("HLEN"),
        "zset" => Some("ZCARD"),
        "stream" => Some("XLEN"),
        "array" => Some("ARCOUNT"),
        "vectorset" => Some("VCARD"),
        _ => None,
    }
}

/// Whether MEMORY USAGE samples the value's elements; packed values and strings are measured exactly.
fn is_large_by_length(facts: &KeyFacts) -> bool {
    let packed = [
        "listpack",
        "ziplist",
        "intset",
        "zipmap",
        "listpackex",
        // Arrays track their bytes, and vector sets sample a few names.
        "sliced-array",
        "raw",
    ];
    let is_packed = facts
        .encoding
        .as_deref()
        .is_some_and(|encoding| packed.contains(&encoding));
    !is_packed && length_command(&facts.kind).is_some()
}

fn text(reply: &Reply) -> Option<String> {
    Some(String::from_utf8_lossy(reply.text()?).into_owned())
}
