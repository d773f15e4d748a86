//! The spelling of tags: `{user:7}` in every family of a group, around `user:7` if the name already contains it.

use std::collections::BTreeMap;

use crate::families::Families;
use crate::family::Family;
use crate::field_kinds::FieldKind;
use crate::model::Model;
use crate::scheme::{Choice, Scheme};
use crate::tokens::Tokens;

/// The vote of a family with one field for the word before it; with several fields the word may belong to another.
const ONLY_FIELD: f64 = 1.0;
const ONE_OF_SEVERAL: f64 = 0.1;

/// The spelling of a family's tag.
#[derive(Debug, Clone, PartialEq)]
enum TagStyle {
    /// The values with this prefix, in place of the first value; around prefix and value if the name contains them
    /// already.
    Prefix(Vec<u8>),
    /// A pair with the text between its fields, with this prefix: equal in the whole group.
    Span(Vec<u8>),
}

/// The spelling of a scheme.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spelling {
    /// By changed family.
    styles: BTreeMap<u32, TagStyle>,
    /// The second choice, for when names of the first exist already.
    is_other: bool,
}

impl Spelling {
    /// The spelling of a scheme.
    pub(crate) fn of(model: &Model<'_>, scheme: &Scheme, is_other: bool) -> Self {
        let mut styles = BTreeMap::new();
        for group in model.groups(scheme) {
            let changed: Vec<u32> = group
                .into_iter()
                .filter(|family| scheme.get(*family).is_tag())
                .collect();
            let common = span(model, scheme, &changed, is_other).map(TagStyle::Span);
            let style = common
                .unwrap_or_else(|| TagStyle::Prefix(prefix(model, scheme, &changed, is_other)));
            styles.extend(changed.into_iter().map(|family| (family, style.clone())));
        }
        Spelling { styles, is_other }
    }

    /// Appends the new form of a name without braces to `new`; `spans` are its tokens.
    pub(crate) fn rename(
        &self,
        number: u32,
        family: &Family,
        choice: Choice,
        bare: &[u8],
        spans: &dyn Fn(usize) -> (usize, usize),
        new: &mut Vec<u8>,
    ) {
        let fields = choice.fields();
        let Some(last) = fields.clone().last() else {
            new.extend_from_slice(bare);
            return;
        };
        let (start, first_end) = spans(family.fields[fields.start]);
        let (last_start, end) = spans(family.fields[last]);
        let mut put = |from: usize, tag: &[&[u8]], to: usize| {
            new.extend_from_slice(&bare[..from]);
            new.push(b'{');
            tag.iter().for_each(|part| new.extend_from_slice(part));
            new.push(b'}');
            new.extend_from_slice(&bare[to..]);
        };
        let mut value: Vec<&[u8]> = vec![&bare[start..first_end]];
        if matches!(choice, Choice::Pair(_)) {
            value.extend([&b":"[..], &bare[last_start..end]]);
        }
        match self.styles.get(&number) {
            Some(TagStyle::Span(lead)) => {
                let from = start.saturating_sub(lead.len());
                put(from, &[&bare[from..end]], end);
            }
            Some(TagStyle::Prefix(prefix)) => {
                let is_said = !self.is_other && value.len() == 1 && bare[..start].ends_with(prefix);
                let from = if is_said { start - prefix.len() } else { start };
                let tag: Vec<&[u8]> = [prefix.as_slice()].into_iter().chain(value).collect();
                put(from, &tag, first_end);
            }
            None => new.extend_from_slice(bare),
        }
    }
}

/// The text before the pairs of a group, if equal in all of them except for values.
fn span(model: &Model<'_>, scheme: &Scheme, changed: &[u32], is_other: bool) -> Option<Vec<u8>> {
    let part = |number: &u32| {
        let family = &model.families.list[*number as usize];
        let choice = scheme.get(*number);
        matches!(choice, Choice::Pair(_))
            .then(|| (family.between(choice), family.lead(choice, is_other)))
    };
    let parts: Vec<_> = changed.iter().map(part).collect::<Option<_>>()?;
    let (between, lead) = parts.first()?;
    if parts.iter().any(|(infix, _)| infix != between) {
        return None;
    }
    let is_common = parts.iter().all(|(_, prefix)| prefix == lead);
    Some(if is_common { lead.clone() } else { Vec::new() })
}

/// The text before the value in a group's tags: that of a family's present tag, as in all names, or else the word that
/// most families have before the field.
fn prefix(model: &Model<'_>, scheme: &Scheme, changed: &[u32], is_other: bool) -> Vec<u8> {
    let family = |number: &u32| &model.families.list[*number as usize];
    let mut largest: Vec<&u32> = changed.iter().collect();
    largest.sort_by_key(|number| std::cmp::Reverse(family(number).names.len()));
    if let Some(prefix) = largest
        .iter()
        .find_map(|number| family(number).prefix_of_today(scheme.get(**number)))
    {
        return prefix;
    }
    let mut leads: Vec<Vec<u8>> = changed
        .iter()
        .map(|number| family(number).lead(scheme.get(*number), is_other))
        .collect();
    leads.dedup();
    match leads.as_slice() {
        // Users of a library choose a queue's name, not the prefix before it: `bull:{mail}:wait`.
        [_] if changed
            .iter()
            .all(|number| family(number).is_segment(scheme.get(*number))) =>
        {
            Vec::new()
        }
        [only] if !only.is_empty() && !is_other => only.clone(),
        _ => voted(model, scheme, changed)
            .map_or(Vec::new(), |word| [word.as_slice(), b":"].concat()),
    }
}

/// The word that most families of a group have before the field.
fn voted(model: &Model<'_>, scheme: &Scheme, changed: &[u32]) -> Option<Vec<u8>> {
    let mut votes: BTreeMap<Vec<u8>, f64> = BTreeMap::new();
    for number in changed {
        let family = &model.families.list[*number as usize];
        let word = family.word_before(scheme.get(*number).fields().start);
        if let Some(word) = word {
            let vote = if family.fields.len() == 1 {
                ONLY_FIELD
            } else {
                ONE_OF_SEVERAL
            };
            *votes.entry(word.to_vec()).or_default() += vote + 1e-9 * family.names.len() as f64;
        }
    }
    let best = votes
        .into_iter()
        .max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    best.map(|(word, _)| word)
}

impl Family {
    /// The word before a pair, if it is adjacent or one byte away.
    fn lead(&self, choice: Choice, is_other: bool) -> Vec<u8> {
        let first = choice.fields().start;
        let separator = &self.tokens[self.fields[first]].separator;
        let is_near = separator.len() <= usize::from(!is_other) && separator != b"}";
        let word = self.word_before(first).filter(|_| is_near);
        word.map_or(Vec::new(), |word| [word, separator].concat())
    }

    /// Whether the chosen field is a segment of its own, or a word of the pattern.
    fn is_segment(&self, choice: Choice) -> bool {
        let mut fields = choice.fields();
        fields.all(|field| self.kinds[field] == FieldKind::Segment || self.is_constant(field))
    }

    /// The text before the value in today's tag, if that tag is the chosen field alone.
    fn prefix_of_today(&self, choice: Choice) -> Option<Vec<u8>> {
        let fields = choice.fields();
        let is_today = matches!(choice, Choice::Field(_))
            && self.fields_of_today()?.into_iter().eq(fields.clone());
        let (bare, spans) = self.bare_pattern();
        let (open, close) = self.brace_positions(&spans)?;
        let (start, end) = spans[self.fields[fields.start]];
        (is_today && open <= start && close == end).then(|| bare[open..start].to_vec())
    }

    /// The text between the two fields of a pair.
    fn between(&self, choice: Choice) -> Vec<u8> {
        let fields = choice.fields();
        let tokens = &self.tokens[self.fields[fields.start] + 1..=self.fields[fields.end - 1]];
        let part = |token: &crate::family::PatternToken| {
            let mut text = token.separator.clone();
            text.extend_from_slice(token.literal().unwrap_or_default());
            text
        };
        tokens.iter().flat_map(part).collect()
    }
}

/// A scheme with its spelling: renames names.
#[derive(Debug, Clone)]
pub struct Renaming {
    /// The scheme.
    pub scheme: Scheme,
    /// Its spelling.
    pub spelling: Spelling,
}

impl Renaming {
    /// Appends the new form of a name to `new`; nothing if it is unchanged.
    pub fn apply(&self, families: &Families, name: &[u8], tokens: &mut Tokens, new: &mut Vec<u8>) {
        let number = families.read(name, tokens);
        self.rename(number as u32, &families.list[number], tokens, new);
    }

    /// The same for a tokenized name.
    pub(crate) fn rename(&self, number: u32, family: &Family, tokens: &Tokens, new: &mut Vec<u8>) {
        let choice = self.scheme.get(number);
        if choice != Choice::Keep {
            let span = |at: usize| (tokens.list[at].start, tokens.list[at].end);
            self.spelling
                .rename(number, family, choice, &tokens.bare, &span, new);
        }
    }

    /// The new pattern of a family.
    pub(crate) fn pattern(&self, number: u32, family: &Family) -> Vec<u8> {
        let choice = self.scheme.get(number);
        if choice == Choice::Keep {
            return family.pattern.clone();
        }
        let (bare, spans) = family.bare_pattern();
        let mut new = Vec::new();
        self.spelling
            .rename(number, family, choice, &bare, &|at| spans[at], &mut new);
        new
    }
}
