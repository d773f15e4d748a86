//! Reads the keys of one node, for the slots of a task: each key once, throttled.

mod counts;

use std::thread;

use hashslot::slot;
use slotscope_base::error::{Error, Result};
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::manifest::Level;
use slotscope_read::source::collection::servers::Role;

use crate::connection::Connection;
use crate::cursors::Cursors;
use crate::key_facts::{self, Fate, KeyFacts, Questions};
use crate::node_file::{NodeFile, Rows};
use crate::pace::Pace;
use crate::recent::Recent;
use crate::resp::Reply;
use crate::scan::counts::count_keys;
pub(crate) use crate::scan::counts::counts;
use crate::server::{self, Server};
use crate::slot_keys;
use crate::task::{OnPage, Outcome, Page, Plan, Task};

/// Keys of a slot up to this size are requested at once, which blocks the server meanwhile.
const KEYS_AT_ONCE: u64 = 1000;
/// Allowance for keys added between counting and listing a slot; if more were added, it is asked again.
const SLACK: u64 = 100;
/// Empty pages until a scan counts as endless: more than a table of 2^32 buckets has.
const EMPTY_PAGES: u64 = 1 << 22;

/// An upper bound on keys of any server: its tables have at most 2^32 buckets.
const MOST_KEYS: u64 = 1 << 32;

/// The note if keys are read while the cluster is down.
const NAMES_ONLY: &str = "types, sizes and expiry of keys: the cluster is down, and its servers answer for names alone; \
    repair it, then collect again";

/// A scan in progress.
struct Scan<'a, 'f> {
    connection: Connection,
    plan: &'a Plan<'a>,
    task: &'a Task,
    rows: Rows<'f, 'a>,
    on_page: OnPage<'a>,
    questions: Questions,
    has_table_a_slot: bool,
    pace: Pace,
    recent: Recent,
    /// Keys returned by SCAN, over all databases.
    returned: u64,
    outcome: Outcome,
}

/// Reads the keys of a task into a file.
///
/// # Errors
/// The node does not answer, refuses a command, or has changed; the file cannot be written.
pub(crate) fn keys(
    plan: &Plan<'_>,
    task: &Task,
    file: &mut NodeFile<'_>,
    on_page: OnPage<'_>,
) -> Result<Outcome> {
    let mut connection = Connection::open_patiently(&task.address, plan.access)?;
    if let Some(primary) = &task.primary {
        server::catch_up(&mut connection, primary, plan.access)?;
    }
    let server = Server::ask(&mut connection)?;
    server.check(task.role, connection.place())?;
    let skipped = prepare(&mut connection, &server, task.role)?;
    on_page(Page::Expected(expected(&server, task)));
    let mut scan = Scan {
        connection,
        plan,
        task,
        rows: file.open()?,
        on_page,
        questions: Questions::new(server.heat(task.role)),
        has_table_a_slot: server.has_table_a_slot(),
        pace: Pace::new(plan.max_load),
        recent: Recent::new(plan.remembered),
        returned: 0,
        outcome: Outcome::new(&server),
    };
    scan.outcome.skipped = skipped;
    let result = scan.all(&server);
    // Even after an error: whatever follows in the file must start a new frame.
    scan.rows.finish()?;
    if let Some(why) = scan.questions.without_memory {
        scan.outcome.skipped.push(why);
        scan.outcome.without_sizes = true;
    }
    if scan.outcome.names_only {
        scan.outcome.skipped.push(NAMES_ONLY);
    }
    result.map(|()| scan.outcome)
}

/// Prepares a connection for reading; returns what the server does not support.
fn prepare(connection: &mut Connection, server: &Server, role: Role) -> Result<Vec<&'static str>> {
    if role == Role::Replica {
        connection.call("READONLY", &[b"READONLY"])?;
    }
    let mut skipped = Vec::new();
    let reply = connection.ask("CLIENT NO-TOUCH", &[b"CLIENT", b"NO-TOUCH", b"ON"])?;
    // No server before Redis 7.2 knows it, and a replica's access times do not matter.
    if let (Role::Primary, Reply::Error(refusal)) = (role, reply)
        && refusal.starts_with("NOPERM")
    {
        skipped.push("times of last use as they were: CLIENT NO-TOUCH is not allowed, and reading the length of a value counts as a use of it");
    }
    // Servers know one or the other.
    if role == Role::Replica {
        skipped.push(if server.field("maxmemory_policy").ends_with("lfu") {
            "LFU counters: replicas count their own reads (--from primaries has those of clients)"
        } else {
            "idle times: replicas count their own reads (--from primaries has those of clients)"
        });
    }
    Ok(skipped)
}

/// The approximate number of keys in the task's slots.
fn expected(server: &Server, task: &Task) -> u64 {
    let part = task.slots.len() as f64 / task.owned.len().max(1) as f64;
    (server.keys() as f64 * part) as u64
}

impl Scan<'_, '_> {
    /// Reads all databases, and checks that the node is unchanged.
    fn all(&mut self, before: &Server) -> Result<()> {
        for database in before.databases() {
            self.database(database)?;
        }
        if before.databases().any(|number| number != 0) {
            self.connection.call("SELECT", &[b"SELECT", b"0"])?;
        }
        let after = Server::ask(&mut self.connection)?;
        after.check(self.task.role, self.connection.place())?;
        if after.incarnation() != before.incarnation() {
            let reason =
                "the server started anew or took other data while it was read; run this again";
            return Err(Error::bad(self.connection.place(), reason));
        }
        self.outcome.dbsize.after = Some(after.keys());
        if self.plan.is_cluster {
            self.outcome.counts = count_keys(&mut self.connection, &self.task.slots, self.pace)?;
        }
        Ok(())
    }

    fn database(&mut self, number: u64) -> Result<()> {
        // Cluster servers with a single database refuse SELECT to restricted users.
        if !self.plan.is_cluster || number != 0 {
            self.connection
                .call("SELECT", &[b"SELECT", number.to_string().as_bytes()])?;
        }
        self.recent.clear();
        let is_most = 2 * self.task.slots.len() > self.task.owned.len();
        if self.plan.is_cluster && !is_most {
            self.slot_by_slot(number)
        } else {
            self.whole(number, &self.task.slots.clone())
        }
    }

    /// SCAN from start to end; keeps keys in `wanted` slots.
    fn whole(&mut self, database: u64, wanted: &SlotSet) -> Result<()> {
        let mut cursor = b"0".to_vec();
        let (start, mut limit, mut empty) = (self.returned, 0, 0);
        let mut cursors = Cursors::default();
        loop {
            let (next, keys) = self.page(&cursor)?;
            let returned = self.returned - start;
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

    /// Far more keys than a scan should return for the current number of keys.
    fn most_keys(&mut self) -> Result<u64> {
        let reply = self.connection.call("DBSIZE", &[b"DBSIZE"])?;
        let keys = reply
            .number()
            .ok_or_else(|| self.connection.odd("DBSIZE"))?;
        if keys > MOST_KEYS {
            let reason = "DBSIZE counts more keys than a server can have; check what serves there";
            return Err(Error::bad(self.connection.place(), reason));
        }
        Ok((8 * keys + 1_000_000).min(MOST_KEYS))
    }

    /// For a few of many slots: lists a small slot's keys at once, and scans a large one from its position.
    fn slot_by_slot(&mut self, database: u64) -> Result<()> {
        let counts = count_keys(&mut self.connection, &self.task.slots, self.pace)?;
        let (mut keys, mut large) = (Vec::new(), SlotSet::none());
        for (slot, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
            match self.keys_in_slot(slot, count)? {
                Some(names) => keys.extend(names),
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
        if large.is_empty() {
            Ok(())
        } else {
            self.whole(database, &large)
        }
    }

    /// The keys of a small slot; `None` for a large one.
    fn keys_in_slot(&mut self, slot: u16, count: u64) -> Result<Option<Vec<Vec<u8>>>> {
        if count > KEYS_AT_ONCE {
            return Ok(None);
        }
        let most = count + SLACK;
        let keys = slot_keys::names(&mut self.connection, slot, most)?;
        Ok(Some(keys).filter(|keys| (keys.len() as u64) < most))
    }

    /// SCAN of one slot: its cursors end with the slot number.
    fn slot(&mut self, database: u64, slot: u16) -> Result<()> {
        let wanted = SlotSet::of(|other| other == slot);
        let mut cursor = slot.to_string().into_bytes();
        let (mut pages, start, limit) = (0_u64, self.returned, self.most_keys()?);
        let mut cursors = Cursors::default();
        loop {
            let (next, keys) = self.page(&cursor)?;
            self.take(database, keys, &wanted)?;
            pages += 1;
            let number = std::str::from_utf8(&next)
                .ok()
                .and_then(|text| text.parse::<u64>().ok())
                .ok_or_else(|| self.connection.odd("SCAN"))?;
            if number == 0 || number & 0x3FFF != u64::from(slot) {
                return Ok(());
            }
            let returned = self.returned - start;
            if pages.max(returned) > limit || cursors.come_again(&next) {
                return Err(self.endless());
            }
            cursor = next;
        }
    }

    fn endless(&self) -> Error {
        let reason = "SCAN does not come to an end; check what serves there";
        Error::bad(self.connection.place(), reason)
    }

    fn page(&mut self, cursor: &[u8]) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        let count = self.plan.count.to_string();
        let words: [&[u8]; 4] = [b"SCAN", cursor, b"COUNT", count.as_bytes()];
        let reply = self.connection.call("SCAN", &words)?;
        let parts = match reply {
            Reply::Array(parts) => <[Reply; 2]>::try_from(parts).ok(),
            _ => None,
        };
        let is_cursor = |next: &[u8]| !next.is_empty() && next.iter().all(u8::is_ascii_digit);
        let (next, keys) = parts
            .and_then(|[next, keys]| Some((next.into_text()?, keys.into_texts()?)))
            .filter(|(next, _)| is_cursor(next))
            .ok_or_else(|| self.connection.odd("SCAN"))?;
        self.returned += keys.len() as u64;
        Ok((next, keys))
    }

    /// Writes new keys in `wanted` slots, and pauses.
    fn take(&mut self, database: u64, keys: Vec<Vec<u8>>, wanted: &SlotSet) -> Result<()> {
        let mut new = Vec::with_capacity(keys.len());
        for key in keys {
            let slot = slot(&key);
            let is_new =
                (wanted.contains(slot) || !self.task.owned.contains(slot)) && self.is_new(&key);
            match (is_new, wanted.contains(slot)) {
                (true, true) => new.push(key),
                (true, false) => self.outcome.strays.add(slot),
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
        drop(new);
        self.connection.forget();
        thread::sleep(self.pace.pause(self.connection.take_busy()));
        Ok(())
    }

    fn is_new(&mut self, key: &[u8]) -> bool {
        let is_new = self.recent.note(key);
        self.outcome.repeats += u64::from(!is_new);
        is_new
    }

    fn write_with_facts(&mut self, database: u64, keys: &[Vec<u8>]) -> Result<()> {
        for keys in keys.chunks(self.plan.keys_at_once()) {
            // After one full wait for a node that is down, do not wait again for each page.
            let fates = if self.outcome.names_only {
                vec![Fate::Down; keys.len()]
            } else {
                let outage = self.plan.outage;
                key_facts::ask(&mut self.connection, keys, &mut self.questions, outage)?
            };
            for (key, fate) in keys.iter().zip(fates) {
                match fate {
                    Fate::Known(facts) => self.rows.add(key, database, slot(key), &facts)?,
                    Fate::Vanished => self.outcome.vanished += 1,
                    Fate::Elsewhere | Fate::Changed => self.outcome.disturbed.insert(slot(key)),
                    Fate::Down => {
                        self.outcome.names_only = true;
                        let unknown = KeyFacts::default();
                        self.rows.add(key, database, slot(key), &unknown)?;
                    }
                }
            }
            thread::sleep(self.pace.pause(self.connection.take_busy()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
