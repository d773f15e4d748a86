//! Streams CSV rows: names in C escapes, and an empty cell for unknown values.

use std::io::{self, Write};

use slotscope_base::name::Name;

/// A CSV writer.
pub struct CsvRows<W: Write>(csv::Writer<W>);

impl<W: Write> CsvRows<W> {
    /// Starts an empty file.
    pub fn new(out: W) -> Self {
        CsvRows(csv::Writer::from_writer(out))
    }

    /// Writes a row, which must have as many cells as earlier ones.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn row<C: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = C>) -> io::Result<()> {
        self.0.write_record(cells).map_err(io_error)
    }

    /// Flushes the rest, and returns the underlying writer.
    ///
    /// # Errors
    /// The rest cannot be written.
    pub fn finish(mut self) -> io::Result<W> {
        self.0.flush()?;
        self.0
            .into_inner()
            .map_err(|error| io::Error::from(error.error().kind()))
    }
}

/// The underlying I/O error, which tells whether a pipe is closed.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// A name in C escapes; also escapes a first character that spreadsheets take for the start of a formula.
pub fn spelled(name: &Name) -> String {
    let text = name.to_string();
    match text.as_bytes().first() {
        Some(first) if b"=+-@".contains(first) => format!("\\x{first:02x}{}", &text[1..]),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_formula_and_comes_back_from_its_spelling() {
        for (name, text) in [
            ("=1+1", "\\x3d1+1"),
            ("-a", "\\x2da"),
            ("a=b", "a=b"),
            ("", ""),
        ] {
            let name = Name::from(name);
            assert_eq!(spelled(&name), text);
            assert_eq!(Name::parse(text), Some(name));
        }
    }

    #[test]
    fn a_closed_pipe_is_one_in_the_error_too() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        // The writer's buffer holds the header, so errors appear once it overflows.
        let mut csv = csv::WriterBuilder::new()
            .buffer_capacity(1)
            .from_writer(Closed);
        let error = csv.write_record(["a", "b"]).map_err(io_error).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
