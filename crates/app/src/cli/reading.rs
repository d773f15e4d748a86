//! The reading flags, plus settings that only the program and library callers have: progress, and sources that are not
//! paths.

use std::io::Write;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};

use clap::Args;

use slotscope_base::error::{Error, Result};
use slotscope_base::slot::policy::Policy;
use slotscope_detect::FORMATS;
use slotscope_read::source::{Source, remote};

use crate::cli::overrides::Overrides;
use crate::cli::progress::{self, When};
use crate::cli::{Ending, inputs};
use crate::options::headings::RUN;
use crate::options::{CountSpec, HashSpec, Listing, ReadSpec, words};
use crate::partial::Flags;
use crate::pipeline::reading::{Options, Reading};

/// What is read and how.
#[derive(Args, Debug, Clone, Default)]
pub struct ReadingArgs {
    /// What is read and how
    #[command(flatten)]
    pub spec: ReadSpec,
    /// Bytes, rate and time left on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value_t, help_heading = RUN, hide_short_help = true)]
    pub progress: When,
    /// What is not on the command line
    #[arg(skip)]
    pub overrides: Overrides,
}

impl Deref for ReadingArgs {
    type Target = ReadSpec;

    fn deref(&self) -> &ReadSpec {
        &self.spec
    }
}

impl DerefMut for ReadingArgs {
    fn deref_mut(&mut self) -> &mut ReadSpec {
        &mut self.spec
    }
}

/// The formats and an example line of each, for `--format help`.
fn format_help() -> String {
    let lines = FORMATS
        .iter()
        .map(|format| format!("{:<14} {}\n", format.name(), format.example()));
    format!(
        "{:<14} detected from the content\n{}",
        "auto",
        lines.collect::<String>()
    )
}

/// Prints them.
///
/// # Errors
/// Standard output cannot be written.
pub fn print_format_help() -> Result<Ending> {
    let help = format_help();
    std::io::stdout()
        .write_all(help.as_bytes())
        .map_err(Error::stdout)?;
    Ok(Ending::Done)
}

impl ReadingArgs {
    /// Finds the sources and starts the workers.
    ///
    /// # Errors
    /// A flag is unusable, or a source cannot be read.
    pub fn reading(&self, policy: Policy) -> Result<Reading> {
        let options = self.options(policy)?;
        let mut inputs = inputs::find(&self.paths(), &options.storage)?;
        let given = self.overrides.sources.iter().cloned();
        inputs
            .sources
            .extend(given.map(|source| Box::new(source) as Box<dyn Source>));
        Reading::new(inputs, options)
    }

    /// The options for reading.
    ///
    /// # Errors
    /// A flag is unusable.
    pub fn options(&self, policy: Policy) -> Result<Options> {
        let given = self.overrides.on_progress.clone();
        let on_progress = given.unwrap_or_else(|| progress::hook(self.progress));
        Ok(Options {
            policy,
            on_progress: Some(on_progress),
            ..self.spec.options()?
        })
    }

    /// Whether standard input is read for lack of arguments.
    pub fn reads_stdin(&self) -> bool {
        self.inputs.is_empty() && self.overrides.sources.is_empty() && self.format != "help"
    }

    /// The inputs, or what is read in their place, and the flags that counts depend on, as words of a command line; `None`
    /// where one is in memory alone.
    ///
    /// # Errors
    /// A flag that cannot be used.
    pub fn words(&self, in_place: Option<String>) -> Result<Option<Vec<String>>> {
        let mut given = self.overrides.sources.iter().map(|source| source.path());
        if !given.all(Path::exists) {
            return Ok(None);
        }
        let mut inputs = match (in_place, self.inputs.as_slice()) {
            (Some(replacement), _) => vec![replacement],
            (None, []) if self.overrides.sources.is_empty() => vec!["-".into()],
            (None, inputs) => {
                let given = self.overrides.sources.iter().map(|source| source.path());
                let paths = inputs.iter().map(PathBuf::as_path).chain(given);
                paths.map(input_word).collect()
            }
        };
        inputs.extend(words(&self.spec.of_counts()?));
        Ok(Some(inputs))
    }

    /// Everything that the counts of a part depend on.
    ///
    /// # Errors
    /// A flag is unusable.
    pub fn flags(
        &self,
        hashing: &HashSpec,
        counting: &CountSpec,
        listing: Option<Listing>,
    ) -> Result<Flags> {
        Ok(Flags {
            words: [self.words(None)?.unwrap_or_default(), words(hashing)].concat(),
            ..Flags::new(self, hashing, counting, listing)?
        })
    }

    /// The inputs as named by the user; standard input by default.
    fn paths(&self) -> Vec<PathBuf> {
        match self.inputs.as_slice() {
            [] if !self.overrides.sources.is_empty() => Vec::new(),
            [] => vec![PathBuf::from("-")],
            paths => paths.to_vec(),
        }
    }
}

/// An input as a word of a command: without a password, and never a flag.
pub fn input_word(path: &Path) -> String {
    let word = remote::without_password(&path.display().to_string());
    if word.len() > 1 && word.starts_with('-') {
        format!("./{word}")
    } else {
        word
    }
}
