//! A timeline as sections: bursts, map, and nodes and tags over time.

use slotscope_base::text::{counted, percent, short, span, three_digits, time};
use slotscope_model::node_labels::SharedParts;
use slotscope_report::view::table::Rank;
use slotscope_report::view::time_map::{Marked, NamedSeries};
use slotscope_report::view::{Block, Cell, Column, Heat, Scope, Section, Table, TimeMap, remarks};

use crate::timeline::{Bucket, Burst, Timeline};

/// Marks in a row for a name over time.
const MARKS: usize = 32;
/// Node names up to this length are never truncated: a hostname, or any IPv4 address with its port.
const WHOLE_NAME: usize = 32;
/// Maximum bursts marked in maps.
const MARKED: usize = 200;

/// The sections of a timeline; tables have `top` rows.
pub(crate) fn sections(timeline: &Timeline, top: usize) -> Vec<Section<'_>> {
    let mut sections = vec![overview(timeline, top), map_section(timeline)];
    sections.extend(bursts(timeline, top));
    sections.extend(nodes(timeline));
    sections.extend(tags(timeline, top));
    let mut blocks = remarks::rejected("an operation", &timeline.rejected);
    blocks.extend(remarks::remarks(&[] as &[String], &timeline.notes));
    sections.push(remarks::section(blocks).scoped(Scope::Overview));
    sections
}

/// Everything that is followed as rows: a name and a bucket.
pub(crate) fn rows(timeline: &Timeline) -> Table<'_> {
    let total: Vec<u64> = timeline.buckets.iter().map(|bucket| bucket.ops).collect();
    let nodes = timeline.nodes.iter().flatten();
    let nodes = nodes.map(|node| ("node", Cell::name(&node.name), node.over_time.clone()));
    let tags = timeline.tags.iter().flatten();
    let tags = tags.map(|tag| ("tag", Cell::name(&tag.tag), tag.over_time.clone()));
    let followed = [("total", Cell::text(""), total)]
        .into_iter()
        .chain(nodes)
        .chain(tags);
    let rows = followed.flat_map(|(of, name, over_time)| {
        let buckets = timeline.buckets.iter().zip(over_time);
        let row = move |(bucket, amount): (&Bucket, u64)| (of, name.clone(), bucket.from, amount);
        buckets.map(row).collect::<Vec<_>>()
    });
    Table::of(rows)
        .column(Column::words("of"), |(of, ..)| Cell::text(*of))
        .column(Column::words("name"), |(_, name, ..)| name.clone())
        .column(Column::words("from"), |(_, _, from, _)| {
            Cell::text(time(*from))
        })
        .column(
            Column::number(match timeline.by {
                Heat::Ops => "ops",
                Heat::Cpu => "cpu",
                Heat::Network => "network",
            }),
            |(.., amount)| Cell::count(*amount),
        )
        .build()
}

/// The finding as a sentence.
pub(crate) fn sentence(timeline: &Timeline) -> String {
    let per_sec = timeline.ops as f64 / secs(timeline).max(1) as f64;
    let rate = match timeline.by {
        Heat::Ops => format!("{} a second", three_digits(per_sec)),
        heat => heat.rate(per_sec),
    };
    let total = format!(
        "{} in {}, {rate} on average",
        timeline.by.amount(timeline.ops),
        span(secs(timeline))
    );
    match (
        timeline.bursts.as_slice(),
        timeline.bursts.len() as u64 + timeline.more_bursts,
    ) {
        ([], _) => format!("{total}; no burst"),
        ([burst], _) => format!("{total}; one burst: {}", words(timeline, burst)),
        ([burst, ..], count) => format!(
            "{total}; {}, the largest: {}",
            counted(count, "burst"),
            words(timeline, burst)
        ),
    }
}

/// The title of a page.
pub(crate) fn title(timeline: &Timeline) -> String {
    let ends = (timeline.buckets.first(), timeline.buckets.last());
    let (from, to) = (
        ends.0.map_or(0, |first| first.from),
        ends.1.map_or(0, |last| last.to),
    );
    format!(
        "{} from {} to {}",
        timeline.by.title(),
        time(from),
        time(to)
    )
}

/// Limitations of the result, for a page whose heading is its sentence.
pub(crate) fn remarks_of(timeline: &Timeline) -> Vec<String> {
    let stops = timeline.incomplete.iter().map(remarks::stop);
    let rejected = remarks::rejected("an operation", &timeline.rejected).into_iter();
    let rejected = rejected.filter_map(|block| match block {
        Block::Paragraph(text) | Block::Line(text) => Some(text),
        _ => None,
    });
    let notes = timeline.notes.iter().cloned();
    stops.chain(rejected).chain(notes).collect()
}

fn secs(timeline: &Timeline) -> u64 {
    timeline.buckets.len() as u64 * timeline.bucket_secs
}

/// The subject of a burst, in a few words.
fn name_of(burst: &Burst) -> String {
    match (&burst.tag, &burst.key) {
        (Some(tag), _) => format!("hash tag {{{}}}", short(tag)),
        (_, Some(key)) => format!("key {}", short(key)),
        _ => format!("slot {}", burst.slot),
    }
}

fn words(timeline: &Timeline, burst: &Burst) -> String {
    let (heat, shared) = (timeline.by, shared_parts(timeline));
    let node = burst.node.as_ref().map(|node| short(&shared.label(node)));
    let place = match (burst.tag.is_some() || burst.key.is_some(), &node) {
        (true, Some(node)) => format!(" (slot {}, {node})", burst.slot),
        (true, None) => format!(" (slot {})", burst.slot),
        (false, Some(node)) => format!(" ({node})"),
        (false, None) => String::new(),
    };
    let whose = if node.is_some() { "its node's" } else { "all" };
    let noun = heat.noun();
    format!(
        "{}{place}: {} from {} for {}, {} of {whose} {noun} meanwhile, at least {} times the usual",
        name_of(burst),
        heat.rate(burst.rate),
        time(burst.from),
        span_of(burst),
        percent(burst.share),
        three_digits(burst.times_usual),
    )
}

/// Its duration, in seconds up to two minutes.
fn span_of(burst: &Burst) -> String {
    match burst.to - burst.from {
        secs @ ..120 => counted(secs, "second"),
        secs => span(secs),
    }
}

fn overview(timeline: &Timeline, top: usize) -> Section<'_> {
    let start = Section::untitled()
        .scoped(Scope::Overview)
        .paragraph(sentence(timeline))
        .with_all(remarks::incomplete(&timeline.incomplete));
    let shown = timeline.bursts.iter().take(top).skip(1);
    let others = timeline.bursts.len().saturating_sub(top.max(1)) as u64 + timeline.more_bursts;
    let section = shown.fold(start, |section, burst| section.line(words(timeline, burst)));
    match others {
        0 => section,
        others => section.line(format!("{}, in --json", counted(others, "more burst"))),
    }
}

fn map_section(timeline: &Timeline) -> Section<'_> {
    Section::titled(format!("{} by time and slot", timeline.by.title()))
        .anchored("time-map", "Map")
        .with(Block::TimeMap(time_map(timeline)))
}

fn time_map(timeline: &Timeline) -> TimeMap {
    let marked = |burst: &Burst| Marked {
        slot: burst.slot,
        times: (burst.from, burst.to),
        name: name_of(burst),
        words: words(timeline, burst),
    };
    let tags = timeline.tags.iter().flatten().map(|tag| NamedSeries {
        name: format!("{{{}}}", short(&tag.tag)),
        slot: tag.slot,
        ops: tag.over_time.clone(),
    });
    let (nodes, shared) = (timeline.nodes.iter().flatten(), shared_parts(timeline));
    let owners = nodes.flat_map(|node| {
        let name = short(&shared.label(&node.name));
        node.ranges
            .iter()
            .map(move |(first, last)| (*first, *last, name.clone()))
    });
    TimeMap {
        heat: timeline.by,
        from: timeline.buckets.first().map_or(0, |first| first.from),
        bucket_secs: timeline.bucket_secs,
        slots_per_row: timeline.slots.slots_per_row,
        rows: timeline.slots.ops.clone(),
        bursts: timeline.bursts.iter().take(MARKED).map(marked).collect(),
        names: tags.collect(),
        owners: owners.collect(),
    }
}

/// The shared parts of node names, which columns omit.
fn shared_parts(timeline: &Timeline) -> SharedParts {
    let nodes = timeline.nodes.iter().flatten();
    SharedParts::new(nodes.map(|node| &node.name))
}

fn number(title: &'static str) -> Column {
    Column::number("").titled(title)
}

/// The bursts of a page, whose heading is the sentence.
fn bursts(timeline: &Timeline, top: usize) -> Option<Section<'_>> {
    let section = Section::titled("Bursts").anchored("bursts", "Bursts");
    let shown = timeline.bursts.iter().take(top);
    let listed = shown.fold(section.scoped(Scope::Page), |section, burst| {
        section.line(words(timeline, burst))
    });
    (!timeline.bursts.is_empty()).then_some(listed)
}

fn nodes(timeline: &Timeline) -> Option<Section<'_>> {
    let nodes = timeline.nodes.as_ref()?;
    let shared = shared_parts(timeline);
    let rows = nodes.iter().map(|node| Followed {
        name: Cell::text(short(&shared.label(&node.name))),
        ops: amount(timeline.by, node.ops),
        share: node.ops as f64 / timeline.ops.max(1) as f64,
        over_time: &node.over_time,
    });
    let labels = nodes.iter().map(|node| shared.label(&node.name));
    let longest = labels.map(|label| short(&label).chars().count());
    let column = Column::words("node");
    // Addresses differ in their last characters: truncated, they would look alike.
    let name = match longest.max() {
        Some(..=WHOLE_NAME) => column.rank(Rank::Kept),
        _ => column.flexible(),
    };
    let table = followed(name, rows, timeline);
    Some(
        Section::titled("Nodes over time")
            .anchored("nodes", "Nodes")
            .table(table),
    )
}

fn tags(timeline: &Timeline, top: usize) -> Option<Section<'_>> {
    let tags = timeline.tags.as_ref().filter(|tags| !tags.is_empty())?;
    let rows = tags.iter().map(|tag| Followed {
        name: Cell::tag(&tag.tag),
        ops: Cell::count(tag.ops),
        share: tag.share,
        over_time: &tag.over_time,
    });
    let name = Column::words("hash tag").flexible();
    let table = followed(name, rows, timeline).at_most(top);
    Some(
        Section::titled("Hash tags over time")
            .anchored("tags", "Hash tags")
            .table(table),
    )
}

fn amount<'a>(heat: Heat, amount: u64) -> Cell<'a> {
    match heat {
        Heat::Ops => Cell::count(amount),
        heat => Cell::text(heat.cell(amount)),
    }
}

/// Something tracked over time.
struct Followed<'a> {
    name: Cell<'a>,
    ops: Cell<'a>,
    share: f64,
    over_time: &'a [u64],
}

/// The load, with the busiest bucket and the series as marks.
fn followed<'a>(
    name: Column,
    rows: impl Iterator<Item = Followed<'a>>,
    timeline: &Timeline,
) -> Table<'a> {
    let heat = timeline.by;
    let most = |row: &Followed<'_>| row.over_time.iter().copied().max().unwrap_or(0);
    let busiest = |row: &Followed<'_>| {
        let at = row.over_time.iter().position(|ops| *ops == most(row));
        at.and_then(|at| timeline.buckets.get(at))
    };
    Table::of(rows)
        .column(name, |row| row.name.clone())
        .column(number(heat.heading()).rank(Rank::Main), |row| {
            row.ops.clone()
        })
        .column(number("share"), |row| Cell::share(row.share))
        .column(number(heat.most_heading()), |row| {
            let rate = most(row) as f64 / timeline.bucket_secs as f64;
            Cell::text(heat.rate_cell(rate))
        })
        .column(Column::words("at").rank(Rank::Detail), |row| {
            Cell::of(busiest(row), |bucket| Cell::text(time(bucket.from)))
        })
        .column(Column::words("over time").rank(Rank::Detail), |row| {
            marks(row.over_time)
        })
        .build()
}

/// Operations over time; a dot means none.
fn marks<'a>(over_time: &[u64]) -> Cell<'a> {
    let size = over_time.len().div_ceil(MARKS).max(1);
    let sums: Vec<u64> = over_time.chunks(size).map(|ops| ops.iter().sum()).collect();
    let most = sums.iter().copied().max().unwrap_or(0);
    let some = sums.into_iter().map(|ops| Some(ops).filter(|ops| *ops > 0));
    Cell::series(some, most)
}
