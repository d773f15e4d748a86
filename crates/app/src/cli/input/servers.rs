//! Running servers: their keys are collected first, into a temporary directory or one named by the user.

use std::path::{Path, PathBuf};

use clap::Args;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::policy::Policy;
use slotscope_base::text::shell_word;
use slotscope_collect::run::{self, Options};
use slotscope_model::step::StepKind;
use slotscope_model::{InputFacts, Summary};
use slotscope_moves::steps::MEASURING;
use slotscope_read::source::remote;
use slotscope_report::output::WholeDirectory;

use crate::cli::collect_bar::CollectBar;
use crate::cli::live;
use crate::cli::load_args::LoadArgs;
use crate::cli::progress::When;
use crate::cli::reading::ReadingArgs;
use crate::options::headings::SERVERS;
use crate::pipeline::reading::Reading;

pub use crate::cli::live::LiveArgs;

/// How servers among the inputs are read.
#[derive(Args, Debug, Clone, Default)]
pub struct ServerArgs {
    /// How they are reached
    #[command(flatten)]
    pub live: LiveArgs,
    /// How their load is measured
    #[command(flatten)]
    pub load: LoadArgs,
    /// Keep what is read from running servers in this new directory, as collect does
    #[arg(long, value_name = "DIR", help_heading = SERVERS, hide_short_help = true)]
    pub keep: Option<PathBuf>,
}

/// Servers to read.
pub struct Servers {
    options: Options,
    keep: Option<PathBuf>,
    name: String,
    /// The words of a command that would keep the collection.
    collect: Vec<String>,
    /// The command that names hot keys.
    measure: String,
}

/// The collection of the servers.
pub enum Collected {
    /// In a directory of the user, and the command that names hot keys.
    Kept(PathBuf, String),
    /// In one that is removed at the end.
    ForNow {
        /// That one.
        directory: WholeDirectory,
        /// The command that names hot keys.
        measure: String,
        /// The command that keeps it, and the directory that it makes.
        collect: String,
        kept_in: String,
    },
}

impl ServerArgs {
    /// With a temporary collection.
    pub fn for_now(live: LiveArgs) -> Self {
        ServerArgs {
            live,
            ..ServerArgs::default()
        }
    }

    /// The servers among the inputs; `None` if they are files.
    ///
    /// # Errors
    /// Servers and files are mixed, or the flags do not fit a server.
    pub fn servers(&self, inputs: &[PathBuf]) -> Result<Option<Servers>> {
        let (servers, files): (Vec<_>, Vec<_>) =
            inputs.iter().partition(|input| remote::is_server(input));
        let load = self.load.measured()?;
        match files.first() {
            _ if servers.is_empty() && load.is_some() => {
                let reason = "is measured on running servers; name one (redis://HOST:PORT), or a collection that has it";
                return Err(Error::option("load", "", reason));
            }
            _ if servers.is_empty() => return Ok(None),
            Some(file) => {
                let reason = "a file next to servers; collect them first, then name the directory and the file";
                return Err(Error::bad_file(file.as_path(), reason));
            }
            None => {}
        }
        let texts: Vec<String> = servers
            .iter()
            .map(|server| server.to_string_lossy().into_owned())
            .collect();
        let seeds = live::seeds(&texts)?;
        let typed = texts.iter().map(|text| remote::without_password(text));
        let reached: Vec<String> = typed.chain(self.live.words(&seeds)).collect();
        Ok(Some(Servers {
            measure: format!("slotscope analyze {} {MEASURING}", joined(&reached)),
            collect: [reached, self.load.words()].concat(),
            name: live::name(&seeds),
            options: Options {
                load,
                ..self.live.options(seeds)?
            },
            keep: self.keep.clone(),
        }))
    }
}

impl Servers {
    /// The file name for output about them.
    pub fn name(&self) -> String {
        self.name.clone()
    }

    /// Collects their keys.
    ///
    /// # Errors
    /// No server answers, or nothing can be written.
    pub fn collect(self, progress: When) -> Result<Collected> {
        let bar = CollectBar::new(progress);
        let on_node = |node: &str, page| bar.show(node, page);
        match self.keep {
            Some(out) => {
                let options = Options {
                    out: out.clone(),
                    ..self.options
                };
                run::run(&options, &on_node).map(|_| Collected::Kept(out, self.measure))
            }
            None => Ok(Collected::ForNow {
                directory: run::run_for_now(&self.options, &on_node)?,
                measure: self.measure,
                collect: format!("slotscope collect {} --force", joined(&self.collect)),
                kept_in: format!("{}.collect", self.name),
            }),
        }
    }
}

/// Words of a command line.
fn joined(words: &[String]) -> String {
    let words = words.iter().map(|word| shell_word(word));
    words.collect::<Vec<_>>().join(" ")
}

impl Collected {
    fn directory(&self) -> &Path {
        match self {
            Collected::Kept(path, _) => path,
            Collected::ForNow { directory, .. } => directory.path(),
        }
    }

    /// Reads the collected files with `args`.
    ///
    /// # Errors
    /// As `ReadingArgs::reading`.
    pub fn reading(&self, args: &ReadingArgs, policy: Policy) -> Result<Reading> {
        let mut args = args.clone();
        args.inputs = vec![self.directory().to_path_buf()];
        args.reading(policy)
    }

    /// Its name in later commands.
    pub fn word(&self) -> String {
        match self {
            Collected::Kept(path, _) => path.display().to_string(),
            Collected::ForNow { kept_in, .. } => kept_in.clone(),
        }
    }

    /// Removes a temporary directory from file names.
    pub fn rename<'n>(&self, input: &'n mut InputFacts, source: &'n mut Name) {
        let files = input.files.iter_mut().map(|file| &mut file.name);
        let stops = input.incomplete.iter_mut().map(|stop| &mut stop.file);
        let rejects = input.rejected.first.iter_mut().map(|row| &mut row.file);
        self.shorten(files.chain(stops).chain(rejects).chain([source]));
    }

    /// The same for any names.
    pub fn shorten<'n>(&self, names: impl Iterator<Item = &'n mut Name>) {
        let Collected::ForNow { directory, .. } = self else {
            return;
        };
        let prefix = Name::from(directory.path().join("").as_path());
        for name in names.filter(|name| name.0.starts_with(&prefix.0)) {
            name.0.drain(..prefix.0.len());
        }
    }

    /// Adds the command that keeps a temporary collection to commands that read it, with a note that it is removed.
    pub fn note(&self, summary: &mut Summary, redacted: bool) {
        let (Collected::Kept(_, measure) | Collected::ForNow { measure, .. }) = self;
        let steps = summary.verdict.steps.iter_mut();
        for step in steps.filter(|step| !redacted && step.kind == StepKind::Measure) {
            step.command = Some(Name::from(measure.as_str()));
        }
        let Collected::ForNow { collect, .. } = self else {
            return;
        };
        let steps = summary.verdict.steps.iter_mut();
        let commands = steps
            .filter(|step| step.kind != StepKind::Measure)
            .flat_map(|step| {
                std::iter::once(&mut step.command)
                    .chain(step.alternatives.iter_mut().map(|step| &mut step.command))
            })
            .flatten();
        for command in commands.filter(|command| !redacted && command.0.starts_with(b"slotscope "))
        {
            *command = Name::from(format!("{collect} && {command}").as_str());
        }
        let has_commands = summary.verdict.steps.iter().any(|step| {
            let is_again = |command: &Name| command.0.starts_with(collect.as_bytes());
            step.command.as_ref().is_some_and(is_again)
        });
        if has_commands && collect.contains(" --monitor ") {
            let hint =
                "each command below runs MONITOR again; with --keep DIR they read what is kept";
            summary.input.warnings.push(hint.into());
        }
        let note = "what was read of the servers is removed; --keep DIR, or collect, keeps it for plan, whatif and the next analyze";
        summary.input.notes.push(note.into());
    }
}
