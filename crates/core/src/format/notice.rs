//! What a reader may meet besides keys, and the words for it.

use serde::{Deserialize, Serialize};

/// Something odd that a reader met. Most are dropped lines, and none is dropped in silence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Notice {
    /// A key of no bytes.
    EmptyKey,
    /// A key that ends with a carriage return.
    CarriageReturn,
    /// A UTF-8 byte order mark at the start, which was dropped.
    ByteOrderMark,
    /// A prompt of redis-cli.
    Prompt,
    /// How long a command took.
    Timing,
    /// An error in place of a reply.
    ErrorReply,
    /// A reply without keys.
    EmptyReply,
    /// Colour around a row.
    Colour,
    /// A warning of redis-cli about the password, or a line of `script`.
    Warning,
    /// A line in which redis-cli says what it does.
    Progress,
    /// A line of nothing, where that is no key.
    BlankLine,
    /// The cursor of a SCAN reply.
    Cursor,
    /// A row whose number does not follow the one before it.
    IndexGap,
    /// A nil in place of a key.
    Nil,
    /// A key of JSON that holds a backslash.
    Backslash,
    /// The name of a node before its first key.
    Node,
    /// A key that is the one before it.
    Repeated,
    /// A key of a database that is not wanted.
    OtherDatabase,
    /// A raw line, counted as a key, that looks like a prompt, a timing or a message of redis-cli.
    Captured,
    /// A first line, counted as a key, that looks like the header of a column.
    Header,
    /// One of the first lines, counted as a key, that looks like text or a row of a table, where most of them do.
    LooksLikeText,
    /// A key of a replica.
    OfReplica,
    /// A key whose database is not known, where one is wanted.
    NoDatabase,
    /// An entry that is no key and says so.
    NoKey,
    /// A row with a value whose column the first rows do not have.
    LateColumn,
    /// A key of a table whose escapes of redis-cli were undone.
    EscapedKey,
    /// The end of an input in the middle of a reply.
    CutOff,
    /// A key of an RDB file that had expired when the file was written.
    Expired,
    /// A key of an RDB file whose slot was being imported.
    Imported,
    /// A value of an RDB file whose packed bytes are damaged.
    DamagedValue,
    /// A key of an RDB file that is too long to be read; where it is, is kept with the rows that are no keys.
    LongKey,
    /// A slot of an RDB file whose header differs from its keys.
    SlotHeader,
    /// An RDB file with commands behind it.
    Commands,
    /// A byte of anything else behind one.
    Behind,
    /// An RDB file whose checksum is not verified.
    Unverified,
    /// An RDB file of Redis up to 7.2 whose keys have sizes in memory.
    EstimatedRedis7,
    /// One of Redis 7.4 or 8.0.
    EstimatedRedis74,
    /// One of Redis 8.2.
    EstimatedRedis82,
    /// One of Valkey from 9.1 on.
    EstimatedValkey91,
    /// One of another server, of which estimates were not measured.
    Estimated,
    /// An RDB file whose keys have sizes in the file.
    Serialized,
    /// An RDB file of a server in cluster mode: it has headers of slots.
    InCluster,
    /// A command of a capture that has no key.
    NoKeyCommand,
    /// A call of a script or function, whose commands follow.
    Script,
    /// A command of a capture that is not in the table of commands.
    UnknownCommand,
    /// A command at the end of an append-only file that is cut off.
    TornCommand,
    /// A key that a filter left out.
    Filtered,
    /// An operation that a filter left out.
    FilteredOperation,
}

/// What a notice says of the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// Nothing: it may be right.
    Note,
    /// Something is wrong.
    Warning,
    /// Something is wrong, and the summary has a finding for it.
    Finding,
}
use Says::{Finding, Note, Warning};

/// Every notice: what there is one or more of, how the sentence goes on, whatever the number, and what it says of the dump.
pub(super) const WORDS: [(Notice, &str, &str, Says); 48] = [
    (
        Notice::EmptyKey,
        "empty line",
        ", counted as empty keys, of which there can be only one",
        Warning,
    ),
    (
        Notice::CarriageReturn,
        "key",
        " with a carriage return at the end, which was taken as a part of the name",
        Note,
    ),
    (
        Notice::ByteOrderMark,
        "byte order mark",
        " at the start, dropped: an editor may have changed the dump",
        Warning,
    ),
    (Notice::Prompt, "prompt", " of redis-cli, dropped", Note),
    (
        Notice::Timing,
        "line",
        " about how long a command took, dropped",
        Note,
    ),
    (
        Notice::ErrorReply,
        "error",
        " in place of a reply, left out: keys may be missing",
        Finding,
    ),
    (Notice::EmptyReply, "answer", " without keys", Note),
    (
        Notice::Colour,
        "row",
        " in terminal colours, which were dropped",
        Note,
    ),
    (
        Notice::Warning,
        "line",
        " of redis-cli or script without keys, dropped",
        Note,
    ),
    (
        Notice::Progress,
        "line",
        " of redis-cli about what it does, dropped",
        Note,
    ),
    (Notice::BlankLine, "blank line", ", dropped", Note),
    (Notice::Cursor, "cursor", " of SCAN, dropped", Note),
    (
        Notice::IndexGap,
        "row",
        " with a number that does not follow the one before: rows are missing or out of order",
        Warning,
    ),
    (Notice::Nil, "nil", " in place of a key, dropped", Note),
    (
        Notice::Backslash,
        "key",
        " with a backslash, taken as it is; if --quoted-json printed the dump, say --format quoted-json",
        Note,
    ),
    (Notice::Node, "node", " with keys in the dump", Note),
    (
        Notice::Repeated,
        "key",
        " equal to the one before: were names cut short at a NUL or a newline?",
        Warning,
    ),
    (
        Notice::OtherDatabase,
        "key",
        " of other databases, left out",
        Note,
    ),
    (
        Notice::Captured,
        "line",
        " in the form of a prompt, a timing or a message of redis-cli, counted as any other",
        Warning,
    ),
    (
        Notice::Header,
        "first line",
        " in the form of a header, counted as any other",
        Warning,
    ),
    (
        Notice::LooksLikeText,
        "line",
        " at the start with the look of text or of a table: these may be no keys; where they are, \
         --format lines ends this warning",
        Warning,
    ),
    (
        Notice::OfReplica,
        "key",
        " of replicas, left out: the primaries have the same",
        Note,
    ),
    (
        Notice::NoDatabase,
        "key",
        " of an unknown database, counted all the same",
        Warning,
    ),
    (
        Notice::NoKey,
        "row",
        " of auxiliary fields or functions, dropped",
        Note,
    ),
    (
        Notice::LateColumn,
        "row",
        " with a size, a type or the like that the first rows do not have; that is not counted",
        Warning,
    ),
    (
        Notice::EscapedKey,
        "key",
        " with escapes of redis-cli, which were undone; --escapes none keeps them",
        Note,
    ),
    (
        Notice::CutOff,
        "answer",
        " without an end: the dump was cut off",
        Finding,
    ),
    (
        Notice::Expired,
        "key",
        " already expired when the RDB file was written, counted all the same",
        Note,
    ),
    (
        Notice::Imported,
        "key",
        " in slots that were being imported, counted all the same: the RDB file of the other node has \
         the same keys",
        Note,
    ),
    (
        Notice::DamagedValue,
        "value",
        " with damaged packed bytes, which a server refuses to load",
        Warning,
    ),
    (
        Notice::LongKey,
        "key",
        " of an RDB file, too long to be read",
        Warning,
    ),
    (
        Notice::SlotHeader,
        "slot",
        " of an RDB file with a header that differs from the keys below it: is the file damaged? \
         slotscope dump says where",
        Warning,
    ),
    (
        Notice::Commands,
        "RDB file",
        " followed by commands, which are counted as operations: the keys are those before the commands",
        Note,
    ),
    (
        Notice::Behind,
        "byte",
        " behind the end of an RDB file, not read",
        Warning,
    ),
    (
        Notice::Unverified,
        "RDB file",
        " with a checksum that is not verified: the file has none, or --no-verify is given",
        Note,
    ),
    (
        Notice::EstimatedRedis7,
        "RDB file",
        " of Redis up to 7.2: sizes are estimates of the memory of each key. Measured after a restart, all \
         keys together were off by at most 0.5 %, and one by 30 %; before it, where tables grow, by 5 and \
         50 %; --size serialized takes the bytes in the file",
        Note,
    ),
    (
        Notice::EstimatedRedis74,
        "RDB file",
        " of Redis 7.4 or 8.0: sizes are estimates of the memory of each key. Measured after a restart, all \
         keys together were off by at most 1 %, and one by 30 %; before it, where tables grow, by 5 and 50 \
         %; --size serialized takes the bytes in the file",
        Note,
    ),
    (
        Notice::EstimatedRedis82,
        "RDB file",
        " of Redis 8.2: sizes are estimates of the memory of each key. Measured after a restart, all keys \
         together were off by at most 1 %, and one by 30 %; before it, where tables grow, by 5 and 50 %; \
         --size serialized takes the bytes in the file",
        Note,
    ),
    (
        Notice::EstimatedValkey91,
        "RDB file",
        " of Valkey 9.1 or later: sizes are estimates of the memory of each key. Measured after a restart, \
         all keys together were off by at most 1 %, and one by 30 %; before it, where tables grow, by 5 and \
         50 %; --size serialized takes the bytes in the file",
        Note,
    ),
    (
        Notice::Estimated,
        "RDB file",
        " of another server: sizes are estimates of the memory of each key, as the sources of that \
         server count it; how far off they are was not measured; --size serialized takes the bytes in \
         the file",
        Note,
    ),
    (
        Notice::Serialized,
        "RDB file",
        ": sizes are bytes in the file, where strings are compressed, not bytes in memory",
        Note,
    ),
    (
        Notice::InCluster,
        "RDB file",
        " of servers in cluster mode",
        Finding,
    ),
    (
        Notice::NoKeyCommand,
        "command",
        " without keys, not counted",
        Note,
    ),
    (
        Notice::Script,
        "call",
        " of scripts and functions, counted by the commands that are run",
        Note,
    ),
    (
        Notice::UnknownCommand,
        "command",
        " with an unknown name, not counted: which words are keys is not known",
        Warning,
    ),
    (
        Notice::TornCommand,
        "command",
        " cut off at the end of the file, as after a crash of the server, not counted",
        Note,
    ),
    // The first lines of a report have these.
    (Notice::Filtered, "key", " left out by a filter", Finding),
    (
        Notice::FilteredOperation,
        "operation",
        " left out by a filter",
        Finding,
    ),
];

impl Notice {
    /// All of them.
    pub const ALL: [Notice; WORDS.len()] = {
        let mut all = [Notice::EmptyKey; WORDS.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = WORDS[at].0;
            at += 1;
        }
        all
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notice_has_words() {
        for (at, (notice, ..)) in WORDS.iter().enumerate() {
            assert_eq!(*notice as usize, at);
        }
    }
}
