//! Advice: key names against a naming convention. Keys come in through `Checks`, a tally; `Findings` go out.

mod braces;
mod checks;
mod config;
mod examples;
mod rules;
mod sharing;

use serde::Serialize;

use crate::hash::hash;
use crate::metric::Metric;
use crate::summary::balance::tidy;
use crate::tally::heavy::{HeavyTags, TagCounts};
pub use checks::Checks;
pub use examples::{Broken, Example};
use rules::Rule;
pub use rules::{BUILT_IN, Limits, Own, Rules, Severity};
pub use sharing::{SAMPLED, Sharing};

/// The name and version of the form of the findings.
pub const SCHEMA: &str = "slotscope.lint/1";

/// Where the convention and its rules are explained.
pub const HELP: &str = "README.md#naming-conventions";

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// `SCHEMA`.
    pub schema: &'static str,
    /// All keys.
    pub keys: u64,
    /// Keys that the allow list passes over.
    pub allowed: u64,
    /// Rules that keys break, errors first, then in the order of the rules.
    pub findings: Vec<Finding>,
    /// Where the rules are explained.
    pub help: &'static str,
}

/// A rule that keys break.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// Its id.
    pub rule: String,
    /// How bad it is.
    pub severity: Severity,
    /// What the keys do.
    pub what: String,
    /// How many keys do.
    pub count: u64,
    /// How far that is certain.
    pub counted: Counted,
    /// Their part of all keys.
    pub share: f64,
    /// A few of them, the shortest; of rules about tags, the tags.
    pub examples: Vec<Example>,
}

/// How far a count is certain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Exactly.
    Exactly,
    /// Of a sample: there are more.
    AtLeast,
    /// Within cells that other tags share: a little too many.
    AtMost,
}

impl Findings {
    /// What `checks` counted by these rules.
    pub fn of(checks: &Checks, rules: &Rules) -> Findings {
        let mut broken: Vec<(Broken, Counted)> =
            checks.broken.iter().map(|broken| (broken.clone(), Counted::Exactly)).collect();
        if rules.is_on(Rule::HeavyTag) {
            broken[Rule::HeavyTag as usize] = heavy(&checks.tags, checks.keys, &rules.limits);
        }
        broken[Rule::SharedTag as usize] = shared(&checks.sharing, rules.limits.examples);
        let finding =
            |((id, severity, what), (broken, counted)): ((&str, Severity, &str), (Broken, Counted))| Finding {
                rule: id.to_owned(),
                severity,
                what: what.to_owned(),
                count: broken.count,
                counted,
                share: tidy(broken.count as f64 / checks.keys.max(1) as f64),
                examples: broken.examples.into_iter().collect(),
            };
        let mut findings: Vec<Finding> = rules.rows().zip(broken).map(finding).collect();
        findings.retain(|finding| finding.count > 0);
        findings.sort_by_key(|finding| finding.severity);
        Findings { schema: SCHEMA, keys: checks.keys, allowed: checks.allowed, findings, help: HELP }
    }

    /// How many findings are of a severity.
    pub fn of_severity(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|finding| finding.severity == severity).count()
    }
}

/// Tags over the limits. Past the exact table, cells judge them: which names are followed may depend on the order of the
/// keys, what the cells hold does not, and a tag this heavy is always followed.
fn heavy(tags: &HeavyTags, keys: u64, limits: &Limits) -> (Broken, Counted) {
    let least = limits.tag_keys.max((limits.tag_share * keys as f64).ceil() as u64);
    let (loads, counted): (Vec<(Vec<u8>, u64)>, Counted) = match &tags.counts {
        TagCounts::Exact(table) => {
            (table.iter().map(|(name, _, load)| (name.to_vec(), load[Metric::Keys])).collect(), Counted::Exactly)
        }
        TagCounts::Followed(followed) => {
            let cell = |name: &[u8]| followed.rows.at_most_of(hash(name).max(1), Metric::Keys);
            let tags = followed.tags().into_iter().map(|tag| (cell(&tag.name.0), tag.name.0));
            (tags.map(|(keys, name)| (name, keys)).collect(), Counted::AtMost)
        }
        TagCounts::Rows(_) => (Vec::new(), Counted::Exactly),
    };
    let mut broken = Broken::default();
    for (name, keys) in loads.into_iter().filter(|(_, keys)| *keys >= least) {
        broken.add(&[b"{", name.as_slice(), b"}"].concat(), limits.examples);
        broken.count += keys - 1;
    }
    (broken, counted)
}

/// Bare ids of several services; an example names the tag and the services.
fn shared(sharing: &Sharing, examples: usize) -> (Broken, Counted) {
    let mut broken = Broken::default();
    for (tag, keys, services) in sharing.shared() {
        let services: Vec<&[u8]> = services.iter().map(Vec::as_slice).collect();
        broken.add(&[b"{", tag, b"} of ", services.join(&b", "[..]).as_slice()].concat(), examples);
        broken.count += keys - 1;
    }
    (broken, if sharing.is_part { Counted::AtLeast } else { Counted::Exactly })
}
