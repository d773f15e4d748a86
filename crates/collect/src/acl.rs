//! The permissions a collection needs, as an ACL line. Servers refuse a line with any unknown word, so the line depends
//! on the version.

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;

/// A server version: major and minor.
type Version = (u16, u16);

/// No version of that server knows the word.
const NEVER: Version = (u16::MAX, 0);
/// Every version with ACLs knows it: Redis has them since 6.0, and Valkey started at 7.2.
const ALWAYS: Version = (6, 0);

/// The permissions, each with the first Redis and Valkey version that knows it.
const RIGHTS: &[(&str, Version, Version)] = &[
    ("resetchannels", (6, 2), ALWAYS),
    // Read-only access to keys, if supported.
    ("%R~*", (7, 0), ALWAYS),
    ("+info", ALWAYS, ALWAYS),
    ("+select", ALWAYS, ALWAYS),
    ("+readonly", ALWAYS, ALWAYS),
    ("+client|setname", ALWAYS, ALWAYS),
    ("+client|no-touch", (7, 2), ALWAYS),
    ("+cluster|shards", (7, 0), ALWAYS),
    ("+cluster|slots", ALWAYS, ALWAYS),
    ("+cluster|nodes", ALWAYS, ALWAYS),
    ("+cluster|info", ALWAYS, ALWAYS),
    ("+cluster|countkeysinslot", ALWAYS, ALWAYS),
    ("+cluster|getkeysinslot", ALWAYS, ALWAYS),
    ("+cluster|slot-stats", (8, 2), (8, 0)),
    ("+hotkeys", (8, 6), NEVER),
    ("+slowlog|get", ALWAYS, ALWAYS),
    ("+commandlog|get", NEVER, (8, 1)),
    ("+dbsize", ALWAYS, ALWAYS),
    ("+scan", ALWAYS, ALWAYS),
    ("+type", ALWAYS, ALWAYS),
    ("+pttl", ALWAYS, ALWAYS),
    ("+strlen", ALWAYS, ALWAYS),
    ("+llen", ALWAYS, ALWAYS),
    ("+scard", ALWAYS, ALWAYS),
    ("+zcard", ALWAYS, ALWAYS),
    ("+hlen", ALWAYS, ALWAYS),
    ("+xlen", ALWAYS, ALWAYS),
    ("+vcard", (8, 2), NEVER),
    ("+arcount", (8, 8), NEVER),
    ("+memory|usage", ALWAYS, ALWAYS),
    ("+object|encoding", ALWAYS, ALWAYS),
    ("+object|freq", ALWAYS, ALWAYS),
    ("+object|idletime", ALWAYS, ALWAYS),
    ("~*", ALWAYS, NEVER),
];

/// The line that grants a user `slotscope` exactly these permissions, with MONITOR if requested, for a server such as
/// `redis-7.4`, `valkey-9.1` or `7.4.1`.
///
/// # Errors
/// `server` is unknown, or a version without ACLs.
pub fn line(server: &str, with_monitor: bool) -> Result<String> {
    let bad = |reason: &str| {
        let place = format!("--acl {}", Name::from(server));
        Err(Error::bad(place, reason.to_owned()))
    };
    let (is_valkey, version) = match server.rsplit_once('-') {
        None => (false, server),
        Some((name, version)) if name.eq_ignore_ascii_case("redis") => (false, version),
        Some((name, version)) if name.eq_ignore_ascii_case("valkey") => (true, version),
        Some(_) => return bad("name a server and its version: redis-7.4, valkey-9.1"),
    };
    let Some(version) = parse(version) else {
        return bad(
            "name the version with its first two numbers: redis-7.4, valkey-9.1; on ElastiCache the engine version, such as redis-7.1",
        );
    };
    if version < ALWAYS {
        return bad("a server before 6.0 has no users; collect with its one password");
    }
    let knows = |since: Version| version >= since;
    let mut rights: Vec<&str> = Vec::new();
    for (right, redis, valkey) in RIGHTS {
        let since = if is_valkey { *valkey } else { *redis };
        // A single key pattern suffices.
        let is_known = knows(since) && !(*right == "~*" && rights.contains(&"%R~*"));
        rights.extend(is_known.then_some(*right));
    }
    rights.extend(with_monitor.then_some("+monitor"));
    let rights = rights.join(" ");
    Ok(format!("ACL SETUSER slotscope reset on >PASSWORD {rights}"))
}

/// Major and minor version.
fn parse(text: &str) -> Option<Version> {
    let mut numbers = text.split('.');
    let mut number = || {
        let digits = numbers.next().filter(|text| !text.starts_with('+'))?;
        digits.parse().ok()
    };
    Some((number()?, number()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_gets_the_words_that_it_knows() {
        for (server, has, lacks) in [
            ("redis-6.0", "~*", "%R~*"),
            ("Redis-6.2.14", "resetchannels", "shards"),
            ("7.0", "+cluster|shards", "no-touch"),
            ("redis-7.4.1", "+cluster|info", "slot-stats"),
            ("redis-8.2", "slot-stats", " ~*"),
            ("redis-8.2", "+vcard", "+arcount"),
            ("redis-8.4", "slot-stats", "hotkeys"),
            ("redis-8.6", "+hotkeys", "+arcount"),
            ("redis-8.6", "+slowlog|get", "commandlog"),
            ("valkey-8.0", "+slowlog|get", "commandlog"),
            ("valkey-8.1", "+commandlog|get", "hotkeys"),
            ("redis-8.10", "+arcount", " ~*"),
            ("valkey-9.1", "+xlen", "+vcard"),
            ("valkey-7.2", "no-touch", "slot-stats"),
            ("valkey-9.1.2", "slot-stats", " ~*"),
        ] {
            let line = line(server, false).unwrap();
            assert!(line.starts_with("ACL SETUSER slotscope reset on >PASSWORD "));
            assert!(
                line.contains(has) && !line.contains(lacks) && !line.contains("monitor"),
                "{server}: {line}"
            );
        }
        assert!(line("redis-7.0", true).unwrap().ends_with(" +monitor"));
    }

    #[test]
    fn what_names_no_server_with_users_is_refused() {
        for (server, what) in [
            ("redis-5.0", "no users"),
            ("redis", "first two numbers"),
            ("valkey-", "first two numbers"),
            ("redis-7", "first two numbers"),
            ("redis-7.+4", "first two numbers"),
            ("keydb-6.3", "name a server"),
            ("\u{1b}-1.0", "\\x1b-1.0: name a server"),
        ] {
            let error = line(server, true).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        }
    }
}
