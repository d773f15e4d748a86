//! Redaction: replaces each name by a keyed hash, the same for equal name and key, so that reports can be compared
//! while names can be neither found nor guessed without the key.

use std::io;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use slotscope_keyname::ids::Id;

use crate::error::{Error, Result};
use crate::name::{ISOLATION, Name};
use crate::sentence::Sentence;

/// The environment variable with the key, to share it among reports.
const VARIABLE: &str = "SLOTSCOPE_REDACT_KEY";
/// Bytes of the hash shown: among a million names, any two collide with a probability of 0.2%.
const SHOWN: usize = 6;
/// Error places that are not files.
const OWN_PLACES: [&str; 3] = ["-", "standard output", "no input"];
/// A value that contains names. Implementations destructure without `..`, so that a new field does not compile until
/// somebody decides whether it is a name.
pub trait Redact {
    /// Replaces its names.
    fn redact(&mut self, redaction: &Redaction);
}

impl Redact for Name {
    fn redact(&mut self, redaction: &Redaction) {
        *self = redaction.name(self);
    }
}

impl<T: Redact> Redact for Option<T> {
    fn redact(&mut self, redaction: &Redaction) {
        self.iter_mut().for_each(|name| name.redact(redaction));
    }
}

impl<T: Redact> Redact for Vec<T> {
    fn redact(&mut self, redaction: &Redaction) {
        self.iter_mut().for_each(|name| name.redact(redaction));
    }
}

/// A keyed replacement of names.
pub struct Redaction {
    hash: Hmac<Sha256>,
    /// Whether the key is random, hence unknown.
    pub is_random: bool,
}

impl Redaction {
    /// With the key from the environment, or a random one.
    ///
    /// # Errors
    /// The system provides no random bytes.
    pub fn from_environment() -> Result<Self> {
        if let Some(key) = std::env::var_os(VARIABLE).filter(|key| !key.is_empty()) {
            return Self::with_key(key.as_encoded_bytes(), false);
        }
        let mut key = [0; 32];
        getrandom::fill(&mut key).map_err(|error| {
            Error::option(
                "redact",
                "",
                format!("no random key: {error}; set {VARIABLE}"),
            )
        })?;
        Self::with_key(&key, true)
    }

    fn with_key(key: &[u8], is_random: bool) -> Result<Self> {
        let hash =
            Hmac::new_from_slice(key).map_err(|error| Error::bad(VARIABLE, error.to_string()))?;
        Ok(Redaction { hash, is_random })
    }

    /// A report's note on its redaction.
    pub fn note(&self) -> String {
        let key = if self.is_random {
            format!("a random key; with {VARIABLE} set, the same name is the same in every report")
        } else {
            format!("the key in {VARIABLE}")
        };
        format!("names are replaced by hashes with {key}; slots and numbers are true")
    }

    /// The replacement of a name.
    pub fn name(&self, name: &Name) -> Name {
        Name(self.bytes(&name.0))
    }

    /// The replacement of a text.
    pub fn text(&self, text: &str) -> String {
        self.text_of(text.as_bytes())
    }

    fn text_of(&self, name: &[u8]) -> String {
        String::from_utf8_lossy(&self.bytes(name)).into_owned()
    }

    fn bytes(&self, name: &[u8]) -> Vec<u8> {
        let mut hash = self.hash.clone();
        hash.update(name);
        hash.finalize().into_bytes()[..SHOWN]
            .iter()
            .flat_map(|byte| format!("{byte:02x}").into_bytes())
            .collect()
    }

    /// The error with its file and names replaced.
    pub fn error(&self, error: Error) -> Error {
        match error {
            Error::Io { place, source } => Error::Io {
                place: self.place(&place.to_string_lossy()).into(),
                source: self.system_error(source),
            },
            Error::Bad { place, what } => Error::Bad {
                place: self.place(&place),
                what: Sentence::default().words(self.sentence(&what)),
            },
            Error::Silent { place, what } => Error::Silent {
                place: self.place(&place),
                what: Sentence::default().words(self.sentence(&what)),
            },
            Error::Option { name, what, .. } => Error::Option {
                name,
                value: Name::default(),
                what: Sentence::default().words(self.sentence(&what)),
            },
            error => error,
        }
    }

    /// System messages contain no names; any other may.
    fn system_error(&self, error: io::Error) -> io::Error {
        if error.get_ref().is_none() {
            return error;
        }
        let message = Sentence::from(error.to_string());
        io::Error::new(error.kind(), self.sentence(&message))
    }

    /// Keeps a flag without its value, and a line or byte without its file.
    fn place(&self, place: &str) -> String {
        if place.starts_with("--") {
            return place.split(' ').next().unwrap_or_default().to_owned();
        }
        if OWN_PLACES.contains(&place) {
            return place.to_owned();
        }
        match place.rsplit_once(": ") {
            Some((file, at)) if is_position(at) => format!("{}: {at}", self.text(file)),
            _ => self.text(place),
        }
    }

    /// The replacement of a pattern or prefix: each word is replaced as a name; id marks and separators stay.
    pub fn pattern(&self, pattern: &Name) -> Name {
        let (mut shown, mut word, mut rest) = (Vec::new(), Vec::new(), pattern.0.as_slice());
        while let Some((byte, behind)) = rest.split_first() {
            let mark = Id::marked(rest).map(Id::mark);
            let part = mark.unwrap_or(&rest[..1]);
            if mark.is_none() && !byte.is_ascii_punctuation() {
                word.push(*byte);
                rest = behind;
                continue;
            }
            self.push_word(&mut shown, &mut word);
            shown.extend_from_slice(part);
            rest = &rest[part.len()..];
        }
        self.push_word(&mut shown, &mut word);
        Name(shown)
    }

    fn push_word(&self, shown: &mut Vec<u8>, word: &mut Vec<u8>) {
        if !word.is_empty() {
            shown.extend(self.bytes(word));
            word.clear();
        }
    }
}

/// Whether `text` consists of numbers with units: "line 3 (byte 17)".
fn is_position(text: &str) -> bool {
    const UNITS: [&str; 5] = ["line", "column", "byte", "shard", "entry"];
    let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.all(|word| UNITS.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Redaction {
    fn sentence(&self, sentence: &Sentence) -> String {
        sentence.spelled(Some(&|spelling| {
            let spelling = spelling.trim_matches(ISOLATION);
            let name = Name::parse(spelling).unwrap_or_else(|| Name::from(spelling));
            self.text_of(&name.0)
        }))
    }
}

/// The text of a sentence, with names verbatim if there is no redaction.
pub fn spelled(sentence: &Sentence, redaction: Option<&Redaction>) -> String {
    match redaction {
        Some(redaction) => redaction.sentence(sentence),
        None => sentence.spelled(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_same_with_the_same_key_and_another_with_another() {
        let [one, two] = [b"a", b"b"].map(|key| Redaction::with_key(key, false).unwrap());
        let name = Name::from("user:42");
        assert_eq!(one.name(&name), one.name(&name));
        assert_ne!(one.name(&name), two.name(&name));
        assert_eq!(one.text("user:42").len(), 12);
    }

    #[test]
    fn an_error_keeps_its_position_and_loses_its_names() {
        let redaction = Redaction::with_key(b"a", false).unwrap();
        let [file, odd, bob] =
            ["alice.csv", "a: line bob", "bob\"secret"].map(|name| redaction.text(name));
        let said = |place: &str, what: &str| redaction.error(Error::bad(place, what)).to_string();
        let strict = "no size: \"bob\"secret\"; such lines in all: 3";
        assert_eq!(
            said("alice.csv: line 3 (byte 17)", strict),
            format!("{file}: line 3 (byte 17): no size: \"{bob}\"; such lines in all: 3")
        );
        assert_eq!(
            said("a: line bob", "an empty file"),
            format!("{odd}: an empty file")
        );
        assert_eq!(
            said(
                "--used-memory x",
                "no such node; the nodes are: \"bob\"secret\""
            ),
            format!("--used-memory: no such node; the nodes are: \"{bob}\"")
        );
        assert_eq!(
            said("--policy \"regex:alice\"", "has no group"),
            "--policy: has no group"
        );
        let missing = Error::io("alice.csv", std::io::ErrorKind::NotFound.into());
        assert!(
            redaction
                .error(missing)
                .to_string()
                .starts_with(&format!("{file}: "))
        );
    }

    #[test]
    fn a_pattern_keeps_its_form_and_its_words_are_those_of_others() {
        let redaction = Redaction::with_key(b"a", false).unwrap();
        let shown = redaction
            .pattern(&Name::from("prod:cart:{cart:<n>}:a\0b"))
            .to_string();
        let [prod, cart, end] = ["prod", "cart", "a\0b"].map(|word| redaction.text(word));
        assert_eq!(shown, format!("{prod}:{cart}:{{{cart}:<n>}}:{end}"));
        assert_eq!(redaction.name(&Name::from("cart")).to_string(), cart);
    }
}
