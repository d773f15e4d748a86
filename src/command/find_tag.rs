//! `slotscope find-tag`: hash tags that land on a wanted slot or node, or spread evenly; a line each.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::Ending;
use super::cluster::Cluster;
use crate::advice::find_tag::{Found, Template, Used, in_slot, on_slots, slots_of, spread};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::slot::SLOTS;
use crate::topology::{Node, Topology};

/// The longest list of tags to avoid: some millions.
const MAX_AVOID_BYTES: u64 = 64 << 20;

/// Hash tags that land on a wanted slot or node, or spread evenly.
///
/// Prints for each the slot, a tab, the tag in its braces as it stands in a key and, where nodes are named, another tab
/// and the node. Tags are short words of lower-case letters and digits without look-alikes, the same in every run.
#[derive(Args, Debug)]
#[group(id = "where", required = true, multiple = false, args = ["slot", "node", "spread"])]
pub struct FindTag {
    /// Tags of this slot
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..SLOTS as i64))]
    pub slot: Option<u16>,
    /// Tags of this node, named as in the topology: its id, the start of it, or its address. Each in another slot
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// K tags, one a slot: evenly over the nodes where they are named, and over their slots
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=SLOTS as i64))]
    pub spread: Option<u16>,
    /// The text of the tag, without the key's braces; {} stands for the word that is looked for: with 'fav:{}' a key
    /// reads prod:news:favorites:{fav:k7}:meta
    #[arg(long, value_name = "TEXT", default_value = "{}", allow_hyphen_values = true)]
    pub template: OsString,
    /// Tags that are in use, one a line (or keys that have them): none is found again, and their slots are left out,
    /// with --node and --spread, as long as the node has others
    #[arg(long, value_name = "FILE")]
    pub avoid: Option<PathBuf>,
    /// How many tags, with --slot and --node
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "spread")]
    pub count: usize,
    /// One JSON object a line: tag (without braces), slot, node (null where none is named)
    #[arg(long)]
    pub json: bool,
    /// The nodes
    #[command(flatten)]
    pub cluster: Cluster,
}

impl FindTag {
    /// Finds the tags and prints them.
    ///
    /// # Errors
    /// A flag, a topology or a list of tags that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        let template = Template::parse(self.template.as_encoded_bytes())?;
        let topology = self.cluster.named()?;
        let used = self.avoid.as_deref().map_or(Ok(Used::default()), tags_in)?;
        let mut out = io::BufWriter::new(io::stdout());
        let mut print = |found: &Found| self.print(found, topology.as_ref(), &mut out).map_err(Error::stdout);
        match (self.slot, &self.node, self.spread) {
            (Some(slot), _, _) => in_slot(slot, &template, &used).take(self.count).try_for_each(|tag| print(&tag))?,
            (_, Some(name), _) => {
                let slots = slots_of(node_named(name, topology.as_ref())?);
                on_slots(&slots, &template, &used).take(self.count).try_for_each(|tag| print(&tag))?;
            }
            (_, _, count) => {
                let count = usize::from(count.unwrap_or(1));
                // Without nodes the slots are one stretch: what is even over them is so over any even split.
                let one = Topology::even(1, String::from("all slots"))?;
                let tags = spread(count, topology.as_ref().unwrap_or(&one), &template, &used)?;
                tags.iter().try_for_each(print)?;
            }
        }
        out.flush().map_err(Error::stdout)?;
        Ok(Ending::Done)
    }

    fn print(&self, found: &Found, topology: Option<&Topology>, out: &mut impl Write) -> io::Result<()> {
        let owner = |topology: &Topology| Some(topology.nodes[topology.owner(found.slot)?].id.clone());
        let node = topology.and_then(owner).map(|id| Name::from(id.as_str()));
        if self.json {
            serde_json::to_writer(&mut *out, &Line { tag: &found.tag, slot: found.slot, node })?;
            return writeln!(out);
        }
        write!(out, "{}\t{{{}}}", found.slot, found.tag)?;
        match topology {
            Some(_) => writeln!(out, "\t{}", node.unwrap_or_default()),
            None => writeln!(out),
        }
    }
}

/// A line of `--json`.
#[derive(Serialize)]
struct Line<'a> {
    tag: &'a Name,
    slot: u16,
    node: Option<Name>,
}

/// The node that the user means.
fn node_named<'a>(name: &str, topology: Option<&'a Topology>) -> Result<&'a Node> {
    let bad = |what: String| Error::bad(format!("--node \"{}\"", Name::from(name)), what);
    let topology =
        topology.ok_or_else(|| bad("the nodes are not known; name them with --topology or --nodes".into()))?;
    let is_called = |node: &&Node| node.id == name || node.address.as_deref() == Some(name);
    let begins = |node: &&Node| !name.is_empty() && node.id.starts_with(name);
    let nodes = || topology.nodes.iter();
    let found = match nodes().find(is_called) {
        Some(node) => node,
        None => match nodes().filter(begins).collect::<Vec<_>>().as_slice() {
            [node] => *node,
            [] => {
                let names: Vec<_> = nodes().take(6).map(|node| Name::from(node.id.as_str()).to_string()).collect();
                let more = if topology.nodes.len() > names.len() { ", ..." } else { "" };
                return Err(bad(format!("there is no such node; there are: {}{more}", names.join(", "))));
            }
            several => return Err(bad(format!("{} nodes are called so; write more of the id", several.len()))),
        },
    };
    match found.slots {
        0 => Err(bad("the node owns no slots, so no tag lands there".into())),
        _ => Ok(found),
    }
}

/// The tags that a file lists.
fn tags_in(path: &Path) -> Result<Used> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    let mut bytes = Vec::new();
    file.take(MAX_AVOID_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Error::io(path, error))?;
    if bytes.len() as u64 > MAX_AVOID_BYTES {
        let what = "more than 64 MiB of tags; keep those that are like the template";
        return Err(Error::bad(Name::from(path).to_string(), what));
    }
    let mut used = Used::default();
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter(|line| !line.is_empty()).for_each(|line| used.add(line));
    Ok(used)
}
