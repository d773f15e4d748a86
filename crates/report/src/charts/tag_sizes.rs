//! tag-sizes.png: hash tags by rank, heaviest first, on a log-log scale: shows whether a few tags or very many small
//! ones make up the load, and how close the largest are to filling a slot or a node.

use slotscope_canvas::font::Style;
use slotscope_canvas::{Anchor, Canvas, spread};

use slotscope_engine::metric::Metric;
use slotscope_engine::text::percent;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::tags::{Tag, Tags};

use crate::charts::legend::{self, Swatch};
use crate::charts::loads::Loads;
use crate::charts::names;
use crate::charts::number::counted;
use crate::charts::sheet::{BELOW_HEADING, note, size};
use crate::charts::{Sheet, short_source_line};
use crate::palette::{ALARM, EXPECTED, LIGHT_LOAD, LOAD, MUTED, Rgb};
use crate::plot::axis::Axis;
use crate::plot::{Mark, Plot};

/// The number of tags in the title, unless one of them has nearly all of the load.
const HEAVIEST: usize = 10;
const DOMINANT: f64 = 0.8;
/// Space for numbers on the left, labels on the right, and the axis below.
const LEFT: i32 = 110;
const RIGHT: i32 = 250;
const BELOW: i32 = 90;
/// Minimum distance between dots in pixels.
const APART: f64 = 4.0;

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let subtitle = short_source_line(summary);
    let ranks = all_ranks(summary, &loads);
    let tags = summary.tags.as_ref();
    let Some(tags) = tags.filter(|tags| !tags.top.is_empty() || !ranks.is_empty()) else {
        return Sheet::empty("Hash tags by rank", subtitle, "no hash tags in this dump");
    };
    let sizes = summary.tag_sizes.as_ref();
    let words = match ranks.is_empty() {
        true => "",
        false if sizes.is_some_and(|sizes| sizes.sampled.is_some()) => {
            "all others, estimated from a sample"
        }
        false => "all tags",
    };
    Sheet::new(title(tags, &loads), subtitle, move |canvas| {
        draw(canvas, tags, (&ranks, words), &loads)
    })
}

fn title(tags: &Tags, loads: &Loads<'_>) -> String {
    let about = if tags.distinct_error > 0.0 {
        "about "
    } else {
        ""
    };
    let count = counted(tags.distinct, "tag");
    let shares = tags.top.iter().take(HEAVIEST).map(|tag| tag.share);
    let heaviest = shares.sum::<f64>().min(1.0);
    let share = percent(heaviest);
    let noun = loads.noun();
    match tags.top.len() {
        0 => format!("{about}{count}; one pass kept no names"),
        few if few as u64 == tags.distinct && few <= HEAVIEST => {
            format!("{count}: {share} of all {noun}")
        }
        _ if tags.top[0].share >= DOMINANT * heaviest => {
            let (name, share) = (names::spelled(&tags.top[0].tag), percent(tags.top[0].share));
            format!("{{{name}}}, one of {about}{count}, gets {share} of all {noun}")
        }
        _ => format!("The {HEAVIEST} heaviest of {about}{count} hold {share} of all {noun}"),
    }
}

/// Rank and keys for every distinct size, largest first; sampled tags stand for as many ranks as they represent. Only
/// key counts are known for all tags.
fn all_ranks(summary: &Summary, loads: &Loads<'_>) -> Vec<(f64, f64)> {
    let (Some(tags), Some(sizes), Metric::Keys) = (&summary.tags, &summary.tag_sizes, loads.by)
    else {
        return Vec::new();
    };
    // A sample lacks the few largest tags, or has one that would stand for many.
    let (after, up_to) = match sizes.sampled {
        Some(_) => (ranked(tags, loads).count() as f64, tags.max_error as f64),
        None => (0.0, f64::INFINITY),
    };
    let drawn = sizes.sampled.unwrap_or(sizes.keys.count);
    let each = tags.distinct as f64 / drawn.max(1) as f64;
    let mut rank = 0.0;
    let ends = |(size, count): &(u64, u64)| {
        let first = rank + each;
        rank += each * *count as f64;
        [
            (first.max(1.0), *size as f64),
            (rank.max(1.0), *size as f64),
        ]
    };
    sizes
        .keys
        .counts
        .iter()
        .rev()
        .flat_map(ends)
        .filter(|(rank, size)| *rank > after && *size <= up_to)
        .collect()
}

/// The listed tags with known rank: below the bound, unlisted tags may precede them.
fn ranked<'t>(tags: &'t Tags, loads: &Loads<'_>) -> impl Iterator<Item = &'t Tag> {
    let (metric, least) = (loads.by, tags.max_error);
    tags.top
        .iter()
        .take_while(move |tag| tag.load.get(metric).is_some_and(|load| *load >= least))
}

fn draw(
    canvas: &Canvas<'_>,
    tags: &Tags,
    (ranks, words): (&[(f64, f64)], &str),
    loads: &Loads<'_>,
) {
    let least = |tag: &Tag| loads.held(&tag.load) as f64;
    let most = |tag: &Tag| least(tag) + tag.error(loads.by) as f64;
    let last = (tags.top.len() as f64).max(tags.distinct as f64);
    let x = Axis::between(1.0, last, (LEFT, canvas.width - RIGHT));
    let ends = tags.top.iter().flat_map(|tag| [least(tag), most(tag)]);
    let values = ends
        .chain(ranks.iter().map(|(_, size)| *size))
        .chain([loads.nodes.mean]);
    let y = Axis::around(
        values,
        step(loads),
        (canvas.height - BELOW, BELOW_HEADING + 78),
    );
    let everything = Mark::Line(ranks.to_vec(), 3.0, LIGHT_LOAD);
    let plot = Plot::new(x, y.in_numbers(loads.numbers())).with([everything]);
    let up = format!("{} of the tag", loads.noun());
    plot.draw(canvas, "rank of the tag, the heaviest first", &up);

    let mut drawn = (f64::MIN, f64::MIN);
    for (i, tag) in ranked(tags, loads).enumerate() {
        let rank = i as f64 + 1.0;
        let (across, low) = plot.place((rank, least(tag)));
        let (middle, high) = (across as i32, y.exact(most(tag)) as i32);
        canvas.fill([middle - 1, high, middle + 1, low as i32], LIGHT_LOAD);
        if (across - drawn.0).hypot(low - drawn.1) >= APART {
            drawn = (across, low);
            canvas.curve(&[drawn], 7.0, LOAD);
        }
    }
    yardsticks(canvas, tags, loads, &plot);
    legend(canvas, tags, words);
}

/// The vertical axis starts and ends at powers of this factor, which is round in the unit of its labels.
fn step(loads: &Loads<'_>) -> f64 {
    if loads.by.is_size() { 8.0 } else { 10.0 }
}

/// Reference amounts for tags: a slot, a node, and the bound for unlisted tags.
fn yardsticks(canvas: &Canvas<'_>, tags: &Tags, loads: &Loads<'_>, Plot { x, y, .. }: &Plot) {
    let listed = x.at(ranked(tags, loads).count() as f64 + 1.0);
    let is_listed_whole = tags.top.len() as u64 >= tags.distinct;
    let unlisted = (
        "an unlisted tag, at most",
        tags.max_error as f64,
        listed,
        MUTED,
    );
    let known: [(&str, f64, i32, Rgb); 2] = [
        ("fair share of a node", loads.nodes.mean, x.start, ALARM),
        ("mean of a slot", loads.mean(), x.start, EXPECTED),
    ];
    let shown = known
        .into_iter()
        .chain((!is_listed_whole).then_some(unlisted));
    let mut lines: Vec<_> = shown.filter(|(_, load, ..)| *load >= y.from).collect();
    lines.sort_by(|a, b| b.1.total_cmp(&a.1));
    let wanted: Vec<_> = lines
        .iter()
        .map(|(_, load, ..)| y.exact(*load) as i32)
        .collect();
    let labels = spread(&wanted, 44, (y.end, y.start - 24));
    let right = x.end;
    for ((words, load, from, colour), label) in lines.into_iter().zip(labels) {
        let at = y.exact(load) as i32;
        canvas.dashes([from.min(right), at, right, at + 2], 6, colour);
        note(canvas, words, (right + 12, label), Anchor::Start);
        let bold = Style::bold(size::NOTE, colour);
        let place = (right + 12, label + 20);
        canvas.text(&loads.short(load), place, Anchor::Start, bold);
    }
}

fn legend(canvas: &Canvas<'_>, tags: &Tags, words: &str) {
    let listed = if tags.exact {
        "a tag that is listed"
    } else {
        "a tag that is listed, the bar above it: what it may hold"
    };
    let mut entries = vec![(Swatch::Dot(LOAD), listed)];
    if !words.is_empty() {
        entries.push((Swatch::Line(LIGHT_LOAD, 3.0), words));
    }
    legend::draw(canvas, &entries);
}
