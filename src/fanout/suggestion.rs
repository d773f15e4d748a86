//! A tag that would bring the keys of a batch together: the id that all of them have, and rules to rename them.
//!
//! ```text
//! favorites:123:news001, favorites:123:news002      123 is in every key
//! favorites:{favorites:123}:news001, ...            the word before it goes into the tag, where that is the same
//! ```
//! A word that is not an id makes no tag here: it would bind all keys of a kind to one slot.

use slotscope_engine::name::Name;
use slotscope_engine::pattern::ids::{Found, Id, of_key, pattern_of};
use slotscope_engine::slot::slot_of_part;

/// The separator of pattern and template in the text of a renaming rule.
const ARROW: &str = " => ";

/// A way to tag the keys of a batch of one shape.
#[derive(Debug, Clone, PartialEq)]
pub struct TagSuggestion {
    /// For each pattern of keys, which of its ids is the tag.
    places: Vec<(Vec<u8>, usize)>,
    /// The word before the id in the tag.
    domain: Vec<u8>,
}

/// A key, its pattern, and its ids.
pub(crate) struct Parsed<'k> {
    /// The key.
    pub key: &'k [u8],
    ids: Vec<Found>,
    /// The pattern of the key.
    pub pattern: Vec<u8>,
}

impl<'k> Parsed<'k> {
    /// Finds the ids of a key.
    pub(crate) fn of(key: &'k [u8]) -> Self {
        let ids = of_key(key);
        Parsed {
            key,
            pattern: pattern_of(key),
            ids,
        }
    }

    fn id(&self, place: usize) -> Option<&'k [u8]> {
        self.ids
            .get(place)
            .map(|id| &self.key[id.start as usize..id.end as usize])
    }
}

impl TagSuggestion {
    /// Every id that all of `keys` have, as a tag; at most `most` of them.
    pub(crate) fn all(keys: &[Parsed<'_>], most: usize) -> Vec<TagSuggestion> {
        let Some(first) = keys.first() else {
            return Vec::new();
        };
        let suggestions =
            (0..first.ids.len()).filter_map(|place| TagSuggestion::with(keys, first.id(place)?));
        suggestions.take(most).collect()
    }

    /// The tag of the id `value`; `None` where a key lacks it.
    fn with(keys: &[Parsed<'_>], value: &[u8]) -> Option<TagSuggestion> {
        let mut places: Vec<(Vec<u8>, usize)> = Vec::new();
        let mut domain: Option<&[u8]> = None;
        let mut same = true;
        for key in keys {
            let place = (0..key.ids.len()).find(|place| key.id(*place) == Some(value))?;
            let before = word_before(&key.key[..key.ids[place].start as usize]);
            same &= domain.is_none_or(|domain| domain == before);
            domain = Some(before);
            if !places.iter().any(|(pattern, _)| *pattern == key.pattern) {
                places.push((key.pattern.clone(), place));
            }
        }
        let domain = domain
            .filter(|domain| same && !domain.is_empty())
            .unwrap_or_default();
        Some(TagSuggestion {
            places,
            domain: domain.to_vec(),
        })
    }

    /// The slot of a key with that tag; `None` where the suggestion does not know keys of its pattern.
    pub(crate) fn slot(&self, key: &Parsed<'_>) -> Option<u16> {
        let (_, place) = self
            .places
            .iter()
            .find(|(pattern, _)| *pattern == key.pattern)?;
        let id = key.id(*place)?;
        Some(if self.domain.is_empty() {
            slot_of_part(id)
        } else {
            slot_of_part(&[&self.domain, b":".as_slice(), id].concat())
        })
    }

    /// Where the id is in a key; `None` where the suggestion does not know keys of its pattern.
    pub(crate) fn place(&self, key: &Parsed<'_>) -> Option<(usize, usize)> {
        let mut places = self.places.iter();
        let (_, place) = places.find(|(pattern, _)| *pattern == key.pattern)?;
        key.ids
            .get(*place)
            .map(|id| (id.start as usize, id.end as usize))
    }

    /// The keys with the tag, pattern by pattern.
    pub(crate) fn patterns(&self) -> Vec<Name> {
        self.places
            .iter()
            .map(|(pattern, place)| Name(self.tagged(pattern, *place, |_, id| id.mark().to_vec())))
            .collect()
    }

    /// A rule for each pattern that renames its keys this way, as `whatif --retag` reads them; none if a pattern cannot be
    /// written as a rule.
    pub(crate) fn rules(&self) -> Vec<String> {
        let rule = |(pattern, place): &(Vec<u8>, usize)| {
            let mut regex = String::from("^");
            for piece in pieces(pattern) {
                match piece {
                    Piece::Text(text) => regex.push_str(&escaped(plain(text)?)),
                    Piece::Id(Id::Number) => regex.push_str("([0-9]+)"),
                    Piece::Id(Id::Hex) => regex.push_str("([0-9A-Fa-f]+)"),
                    Piece::Id(Id::Uuid) => regex.push_str("([0-9A-Fa-f-]{36})"),
                    Piece::Id(Id::Mixed) => regex.push_str("([0-9A-Za-z]+)"),
                }
            }
            let dollars = pattern.contains(&b'$');
            let template = self.tagged(pattern, *place, |number, _| {
                format!("${}", number + 1).into_bytes()
            });
            let template = String::from_utf8(template).ok().filter(|_| !dollars)?;
            Some(format!("{regex}${ARROW}{template}"))
                .filter(|rule| rule.matches(ARROW).count() == 1)
        };
        self.places
            .iter()
            .map(rule)
            .collect::<Option<Vec<_>>>()
            .unwrap_or_default()
    }

    /// A pattern with braces around the id at `place` and the domain before it; other braces go.
    fn tagged(
        &self,
        pattern: &[u8],
        place: usize,
        spell: impl Fn(usize, Id) -> Vec<u8>,
    ) -> Vec<u8> {
        let mut text = Vec::new();
        let mut number = 0;
        for piece in pieces(pattern) {
            match piece {
                Piece::Text(plain) => {
                    text.extend(plain.iter().filter(|byte| !b"{}".contains(byte)))
                }
                Piece::Id(id) => {
                    let is_tag = number == place;
                    if is_tag {
                        text.push(b'{');
                        text.extend_from_slice(&self.domain);
                        text.extend_from_slice(if self.domain.is_empty() { b"" } else { b":" });
                    }
                    text.extend(spell(number, id));
                    text.extend_from_slice(if is_tag { b"}" } else { b"" });
                    number += 1;
                }
            }
        }
        text
    }
}

/// The last word of letters and digits in `text`, if only one other character follows it.
fn word_before(text: &[u8]) -> &[u8] {
    let Some((separator, before)) = text.split_last() else {
        return b"";
    };
    let len = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    if separator.is_ascii_alphanumeric() || b"{}".contains(separator) {
        b""
    } else {
        &before[before.len() - len..]
    }
}

/// A part of a pattern.
enum Piece<'p> {
    Text(&'p [u8]),
    Id(Id),
}

/// A pattern taken apart. A key may hold what looks like a mark: then it has one id more than it seems.
fn pieces(pattern: &[u8]) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = pattern;
    while let Some(at) = memchr::memchr(b'<', rest) {
        let found = [Id::Number, Id::Hex, Id::Uuid, Id::Mixed]
            .into_iter()
            .find(|id| rest[at..].starts_with(id.mark()));
        let text = &rest[..at + usize::from(found.is_none())];
        pieces.extend((!text.is_empty()).then_some(Piece::Text(text)));
        pieces.extend(found.map(Piece::Id));
        rest = &rest[at + found.map_or(1, |id| id.mark().len())..];
    }
    pieces.extend((!rest.is_empty()).then_some(Piece::Text(rest)));
    pieces
}

/// Text that can be shown and typed as it is.
fn plain(text: &[u8]) -> Option<&str> {
    std::str::from_utf8(text)
        .ok()
        .filter(|plain| Name::from(text).to_string().replace(r"\\", r"\") == *plain)
}

/// Text as a regular expression that matches it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_ascii_punctuation() && !"-_:,;/@#%&!'\"<>=`~".contains(c) {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_engine::slot::slot;

    fn suggestion(keys: &[&str]) -> Option<TagSuggestion> {
        let parsed: Vec<_> = keys.iter().map(|key| Parsed::of(key.as_bytes())).collect();
        TagSuggestion::all(&parsed, 4).into_iter().next()
    }

    #[test]
    fn the_id_that_all_keys_have_is_the_tag_with_what_stands_before_it() {
        let found = suggestion(&["favorites:123:news001", "favorites:123:news002"]).unwrap();
        assert_eq!(
            found.patterns(),
            [Name::from("favorites:{favorites:<n>}:news<n>")]
        );
        assert_eq!(
            found.rules(),
            ["^favorites:([0-9]+):news([0-9]+)$ => favorites:{favorites:$1}:news$2"]
        );
        let key = Parsed::of(b"favorites:77:news001");
        assert_eq!(
            found.slot(&key),
            Some(slot(b"favorites:{favorites:77}:news001"))
        );
    }

    #[test]
    fn keys_of_several_kinds_share_the_id_alone() {
        let found = suggestion(&["user-profile:1234", "{user}-session:1234"]).unwrap();
        let names: Vec<_> = found.patterns().iter().map(Name::to_string).collect();
        assert_eq!(names, ["user-profile:{<n>}", "user-session:{<n>}"]);
        assert_eq!(
            found.rules()[1],
            "^\\{user\\}-session:([0-9]+)$ => user-session:{$1}"
        );
        assert_eq!(found.slot(&Parsed::of(b"user-profile:9")), Some(slot(b"9")));
        assert_eq!(found.slot(&Parsed::of(b"other:9")), None);
    }

    #[test]
    fn words_and_ids_of_their_own_make_no_tag() {
        assert_eq!(suggestion(&["name", "name1"]), None);
        assert_eq!(suggestion(&["my-list", "my-new-list"]), None);
        assert_eq!(suggestion(&["user:1", "user:2"]), None);
        assert_eq!(suggestion(&["user:1", "user"]), None);
    }

    #[test]
    fn what_cannot_be_typed_makes_no_rule() {
        assert!(
            suggestion(&["a\u{202e}:123:x", "a\u{202e}:123:y"])
                .unwrap()
                .rules()
                .is_empty()
        );
        assert!(
            suggestion(&["a => b:123", "a => c:123"])
                .unwrap()
                .rules()
                .is_empty()
        );
    }
}
