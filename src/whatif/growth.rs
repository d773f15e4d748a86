//! Growing prefixes: their keys count several times, in their own slots.

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;

/// Maximum growth factor.
const MOST: u32 = 1000;
/// Maximum number of rules, each of which needs counters in every thread.
const MOST_RULES: usize = 8;

/// All growing prefixes.
#[derive(Debug, Clone, Default)]
pub struct Growth(Vec<Rule>);

/// A prefix with its growth factor.
#[derive(Debug, Clone)]
struct Rule {
    prefix: Vec<u8>,
    factor: u32,
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
                let reason =
                    "is not 'PREFIX = Nx' with a whole N from 1 to 1000, as in 'user: = 2x'";
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

    /// How often the keys of a rule are added to themselves.
    pub(crate) fn copies(&self, at: usize) -> u32 {
        self.0[at].factor - 1
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
        let factor = digits.parse().ok()?;
        let in_range = (1..=MOST).contains(&factor) && !prefix.is_empty();
        in_range.then_some(Rule { prefix, factor })
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
    fn the_first_rule_that_matches_has_a_key() {
        let growth = growth(&["user: = 2x", "u = 3"]).unwrap();
        assert_eq!((growth.copies(0), growth.copies(1)), (1, 2));
        let rules = [&b"user:7"[..], b"u", b"other"].map(|key| growth.rule_of(key));
        assert_eq!(rules, [Some(0), Some(1), None]);
    }

    #[test]
    fn a_rule_that_cannot_be_read_is_named() {
        for text in [
            "user:",
            "user: = x",
            "user: = 0x",
            "user: = 1e3",
            "user: = 1.5",
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
