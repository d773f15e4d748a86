//! A filter that selects no key is usually a typo, so the error describes the keys there are.

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::sentence::Sentence;
use slotscope_base::text::{bytes, grouped, list};
use slotscope_count::scan::filter::{Filter, is_server_type};
use slotscope_count::scan::{Only, Scanned};
use slotscope_count::tally::choice::Choice;
use slotscope_read::format::Notice;

/// Maximum types, name prefixes and databases listed.
const LISTED: usize = 8;

/// Fails if `only` selected nothing or names an unknown type; `available` returns the keys in the inputs.
///
/// # Errors
/// Nothing was selected, or a type is unknown; errors of `available`.
pub(crate) fn check<T>(
    only: &Only,
    scanned: &Scanned<T>,
    available: impl FnOnce() -> Result<Choice>,
) -> Result<()> {
    let seen = || scanned.inputs.iter().map(|input| &input.seen);
    let sum = |notice| seen().map(|seen| seen.count(notice)).sum::<u64>();
    let left: u64 = seen().map(|seen| seen.keys + seen.operations).sum();
    let filtered = sum(Notice::Filtered) + sum(Notice::FilteredOperation);
    let no_database_known = left > 0 && sum(Notice::NoDatabase) == left;
    if let Some(database) = only.database.filter(|_| no_database_known) {
        let reason = "no input says which database a key is in: leave this out, or give an RDB file, an append-only file, a collection \
                    or a column db";
        return Err(Error::option("db", database.to_string(), reason));
    }
    let is_nothing = left == 0 && filtered + sum(Notice::OtherDatabase) > 0;
    let asked = only.filter.iter().flat_map(|filter| &filter.types);
    let odd: Vec<&String> = asked.filter(|name| !is_server_type(name)).collect();
    if !is_nothing && odd.is_empty() {
        return Ok(());
    }
    let choice = available()?;
    let is_there = |name: &str| {
        let mut types = choice.types.iter();
        types.any(|kind| kind.0.eq_ignore_ascii_case(name.as_bytes()))
    };
    let unknown = odd.into_iter().find(|name| !is_there(name));
    if let Some(name) = unknown.filter(|_| !choice.types.is_empty()) {
        let reason = Sentence::default().words("no key is of this type");
        return Err(Error::option(
            "type",
            name.as_str(),
            reason.and(types(&choice)),
        ));
    }
    match &only.filter {
        _ if !is_nothing => Ok(()),
        Some(filter) if filtered > 0 => Err(refused(&choice, filter)),
        _ => Err(no_database(&choice, only.database.unwrap_or(0))),
    }
}

fn no_database(choice: &Choice, database: u64) -> Error {
    let mut reason = "no key is in this database".to_owned();
    if !choice.databases.is_empty() {
        reason += "; databases here: ";
        reason += &list(choice.databases.iter(), LISTED);
    }
    Error::option("db", database.to_string(), reason)
}

/// The types available.
fn types(choice: &Choice) -> Sentence {
    let mut sentence = Sentence::default();
    let mut before = "; types here: ";
    for kind in choice.types.iter().take(LISTED) {
        // A module's type may be a name.
        let known = std::str::from_utf8(&kind.0).ok();
        sentence = sentence.words(before);
        sentence = match known.filter(|name| is_server_type(name)) {
            Some(known) => sentence.words(known),
            None => sentence.name(kind.clone()),
        };
        before = ", ";
    }
    sentence
}

/// The most frequent starts of names.
fn starts(choice: &Choice) -> Sentence {
    let mut starts: Vec<(&Name, &u64)> = choice.starts.iter().collect();
    starts.sort_by_key(|(_, keys)| std::cmp::Reverse(**keys));
    let mut sentence = Sentence::default();
    let mut before = "; keys here begin with ";
    for (start, keys) in starts.into_iter().take(LISTED) {
        sentence = sentence.words(before).name(start.clone());
        sentence = sentence.words(format!(" ({})", grouped(*keys)));
        before = ", ";
    }
    sentence
}

/// The error for a filter, describing the available values of each property it uses.
fn refused(choice: &Choice, filter: &Filter) -> Error {
    let mut sentence = Sentence::default().words(format!("no key passed {}", filter.said(false)));
    if !filter.types.is_empty() {
        sentence = sentence.and(types(choice));
    }
    if !(filter.globs.is_empty() && filter.regexes.is_empty()) {
        sentence = sentence.and(starts(choice));
    }
    if let Some((least, most)) = choice.sizes.filter(|_| filter.sizes.is_some()) {
        sentence = sentence.words(format!("; sizes here: {} to {}", bytes(least), bytes(most)));
    }
    if filter.expiry.is_some() && choice.keys > 0 {
        let (expiring, keys) = (grouped(choice.expiring), grouped(choice.keys));
        sentence = sentence.words(format!("; {expiring} of {keys} keys have a TTL"));
    }
    Error::bad("filter", sentence)
}
