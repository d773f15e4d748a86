//! `slotscope keyslot`: keys come in as arguments or as a dump, slot and key go out, one line each.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use clap::Args;
use serde::Serialize;

use super::Ending;
use super::cluster::Cluster;
use super::hashing::Hashing;
use super::reading::{Reading, format_help};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::slot::policy::Policy;
use crate::slot::{SlotBatch, slot_of_part};
use crate::tally::Tally;
use crate::topology::Topology;

/// The hash slot of each key.
#[derive(Args, Debug)]
pub struct Keyslot {
    /// Keys; without any, keys are read from standard input
    #[arg(value_name = "KEY")]
    pub keys: Vec<OsString>,
    /// The form of standard input; `--format help` lists them
    #[arg(long, value_name = "NAME", default_value = "auto")]
    pub format: String,
    /// The byte between keys of standard input, for `lines`: one character or \0 \t \n \xHH [default: the line end]
    #[arg(long, value_name = "STR", allow_hyphen_values = true)]
    pub delimiter: Option<String>,
    /// One JSON object a line: key, slot, tag and, where nodes are known, node
    #[arg(long)]
    pub json: bool,
    /// The nodes
    #[command(flatten)]
    pub cluster: Cluster,
    /// The hash policy
    #[command(flatten)]
    pub hashing: Hashing,
}

impl Keyslot {
    /// Prints the slot of every key.
    ///
    /// # Errors
    /// A topology or an input that cannot be read, or standard output.
    pub fn run(&self) -> Result<Ending> {
        if self.format == "help" {
            write!(io::stdout(), "{}", format_help()).map_err(Error::stdout)?;
            return Ok(Ending::Done);
        }
        let topology = self.cluster.named()?;
        let policy = self.hashing.policy()?;
        let out = io::BufWriter::new(io::stdout());
        let mut printer = Printer { json: self.json, topology: topology.as_ref(), out };
        if self.keys.is_empty() {
            return self.print_input(printer, policy);
        }
        for key in &self.keys {
            let key = key.as_encoded_bytes();
            let part = policy.hashed_part(key).ok_or_else(|| {
                let what = format!("no pattern of --policy {policy} matches it, so it has no slot; add one that does");
                Error::bad(format!("key \"{}\"", Name::from(key)), Name::from(what.as_str()).to_string())
            })?;
            let slot = slot_of_part(&key[part.clone()]);
            let tag = Some(part).filter(|part| *part != (0..key.len()));
            printer.print(key, tag, slot).map_err(Error::stdout)?;
        }
        printer.out.flush().map_err(Error::stdout)?;
        Ok(Ending::Done)
    }

    /// Prints the slots of standard input, in its order: one worker, one printer.
    fn print_input(&self, printer: Printer<'_, impl Write + Send>, policy: Policy) -> Result<Ending> {
        let reading = Reading {
            inputs: vec![PathBuf::from("-")],
            format: self.format.clone(),
            delimiter: self.delimiter.clone(),
            threads: Some(1),
            strict: true,
            ..Reading::default()
        };
        let printer = Mutex::new((printer, Ok(())));
        let closed = AtomicBool::new(false);
        let make = || Printed { printer: &printer, closed: &closed };
        let mut reader = reading.reader()?;
        reader.policy = policy;
        let incomplete = reader.scan_until_closed(&closed, make)?.incomplete;
        let (mut printer, outcome) = printer.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        outcome.and_then(|()| printer.out.flush()).map_err(Error::stdout)?;
        match incomplete.first() {
            Some(stop) => Err(Error::bad(format!("-: byte {}", stop.byte), stop.reason.clone())),
            None => Ok(Ending::Done),
        }
    }
}

/// Writes a line a key.
struct Printer<'a, W> {
    json: bool,
    topology: Option<&'a Topology>,
    out: W,
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    key: Name,
    slot: u16,
    tag: Option<Name>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<Option<&'a Name>>,
}

impl<W: Write> Printer<'_, W> {
    fn print(&mut self, key: &[u8], tag: Option<std::ops::Range<usize>>, slot: u16) -> io::Result<()> {
        let node = self.topology.map(|topology| {
            let owner = topology.owner(slot).map(|node| Name::from(topology.nodes[node].id.as_str()));
            owner.unwrap_or_default()
        });
        if self.json {
            let tag = tag.map(|tag| Name::from(&key[tag]));
            let owner = node.as_ref().map(|node| Some(node).filter(|node| !node.0.is_empty()));
            serde_json::to_writer(&mut self.out, &Line { key: Name::from(key), slot, tag, node: owner })?;
            return self.out.write_all(b"\n");
        }
        write!(self.out, "{slot}\t{}", Name::from(key))?;
        match node {
            Some(node) => writeln!(self.out, "\t{node}"),
            None => writeln!(self.out),
        }
    }
}

/// A tally that prints as it counts; what goes wrong is kept for the end, and stops the scan.
struct Printed<'a, 'p, W> {
    printer: &'a Mutex<(Printer<'p, W>, io::Result<()>)>,
    closed: &'a AtomicBool,
}

impl<W: Write + Send> Tally for Printed<'_, '_, W> {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        let (printer, outcome) = &mut *self.printer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for i in 0..keys.len() {
            if outcome.is_err() {
                return;
            }
            let key = keys.batch.keys.get(keys.batch.base, i);
            let (start, part) = (keys.batch.keys.start[i], (keys.hashed.start[i], keys.hashed.end[i]));
            let tag = keys.is_tagged(i).then(|| (part.0 - start) as usize..(part.1 - start) as usize);
            *outcome = printer.print(key, tag, keys.slots[i]);
            self.closed.store(outcome.is_err(), Relaxed);
        }
    }

    fn merge(&mut self, _: Self) {}
}
