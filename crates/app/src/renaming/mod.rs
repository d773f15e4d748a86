//! Rules that rename keys.
//!
//! Retagging rules apply first, in order, each to the result of the previous one; then tags are split.

mod split;

use std::ops::Range;

use regex::bytes::{CaptureLocations, Regex};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::policy::{Policy, compile_over_bytes};

use crate::renaming::split::Split;

/// Maximum key length of servers.
const MAX_KEY: usize = 512 << 20;

/// All rules of a user.
#[derive(Debug, Clone, Default)]
pub struct RenameRules {
    retag: Vec<Retag>,
    split: Vec<Split>,
}

/// Replaces the first match of a pattern.
#[derive(Debug, Clone)]
struct Retag {
    text: String,
    regex: Regex,
    template: Vec<Part>,
}

/// A part of the replacement.
#[derive(Debug, Clone, PartialEq)]
enum Part {
    Text(Vec<u8>),
    Group(usize),
}

/// Rules in use, with buffers.
#[derive(Debug, Clone, Default)]
pub struct Renaming {
    places: Vec<CaptureLocations>,
    before: Vec<u8>,
    /// Number of keys renamed by each rule: retagging, splitting, in order.
    pub hits: [Vec<u64>; 2],
}

impl RenameRules {
    /// Parses the values of `--retag` and `--split`.
    ///
    /// # Errors
    /// A value is invalid; the message names it.
    pub fn parse(retag: &[String], split: &[String]) -> Result<RenameRules> {
        Ok(RenameRules {
            retag: each(retag, |text| {
                Retag::parse(text).map_err(|reason| Error::option("retag", text, reason))
            })?,
            split: each(split, |text| {
                Split::parse(text).map_err(|reason| Error::option("split", text, reason))
            })?,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.retag.is_empty() && self.split.is_empty()
    }

    /// The rules that match no key, given `hits` per rule; for display.
    pub fn without_keys(&self, [retag, split]: &[Vec<u64>; 2]) -> Vec<String> {
        let retag = self.retag.iter().zip(retag).filter(|(_, hits)| **hits == 0);
        let split = self.split.iter().zip(split).filter(|(_, hits)| **hits == 0);
        retag
            .map(|(rule, _)| {
                let rule = Name::from(rule.text.as_str());
                format!("no key matches --retag \"{rule}\"")
            })
            .chain(split.map(|(rule, _)| {
                let tag = rule.tag_in_words();
                format!("no key has {tag}; a single key cannot be split here")
            }))
            .collect()
    }

    /// The rules at work.
    pub fn start(&self) -> Renaming {
        Renaming {
            places: self
                .retag
                .iter()
                .map(|rule| rule.regex.capture_locations())
                .collect(),
            before: Vec::new(),
            hits: [self.retag.len(), self.split.len()].map(|rules| vec![0; rules]),
        }
    }

    /// Appends the new name of `key` to `renamed`; `policy` determines its tag. False, with nothing appended, if the
    /// name is too long for a server.
    pub fn rename(
        &self,
        key: &[u8],
        policy: &Policy,
        renaming: &mut Renaming,
        renamed: &mut Vec<u8>,
    ) -> bool {
        let start = renamed.len();
        renamed.extend_from_slice(key);
        let Renaming {
            places,
            before,
            hits: [retagged, split],
        } = renaming;
        for ((rule, places), hits) in self.retag.iter().zip(places).zip(retagged) {
            before.clear();
            before.extend(renamed.drain(start..));
            match rule.apply(before, places, renamed) {
                Applied::NoMatch => {}
                Applied::Renamed => *hits += 1,
                Applied::TooLong => {
                    *hits += 1;
                    return false;
                }
            }
        }
        if self.split.is_empty() {
            return true;
        }
        let Some(tag) = policy.tag(&renamed[start..]) else {
            return true;
        };
        let is_of = |split: &Split| split.is_of(&renamed[start..][tag.clone()]);
        if let Some(at) = self.split.iter().position(is_of) {
            split[at] += 1;
            let part = self.split[at].part_of(&renamed[start..]);
            let end = start + tag.end;
            renamed.splice(end..end, format!(":{part}").into_bytes());
        }
        true
    }
}

fn each<T>(texts: &[String], parse: impl Fn(&str) -> Result<T>) -> Result<Vec<T>> {
    texts.iter().map(|text| parse(text)).collect()
}

impl Retag {
    fn parse(text: &str) -> std::result::Result<Retag, String> {
        let parts = text
            .split_once("=>")
            .ok_or("is not 'REGEX => TEMPLATE', as in 'cart:(\\d+) => cart:{$1}'")?;
        let regex = compile_over_bytes(parts.0.trim_ascii())?;
        let template = template(parts.1.trim_ascii(), &regex)?;
        let text = text.to_owned();
        Ok(Retag {
            text,
            regex,
            template,
        })
    }

    /// Appends `key` with the first match of the pattern replaced.
    fn apply(&self, key: &[u8], places: &mut CaptureLocations, renamed: &mut Vec<u8>) -> Applied {
        let Some(Range { start, end }) = self
            .regex
            .captures_read(places, key)
            .map(|matched| matched.range())
        else {
            renamed.extend_from_slice(key);
            return Applied::NoMatch;
        };
        let parts = self.template.iter().map(|part| match part {
            Part::Text(text) => text.as_slice(),
            Part::Group(number) => places
                .get(*number)
                .map_or(&[][..], |(start, end)| &key[start..end]),
        });
        let len = key.len() - (end - start) + parts.clone().map(<[u8]>::len).sum::<usize>();
        if len > MAX_KEY {
            return Applied::TooLong;
        }
        renamed.reserve(len);
        renamed.extend_from_slice(&key[..start]);
        parts.for_each(|part| renamed.extend_from_slice(part));
        renamed.extend_from_slice(&key[end..]);
        Applied::Renamed
    }
}

/// The effect of a rule on a key.
enum Applied {
    NoMatch,
    Renamed,
    /// None: the name would be too long for a server.
    TooLong,
}

/// `$1`, `${1}` and `${name}` are groups, `$$` is a dollar sign.
fn template(text: &str, regex: &Regex) -> std::result::Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((plain, behind)) = rest.split_once('$') {
        parts.push(Part::Text(plain.as_bytes().to_vec()));
        let digits = behind.len()
            - behind
                .trim_start_matches(|c: char| c.is_ascii_digit())
                .len();
        let (group, behind) = match behind
            .strip_prefix('{')
            .and_then(|name| name.split_once('}'))
        {
            _ if behind.starts_with('$') => ("$", &behind[1..]),
            Some(named) => named,
            None => behind.split_at(digits),
        };
        let number = group
            .parse()
            .ok()
            .filter(|number| *number < regex.captures_len());
        let named = || regex.capture_names().position(|name| name == Some(group));
        parts.push(match group {
            "$" => Part::Text(b"$".to_vec()),
            group => Part::Group(number.or_else(named).ok_or_else(|| {
                format!(
                    "has no group ${}; $1 is the first in parentheses, $$ a dollar sign",
                    Name::from(group)
                )
            })?),
        });
        rest = behind;
    }
    parts.push(Part::Text(rest.as_bytes().to_vec()));
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parsed(flags: [&[&str]; 2]) -> Result<RenameRules> {
        let owned = |values: &[&str]| values.iter().copied().map(String::from).collect();
        let [retag, split]: [Vec<String>; 2] = flags.map(owned);
        RenameRules::parse(&retag, &split)
    }

    fn renamed(flags: [&[&str]; 2], key: &str) -> String {
        let rules = parsed(flags).unwrap();
        let mut renamed = b"before".to_vec();
        rules.rename(
            key.as_bytes(),
            &Policy::Oss,
            &mut rules.start(),
            &mut renamed,
        );
        String::from_utf8(renamed)
            .unwrap()
            .strip_prefix("before")
            .unwrap()
            .to_owned()
    }

    fn refused(flags: [&[&str]; 2]) -> String {
        parsed(flags).unwrap_err().to_string()
    }

    #[test]
    fn retagging_replaces_the_first_match_by_the_template() {
        let retag = |rule: &str, key: &str| renamed([&[rule], &[]], key);
        let favorites = "^favorites:(?<user>\\d+):(.*)$ => favorites:{fav:${user}}:$2";
        assert_eq!(
            retag(favorites, "favorites:123:news001"),
            "favorites:{fav:123}:news001"
        );
        assert_eq!(retag(favorites, "other"), "other");
        assert_eq!(retag(r"(\d+) => {$1}", "a:1:2"), "a:{1}:2");
        assert_eq!(retag("b => $$$0", "abc"), "a$bc");
        assert_eq!(retag("{(.*)} => $1", "x{y}z"), "xyz");
        assert_eq!(renamed([&["a => b", "b => c"], &[]], "a"), "c");
    }

    #[test]
    fn tags_are_split_by_the_crc_of_the_key() {
        let bucket = hashslot::crc16(b"k:{common}:7") % 16;
        for split in ["common = 16", "{common}=16", "/com+on/ = 16"] {
            assert_eq!(
                renamed([&[], &[split]], "k:{common}:7"),
                format!("k:{{common:{bucket}}}:7")
            );
        }
        assert_eq!(renamed([&[], &["/com/ = 16"]], "k:{common}"), "k:{common}");
        assert_eq!(renamed([&[], &["common = 16"]], "common"), "common");
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_named_with_the_way_out() {
        assert!(refused([&["a"], &[]]).starts_with("--retag a: is not 'REGEX => TEMPLATE'"));
        assert!(refused([&["(a) => $2"], &[]]).contains("has no group $2"));
        assert!(refused([&["(a) => $x"], &[]]).contains("has no group $"));
        assert!(refused([&["(?=a) => b"], &[]]).contains("look-around"));
    }

    #[test]
    fn a_name_that_no_server_takes_is_not_built() {
        let rule = format!("(.*) => {}", "$1".repeat(140));
        let rules = RenameRules::parse(&[rule], &[]).unwrap();
        let (key, mut renamed) = (vec![b'a'; 4 << 20], b"before".to_vec());
        let mut with = rules.start();
        assert!(!rules.rename(&key, &Policy::Oss, &mut with, &mut renamed));
        assert_eq!((renamed.as_slice(), with.hits[0][0]), (&b"before"[..], 1));
        assert!(renamed.capacity() < 16 << 20);
    }

    proptest! {
        #[test]
        fn no_rule_and_no_key_makes_it_panic(key: Vec<u8>, rule in "[a{}().*+$0-9\\[\\]]{0,8} => [a{}$0-3]{0,6}", split in "[a{}/.*]{0,5} = 7") {
            if let Ok(rules) = RenameRules::parse(&[rule], &[split]) {
                let mut renamed = b"before".to_vec();
                rules.rename(&key, &Policy::Enterprise, &mut rules.start(), &mut renamed);
                prop_assert!(renamed.starts_with(b"before"));
            }
        }
    }
}
