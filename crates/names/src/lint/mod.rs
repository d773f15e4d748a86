//! Checks key names against a naming convention: `Checks` counts keys, `LintFindings` judges the counts.

mod braces;
mod checks;
mod config;
mod examples;
mod rules;
mod sharing;
pub(crate) mod view;

use serde::Serialize;

use slotscope_base::metric::Metric;
use slotscope_count::tally::tags::TagCounter;
use slotscope_model::Rejected;
use slotscope_model::balance::tidy;

pub(crate) use crate::lint::checks::Checks;
pub(crate) use crate::lint::examples::{Example, Violations};
use crate::lint::rules::Rule;
pub use crate::lint::rules::{BUILT_IN, CustomRule, NamingLimits, NamingRules, Severity};
use crate::lint::sharing::Sharing;

/// Schema name and version.
pub const SCHEMA: &str = "slotscope.lint/1";

/// Where the convention and its rules are explained.
pub const HELP: &str = "slotscope lint --help";

/// If at least this share of keys violates the built-in namespace rule, they follow another convention.
const OTHER_CONVENTION: f64 = 0.9;

/// The findings.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct LintFindings {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// All keys.
    pub keys: u64,
    /// Keys that the allow list passes over.
    pub allowed: u64,
    /// Rules that keys break, errors first, then in the order of the rules.
    pub findings: Vec<Finding>,
    /// Where the rules are explained.
    pub help: &'static str,
    /// Rows that are not keys, which were not checked.
    pub rejected: Rejected,
}

/// A rule that keys break.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Finding {
    /// Its id.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// The fault of the keys.
    pub what: String,
    /// How many keys do.
    pub count: u64,
    /// How far that is certain.
    pub counted: Counted,
    /// Their part of all keys.
    pub share: f64,
    /// A few of them, the shortest; of rules about tags, the tags.
    pub examples: Vec<String>,
}

/// How far a count is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Exactly.
    Exactly,
    /// In a sample of the tags: there are more.
    AtLeast,
    /// Within cells that other tags share: a little too many.
    AtMost,
}

impl LintFindings {
    /// The findings of `checks` by these rules.
    pub(crate) fn of(checks: &Checks, rules: &NamingRules, rejected: Rejected) -> LintFindings {
        let mut violations: Vec<(Violations, Counted)> = checks
            .violations
            .iter()
            .map(|violations| (violations.clone(), Counted::Exactly))
            .collect();
        if rules.is_on(Rule::HeavyTag) {
            violations[Rule::HeavyTag as usize] = heavy(&checks.tags, checks.keys, &rules.limits);
        }
        violations[Rule::SharedTag as usize] = shared(&checks.sharing, rules.limits.examples);
        let finding = |((id, severity, fault), (violations, counted)): (
            (&str, Severity, &str),
            (Violations, Counted),
        )| Finding {
            rule: id.to_owned(),
            severity,
            what: fault.to_owned(),
            count: violations.count,
            counted,
            share: tidy(violations.count as f64 / checks.keys.max(1) as f64),
            examples: violations.examples.iter().map(Example::to_string).collect(),
        };
        let mut findings: Vec<Finding> = rules.rows().zip(violations).map(finding).collect();
        let namespace = &mut findings[Rule::Namespace as usize];
        if !rules.has_own_namespace && namespace.share >= OTHER_CONVENTION {
            namespace.severity = Severity::Info;
            namespace.what += ": set your own namespace in slotscope.toml";
            namespace.examples.clear();
        }
        findings.retain(|finding| finding.count > 0);
        findings.sort_by_key(|finding| finding.severity);
        LintFindings {
            schema: SCHEMA,
            keys: checks.keys,
            allowed: checks.allowed,
            findings,
            help: HELP,
            rejected,
        }
    }

    /// The number of findings of a severity.
    pub(crate) fn of_severity(&self, severity: Severity) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .count()
    }
}

/// Tags over the limits. If the table of exact counts overflowed, counter cells decide: which names are tracked may
/// depend on key order, but the cells do not, and a tag this heavy is always tracked.
fn heavy(tags: &TagCounter, keys: u64, limits: &NamingLimits) -> (Violations, Counted) {
    let least = limits
        .tag_keys
        .max((limits.tag_share * keys as f64).ceil() as u64);
    let listed = tags.listed(None);
    let counted = if listed.is_exact {
        Counted::Exactly
    } else {
        Counted::AtMost
    };
    let mut violations = Violations::default();
    for tag in &listed.tags {
        let keys = tags.at_most(tag, Metric::Keys);
        if keys >= least {
            violations.add(&[b"{", &tag.name.0[..], b"}"].concat(), limits.examples);
            violations.count += keys - 1;
        }
    }
    (violations, counted)
}

/// Bare ids that several domains use; examples name the tag and the domains.
fn shared(sharing: &Sharing, examples: usize) -> (Violations, Counted) {
    let mut violations = Violations::default();
    for users in sharing.shared() {
        let domains: Vec<&[u8]> = users.domains.iter().map(Vec::as_slice).collect();
        let domains = domains.join(&b", "[..]);
        let example = [b"{", users.tag.as_slice(), b"} of ", &domains].concat();
        violations.add(&example, examples);
        violations.count += users.keys - 1;
    }
    let counted = if sharing.is_whole() {
        Counted::Exactly
    } else {
        Counted::AtLeast
    };
    (violations, counted)
}
