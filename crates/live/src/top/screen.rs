//! The state of the screen, and the effect of key presses, independent of terminal and servers.

use ratatui::crossterm::event::KeyCode;

use slotscope_collect::slot_keys::{SlotKey, SlotKeys};
use slotscope_model::state::State;

use crate::top::columns::{Column, Row};
use crate::top::rows::{Cluster, Health, Shard, Slot};

#[derive(Default)]
pub(crate) struct Screen {
    pub cluster_name: String,
    /// The last reading.
    pub read: Option<Read>,
    /// The table with the cursor.
    pub place: Place,
    /// The cursor of each table.
    pub shards: Cursor,
    pub slots: Cursor,
    pub keys: Cursor,
    /// If set, only this shard's slots are listed.
    pub only: Option<String>,
    /// The slot whose keys are listed.
    pub opened: Option<Opened>,
    pub is_paused: bool,
    /// Why the cluster could not be read, until the next reading or key press.
    pub message: Option<String>,
}

/// A reading of the cluster.
#[derive(Default)]
pub(crate) struct Read {
    /// Its rows.
    pub cluster: Cluster,
    /// The verdict on the last seconds; absent for a single reading.
    pub verdict: Option<Verdict>,
    /// Its time, in milliseconds since 1970.
    pub at_ms: i64,
}

/// The verdict of `analyze` on some seconds: problems with their words, most urgent first.
pub(crate) type Verdict = Vec<(State, String, String)>;

/// A table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    Shards,
    #[default]
    Slots,
    Keys,
}

/// The cursor of a table.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cursor {
    /// The current row; absent for the first one, whichever that is.
    pub id: Option<String>,
    /// The sort column; absent for the table's default.
    pub sorted_by: Option<&'static str>,
}

/// A slot whose keys are listed.
pub(crate) struct Opened {
    pub slot: u16,
    /// Its keys, or why there are none; absent while reading.
    pub keys: Option<Result<SlotKeys, String>>,
}

/// A key press that the screen alone cannot handle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    Quit,
    /// Read the keys of a slot.
    Keys(u16),
    /// Stop or resume reading.
    Pause(bool),
}

impl Screen {
    /// Shows a reading, unless it arrives after pausing.
    pub(crate) fn take(&mut self, read: Read) {
        if self.is_paused {
            return;
        }
        self.message = None;
        // Nothing says which slot is hot.
        if self.read.is_none() && read.cluster.without_cpu.is_some() {
            self.place = Place::Shards;
        }
        self.read = Some(read);
    }

    /// Shows why the cluster could not be read: no primary answers, so earlier data no longer applies.
    pub(crate) fn fail(&mut self, why: String) {
        if let Some(read) = &mut self.read {
            read.cluster
                .shards
                .iter_mut()
                .for_each(|shard| shard.health = Health::SILENT);
            let down = (State::Down, State::Down.word(None).to_owned(), why.clone());
            read.verdict = Some(vec![down]);
        }
        self.message = Some(why);
    }

    /// Shows the keys of a slot, if it is still open.
    pub(crate) fn take_keys(&mut self, slot: u16, keys: Result<SlotKeys, String>) {
        if let Some(opened) = self.opened.as_mut().filter(|opened| opened.slot == slot) {
            opened.keys = Some(keys);
        }
    }

    /// Handles a key press.
    pub(crate) fn on_key(&mut self, key: KeyCode) -> Option<Wish> {
        self.message = None;
        match key {
            KeyCode::Char('q') => return Some(Wish::Quit),
            KeyCode::Char('p') => {
                self.is_paused = !self.is_paused;
                return Some(Wish::Pause(self.is_paused));
            }
            KeyCode::Char('s') => self.sort_by_next(),
            KeyCode::Tab | KeyCode::BackTab => self.change_table(),
            KeyCode::Enter => return self.enter(),
            KeyCode::Esc => self.go_back(),
            KeyCode::Up | KeyCode::Char('k') => self.move_by(-1),
            KeyCode::Down | KeyCode::Char('j') => self.move_by(1),
            KeyCode::PageUp => self.move_by(-10),
            KeyCode::PageDown => self.move_by(10),
            KeyCode::Home | KeyCode::Char('g') => self.move_by(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => self.move_by(isize::MAX),
            _ => {}
        }
        None
    }

    /// Opens the current row: the slots of a shard, or the keys of a slot, which are read again.
    fn enter(&mut self) -> Option<Wish> {
        match self.place {
            Place::Shards => {
                self.only = Some(
                    self.current(&self.listed_shards(), &self.shards)?
                        .name
                        .clone(),
                );
                (self.place, self.slots.id) = (Place::Slots, None);
            }
            Place::Slots => {
                let slot = self.current(&self.listed_slots(), &self.slots)?.slot;
                self.opened = Some(Opened { slot, keys: None });
                (self.place, self.keys.id) = (Place::Keys, None);
            }
            Place::Keys => self.opened.as_mut()?.keys = None,
        }
        let opened = self.opened.as_ref().filter(|_| self.place == Place::Keys)?;
        Some(Wish::Keys(opened.slot))
    }

    /// Leaves the keys, then the shard.
    fn go_back(&mut self) {
        if self.opened.take().is_some() {
            self.place = Place::Slots;
        } else if self.only.take().is_some() {
            self.place = Place::Shards;
        }
    }

    fn change_table(&mut self) {
        self.place = match self.place {
            Place::Shards if self.opened.is_some() => Place::Keys,
            Place::Shards => Place::Slots,
            Place::Slots | Place::Keys => Place::Shards,
        };
    }

    fn sort_by_next(&mut self) {
        match self.place {
            Place::Shards => {
                let now = self.shards.sorted_by(&self.listed_shards());
                self.shards.sort_by_next::<Shard>(now);
            }
            Place::Slots => {
                let now = self.slots.sorted_by(&self.listed_slots());
                self.slots.sort_by_next::<Slot>(now);
            }
            Place::Keys => {
                let now = self.keys.sorted_by(&self.listed_keys());
                self.keys.sort_by_next::<SlotKey>(now);
            }
        }
    }

    fn move_by(&mut self, rows: isize) {
        match self.place {
            Place::Shards => self.shards.id = self.shards.moved(&self.listed_shards(), rows),
            Place::Slots => self.slots.id = self.slots.moved(&self.listed_slots(), rows),
            Place::Keys => self.keys.id = self.keys.moved(&self.listed_keys(), rows),
        }
    }

    /// The row at the cursor.
    fn current<'r, T: Row>(&self, rows: &[&'r T], cursor: &Cursor) -> Option<&'r T> {
        rows.get(cursor.place(rows)).copied()
    }

    /// The shards, sorted.
    pub(crate) fn listed_shards(&self) -> Vec<&Shard> {
        let shards = self
            .read
            .as_ref()
            .map(|read| read.cluster.shards.as_slice());
        sorted(shards.unwrap_or_default(), &self.shards)
    }

    /// The slots, sorted.
    pub(crate) fn listed_slots(&self) -> Vec<&Slot> {
        let known = self.read.as_ref().map(|read| read.cluster.slots.as_slice());
        let mut slots = sorted(known.unwrap_or_default(), &self.slots);
        let is_wanted = |slot: &&Slot| self.only.as_ref().is_none_or(|only| slot.shard == *only);
        slots.retain(is_wanted);
        slots
    }

    /// The keys of the opened slot, sorted.
    pub(crate) fn listed_keys(&self) -> Vec<&SlotKey> {
        let opened = self.opened.as_ref();
        let keys = opened.and_then(|opened| opened.keys.as_ref()?.as_ref().ok());
        let rows = keys.map(|keys| keys.keys.as_slice());
        sorted(rows.unwrap_or_default(), &self.keys)
    }
}

fn sorted<'r, T: Row>(rows: &'r [T], cursor: &Cursor) -> Vec<&'r T> {
    let mut sorted: Vec<&T> = rows.iter().collect();
    if let Some(by) = column::<T>(cursor.sorted_by(&sorted)) {
        sorted.sort_by(|a, b| by.order(b).total_cmp(&by.order(a)));
    }
    sorted
}

fn column<T: Row>(heading: &str) -> Option<&'static Column<T>> {
    T::COLUMNS.iter().find(|column| column.heading == heading)
}

impl Cursor {
    /// The heading of the column that these rows are sorted by.
    pub(crate) fn sorted_by<T: Row>(&self, rows: &[&T]) -> &'static str {
        let has_values = |heading: &&&'static str| {
            let column = column::<T>(heading);
            column.is_some_and(|column| rows.iter().any(|row| column.order(row) > 0.0))
        };
        let usual = T::SORTED_BY
            .iter()
            .find(has_values)
            .or(T::SORTED_BY.first());
        self.sorted_by.or(usual.copied()).unwrap_or_default()
    }

    /// The index of the row in the list; the first if it is gone.
    pub(crate) fn place<T: Row>(&self, rows: &[&T]) -> usize {
        let is_current = |row: &&T| self.id.as_ref().is_some_and(|id| row.id() == *id);
        rows.iter().position(is_current).unwrap_or(0)
    }

    fn moved<T: Row>(&self, rows: &[&T], steps: isize) -> Option<String> {
        let last = rows.len().checked_sub(1)?;
        let to = self.place(rows).saturating_add_signed(steps).min(last);
        // A cursor on the first row stays there while rows change.
        (to > 0).then(|| rows[to].id())
    }

    fn sort_by_next<T: Row>(&mut self, now: &str) {
        let headings = T::COLUMNS.iter().map(|column| column.heading);
        let mut after = headings.cycle().skip_while(|heading| *heading != now);
        self.sorted_by = after.nth(1);
        self.id = None;
    }
}
