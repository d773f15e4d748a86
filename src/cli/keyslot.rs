//! `slotscope keyslot`: the hash slot of each key, in input order.

use std::ffi::OsString;
use std::io::{self, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use serde::Serialize;

use slotscope_app::cli::overrides::Overrides;
use slotscope_app::cli::reading::{ReadingArgs, print_format_help};
use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::NodeSpec;
use slotscope_app::options::headings::{ARGUMENTS, INPUT, OUTPUT};
use slotscope_app::options::{HashSpec, ReadSpec};
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::policy::Policy;
use slotscope_base::slot::{SlotBatch, slot_of_part};
use slotscope_count::tally::Tally;
use slotscope_report::json;
use slotscope_topology::Topology;

/// The hash slot of each key
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
    fn run(&self, _: &Command) -> Result<Ending> {
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
            write_text(key_slot, out)
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

/// The slot of a key; the fields are those of a line of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(crate) struct KeySlot {
    /// The key.
    pub key: Name,
    /// Its slot.
    pub slot: u16,
    /// Its hash tag.
    pub tag: Option<Name>,
    /// The id of the node that owns the slot, if one does; absent where nodes are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<Option<Name>>,
    /// The display name of that node, if it is not the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<Name>,
}

impl KeySlot {
    /// The slot of `key` under a policy.
    ///
    /// # Errors
    /// No pattern of the policy matches the key.
    fn of(key: &[u8], policy: &Policy, topology: Option<&Topology>) -> Result<KeySlot> {
        let part = policy.hashed_part(key).ok_or_else(|| {
            let reason = format!(
                "no pattern of --policy {policy} matches it, so it has no slot; add one that does"
            );
            Error::bad(
                format!("key \"{}\"", Name::from(key)),
                Name::from(reason.as_str()).to_string(),
            )
        })?;
        let slot = slot_of_part(&key[part.clone()]);
        let tag = Some(part).filter(|part| *part != (0..key.len()));
        Ok(KeySlot::new(key, tag, slot, topology))
    }

    fn new(key: &[u8], tag: Option<Range<usize>>, slot: u16, topology: Option<&Topology>) -> Self {
        let owner = topology.map(|topology| Some(&topology.nodes[topology.owner(slot)?]));
        let node = owner.map(|owner| owner.map(|node| Name::from(node.id.as_str())));
        let node_name = owner.flatten().map(slotscope_topology::Node::name);
        KeySlot {
            key: Name::from(key),
            slot,
            tag: tag.map(|tag| Name::from(&key[tag])),
            node_name: node_name.filter(|name| node.as_ref() != Some(&Some(name.clone()))),
            node,
        }
    }
}

/// Writes a line: slot, key and, if nodes are known, node, separated by tabs.
///
/// # Errors
/// `out` cannot be written.
fn write_text(key_slot: &KeySlot, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{}\t{}", key_slot.slot, key_slot.key)?;
    match &key_slot.node {
        Some(Some(node)) => writeln!(out, "\t{}", key_slot.node_name.as_ref().unwrap_or(node)),
        Some(None) => writeln!(out, "\t"),
        None => writeln!(out),
    }
}

/// Prints one key; called sequentially.
type Print<'a> = dyn FnMut(&KeySlot) -> io::Result<()> + Send + 'a;

/// Passes the keys of a single-worker scan to a printer; the first error stops the scan.
struct Printing<'a> {
    topology: Option<&'a Topology>,
    printer: Mutex<(Box<Print<'a>>, io::Result<()>)>,
    failed: Arc<AtomicBool>,
}

impl<'a> Printing<'a> {
    fn new(
        topology: Option<&'a Topology>,
        print: impl FnMut(&KeySlot) -> io::Result<()> + Send + 'a,
    ) -> Self {
        let printer = Mutex::new((Box::new(print) as Box<Print<'a>>, Ok(())));
        Printing {
            topology,
            printer,
            failed: Arc::default(),
        }
    }

    /// Set once printing has failed.
    fn failed(&self) -> Arc<AtomicBool> {
        self.failed.clone()
    }

    /// The tally for the scan.
    fn tally(&self) -> PrintedKeys<'a, '_> {
        PrintedKeys(self)
    }

    /// The result of printing.
    ///
    /// # Errors
    /// The first error of the printer.
    fn finish(self) -> io::Result<()> {
        self.printer
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .1
    }
}

/// A tally that prints keys instead of counting them.
struct PrintedKeys<'a, 'p>(&'p Printing<'a>);

impl Tally for PrintedKeys<'_, '_> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let Printing {
            topology,
            printer,
            failed,
        } = self.0;
        let (print, outcome) = &mut *printer.lock().unwrap_or_else(PoisonError::into_inner);
        for i in 0..keys.len() {
            if outcome.is_err() {
                return;
            }
            let key = keys.batch.keys.get(keys.batch.base, i);
            let start = keys.batch.keys.start[i];
            let part =
                || (keys.hashed.start[i] - start) as usize..(keys.hashed.end[i] - start) as usize;
            let tag = keys.is_tagged(i).then(part);
            *outcome = print(&KeySlot::new(key, tag, keys.slots[i], *topology));
            failed.store(outcome.is_err(), Relaxed);
        }
    }

    fn merge(&mut self, _: Self) {}
}
