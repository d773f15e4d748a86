//! Detects the kind of a fanout input from its first bytes.

use slotscope_base::command::COMMANDS;
use slotscope_read::format::Head;
use slotscope_read::format::capture::monitor_line::MonitorLine;
use slotscope_read::format::parse::words;

/// The user's choice of the kind of an input.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Lines {
    /// Detected by the content
    #[default]
    Auto,
    /// Lines of keys, which one command asks for
    Keys,
    /// Lines of commands
    Commands,
    /// Lines of MONITOR
    Monitor,
    /// An append-only file, or what clients sent, as RESP
    Aof,
}

/// Bytes examined.
pub(crate) const HEAD: usize = 1 << 16;
/// Lines searched for a MONITOR record: redis-cli first prints OK, and possibly a password warning before that.
const LINES: usize = 5;

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InputKind {
    /// Batches, one per line.
    Lines,
    /// A capture of MONITOR.
    Monitor,
    /// RESP commands: an append-only file or client traffic.
    Aof,
    /// A snapshot, which has data but no commands.
    Snapshot,
    /// The manifest of an append-only directory.
    Manifest,
    /// A table of keys with sizes and other values.
    Table,
}

impl InputKind {
    /// The kind of an input starting with `head`.
    pub(crate) fn of(head: &[u8]) -> InputKind {
        let is_snapshot = |magic: &[u8], digits: usize| {
            let version = head.strip_prefix(magic).and_then(|rest| rest.get(..digits));
            version.is_some_and(|version| version.iter().all(u8::is_ascii_digit))
        };
        let mut lines = head.split(|byte| *byte == b'\n').take(LINES);
        match () {
            () if is_snapshot(b"REDIS", 4) || is_snapshot(b"VALKEY", 3) => InputKind::Snapshot,
            () if head.starts_with(b"#TS:") || is_command(head) => InputKind::Aof,
            () if is_manifest(head) => InputKind::Manifest,
            () if lines.any(|line| MonitorLine::parse(line).is_some()) => InputKind::Monitor,
            () if is_table(head) => InputKind::Table,
            () => InputKind::Lines,
        }
    }
}

/// Whether lines are rows or JSON objects of a key and its values.
fn is_table(head: &[u8]) -> bool {
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if words::words(first).is_ok_and(|words| COMMANDS.find(&words).is_some()) {
        return false;
    }
    let whole = head.len() < HEAD;
    let format = slotscope_detect::recognise(Head { bytes: head, whole });
    matches!(format, Ok(Some(format)) if matches!(format.name(), "csv" | "jsonl"))
}

/// `*2\r\n$`.
fn is_command(head: &[u8]) -> bool {
    let Some(rest) = head.strip_prefix(b"*") else {
        return false;
    };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    digits > 0 && rest[digits..].starts_with(b"\r\n$")
}

/// `file NAME seq N type T`, where the words after the name may be in any order.
fn is_manifest(head: &[u8]) -> bool {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let has = |word: &[u8]| memchr::memmem::find(line, word).is_some();
    line.starts_with(b"file ") && has(b" seq ") && has(b" type ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_known_by_their_first_bytes() {
        for (head, kind) in [
            (&b"MGET a b\n"[..], InputKind::Lines),
            (b"", InputKind::Lines),
            (b"*a b\n", InputKind::Lines),
            (b"file seq type\n", InputKind::Lines),
            (b"OK\n1.0 [0 a:1] \"get\" \"a\"\n", InputKind::Monitor),
            (b"+1.0 [0 a:1] \"get\" \"a\"\r\n", InputKind::Monitor),
            (b"*1\r\n$4\r\nPING\r\n", InputKind::Aof),
            (b"#TS:1\r\n*1\r\n", InputKind::Aof),
            (b"REDIS0011\xfa", InputKind::Snapshot),
            (b"VALKEY080\xfa", InputKind::Snapshot),
            (b"REDIS key\n", InputKind::Lines),
            (b"a:1 b:1\na:2 b:2\n", InputKind::Lines),
            (b"GET key\nMGET key size\n", InputKind::Lines),
            (b"key,size\nuser:1,100\nuser:2,90\n", InputKind::Table),
            (b"{\"key\":\"a\",\"size\":1}\n", InputKind::Table),
            (b"file a.1.base.rdb seq 1 type b\n", InputKind::Manifest),
        ] {
            assert_eq!(InputKind::of(head), kind, "{}", head.escape_ascii());
        }
    }
}
