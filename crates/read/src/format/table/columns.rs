//! The meaning of table columns: names used by tools, and those given by the user.

use serde::{Deserialize, Serialize};

use slotscope_base::batch::{Number, Word};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::format::table::names::{self, Named};
pub use crate::format::table::role::{ROLES, Role};
use crate::format::table::units::Unit;

/// The column names of each role, ignoring case; if a table has several, the one listed first is read.
const NAMED: [(Role, &[&str]); 1 + Number::ALL.len() + Word::ALL.len()] = [
    (Role::Key, &["key", "name"]),
    (Role::Number(Number::Database), &["db", "database"]),
    (
        Role::Number(Number::Expiry),
        &["expiry", "expiration", "ttl"],
    ),
    (
        Role::Number(Number::Elements),
        &[
            "elements",
            "element_count",
            "num_elements",
            "number_elements",
        ],
    ),
    (Role::Number(Number::Idle), &["idle", "idle_secs"]),
    (Role::Number(Number::Lfu), &["lfu", "freq"]),
    (Role::Word(Word::Type), &["type"]),
    (Role::Word(Word::Encoding), &["encoding"]),
];

/// In place of the name of a column of sizes: there is none.
const NO_SIZES: &str = "none";

/// Every role with the names of its column.
fn aliases() -> impl Iterator<Item = (Role, &'static [&'static str])> {
    let weights = Metric::WEIGHTS.into_iter();
    NAMED
        .into_iter()
        .chain(weights.map(|metric| (Role::Weight(metric), metric.columns())))
}

/// These names for a message, truncated.
pub(crate) fn listed(names: &[Vec<u8>]) -> String {
    const LISTED: usize = 30;
    let most = names.iter().take(LISTED);
    let first: Vec<_> = most
        .map(|name| format!("\"{}\"", Name::from(name.as_slice())))
        .collect();
    let ending = if names.len() > LISTED {
        " and more"
    } else {
        ""
    };
    format!("{}{ending}", first.join(", "))
}

/// The column of each role, of columns with these roles and ranks: the first of those with the lowest rank.
pub fn best(columns: &[Option<(Role, usize)>]) -> [Option<usize>; ROLES] {
    let mut best: [Option<(usize, usize)>; ROLES] = [None; ROLES];
    for (at, column) in columns.iter().enumerate() {
        if let Some((role, rank)) = column {
            let place = &mut best[role.place()];
            if place.is_none_or(|(before, _)| *rank < before) {
                *place = Some((*rank, at));
            }
        }
    }
    best.map(|column| column.map(|(_, at)| at))
}

/// The user's choice for escapes in keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum KeyEscapes {
    /// Undone if all keys have them
    #[default]
    Auto,
    /// Always undone
    C,
    /// Kept
    None,
}

/// The names of columns that the user gave; where one is given, no other name will do. And how the keys are spelled.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ColumnNames {
    /// The key's.
    pub key: Option<String>,
    /// The size's.
    pub size: Option<String>,
    /// The operations'.
    pub ops: Option<String>,
    /// How escapes in keys are treated.
    pub escapes: KeyEscapes,
    /// Whether a column `count` or `length` holds elements, because another has the types of the keys.
    #[serde(skip)]
    pub counts_elements: bool,
    /// Whether a column is called a key of some kind, which a column `name` then is not.
    #[serde(skip)]
    pub has_other_key: bool,
}

impl ColumnNames {
    /// None given: the names that tools use.
    pub const USUAL: ColumnNames = ColumnNames {
        key: None,
        size: None,
        ops: None,
        escapes: KeyEscapes::Auto,
        counts_elements: false,
        has_other_key: false,
    };

    /// The same for a table with these columns.
    pub fn of_header(&self, header: &[impl AsRef<[u8]>]) -> ColumnNames {
        let has = |is: &dyn Fn((Role, usize)) -> bool| {
            let mut roles = header.iter().filter_map(|name| self.role(name.as_ref()));
            roles.any(is)
        };
        ColumnNames {
            counts_elements: has(&|(role, _)| role == Role::Word(Word::Type)),
            has_other_key: has(&|role| role == (Role::Key, names::KEY)),
            ..self.clone()
        }
    }

    /// The content of a column with this name, and how many other names would be preferred to it.
    pub fn role(&self, name: &[u8]) -> Option<(Role, usize)> {
        let is_name = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        let is_amount =
            self.ops.is_none() && is_name("count") || self.size.is_none() && is_name("length");
        if self.counts_elements && is_amount {
            return Some((Role::Number(Number::Elements), names::FIRST_RANK));
        }
        if self.has_other_key && self.key.is_none() && is_name("name") {
            return Some((Role::Key, names::NAME));
        }
        let by_alias = aliases().find_map(|(role, aliases)| {
            let rank = match self.given(role) {
                Some(given) => is_name(given).then_some(0),
                None => aliases.iter().position(|alias| is_name(alias)),
            };
            rank.map(|rank| (role, rank))
        });
        let by_words = || {
            let Named { role, rank, .. } = names::named(name)?;
            role.map(|role| (role, rank))
                .filter(|(role, _)| self.given(*role).is_none())
        };
        by_alias.or_else(by_words)
    }

    /// The unit of the numbers in a column with this name.
    pub(crate) fn unit(name: &[u8]) -> Unit {
        names::named(name)
            .map(|named| named.unit)
            .unwrap_or_default()
    }

    /// Whether one of the columns in `header` holds this.
    pub fn has(&self, header: &[Vec<u8>], role: Role) -> bool {
        header
            .iter()
            .any(|name| self.role(name).is_some_and(|(named, _)| named == role))
    }

    /// The first name that must be there and is not in `header`.
    pub fn missing_in(&self, header: &[Vec<u8>]) -> Option<String> {
        let roles = Metric::ALL.into_iter().map(Role::of);
        let missing = roles.filter(|role| !self.has(header, *role));
        missing
            .map(|role| (role, self.given(role)))
            .find_map(|(role, name)| match (role, name) {
                (Role::Weight(Metric::Bytes), Some(NO_SIZES)) => None,
                (_, Some(name)) => Some(name.to_string()),
                (Role::Key, None) => Some(String::from("key")),
                _ => None,
            })
    }

    fn given(&self, role: Role) -> Option<&str> {
        match role {
            Role::Key => self.key.as_deref(),
            Role::Weight(Metric::Bytes) => self.size.as_deref(),
            Role::Weight(Metric::Ops) => self.ops.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_role_has_its_place_and_is_found_by_its_names_in_any_case() {
        for (at, (role, aliases)) in aliases().enumerate() {
            assert_eq!(role.place(), at);
            for (rank, alias) in aliases.iter().enumerate() {
                assert_eq!(
                    ColumnNames::USUAL.role(alias.to_uppercase().as_bytes()),
                    Some((role, rank))
                );
            }
        }
        assert_eq!(ColumnNames::USUAL.role(b"frequency"), None);
        assert_eq!(
            ColumnNames::USUAL.role(b"length").map(|(role, _)| role),
            Some(Role::of(Metric::Bytes))
        );
        let fuzzy = ColumnNames::USUAL.role(b"Size (MB)");
        assert!(fuzzy.is_some_and(|(role, rank)| role == Role::of(Metric::Bytes) && rank > 9));
    }

    #[test]
    fn a_name_means_what_the_others_leave_to_it() {
        let chosen = |header: &[&'static str], wanted: Role| {
            let known = ColumnNames::USUAL.of_header(header);
            let ranks = header.iter().filter_map(|name| {
                let (role, rank) = known.role(name.as_bytes())?;
                (role == wanted).then_some((rank, *name))
            });
            ranks.min().map(|(_, name)| name)
        };
        let size = Role::of(Metric::Bytes);
        for (header, role, expected) in [
            (&["key", "type", "length"][..], size, None),
            (&["key", "key_size", "value_size"], size, Some("value_size")),
            (&["key", "type", "size", "bytes"], size, Some("bytes")),
            (&["name", "redis_key", "size"], Role::Key, Some("redis_key")),
            (&["name", "key"], Role::Key, Some("key")),
            (&["name", "size"], Role::Key, Some("name")),
        ] {
            assert_eq!(chosen(header, role), expected, "{header:?}");
        }
    }

    #[test]
    fn a_given_name_is_the_only_one_that_will_do() {
        let names = ColumnNames {
            key: Some("id".into()),
            ..ColumnNames::USUAL
        };
        assert_eq!(
            (names.role(b"ID"), names.role(b"key")),
            (Some((Role::Key, 0)), None)
        );
        assert_eq!(names.missing_in(&[b"key".to_vec()]).as_deref(), Some("id"));
    }
}
