//! The flags of `slotscope keyslot`.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use clap::Args;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::slot::policy::Policy;
use slotscope_report::json;
use slotscope_topology::Topology;

use crate::cli::overrides::Overrides;
use crate::cli::reading::{ReadingArgs, print_format_help};
use crate::cli::{Ending, Run};
use crate::keyslot::{KeySlot, Printing, view};
use crate::options::NodeSpec;
use crate::options::headings::{ARGUMENTS, INPUT, OUTPUT};
use crate::options::{HashSpec, ReadSpec};

/// The hash slot of each key.
#[derive(Args, Debug)]
#[command(next_help_heading = INPUT, after_help = EXAMPLES)]
pub struct KeyslotArgs {
    /// Keys; without any, they are read from standard input
    #[arg(value_name = "KEY", help_heading = ARGUMENTS)]
    pub keys: Vec<OsString>,
    /// The format of standard input; `--format help` lists all
    #[arg(
        long,
        value_name = "NAME",
        default_value = "auto",
        hide_short_help = true
    )]
    pub format: String,
    /// The byte between keys of standard input, for `lines`: one character or \0 \t \n \xHH [default: the line end]
    #[arg(
        long,
        value_name = "STR",
        allow_hyphen_values = true,
        hide_short_help = true
    )]
    pub delimiter: Option<String>,
    /// One JSON object a line: key, slot, tag and, where nodes are known, node
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
    /// The hash policy
    #[command(flatten)]
    pub hashing: HashSpec,
}

const EXAMPLES: &str = "\
Examples:
  slotscope keyslot 'user:{42}:cart' user:42
  redis-cli --no-raw --scan | slotscope keyslot --topology cluster.nodes";

impl Run for KeyslotArgs {
    fn run(&self) -> Result<Ending> {
        if self.format == "help" {
            return print_format_help();
        }
        let topology = self.cluster.named()?;
        let policy = self.hashing.policy()?;
        let mut out = io::BufWriter::new(io::stdout());
        if self.keys.is_empty() {
            self.print_input(topology.as_ref(), &policy, &mut out)?;
        }
        for key in &self.keys {
            let key_slot = KeySlot::of(key.as_encoded_bytes(), &policy, topology.as_ref())?;
            self.print(&key_slot, &mut out).map_err(Error::stdout)?;
        }
        out.flush().map_err(Error::stdout)?;
        Ok(Ending::Done)
    }

    fn reads_stdin(&self) -> bool {
        self.keys.is_empty() && self.format != "help"
    }
}

impl KeyslotArgs {
    fn print(&self, key_slot: &KeySlot, out: &mut dyn Write) -> io::Result<()> {
        if self.json {
            json::write_object(key_slot, out)
        } else {
            view::write(key_slot, out)
        }
    }

    /// Prints the slots of standard input in order, with one worker and one printer.
    fn print_input(
        &self,
        topology: Option<&Topology>,
        policy: &Policy,
        out: &mut (impl Write + Send),
    ) -> Result<()> {
        let printing = Printing::new(topology, |key_slot| self.print(key_slot, out));
        let failed = printing.failed();
        let args = ReadingArgs {
            overrides: Overrides {
                on_progress: Some(Arc::new(move |_| !failed.load(Relaxed))),
                ..Overrides::default()
            },
            spec: ReadSpec {
                inputs: vec![PathBuf::from("-")],
                format: self.format.clone(),
                delimiter: self.delimiter.clone(),
                threads: Some(1),
                strict: true,
                ..ReadSpec::default()
            },
            ..ReadingArgs::default()
        };
        let reading = args.reading(policy.clone())?;
        let scanned = reading.scan("printing", || printing.tally());
        let incomplete = scanned.map(|scanned| scanned.incomplete);
        printing.finish().map_err(Error::stdout)?;
        match incomplete?.first() {
            // Keys before the error are printed.
            Some(stop) => {
                out.flush().map_err(Error::stdout)?;
                Err(Error::bad(
                    format!("-: byte {}", stop.byte),
                    stop.reason.clone(),
                ))
            }
            None => Ok(()),
        }
    }
}
