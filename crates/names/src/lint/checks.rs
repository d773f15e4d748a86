//! Counts the keys that violate each rule. As a tally, it runs on all cores and on streams.

use std::sync::Arc;

use slotscope_base::slot::SlotBatch;
use slotscope_count::tally::Tally;
use slotscope_count::tally::tags::TagCounter;

use crate::lint::braces::Braces;
use crate::lint::examples::Violations;
use crate::lint::rules::{BUILT_IN, NamingRules, Rule};
use crate::lint::sharing::Sharing;

pub(crate) struct Checks {
    rules: Arc<NamingRules>,
    /// All keys.
    pub keys: u64,
    /// Keys exempted by the allow list.
    pub allowed: u64,
    /// By rule, built-in ones first.
    pub violations: Vec<Violations>,
    /// Tag loads: the heaviest tags are findings too.
    pub tags: TagCounter,
    /// Bare ids as tags, with the domains that use them.
    pub sharing: Sharing,
}

impl Checks {
    pub(crate) fn new(rules: &Arc<NamingRules>) -> Self {
        // Each worker has its own copy of the patterns: they would otherwise contend for the regexes' scratch memory.
        let rules = Arc::new(NamingRules::clone(rules));
        let violations = vec![Violations::default(); BUILT_IN.len() + rules.own.len()];
        Checks {
            rules,
            keys: 0,
            allowed: 0,
            violations,
            tags: TagCounter::new(true),
            sharing: Sharing::default(),
        }
    }

    /// Checks a key against all single-key rules.
    fn check(&mut self, key: &[u8]) {
        self.keys += 1;
        let rules = Arc::clone(&self.rules);
        if rules.allow.iter().any(|allowed| allowed.is_match(key)) {
            self.allowed += 1;
            return;
        }
        let mut note = |rule: Rule, is_broken: bool| {
            if is_broken && rules.is_on(rule) {
                self.violations[rule as usize].add(key, rules.limits.examples);
            }
        };
        let braces = Braces::of(key);
        let tag = braces
            .as_ref()
            .and_then(|braces| braces.tag.clone())
            .map(|tag| &key[tag]);
        note(
            Rule::GlobalTag,
            tag.is_some_and(|tag| rules.global_tags.contains(tag)),
        );
        let bare_tag = tag.filter(|tag| !rules.tag.is_match(tag));
        note(Rule::TagForm, bare_tag.is_some());
        if let Some(braces) = &braces {
            note(Rule::EmptyTag, braces.are_empty);
            note(Rule::UnbalancedBraces, braces.are_unbalanced);
            note(
                Rule::ExtraBraces,
                braces.are_several && !braces.are_unbalanced,
            );
            note(Rule::EnterpriseTag, braces.differ);
        }
        let is_utf8 = std::str::from_utf8(key).is_ok();
        let has_control = key.iter().any(u8::is_ascii_control);
        // Random bytes occasionally look like a placeholder.
        let is_text = is_utf8 && !has_control;
        note(
            Rule::Placeholder,
            is_text && rules.is_on(Rule::Placeholder) && rules.placeholder.is_match(key),
        );
        let has_namespace = rules.namespace.is_match(key);
        note(Rule::Namespace, !has_namespace);
        note(
            Rule::Version,
            has_namespace && rules.is_on(Rule::Version) && !rules.version.is_match(key),
        );
        note(Rule::ControlBytes, has_control);
        note(Rule::InvalidUtf8, !is_utf8);
        note(Rule::Blanks, key.contains(&b' '));
        note(Rule::LongKey, key.len() > rules.limits.key_bytes);
        for (own, violations) in rules.own.iter().zip(&mut self.violations[BUILT_IN.len()..]) {
            if own.severity != crate::lint::Severity::Off
                && own.regex.is_match(key) != own.must_match
            {
                violations.add(key, rules.limits.examples);
            }
        }
        if let Some(tag) = bare_tag.filter(|_| rules.is_on(Rule::SharedTag)) {
            self.sharing.add(tag, || rules.domain(key, has_namespace));
        }
    }
}

impl Tally for Checks {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        if keys.batch.values.are_operations {
            return;
        }
        if self.rules.is_on(Rule::HeavyTag) {
            self.tags.add(keys);
        }
        for i in 0..keys.len() {
            self.check(keys.batch.keys.get(keys.batch.base, i));
        }
    }

    fn merge(&mut self, other: Self) {
        self.keys += other.keys;
        self.allowed += other.allowed;
        let most = self.rules.limits.examples;
        self.violations
            .iter_mut()
            .zip(other.violations)
            .for_each(|(mine, theirs)| mine.merge(theirs, most));
        self.tags.merge(other.tags);
        self.sharing.merge(other.sharing);
    }
}
