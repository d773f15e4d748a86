//! The format the user chose, with its columns or delimiter.

use std::sync::{Mutex, PoisonError};

use slotscope_base::error::{Error, Result};
use slotscope_read::format::Format;
use slotscope_read::format::line::{Given, Pattern};
use slotscope_read::format::lines;
use slotscope_read::format::table::columns::ColumnNames;
use slotscope_read::format::table::jsonl::Jsonl;

use crate::by_name::ByName;
use crate::csv::Csv;
use crate::named;

/// The name for detection by content.
pub const AUTO: &str = "auto";

/// The format called `name`, with a key `delimiter` or named columns; `None` to detect it.
///
/// # Errors
/// There is no format of that name, or it has no columns or delimiter.
pub fn chosen(
    name: &str,
    delimiter: Option<u8>,
    names: &ColumnNames,
    line: Option<&str>,
) -> Result<Option<&'static dyn Format>> {
    let lines = lines::CHOSEN.name();
    if let Some(text) = line {
        if name != AUTO || delimiter.is_some() || *names != ColumnNames::USUAL {
            let reason = "says how a line is read: without --format, --delimiter, --escapes and names of columns";
            return Err(Error::option("line", "", reason));
        }
        return Ok(Some(with_line(text)?));
    }
    match (name, delimiter) {
        (name, None) if *names != ColumnNames::USUAL => Ok(Some(with_columns(name, names)?)),
        (_, Some(_)) if *names != ColumnNames::USUAL => Err(Error::option(
            "delimiter",
            "",
            "belongs to --format lines, which has no columns",
        )),
        (AUTO, None) => Ok(None),
        (name, None) if name == lines => Ok(Some(&lines::CHOSEN)),
        (name, None) => Ok(Some(named(name)?)),
        (name, Some(delimiter)) if name == AUTO || name == lines => {
            Ok(Some(lines::delimited_by(delimiter)))
        }
        (name, Some(_)) => {
            let reason = format!(
                "belongs to --format {lines}; {name} has its own rule for where a key ends"
            );
            Err(Error::option("delimiter", "", reason))
        }
    }
}

/// Lines of a pattern. Formats live until the program ends, so equal ones are shared.
fn with_line(text: &str) -> Result<&'static dyn Format> {
    static MADE: Mutex<Vec<&'static Given>> = Mutex::new(Vec::new());
    let pattern = Pattern::parse(text).map_err(|why| Error::option("line", text, why))?;
    if pattern.is_bare() {
        return Ok(&lines::CHOSEN);
    }
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(format) = made.iter().find(|format| format.0 == pattern) {
        return Ok(*format);
    }
    let format: &'static Given = Box::leak(Box::new(Given(pattern)));
    made.push(format);
    Ok(format)
}

/// A format, keyed by name and columns.
type Made = (String, ColumnNames, &'static dyn Format);

/// The format called `name` with named columns. Formats live until the program ends, so equal ones are shared.
fn with_columns(name: &str, names: &ColumnNames) -> Result<&'static dyn Format> {
    static MADE: Mutex<Vec<Made>> = Mutex::new(Vec::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let row = made
        .iter()
        .find(|(other, columns, _)| other == name && columns == names);
    if let Some((_, _, format)) = row {
        return Ok(*format);
    }
    let format = new_with_columns(name, names)?;
    made.push((name.to_owned(), names.clone(), format));
    Ok(format)
}

fn new_with_columns(name: &str, names: &ColumnNames) -> Result<&'static dyn Format> {
    let columns = names.clone();
    let format: Box<dyn Format> = match name {
        AUTO => Box::new(ByName(columns)),
        "csv" => Box::new(Csv { names: columns }),
        "jsonl" => Box::new(Jsonl { names: columns }),
        name => return Err(without_columns(named(name)?.name(), names)),
    };
    Ok(Box::leak(format))
}

fn without_columns(name: &str, names: &ColumnNames) -> Error {
    let columns = [
        ("--key-column", &names.key),
        ("--size-column", &names.size),
        ("--ops-column", &names.ops),
    ];
    let flag = columns
        .iter()
        .find(|(_, name)| name.is_some())
        .map_or("--escapes", |(flag, _)| flag);
    Error::bad(
        flag,
        format!("{name} has no columns to choose from; csv and jsonl have"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_can_only_be_named_where_there_are_columns() {
        let names = ColumnNames {
            ops: Some("n".into()),
            ..ColumnNames::USUAL
        };
        for name in ["auto", "csv", "jsonl"] {
            let format = with_columns(name, &names).unwrap();
            assert_eq!(format.name(), name);
            assert!(std::ptr::eq(format, with_columns(name, &names).unwrap()));
        }
        let error = with_columns("lines", &names).err().unwrap().to_string();
        assert_eq!(
            error,
            "--ops-column: lines has no columns to choose from; csv and jsonl have"
        );
        assert!(with_columns("yaml", &names).is_err());
    }
}
