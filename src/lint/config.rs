//! Parses a naming convention from `slotscope.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use toml::Spanned;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;
use slotscope_engine::sentence::Sentence;
use slotscope_engine::slot::policy;
use slotscope_engine::source::small_file;

use crate::lint::rules::{
    BUILT_IN, CustomRule, GLOBAL_TAGS, NAMESPACE, NamingLimits, NamingRules, PLACEHOLDER, Severity,
    TAG,
};

/// Above the size of any list of rules.
const MAX_BYTES: u64 = 1 << 20;
/// Every pattern is matched against every key, and the file may be untrusted: it is read from the current directory.
const MAX_PATTERNS: usize = 256;
const MAX_PATTERN_MEMORY: usize = 1 << 20;
/// Maximum examples per finding: a report is not a dump.
const MAX_EXAMPLES: usize = 100;

/// The file format. Every part is optional.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct ConfigFile {
    namespace: Option<Spanned<String>>,
    tag: Option<Spanned<String>>,
    global_tags: Option<Vec<String>>,
    allow: Vec<Spanned<String>>,
    severity: BTreeMap<String, Spanned<Severity>>,
    limits: Option<Spanned<NamingLimits>>,
    rule: Vec<Spanned<CustomRuleConfig>>,
}

/// A user-defined rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CustomRuleConfig {
    id: String,
    must_match: Option<Spanned<String>>,
    must_not_match: Option<Spanned<String>>,
    severity: Option<Severity>,
    what: Option<String>,
}

/// The source text, for locating errors.
struct Text<'a> {
    file: &'a Name,
    text: &'a str,
}

impl Text<'_> {
    fn bad(&self, at: usize, reason: impl Into<Sentence>) -> Error {
        let before = &self.text.as_bytes()[..at.min(self.text.len())];
        let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
        Error::bad(format!("{}: line {line}", self.file), reason)
    }

    fn regex(&self, pattern: &Spanned<String>) -> Result<Regex> {
        let built = RegexBuilder::new(pattern.get_ref())
            .size_limit(MAX_PATTERN_MEMORY)
            .build();
        built.map_err(|error| {
            let reason = policy::reason(&error);
            let message = format!(
                "\"{}\" is not a regular expression: {}",
                Name::from(pattern.get_ref().as_str()),
                Name::from(reason.as_str())
            );
            self.bad(pattern.span().start, message)
        })
    }
}

impl NamingRules {
    /// The default convention.
    ///
    /// # Errors
    /// None in practice: its patterns are built in.
    pub fn usual() -> Result<NamingRules> {
        NamingRules::parse(&Name::from("the usual convention"), "")
    }

    /// The convention in a file.
    ///
    /// # Errors
    /// It cannot be read, is not text, or as for `parse`.
    pub(crate) fn read(path: &Path) -> Result<NamingRules> {
        let hint = "more than 1 MiB, too much for a naming convention";
        let (name, bytes) = (Name::from(path), small_file::read(path, MAX_BYTES, hint)?);
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let line = 1 + error.as_bytes()[..at]
                .iter()
                .filter(|byte| **byte == b'\n')
                .count();
            Error::bad(
                format!("{name}: line {line}"),
                "not UTF-8, which TOML is; write other bytes as \\xHH in a pattern",
            )
        })?;
        NamingRules::parse(&name, &text)
    }

    /// Parses a convention; omitted parts have their defaults.
    ///
    /// # Errors
    /// Invalid TOML, an unknown name, or an unusable value; with its line.
    pub fn parse(file: &Name, text: &str) -> Result<NamingRules> {
        let place = Text { file, text };
        let config: ConfigFile = toml::from_str(text).map_err(|error| {
            let reason = Name::from(
                error
                    .message()
                    .lines()
                    .collect::<Vec<_>>()
                    .join(", ")
                    .as_str(),
            )
            .to_string();
            place.bad(error.span().map_or(0, |span| span.start), reason)
        })?;
        let allowed = config.allow.iter().map(Spanned::span);
        let patterns = allowed.chain(config.rule.iter().map(Spanned::span));
        if let Some(one_more) = patterns.into_iter().nth(MAX_PATTERNS) {
            let reason =
                format!("more than {MAX_PATTERNS} patterns of allow and rule; join some with |");
            return Err(place.bad(one_more.start, reason));
        }
        let built_in = |pattern: &str| Spanned::new(0..0, pattern.to_owned());
        let limits = match &config.limits {
            None => NamingLimits::default(),
            Some(spanned) => {
                let at = spanned.span().start;
                let limits = *spanned.get_ref();
                if !(limits.tag_share > 0.0 && limits.tag_share <= 1.0)
                    || limits.examples > MAX_EXAMPLES
                {
                    let reason =
                        "limits: tag-share is a part of 1, such as 0.05; examples are at most 100";
                    return Err(place.bad(at, reason));
                }
                limits
            }
        };
        Ok(NamingRules {
            has_own_namespace: config.namespace.is_some(),
            namespace: place.regex(
                &config
                    .namespace
                    .clone()
                    .unwrap_or_else(|| built_in(NAMESPACE)),
            )?,
            tag: place.regex(&config.tag.clone().unwrap_or_else(|| built_in(TAG)))?,
            placeholder: place.regex(&built_in(PLACEHOLDER))?,
            global_tags: match &config.global_tags {
                Some(tags) => tags.iter().map(|tag| tag.as_bytes().to_vec()).collect(),
                None => GLOBAL_TAGS
                    .iter()
                    .map(|tag| tag.as_bytes().to_vec())
                    .collect(),
            },
            allow: config
                .allow
                .iter()
                .map(|pattern| place.regex(pattern))
                .collect::<Result<_>>()?,
            own: own_rules(&config.rule, &place)?,
            severities: severities(&config.severity, &place)?,
            limits,
        })
    }
}

fn severities(
    set: &BTreeMap<String, Spanned<Severity>>,
    place: &Text<'_>,
) -> Result<Vec<Severity>> {
    let mut severities: Vec<Severity> = BUILT_IN.iter().map(|(_, severity, _)| *severity).collect();
    for (id, severity) in set {
        let Some(rule) = BUILT_IN.iter().position(|(built_in, ..)| built_in == id) else {
            let ids: Vec<&str> = BUILT_IN.iter().map(|(id, ..)| *id).collect();
            let reason = format!(
                "there is no rule \"{}\"; there are: {}",
                Name::from(id.as_str()),
                ids.join(", ")
            );
            return Err(place.bad(severity.span().start, reason));
        };
        severities[rule] = *severity.get_ref();
    }
    Ok(severities)
}

fn own_rules(rules: &[Spanned<CustomRuleConfig>], place: &Text<'_>) -> Result<Vec<CustomRule>> {
    let mut own: Vec<CustomRule> = Vec::new();
    for spanned in rules {
        let (at, rule) = (spanned.span().start, spanned.get_ref());
        let (regex, must_match) = match (&rule.must_match, &rule.must_not_match) {
            (Some(pattern), None) => (place.regex(pattern)?, true),
            (None, Some(pattern)) => (place.regex(pattern)?, false),
            _ => return Err(place.bad(at, "a rule has either must-match or must-not-match")),
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_taken = BUILT_IN.iter().any(|(id, ..)| *id == rule.id)
            || own.iter().any(|known| known.id == rule.id);
        if is_taken || rule.id.is_empty() || !rule.id.bytes().all(is_plain) {
            let reason = format!(
                "the id \"{}\" is taken, or not made of letters, digits, - _ and .; choose another",
                Name::from(rule.id.as_str())
            );
            return Err(place.bad(at, reason));
        }
        let verb = if must_match { "do not match" } else { "match" };
        let text = rule
            .what
            .clone()
            .unwrap_or_else(|| format!("{verb} {}", regex.as_str()));
        // It is printed verbatim, so escape hidden characters.
        let what = Name::from(text.as_str()).to_string();
        let severity = rule.severity.unwrap_or(Severity::Warning);
        own.push(CustomRule {
            id: rule.id.clone(),
            severity,
            what,
            regex,
            must_match,
        });
    }
    Ok(own)
}
