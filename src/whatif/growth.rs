//! Growing prefixes: their keys count several times, in their own slots. A fractional factor selects that part of the
//! keys, but scales the bytes and operations of every key.

use slotscope_engine::error::{Error, Result};
use slotscope_engine::hash::hash;
use slotscope_engine::name::Name;

/// Maximum growth factor.
const MOST: f64 = 1000.0;
/// Maximum number of rules, each of which needs counters in every thread.
const MOST_RULES: usize = 8;

/// All growing prefixes.
#[derive(Debug, Clone, Default)]
pub struct Growth(Vec<Rule>);

/// A prefix with its growth factor.
#[derive(Debug, Clone)]
struct Rule {
    prefix: Vec<u8>,
    factor: f64,
    /// The integer part of the factor, at least 1.
    whole: u32,
    /// The fraction of keys counted once more, in 2^-64.
    part: u64,
}

/// The extra counts of a rule, beyond the one that every key has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum More {
    /// `whole - 1` times.
    Whole,
    /// Once more.
    Once,
}

impl Growth {
    /// Parses the values of `--grow`.
    ///
    /// # Errors
    /// A value is invalid; the message names it.
    pub(crate) fn parse(texts: &[String]) -> Result<Growth> {
        if texts.len() > MOST_RULES {
            let reason = format!("at most {MOST_RULES} prefixes can be tried at a time");
            return Err(Error::option("grow", "", reason));
        }
        let rules = texts.iter().map(|text| {
            Rule::parse(text).ok_or_else(|| {
                let reason = "is not 'PREFIX = Nx' with N from 1 to 1000, as in 'user: = 2x'";
                Error::option("grow", Name::from(text.as_str()), reason)
            })
        });
        rules.collect::<Result<_>>().map(Growth)
    }

    /// Whether nothing grows.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of rules.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether rule `at` is the first to match a key, and adds `extra` for it.
    pub(crate) fn counts(&self, at: usize, extra: More, key: &[u8]) -> bool {
        self.rule_of(key) == Some(at)
            && match extra {
                More::Whole => self.0[at].whole > 1,
                More::Once => hash(key) < self.0[at].part,
            }
    }

    /// How often the counts for `extra` of rule `at` are added.
    pub(crate) fn times(&self, at: usize, extra: More) -> u32 {
        match extra {
            More::Whole => self.0[at].whole - 1,
            More::Once => 1,
        }
    }

    /// The part of a key's weight counted for the key itself, or for each copy: together they are its weight times the
    /// factor.
    pub(crate) fn weight(&self, key: &[u8], weight: u64, is_copy: bool) -> u64 {
        let Some(at) = self.rule_of(key) else {
            return weight;
        };
        let rule = &self.0[at];
        let grown = (weight as f64 * rule.factor).round() as u64;
        let count = u64::from(rule.whole) + u64::from(hash(key) < rule.part);
        let each = grown / count;
        if is_copy {
            each
        } else {
            grown - each * (count - 1)
        }
    }

    /// The first rule that matches a key.
    pub(crate) fn rule_of(&self, key: &[u8]) -> Option<usize> {
        self.0.iter().position(|rule| key.starts_with(&rule.prefix))
    }

    /// The prefixes without keys, given `hits` per prefix; for display.
    pub(crate) fn without_keys(&self, hits: &[u64]) -> Vec<String> {
        let unmet = self.0.iter().zip(hits).filter(|(_, hits)| **hits == 0);
        unmet
            .map(|(rule, _)| {
                let prefix = slotscope_engine::text::short(&Name::from(rule.prefix.as_slice()));
                format!("no key begins with \"{prefix}\"")
            })
            .collect()
    }
}

impl Rule {
    fn parse(text: &str) -> Option<Rule> {
        let (prefix, factor) = text.rsplit_once('=')?;
        // As spelled in reports, where a prefix may contain any byte.
        let prefix = Name::parse(prefix.trim_ascii())?.0;
        let multiplier = factor.trim_ascii();
        let digits = multiplier
            .strip_suffix(['x', 'X'])
            .unwrap_or(multiplier)
            .trim_ascii();
        let is_plain = digits
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let factor: f64 = digits.parse().ok().filter(|_| is_plain)?;
        let in_range = (1.0..=MOST).contains(&factor) && !prefix.is_empty();
        in_range.then(|| Rule {
            prefix,
            factor,
            whole: factor as u32,
            part: (factor.fract() * u64::MAX as f64) as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn growth(texts: &[&str]) -> Result<Growth> {
        Growth::parse(
            &texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>(),
        )
    }

    #[test]
    fn a_factor_is_whole_copies_and_a_part_of_the_keys() {
        let growth = growth(&["user: = 2.25x", "u = 3"]).unwrap();
        assert_eq!(
            (growth.times(0, More::Whole), growth.times(1, More::Whole)),
            (1, 2)
        );
        let keys: Vec<String> = (0..10_000).map(|i| format!("user:{i}")).collect();
        let count = |at: usize, more: More| {
            keys.iter()
                .filter(|key| growth.counts(at, more, key.as_bytes()))
                .count()
        };
        assert_eq!(count(0, More::Whole), 10_000);
        assert!(
            (2300..2700).contains(&count(0, More::Once)),
            "{}",
            count(0, More::Once)
        );
        assert_eq!(
            (count(1, More::Whole), count(1, More::Once)),
            (0, 0),
            "the first rule has them"
        );
        assert!(growth.counts(1, More::Whole, b"u"));
    }

    #[test]
    fn weights_grow_exactly_by_any_factor() {
        let growth = growth(&["user: = 1.25x", "lb: = 3x"]).unwrap();
        for at in 0..100 {
            let key = format!("user:{at}").into_bytes();
            let copies = u64::from(growth.counts(0, More::Once, &key));
            let all = growth.weight(&key, 1001, false) + copies * growth.weight(&key, 1001, true);
            assert_eq!(all, 1251, "{at}");
        }
        assert_eq!(growth.weight(b"lb:1", 7, true), 7);
        assert_eq!(growth.weight(b"other", 7, false), 7);
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_named() {
        for text in [
            "user:",
            "user: = x",
            "user: = 0x",
            "user: = 1e3",
            "user: = -2",
            " = 2x",
            "a = 1001",
            r"\q = 2",
        ] {
            let message = growth(&[text]).unwrap_err().to_string();
            assert!(message.contains("is not 'PREFIX = Nx'"), "{message}");
        }
        assert!(growth(&["a = 2"; 9]).is_err());
        assert_eq!(growth(&[r"a\x00 = 2x"]).unwrap().rule_of(b"a\0b"), Some(0));
    }
}
