//! Reads the keys of one node: the slots of a task, each key once, gently.

use std::thread;
use std::time::{Duration, Instant};

use crate::collect::connection::Connection;
use crate::collect::cursors::Cursors;
use crate::collect::key_facts::{self, Fate, Heat, KeyFacts};
use crate::collect::manifest::{Level, Role};
use crate::collect::node_file::{NodeFile, Rows};
use crate::collect::pace::Pace;
use crate::collect::recent::Recent;
use crate::collect::resp::{Commands, Reply};
use crate::collect::server::{self, Server};
use crate::collect::slot_set::SlotSet;
use crate::collect::task::{OnPage, Outcome, Page, Plan, Task};
use crate::error::{Error, Result};
use hashslot::slot;

/// Commands of a pipeline that counts keys by slot.
const COUNTS_AT_ONCE: usize = 1024;
/// The keys of a slot of at most so many are asked for at once; a server does nothing else meanwhile.
const KEYS_AT_ONCE: u64 = 1000;
/// A key that came while a slot's keys were counted and asked for; a slot that got more is asked again.
const SLACK: u64 = 100;
/// Pages without a key before a scan is taken for endless: more than a table of 2^32 buckets has.
const EMPTY_PAGES: u64 = 1 << 22;

/// A scan under way.
struct Scan<'a, 'f> {
    connection: Connection,
    plan: &'a Plan<'a>,
    task: &'a Task,
    rows: Rows<'f, 'a>,
    on_page: OnPage<'a>,
    heat: Heat,
    has_table_a_slot: bool,
    pace: Pace,
    /// How long the last SCAN took.
    call: Option<Duration>,
    recent: Recent,
    outcome: Outcome,
}

/// Reads the keys of a task into a file.
///
/// # Errors
/// The node does not answer, refuses a command, or is not what it was; the file cannot be written.
pub fn keys(
    plan: &Plan<'_>,
    task: &Task,
    file: &mut NodeFile<'_>,
    on_page: OnPage<'_>,
) -> Result<Outcome> {
    let mut connection = Connection::open(&task.address, plan.access)?;
    if let Some(primary) = &task.primary {
        server::catch_up(&mut connection, primary, plan.access)?;
    }
    let server = Server::ask(&mut connection)?;
    server.check(task.role, connection.place())?;
    let skipped = prepare(&mut connection, task.role)?;
    on_page(Page::Expected(expected(&server, task)));
    let mut scan = Scan {
        connection,
        plan,
        task,
        rows: file.open()?,
        on_page,
        heat: server.heat(task.role),
        has_table_a_slot: server.has_table_a_slot(),
        pace: Pace::new(plan.max_load),
        call: None,
        recent: Recent::new(plan.remembered),
        outcome: Outcome::new(&server),
    };
    scan.outcome.skipped = skipped;
    let read = scan.all(&server);
    // Also after an error: what follows it in the file has to begin anew.
    scan.rows.finish()?;
    read.map(|()| scan.outcome)
}

/// Counts the keys of a task's slots, in database 0.
///
/// # Errors
/// The node does not answer, or refuses.
pub fn counts(plan: &Plan<'_>, task: &Task) -> Result<Outcome> {
    let mut connection = Connection::open(&task.address, plan.access)?;
    let server = Server::ask(&mut connection)?;
    let mut outcome = Outcome::new(&server);
    outcome.counts = count_keys(&mut connection, &task.slots, &mut Pace::new(plan.max_load))?;
    outcome.dbsize.after = outcome.dbsize.before;
    Ok(outcome)
}

/// Sets up a connection for reading; returns what the server does not know.
fn prepare(connection: &mut Connection, role: Role) -> Result<Vec<&'static str>> {
    if role == Role::Replica {
        connection.call("READONLY", &[b"READONLY"])?;
    }
    let mut skipped = Vec::new();
    if let Reply::Error(_) = connection.ask("CLIENT NO-TOUCH", &[b"CLIENT", b"NO-TOUCH", b"ON"])? {
        skipped.push("CLIENT NO-TOUCH is not known or not allowed: reading the length of a value counts as a use of it");
    }
    if role == Role::Replica {
        skipped.push("LFU counters and idle times: replicas count their own reads (--from primaries has those of clients)");
    }
    Ok(skipped)
}

/// About how many keys the task's slots have.
fn expected(server: &Server, task: &Task) -> u64 {
    let part = task.slots.len() as f64 / task.owned.len().max(1) as f64;
    (server.keys() as f64 * part) as u64
}

impl Scan<'_, '_> {
    /// Reads all databases, and sees that the node is what it was.
    fn all(&mut self, before: &Server) -> Result<()> {
        for (database, _) in before.databases() {
            self.database(database)?;
        }
        if before.databases().iter().any(|(number, _)| *number != 0) {
            self.connection.call("SELECT", &[b"SELECT", b"0"])?;
        }
        let after = Server::ask(&mut self.connection)?;
        after.check(self.task.role, self.connection.place())?;
        if after.incarnation() != before.incarnation() {
            let what =
                "the server started anew or took other data while it was read; run this again";
            return Err(Error::bad(self.connection.place(), what));
        }
        self.outcome.dbsize.after = Some(after.keys());
        if self.plan.is_cluster {
            self.outcome.counts =
                count_keys(&mut self.connection, &self.task.slots, &mut self.pace)?;
        }
        Ok(())
    }

    fn database(&mut self, number: u64) -> Result<()> {
        // Servers in a cluster that know one database refuse SELECT to users with few rights.
        if !self.plan.is_cluster || number != 0 {
            self.connection
                .call("SELECT", &[b"SELECT", number.to_string().as_bytes()])?;
        }
        self.recent.clear();
        let is_most = 2 * self.task.slots.len() > self.task.owned.len();
        match self.plan.is_cluster && !is_most {
            true => self.slot_by_slot(number),
            false => self.whole(number, &self.task.slots.clone()),
        }
    }

    /// SCAN from start to end; `wanted` are the slots whose keys are taken.
    fn whole(&mut self, database: u64, wanted: &SlotSet) -> Result<()> {
        let mut cursor = b"0".to_vec();
        let (mut returned, mut limit, mut empty) = (0_u64, 0, 0);
        let mut cursors = Cursors::default();
        loop {
            let (next, keys) = self.page(&cursor)?;
            returned += keys.len() as u64;
            empty = if keys.is_empty() { empty + 1 } else { 0 };
            if returned > limit {
                limit = self.most_keys()?;
            }
            if returned > limit || empty > EMPTY_PAGES || cursors.come_again(&next) {
                return Err(self.endless());
            }
            self.take(database, keys, wanted)?;
            if next == b"0" {
                return Ok(());
            }
            cursor = next;
        }
    }

    /// Far more keys than a scan returns of as many as there are now.
    fn most_keys(&mut self) -> Result<u64> {
        let reply = self.connection.call("DBSIZE", &[b"DBSIZE"])?;
        let keys = reply
            .number()
            .ok_or_else(|| self.connection.odd("DBSIZE"))?;
        Ok(keys.saturating_mul(8).saturating_add(1_000_000))
    }

    /// Few slots of many: the keys of a small one at once, a large one by SCAN from its place.
    fn slot_by_slot(&mut self, database: u64) -> Result<()> {
        let counts = count_keys(&mut self.connection, &self.task.slots, &mut self.pace)?;
        let (mut keys, mut large) = (Vec::new(), SlotSet::none());
        for (slot, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            match self.keys_in_slot(slot, count)? {
                Some(more) => keys.extend(more),
                None if self.has_table_a_slot => self.slot(database, slot)?,
                None => large.insert(slot),
            }
            if keys.len() as u64 >= self.plan.count {
                self.take(
                    database,
                    std::mem::take(&mut keys),
                    &self.task.slots.clone(),
                )?;
            }
        }
        self.take(database, keys, &self.task.slots.clone())?;
        match large.is_empty() {
            true => Ok(()),
            false => self.whole(database, &large),
        }
    }

    /// The keys of a small slot; `None` of a large one.
    fn keys_in_slot(&mut self, slot: u16, count: u64) -> Result<Option<Vec<Vec<u8>>>> {
        if count > KEYS_AT_ONCE {
            return Ok(None);
        }
        let most = count + SLACK;
        let (slot, number) = (slot.to_string(), most.to_string());
        let words: [&[u8]; 4] = [
            b"CLUSTER",
            b"GETKEYSINSLOT",
            slot.as_bytes(),
            number.as_bytes(),
        ];
        let reply = self.connection.call("CLUSTER GETKEYSINSLOT", &words)?;
        let keys = texts(reply).ok_or_else(|| self.connection.odd("CLUSTER GETKEYSINSLOT"))?;
        Ok(Some(keys).filter(|keys| (keys.len() as u64) < most))
    }

    /// SCAN of one slot: its cursors end in the number of the slot.
    fn slot(&mut self, database: u64, slot: u16) -> Result<()> {
        let wanted = SlotSet::of(|other| other == slot);
        let mut cursor = slot.to_string().into_bytes();
        let (mut pages, limit) = (0_u64, self.most_keys()?);
        let mut cursors = Cursors::default();
        loop {
            let (next, keys) = self.page(&cursor)?;
            self.take(database, keys, &wanted)?;
            pages += 1;
            let number = std::str::from_utf8(&next)
                .ok()
                .and_then(|text| text.parse::<u64>().ok());
            let number = number.ok_or_else(|| self.connection.odd("SCAN"))?;
            if number == 0 || number & 0x3FFF != u64::from(slot) {
                return Ok(());
            }
            if pages > limit || cursors.come_again(&next) {
                return Err(self.endless());
            }
            cursor = next;
        }
    }

    fn endless(&self) -> Error {
        let what = "SCAN does not come to an end; check what serves there";
        Error::bad(self.connection.place(), what)
    }

    fn page(&mut self, cursor: &[u8]) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        let count = self.plan.count.to_string();
        let words: [&[u8]; 4] = [b"SCAN", cursor, b"COUNT", count.as_bytes()];
        let start = Instant::now();
        let reply = self.connection.call("SCAN", &words)?;
        self.call = Some(start.elapsed());
        let page = match reply {
            Reply::Array(parts) => <[Reply; 2]>::try_from(parts).ok(),
            _ => None,
        };
        let page = page.and_then(|[next, keys]| Some((next.into_text()?, texts(keys)?)));
        let is_cursor = |next: &[u8]| !next.is_empty() && next.iter().all(u8::is_ascii_digit);
        let page = page.filter(|(next, _)| is_cursor(next));
        page.ok_or_else(|| self.connection.odd("SCAN"))
    }

    /// Writes those of the keys that are of `wanted` slots and new, and pauses.
    fn take(&mut self, database: u64, keys: Vec<Vec<u8>>, wanted: &SlotSet) -> Result<()> {
        let mut new = Vec::with_capacity(keys.len());
        for key in keys {
            let slot = slot(&key);
            let is_new =
                (wanted.contains(slot) || !self.task.owned.contains(slot)) && self.is_new(&key);
            match (is_new, wanted.contains(slot)) {
                (true, true) => new.push(key),
                (true, false) => *self.outcome.strays.entry(slot).or_default() += 1,
                (false, _) => {}
            }
        }
        match self.plan.level {
            Level::Sizes => self.write_with_facts(database, &new)?,
            Level::Keys | Level::Slots => {
                for key in &new {
                    self.rows
                        .add(key, database, slot(key), &KeyFacts::default())?;
                }
            }
        }
        (self.on_page)(Page::Read(new.len() as u64));
        let busy = self.connection.take_busy();
        thread::sleep(self.pace.pause(busy, self.call.take()));
        Ok(())
    }

    fn is_new(&mut self, key: &[u8]) -> bool {
        let is_new = self.recent.note(key);
        self.outcome.repeats += u64::from(!is_new);
        is_new
    }

    fn write_with_facts(&mut self, database: u64, keys: &[Vec<u8>]) -> Result<()> {
        for keys in keys.chunks(self.plan.keys_at_once()) {
            let fates = key_facts::ask(&mut self.connection, keys, self.heat)?;
            for (key, fate) in keys.iter().zip(fates) {
                match fate {
                    Fate::Known(facts) => self.rows.add(key, database, slot(key), &facts)?,
                    Fate::Vanished => self.outcome.vanished += 1,
                    Fate::Elsewhere | Fate::Changed | Fate::Down => {
                        self.outcome.disturbed.insert(slot(key))
                    }
                }
            }
            thread::sleep(self.pace.pause(self.connection.take_busy(), None));
        }
        Ok(())
    }
}

/// COUNTKEYSINSLOT of each slot.
fn count_keys(
    connection: &mut Connection,
    slots: &SlotSet,
    pace: &mut Pace,
) -> Result<Vec<(u16, u64)>> {
    let slots: Vec<u16> = slots.iter().collect();
    let mut counts = Vec::with_capacity(slots.len());
    for slots in slots.chunks(COUNTS_AT_ONCE) {
        let mut commands = Commands::default();
        for slot in slots {
            let slot = slot.to_string();
            commands.add(
                "CLUSTER COUNTKEYSINSLOT",
                &[b"CLUSTER", b"COUNTKEYSINSLOT", slot.as_bytes()],
            );
        }
        connection.take_busy();
        for (slot, reply) in slots.iter().zip(connection.pipeline(&commands)?) {
            let count = match &reply {
                Reply::Error(said) => {
                    return Err(connection.refused("CLUSTER COUNTKEYSINSLOT", said));
                }
                reply => reply.number(),
            };
            counts.push((
                *slot,
                count.ok_or_else(|| connection.odd("CLUSTER COUNTKEYSINSLOT"))?,
            ));
        }
        thread::sleep(pace.pause(connection.take_busy(), None));
    }
    Ok(counts)
}

fn texts(reply: Reply) -> Option<Vec<Vec<u8>>> {
    match reply {
        Reply::Array(items) => items.into_iter().map(Reply::into_text).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::run::replaces;
    use crate::collect::scripted::{access, page, start, text};
    use crate::report::directory::WholeDirectory;

    /// Reads a scripted server; what came of it, and the number of rows.
    fn read(
        level: Level,
        is_cluster: bool,
        mut answer: impl FnMut(&str) -> Option<Vec<u8>> + Send + 'static,
    ) -> Result<(Outcome, u64)> {
        let info = text("redis_version:7.0.0\r\nrun_id:a\r\ndb0:keys=4,expires=0\r\n");
        let address = start(move |command| match command {
            "INFO" => Some(info.clone()),
            "DBSIZE" => Some(b":4\r\n".to_vec()),
            other => answer(other).or(Some(b"+OK\r\n".to_vec())),
        });
        let access = access();
        let plan = Plan {
            access: &access,
            level,
            count: 10,
            max_load: 100.0,
            remembered: 100,
            is_cluster,
        };
        let task = Task {
            address,
            role: Role::Primary,
            primary: None,
            slots: SlotSet::all(),
            owned: SlotSet::all(),
        };
        let folder = tempfile::tempdir().unwrap();
        let directory = WholeDirectory::create(&folder.path().join("out"), replaces(false))?;
        let mut file = NodeFile::new(&directory, "h-1.csv.zst".into());
        let outcome = keys(&plan, &task, &mut file, &|_| {})?;
        Ok((outcome, file.keys()))
    }

    #[test]
    fn a_key_that_comes_again_is_written_once() {
        let answer = |command: &str| match command {
            "SCAN 0 COUNT 10" => Some(page("7", &["a", "b", "a"])),
            "SCAN 7 COUNT 10" => Some(page("0", &["b", "c"])),
            _ => None,
        };
        let (outcome, rows) = read(Level::Keys, false, answer).unwrap();
        assert_eq!((outcome.repeats, rows), (2, 3));
        assert_eq!(outcome.dbsize.after, Some(4));
    }

    #[test]
    fn keys_that_vanish_move_or_change_while_they_are_read_are_not_taken_for_those_that_stay() {
        let mut types = 0;
        let answer = move |command: &str| {
            let reply: &[u8] = match command {
                "SCAN 0 COUNT 10" => {
                    return Some(page("0", &["gone", "moved", "changed", "there"]));
                }
                "TYPE gone" => b"+none\r\n",
                "TYPE moved" | "PTTL moved" => b"-MOVED 3 h:1\r\n",
                "TYPE changed" => {
                    types += 1;
                    if types == 1 {
                        b"+list\r\n"
                    } else {
                        b"+string\r\n"
                    }
                }
                "LLEN changed" => b"-WRONGTYPE Operation against a key\r\n",
                "TYPE there" => b"+hash\r\n",
                "PTTL gone" => b":-2\r\n",
                other if other.starts_with("PTTL") => b":-1\r\n",
                other if other.starts_with("OBJECT ENCODING") => b"+listpack\r\n",
                other if other.starts_with("OBJECT") => b":5\r\n",
                other if other.starts_with("MEMORY") => b":100\r\n",
                "HLEN there" => b":2\r\n",
                _ => return None,
            };
            Some(reply.to_vec())
        };
        let (outcome, rows) = read(Level::Sizes, false, answer).unwrap();
        assert_eq!((outcome.vanished, rows), (1, 2));
        assert_eq!(
            outcome.disturbed.iter().collect::<Vec<_>>(),
            [slot(b"moved")]
        );
    }

    #[test]
    fn a_scan_that_does_not_end_is_given_up() {
        let keys: Vec<String> = (0..20_000).map(|i| i.to_string()).collect();
        let page = page("9", &keys.iter().map(String::as_str).collect::<Vec<_>>());
        let answer = move |command: &str| command.starts_with("SCAN").then(|| page.clone());
        let message = read(Level::Keys, false, answer).unwrap_err().to_string();
        assert!(
            message.contains("SCAN does not come to an end"),
            "{message}"
        );
    }

    #[test]
    fn a_command_that_is_refused_ends_the_scan_with_its_name() {
        let answer = |command: &str| match command {
            "SCAN 0 COUNT 10" => Some(page("0", &["k"])),
            "TYPE k" => Some(b"+string\r\n".to_vec()),
            "PTTL k" => Some(b"-NOPERM no permissions\r\n".to_vec()),
            _ => None,
        };
        let message = read(Level::Sizes, false, answer).unwrap_err().to_string();
        assert!(
            message.contains("PTTL is refused to this user"),
            "{message}"
        );
        let nonsense = |command: &str| command.starts_with("SCAN").then(|| b":1\r\n".to_vec());
        let message = read(Level::Keys, false, nonsense).unwrap_err().to_string();
        assert!(
            message.contains("the answer to SCAN is not that of"),
            "{message}"
        );
    }
}
