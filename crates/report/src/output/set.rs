//! The output files of a command, each with the function that writes it.

use std::io::{self, Write};
use std::path::Path;

use rayon::ThreadPool;
use slotscope_engine::error::{Error, Result};

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

    fn numbers() -> OutputSet<u32> {
        OutputSet::marked("ours")
            .file("all", |number, out| write!(out, "ours: {number}"))
            .maybe("odd", |number, out| {
                if number % 2 == 0 {
                    return Ok(Written::Nothing);
                }
                write!(out, "{number}").map(|()| Written::Whole)
            })
    }

    fn publish(path: &Path, number: u32) -> Result<()> {
        numbers()
            .open(path, Guard::new("name another"))?
            .publish(&number)
    }

    #[test]
    fn each_file_is_written_and_one_without_content_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        let read = |name: &str| fs::read_to_string(path.join(name)).ok();
        publish(&path, 3).unwrap();
        let found = (read("all"), read("odd"));
        assert_eq!(found, (Some("ours: 3".into()), Some("3".into())));
        publish(&path, 4).unwrap();
        assert_eq!((read("all"), read("odd")), (Some("ours: 4".into()), None));
    }

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

    #[test]
    fn files_of_others_stay_and_the_first_file_shows_whose_a_directory_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        fs::write(path.join("odd"), "mine").unwrap();
        let message = publish(path, 3).unwrap_err().to_string();
        assert!(
            message.contains("odd") && message.ends_with("name another"),
            "{message}"
        );
        assert!(!numbers().mark().is_of(path));
        fs::write(path.join("all"), "ours: 1").unwrap();
        publish(path, 3).unwrap();
        assert!(numbers().mark().is_of(path));
        assert_eq!(fs::read_dir(path).unwrap().count(), 2);
    }

    #[test]
    fn no_output_replaces_what_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("all");
        fs::write(&input, "ours: 1").unwrap();
        let guard = Guard::new("name another").reading([input.as_path()]);
        let opened = numbers().open(folder.path(), guard.forced(true, ", or force it"));
        let message = opened
            .err()
            .map_or(String::new(), |error| error.to_string());
        let refusal = "the report would replace this input; name another";
        assert!(message.ends_with(refusal), "{message}");
    }
}
