//! How a result reaches standard output: as JSON, or as text as wide as the terminal, in colours where they are wanted.

use std::io::{self, Write};

use crate::error::{Error, Result};

/// Columns of the text where there is neither a terminal to ask nor COLUMNS.
const PIPE_WIDTH: usize = 100;

/// Prints the one or the other; `text` is told how many columns there are.
///
/// # Errors
/// Standard output cannot be written to.
pub fn print(
    as_json: bool,
    json: impl Fn(&mut dyn Write) -> io::Result<()>,
    text: impl Fn(usize, &mut dyn Write) -> io::Result<()>,
) -> Result<()> {
    let stdout = io::stdout();
    if as_json {
        let mut out = io::BufWriter::new(stdout.lock());
        return json(&mut out).and_then(|()| out.flush()).map_err(Error::stdout);
    }
    let wanted = || std::env::var("COLUMNS").ok()?.parse().ok();
    let terminal = terminal_size::terminal_size_of(&stdout).map(|(width, _)| usize::from(width.0));
    let width = terminal.or_else(wanted).unwrap_or(PIPE_WIDTH);
    let mut lines = Vec::new();
    text(width, &mut lines).map_err(Error::stdout)?;
    let mut out = anstream::AutoStream::auto(stdout.lock());
    out.write_all(&lines).and_then(|()| out.flush()).map_err(Error::stdout)
}
