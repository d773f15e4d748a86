//! How the keys of a Redis or Valkey Cluster spread over its hash slots and nodes, and why some nodes hold more.
//!
//! A cluster divides all keys among 16384 *hash slots*: the slot of a key is CRC16 of its bytes, modulo 16384. Where the
//! key has a *hash tag*, a part in braces as in `{cart}:42`, only the tag is hashed, so that keys with one tag are in one
//! slot and can be used in one command. Every primary node owns some of the slots. *Skew* is what goes wrong with that: a
//! tag with too many keys, or a node with too many slots, fills one node while the others are half empty, and the
//! cluster is full when its fullest node is. CRC16 itself spreads keys evenly; the skew comes from the names.
//!
//! slotscope reads key dumps without touching the servers (RDB files, `redis-cli --scan`, CSV, JSON lines, ...),
//! computes every slot and reports which node is too full, by how much, because of which tags, and how to fix it.
//!
//! ```
//! # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR")).unwrap();
//! let summary = slotscope::Analysis::new().nodes(6).run(&["samples/hot-tag.keys"])?;
//! println!("{}", summary.verdict.sentence);
//! let fullest = summary.nodes.list.iter().map(|node| node.load.keys).max();
//! # assert!(fullest > Some(summary.input.keys / 6));
//! # Ok::<(), slotscope::Error>(())
//! ```
//!
//! The slot of one key is [`slot()`]; [`Analysis`] has the options. A run is a pipeline of stages, one module each:
//!
//! ```text
//! source -> format -> slot -> tally -(merge)-> summary -> report
//! bytes     keys      u16     counts           findings   files
//! ```
//!
//! [`extend`] has the traits for custom sources, formats and tallies; `examples/` has programs.
//!
//! # Features
//!
//! - `charts` (default): the PNG charts of a report.
//! - `cli` (default): the program `slotscope`. Without it the library has no terminal dependencies.
//! - `history` (default): the commands `diff`, `capacity` and `timeline`.
//! - `live` (default): the commands `collect`, `exporter` and `top`.
//! - `names` (default): the commands `advise`, `fanout` and `lint`.
//! - `parts` (default): the commands `tally`, `merge` and `recount`.
//! - `cloud`: dumps in object stores and on web servers.
#![deny(missing_docs)]

#[cfg(feature = "cli")]
mod bench;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod find_tag;
#[doc(hidden)]
pub mod generate;
pub mod plan;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod whatif;

pub use slotscope_app::{options, partial};
#[doc(hidden)]
pub use slotscope_app::{pipeline, renaming, source};
pub use slotscope_base::metric;
#[doc(hidden)]
pub use slotscope_base::{
    batch, block, command, error, glob, lfu, name, redact, secret, sentence, simd, slot,
};
#[doc(hidden)]
pub use slotscope_count::{scan, tally};
#[doc(hidden)]
pub use slotscope_detect as detect;
#[doc(hidden)]
pub use slotscope_findings as findings;
pub use slotscope_model as summary;
#[doc(hidden)]
pub use slotscope_moves as moves;
pub use slotscope_moves::steps;
#[doc(hidden)]
pub use slotscope_planner as planner;
#[doc(hidden)]
pub use slotscope_read::format;
pub use slotscope_report as report;
#[doc(hidden)]
pub use slotscope_report::output;
pub use slotscope_topology as topology;

pub use error::{Error, Result};
pub use metric::Metric;
pub use pipeline::reading::Progress;
pub use slot::policy::Policy;
pub use slot::slot;
pub use slotscope_app::Analysis;
pub use summary::Summary;
pub use topology::Topology;

/// The building blocks of custom sources, formats and tallies.
pub mod extend {
    pub use crate::batch::Values;
    pub use crate::block::{Block, Piece};
    pub use crate::format::frame::batch_rows::{BatchBuilder, each_line};
    pub use crate::format::frame::line_reader::{Line, LineReader, Parsed, Row};
    pub use crate::format::frame::row_boundary::RowBoundary;
    pub use crate::format::{
        Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader, Sink,
    };
    pub use crate::scan::{Scan, Scanned};
    pub use crate::slot::SlotBatch;
    pub use crate::source::identity::ObjectIdentity;
    pub use crate::source::memory::Memory;
    pub use crate::source::storage_options::{StorageOption, StorageOptions};
    pub use crate::source::{Found, ReadAt, Source, SourceFacts, find, find_with};
    pub use crate::tally::Tally;
}
