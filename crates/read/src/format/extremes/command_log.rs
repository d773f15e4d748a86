//! `command-log`: SLOWLOG GET and COMMANDLOG GET. An entry has a number, a timestamp in seconds, an amount (time or
//! size), the words of the command, and the client.

use slotscope_base::block::{Block, Piece};
use slotscope_base::command::Access;
use slotscope_base::metric::extreme::Extreme;

use crate::format::extremes::logged_words::{LoggedWords, start_of_cut};
use crate::format::extremes::reply::{self, Value};
use crate::format::extremes::{Text, amount, give};
use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader};

/// The format.
pub(crate) struct CommandLog;

impl Format for CommandLog {
    fn name(&self) -> &'static str {
        "command-log"
    }

    fn example(&self) -> &'static str {
        r#"[[14,1795216373,184,["GET","user:{1000}:profile"],"10.0.0.7:58548",""]] (SLOWLOG GET, COMMANDLOG GET)"#
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        reply::detect(head, |value, content| {
            let mut entries = Vec::new();
            find(value, content, &mut entries).is_ok() && !entries.is_empty()
        })
    }

    fn note(&self) -> Option<&'static str> {
        Some(
            "a command log has the slowest or largest commands, as far back as its length allows: no share of the traffic; \
             a command counts for each of its keys",
        )
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(reply::opened(self.name(), CommandLog))
    }
}

const CUT_KEY: &str = "a key of which the log has only the start: its slot is not known";
const CUT_WORDS: &str = "a command with keys among the words that the log leaves out";
const WRONG: &str = "a command without the keys that it has to have";
const NO_ENTRY: &str = "an entry of another form than those of SLOWLOG and COMMANDLOG";

impl Reader for CommandLog {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let mut gather = BatchBuilder::new(columns);
        reply::each(
            block,
            piece.from,
            &mut gather,
            |block, at, value, gather| {
                let mut entries = Vec::new();
                let outcome = find(value, block.content(), &mut entries);
                entries
                    .iter()
                    .for_each(|entry| entry.give(block, at, gather));
                outcome.map(|()| !entries.is_empty())
            },
        );
        gather.finish(block)
    }
}

/// An entry of the log.
struct Entry {
    words: Vec<Text>,
    second: u64,
    took: u64,
}

/// Finds the entries of a reply: three numbers, the words, and more.
fn find(value: &Value, content: &[u8], log: &mut Vec<Entry>) -> Result<(), &'static str> {
    let Value::List(items, is_whole) = value else {
        return Ok(());
    };
    match &items[..] {
        [
            Value::Bare(_),
            Value::Bare(second),
            Value::Bare(took),
            Value::List(words, true),
            ..,
        ] => {
            let number = |text: &Text| amount(text.of(content)).ok_or(NO_ENTRY);
            let text = |word: &Value| match word {
                Value::Text(text) => Some(*text),
                _ => None,
            };
            log.push(Entry {
                words: words.iter().filter_map(text).collect(),
                second: number(second)?,
                took: number(took)?,
            });
            Ok(())
        }
        [Value::Bare(_), ..] if *is_whole => Err(NO_ENTRY),
        items => items.iter().try_for_each(|item| find(item, content, log)),
    }
}

impl Entry {
    /// Emits the keys of the command.
    fn give(&self, block: &mut Block, at: usize, gather: &mut BatchBuilder<'_, '_>) {
        let content = block.content();
        let words = self.words.iter().map(|word| word.of(content));
        let logged = LoggedWords::new(words.collect());
        let Some(command) = logged.command() else {
            return gather.note(Notice::UnknownCommand);
        };
        if command.access == Access::Neither && !command.is_script() {
            return gather.note(Notice::NoKeyCommand);
        }
        let (keys, kept) = (logged.keys(command).map_err(|_| WRONG), logged.kept());
        let name = self.words[0].undo(block);
        block.content_mut()[name.0..name.1].make_ascii_lowercase();
        let keys = match keys {
            Ok(keys) => keys,
            Err(reason) => return gather.reject(at, reason),
        };
        if keys.is_empty() {
            gather.note(Notice::NoKeyCommand);
        }
        if keys.iter().any(|key| *key >= kept) {
            gather.reject(at, CUT_WORDS);
        }
        for key in keys.into_iter().filter(|key| *key < kept) {
            let key = self.words[key].undo(block);
            if start_of_cut(&block.content()[key.0..key.1]).is_some() {
                gather.reject(at, CUT_KEY);
                continue;
            }
            let values = gather.values();
            values.times.push(self.second.saturating_mul(1000));
            values.commands.push(name.0 as u32, name.1 as u32);
            give(gather, block, key, (Extreme::Logged, self.took));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{Found, assert_reads, named, read_whole};

    /// Replies of Valkey 9.1.2, shortened.
    const JSON: &[u8] = b"[[20,1795347491,4,[\"get\",\"k:1 \\\"x\"],\"127.0.0.1:50872\",\"\"],\
        [8,1795347492,7,[\"SET\",\"\xff\xc3\xa9\",\"1\"],\"127.0.0.1:50750\",\"\"],\
        [7,1795347491,955,[\"COMMAND\",\"DOCS\"],\"127.0.0.1:50750\",\"\"],\
        [6,1795347491,10,[\"mset\",\"bin\",\"\xff\\u0000\",\"c\",\"d\"],\"127.0.0.1:50734\",\"\"]]\n";

    fn entry(words: &[&str]) -> Found {
        let json = format!("[[1,2,3,[\"{}\"],\"a:1\",\"\"]]", words.join("\",\""));
        read_whole(&CommandLog, json.as_bytes())
    }

    #[test]
    fn each_key_of_a_command_has_what_the_command_took() {
        let expected = r#"k:1 \"x by=get at=1795347491000 Logged=4; \xff\xc3\xa9 by=set at=1795347492000 Logged=7; bin by=mset at=1795347491000 Logged=10; c by=mset at=1795347491000 Logged=10; NoKeyCommand=1"#;
        assert_reads(&CommandLog, &[(JSON, expected)]);
        assert_eq!(named(JSON, true), Some("command-log"));
        for no in [
            &b"[[1,2,\"a\",[\"b\"]]]"[..],
            b"[[1,2,3,4]]",
            b"[]",
            b"[\"1\",[\"a\"]]",
            b"1) \"a\"\n2) \"b\"\n",
            b"1) 1) (integer) 0\n   2) (integer) 5\n   3) 1) \"a\"\n",
            b"user:1\n",
            b"",
        ] {
            let head = Head {
                bytes: no,
                whole: true,
            };
            let no_log = CommandLog.detect(head) != Detected::Yes;
            assert!(no_log, "{}", no.escape_ascii());
        }
    }

    #[test]
    fn what_the_log_leaves_out_is_rejected() {
        let long = format!("{}... (72 more bytes)", "a".repeat(128));
        let found = entry(&["set", &long, "v"]);
        assert_eq!(found.rejects, [(0, CUT_KEY.to_owned())]);
        // A key may look like a truncation mark.
        let short = format!("{}... (72 more bytes)", "a".repeat(127));
        assert_eq!(entry(&["set", &short, "v"]).keys, [short.as_bytes()]);

        let mut words = vec!["mset"];
        words.resize(31, "1");
        words.push("... (30 more arguments)");
        let found = entry(&words);
        assert_eq!(found.keys.len(), 15);
        assert_eq!(found.rejects, [(0, CUT_WORDS.to_owned())]);
        assert_eq!(entry(&["mset", "a"]).rejects, [(0, WRONG.to_owned())]);
        words[31] = "... (99999999999 more arguments)";
        assert!(entry(&words).keys.len() < 32);
    }
}
