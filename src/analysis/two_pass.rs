//! Exact counts of the heavy hash tags in bounded memory.
//!
//! The first pass counts every tag in a Count-Min sketch, which has room for any number of them but no names. The tags
//! whose cells are largest are the candidates; the second pass compares names and counts just these.

use std::sync::Arc;

use crate::error::{Error, Result};
use crate::name::Name;
use crate::scan::{Scan, Scanned};
use crate::source::Source;
use crate::tally::Tallies;
use crate::tally::recount::{Candidates, Recount};
use crate::tally::tags::TagCounts;

/// The result of both passes.
pub struct Counted {
    /// Everything that is counted in the first pass.
    pub first: Scanned<Tallies>,
    /// The second pass; `None` where the first already has exact counts by name, or bounds in one pass.
    pub recount: Option<Recount>,
}

/// Counts all keys of `sources` in tallies that start as `make` returns them, in two passes where that is needed.
///
/// # Errors
/// As `Scan::run`, and an input that could not be read again to its end.
pub fn count(
    scan: &Scan<'_>,
    sources: &[Box<dyn Source>],
    make: impl Fn() -> Tallies,
) -> Result<Counted> {
    let first = scan.run(sources, make)?;
    let recount = candidates(&first.tally)
        .map(|candidates| recount(scan, sources, candidates))
        .transpose()?;
    Ok(Counted { first, recount })
}

/// The tags that are worth a second pass; `None` where the first pass needs none.
pub fn candidates(tallies: &Tallies) -> Option<Arc<Candidates>> {
    let names = tallies.names.as_ref()?;
    let TagCounts::CountMin(sketch) = &names.tags.counts else {
        return None;
    };
    let candidates = Candidates::choose(sketch.clone(), &tallies.slots.loads);
    Some(Arc::new(candidates))
}

/// The second pass.
///
/// # Errors
/// As `Scan::run`, and an input that could not be read again to its end.
pub fn recount(
    scan: &Scan<'_>,
    sources: &[Box<dyn Source>],
    candidates: Arc<Candidates>,
) -> Result<Recount> {
    let scanned = scan.run(sources, || Recount::new(candidates.clone()))?;
    let Some(stop) = scanned.incomplete.first() else {
        return Ok(scanned.tally);
    };
    let file = Name::from(sources[stop.input].path());
    Err(Error::bad(
        format!("{file}: byte {}", stop.byte),
        format!(
            "{} when it was read again to count tags; --one-pass reads it once",
            stop.reason
        ),
    ))
}
