//! Which hash tags hold how many keys, and how far that is certain.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::Serialize;

use super::balance::tidy;
use crate::name::Name;
use crate::slot::{SLOTS, kernel::table::crc16};
use crate::tally::distinct::RELATIVE_ERROR;
use crate::tally::heavy::{HeavyTags, Rows, TagCounts};
use crate::tally::recount::Recount;

/// Rows that files hold; the terminal shows fewer.
pub const LISTED: usize = 1000;
/// Tags named for a hot slot.
const TAGS_OF_A_SLOT: usize = 5;

/// What is known of the hash tags.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Tags {
    /// The listed counts are exact, and no tag that is not listed holds more than `max_error`.
    pub exact: bool,
    /// No tag that is not listed holds more than this.
    pub max_error: u64,
    /// Distinct tags.
    pub distinct: u64,
    /// 0: exact; else the relative standard error of `distinct`.
    pub distinct_error: f64,
    /// Keys that have a tag.
    pub tagged_keys: u64,
    /// The heaviest tags, ties by name.
    pub top: Vec<Tag>,
    /// Sum of the squared key counts of all tags.
    #[serde(skip)]
    pub squares: f64,
    /// Tags of the hottest slots, by slot, heaviest first.
    #[serde(skip)]
    pub by_slot: BTreeMap<u16, Vec<TagKeys>>,
}

/// A hash tag and what it holds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tag {
    /// Its bytes.
    pub tag: Name,
    /// The slot it hashes to.
    pub slot: u16,
    /// The node that owns that slot.
    pub node: Option<Name>,
    /// Its keys; a lower bound.
    pub keys: u64,
    /// It holds at most this many more.
    pub keys_error: u64,
    /// Its share of all keys.
    pub share: f64,
}

/// A tag and its keys, in a list about something else.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TagKeys {
    /// Its bytes.
    pub tag: Name,
    /// Its keys.
    pub keys: u64,
}

/// A tag, its keys and how many more it may hold.
type Found = (Name, u64, u64);

impl Tags {
    /// From the counts of the first pass and, where those are rows, of the second. `hottest` are the slots whose
    /// tags are wanted; nodes are filled in later.
    pub fn of(tags: &HeavyTags, recount: Option<&Recount>, all_keys: u64, hottest: &[u16]) -> Self {
        let (known, found) = match (&tags.counts, recount) {
            (TagCounts::Exact(table), _) => {
                let squares = table.iter().map(|(_, _, keys)| (keys as f64).powi(2)).sum();
                let known = Tags { exact: true, distinct: table.len() as u64, squares, ..Tags::default() };
                (known, table.iter().map(|(name, _, keys)| (Name::from(name), keys, 0)).collect())
            }
            (TagCounts::Rows(rows), None) => (Tags { max_error: tags.tagged, ..Tags::estimated(rows) }, Vec::new()),
            (TagCounts::Rows(rows), Some(recount)) => {
                let known = Tags { exact: true, max_error: recount.max_error(), ..Tags::estimated(rows) };
                (known, recount.tags().map(|(name, keys)| (name.clone(), keys, 0)).collect::<Vec<_>>())
            }
            (TagCounts::Followed(followed), _) => {
                let known = Tags { max_error: followed.bound(), ..Tags::estimated(&followed.rows) };
                let found = followed.tags().map(|(tag, at_most)| (tag.name.clone(), tag.keys, at_most - tag.keys));
                (known, found.collect())
            }
        };
        let by_slot = by_slot(&found, hottest);
        let (top, cut_off) = top(found, all_keys);
        Tags { tagged_keys: tags.tagged, top, by_slot, max_error: known.max_error.max(cut_off), ..known }
    }

    /// What rows of counters tell.
    fn estimated(rows: &Rows) -> Self {
        Tags {
            distinct: rows.distinct.estimate().round() as u64,
            distinct_error: tidy(RELATIVE_ERROR),
            squares: rows.second_moment(),
            ..Tags::default()
        }
    }
}

/// The slot of a tag: it is hashed as it is, whatever braces it holds.
fn slot_of_tag(tag: &Name) -> u16 {
    crc16(&tag.0) & (SLOTS as u16 - 1)
}

/// The heaviest tags, and what the first one behind them may hold.
fn top(mut found: Vec<Found>, all_keys: u64) -> (Vec<Tag>, u64) {
    found.sort_by(|(a, a_keys, _), (b, b_keys, _)| (Reverse(a_keys), a).cmp(&(Reverse(b_keys), b)));
    let cut_off = found.get(LISTED..).unwrap_or_default().iter().map(|(_, keys, error)| keys + error).max();
    found.truncate(LISTED);
    let row = |(tag, keys, keys_error): Found| {
        let share = tidy(keys as f64 / all_keys as f64);
        Tag { slot: slot_of_tag(&tag), tag, node: None, keys, keys_error, share }
    };
    (found.into_iter().map(row).collect(), cut_off.unwrap_or(0))
}

fn by_slot(found: &[Found], hottest: &[u16]) -> BTreeMap<u16, Vec<TagKeys>> {
    let mut by_slot: BTreeMap<u16, Vec<TagKeys>> = hottest.iter().map(|slot| (*slot, Vec::new())).collect();
    for (tag, keys, _) in found {
        if let Some(tags) = by_slot.get_mut(&slot_of_tag(tag)) {
            tags.push(TagKeys { tag: tag.clone(), keys: *keys });
        }
    }
    for tags in by_slot.values_mut() {
        tags.sort_by(|a, b| (Reverse(a.keys), &a.tag).cmp(&(Reverse(b.keys), &b.tag)));
        tags.truncate(TAGS_OF_A_SLOT);
    }
    by_slot
}
