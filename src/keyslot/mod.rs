//! The hash slot of each key, in input order.

pub(crate) mod view;

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;
use slotscope_engine::slot::policy::Policy;
use slotscope_engine::slot::{SlotBatch, slot_of_part};
use slotscope_engine::tally::Tally;
use slotscope_topology::Topology;

/// The slot of a key; the fields are those of a line of the JSON.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
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
    pub(crate) fn of(key: &[u8], policy: &Policy, topology: Option<&Topology>) -> Result<KeySlot> {
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

/// Prints one key; called sequentially.
pub(crate) type Print<'a> = dyn FnMut(&KeySlot) -> io::Result<()> + Send + 'a;

/// Passes the keys of a single-worker scan to a printer; the first error stops the scan.
pub(crate) struct Printing<'a> {
    topology: Option<&'a Topology>,
    printer: Mutex<(Box<Print<'a>>, io::Result<()>)>,
    failed: Arc<AtomicBool>,
}

impl<'a> Printing<'a> {
    pub(crate) fn new(
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
    pub(crate) fn failed(&self) -> Arc<AtomicBool> {
        self.failed.clone()
    }

    /// The tally for the scan.
    pub(crate) fn tally(&self) -> PrintedKeys<'a, '_> {
        PrintedKeys(self)
    }

    /// The result of printing.
    ///
    /// # Errors
    /// The first error of the printer.
    pub(crate) fn finish(self) -> io::Result<()> {
        self.printer
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .1
    }
}

/// A tally that prints keys instead of counting them.
pub(crate) struct PrintedKeys<'a, 'p>(&'p Printing<'a>);

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
