//! Hash tags by rank, heaviest first, on two logarithmic axes: shows whether a few tags or very many small ones make up
//! the load, and how close the largest are to filling a slot or a node.

use slotscope_base::metric::Metric;
use slotscope_base::text::{name, percent};
use slotscope_model::Summary;
use slotscope_model::tags::{Tag, Tags};

use crate::palette::{ALARM, EXPECTED, LIGHT_LOAD, LOAD, MUTED, Rgb};
use crate::plot::axis::Axis;
use crate::plot::loads::{Loads, counted};
use crate::plot::{Figure, Mark, Plot, Shape};
use crate::view::{Block, Scope, Section};

/// The number of tags in the title, unless one of them has nearly all of the load.
const HEAVIEST: usize = 10;
const DOMINANT: f64 = 0.8;
/// Minimum ratio of the ranks of two dots.
const APART: f64 = 1.04;
/// Maximum characters of a name.
const NAME: usize = 60;

/// The picture; `None` without tags.
pub(crate) fn figure(summary: &Summary) -> Option<Figure> {
    let sizes = summary.tag_sizes.as_ref()?;
    let tags = summary.tags.as_ref()?;
    let loads = Loads::of(summary);
    let ranks = all_ranks(summary, &loads);
    if tags.top.is_empty() && ranks.is_empty() {
        return None;
    }
    let last = (tags.top.len() as f64).max(tags.distinct as f64).max(2.0);
    let mut key = vec![(
        Shape::unit_dot().of(LOAD),
        String::from("a tag that is listed"),
    )];
    if !tags.exact {
        let line = Shape::Line(vec![(0.5, 0.0), (0.5, 1.0)]).of(LIGHT_LOAD);
        key.push((line, String::from("what it may hold")));
    }
    if !ranks.is_empty() {
        let words = match sizes.sampled {
            Some(_) => "all others, estimated from a sample",
            None => "all tags",
        };
        key.push((Shape::unit_line().of(LIGHT_LOAD), words.into()));
    }
    let dots = dots(tags, &loads);
    let ends = dots.iter().flat_map(|(_, least, most)| [*least, *most]);
    let values = ends
        .chain(ranks.iter().map(|(_, size)| *size))
        .chain([loads.nodes.mean]);
    // The ends of the axis are round in the unit of its labels.
    let y = Axis::around(values, if loads.by.is_size() { 8.0 } else { 10.0 });
    let x = Axis {
        to: last,
        ..Axis::around([1.0].into_iter(), 10.0)
    };
    let mut plot = Plot::new(x, y.in_numbers(loads.numbers()));
    plot.marks.push(Shape::Line(ranks).of(LIGHT_LOAD));
    for (words, load, (colour, dash)) in yardsticks(tags, &loads) {
        if load >= y.from {
            let line = Shape::Dashes(vec![(1.0, load), (last, load)], dash);
            let words = format!("{words} {}", loads.short(load));
            plot.marks.push(line.of(colour).saying(words.clone()));
            key.push((Shape::unit_dashes(dash).of(colour), words));
        }
    }
    plot.marks.extend(bounds(&dots));
    plot.marks.extend(dots.iter().map(|(rank, least, _)| {
        let tag = &tags.top[*rank as usize - 1];
        let words = format!("{{{}}}: {}", name(&tag.tag, NAME), loads.short(*least));
        Shape::Dot((*rank, *least)).of(LOAD).saying(words)
    }));
    Some(Figure {
        title: title(tags, &loads),
        along: String::from("rank of the tag, the heaviest first"),
        up: format!("{} of the tag", loads.noun()),
        key,
        plot,
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
    match tags.top.first() {
        None => format!("{about}{count}; one pass kept no names"),
        Some(first) if first.share >= DOMINANT * heaviest && tags.distinct > 1 => {
            let (name, share) = (name(&first.tag, NAME), percent(first.share));
            format!("{{{name}}}, one of {about}{count}, gets {share} of all {noun}")
        }
        Some(_) if tags.distinct <= HEAVIEST as u64 => format!("{count}: {share} of all {noun}"),
        Some(_) => format!("The {HEAVIEST} heaviest of {about}{count} hold {share} of all {noun}"),
    }
}

/// The listed tags with known rank, apart from each other: the rank, what the tag holds at least, and at most. Below the
/// bound, unlisted tags may precede them.
fn dots(tags: &Tags, loads: &Loads<'_>) -> Vec<(f64, f64, f64)> {
    let known = |tag: &&Tag| {
        tag.load
            .get(loads.by)
            .is_some_and(|load| *load >= tags.max_error)
    };
    let mut dots: Vec<(f64, f64, f64)> = Vec::new();
    for (at, tag) in tags.top.iter().take_while(known).enumerate() {
        let (rank, least) = (at as f64 + 1.0, loads.held(&tag.load) as f64);
        let is_apart = |(last, load, _): &(f64, f64, f64)| {
            rank >= APART * last || least * APART * APART <= *load
        };
        if dots.last().is_none_or(is_apart) {
            dots.push((rank, least, least + tag.error(loads.by) as f64));
        }
    }
    dots
}

/// Lines from the least to the most that tags may hold.
fn bounds(dots: &[(f64, f64, f64)]) -> impl Iterator<Item = Mark> {
    let bounded = dots.iter().filter(|(_, least, most)| most > least);
    bounded.map(|(rank, least, most)| {
        Shape::Line(vec![(*rank, *least), (*rank, *most)]).of(LIGHT_LOAD)
    })
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
        Some(_) => (tags.top.len() as f64, tags.max_error as f64),
        None => (0.0, f64::INFINITY),
    };
    let drawn = sizes.sampled.unwrap_or(sizes.keys.count);
    let each = tags.distinct as f64 / drawn.max(1) as f64;
    let mut rank = 0.0;
    let ends = |(size, count): &(u64, u64)| {
        let first = rank + each;
        rank += each * *count as f64;
        [first, rank].map(|rank: f64| (rank.max(1.0), *size as f64))
    };
    let sizes = sizes.keys.counts.iter().rev().flat_map(ends);
    sizes
        .filter(|(rank, size)| *rank > after && *size <= up_to)
        .collect()
}

/// Reference amounts for tags: a node, a slot, and the bound for unlisted tags; with colours and dashes, which grey print tells
/// apart.
fn yardsticks(tags: &Tags, loads: &Loads<'_>) -> Vec<(&'static str, f64, (Rgb, f64))> {
    let mut amounts = vec![
        ("fair share of a node", loads.nodes.mean, (ALARM, 20.0)),
        ("mean of a slot", loads.mean(), (EXPECTED, 9.0)),
    ];
    if tags.distinct > tags.top.len() as u64 {
        amounts.push((
            "an unlisted tag holds at most",
            tags.max_error as f64,
            (MUTED, 3.0),
        ));
    }
    amounts
}

/// The picture on the page.
pub(crate) fn section(summary: &Summary) -> Option<Section<'_>> {
    let figure = figure(summary)?;
    let section = Section::titled(figure.title.clone()).anchored("tag-sizes", "Tag sizes");
    let scoped = section.scoped(Scope::Page).narrow();
    Some(scoped.with(Block::Figure(figure)))
}
