//! A scheme: a choice of tag for each family.

use crate::family::Family;

/// Families whose tag may change; the others keep theirs.
pub(crate) const MOST_SCORED: usize = 256;
/// Fields of a family that may become its tag.
pub(crate) const MOST_FIELDS: usize = 8;

/// The new tag of a family.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// Names are unchanged.
    #[default]
    Keep,
    /// No braces.
    Bare,
    /// This field.
    Field(u8),
    /// This field and the next.
    Pair(u8),
}

impl Choice {
    /// The fields that become the tag.
    pub(crate) fn fields(self) -> std::ops::Range<usize> {
        match self {
            Choice::Keep | Choice::Bare => 0..0,
            Choice::Field(at) => usize::from(at)..usize::from(at) + 1,
            Choice::Pair(at) => usize::from(at)..usize::from(at) + 2,
        }
    }

    /// Whether fields become the tag.
    pub fn is_tag(self) -> bool {
        !self.fields().is_empty()
    }
}

/// The choices other than `Keep`, by family.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scheme {
    choices: Vec<(u32, Choice)>,
}

impl Scheme {
    /// The choice for a family.
    pub(crate) fn get(&self, family: u32) -> Choice {
        let place = self.choices.binary_search_by_key(&family, |entry| entry.0);
        place.map_or(Choice::Keep, |at| self.choices[at].1)
    }

    /// Sets the choice for a family.
    pub(crate) fn set(&mut self, family: u32, choice: Choice) {
        match self.choices.binary_search_by_key(&family, |entry| entry.0) {
            Ok(at) if choice == Choice::Keep => drop(self.choices.remove(at)),
            Ok(at) => self.choices[at].1 = choice,
            Err(at) if choice != Choice::Keep => self.choices.insert(at, (family, choice)),
            Err(_) => {}
        }
    }

    /// The scheme with another choice for a family.
    pub fn with(&self, family: u32, choice: Choice) -> Scheme {
        let mut scheme = self.clone();
        scheme.set(family, choice);
        scheme
    }

    /// The families that change.
    pub fn changes(&self) -> &[(u32, Choice)] {
        &self.choices
    }

    /// Number of fields in tags.
    pub(crate) fn fields(&self) -> usize {
        self.choices
            .iter()
            .map(|(_, choice)| choice.fields().len())
            .sum()
    }

    /// The scheme that removes the braces of all families that may change.
    pub(crate) fn without_tags(choices: &[Vec<Choice>]) -> Scheme {
        let bare = choices
            .iter()
            .enumerate()
            .filter(|(_, choices)| choices.contains(&Choice::Bare));
        Scheme {
            choices: bare
                .map(|(family, _)| (family as u32, Choice::Bare))
                .collect(),
        }
    }
}

impl FromIterator<(u32, Choice)> for Scheme {
    fn from_iter<I: IntoIterator<Item = (u32, Choice)>>(choices: I) -> Self {
        let mut scheme = Scheme::default();
        choices
            .into_iter()
            .for_each(|(family, choice)| scheme.set(family, choice));
        scheme
    }
}

/// The choices for a family.
pub fn choices(family: &Family) -> Vec<Choice> {
    let (reachable, can_be_bare) = family.reachable_fields();
    let mut choices = vec![Choice::Keep];
    if family.braces.is_some() && can_be_bare {
        choices.push(Choice::Bare);
    }
    // Fields are numbered by a byte, as a name has few tokens.
    for at in 0..reachable.min(MOST_FIELDS) {
        choices.push(Choice::Field(at as u8));
        if at + 1 < reachable && is_clean(family, at) {
            choices.push(Choice::Pair(at as u8));
        }
    }
    choices
}

/// Whether braces around a field and the next would close after the second.
fn is_clean(family: &Family, at: usize) -> bool {
    let between = &family.tokens[family.fields[at] + 1..=family.fields[at + 1]];
    between.iter().all(|token| !token.separator.contains(&b'}'))
}
