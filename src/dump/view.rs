//! Lines of CSV: names in C escapes, and an empty cell for what is not known.

use std::io::{self, Write};

use crate::dump::RecordLine;
use crate::format::table::key_spelling::DUMP;
use crate::name::Name;

/// Lines of CSV on their way out.
pub struct Csv<W: Write>(csv::Writer<W>);

impl<W: Write> Csv<W> {
    /// Writes the header.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn new(out: W) -> io::Result<Self> {
        let mut csv = csv::Writer::from_writer(out);
        csv.write_record(DUMP).map_err(io_error)?;
        Ok(Csv(csv))
    }

    /// Goes on after a header that is there already.
    #[cfg(feature = "live")]
    pub fn without_header(out: W) -> Self {
        Csv(csv::Writer::from_writer(out))
    }

    /// Writes a line.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn write(&mut self, line: &RecordLine) -> io::Result<()> {
        let number =
            |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
        let key = spelled(&line.key);
        let record = [
            key.as_str(),
            &line.db.to_string(),
            &line.type_name,
            line.encoding.unwrap_or_default(),
            &number(line.elements),
            &line.bytes.to_string(),
            &number(line.memory),
            line.expiry.as_deref().unwrap_or_default(),
            &number(line.lfu.map(u64::from)),
            &number(line.idle),
            &line.slot.to_string(),
            &line.tag.as_ref().map_or(String::new(), spelled),
        ];
        self.row(record)
    }

    /// Writes the cells of a line.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn row(&mut self, cells: [&str; DUMP.len()]) -> io::Result<()> {
        self.0.write_record(cells).map_err(io_error)
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The writer below cannot be written to.
    pub fn finish(mut self) -> io::Result<()> {
        self.0.flush()
    }

    /// Writes what is left, and gives back the writer below.
    ///
    /// # Errors
    /// It cannot be written to.
    #[cfg(feature = "live")]
    pub fn into_inner(self) -> io::Result<W> {
        self.0
            .into_inner()
            .map_err(|error| io::Error::from(error.error().kind()))
    }
}

/// The error of the writer below, which says whether its pipe is closed.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        kind => io::Error::other(format!("{kind:?}")),
    }
}

/// The escapes of a name, also of a first character that a spreadsheet takes for the start of a formula.
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
        // The writer has room for the header: its error comes with what does not fit.
        let mut csv = csv::WriterBuilder::new()
            .buffer_capacity(1)
            .from_writer(Closed);
        let error = csv.write_record(["a", "b"]).map_err(io_error).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
