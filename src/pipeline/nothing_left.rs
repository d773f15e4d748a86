//! A filter that selects no key is usually a typo, so the error describes the keys there are.

use slotscope_engine::error::{Error, Result};
use slotscope_engine::format::Notice;
use slotscope_engine::name::Name;
use slotscope_engine::scan::filter::{Field, Filter, is_server_type};
use slotscope_engine::scan::{Only, Scanned};
use slotscope_engine::sentence::Sentence;
use slotscope_engine::tally::choice::Choice;
use slotscope_engine::text::{bytes, grouped, list};

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
    let of_others = sum(Notice::OtherDatabase);
    let asked = only.filter.iter().flat_map(|filter| &filter.types);
    let odd: Vec<&String> = asked.filter(|name| !is_server_type(name)).collect();
    if let Some(database) = only
        .database
        .filter(|_| left > 0 && sum(Notice::NoDatabase) == left)
    {
        let reason = "no input says which database a key is in: leave this out, or give an RDB file, an append-only file, a collection \
                    or a column db";
        return Err(Error::option("db", database.to_string(), reason));
    }
    let is_nothing = left == 0 && filtered + of_others > 0;
    if !is_nothing && odd.is_empty() {
        return Ok(());
    }
    let choice = available()?;
    let is_there = |name: &String| {
        choice
            .types
            .iter()
            .any(|kind| kind.0.eq_ignore_ascii_case(name.as_bytes()))
    };
    if let Some(name) = odd
        .into_iter()
        .find(|name| !choice.types.is_empty() && !is_there(name))
    {
        let reason = Sentence::default()
            .words("no key is of this type; ")
            .and(types(&choice));
        return Err(Error::option("type", name.as_str(), reason));
    }
    if !is_nothing {
        return Ok(());
    }
    match &only.filter {
        Some(filter) if filtered > 0 => Err(refused(&choice, filter)),
        _ => {
            let number = only.database.unwrap_or(0).to_string();
            let databases = choice
                .databases
                .iter()
                .map(u64::to_string)
                .collect::<Vec<_>>();
            let listed = list(databases.into_iter(), LISTED);
            let reason = Sentence::default()
                .words("no key is in this database")
                .words(match listed.as_str() {
                    "" => String::new(),
                    listed => format!("; databases here: {listed}"),
                });
            Err(Error::option("db", number, reason))
        }
    }
}

/// The types available.
fn types(choice: &Choice) -> Sentence {
    let start = Sentence::default().words("types here: ");
    let listed = choice.types.iter().take(LISTED).enumerate();
    listed.fold(start, |sentence, (at, kind)| {
        let sentence = sentence.words(if at == 0 { "" } else { ", " });
        // A module's type may be a name.
        match std::str::from_utf8(&kind.0)
            .ok()
            .filter(|name| is_server_type(name))
        {
            Some(known) => sentence.words(known),
            None => sentence.name(kind.clone()),
        }
    })
}

/// The error for a filter, describing the available values of each property it uses.
fn refused(choice: &Choice, filter: &Filter) -> Error {
    let mut sentence = Sentence::default().words(format!("no key passed {}", filter.said(false)));
    if choice.keys == 0 {
        return Error::bad("filter", sentence);
    }
    if !filter.types.is_empty() {
        sentence = sentence.words("; ").and(types(choice));
    }
    if !(filter.globs.is_empty() && filter.regexes.is_empty()) {
        let mut starts: Vec<(&Name, &u64)> = choice.starts.iter().collect();
        starts.sort_by_key(|(_, keys)| std::cmp::Reverse(**keys));
        sentence = sentence.words("; keys here begin with ");
        for (at, (start, keys)) in starts.into_iter().take(LISTED).enumerate() {
            sentence = sentence
                .words(if at == 0 { "" } else { ", " })
                .name(start.clone());
            sentence = sentence.words(format!(" ({})", grouped(*keys)));
        }
    }
    if let Some((least, most)) = choice.sizes.filter(|_| filter.sizes.is_some()) {
        sentence = sentence.words(format!("; sizes here: {} to {}", bytes(least), bytes(most)));
    }
    if filter.expiry.is_some() {
        let expiring = format!(
            "; {} of {} keys have a TTL",
            grouped(choice.expiring),
            grouped(choice.keys)
        );
        sentence = sentence.words(expiring);
    }
    Error::bad(filter_flag(filter), sentence)
}

/// The first flag of a filter, as the place of the error.
fn filter_flag(filter: &Filter) -> String {
    let named = !(filter.globs.is_empty() && filter.regexes.is_empty());
    let field = match () {
        () if !filter.types.is_empty() => filter.option(Field::Type),
        () if named => "match",
        () if filter.sizes.is_some() => filter.option(Field::Size),
        () => filter.option(Field::Expiry),
    };
    format!("--{field}")
}
