//! Every spec serializes as a list of names and values.

use std::fmt;
use std::path::PathBuf;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer, de};
use serde_json::Value;

/// The members of a spec in declaration order, which a JSON map would lose.
struct Members(Vec<(String, Value)>);

impl Members {
    fn new(spec: &impl Serialize) -> Self {
        let json = serde_json::to_string(spec).expect("a spec has names and plain values");
        serde_json::from_str(&json).expect("a spec is a map")
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the members of a spec")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry().map_err(de::Error::custom)? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// The flag of a member.
fn flag(name: &str) -> String {
    format!("--{}", name.replace('_', "-"))
}

/// The values of a spec other than its defaults, as command-line words.
pub fn words<T: Serialize + Default>(spec: &T) -> Vec<String> {
    let mut words = Vec::new();
    let (members, usual) = (Members::new(spec).0, Members::new(&T::default()).0);
    for (name, value) in members.into_iter().filter(|member| !usual.contains(member)) {
        match value {
            Value::Bool(true) => words.push(flag(&name)),
            Value::Array(values) => {
                let each = values.iter().map(plain);
                words.extend(each.flat_map(|value| [flag(&name), value]));
            }
            value => words.extend([flag(&name), plain(&value)]),
        }
    }
    words
}

/// The flag of the first member in which two specs differ.
pub fn difference<T: Serialize>(a: &T, b: &T) -> Option<String> {
    let (a, b) = (Members::new(a).0, Members::new(b).0);
    let is_in = |others: &[(String, Value)], member: &(String, Value)| others.contains(member);
    let of_a = a.iter().filter(|member| !is_in(&b, member));
    let mut differing = of_a.chain(b.iter().filter(|member| !is_in(&a, member)));
    differing.next().map(|(name, _)| flag(name))
}

/// A path as it is displayed: any bytes may be in it, and a word is text.
pub(crate) fn displayed<S: Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    let path = path.as_ref().map(|path| path.display().to_string());
    path.serialize(to)
}

/// A value without JSON quotes.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{CountSpec, FilterSpec, MemorySpec, ReadSpec};

    fn spec() -> ReadSpec {
        ReadSpec {
            key_column: Some("k".into()),
            filter: FilterSpec {
                globs: vec!["a*".into(), "b*".into()],
                ..FilterSpec::default()
            },
            memory: MemorySpec {
                no_verify: true,
                ..MemorySpec::default()
            },
            ..ReadSpec::default()
        }
    }

    #[test]
    fn a_spec_is_the_words_that_the_user_would_type() {
        assert_eq!(words(&ReadSpec::default()), [""; 0]);
        assert_eq!(words(&CountSpec::default()), [""; 0]);
        let wanted = [
            "--key-column",
            "k",
            "--match",
            "a*",
            "--match",
            "b*",
            "--no-verify",
        ];
        assert_eq!(words(&spec()), wanted);
    }

    #[test]
    fn a_difference_is_named_by_its_flag() {
        let of = |change: &dyn Fn(&mut ReadSpec)| {
            let mut other = spec();
            change(&mut other);
            assert_eq!(difference(&spec(), &other), difference(&other, &spec()));
            difference(&spec(), &other)
        };
        assert_eq!(of(&|_| {}), None);
        assert_eq!(
            of(&|spec| spec.filter.globs.truncate(1)).as_deref(),
            Some("--match")
        );
        assert_eq!(
            of(&|spec| spec.key_column = None).as_deref(),
            Some("--key-column")
        );
        assert_eq!(of(&|spec| spec.db = Some(1)).as_deref(), Some("--db"));
        assert_eq!(
            of(&|spec| spec.memory.no_verify = false).as_deref(),
            Some("--no-verify")
        );
    }

    #[test]
    fn a_spec_is_read_back_and_an_unknown_member_is_refused() {
        let json = serde_json::to_string(&spec()).unwrap();
        assert_eq!(serde_json::from_str::<ReadSpec>(&json).unwrap(), spec());
        let error = serde_json::from_str::<ReadSpec>(r#"{"colour":1}"#).unwrap_err();
        assert!(error.to_string().contains("colour"), "{error}");
    }
}
