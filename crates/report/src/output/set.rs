//! The output files of a command, each with the function that writes it.

use std::io::{self, Write};
use std::path::Path;

use rayon::ThreadPool;
use slotscope_base::error::{Error, Result};

use crate::output::directory::Directory;
use crate::output::guard::{Guard, Mark};
use crate::output::staging::Written;

/// Files of one directory. The first identifies the directory's owner, and is put in place first.
pub struct OutputSet<T> {
    /// Text that occurs near the start of the first file.
    text: &'static str,
    outputs: Vec<Output<T>>,
}

type WriteOutput<T> = dyn Fn(&T, &mut dyn Write) -> io::Result<Written> + Send + Sync;

struct Output<T> {
    file: &'static str,
    write: Box<WriteOutput<T>>,
}

impl<T> OutputSet<T> {
    /// An empty set; the first file added must have `text` near its start.
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

    /// Adds a file that is omitted if a value has no content for it.
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
    pub(crate) fn files(&self) -> impl Iterator<Item = &'static str> {
        self.outputs.iter().map(|output| output.file)
    }

    /// How a directory of these files is recognised.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            file: self.files().next(),
            text: self.text,
        }
    }

    /// Writes the file called `name`, if it has content.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, value: &T, name: &str, out: &mut dyn Write) -> io::Result<Written> {
        let output = self.outputs.iter().find(|output| output.file == name);
        output.map_or(Ok(Written::Nothing), |output| (output.write)(value, out))
    }

    /// Refuses a directory with the name of one of the files.
    fn check_name(&self, path: &Path) -> Result<()> {
        let form = path.extension();
        let is_file =
            form.is_some() && self.files().any(|file| Path::new(file).extension() == form);
        if path.is_dir() || !is_file {
            return Ok(());
        }
        let first = self.files().next().unwrap_or_default();
        Err(Error::bad_file(
            path,
            format!(
                "is the name of a file; name a directory, which gets {first} and the other files"
            ),
        ))
    }

    /// Opens all files in the directory at `path`, which is created.
    ///
    /// # Errors
    /// The directory has the name of a file, cannot be created or written, or `guard` forbids replacing its content.
    pub fn open(self, path: &Path, guard: Guard) -> Result<OpenSet<T>> {
        self.check_name(path)?;
        let names: Vec<&str> = self.files().collect();
        let directory = Directory::open(path, &names, self.mark(), guard)?;
        Ok(OpenSet {
            set: self,
            directory,
        })
    }
}

/// A set of open files not yet in place; removed if dropped.
pub struct OpenSet<T> {
    set: OutputSet<T>,
    directory: Directory,
}

impl<T: Sync> OpenSet<T> {
    /// Writes the files of `value`, and puts them in place together.
    ///
    /// # Errors
    /// A file cannot be written or put in place.
    pub fn publish(self, value: &T) -> Result<()> {
        self.publish_in(None, value)
    }

    /// As `publish`, several files at once.
    ///
    /// # Errors
    /// As `publish`.
    pub fn publish_on(self, pool: &ThreadPool, value: &T) -> Result<()> {
        self.publish_in(Some(pool), value)
    }

    fn publish_in(self, pool: Option<&ThreadPool>, value: &T) -> Result<()> {
        let OpenSet { set, directory } = self;
        directory.publish(pool, |name, out| set.write(value, name, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_directory_that_is_made_has_no_name_of_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let set = || OutputSet::<u32>::marked("ours").file("a.html", |_, out| write!(out, "ours"));
        let guard = || Guard::new("name another");
        let path = folder.path().join("page.html");
        let refused = set().open(&path, guard()).err().unwrap().to_string();
        let what = "is the name of a file; name a directory, which gets a.html and the other files";
        assert!(refused.ends_with(what), "{refused}");
        assert!(!path.exists());
        fs::create_dir(&path).unwrap();
        set().open(&path, guard()).unwrap().publish(&1).unwrap();
        let dotted = folder.path().join("2026.11");
        set().open(&dotted, guard()).unwrap().publish(&1).unwrap();
    }
}
