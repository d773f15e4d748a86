//! Memory of vector sets, as their module counts it: from the file's content; layers are estimated by their mean.

use crate::format::rdb::snapshot::memory::{Body, Footprint, MAX_LEN, OBJECT};
use crate::format::rdb::snapshot::module::Part;

/// Bytes of a set with its graph, of a node, and of a node's layer (4 per 3 nodes).
const SET: u64 = 112 + 1672;
const NODE: u64 = 312;
const LAYER: u64 = 24;

/// Bytes of a pointer, and of an entry in the dict of names.
const LINK: u64 = 8;
const NAME: u64 = 16;

/// Links per node and layer if the file does not say; the lowest layer has twice as many.
const LINKS: u64 = 16;

/// Flags for the file's content.
const PROJECTED: u64 = 1;
const ATTRIBUTED: u64 = 2;

/// How vectors are quantized.
const BYTES: u64 = 1;
const BITS: u64 = 2;

/// A vector set as read so far: dimensions, nodes, links and quantization, flags; then its nodes.
#[derive(Debug, Default)]
pub(in crate::format::rdb::snapshot) struct Vectors {
    /// The leading unsigned numbers.
    numbers: Vec<u64>,
    texts: u64,
    /// Bytes of the names and attributes of nodes.
    names: u64,
}

impl Vectors {
    /// The number of vectors, if stated.
    pub(in crate::format::rdb::snapshot) fn elements(&self) -> Option<u64> {
        self.numbers.get(1).copied()
    }

    fn number(&self, at: usize) -> u64 {
        self.numbers.get(at).copied().unwrap_or(0).min(MAX_LEN)
    }
}

impl Footprint {
    /// Processes the next part of a vector set.
    pub(in crate::format::rdb::snapshot) fn vector_part(&self, vectors: &mut Vectors, part: Part) {
        let len = match part {
            Part::Unsigned(number) if vectors.numbers.len() < 5 => {
                return vectors.numbers.push(number);
            }
            Part::Unsigned(_) => return,
            Part::Text(len) => len.min(MAX_LEN),
        };
        let is_projected = vectors.number(3) & PROJECTED != 0;
        let each = if vectors.number(3) & ATTRIBUTED != 0 {
            3
        } else {
            2
        };
        let at = vectors.texts;
        vectors.texts += 1;
        // The projection matrix comes first.
        let Some(at) = at.checked_sub(u64::from(is_projected)) else {
            return;
        };
        let is_attribute = (at % each, each) == (1, 3) && len > 0;
        if at % each == 0 || is_attribute {
            let name = OBJECT.saturating_add(self.string_of(len));
            vectors.names = vectors.names.saturating_add(name);
        }
    }

    /// Adds a complete vector set.
    pub(in crate::format::rdb::snapshot) fn vectors(&mut self, vectors: &Vectors) {
        self.body = Body::Module;
        let [dimensions, nodes, form, flags, input] =
            [0, 1, 2, 3, 4].map(|at| vectors.number(at) as f64);
        let (form, flags) = (form as u64, flags as u64);
        let vector = match form & 0xFF {
            BYTES => dimensions,
            BITS => (dimensions / 64.0).ceil() * 8.0,
            _ => 4.0 * dimensions,
        };
        let matrix = if flags & PROJECTED != 0 {
            4.0 * input * dimensions
        } else {
            0.0
        };
        let links = match form >> 8 & 0xFFFF {
            0 => LINKS,
            links => links,
        };
        let third = |bytes: f64| (bytes / 3.0).floor();
        self.parts += SET as f64 + matrix + vectors.names as f64;
        self.parts += nodes * ((NODE + 2 * LINK * links + NAME) as f64 + vector);
        self.parts += third(4.0 * LAYER as f64 * nodes) + third((LINK * links) as f64 * nodes);
    }
}
