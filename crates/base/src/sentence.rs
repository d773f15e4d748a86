//! A sentence with names kept apart from its words. It has no `Display`: whoever prints it decides how names are shown,
//! so that none slips through where names must be hidden.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::name::{Name, shown};

/// Characters shown of a name.
const SHOWN: usize = 60;

/// Words with names in between.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sentence(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Words(String),
    /// An escaped name of a key, file, column or the like; shown in quotes.
    Name(String),
    /// An arbitrary excerpt of the input; shown in quotes.
    Excerpt(String),
}

impl Sentence {
    /// Appends words without names.
    pub fn words(mut self, words: impl Into<String>) -> Self {
        let words = shown(words);
        match self.0.last_mut() {
            Some(Part::Words(last)) => *last += &words,
            _ if words.is_empty() => {}
            _ => self.0.push(Part::Words(words)),
        }
        self
    }

    /// Appends a name, shortened if long.
    pub fn name(mut self, name: impl Into<Name>) -> Self {
        self.0.push(Part::Name(name.into().short(SHOWN)));
        self
    }

    /// Appends an excerpt of the input.
    pub fn excerpt(mut self, excerpt: &Name) -> Self {
        self.0.push(Part::Excerpt(excerpt.to_string()));
        self
    }

    /// Appends another sentence.
    pub fn and(mut self, other: Sentence) -> Self {
        for part in other.0 {
            match part {
                Part::Words(words) => self = self.words(words),
                part => self.0.push(part),
            }
        }
        self
    }

    /// The text. If `hidden` is given, it replaces names, and excerpts are left out.
    pub(crate) fn spelled(&self, hidden: Option<&dyn Fn(&str) -> String>) -> String {
        let part = |part: &Part| match (part, hidden) {
            (Part::Words(words), _) => words.clone(),
            (Part::Name(spelling), Some(hidden)) => format!("\"{}\"", hidden(spelling)),
            (Part::Excerpt(_), Some(_)) => String::from("\"...\""),
            (Part::Name(spelling) | Part::Excerpt(spelling), None) => format!("\"{spelling}\""),
        };
        self.0.iter().map(part).collect()
    }
}

/// Foreign text: the part between its first and last quote is a name, since names may contain quotes.
impl From<&str> for Sentence {
    fn from(text: &str) -> Self {
        let quoted = text.find('"').zip(text.rfind('"'));
        let Some((from, to)) = quoted.filter(|(from, to)| from < to) else {
            return Sentence::default().words(text);
        };
        let name = Part::Name(shown(&text[from + 1..to]));
        let mut sentence = Sentence::default().words(&text[..from]);
        sentence.0.push(name);
        sentence.words(&text[to + 1..])
    }
}

impl From<String> for Sentence {
    fn from(text: String) -> Self {
        Sentence::from(text.as_str())
    }
}

/// Tally files contain these names, as they contain key names.
impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.spelled(None))
    }
}

impl<'de> Deserialize<'de> for Sentence {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Sentence::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_key(key: &[u8]) -> Sentence {
        let start = Sentence::from("cut off after 3 keys; after ");
        start.name(key).words(", version REDIS0011")
    }

    #[test]
    fn names_come_back_from_the_text_of_a_file() {
        let long = "k".repeat(100_000);
        for key in ["user:7", "a\"b", "", "\u{1b}\\x", "שלום:7", &long] {
            let sentence = of_key(key.as_bytes());
            let text = sentence.spelled(None);
            assert!(text.len() < 500);
            assert_eq!(Sentence::from(text), sentence);
        }
    }

    #[test]
    fn text_from_elsewhere_is_shown_as_it_is() {
        for text in [
            "no such file",
            "a \" alone",
            "\"a\\d\" and \"b\"",
            "no column \"x\"; columns are: \"a\"",
        ] {
            assert_eq!(Sentence::from(text).spelled(None), text);
        }
    }
}
