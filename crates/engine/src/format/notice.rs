//! Things that a reader may meet besides keys, and the words for them.

use serde::{Deserialize, Serialize};

/// The kind of statement that a notice makes about the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// Nothing: it may be right.
    Note,
    /// Something is wrong.
    Warning,
    /// Something is wrong, and the summary has a finding for it.
    Finding,
}

/// Makes the enum and its words of a table: the kind of statement, the noun that is counted, and how the
/// sentence continues, whatever the number.
macro_rules! notices {
    ($($(#[$doc:meta])* $notice:ident: $says:ident, $noun:literal, $rest:literal;)*) => {
        /// Something odd that a reader met. Most are dropped lines, and none is dropped in silence.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Notice {
            $($(#[$doc])* $notice,)*
        }

        impl Notice {
            /// All of them.
            pub const ALL: [Notice; WORDS.len()] = [$(Notice::$notice),*];
        }

        /// The words for every notice.
        pub(super) const WORDS: &[(Notice, &str, &str, Says)] =
            &[$((Notice::$notice, $noun, $rest, Says::$says)),*];
    };
}

notices! {
    /// A key of no bytes.
    EmptyKey: Warning, "empty line", ", counted as empty keys, of which there can be only one";
    /// A key that ends with a carriage return.
    CarriageReturn: Note, "key", " with a carriage return at the end, which was taken as a part of the name";
    /// A UTF-8 byte order mark at the start, which was dropped.
    ByteOrderMark: Warning, "byte order mark", " at the start, dropped: an editor may have changed the dump";
    /// A prompt of redis-cli.
    Prompt: Note, "prompt", " of redis-cli, dropped";
    /// How long a command took.
    Timing: Note, "line", " about how long a command took, dropped";
    /// An error in place of a reply.
    ErrorReply: Finding, "error", " in place of a reply, left out: keys may be missing";
    /// A reply without keys.
    EmptyReply: Note, "answer", " without keys";
    /// Colour around a row.
    Colour: Note, "row", " in terminal colours, which were dropped";
    /// A warning of redis-cli about the password, or a line of `script`.
    Warning: Note, "line", " of redis-cli or script without keys, dropped";
    /// A line in which redis-cli reports its progress.
    Progress: Note, "line", " of redis-cli about what it does, dropped";
    /// A line of nothing, where that is not a key.
    BlankLine: Note, "blank line", ", dropped";
    /// The cursor of a SCAN reply.
    Cursor: Note, "cursor", " of SCAN, dropped";
    /// A row whose number does not follow the one before it.
    IndexGap: Warning, "row", " with a number that does not follow the one before: rows are missing or out of order";
    /// A nil in place of a key.
    Nil: Note, "nil", " in place of a key, dropped";
    /// A key of JSON that holds a backslash.
    Backslash: Note, "key",
        " with a backslash, taken as it is; if --quoted-json printed the dump, say --format quoted-json";
    /// The name of a node before its first key.
    Node: Note, "node", " with keys in the dump";
    /// A key that is the one before it.
    Repeated: Warning, "key", " equal to the one before: were names cut short at a NUL or a newline?";
    /// A key of a database that is not wanted.
    OtherDatabase: Note, "key", " of other databases, left out";
    /// A raw line, counted as a key, that looks like a prompt, a timing or a message of redis-cli.
    Captured: Warning, "line", " in the form of a prompt, a timing or a message of redis-cli, counted as any other";
    /// A first line, counted as a key, that looks like the header of a column.
    Header: Warning, "first line", " in the form of a header, counted as any other";
    /// A line around the rows of a table.
    Around: Note, "line", " around the rows of a table, no rows themselves: borders, a header again, how many there are";
    /// A time to live that was counted from when the input was written.
    TimeLeft: Note, "key",
        " with a time to live, which was counted from when the file was last written, or from now where there is no file";
    /// A key of a replica.
    OfReplica: Note, "key", " of replicas, left out: the primaries have the same";
    /// A key whose database is not known, where one is wanted.
    NoDatabase: Warning, "key", " of an unknown database, counted all the same";
    /// An entry that is not a key and says so.
    NoKey: Note, "row", " of auxiliary fields or functions, dropped";
    /// A row with a value whose column the first rows do not have.
    LateColumn: Warning, "row",
        " with a size, a type or the like that the first rows do not have; that is not counted";
    /// A key of a table whose escapes of redis-cli were undone.
    EscapedKey: Note, "key", " with escapes of redis-cli, which were undone; --escapes none keeps them";
    /// The end of an input in the middle of a reply.
    CutOff: Finding, "answer", " without an end: the dump was cut off";
    /// A key of an RDB file that had expired when the file was written.
    Expired: Note, "key", " already expired when the RDB file was written, counted all the same";
    /// A key of an RDB file whose slot was being imported.
    Imported: Note, "key",
        " in slots that were being imported, counted all the same: the RDB file of the other node has the same keys";
    /// A value of an RDB file whose packed bytes are damaged.
    DamagedValue: Warning, "value", " with damaged packed bytes, which a server refuses to load";
    /// A key of an RDB file that is too long to be read; where it is, is kept with the rows that are not keys.
    LongKey: Warning, "key", " of an RDB file, too long to be read";
    /// A slot of an RDB file whose header differs from its keys.
    SlotHeader: Warning, "slot",
        " of an RDB file with a header that differs from the keys below it: is the file damaged? slotscope dump \
         says where";
    /// An RDB file with commands after it.
    Commands: Note, "RDB file",
        " followed by commands, which are counted as operations: the keys are those before the commands";
    /// A byte of anything else after one.
    Behind: Warning, "byte", " after the end of an RDB file, not read";
    /// An RDB file whose checksum is not verified.
    Unverified: Note, "RDB file", " with a checksum that is not verified: the file has none, or --no-verify is given";
    /// An RDB file of Redis up to 7.2 whose keys have sizes in memory.
    EstimatedRedis7: Note, "RDB file",
        " of Redis up to 7.2: sizes are estimates of the memory of each key. Measured after a restart, all keys \
         together were off by at most 0.5%, and one by 30%; before it, where tables grow, by 5 and 50%; --size \
         serialized takes the bytes in the file";
    /// One of Redis 7.4 or 8.0.
    EstimatedRedis74: Note, "RDB file",
        " of Redis 7.4 or 8.0: sizes are estimates of the memory of each key. Measured after a restart, all keys \
         together were off by at most 1%, and one by 30%; before it, where tables grow, by 5 and 50%; --size \
         serialized takes the bytes in the file";
    /// One of Redis 8.2.
    EstimatedRedis82: Note, "RDB file",
        " of Redis 8.2: sizes are estimates of the memory of each key. Measured after a restart, all keys together \
         were off by at most 1%, and one by 30%; before it, where tables grow, by 5 and 50%; --size serialized \
         takes the bytes in the file";
    /// One of Redis from 8.10 on.
    EstimatedRedis810: Note, "RDB file",
        " of Redis 8.10 or later: sizes are estimates of the memory of each key. Measured after a restart, all keys together \
         were off by at most 1%, and one by 30%; before it, where tables grow, by 5 and 50%; --size serialized \
         takes the bytes in the file";
    /// One of Valkey from 9.1 on.
    EstimatedValkey91: Note, "RDB file",
        " of Valkey 9.1 or later: sizes are estimates of the memory of each key. Measured after a restart, all keys \
         together were off by at most 1%, and one by 30%; before it, where tables grow, by 5 and 50%; --size \
         serialized takes the bytes in the file";
    /// One of another server, of which estimates were not measured.
    Estimated: Note, "RDB file",
        " of another server: sizes are estimates of the memory of each key, as the sources of that server count it; \
         how far off they are was not measured; --size serialized takes the bytes in the file";
    /// An RDB file whose keys have sizes in the file.
    Serialized: Note, "RDB file", ": sizes are bytes in the file, where strings are compressed, not bytes in memory";
    /// An RDB file of a server in cluster mode: it has headers of slots.
    InCluster: Finding, "RDB file", " of servers in cluster mode";
    /// A command of a capture that has no key.
    NoKeyCommand: Note, "command", " without keys, not counted";
    /// A call of a script or function, whose commands follow.
    Script: Note, "call", " of scripts and functions, counted by the commands that are run";
    /// A command of a capture that is not in the table of commands.
    UnknownCommand: Warning, "command", " with an unknown name, not counted: which words are keys is not known";
    /// A command at the end of an append-only file that is cut off.
    TornCommand: Note, "command", " cut off at the end of the file, as after a crash of the server, not counted";
    /// A key that a filter left out; the first lines of a report say it.
    Filtered: Finding, "key", " left out by a filter";
    /// An operation that a filter left out.
    FilteredOperation: Finding, "operation", " left out by a filter";
}
