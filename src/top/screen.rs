//! The content of the screen, and the effects of typed keys: no terminal and no server.

use ratatui::crossterm::event::KeyCode;

use slotscope_collect::slot_keys::{SlotKey, SlotKeys};
use slotscope_findings::summary::state::State;

use crate::top::columns::Row;
use crate::top::rows::{Cluster, Health, Shard, Slot};

/// The longest filter.
const MAX_FILTER: usize = 60;

/// The content of the screen.
#[derive(Default)]
pub(crate) struct Screen {
    /// The name of the cluster.
    pub cluster_name: String,
    /// The last reading.
    pub read: Option<Read>,
    /// The table that the cursor is in.
    pub place: Place,
    /// The cursor of each table.
    pub shards: Cursor,
    pub slots: Cursor,
    pub keys: Cursor,
    /// The shard whose slots alone are listed.
    pub only: Option<String>,
    /// The slot whose keys are listed.
    pub opened: Option<Opened>,
    /// Rows have this text.
    pub filter: String,
    /// Whether keys are letters of the filter.
    pub is_typing: bool,
    pub is_paused: bool,
    /// Why the cluster could not be read; the last action.
    pub message: Option<Message>,
}

/// A reading of the cluster.
#[derive(Default)]
pub(crate) struct Read {
    /// Its rows.
    pub cluster: Cluster,
    /// The verdict on the last seconds; absent where there is one reading alone.
    pub verdict: Option<Verdict>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
}

/// The verdict of `analyze` on some seconds.
pub(crate) struct Verdict {
    /// Problems with their words, the most urgent first.
    pub lines: Vec<(State, String, String)>,
    /// All of it, as text without colours.
    pub text: String,
}

/// A table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Place {
    Shards,
    #[default]
    Slots,
    Keys,
}

/// Where a table is looked at.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cursor {
    /// The row; absent where it is the first, whichever that is.
    pub id: Option<String>,
    /// The column that rows are sorted by; absent where it is that of the table.
    pub sorted_by: Option<&'static str>,
}

/// A slot whose keys are listed.
pub(crate) struct Opened {
    pub slot: u16,
    /// Its keys, or why there are none; absent while they are read.
    pub keys: Option<Result<SlotKeys, String>>,
}

/// A line for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub text: String,
    pub is_error: bool,
    /// Whether it is about a reading that failed: the next one ends it.
    pub is_of_reading: bool,
}

/// A request by a typed key that the screen cannot fulfil.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Wish {
    Quit,
    /// The keys of a slot.
    Keys(u16),
    /// No more readings, or readings again.
    Pause(bool),
    /// A file with the content of the screen.
    Write,
}

impl Screen {
    /// Takes a reading, unless it came after a pause began.
    pub(crate) fn take(&mut self, read: Read) {
        if self.is_paused {
            return;
        }
        self.message.take_if(|message| message.is_of_reading);
        self.read = Some(read);
    }

    /// Takes why the cluster could not be read: none of its primaries answers, and what it had before does not hold.
    pub(crate) fn fail(&mut self, why: String) {
        if let Some(read) = &mut self.read {
            read.cluster
                .shards
                .iter_mut()
                .for_each(|shard| shard.health = Health::SILENT);
            let down = (State::Down, State::Down.word(None).to_owned(), why.clone());
            read.verdict = Some(Verdict {
                lines: vec![down],
                text: format!("DOWN  {why}\n"),
            });
        }
        self.message = Some(Message {
            text: why,
            is_error: true,
            is_of_reading: true,
        });
    }

    /// Takes the keys of a slot, if it is still the one that is looked at.
    pub(crate) fn take_keys(&mut self, slot: u16, keys: Result<SlotKeys, String>) {
        if let Some(opened) = self.opened.as_mut().filter(|opened| opened.slot == slot) {
            opened.keys = Some(keys);
        }
    }

    /// Shows a line until the next key.
    pub(crate) fn say(&mut self, text: String, is_error: bool) {
        self.message = Some(Message {
            text,
            is_error,
            is_of_reading: false,
        });
    }

    /// Does what a typed key means.
    pub(crate) fn on_key(&mut self, key: KeyCode) -> Option<Wish> {
        self.message = None;
        if self.is_typing {
            self.type_filter(key);
            return None;
        }
        match key {
            KeyCode::Char('q') => return Some(Wish::Quit),
            KeyCode::Char('w') => return Some(Wish::Write),
            KeyCode::Char('p') => {
                self.is_paused = !self.is_paused;
                return Some(Wish::Pause(self.is_paused));
            }
            KeyCode::Char('/') => self.is_typing = true,
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

    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Char(letter) if self.filter.chars().count() < MAX_FILTER => {
                self.filter.push(letter);
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => (self.filter, self.is_typing) = (String::new(), false),
            _ => {}
        }
    }

    /// Into what the cursor is at: the slots of a shard, the keys of a slot. Keys are read again.
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
        self.filter.clear();
        let opened = self.opened.as_ref().filter(|_| self.place == Place::Keys)?;
        Some(Wish::Keys(opened.slot))
    }

    /// Out of the filter first, then of the keys, then of the shard.
    fn go_back(&mut self) {
        if !self.filter.is_empty() {
            self.filter.clear();
        } else if self.opened.take().is_some() {
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
            Place::Shards => self.shards.sort_by_next::<Shard>(),
            Place::Slots => self.slots.sort_by_next::<Slot>(),
            Place::Keys => self.keys.sort_by_next::<SlotKey>(),
        }
    }

    fn move_by(&mut self, rows: isize) {
        match self.place {
            Place::Shards => self.shards.id = self.shards.moved(&self.listed_shards(), rows),
            Place::Slots => self.slots.id = self.slots.moved(&self.listed_slots(), rows),
            Place::Keys => self.keys.id = self.keys.moved(&self.listed_keys(), rows),
        }
    }

    /// The row that the cursor is at.
    fn current<'r, T: Row>(&self, rows: &[&'r T], cursor: &Cursor) -> Option<&'r T> {
        rows.get(cursor.place(rows)).copied()
    }

    /// The slot that the cursor is at, or whose keys are listed.
    pub(crate) fn current_slot(&self) -> Option<u16> {
        let opened = self.opened.as_ref().map(|opened| opened.slot);
        opened.or_else(|| Some(self.current(&self.listed_slots(), &self.slots)?.slot))
    }

    /// The shards, sorted and filtered.
    pub(crate) fn listed_shards(&self) -> Vec<&Shard> {
        let shards = self
            .read
            .as_ref()
            .map(|read| read.cluster.shards.as_slice());
        self.listed(shards.unwrap_or_default(), &self.shards, Place::Shards)
    }

    /// The slots, sorted and filtered.
    pub(crate) fn listed_slots(&self) -> Vec<&Slot> {
        let slots = self.read.as_ref().map(|read| read.cluster.slots.as_slice());
        let mut slots = self.listed(slots.unwrap_or_default(), &self.slots, Place::Slots);
        let is_wanted = |slot: &&Slot| self.only.as_ref().is_none_or(|only| slot.shard == *only);
        slots.retain(is_wanted);
        slots
    }

    /// The keys of the opened slot, sorted and filtered.
    pub(crate) fn listed_keys(&self) -> Vec<&SlotKey> {
        let keys = self
            .opened
            .as_ref()
            .and_then(|opened| opened.keys.as_ref()?.as_ref().ok());
        let keys = keys.map(|keys| keys.keys.as_slice());
        self.listed(keys.unwrap_or_default(), &self.keys, Place::Keys)
    }

    fn listed<'r, T: Row>(&self, rows: &'r [T], cursor: &Cursor, place: Place) -> Vec<&'r T> {
        let filter = if self.place == place {
            self.filter.to_lowercase()
        } else {
            String::new()
        };
        let is_wanted = |row: &&T| filter.is_empty() || row.text().to_lowercase().contains(&filter);
        let mut listed: Vec<&T> = rows.iter().filter(is_wanted).collect();
        let order = T::COLUMNS
            .iter()
            .find(|of| of.heading == cursor.sorted_by::<T>());
        if let Some(column) = order {
            let by = |row: &T| (column.order)(row).unwrap_or(f64::NEG_INFINITY);
            listed.sort_by(|a, b| by(b).total_cmp(&by(a)));
        }
        listed
    }
}

impl Cursor {
    /// The heading of the column that rows are sorted by.
    pub(crate) fn sorted_by<T: Row>(&self) -> &'static str {
        self.sorted_by.unwrap_or(T::SORTED_BY)
    }

    /// The row in the list; the first where there is no such row any more.
    pub(crate) fn place<T: Row>(&self, rows: &[&T]) -> usize {
        let is_it = |row: &&T| self.id.as_ref().is_some_and(|id| row.id() == *id);
        rows.iter().position(is_it).unwrap_or(0)
    }

    fn moved<T: Row>(&self, rows: &[&T], by: isize) -> Option<String> {
        let last = rows.len().checked_sub(1)?;
        let to = self.place(rows).saturating_add_signed(by).min(last);
        // The first row stays the first one while rows change.
        (to > 0).then(|| rows[to].id())
    }

    fn sort_by_next<T: Row>(&mut self) {
        let headings = T::COLUMNS.iter().map(|column| column.heading);
        let mut after = headings
            .cycle()
            .skip_while(|of| *of != self.sorted_by::<T>());
        self.sorted_by = after.nth(1);
        self.id = None;
    }
}
