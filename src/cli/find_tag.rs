//! The flags of `slotscope find-tag`.

use std::ffi::OsString;
use std::io::{self, Write};

use clap::Args;

use slotscope_app::cli::{Command, Ending, Run};
use slotscope_app::options::NodeSpec;
use slotscope_app::options::headings::{OUTPUT, TAGS};
use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_report::json;
use slotscope_topology::{Topology, ranges};

use crate::find_tag::view::{TagLine, write};
use crate::find_tag::{FoundTag, Template, in_slot, on_slots, spread};

/// Hash tags for a slot or a node, or spread evenly
///
/// Prints for each the slot, a tab, the tag in its braces as in a key and, where nodes are named, another tab
/// and the node. Tags are short words of lower-case letters and digits without look-alikes, the same in every run.
#[derive(Args, Debug)]
#[command(next_help_heading = TAGS, after_help = EXAMPLES)]
#[group(id = "where", required = true, multiple = false, args = ["slot", "node", "spread"])]
pub struct FindTagArgs {
    /// Tags of this slot
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(..SLOTS as i64))]
    pub slot: Option<u16>,
    /// Tags of this node, each in another slot
    ///
    /// A node is named by its hostname, address or id, or the start of one.
    #[arg(long, value_name = "NAME")]
    pub node: Option<String>,
    /// K tags, one per slot, evenly over nodes and slots
    ///
    /// Without nodes, over all slots.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=SLOTS as i64))]
    pub spread: Option<u16>,
    /// The text of the tag; {} is the word that is searched
    ///
    /// Without the braces of the key: 'fav:{}' gives `prod:news:favorites:{fav:k7}:meta`.
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "{}",
        allow_hyphen_values = true
    )]
    pub template: OsString,
    /// How many tags, with --slot and --node
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "spread")]
    pub count: usize,
    /// One JSON object a line: tag (without braces), slot, node (null where none is named)
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// The nodes
    #[command(flatten)]
    pub cluster: NodeSpec,
}

const EXAMPLES: &str = "\
Examples:
  slotscope find-tag --slot 719
  slotscope find-tag --spread 16 --topology cluster.nodes --template 'cart:{}'";

impl Run for FindTagArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let template = Template::parse(self.template.as_encoded_bytes())?;
        let topology = self.cluster.named()?;
        let mut out = io::BufWriter::new(io::stdout());
        let mut print = |tag: FoundTag| {
            let line = TagLine::of(tag, topology.as_ref());
            if self.json {
                json::write_object(&line, &mut out)
            } else {
                write(&line, topology.is_some(), &mut out)
            }
            .map_err(Error::stdout)
        };
        match (self.slot, &self.node, self.spread) {
            (Some(slot), _, _) => {
                in_slot(slot, &template)
                    .take(self.count)
                    .try_for_each(print)?;
            }
            (_, Some(name), _) => {
                let slots = slots_of_node(name, topology.as_ref())?;
                on_slots(&slots, &template)
                    .take(self.count)
                    .try_for_each(&mut print)?;
            }
            (_, _, count) => {
                let count = usize::from(count.unwrap_or(1));
                // Without nodes: tags spread evenly over all slots are even for any even split.
                let whole = Topology::even(1, String::from("all slots"))?;
                let tags = spread(count, topology.as_ref().unwrap_or(&whole), &template)?;
                tags.into_iter().try_for_each(print)?;
            }
        }
        out.flush().map_err(Error::stdout)?;
        Ok(Ending::Done)
    }
}

/// The slots of the node that the user means.
fn slots_of_node(name: &str, topology: Option<&Topology>) -> Result<Vec<u16>> {
    let bad = |reason: &str| Error::option("node", Name::from(name), reason);
    let topology = topology
        .ok_or_else(|| bad("the nodes are not known; name them with --topology or --nodes"))?;
    let node = &topology.nodes[topology.find(name).map_err(|reason| bad(&reason))?];
    match node.slots {
        0 => Err(bad("the node owns no slots, so no tag lands there")),
        _ => Ok(ranges::slots(&node.ranges).collect()),
    }
}
