//! The nodes being read, with their files and entries, and the choice of node for each slot.

use std::collections::{BTreeMap, HashMap};

use slotscope_base::error::Error;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::manifest::{BeforeAfter, NodeEntry};
use slotscope_read::source::collection::servers::Role;
use slotscope_report::output::WholeDirectory;

use crate::cluster::View;
use crate::members::Member;
use crate::node_file::NodeFile;
use crate::task::Outcome;

/// A node that failed this often is not asked again.
const FAILURES: u32 = 2;

/// A node being read.
pub(crate) struct Reader<'a> {
    /// Its file.
    pub file: NodeFile<'a>,
    /// Its entry in collect.json.
    pub entry: NodeEntry,
    failures: u32,
}

/// All nodes being read, by id.
pub(crate) struct Readers<'a> {
    directory: &'a WholeDirectory,
    /// The nodes, in the order first read.
    pub list: Vec<Reader<'a>>,
    by_id: BTreeMap<String, usize>,
    /// File names in use, each with the last number tried for conflicts.
    names: HashMap<String, usize>,
}

impl<'a> Readers<'a> {
    pub(crate) fn new(directory: &'a WholeDirectory) -> Self {
        Readers {
            directory,
            list: Vec::new(),
            by_id: BTreeMap::new(),
            names: HashMap::new(),
        }
    }

    /// The node to read a primary's slots from: a replica if requested and healthy.
    pub(crate) fn choose<'v>(
        &self,
        view: &'v View,
        primary: &str,
        from: Role,
    ) -> Option<&'v Member> {
        let is_fit = |member: &&Member| member.address.is_some() && !self.is_given_up(&member.id);
        let mut replicas = view.replicas(primary).filter(is_fit);
        let replica = replicas.next().filter(|_| from == Role::Replica);
        replica.or_else(|| view.members.get(primary).filter(is_fit))
    }

    fn is_given_up(&self, id: &str) -> bool {
        self.by_id
            .get(id)
            .is_some_and(|at| self.list[*at].failures >= FAILURES)
    }

    /// The index of a node, added if new.
    pub(crate) fn index(&mut self, member: &Member) -> usize {
        if let Some(at) = self.by_id.get(&member.id) {
            let entry = &mut self.list[*at].entry;
            (entry.role, entry.primary) = (member.role, member.primary.clone());
            return *at;
        }
        let at = self.list.len();
        self.by_id.insert(member.id.clone(), at);
        self.add(Some(member.id.clone()), member.name.clone(), member.role);
        self.list[at].entry.primary = member.primary.clone();
        at
    }

    /// Adds a node.
    pub(crate) fn add(&mut self, id: Option<String>, name: String, role: Role) {
        let file_name = self.file_name(&name);
        let file = NodeFile::new(self.directory, file_name);
        let entry = NodeEntry {
            id,
            name,
            role,
            primary: None,
            server: None,
            file: None,
            keys: 0,
            dbsize: BeforeAfter::default(),
            counted: None,
            repeats: 0,
            vanished: 0,
            strays: 0,
            stray_slots: Vec::new(),
            complete: false,
            error: None,
        };
        self.list.push(Reader {
            file,
            entry,
            failures: 0,
        });
    }

    /// `HOST-PORT.csv.zst`, numbered on conflicts; host names come from servers, and must not lead outside the
    /// directory.
    fn file_name(&mut self, name: &str) -> String {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let plain = |c: char| match c {
            ':' => '-',
            c if is_plain(c) => c,
            _ => '_',
        };
        let plain_name: String = name.chars().take(120).map(plain).collect();
        let stem = plain_name.trim_start_matches(['.', '-']);
        let named = |number: usize| match number {
            1 => format!("{stem}.csv.zst"),
            number => format!("{stem}.{number}.csv.zst"),
        };
        // Start at the last number tried: servers may give all nodes the same name.
        let tried = self.names.get(&named(1)).copied().unwrap_or(0);
        let is_free = |number: &usize| !self.names.contains_key(&named(*number));
        let number = (tried + 1..).find(is_free).unwrap_or_default();
        self.names.insert(named(1), number);
        self.names.insert(named(number), number);
        named(number)
    }
}

impl Reader<'_> {
    /// Records the outcome of a task; keys of `disturbed` slots are still migrating, not strays.
    pub(crate) fn done(&mut self, outcome: &Outcome, disturbed: &SlotSet) {
        let entry = &mut self.entry;
        entry.server = Some(outcome.server.clone());
        entry.dbsize.before = entry.dbsize.before.or(outcome.dbsize.before);
        entry.dbsize.after = outcome.dbsize.after;
        entry.repeats += outcome.repeats;
        entry.vanished += outcome.vanished;
        let strays = outcome.strays.outside(disturbed);
        if strays > entry.strays {
            entry.strays = strays;
            entry.stray_slots = outcome.strays.slots_outside(disturbed).ranges();
        }
        entry.error = None;
    }

    /// Records that a task failed.
    pub(crate) fn failed(&mut self, error: &Error) {
        self.failures += 1;
        self.entry.error = Some(error.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_files_are_plain_and_differ() {
        let directory = WholeDirectory::temporary().unwrap();
        let mut readers = Readers::new(&directory);
        for (name, expected) in [
            ("10.0.0.1:7000", "10.0.0.1-7000.csv.zst"),
            ("::1:7000", "1-7000.csv.zst"),
            ("../../etc/x:1", "_.._etc_x-1.csv.zst"),
            ("10.0.0.1:7000", "10.0.0.1-7000.2.csv.zst"),
            ("h\u{1b}[2J:1", "h__2J-1.csv.zst"),
            ("h-1.2", "h-1.2.csv.zst"),
            ("h:1", "h-1.csv.zst"),
            ("h:1", "h-1.3.csv.zst"),
        ] {
            readers.add(None, name.into(), Role::Primary);
            assert_eq!(readers.list.last().unwrap().file.name, expected);
        }
    }
}
