//! Parses a naming convention from `slotscope.toml`.

use std::collections::BTreeMap;
use std::path::Path;

use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::policy;
use slotscope_base::small_file;

use crate::lint::rules::{
    BUILT_IN, CustomRule, GLOBAL_TAGS, NAMESPACE, NamingLimits, NamingRules, PLACEHOLDER, Severity,
    TAG, VERSION,
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
    namespace: Option<String>,
    tag: Option<String>,
    version: Option<String>,
    global_tags: Option<Vec<String>>,
    allow: Vec<String>,
    severity: BTreeMap<String, Severity>,
    limits: Option<NamingLimits>,
    rule: Vec<CustomRuleConfig>,
}

/// A user-defined rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct CustomRuleConfig {
    id: String,
    must_match: Option<String>,
    must_not_match: Option<String>,
    severity: Option<Severity>,
    what: Option<String>,
}

/// The error of a fault in `file`, at the line of a byte.
fn at_line(file: &Name, text: &[u8], at: usize, reason: &str) -> Error {
    let before = &text[..at.min(text.len())];
    let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
    Error::bad(format!("{file}: line {line}"), reason)
}

fn bad(file: &Name, reason: impl Into<String>) -> Error {
    Error::bad(file.to_string(), reason.into())
}

fn regex(file: &Name, pattern: &str) -> Result<Regex> {
    let built = RegexBuilder::new(pattern)
        .size_limit(MAX_PATTERN_MEMORY)
        .build();
    built.map_err(|error| {
        let reason = policy::reason(&error);
        let message = format!(
            "\"{}\" is not a regular expression: {}",
            Name::from(pattern),
            Name::from(reason.as_str())
        );
        bad(file, message)
    })
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
            let reason = "not UTF-8, which TOML is; write other bytes as \\xHH in a pattern";
            at_line(&name, error.as_bytes(), at, reason)
        })?;
        NamingRules::parse(&name, &text)
    }

    /// Parses a convention; omitted parts have their defaults.
    ///
    /// # Errors
    /// Invalid TOML, with its line; an unknown name, or an unusable value.
    pub fn parse(file: &Name, text: &str) -> Result<NamingRules> {
        let config: ConfigFile = toml::from_str(text).map_err(|error| {
            let lines: Vec<&str> = error.message().lines().collect();
            let reason = Name::from(lines.join(", ").as_str()).to_string();
            let at = error.span().map_or(0, |span| span.start);
            at_line(file, text.as_bytes(), at, &reason)
        })?;
        if config.allow.len() + config.rule.len() > MAX_PATTERNS {
            let reason =
                format!("more than {MAX_PATTERNS} patterns of allow and rule; join some with |");
            return Err(bad(file, reason));
        }
        let limits = config.limits.unwrap_or_default();
        if !(limits.tag_share > 0.0 && limits.tag_share <= 1.0) || limits.examples > MAX_EXAMPLES {
            let reason = "limits: tag-share is a part of 1, such as 0.05; examples are at most 100";
            return Err(bad(file, reason));
        }
        let usual_tags = || GLOBAL_TAGS.iter().map(|tag| (*tag).to_owned()).collect();
        let global_tags: Vec<String> = config.global_tags.unwrap_or_else(usual_tags);
        let allow = config.allow.iter().map(|pattern| regex(file, pattern));
        Ok(NamingRules {
            has_own_namespace: config.namespace.is_some(),
            namespace: regex(file, config.namespace.as_deref().unwrap_or(NAMESPACE))?,
            tag: regex(file, config.tag.as_deref().unwrap_or(TAG))?,
            version: regex(file, config.version.as_deref().unwrap_or(VERSION))?,
            placeholder: regex(file, PLACEHOLDER)?,
            global_tags: global_tags.into_iter().map(String::into_bytes).collect(),
            allow: allow.collect::<Result<_>>()?,
            own: own_rules(config.rule, file)?,
            severities: severities(&config.severity, file)?,
            limits,
        })
    }
}

fn severities(set: &BTreeMap<String, Severity>, file: &Name) -> Result<Vec<Severity>> {
    let mut severities: Vec<Severity> = BUILT_IN.iter().map(|(_, severity, _)| *severity).collect();
    for (id, severity) in set {
        let Some(rule) = BUILT_IN.iter().position(|(built_in, ..)| built_in == id) else {
            let ids: Vec<&str> = BUILT_IN.iter().map(|(id, ..)| *id).collect();
            let reason = format!(
                "there is no rule \"{}\"; there are: {}",
                Name::from(id.as_str()),
                ids.join(", ")
            );
            return Err(bad(file, reason));
        };
        severities[rule] = *severity;
    }
    Ok(severities)
}

fn own_rules(rules: Vec<CustomRuleConfig>, file: &Name) -> Result<Vec<CustomRule>> {
    let mut own: Vec<CustomRule> = Vec::new();
    for rule in rules {
        let (regex, must_match) = match (&rule.must_match, &rule.must_not_match) {
            (Some(pattern), None) => (regex(file, pattern)?, true),
            (None, Some(pattern)) => (regex(file, pattern)?, false),
            _ => {
                let id = Name::from(rule.id.as_str());
                let reason =
                    format!("rule \"{id}\" has to have must-match or must-not-match, not both");
                return Err(bad(file, reason));
            }
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        let is_taken = BUILT_IN.iter().any(|(id, ..)| *id == rule.id)
            || own.iter().any(|known| known.id == rule.id);
        if is_taken || rule.id.is_empty() || !rule.id.bytes().all(is_plain) {
            let reason = format!(
                "the id \"{}\" is taken, or not made of letters, digits, - _ and .; choose another",
                Name::from(rule.id.as_str())
            );
            return Err(bad(file, reason));
        }
        let verb = if must_match { "do not match" } else { "match" };
        let text = rule
            .what
            .unwrap_or_else(|| format!("{verb} {}", regex.as_str()));
        // It is printed verbatim, so escape hidden characters.
        let what = Name::from(text.as_str()).to_string();
        let severity = rule.severity.unwrap_or(Severity::Warning);
        own.push(CustomRule {
            id: rule.id,
            severity,
            what,
            regex,
            must_match,
        });
    }
    Ok(own)
}
