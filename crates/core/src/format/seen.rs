//! What a reader saw besides the keys: counts that sum over the blocks of an input, and the words for them.

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
}

/// What a notice says of the dump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Nothing: it may be right.
    Note,
    /// Something is wrong.
    Warning,
    /// Something is wrong, and the summary has a finding for it.
    Finding,
}
use Says::{Finding, Note, Warning};

/// Every notice: the words for it, and what it says of the dump.
const WORDS: [(Notice, &str, Says); 45] = [
    (
        Notice::EmptyKey,
        "empty lines, counted as empty keys, of which there can be only one",
        Warning,
    ),
    (
        Notice::CarriageReturn,
        "keys that end with a carriage return, which was taken as a part of the key",
        Note,
    ),
    (
        Notice::ByteOrderMark,
        "byte order marks at the start, dropped: an editor may have changed the dump",
        Warning,
    ),
    (Notice::Prompt, "prompts of redis-cli, dropped", Note),
    (
        Notice::Timing,
        "lines that say how long a command took, dropped",
        Note,
    ),
    (
        Notice::ErrorReply,
        "errors in place of a reply, left out: keys may be missing",
        Finding,
    ),
    (Notice::EmptyReply, "replies without keys", Note),
    (
        Notice::Colour,
        "rows in terminal colours, which were dropped",
        Note,
    ),
    (
        Notice::Warning,
        "lines of redis-cli or script without keys, dropped",
        Note,
    ),
    (
        Notice::Progress,
        "lines in which redis-cli says what it does, dropped",
        Note,
    ),
    (Notice::BlankLine, "blank lines, dropped", Note),
    (Notice::Cursor, "SCAN cursors, dropped", Note),
    (
        Notice::IndexGap,
        "rows whose number does not follow the one before: rows are missing or out of order",
        Warning,
    ),
    (Notice::Nil, "nils in place of keys, dropped", Note),
    (
        Notice::Backslash,
        "keys with a backslash, taken as it is; if --quoted-json printed them, say --format quoted-json",
        Note,
    ),
    (Notice::Node, "nodes whose keys are listed", Note),
    (
        Notice::Repeated,
        "keys that are the one before them: were names cut short at a NUL or a newline?",
        Warning,
    ),
    (
        Notice::OtherDatabase,
        "keys of other databases, left out",
        Note,
    ),
    (
        Notice::Captured,
        "lines that look like prompts, timings or messages of redis-cli, counted as keys",
        Warning,
    ),
    (
        Notice::Header,
        "first lines that look like a header, counted as keys",
        Warning,
    ),
    (
        Notice::OfReplica,
        "keys of replicas, left out: their primaries have them too",
        Note,
    ),
    (
        Notice::NoDatabase,
        "keys whose database is not known, counted all the same",
        Warning,
    ),
    (
        Notice::NoKey,
        "entries that are no keys (auxiliary fields, functions), dropped",
        Note,
    ),
    (
        Notice::LateColumn,
        "rows with a size, a type or the like that the first rows do not have; that is not counted",
        Warning,
    ),
    (
        Notice::EscapedKey,
        "keys with escapes of redis-cli, which were undone; --escapes none keeps them",
        Note,
    ),
    (
        Notice::CutOff,
        "replies without their end: the dump was cut off",
        Finding,
    ),
    (
        Notice::Expired,
        "keys that had expired when the RDB file was written, counted all the same",
        Note,
    ),
    (
        Notice::Imported,
        "keys of slots that were being imported: the RDB file of the other node has them too",
        Note,
    ),
    (
        Notice::DamagedValue,
        "values whose packed bytes are damaged: a server refuses to load them",
        Warning,
    ),
    (
        Notice::LongKey,
        "keys of an RDB file that are too long to be read",
        Warning,
    ),
    (
        Notice::SlotHeader,
        "slots of an RDB file whose header differs from the keys below it: is it damaged? slotscope dump says where",
        Warning,
    ),
    (
        Notice::Commands,
        "RDB files with commands behind them, which are counted as operations: the keys are those before the commands",
        Note,
    ),
    (
        Notice::Behind,
        "bytes behind the end of an RDB file, not read",
        Warning,
    ),
    (
        Notice::Unverified,
        "RDB files whose checksum is not verified: it is not in the file, or --no-verify is given",
        Note,
    ),
    (
        Notice::EstimatedRedis7,
        "RDB files of Redis up to 7.2 whose sizes are those in memory, estimated: measured, a key was off by at most 10 % \
         behind a restart, and by 20 % while its table grew; --size serialized takes those in the file",
        Note,
    ),
    (
        Notice::EstimatedRedis74,
        "RDB files of Redis 7.4 or 8.0 whose sizes are those in memory, estimated: measured, a key was off by at most 10 % \
         behind a restart, and by 20 % while its table grew; --size serialized takes those in the file",
        Note,
    ),
    (
        Notice::EstimatedRedis82,
        "RDB files of Redis 8.2 whose sizes are those in memory, estimated: measured, a key was off by at most 10 % behind a \
         restart, and by 20 % while its table grew; --size serialized takes those in the file",
        Note,
    ),
    (
        Notice::EstimatedValkey91,
        "RDB files of Valkey 9.1 or later whose sizes are those in memory, estimated: measured, a key was off by at most \
         15 % behind a restart, and by 20 % while its table grew; --size serialized takes those in the file",
        Note,
    ),
    (
        Notice::Estimated,
        "RDB files whose sizes are those in memory, estimated as the sources of the server that wrote them count; how far \
         off that is was not measured; --size serialized takes those in the file",
        Note,
    ),
    (
        Notice::Serialized,
        "RDB files whose sizes are bytes in the file, where strings are compressed, and not in memory",
        Note,
    ),
    (
        Notice::InCluster,
        "RDB files of servers in cluster mode",
        Finding,
    ),
    (
        Notice::NoKeyCommand,
        "commands without keys, not counted",
        Note,
    ),
    (
        Notice::Script,
        "calls of scripts and functions, which count by the commands that they run",
        Note,
    ),
    (
        Notice::UnknownCommand,
        "commands that are not in the table of commands, so that their keys are not known, not counted",
        Warning,
    ),
    (
        Notice::TornCommand,
        "commands that are cut off at the end of the file, as after a crash of the server, not counted",
        Note,
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

/// Counts of what was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Keys.
    pub keys: u64,
    /// Operations on keys.
    pub operations: u64,
    /// Rows that are no keys.
    pub rejected: u64,
    /// Elements that replies announce, less those that are there.
    pub missing: i64,
    /// When the dump was written, in milliseconds since 1970, where it says so; of several the last.
    pub written_ms: Option<u64>,
    notices: [u64; WORDS.len()],
}

impl Default for Seen {
    fn default() -> Self {
        Seen {
            keys: 0,
            operations: 0,
            rejected: 0,
            missing: 0,
            written_ms: None,
            notices: [0; WORDS.len()],
        }
    }
}

impl Seen {
    /// So many keys, and nothing odd.
    pub fn of_keys(keys: u64) -> Self {
        Seen {
            keys,
            ..Seen::default()
        }
    }

    /// Rows that are keys, or commands.
    pub fn rows(&self) -> u64 {
        let commands = [Notice::NoKeyCommand, Notice::Script, Notice::UnknownCommand];
        let other: u64 = commands.map(|notice| self.count(notice)).iter().sum();
        self.keys + self.operations + other
    }

    /// Notes that something was met `count` times.
    pub fn note(&mut self, notice: Notice, count: u64) {
        self.notices[notice as usize] += count;
    }

    /// What was met, and how often.
    pub fn notices(&self) -> impl Iterator<Item = (Notice, u64)> {
        let all = WORDS.iter().map(|(notice, ..)| *notice);
        let counted = all.map(|notice| (notice, self.count(notice)));
        counted.filter(|(_, count)| *count > 0)
    }

    /// How often it was met.
    pub fn count(&self, notice: Notice) -> u64 {
        self.notices[notice as usize]
    }

    /// Evidence that the dump is not what it should be.
    pub fn warnings(&self) -> Vec<String> {
        // One empty key is a key like any other.
        self.words(Warning, |notice| u64::from(notice == Notice::EmptyKey))
    }

    /// Why the input is not whole, where its replies show that.
    pub fn cut_off(&self) -> Option<String> {
        match self.missing {
            1.. => Some(format!(
                "its replies announce {} more keys: the dump was cut off",
                self.missing
            )),
            _ if self.count(Notice::CutOff) > 0 => {
                Some("it ends in the middle of a reply: the dump was cut off".to_owned())
            }
            _ => None,
        }
    }

    /// What is odd, and may be right.
    pub fn notes(&self) -> Vec<String> {
        self.words(Note, |_| 0)
    }

    fn words(&self, wanted: Says, harmless: impl Fn(Notice) -> u64) -> Vec<String> {
        let rows = WORDS
            .iter()
            .filter(|(notice, _, says)| *says == wanted && self.count(*notice) > harmless(*notice));
        rows.map(|(notice, words, _)| format!("{words}: {}", self.count(*notice)))
            .collect()
    }
}

impl std::ops::AddAssign for Seen {
    fn add_assign(&mut self, other: Seen) {
        self.keys += other.keys;
        self.operations += other.operations;
        self.rejected += other.rejected;
        self.missing = self.missing.wrapping_add(other.missing);
        self.written_ms = self.written_ms.max(other.written_ms);
        self.notices
            .iter_mut()
            .zip(other.notices)
            .for_each(|(mine, theirs)| *mine += theirs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_notice_has_words() {
        for (at, (notice, _, _)) in WORDS.iter().enumerate() {
            assert_eq!(*notice as usize, at);
        }
    }

    #[test]
    fn one_empty_key_is_no_evidence() {
        let mut seen = Seen::default();
        seen.note(Notice::EmptyKey, 1);
        assert!(seen.warnings().is_empty());
        seen += seen;
        assert_eq!(
            seen.warnings(),
            ["empty lines, counted as empty keys, of which there can be only one: 2"]
        );
        assert!(seen.notes().is_empty());
    }
}
