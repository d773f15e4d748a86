//! Redaction of the names that the summary takes over from elsewhere: files, nodes, addresses and types.

use crate::redact::Redaction;
use crate::summary::{InputFacts, Summary};
use crate::tally::rejects::Rejects;
use crate::topology::Topology;
use crate::topology::cluster_info::NodeKeys;

/// What servers call the types and encodings of their values; any other name is that of a module, or of something else.
const WORDS: [&str; 24] = [
    "string",
    "list",
    "set",
    "zset",
    "sortedset",
    "hash",
    "hashmap",
    "stream",
    "module",
    "json",
    "none",
    "unknown",
    "int",
    "embstr",
    "raw",
    "listpack",
    "listpackex",
    "ziplist",
    "zipmap",
    "intset",
    "quicklist",
    "linkedlist",
    "hashtable",
    "skiplist",
];

/// Replaces the names of files, and leaves out what was taken from rows that are no keys, and the tags of objects, by which
/// one would be known again.
pub fn input(redaction: &Redaction, input: &mut InputFacts, rejects: &Rejects) {
    for (line, reject) in input.rejected.first.iter_mut().zip(&rejects.first) {
        line.reason.clone_from(&reject.reason);
    }
    input.files.iter_mut().for_each(|file| file.object = None);
    let files = input.files.iter_mut().map(|file| &mut file.name);
    let rejected = input.rejected.first.iter_mut().map(|line| &mut line.file);
    let incomplete = input.incomplete.iter_mut().map(|stop| &mut stop.file);
    files
        .chain(rejected)
        .chain(incomplete)
        .for_each(|name| *name = redaction.name(name));
    input.notes.push(redaction.note());
}

/// Gives what nodes say of themselves the names that those nodes have in `shown`, where they are in `topology`.
pub fn node_counts(redaction: &Redaction, topology: &Topology, counts: &mut [NodeKeys]) {
    for said in counts {
        let is_it = |node: &&crate::topology::Node| {
            said.is(
                node.id.as_bytes(),
                node.address.as_deref().map(str::as_bytes),
            )
        };
        let id = topology
            .nodes
            .iter()
            .find(is_it)
            .map_or(&said.id_start, |node| &node.id);
        said.id_start = redaction.text(id);
        said.address = redaction.text(&said.address);
    }
}

/// Replaces what is left.
pub fn summary(redaction: &Redaction, summary: &mut Summary) {
    let types = summary.types.iter_mut().flatten().map(|of| &mut of.kind);
    let encodings = summary.encodings.iter_mut().flatten();
    let encodings = encodings.flat_map(|of| of.encoding.iter_mut().chain([&mut of.kind]));
    let largest = summary.largest.iter_mut().flatten().map(|of| &mut of.kind);
    for word in types.chain(encodings).chain(largest) {
        if !WORDS.contains(&word.to_string().as_str()) {
            *word = redaction.name(word);
        }
    }
}
