//! `w`: writes the screen to a file, with the verdict of `analyze` on the same seconds.

use std::path::PathBuf;

use slotscope_engine::calendar::utc;
use slotscope_engine::error::{Error, Result};
use slotscope_engine::text::grouped;
use slotscope_report::output::{Guard, SingleFile};

use crate::top::columns::{Row, fitting};
use crate::top::screen::Screen;

/// Width of the file in columns.
pub(super) const WIDTH: usize = 120;
/// Maximum rows per table.
pub(super) const ROWS: usize = 100;
/// The start of the file.
const TITLE: &str = "slotscope top";
/// Shown if no server has `memory-bytes`.
const WITHOUT_MEMORY: &str = "memory by slot is not counted, which takes Redis 8.4: shards are compared by used_memory of their servers, and slots by keys";
/// How many file names are tried if files exist.
const TRIES: usize = 100;

/// Writes a new file in the current directory, atomically, and returns its name.
///
/// # Errors
/// Nothing was read yet, or no file can be created.
pub(crate) fn write(screen: &Screen) -> Result<PathBuf> {
    let text = text(screen)?;
    let path = path(screen)?;
    let guard = Guard::new("remove a file of this name");
    let file = SingleFile::open(&path, TITLE, guard)?;
    file.publish(|out| out.write_all(text.as_bytes()))?;
    Ok(path)
}

/// `slotscope-top-20261124-173000.txt`, with a number appended if that exists.
fn path(screen: &Screen) -> Result<PathBuf> {
    let at = screen
        .read
        .as_ref()
        .map_or_else(String::new, |read| utc(read.at_ms));
    let digits: String = at.chars().take(19).filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at_checked(8).unwrap_or((&digits, ""));
    let first = format!("slotscope-top-{day}-{time}");
    let more = (2..=TRIES).map(|number| format!("{first}-{number}"));
    let mut paths = std::iter::once(first.clone())
        .chain(more)
        .map(|name| PathBuf::from(format!("{name}.txt")));
    paths
        .find(|path| path.symlink_metadata().is_err())
        .ok_or_else(|| {
            Error::bad(
                format!("{first}.txt"),
                "is taken; remove files of this name",
            )
        })
}

fn text(screen: &Screen) -> Result<String> {
    let Some(read) = &screen.read else {
        return Err(Error::bad("w", "nothing was read yet"));
    };
    let mut text = format!("{TITLE}, {}, {}\n", screen.cluster_name, utc(read.at_ms));
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
    let cluster = &read.cluster;
    let mut lacking = Vec::from_iter(cluster.without_cpu.as_deref());
    if cluster.slots.iter().all(|slot| slot.memory.is_none()) {
        lacking.push(WITHOUT_MEMORY);
    }
    for what in lacking {
        text += &format!("\n{what}");
    }
    for failure in &cluster.failures {
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
