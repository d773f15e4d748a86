//! The rules by id, and the settings of a convention.

use std::collections::HashSet;

use regex::bytes::Regex;
use serde::{Deserialize, Serialize};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Makes `lint` exit with 1.
    Error,
    /// Worth a look.
    Warning,
    /// Good to know.
    Info,
    /// The rule is not checked.
    Off,
}

impl Severity {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        ["error", "warning", "info", "off"][self as usize]
    }
}

/// A built-in rule, in the order of `BUILT_IN`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    GlobalTag,
    HeavyTag,
    Placeholder,
    EmptyTag,
    UnbalancedBraces,
    ExtraBraces,
    Namespace,
    TagForm,
    ControlBytes,
    InvalidUtf8,
    Blanks,
    LongKey,
    EnterpriseTag,
    SharedTag,
    Version,
}

/// Id, default severity, and what keys that violate it do wrong. An error is a mistake under any convention; following
/// another convention is not an error.
pub const BUILT_IN: &[(&str, Severity, &str)] = &[
    (
        "global-tag",
        Severity::Error,
        "have a tag that gathers unrelated keys in one slot",
    ),
    (
        "heavy-tag",
        Severity::Error,
        "have a tag that holds a large part of all keys",
    ),
    (
        "placeholder",
        Severity::Error,
        "have a name that was never filled in: {userId}, %s, undefined, null",
    ),
    (
        "empty-tag",
        Severity::Warning,
        "have {} first, so they have no tag, and later braces are ignored",
    ),
    (
        "unbalanced-braces",
        Severity::Warning,
        "have a brace without a partner",
    ),
    (
        "extra-braces",
        Severity::Warning,
        "have more braces than the pair that makes the tag; the rest are ignored",
    ),
    (
        "namespace",
        Severity::Warning,
        "do not begin with <env>:<service>:<module>",
    ),
    (
        "tag-form",
        Severity::Warning,
        "have a tag that is not <domain>:<id>",
    ),
    ("control-bytes", Severity::Warning, "hold control bytes"),
    ("invalid-utf8", Severity::Warning, "are not UTF-8"),
    ("blanks", Severity::Warning, "hold blanks"),
    ("long-key", Severity::Warning, "are longer than the limit"),
    (
        "enterprise-tag",
        Severity::Info,
        "hash to another slot in Redis Enterprise",
    ),
    (
        "shared-tag",
        Severity::Info,
        "share a slot with keys of other domains, as their tag is a bare id that those use too",
    ),
    (
        "version",
        Severity::Info,
        "have the namespace and no version segment such as v1",
    ),
];

/// Tags that do not tell whose keys they group.
pub(super) const GLOBAL_TAGS: &[&str] = &[
    "all",
    "app",
    "cache",
    "common",
    "conf",
    "config",
    "configs",
    "configuration",
    "data",
    "default",
    "global",
    "key",
    "keys",
    "main",
    "prod",
    "public",
    "redis",
    "root",
    "setting",
    "settings",
    "shared",
    "static",
    "sys",
    "system",
    "test",
    "tmp",
];

/// `<env>:<service>:<module>`; service and module are the business domain.
pub(super) const NAMESPACE: &str = "^(?:prod|production|prd|pre|preprod|stage|staging|stg|uat|qa|sit|test|testing|dev|\
    development|local|sandbox|canary|gray|demo):(?P<domain>[a-z][a-z0-9_.-]*:[a-z][a-z0-9_.-]*)(?::|$)";

/// `<domain>:<id>`.
pub(super) const TAG: &str = r"^[a-z][a-z0-9_-]*:[^:\s].*$";

/// Placeholders left by programs instead of a value: a name such as userId or user_id at the end of the text in braces,
/// `${...}`, `{{...}}`, `<name>`, printf directives (but not URL escapes), and what languages print for null.
pub(super) const PLACEHOLDER: &str = r"(?x-u)
    \{(?:[a-z0-9_]+:)*[a-z]+(?:[A-Z][a-z]*)*(?:Id|ID|Uid|UID|No|Name|Key|Code|_id)\} | \$\{ | \{\{ | <[A-Za-z_]+>
    | %(?:[sdu](?:[^0-9A-Za-z]|$)|[0-9]+\$[sd]|\([a-z_]+\)[sd]|\{[a-z_]+\})
    | (?:^|[:{}./|])(?:undefined|null|NULL|None|NaN|nil|\[object\ Object\])(?:$|[:{}./|])";

/// A version segment.
pub(super) const VERSION: &str = r"(?-u)(?:^|[:.])v[0-9]+(?:[:.]|$)";

/// A rule added by a convention.
#[derive(Debug, Clone)]
pub struct CustomRule {
    /// Its id.
    pub id: String,
    /// Its severity.
    pub severity: Severity,
    /// The fault of keys that violate it.
    pub what: String,
    /// Matched against keys.
    pub regex: Regex,
    /// Whether keys must match, or must not.
    pub must_match: bool,
}

/// Limits set by a convention.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct NamingLimits {
    /// Maximum bytes per key.
    pub key_bytes: usize,
    /// Maximum share of all keys in one tag,
    pub tag_share: f64,
    /// unless it has fewer keys than this.
    pub tag_keys: u64,
    /// Examples per finding.
    pub examples: usize,
}

impl Default for NamingLimits {
    fn default() -> Self {
        // A slot has 0.006% of the keys, so 5% in one is a hot spot for any cluster size.
        NamingLimits {
            key_bytes: 256,
            tag_share: 0.05,
            tag_keys: 1000,
            examples: 3,
        }
    }
}

/// A naming convention.
#[derive(Debug, Clone)]
pub struct NamingRules {
    pub(super) severities: Vec<Severity>,
    pub(super) namespace: Regex,
    pub(super) tag: Regex,
    pub(super) version: Regex,
    pub(super) placeholder: Regex,
    pub(super) global_tags: HashSet<Vec<u8>>,
    pub(super) allow: Vec<Regex>,
    pub(super) own: Vec<CustomRule>,
    /// Whether the user set the namespace.
    pub(super) has_own_namespace: bool,
    /// Its limits.
    pub limits: NamingLimits,
}

impl NamingRules {
    pub(super) fn is_on(&self, rule: Rule) -> bool {
        self.severities[rule as usize] != Severity::Off
    }

    /// The business domain of a key: the group `domain` of its namespace, else the namespace, else the text before the first
    /// separator or brace.
    pub(super) fn domain<'k>(&self, key: &'k [u8], has_namespace: bool) -> &'k [u8] {
        let namespace = has_namespace.then(|| self.namespace.captures(key));
        let Some(namespace) = namespace.flatten() else {
            let end = memchr::memchr2(b':', b'{', key);
            return &key[..end.unwrap_or(0)];
        };
        let domain = namespace.name("domain").or_else(|| namespace.get(0));
        domain.map_or(&[], |domain| domain.as_bytes())
    }

    /// Ids, severities and texts of all rules, built-in ones first.
    pub(super) fn rows(&self) -> impl Iterator<Item = (&str, Severity, &str)> {
        let built_in = BUILT_IN
            .iter()
            .zip(&self.severities)
            .map(|((id, _, fault), severity)| (*id, *severity, *fault));
        built_in.chain(
            self.own
                .iter()
                .map(|own| (own.id.as_str(), own.severity, own.what.as_str())),
        )
    }
}
