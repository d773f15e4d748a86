//! Describes the shape of an input: one line in a report, and a warning if only the lines themselves show it.

use serde::{Deserialize, Serialize};

use crate::format::shape::table::{Certainty, Table};
use crate::format::table::columns::Role;
use crate::format::table::layout::{KeyText, Layout};
use crate::metric::Metric;
use crate::name::Name;
use crate::sentence::Sentence;

const RAW: &str = "where each line is a key, --format lines reads it as one";

/// The description of an input's shape.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Told {
    /// The shape, without any content of the input; empty for raw keys.
    pub shape: String,
    /// A warning, if only the lines themselves show the shape.
    pub warning: Option<Sentence>,
    /// The first key as it is read, for that warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_key: Option<Sentence>,
    /// Another way to read it.
    pub note: Option<Sentence>,
    /// Why the input was not read.
    pub refused: Option<Sentence>,
}

impl Told {
    /// A shape, with a warning unless it is beyond doubt.
    pub(super) fn new(shape: &str, warning: Option<Sentence>) -> Told {
        Told {
            shape: shape.into(),
            warning,
            ..Told::default()
        }
    }

    /// A file in a directory that cannot be read as a dump.
    pub(crate) fn refused(why: String) -> Told {
        Told {
            refused: Some(why.into()),
            ..Told::default()
        }
    }

    pub(super) fn first_key(key: Name) -> Sentence {
        Sentence::default().words("the first key is ").name(key)
    }

    /// Raw keys, with an optional doubt.
    pub(super) fn raw(doubt: Option<Sentence>, is_of_client: bool) -> Told {
        let text = "lines of kubectl, docker or telnet at the start, left out";
        let client = is_of_client.then(|| Sentence::default().words(text));
        Told::new("", doubt.or(client))
    }

    /// JSON objects whose key member was found by content.
    pub(super) fn by_content(name: &str) -> Told {
        let warning = Sentence::default()
            .words("the keys were taken from the member ")
            .name(name)
            .words(", which is another text in each object; --key-column NAME names another, --format lines reads each line as a key");
        Told::new("JSON objects, keys found by their content", Some(warning))
    }

    /// Keys with text around.
    pub(super) fn wrapped(shape: &str) -> Told {
        let warning = format!("read as {shape}: the text around each key was cut; {RAW}");
        Told::new(shape, Some(Sentence::default().words(warning)))
    }

    /// A table.
    pub(super) fn table(table: &Table) -> Told {
        let shape = described(&table.layout);
        let is_likely = table.certainty < Certainty::Proven;
        let warning = format!("read as {shape}; {RAW}");
        let note = table.unread.first().map(|name| {
            Sentence::default()
                .words("nothing was made of the numbers in the column ")
                .name(Name::from(name.as_slice()))
                .words("; --size-column NAME reads them as sizes, --ops-column NAME as operations")
        });
        let warning = is_likely.then(|| Sentence::default().words(warning));
        let told = Told {
            note,
            ..Told::new(&shape, warning)
        };
        table.doubts.iter().cloned().fold(told, Told::with)
    }

    /// The same with one more warning.
    pub(super) fn with(mut self, doubt: Sentence) -> Told {
        self.warning = Some(match self.warning {
            Some(warning) => warning.words("; ").and(doubt),
            None => doubt,
        });
        self
    }
}

pub(in crate::format) fn described(layout: &Layout) -> String {
    let Layout {
        columns, header, ..
    } = layout;
    let separator = layout.separator.name();
    let key = layout.key() + 1;
    let header = match header {
        Some(_) => "below a header",
        None => "without a header",
    };
    let size = layout.size().map_or(String::new(), |size| {
        format!(", size in column {}", size + 1)
    });
    let written = match layout.key_text {
        KeyText::Quoted => ", keys in quotes",
        KeyText::Python => ", keys as literals of Python",
        KeyText::Marked(_) | KeyText::Escaped => ", keys with marks of Markdown, which are cut",
        _ => "",
    };
    format!(
        "a table of {columns} columns {header}, separated by {separator}: key in column {key}{size}{written}"
    )
}

/// The flags that read a table's columns.
fn flags(layout: &Layout) -> String {
    let name = |column: usize| {
        let has_role = |role: Role| layout.at[role.place()] == Some(column);
        match () {
            () if has_role(Role::Key) => "key",
            () if has_role(Role::of(Metric::Bytes)) => "size",
            () => "_",
        }
    };
    let columns: Vec<&str> = (0..layout.columns).map(name).collect();
    format!(
        "--columns {} --column-separator {}",
        columns.join(","),
        layout.separator.flag()
    )
}

/// Why a table that may be raw keys is refused.
pub(super) fn ambiguous(layout: &Layout) -> String {
    let flags = flags(layout);
    format!(
        "keys, or keys and numbers with {} between? Nothing in the lines tells: {flags} reads columns, --format lines \
         reads each line as a key",
        layout.separator.name()
    )
}
