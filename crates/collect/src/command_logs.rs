//! Commands that servers logged as slow or large within some seconds: COMMANDLOG of Valkey 8.1 and later, otherwise
//! SLOWLOG. New entries are recognised by their number, independent of server clocks.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::mem;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::text;
use slotscope_read::format::extremes::logged_words::LoggedWords;
use slotscope_read::source::collection::load::{CommandLogKind, LoggedCommand, LoggedCommands};

use crate::connection::{Access, Connection};
use crate::crew;
use crate::readings::Asked;
use crate::resp::{Commands, Reply};

/// Maximum entries read per log.
const MOST_ENTRIES: usize = 128;
/// Maximum commands listed per log, over all servers.
const MOST_LISTED: usize = 100;
/// Maximum characters of a command missing from the command table.
const COMMAND: usize = 64;

/// A log, and the command for its entries, without the count.
struct Log {
    kind: CommandLogKind,
    name: &'static str,
    last: Option<&'static [u8]>,
}

const COMMANDLOG: [Log; 3] = [
    command_log(CommandLogKind::Slow, b"slow"),
    command_log(CommandLogKind::LargeRequest, b"large-request"),
    command_log(CommandLogKind::LargeReply, b"large-reply"),
];
const SLOWLOG: [Log; 1] = [Log {
    kind: CommandLogKind::Slow,
    name: "SLOWLOG GET",
    last: None,
}];

const fn command_log(kind: CommandLogKind, last: &'static [u8]) -> Log {
    Log {
        kind,
        name: "COMMANDLOG GET",
        last: Some(last),
    }
}

impl Log {
    fn ask(&self, entries: usize, commands: &mut Commands) {
        let (entries, mut words) = (entries.to_string(), Vec::new());
        words.extend(self.name.split(' ').map(str::as_bytes));
        words.push(entries.as_bytes());
        words.extend(self.last);
        commands.add(self.name, &words);
    }
}

/// The servers whose logs will be read again.
pub(crate) struct Logs {
    started: Vec<Started>,
    /// Why the logs of one of the others will not.
    refusal: Option<Error>,
}

/// A server, and the last entry number of each of its logs.
struct Started {
    connection: Connection,
    id: Option<String>,
    name: String,
    logs: &'static [Log],
    last: Vec<Option<u64>>,
}

impl Logs {
    /// Records the last entries of these servers.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn start(access: &Access, servers: &[Asked]) -> Result<Logs> {
        let access = access.brief();
        let (started, refusal) = crew::answers(servers.iter(), |server| start(server, &access))?;
        Ok(Logs { started, refusal })
    }

    /// The commands of new entries; `None` if no log could be read. The second value is a reason why one could not.
    ///
    /// # Errors
    /// No thread can be started.
    pub(crate) fn finish(self) -> Result<(Option<LoggedCommands>, Option<String>)> {
        let (of_servers, refusal) = crew::answers(self.started.into_iter(), finish)?;
        let mut total = LoggedCommands::default();
        of_servers.iter().for_each(|server| total.add(server));
        total.commands = most(mem::take(&mut total.commands));
        let why = self.refusal.or(refusal);
        let why = why.map(|error| format!("slow commands: {error}"));
        Ok((Some(total).filter(|total| total.nodes > 0), why))
    }
}

/// The commands with the most time or bytes in each log.
fn most(mut commands: Vec<LoggedCommand>) -> Vec<LoggedCommand> {
    commands.sort_by(|a, b| {
        let order = |row: &LoggedCommand| (row.log, Reverse(row.amount));
        let names = |row: &LoggedCommand| (row.name.clone(), row.command.clone(), row.key.clone());
        order(a)
            .cmp(&order(b))
            .then_with(|| names(a).cmp(&names(b)))
    });
    let of_log = |log: &Log| {
        let commands = commands.iter().filter(|command| command.log == log.kind);
        commands.take(MOST_LISTED).cloned().collect::<Vec<_>>()
    };
    COMMANDLOG.iter().flat_map(of_log).collect()
}

/// Asks a server for the last entry of each log.
fn start(server: &Asked, access: &Access) -> Result<Started> {
    let mut connection = Connection::open(&server.address, access)?;
    let mut logs = &COMMANDLOG[..];
    let mut replies = ask(&mut connection, logs, 1)?;
    if matches!(replies[0], Reply::Error(_)) {
        logs = &SLOWLOG;
        replies = ask(&mut connection, logs, 1)?;
    }
    let newest = |(log, reply): (&Log, &Reply)| {
        let entries = entries(&connection, log, reply)?;
        Ok(entries.first().map(|entry| entry.number))
    };
    let numbers = logs.iter().zip(&replies).map(newest);
    let last = numbers.collect::<Result<_>>()?;
    Ok(Started {
        connection,
        id: server.id.clone(),
        name: server.name.clone(),
        logs,
        last,
    })
}

fn ask(connection: &mut Connection, logs: &[Log], entries: usize) -> Result<Vec<Reply>> {
    let mut commands = Commands::default();
    for log in logs {
        log.ask(entries, &mut commands);
    }
    connection.pipeline(&commands)
}

/// The new entries, by command and first key.
fn finish(mut started: Started) -> Result<LoggedCommands> {
    let replies = ask(&mut started.connection, started.logs, MOST_ENTRIES)?;
    let mut logged = LoggedCommands {
        nodes: 1,
        ..LoggedCommands::default()
    };
    for ((log, reply), last) in started.logs.iter().zip(&replies).zip(&started.last) {
        let entries = entries(&started.connection, log, reply)?;
        let newest = entries.first().map(|entry| entry.number);
        // A restarted server numbers from 0 again.
        let last = last.filter(|last| newest.is_some_and(|newest| newest >= *last));
        let is_new = |entry: &&Entry| last.is_none_or(|last| entry.number > last);
        let new: Vec<&Entry<'_>> = entries.iter().filter(is_new).collect();
        logged.entries += new.len() as u64;
        let came = newest.zip(last).map(|(newest, last)| newest - last);
        let is_cut = came.map_or(new.len() == MOST_ENTRIES, |came| came > new.len() as u64);
        logged.logs_cut += u64::from(is_cut);

        let mut commands: BTreeMap<(String, Option<&[u8]>), LoggedCommand> = BTreeMap::new();
        for entry in new {
            let words = LoggedWords::new(entry.words.clone());
            let (command, key) = (name(&words, entry.words[0]), words.first_key());
            let group = (command.clone(), key.map(|(key, _)| key));
            let of_group = commands.entry(group).or_insert_with(|| LoggedCommand {
                log: log.kind,
                id: started.id.clone(),
                name: started.name.clone(),
                command,
                key: key.map(|(key, _)| Name::from(key)),
                slot: key.and_then(|(key, is_whole)| is_whole.then(|| hashslot::slot(key))),
                entries: 0,
                amount: 0,
                most: 0,
            });
            of_group.entries += 1;
            of_group.amount = of_group.amount.saturating_add(entry.amount);
            of_group.most = of_group.most.max(entry.amount);
        }
        logged.commands.extend(commands.into_values());
    }
    Ok(logged)
}

/// The name of a command.
fn name(logged: &LoggedWords<'_>, word: &[u8]) -> String {
    let unknown = || text::name(&Name::from(word.to_ascii_lowercase().as_slice()), COMMAND);
    logged
        .command()
        .map_or_else(unknown, |known| known.name.to_owned())
}

/// An entry: its number, microseconds or bytes, and at least one word of the command.
struct Entry<'r> {
    number: u64,
    amount: u64,
    words: Vec<&'r [u8]>,
}

/// The entries of a log, newest first: `[[number, second, amount, [word, ...], ...], ...]`.
fn entries<'r>(connection: &Connection, log: &Log, reply: &'r Reply) -> Result<Vec<Entry<'r>>> {
    let entry = |reply: &'r Reply| {
        let [number, _, amount, words, ..] = reply.items()? else {
            return None;
        };
        let words = words.items()?.iter().map(Reply::text);
        Some(Entry {
            number: number.number()?,
            amount: amount.number()?,
            words: words.collect::<Option<Vec<_>>>()?,
        })
        .filter(|entry| !entry.words.is_empty())
    };
    match reply {
        Reply::Array(rows) => rows.iter().map(entry).collect::<Option<_>>(),
        Reply::Error(refusal) => return Err(connection.refused(log.name, refusal)),
        _ => None,
    }
    .ok_or_else(|| connection.odd(log.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::{access, asked, start as server, text};

    /// An entry as servers write it.
    fn entry(number: u64, amount: u64, words: &[&str]) -> Vec<u8> {
        let words = words.iter().flat_map(|word| text(word));
        let words: Vec<u8> = words.collect();
        let count = words.iter().filter(|byte| **byte == b'$').count();
        [
            format!("*6\r\n:{number}\r\n:1795347491\r\n:{amount}\r\n*{count}\r\n").into_bytes(),
            words,
            text("127.0.0.1:50872"),
            text(""),
        ]
        .concat()
    }

    fn log(entries: &[Vec<u8>]) -> Vec<u8> {
        [
            format!("*{}\r\n", entries.len()).into_bytes(),
            entries.concat(),
        ]
        .concat()
    }

    fn run(
        mut answer: impl FnMut(&str) -> Vec<u8> + Send + 'static,
    ) -> (Option<LoggedCommands>, Option<String>) {
        let asked = asked(server(move |command| Some(answer(command))));
        let logs = Logs::start(&access(), &[asked]).unwrap();
        logs.finish().unwrap()
    }

    #[test]
    fn a_log_that_lost_entries_is_counted_and_a_server_that_started_anew_has_new_ones_only() {
        for (before, entries, expected) in [
            // Numbers 7 to 9 are no longer in the log.
            (Some(6), vec![11, 10], (2, 1)),
            (Some(6), vec![1, 0], (2, 0)),
            (Some(6), vec![6], (0, 0)),
            (Some(6), vec![], (0, 0)),
            (None, vec![1, 0], (2, 0)),
            (None, (0..MOST_ENTRIES as u64).rev().collect(), (128, 1)),
        ] {
            let get = |number: &u64| entry(*number, 1, &["GET", "a"]);
            let (first, last) = (before.iter().map(get), entries.iter().map(get));
            let (first, last) = (
                log(&first.collect::<Vec<_>>()),
                log(&last.collect::<Vec<_>>()),
            );
            let (found, _) = run(move |command| match command {
                "SLOWLOG GET 1" => first.clone(),
                "SLOWLOG GET 128" => last.clone(),
                of if of.starts_with("COMMANDLOG") => b"-ERR unknown command\r\n".to_vec(),
                _ => b"+OK\r\n".to_vec(),
            });
            let found = found.unwrap();
            assert_eq!((found.entries, found.logs_cut), expected, "{entries:?}");
        }
    }

    #[test]
    fn an_odd_answer_is_reported() {
        for (reply, expected) in [
            (&b"+OK\r\n"[..], "is not that of a Redis or Valkey server"),
            (b"*1\r\n*2\r\n:1\r\n:2\r\n", "SLOWLOG GET is not that"),
            (
                b"*1\r\n*4\r\n:1\r\n:2\r\n:3\r\n*0\r\n",
                "SLOWLOG GET is not that",
            ),
        ] {
            let (found, refusal) = run(|command| match command {
                of if of.starts_with("CLIENT") => b"+OK\r\n".to_vec(),
                of if of.starts_with("COMMANDLOG") => b"-NOPERM no\r\n".to_vec(),
                _ => reply.to_vec(),
            });
            let refusal = refusal.unwrap();
            assert!(
                refusal.starts_with("slow commands: 127.0.0.1:"),
                "{refusal}"
            );
            assert!(refusal.contains(expected), "{refusal}");
            assert_eq!(found, None);
        }
    }
}
