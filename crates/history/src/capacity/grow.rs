//! Growth by assumption: `40%`, `{tag}=2x`, `session:*=1.5x`. The newest report says what a tag or pattern holds; what it does not
//! list is refused, as nobody knows what that would grow from.

use slotscope_base::error::{Error, Result};
use slotscope_base::glob::Glob;
use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_base::text::{amount, counted, short};
use slotscope_model::Summary;
use slotscope_model::patterns::{KeyGroups, Pattern};
use slotscope_model::tags::Tag;

/// The largest factor of growth.
const MOST: f64 = 1e6;

/// An assumption about growth.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// As the user wrote it.
    text: String,
    of: Of,
    factor: f64,
}

/// The names that grow.
#[derive(Debug, Clone, PartialEq)]
enum Of {
    All,
    Tag(Name),
    Pattern(Name),
}

impl Rule {
    /// Parses `40%`, `1.4x`, `{tag}=2x` or `pattern=2x`.
    ///
    /// # Errors
    /// It has another form, or is less than today.
    pub fn parse(text: &str) -> Result<Rule> {
        let bad = |reason| Error::option("grow", Name::from(text), reason);
        let (of, growth) = match text.rsplit_once('=') {
            None => (Of::All, text),
            Some((name, growth)) => (Of::named(name.trim()).map_err(bad)?, growth),
        };
        Ok(Rule {
            text: text.into(),
            of,
            factor: factor(growth.trim()).map_err(bad)?,
        })
    }
}

impl Of {
    fn named(name: &str) -> std::result::Result<Of, &'static str> {
        let tag = name
            .strip_prefix('{')
            .and_then(|name| name.strip_suffix('}'));
        let (make, name): (fn(Name) -> Of, &str) = match tag {
            Some(tag) => (Of::Tag, tag),
            None => (Of::Pattern, name),
        };
        let name = Name::parse(name).filter(|name| !name.0.is_empty());
        name.map(make)
            .ok_or("names nothing; write {TAG}=2x, or a pattern of the report as in session:*=1.5x")
    }
}

/// The factor of a growth: `40%` or `1.4x`.
fn factor(text: &str) -> std::result::Result<f64, &'static str> {
    const FORM: &str = "not a growth; write 40% or 1.4x";
    let number = |text: &str| text.trim().parse::<f64>().map_err(|_| FORM);
    let factor = match (text.strip_suffix('%'), text.strip_suffix('x')) {
        (Some(percent), _) => 1.0 + number(percent)? / 100.0,
        (_, Some(factor)) => number(factor)?,
        _ => return Err(FORM),
    };
    match factor {
        factor if (1.0..=MOST).contains(&factor) => Ok(factor),
        factor if factor < 1.0 => Err("is less than today: growth is from 0% or 1x on"),
        _ => Err("more than a million times today"),
    }
}

/// The newest report after the growth that is assumed.
#[derive(Debug, Clone, PartialEq)]
pub struct Grown {
    /// The load of each slot.
    pub slots: PerMetric<Vec<f64>>,
    /// The growth of all names without a rule of their own.
    all: f64,
    /// The load that tags with a growth of their own add to that.
    tags: Vec<(Name, Metric, f64)>,
    /// Whether patterns without a tag of their own grow: of which tags these keys are, a report does not say.
    spreads: bool,
    /// The limits of these numbers.
    pub notes: Vec<String>,
}

impl Grown {
    /// The report `summary` in `file`, grown by `rules`; `None` without rules.
    ///
    /// # Errors
    /// A rule matches nothing in it, or two are of the same.
    pub(crate) fn new(file: &Name, summary: &Summary, rules: &[Rule]) -> Result<Option<Grown>> {
        for (at, rule) in rules.iter().enumerate() {
            if rules[..at].iter().any(|other| other.of == rule.of) {
                return Err(rule.refused("is the second growth of the same; leave one of them out"));
            }
        }
        let all = rules.iter().find(|rule| rule.of == Of::All);
        let all = all.map_or(1.0, |rule| rule.factor);
        let loads = &summary.slots.loads;
        let mut grown = Grown {
            slots: loads.map(|_, loads| loads.iter().map(|load| *load as f64 * all).collect()),
            all,
            tags: Vec::new(),
            spreads: false,
            notes: Vec::new(),
        };
        for rule in rules {
            match &rule.of {
                Of::All => {}
                Of::Tag(tag) => grown.grow_tag(rule, listed_tag(file, summary, rule, tag)?),
                Of::Pattern(pattern) => grown.grow_pattern(file, summary, rule, pattern)?,
            }
        }
        grown.check_overlaps(summary, rules)?;
        Ok((!rules.is_empty()).then_some(grown))
    }

    /// The load of a tag after growth; `None` if a growing pattern may include keys of the tag.
    pub(crate) fn of_tag(&self, tag: &Name, metric: Metric, now: u64) -> Option<f64> {
        let own = self.tags.iter();
        let own = own.filter(|(name, of, _)| name == tag && *of == metric);
        let added: f64 = own.map(|(.., added)| added).sum();
        (!self.spreads).then_some(self.all * now as f64 + added)
    }

    /// All load.
    pub(crate) fn total(&self, metric: Metric) -> Option<f64> {
        Some(self.slots.get(metric)?.iter().sum())
    }

    /// The keys of a tag are in one slot, so that its growth is exact.
    fn grow_tag(&mut self, rule: &Rule, tag: &Tag) {
        for (metric, load) in tag.load.iter() {
            let added = (rule.factor - self.all) * *load as f64;
            self.add(metric, usize::from(tag.slot), added);
            self.tags.push((tag.tag.clone(), metric, added));
        }
        let error = |(metric, _): (Metric, &u64)| {
            Some((metric, tag.error(metric))).filter(|error| error.1 > 0)
        };
        if let Some((metric, error)) = tag.load.iter().find_map(error) {
            self.notes.push(format!(
                "--grow {}: the report counts the tag to within {}, so that up to {} more may be added",
                rule.text,
                amount(metric, error),
                amount(metric, (error as f64 * (rule.factor - 1.0)) as u64),
            ));
        }
    }

    /// Adds the growth of a pattern: to one slot if its tag is literal, otherwise evenly to all slots.
    fn grow_pattern(
        &mut self,
        file: &Name,
        summary: &Summary,
        rule: &Rule,
        pattern: &Name,
    ) -> Result<()> {
        let Some(patterns) = &summary.patterns else {
            return Err(rule.refused(&format!(
                "{file} has no patterns; analyze it without --only"
            )));
        };
        let matching = matching(patterns, pattern);
        if matching.is_empty() {
            let rows = counted(patterns.top.len() as u64, "pattern");
            let first = patterns.top.first().map_or(String::new(), |row| {
                format!("; the heaviest is {}", short(&row.pattern))
            });
            return Err(rule.refused(&format!("is not among the {rows} that {file} lists{first}")));
        }
        // The slot of a literal tag is by the default policy only.
        let is_by_default = summary.input.policy.is_none();
        let mut spread = Vec::new();
        for row in &matching {
            let place = place(&row.pattern.0).filter(|_| is_by_default);
            for (metric, load) in row.kind.load.iter() {
                let added = (rule.factor - self.all) * *load as f64;
                match &place {
                    Some((tag, slot)) => {
                        self.add(metric, usize::from(*slot), added);
                        self.tags
                            .extend(tag.clone().map(|tag| (tag, metric, added)));
                    }
                    None => {
                        (0..SLOTS).for_each(|slot| self.add(metric, slot, added / SLOTS as f64))
                    }
                }
            }
            if place.is_none() {
                spread.push(row);
            }
        }
        let unlisted = match patterns.max_error {
            0 if patterns.exact => "",
            _ => "; patterns that the report does not list are left as they are",
        };
        let tagged = if spread.iter().any(|row| row.kind.tagged_share > 0.0) {
            ", though some of them have hash tags"
        } else {
            ""
        };
        let place = if spread.is_empty() {
            String::new()
        } else {
            format!(
                "; a report does not say in which slots these keys are, so what they add is spread evenly{tagged}"
            )
        };
        self.spreads |= !spread.is_empty();
        self.notes.push(format!(
            "--grow {}: the total of {} is exact{place}{unlisted}",
            rule.text,
            counted(matching.len() as u64, "listed pattern"),
        ));
        Ok(())
    }

    /// Refuses two rules for the same keys: the intended growth is ambiguous.
    fn check_overlaps(&mut self, summary: &Summary, rules: &[Rule]) -> Result<()> {
        let patterns = |rule: &Rule| match (&rule.of, &summary.patterns) {
            (Of::Pattern(pattern), Some(patterns)) => matching(patterns, pattern),
            _ => Vec::new(),
        };
        for (at, rule) in rules.iter().enumerate() {
            for row in patterns(rule) {
                let is_same = |other: &&Rule| match &other.of {
                    Of::All => false,
                    Of::Tag(tag) => {
                        place(&row.pattern.0).is_some_and(|(of, _)| of.as_ref() == Some(tag))
                    }
                    Of::Pattern(_) => patterns(other).iter().any(|of| of.pattern == row.pattern),
                };
                let mut others = rules.iter().enumerate().filter(|(place, _)| *place != at);
                if let Some((_, other)) = others.find(|(_, other)| is_same(other)) {
                    let name = short(&row.pattern);
                    return Err(rule.refused(&format!(
                        "grows the keys of {name}, as --grow {} does; leave one of them out",
                        other.text
                    )));
                }
            }
        }
        let are_of_tags = rules.iter().any(|rule| matches!(rule.of, Of::Tag(_)));
        if are_of_tags && self.spreads {
            self.notes.push(String::from(
                "--grow: keys of both a tag and a pattern with a growth of its own grow by both: twice and three times make four times",
            ));
        }
        Ok(())
    }

    fn add(&mut self, metric: Metric, slot: usize, added: f64) {
        let load = self
            .slots
            .get_mut(metric)
            .and_then(|slots| slots.get_mut(slot));
        // A pattern may grow less than all.
        load.into_iter()
            .for_each(|load| *load = (*load + added).max(0.0));
    }
}

/// The tag of a rule in the list of the report.
/// The listed patterns that a rule means: `user:*` is `user:<n>`, which may also be written in full.
fn matching<'s>(patterns: &'s KeyGroups<Pattern>, pattern: &Name) -> Vec<&'s Pattern> {
    let glob = Glob::new(&pattern.0);
    let is_meant = |name: &Name| name == pattern || glob.matches(&name.0);
    patterns
        .top
        .iter()
        .filter(|row| is_meant(&row.pattern))
        .collect()
}

/// The slot of all keys of a pattern, where its tag or all of it is literal, and that tag.
fn place(pattern: &[u8]) -> Option<(Option<Name>, u16)> {
    let tag = hashslot::tag(pattern).map(|tag| &pattern[tag]);
    let hashed = tag.unwrap_or(pattern);
    let is_literal = !hashed.iter().any(|byte| b"<*".contains(byte));
    is_literal.then(|| (tag.map(|tag| Name(tag.into())), hashslot::slot(pattern)))
}

fn listed_tag<'s>(file: &Name, summary: &'s Summary, rule: &Rule, tag: &Name) -> Result<&'s Tag> {
    let tags = summary.tags.as_ref();
    let listed = tags.map_or(&[][..], |tags| &tags.top);
    listed.iter().find(|row| row.tag == *tag).ok_or_else(|| {
        let rows = counted(listed.len() as u64, "hash tag");
        let most = tags
            .filter(|tags| tags.max_error > 0)
            .map_or(String::new(), |tags| {
                format!(
                    "; no other holds more than {}",
                    amount(summary.by, tags.max_error)
                )
            });
        rule.refused(&format!("is not among the {rows} that {file} lists{most}"))
    })
}

impl Rule {
    fn refused(&self, reason: &str) -> Error {
        Error::option("grow", Name::from(self.text.as_str()), reason)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_is_read_as_people_write_it() {
        for (text, of, factor) in [
            ("40%", Of::All, 1.4),
            ("1.4x", Of::All, 1.4),
            ("0%", Of::All, 1.0),
            ("{tenant:acme}=2x", Of::Tag(Name::from("tenant:acme")), 2.0),
            ("{a=b}=2x", Of::Tag(Name::from("a=b")), 2.0),
            (
                "session:* = 1.5x",
                Of::Pattern(Name::from("session:*")),
                1.5,
            ),
        ] {
            let rule = Rule::parse(text).unwrap();
            assert_eq!((rule.of, rule.factor), (of, factor), "{text}");
        }
    }

    #[test]
    fn what_is_no_growth_is_refused_with_the_reason() {
        for (text, reason) in [
            ("40", "write 40% or 1.4x"),
            ("", "write 40% or 1.4x"),
            ("-40%", "is less than today"),
            ("{a}=0.5x", "is less than today"),
            ("NaNx", "more than a million"),
            ("infx", "more than a million"),
            ("1e9x", "more than a million"),
            ("{}=2x", "names nothing"),
            ("=2x", "names nothing"),
            ("{a}=x", "write 40% or 1.4x"),
        ] {
            let error = Rule::parse(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
