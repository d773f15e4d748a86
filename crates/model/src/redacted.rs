//! Redacts names that a summary copies from elsewhere: files, nodes, addresses and types. Names of keys, tags and
//! patterns are redacted when they enter it, and sentences are built from the redacted names.

use slotscope_base::name::Name;
use slotscope_base::redact::{Redact, Redaction};
use slotscope_read::format::line::parse::without_words;
use slotscope_topology::Topology;
use slotscope_topology::cluster_info::NodeKeys;

use crate::keys::TypeLoad;
use crate::kinds::{EncodingLoad, LargeKey};
use crate::{FileFacts, Incomplete, InputFacts, Rejected, RejectedLine, Summary};

/// Server names of value types and encodings; any other name may be a module's.
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

/// Input facts. Their sentences were built without names.
impl Redact for InputFacts {
    fn redact(&mut self, redaction: &Redaction) {
        let InputFacts {
            // Its patterns are omitted from the start.
            filter: _,
            are_one_node_each: _,
            files,
            keys: _,
            bytes_read: _,
            weights: _,
            duplicate_share: _,
            duplicate_share_exact: _,
            rejected,
            error_lines: _,
            written: _,
            // Its patterns are omitted when redacting.
            policy: _,
            sizes: _,
            estimated_above: _,
            sample_percent: _,
            of_files: _,
            // Sentences without names.
            lacks: _,
            doubt: _,
            unreadable_values,
            incomplete,
            warnings: _,
            notes,
        } = self;
        files.redact(redaction);
        rejected.redact(redaction);
        for values in unreadable_values {
            values.first.redact(redaction);
        }
        incomplete.redact(redaction);
        notes.push(redaction.note());
    }
}

impl Redact for FileFacts {
    fn redact(&mut self, redaction: &Redaction) {
        let FileFacts {
            name,
            format: _,
            shape: _,
            line,
            line_by: _,
            first,
            bytes: _,
            left_out: _,
            keys: _,
            is_capture: _,
            in_cluster: _,
            written: _,
            captured,
            object,
        } = self;
        name.redact(redaction);
        if let Some(line) = line {
            *line = without_words(line);
        }
        if let Some(first) = first {
            first.key.redact(redaction);
        }
        if let Some((node, _)) = captured {
            node.redact(redaction);
        }
        // Its tag would reveal an object.
        *object = None;
    }
}

impl Redact for Rejected {
    fn redact(&mut self, redaction: &Redaction) {
        let Rejected { count: _, first } = self;
        first.redact(redaction);
    }
}

impl Redact for RejectedLine {
    fn redact(&mut self, redaction: &Redaction) {
        let RejectedLine {
            file,
            line: _,
            byte: _,
            reason: _,
        } = self;
        file.redact(redaction);
    }
}

impl Redact for Incomplete {
    fn redact(&mut self, redaction: &Redaction) {
        let Incomplete {
            file,
            byte: _,
            reason: _,
        } = self;
        file.redact(redaction);
    }
}

/// Replaces the names of nodes of `topology` in server readings by those in `shown`.
pub fn node_counts(redaction: &Redaction, topology: &Topology, counts: &mut [NodeKeys]) {
    for said in counts {
        let is_same = |node: &&slotscope_topology::Node| {
            said.is(
                node.id.as_bytes(),
                node.address.as_deref().map(str::as_bytes),
            )
        };
        let id = topology
            .nodes
            .iter()
            .find(is_same)
            .map_or(&said.id_start, |node| &node.id);
        said.id_start = redaction.text(id);
        said.address = redaction.text(&said.address);
    }
}

/// The remaining names; the rest was built from redacted names.
impl Redact for Summary {
    fn redact(&mut self, redaction: &Redaction) {
        let types = self
            .types
            .iter_mut()
            .flatten()
            .map(|load: &mut TypeLoad| &mut load.kind);
        let rows = self.encodings.iter_mut().flatten();
        let encodings = rows
            .flat_map(|load: &mut EncodingLoad| load.encoding.iter_mut().chain([&mut load.kind]));
        let keys = self.largest.iter_mut().flatten();
        let largest = keys.map(|key: &mut LargeKey| &mut key.kind);
        for word in types.chain(encodings).chain(largest) {
            redact_word(word, redaction);
        }
    }
}

fn redact_word(word: &mut Name, redaction: &Redaction) {
    if !WORDS.contains(&word.to_string().as_str()) {
        word.redact(redaction);
    }
}
