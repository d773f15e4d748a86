//! Limitations of the comparison: reports of different kinds, excluded reports, and missing parts.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::{list, short};

use crate::capacity::names::Heavy;
use crate::capacity::outlook::Trend;
use crate::capacity::parts::{FASTER, LEAST_PART};
use crate::capacity::point::Condensed;
use crate::capacity::shards::Basis;
use crate::capacity::{Capacity, Options};
use crate::diff::doubt::Doubt;

/// Maximum files named in a note.
const NAMED: usize = 3;

/// Incomparable neighbours: the later file, and the difference.
pub(super) fn differences(reports: &[Condensed]) -> Vec<(Name, String)> {
    let pairs = reports.windows(2);
    pairs
        .flat_map(|pair| {
            let [old, new] = [&pair[0], &pair[1]];
            let differences = new.basis.differences((&old.point.file, &old.basis));
            let sentences = differences.into_iter().chain(clusters(old, new));
            sentences.map(|sentence| (new.point.file.clone(), sentence))
        })
        .collect()
}

/// Listings of the same cluster have a node in common.
fn clusters(old: &Condensed, new: &Condensed) -> Option<String> {
    let is_old = |id: &Name| old.nodes.binary_search(id).is_ok();
    let are_known = !old.nodes.is_empty() && !new.nodes.is_empty();
    let is_other = are_known && !new.nodes.iter().any(is_old);
    is_other.then(|| {
        let file = &old.point.file;
        format!(
            "none of its nodes is in {file}: it is of another cluster, or redacted with another key"
        )
    })
}

/// Doubtful reports, excluded from growth or used anyway.
pub(super) fn doubts(reports: &[Condensed]) -> Vec<String> {
    let files = |doubt: Doubt| {
        let doubtful = reports
            .iter()
            .filter(move |report| report.point.left_out == Some(doubt));
        doubtful
            .map(|report| &report.point.file)
            .collect::<Vec<_>>()
    };
    let note = |doubt| {
        let files = files(doubt);
        let flag = match doubt {
            Doubt::Empty => "",
            _ => "; --with-doubtful takes them in",
        };
        (!files.is_empty()).then(|| {
            let named = list(files.iter(), NAMED);
            format!("left out: {named}: {doubt}{flag}")
        })
    };
    Doubt::ALL.into_iter().filter_map(note).collect()
}

/// Limitations of the review.
pub(super) fn fits(used: &[&Condensed], review: &Capacity, options: &Options) -> Vec<String> {
    let mut notes = Vec::new();
    let span = match review.total.keys.series.as_ref() {
        Some(series) => series.span(),
        None => {
            let why = match used.len() {
                1 => {
                    "one report tells no growth, and has no picture over time; --grow 40% assumes growth"
                }
                _ => "the reports are of less than a day, so they tell no growth",
            };
            notes.push(String::from(why));
            0.0
        }
    };
    if review.total.keys.series.is_some() && used.len() == 2 {
        notes.push(String::from(
            "two reports give a rate and no interval: how far off it may be shows from three on",
        ));
    }
    if options
        .months
        .iter()
        .any(|ahead| span > 0.0 && f64::from(*ahead) > span + 0.5)
    {
        notes.push(String::from(
            "the outlook reaches further ahead than the reports reach back: growth may change until then",
        ));
    }
    let series = review.total.keys.series.as_ref();
    if used.len() > 2 && series.is_some_and(|series| !series.fit.tells_seasons) {
        notes.push(String::from(
            "too few reports for a season: that takes one each day for two weeks, or regular ones of two years",
        ));
    }
    notes.extend(review.tags.iter().filter_map(|tag| faster(review, tag)));
    notes.extend(memory_notes(review, options));
    notes
}

/// A tag that grows faster than the rest of its shard: a line through the sum of both bends up later.
fn faster(review: &Capacity, tag: &Heavy) -> Option<String> {
    let mut shards = review.shards.iter();
    let shard = shards.find(|shard| Some(&shard.id) == tag.node.as_ref())?;
    let outlook = shard.load.get(review.by)?;
    let (own, all) = (tag.load.trend.as_ref()?, outlook.trend.as_ref()?);
    let effect = if all.apart.contains(&tag.name) {
        "each has a line of its own, and that shard is the sum of both"
    } else {
        let part = tag.load.now as f64 / outlook.now.max(1) as f64;
        let speed = |trend: &Trend| trend.rate.a_month.map(|rate| rate.estimate);
        let is_faster = speed(own)? > FASTER * speed(all)?.max(0.0);
        (part >= LEAST_PART && is_faster).then_some(
            "not all reports list it, so what that shard and all of them hold far ahead is underestimated",
        )?
    };
    let tag = short(&tag.name);
    Some(format!(
        "{{{tag}}} grows faster than the rest of its shard: {effect}"
    ))
}

fn memory_notes(review: &Capacity, options: &Options) -> Vec<String> {
    let mut notes = Vec::new();
    let has = |basis| review.shards.iter().any(|shard| shard.basis == Some(basis));
    let is_known = review.shards.iter().any(|shard| shard.maxmemory.is_some());
    if has(Basis::MeasuredOnce) {
        notes.push(String::from(
            "used_memory was measured once since slots last moved: memory that is not keys is taken to stay as it is",
        ));
    }
    if has(Basis::Keys) {
        notes.push(String::from(
            "memory is that of the dump's keys, without the server's tables, buffers and fragmentation; \
             analyze --used-memory measures them",
        ));
    }
    match (is_known, review.shards.iter().any(|shard| shard.basis.is_some())) {
        (false, true) => notes.push(String::from(
            "no limit is known, so not when a shard is full; --maxmemory names one",
        )),
        (_, false) if options.maxmemory.is_some() => notes.push(String::from(
            "--maxmemory: the newest report has no bytes of keys, so it is not known when a shard is full",
        )),
        _ => {}
    }
    let fullest = review
        .counts
        .iter()
        .any(|count| count.fullest.iter().count() > 1);
    if fullest {
        notes.push(String::from(
            "how many shards: each metric has a placement of its own; one for all of them was not tried (plan makes one)",
        ));
    }
    notes
}

/// The first neighbours of which different parts of the keys have a size.
pub(super) fn other_sized(used: &[&Condensed], metric: Metric) -> Option<String> {
    let other_sized = |pair: &[&Condensed]| {
        let (old, new) = (&pair[0].point.file, &pair[1].point.file);
        let difference = pair[1].basis.other_sized((old, &pair[0].basis))?;
        Some(format!(
            "{new}: {difference}: their bytes are not the same amount"
        ))
    };
    let mut pairs = used.windows(2).filter(|_| metric == Metric::Bytes);
    pairs.find_map(other_sized)
}
