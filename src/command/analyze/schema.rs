//! A report that has all its parts: what paths there are in report.json, read off a real one.

use serde_json::Value;

use crate::error::Result;
use crate::format::csv;
use crate::metric::Metric;
use crate::name::Name;
use crate::scan::{Only, Scan};
use crate::slot::kernel;
use crate::source::Input;
use crate::summary::capacity::{Capacity, Room};
use crate::summary::nodes::Move;
use crate::summary::{self, FileFacts, Incomplete, InputFacts, Rejected, RejectedLine};
use crate::tally::{Parts, Tallies};
use crate::topology::Topology;

/// A dump that tells all there is to tell.
const DUMP: &[u8] =
    b"key,size,ops,type,db,ttl\nuser:{tag}:1,900,9,hash,0,60\n{tag}:2,10,1,set,0,\nuser:3,20,2,string,1,\n";

/// Such a report.
///
/// # Errors
/// None in practice: what it reads is in the program.
pub fn whole_report() -> Result<Value> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(|error| crate::error::Error::bad("--fail-on", error.to_string()))?;
    let format = Some(&csv::USUAL as _);
    let (kernel, chunk) = (kernel::best(), 1 << 20);
    let scan = Scan {
        pool: &pool,
        kernel,
        format,
        only: &Only::ALL,
        policy: &crate::slot::policy::Policy::Oss,
        chunk,
        proceed: &|_| true,
    };
    let scanned = scan.run(&[Input::memory("all", DUMP)], || Tallies::new(Parts::All).with_patterns())?;
    let topology = Topology::even(3, String::from("even 3"))?;
    let file = Name::from("all");
    let rejected = RejectedLine { file: file.clone(), line: Some(1), byte: 0, reason: String::new() };
    let input = InputFacts {
        files: vec![FileFacts { name: file.clone(), ..FileFacts::default() }],
        rejected: Rejected { count: 1, first: vec![rejected] },
        incomplete: vec![Incomplete { file: file.clone(), byte: 0, reason: String::new() }],
        ..InputFacts::default()
    };
    let mut report = summary::summarise(&scanned.tally, None, &topology, Metric::Bytes, input);
    report.nodes.in_flight.push(Move { slot: 0, from: file.clone(), to: file });
    let room = Room { maxmemory: 1 << 20, growth: Some(0.1), used: Vec::new() };
    report.capacity = Capacity::of(&report.nodes, report.units.per.bytes.as_ref(), &room);
    Ok(serde_json::to_value(report).unwrap_or_default())
}
