//! A sentence that names something. Its names are apart from its words, and it has no `Display`: its printer decides how names
//! are shown, so that none is printed where names are to be hidden.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::name::{Name, shown};

/// Characters of a name that are shown.
const SHOWN: usize = 60;

/// Words, and names between them.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Sentence(Vec<Part>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Words(String),
    /// The name of a key, file, column and the like, escaped; in quotes.
    Name(String),
    /// A piece of the input that may be anything; in quotes.
    Excerpt(String),
}

/// How the names of a sentence are shown.
pub(crate) trait ShowNames {
    /// The text that replaces a name with this spelling.
    fn name(&self, spelling: &str) -> String;
    /// The text that replaces a piece of the input.
    fn excerpt(&self, spelling: &str) -> String;
}

/// Names as they are.
pub(crate) struct AsTheyAre;

impl ShowNames for AsTheyAre {
    fn name(&self, spelling: &str) -> String {
        spelling.to_owned()
    }

    fn excerpt(&self, spelling: &str) -> String {
        spelling.to_owned()
    }
}

impl Sentence {
    /// Goes on with words, which hold no name.
    pub fn words(mut self, words: impl Into<String>) -> Self {
        let words = shown(words);
        match self.0.last_mut() {
            Some(Part::Words(last)) => *last += &words,
            _ if words.is_empty() => {}
            _ => self.0.push(Part::Words(words)),
        }
        self
    }

    /// Goes on with a name; of a long one the start is kept.
    pub fn name(mut self, name: impl Into<Name>) -> Self {
        self.0.push(Part::Name(name.into().short(SHOWN)));
        self
    }

    /// Goes on with a piece of the input.
    pub fn excerpt(mut self, excerpt: &Name) -> Self {
        self.0.push(Part::Excerpt(excerpt.to_string()));
        self
    }

    /// Goes on with another sentence.
    pub fn and(mut self, other: Sentence) -> Self {
        for part in other.0 {
            match part {
                Part::Words(words) => self = self.words(words),
                part => self.0.push(part),
            }
        }
        self
    }

    /// The text, with names as `by` shows them.
    pub(crate) fn spelled(&self, by: &dyn ShowNames) -> String {
        let part = |part: &Part| match part {
            Part::Words(words) => words.clone(),
            Part::Name(spelling) => format!("\"{}\"", by.name(spelling)),
            Part::Excerpt(spelling) => format!("\"{}\"", by.excerpt(spelling)),
        };
        self.0.iter().map(part).collect()
    }
}

/// Text that was written elsewhere: the part between its first and its last quote is a name, as a name may hold a quote.
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

/// A file between two steps of a count has the names, as it has those of keys.
impl Serialize for Sentence {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.spelled(&AsTheyAre))
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
            let text = sentence.spelled(&AsTheyAre);
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
            assert_eq!(Sentence::from(text).spelled(&AsTheyAre), text);
        }
    }
}
