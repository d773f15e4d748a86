//! The description of an input's shape: one line in a report, and a warning if only the lines themselves show it.

use serde::{Deserialize, Serialize};

use slotscope_base::name::Name;
use slotscope_base::sentence::Sentence;

/// How the pattern of an input's lines was known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum LineBy {
    /// By `--line`.
    Given,
    /// By a header.
    Header,
    /// By the lines themselves.
    Found,
}

/// The description of an input's shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Told {
    /// The shape, without any content of the input; empty for raw keys.
    pub shape: String,
    /// A warning, if only the lines themselves show the shape.
    pub warning: Option<Sentence>,
    /// The pattern of its lines, if they have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<String>,
    /// How that was known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_by: Option<LineBy>,
    /// The first key as it is read, and its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first: Option<(Name, Option<u64>)>,
    /// The name of a column of numbers that may be the sizes that no column was read as.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unread: Option<Name>,
    /// Another way to read it.
    pub note: Option<Sentence>,
    /// Why the input was not read.
    pub refused: Option<Sentence>,
}

impl Told {
    /// A shape, with a warning unless it is beyond doubt.
    pub fn new(shape: &str, warning: Option<Sentence>) -> Told {
        Told {
            shape: shape.into(),
            warning,
            ..Told::default()
        }
    }

    /// A file in a directory that cannot be read as a dump.
    pub fn refused(why: String) -> Told {
        Told {
            refused: Some(why.into()),
            ..Told::default()
        }
    }

    /// The same with the pattern of its lines.
    pub fn of_line(self, line: impl Into<String>, by: LineBy) -> Told {
        Told {
            line: Some(line.into()),
            line_by: Some(by),
            ..self
        }
    }

    /// The same with one more warning.
    pub fn with(mut self, doubt: Sentence) -> Told {
        self.warning = Some(match self.warning {
            Some(warning) => warning.words("; ").and(doubt),
            None => doubt,
        });
        self
    }
}
