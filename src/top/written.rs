//! `w`: writes the screen to a file, with the verdict of `analyze` on the same seconds.

use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;

use slotscope_engine::calendar::utc;
use slotscope_engine::error::{Error, Result};
use slotscope_engine::text::grouped;

use crate::top::columns::{Row, fitting};
use crate::top::screen::Screen;

/// Columns of the file.
pub(super) const WIDTH: usize = 120;
/// Rows of a table at most.
pub(super) const ROWS: usize = 100;
/// Names that are tried where files are in the way.
const TRIES: usize = 100;

/// Writes a new file in the current directory, and returns its name.
///
/// # Errors
/// Nothing was read yet, or no file can be made.
pub(crate) fn write(screen: &Screen) -> Result<PathBuf> {
    let text = text(screen)?;
    let (path, mut file) = create(screen)?;
    file.write_all(text.as_bytes())
        .map_err(|error| Error::io(&path, error))?;
    Ok(path)
}

/// `slotscope-top-20261124-173000.txt`, or with a number after it.
fn create(screen: &Screen) -> Result<(PathBuf, File)> {
    let at = screen
        .read
        .as_ref()
        .map_or_else(String::new, |read| utc(read.at_ms));
    let digits: String = at.chars().take(19).filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    let mut last = None;
    for number in 1..=TRIES {
        let number = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let path = PathBuf::from(format!("slotscope-top-{day}-{time}{number}.txt"));
        match File::create_new(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                last = Some(Error::io(path, error))
            }
            Err(error) => return Err(Error::io(path, error)),
        }
    }
    Err(last.unwrap_or_else(|| Error::bad("w", "no file can be made")))
}

fn text(screen: &Screen) -> Result<String> {
    let Some(read) = &screen.read else {
        return Err(Error::bad("w", "nothing was read yet"));
    };
    let mut text = format!(
        "slotscope top, {}, {}\n",
        screen.cluster_name,
        utc(read.at_ms)
    );
    if let Some(verdict) = &read.verdict {
        text += "\n";
        text += &verdict.text;
    }
    text += "\nShards\n";
    text += &table(&screen.listed_shards());
    match &screen.opened {
        Some(opened) => {
            text += &format!("\nKeys of slot {}\n", opened.slot);
            text += &table(&screen.listed_keys());
        }
        None => {
            text += "\nSlots\n";
            text += &table(&screen.listed_slots());
        }
    }
    for failure in &read.cluster.failures {
        text += &format!("\n{failure}");
    }
    Ok(text)
}

fn table<T: Row>(rows: &[&T]) -> String {
    let columns = fitting::<T>(WIDTH);
    let line = |cells: &mut dyn Iterator<Item = (String, usize, bool)>| {
        let cells = cells.map(|(cell, width, is_number)| {
            if is_number {
                format!("{cell:>width$}")
            } else {
                format!("{cell:<width$}")
            }
        });
        let cells: Vec<String> = cells.collect();
        format!("{}\n", cells.join(" ").trim_end())
    };
    let heads = columns
        .iter()
        .map(|(of, width)| (of.heading.to_owned(), *width, of.is_number()));
    let mut text = line(&mut { heads });
    for row in rows.iter().take(ROWS) {
        let cells = columns
            .iter()
            .map(|(of, width)| (of.cell(row, *width), *width, of.is_number()));
        text += &line(&mut { cells });
    }
    if let Some(more) = rows.len().checked_sub(ROWS + 1) {
        text += &format!("... and {} more\n", grouped(more as u64 + 1));
    }
    text
}
