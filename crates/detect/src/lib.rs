//! Tells what a text is: a dump in a format with a grammar, a text whose lines have a shape, or something else, which is refused
//! by what it is. For [slotscope](https://docs.rs/slotscope).
#![deny(missing_docs)]

#[doc(hidden)]
pub mod by_name;
#[doc(hidden)]
pub mod chosen;
#[doc(hidden)]
pub mod csv;
#[doc(hidden)]
pub mod not_a_dump;
#[doc(hidden)]
pub mod shape;

use std::sync::LazyLock;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_read::format::line::tried::tried;
use slotscope_read::format::table::jsonl;
use slotscope_read::format::{
    Detected, Format, GRAMMARS, Head, LineBy, Opened, Told, lines, table,
};

pub use shape::Shape;

/// Every readable format: those with a grammar, in the order of detection, and those whose lines have a shape.
pub static FORMATS: LazyLock<Vec<&dyn Format>> = LazyLock::new(|| {
    let shaped: [&dyn Format; 3] = [&csv::USUAL, &jsonl::USUAL, &lines::CHOSEN];
    GRAMMARS.iter().copied().chain(shaped).collect()
});

/// The format called `name`.
///
/// # Errors
/// No format has that name; the message lists the valid ones.
pub fn named(name: &str) -> Result<&'static dyn Format> {
    FORMATS
        .iter()
        .copied()
        .find(|format| format.name() == name)
        .ok_or_else(|| {
            let names: Vec<_> = FORMATS.iter().map(|format| format.name()).collect();
            Error::option(
                "format",
                "",
                format!(
                    "no format is called \"{}\"; there are: auto, {}",
                    Name::from(name),
                    names.join(", ")
                ),
            )
        })
}

/// Text formats that redis-cli uses for any reply.
const LISTS: [&str; 3] = ["numbered", "quoted", "redis-json"];

/// How an input is read.
pub enum Recognised {
    /// As a format with a grammar of its own.
    Known(&'static dyn Format),
    /// By the shape of its lines.
    Shaped(Box<Shape>),
}

impl Recognised {
    /// The name of the format.
    pub fn name(&self) -> &'static str {
        match self {
            Recognised::Known(format) => format.name(),
            Recognised::Shaped(shape) => shape.format(),
        }
    }

    /// Opens an input that starts with `head`.
    ///
    /// # Errors
    /// As `Format::open`.
    pub fn open(&self, head: Head<'_>) -> std::result::Result<Opened, String> {
        match self {
            Recognised::Known(format) => format.open(head),
            Recognised::Shaped(shape) => shape.open(head),
        }
    }

    /// A description of its shape, with the first key that `opened` reads in `head`.
    pub fn told(self, opened: &Opened, head: Head<'_>) -> Told {
        let told = match self {
            Recognised::Known(format) => match format.line() {
                Some(line) => Told::default().of_line(line, LineBy::Given),
                None => Told::default(),
            },
            Recognised::Shaped(shape) => shape.told,
        };
        let first = tried(opened, head).and_then(|tried| tried.first);
        Told { first, ..told }
    }
}

/// How to read an input starting with `head`; `None` if more of it is needed.
///
/// # Errors
/// The kind of input if it is not a key dump, or the two kinds it may be, with a suggested command.
pub fn recognise(head: Head<'_>) -> std::result::Result<Option<Recognised>, String> {
    if let Some(refused) = not_a_dump::by_signature(head) {
        return Err(refused);
    }
    let bare = Head {
        bytes: table::unmarked(head.bytes),
        ..head
    };
    for format in GRAMMARS {
        match format.detect(bare) {
            Detected::Yes => {
                // Any text in a list may be a key, so suspicious content is only questioned.
                let is_list = LISTS.contains(&format.name());
                let refused = || not_a_dump::by_words(head).or_else(|| not_a_dump::by_texts(head));
                let refused = is_list.then(refused).flatten();
                let known = || instead_of(*format, head).unwrap_or(Recognised::Known(*format));
                return refused.map_or_else(|| Ok(Some(known())), Err);
            }
            Detected::NeedMore if !head.whole => return Ok(None),
            Detected::No | Detected::NeedMore => {}
        }
    }
    let shape = shape::of(head)?;
    Ok(shape.map(|shape| Recognised::Shaped(Box::new(shape))))
}

/// A table of keys and sizes in an input in which a format finds no key: other programs print lines of redis-cli above theirs.
fn instead_of(format: &dyn Format, head: Head<'_>) -> Option<Recognised> {
    let has_keys = |opened: &Opened| tried(opened, head).is_none_or(|tried| tried.fits > 0);
    if !head.whole || has_keys(&format.open(head).ok()?) {
        return None;
    }
    let shape = shape::of(head).ok().flatten()?;
    let is_table = shape.told.line_by == Some(LineBy::Header);
    is_table.then(|| Recognised::Shaped(Box::new(shape)))
}

/// The format of an input starting with `head`, if it is a key dump; `None` if more of it is needed.
pub fn detect(head: Head<'_>) -> Option<&'static dyn Format> {
    let recognised = recognise(head).ok()??;
    named(recognised.name()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_without_a_grammar_is_told_by_its_lines() {
        for (text, name) in [
            (
                "OK\n1795216374.1 [0 127.0.0.1:5] \"get\" \"s\"\n",
                "monitor",
            ),
            ("{\"key\":\"a\",\"size\":5}\n", "jsonl"),
            ("[{\"key\":\"a\",\"ops\":5}]\n", "jsonl"),
            ("[\n{\"key\":\"s\"}\n]", "jsonl"),
            ("database,key,type,size\n", "csv"),
            ("[\"a\"b]", "lines"),
            ("[a]\n", "lines"),
            ("[\"c\",\"d\"]\nuser:1\nuser:2\n", "lines"),
            ("1 \"a\"\n2 \"b\"\n3 \"c\"\n", "lines"),
            ("\"key\",\"size\"\n\"a\",1\n", "csv"),
            ("a 1\nb 2\n", "lines"),
            ("{\"name\":\"a\"}\n", "jsonl"),
            ("[{\"key\":\"a\"}]", "jsonl"),
            ("{\"id\":\"a\"}\n", "lines"),
            ("key,size\na,1\n", "csv"),
            ("db;name\n1;a\n", "csv"),
            ("key,size\n", "csv"),
            ("key\na", "lines"),
            ("user:1,user:2\na", "lines"),
            ("a,b\na", "lines"),
            ("key,{user}:1\na", "lines"),
            ("\na\na", "lines"),
        ] {
            let bytes = text.as_bytes();
            let found = detect(Head { bytes, whole: true }).map(Format::name);
            assert_eq!(found, Some(name), "{text:?}");
        }
    }
}
