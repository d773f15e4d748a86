//! Findings that report.json stores as sentences.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A typed finding, or the sentence of a finding read from a report.
///
/// The summary holds typed findings and no prose: `wording` implements `Display` for each. A summary read from
/// report.json keeps the sentences of that file and writes them unchanged.
#[derive(Debug, Clone, PartialEq)]
pub enum Worded<F> {
    /// A typed finding.
    Finding(F),
    /// A sentence from a report.
    Sentence(String),
}

impl<F> From<F> for Worded<F> {
    fn from(finding: F) -> Self {
        Worded::Finding(finding)
    }
}

impl<F: fmt::Display> fmt::Display for Worded<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Worded::Finding(finding) => finding.fmt(f),
            Worded::Sentence(sentence) => f.pad(sentence),
        }
    }
}

impl<F: fmt::Display> Serialize for Worded<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de, F> Deserialize<'de> for Worded<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Worded::Sentence)
    }
}

/// An empty sentence: a report may lack it.
impl<F> Default for Worded<F> {
    fn default() -> Self {
        Worded::Sentence(String::new())
    }
}

impl<F> JsonSchema for Worded<F> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sentence".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}
