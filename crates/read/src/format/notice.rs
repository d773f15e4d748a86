//! Things a reader encounters besides keys, and their wording.

use serde::{Deserialize, Serialize};

/// How severe a notice is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Says {
    /// It may be right.
    Note,
    /// Something is wrong.
    Warning,
    /// Something is wrong, and the summary has a finding for it.
    Finding,
}

/// Defines the enum and its wording: severity, the noun that is counted, and the rest of the sentence, for any count.
macro_rules! notices {
    ($($(#[$doc:meta])* $notice:ident: $says:ident, $noun:literal, $rest:literal;)*) => {
        /// Something odd that a reader encountered. Most are dropped lines; none is dropped silently.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Notice {
            $($(#[$doc])* $notice,)*
        }

        impl Notice {
            /// All of them.
            pub const ALL: [Notice; WORDS.len()] = [$(Notice::$notice),*];
        }

        /// The wording of every notice.
        pub(super) const WORDS: &[(Notice, &str, &str, Says)] =
            &[$((Notice::$notice, $noun, $rest, Says::$says)),*];
    };
}

notices! {
    /// An empty key.
    EmptyKey: Warning, "empty line", ", counted as empty keys, of which there can be only one";
    /// A key ending with a carriage return.
    CarriageReturn: Warning, "key", " with a carriage return at the end, which was taken as a part of the name";
    /// A UTF-8 byte order mark at the start, dropped.
    ByteOrderMark: Warning, "byte order mark", " at the start, dropped: an editor may have changed the dump";
    /// A redis-cli prompt.
    Prompt: Note, "prompt", " of redis-cli, dropped";
    /// A timing line.
    Timing: Note, "line", " about how long a command took, dropped";
    /// An error instead of a reply.
    ErrorReply: Finding, "error", " in place of a reply, left out: keys may be missing";
    /// A reply without keys.
    EmptyReply: Note, "answer", " without keys";
    /// Colour around a row.
    Colour: Note, "row", " in terminal colours, which were dropped";
    /// A redis-cli password warning, or a line of `script`.
    Warning: Note, "line", " of redis-cli or script without keys, dropped";
    /// A redis-cli progress line.
    Progress: Note, "line", " of redis-cli about what it does, dropped";
    /// A blank line, in a format where that is not a key.
    BlankLine: Note, "blank line", ", dropped";
    /// The cursor of a SCAN reply.
    Cursor: Note, "cursor", " of SCAN, dropped";
    /// A first row whose number is not 1.
    LateStart: Warning, "first row", " with another number than 1: rows before it are missing";
    /// A nil instead of a key.
    Nil: Note, "nil", " in place of a key, dropped";
    /// A JSON key that contains `\x`.
    EscapeInJson: Warning, "key",
        " with \\x in the name, taken as it is: was it printed with --quoted-json? print it with --json";
    /// A key of a database that is not selected.
    OtherDatabase: Note, "key", " of other databases, left out";
    /// A raw line, counted as a key, that looks like a redis-cli prompt, timing or message.
    Captured: Warning, "line", " in the form of a prompt, a reply or a message of redis-cli, counted as any other";
    /// A first line, counted as a key, that looks like a column header.
    Header: Warning, "first line", " in the form of a header, counted as any other";
    /// A line around the rows of a table.
    Around: Note, "line", " around the rows of a table, no rows themselves: borders, a header again, how many there are";
    /// A total of other rows.
    Total: Warning, "row", " of a total, left out: its size is that of other rows";
    /// A TTL, counted from the time the input was written.
    TimeLeft: Note, "key",
        " with a time to live, which was counted from when the file was last written, or from now where there is no file";
    /// A key of unknown database, although one is selected.
    NoDatabase: Warning, "key", " of an unknown database, counted all the same";
    /// An entry that declares itself not to be a key.
    NoKey: Note, "row", " of auxiliary fields or functions, dropped";
    /// A row with a value in a column that the first rows lack.
    LateColumn: Warning, "row",
        " with a size, a type or the like that the first rows do not have; that is not counted";
    /// A table key whose redis-cli escapes were decoded.
    EscapedKey: Note, "key", " with escapes of redis-cli, which were undone; --escapes none keeps them";
    /// The input ends in the middle of a reply.
    CutOff: Finding, "answer", " without an end: the dump was cut off";
    /// A key that had expired before the RDB file was written.
    Expired: Note, "key", " already expired when the RDB file was written, counted all the same";
    /// A key whose slot was being imported.
    Imported: Note, "key",
        " in slots that were being imported, counted all the same: the RDB file of the other node has the same keys";
    /// A value with damaged packed bytes.
    DamagedValue: Warning, "value", " with damaged packed bytes, which a server refuses to load";
    /// A key too long to be read; its location is kept with the rejected rows.
    LongKey: Warning, "key", " of an RDB file, too long to be read";
    /// An RDB file with commands after it.
    Commands: Note, "RDB file",
        " followed by commands, which are counted as operations: the keys are those before the commands";
    /// A trailing byte after the RDB file.
    Behind: Warning, "byte", " after the end of an RDB file, not read";
    /// An RDB file whose checksum is not verified.
    Unverified: Note, "RDB file", " with a checksum that is not verified: the file has none, or --no-verify is given";
    /// Sizes estimated as of a server on which the estimates were measured.
    Measured: Note, "RDB file",
        ": sizes are estimates of the memory of each key. Measured after a restart, all keys together were off by at most 1%, and one by \
         30%; before it, where tables grow, by 5 and 50%; --size serialized takes the bytes in the file";
    /// An RDB file of another server, for which estimates were not validated.
    Estimated: Note, "RDB file",
        " of another server: sizes are estimates of the memory of each key, as the sources of that server count it; \
         how far off they are was not measured; --size serialized takes the bytes in the file";
    /// An RDB file with sizes in the file.
    Serialized: Note, "RDB file", ": sizes are bytes in the file, where strings are compressed, not bytes in memory";
    /// An RDB file of a server in cluster mode, recognised by its slot headers.
    InCluster: Finding, "RDB file", " of servers in cluster mode";
    /// A command without keys.
    NoKeyCommand: Note, "command", " without keys, not counted";
    /// A script or function call; its commands follow.
    Script: Note, "call", " of scripts and functions, counted by the commands that are run";
    /// A command missing from the command table.
    UnknownCommand: Warning, "command", " with an unknown name, not counted: which words are keys is not known";
    /// A truncated command at the end of an append-only file.
    TornCommand: Note, "command", " cut off at the end of the file, as after a crash of the server, not counted";
    /// A key excluded by a filter, mentioned in the first lines of a report.
    Filtered: Finding, "key", " left out by a filter";
    /// A list whose last line has no end.
    NoLineEnd: Warning, "file", " without a line end after the last line: was it cut off there?";
    /// An operation excluded by a filter.
    FilteredOperation: Finding, "operation", " left out by a filter";
}
