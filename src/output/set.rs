//! The files that a command makes of its result, each with the function that writes it.

use std::io::{self, Write};
use std::path::Path;

use crate::error::Result;
use crate::output::directory::{Directory, Written};
use crate::output::guard::{Guard, Mark};

/// Files of one directory. The first shows whose the directory is, and is put in place first.
pub struct OutputSet<T> {
    /// What the first file has near its start.
    text: &'static str,
    outputs: Vec<Output<T>>,
}

struct Output<T> {
    file: &'static str,
    write: Box<dyn Fn(&T, &mut dyn Write) -> io::Result<Written> + Send + Sync>,
}

impl<T> OutputSet<T> {
    /// A set without files; the first file that is added has `text` near its start.
    pub fn marked(text: &'static str) -> Self {
        OutputSet {
            text,
            outputs: Vec::new(),
        }
    }

    /// Adds a file that is always written.
    #[must_use]
    pub fn file(
        self,
        file: &'static str,
        write: impl Fn(&T, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        self.maybe(file, move |value, out| {
            write(value, out).map(|()| Written::Whole)
        })
    }

    /// Adds a file that some values have nothing for.
    #[must_use]
    pub fn maybe(
        mut self,
        file: &'static str,
        write: impl Fn(&T, &mut dyn Write) -> io::Result<Written> + Send + Sync + 'static,
    ) -> Self {
        let write = Box::new(write);
        self.outputs.push(Output { file, write });
        self
    }

    /// The names of the files.
    pub fn files(&self) -> impl Iterator<Item = &'static str> {
        self.outputs.iter().map(|output| output.file)
    }

    /// How a directory of such files is recognised.
    pub fn mark(&self) -> Mark {
        Mark {
            file: self.files().next(),
            text: self.text,
        }
    }

    /// Writes the file called `name`, if there is anything to put in it.
    ///
    /// # Errors
    /// `out` cannot be written to.
    pub fn write(&self, value: &T, name: &str, out: &mut dyn Write) -> io::Result<Written> {
        let output = self.outputs.iter().find(|output| output.file == name);
        output.map_or(Ok(Written::Nothing), |output| (output.write)(value, out))
    }

    /// Opens all files in the directory at `path`, which is made.
    ///
    /// # Errors
    /// It cannot be made or written to, or holds what `guard` does not let it replace.
    pub fn open(self, path: &Path, guard: Guard) -> Result<OpenSet<T>> {
        let names: Vec<&str> = self.files().collect();
        let directory = Directory::open(path, &names, self.mark(), guard)?;
        Ok(OpenSet {
            set: self,
            directory,
        })
    }
}

/// A set whose files are open and not in place yet; dropped, they are removed.
pub struct OpenSet<T> {
    set: OutputSet<T>,
    directory: Directory,
}

impl<T> OpenSet<T> {
    /// Writes the files of `value`, and puts them in place together.
    ///
    /// # Errors
    /// A file cannot be written or put in place; then all are as they were before.
    pub fn publish(self, value: &T) -> Result<()> {
        let OpenSet { set, directory } = self;
        directory.publish(|name, out| set.write(value, name, out))
    }
}
