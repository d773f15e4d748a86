//! A metric by prefix and pattern of key names, each nested in the prefix it continues: the flame graphs of the page
//! and the SVG files.

use std::collections::BTreeMap;

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_engine::text::{amount, grouped, percent};
use slotscope_findings::summary::patterns::{Pattern, Prefix};
use slotscope_findings::summary::{Summary, balance};

/// A smaller share would be less than two pixels wide on a usual screen.
const LEAST_SHARE: f64 = 0.002;
/// Maximum boxes (the widest) and rows of a graph: names can have any number of segments.
const BOXES: usize = 250;
const ROWS: usize = 32;
/// Characters of a name in a frame's text, and in its title.
const LABEL: usize = 60;
const TITLE: usize = 120;

/// One flame graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Flame {
    /// The metric of the widths.
    pub metric: Metric,
    /// The total width.
    pub total: u64,
    /// All keys first, then every prefix before its children.
    pub frames: Vec<Frame>,
    /// The number of prefixes and patterns too narrow to draw.
    pub narrow: usize,
}

/// A box.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Its row; 0 at the top.
    pub depth: usize,
    /// Its left edge and its width, as fractions of the total.
    pub from: f64,
    /// See `from`.
    pub share: f64,
    /// Its label: the part of its name that its parent lacks.
    pub label: String,
    /// Its name with exact numbers.
    pub title: String,
    /// Whether it is a pattern rather than a prefix.
    pub is_pattern: bool,
}

impl Flame {
    /// The graph by size, or by keys if the input has neither sizes nor operations.
    pub(crate) fn of_size(summary: &Summary) -> Option<Flame> {
        let loads = &summary.slots.loads;
        let has_operations = Flame::of_operations(summary).is_some();
        let by_keys = Flame::new(summary, Metric::Keys).filter(|_| !has_operations);
        let has_sizes = loads.get(Metric::Bytes).is_some();
        let by_size = has_sizes
            .then(|| Flame::new(summary, Metric::Bytes))
            .flatten();
        by_size.or(by_keys)
    }

    /// The graph by operations, or by accesses estimated from LFU counters.
    pub(crate) fn of_operations(summary: &Summary) -> Option<Flame> {
        let metrics = [Metric::Ops, Metric::Accesses];
        metrics
            .into_iter()
            .find_map(|metric| Flame::new(summary, metric))
    }

    /// `None` if the input lacks the metric, or no prefix or pattern is listed.
    fn new(summary: &Summary, metric: Metric) -> Option<Flame> {
        let total = balance::sum(summary.slots.loads.get(metric)?);
        let total = u64::try_from(total).unwrap_or(u64::MAX);
        let prefixes = summary
            .prefixes
            .as_ref()
            .map(|groups| groups.top.as_slice());
        let patterns = summary
            .patterns
            .as_ref()
            .map(|groups| groups.top.as_slice());
        let groups = groups(prefixes.unwrap_or_default(), patterns.unwrap_or_default());
        Flame::of_groups(&groups, metric, total)
    }

    fn of_groups(groups: &[Group<'_>], metric: Metric, total: u64) -> Option<Flame> {
        if total == 0 || groups.is_empty() {
            return None;
        }
        let mut children = children(groups);
        for of in children.values_mut() {
            let load = |at: &usize| groups[*at].load(metric);
            of.sort_by(|a, b| {
                load(b)
                    .cmp(&load(a))
                    .then(groups[*a].name.cmp(groups[*b].name))
            });
        }
        let mut flame = Flame {
            metric,
            total,
            frames: vec![Frame {
                depth: 0,
                from: 0.0,
                share: 1.0,
                label: format!("all: {}", amount(metric, total)),
                title: format!("all keys: {}", exact(metric, total)),
                is_pattern: false,
            }],
            narrow: 0,
        };
        flame.add(groups, &children, None, (0, total));
        flame.keep_widest();
        Some(flame)
    }

    /// Adds the groups nested in one, heaviest first, recursively.
    fn add(
        &mut self,
        groups: &[Group<'_>],
        children: &BTreeMap<Option<usize>, Vec<usize>>,
        parent: Option<usize>,
        (mut from, end): (u64, u64),
    ) {
        for at in children.get(&parent).into_iter().flatten() {
            let group = &groups[*at];
            let load = group.load(self.metric);
            // Bounded counts can exceed those of their prefix.
            let shown = load.min(end - from);
            let share = shown as f64 / self.total as f64;
            let depth = group.depth + 1;
            if share < LEAST_SHARE || depth >= ROWS {
                self.narrow += 1;
                continue;
            }
            self.frames.push(Frame {
                depth,
                from: from as f64 / self.total as f64,
                share,
                label: group.rest.short(LABEL),
                title: group.title(self.metric, self.total),
                is_pattern: group.is_pattern,
            });
            self.add(groups, children, Some(*at), (from, from + shown));
            from += shown;
        }
    }

    /// Drops the narrowest of too many boxes. A box is never wider than its parent, which precedes it.
    fn keep_widest(&mut self) {
        if self.frames.len() > BOXES {
            let mut order: Vec<usize> = (0..self.frames.len()).collect();
            order.sort_by(|a, b| self.frames[*b].share.total_cmp(&self.frames[*a].share));
            order.truncate(BOXES);
            order.sort_unstable();
            self.narrow += self.frames.len() - BOXES;
            self.frames = order.iter().map(|at| self.frames[*at].clone()).collect();
        }
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        let deepest = self.frames.iter().map(|frame| frame.depth).max();
        deepest.unwrap_or(0) + 1
    }

    /// The subject of the graph.
    pub fn heading(&self) -> String {
        let (first, rest) = self.metric.units().split_at(1);
        format!("{}{rest} by prefix and pattern", first.to_uppercase())
    }
}

/// A listed prefix or pattern.
struct Group<'s> {
    name: &'s Name,
    load: &'s PerMetric<u64>,
    /// The level of a prefix.
    level: Option<usize>,
    is_pattern: bool,
    /// The number of listed prefixes it continues.
    depth: usize,
    parent: Option<usize>,
    /// The part of its name that its parent lacks.
    rest: Name,
}

impl Group<'_> {
    fn load(&self, metric: Metric) -> u64 {
        self.load.get(metric).copied().unwrap_or(0)
    }

    fn title(&self, metric: Metric, total: u64) -> String {
        let load = self.load(metric);
        let kind = if self.is_pattern { "pattern" } else { "prefix" };
        let share = percent(load as f64 / total as f64);
        format!(
            "{kind} {}: {}, {share} of all",
            self.name.short(TITLE),
            exact(metric, load)
        )
    }
}

/// `1,048,576 bytes`, `12 keys`.
fn exact(metric: Metric, load: u64) -> String {
    if metric.is_size() {
        format!("{} bytes", grouped(load))
    } else {
        amount(metric, load)
    }
}

/// All prefixes and patterns by name, each with its parent, which precedes it.
fn groups<'s>(prefixes: &'s [Prefix], patterns: &'s [Pattern]) -> Vec<Group<'s>> {
    let prefixes = prefixes
        .iter()
        .map(|row| (&row.prefix, &row.kind.load, Some(row.level)));
    let patterns = patterns
        .iter()
        .map(|row| (&row.pattern, &row.kind.load, None));
    let group = |(name, load, level): (&'s Name, _, Option<usize>)| Group {
        name,
        load,
        level,
        is_pattern: level.is_none(),
        depth: 0,
        parent: None,
        rest: name.clone(),
    };
    let mut groups: Vec<Group<'_>> = prefixes.chain(patterns).map(group).collect();
    groups.sort_by(|a, b| a.name.cmp(b.name).then(b.level.cmp(&a.level)));
    let separator = separator(&groups);
    // In name order, extensions directly follow a name.
    let mut open: Vec<usize> = Vec::new();
    for at in 0..groups.len() {
        let name = &groups[at].name.0;
        open.retain(|above| name.starts_with(&groups[*above].name.0));
        let parent = open.iter().rev().copied().find(|above| {
            let above = &groups[*above];
            let next = name.get(above.name.0.len());
            match groups[at].level {
                Some(level) => above.level == Some(level.wrapping_sub(1)),
                None => next.is_none_or(|next| *next == separator),
            }
        });
        if let Some(above) = parent {
            let rest = &name[groups[above].name.0.len()..];
            let rest = rest.strip_prefix(&[separator]).unwrap_or(rest);
            if !rest.is_empty() {
                groups[at].rest = Name::from(rest);
            }
            groups[at].depth = groups[above].depth + 1;
            groups[at].parent = Some(above);
        }
        if !groups[at].is_pattern {
            open.push(at);
        }
    }
    groups
}

/// The byte that most often follows a prefix continued by another one: the first byte of the separator.
fn separator(groups: &[Group<'_>]) -> u8 {
    let mut votes: BTreeMap<u8, usize> = BTreeMap::new();
    let mut above: Vec<&Group<'_>> = Vec::new();
    for group in groups.iter().filter(|group| !group.is_pattern) {
        above.retain(|above| group.name.0.starts_with(&above.name.0));
        let next = above
            .last()
            .and_then(|above| group.name.0.get(above.name.0.len()));
        if let Some(next) = next {
            *votes.entry(*next).or_default() += 1;
        }
        above.push(group);
    }
    let most = votes.into_iter().max_by_key(|(_, votes)| *votes);
    most.map_or(b':', |(byte, _)| byte)
}

fn children(groups: &[Group<'_>]) -> BTreeMap<Option<usize>, Vec<usize>> {
    let mut children: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (at, group) in groups.iter().enumerate() {
        children.entry(group.parent).or_default().push(at);
    }
    children
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_findings::summary::patterns::GroupLoad;

    fn kind(keys: u64) -> GroupLoad {
        let load = PerMetric::of_keys(keys);
        GroupLoad {
            load,
            ..GroupLoad::default()
        }
    }

    fn prefix(name: &str, keys: u64) -> Prefix {
        let level = name.split(':').count();
        Prefix {
            prefix: Name::from(name),
            level,
            kind: kind(keys),
        }
    }

    fn pattern(name: &str, keys: u64) -> Pattern {
        Pattern {
            pattern: Name::from(name),
            kind: kind(keys),
        }
    }

    fn flame(prefixes: &[(&str, u64)], patterns: &[(&str, u64)]) -> Flame {
        let prefixes: Vec<_> = prefixes
            .iter()
            .map(|(name, keys)| prefix(name, *keys))
            .collect();
        let patterns: Vec<_> = patterns
            .iter()
            .map(|(name, keys)| pattern(name, *keys))
            .collect();
        Flame::of_groups(&groups(&prefixes, &patterns), Metric::Keys, 1000).unwrap()
    }

    fn drawn(flame: &Flame) -> Vec<(usize, u64, u64, &str)> {
        let pixel = |share: f64| (1000.0 * share).round() as u64;
        let frame = |of: &'_ Frame| (of.depth, pixel(of.from), pixel(of.share));
        let frames = flame.frames.iter().skip(1);
        frames
            .map(|of| (frame(of).0, frame(of).1, frame(of).2, of.label.as_str()))
            .collect()
    }

    #[test]
    fn boxes_are_inside_of_what_they_continue_and_the_heaviest_comes_first() {
        let prefixes = [("a", 500), ("a:b", 200), ("b", 300), ("a-x", 100)];
        let patterns = [
            ("a:<n>", 250),
            ("a:b:<n>", 200),
            ("a-x:<n>", 90),
            ("b", 300),
            ("c", 1),
        ];
        let expected = [
            (1, 0, 500, "a"),
            (2, 0, 250, "<n>"),
            (2, 250, 200, "b"),
            (3, 250, 200, "<n>"),
            (1, 500, 300, "b"),
            (2, 500, 300, "b"),
            (1, 800, 100, "a-x"),
            (2, 800, 90, "<n>"),
        ];
        let flame = flame(&prefixes, &patterns);
        assert_eq!(drawn(&flame), expected);
        assert_eq!((flame.rows(), flame.narrow), (4, 1));
        assert_eq!(
            flame.frames[2].title,
            "pattern a:<n>: 250 keys, 25.0% of all"
        );
    }

    #[test]
    fn counts_with_bounds_stay_inside_of_their_prefix() {
        let whole = flame(&[("a", 100)], &[("a:x", 90), ("a:y", 90), ("b", 2000)]);
        let expected = [(1, 0, 1000, "b")];
        assert_eq!(drawn(&whole), expected);
        let bounded = flame(&[("a", 100)], &[("a:x", 90), ("a:y", 90)]);
        assert_eq!(
            drawn(&bounded),
            [(1, 0, 100, "a"), (2, 0, 90, "x"), (2, 90, 10, "y")]
        );
    }

    #[test]
    fn boxes_and_rows_are_few_whatever_the_names() {
        let names: Vec<String> = (1..=60).map(|depth| vec!["x"; depth].join(":")).collect();
        let deep: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 1000)).collect();
        assert_eq!(flame(&deep, &[]).rows(), ROWS);
        let names: Vec<String> = (0..400).map(|number| format!("n{number:03}")).collect();
        let wide: Vec<(&str, u64)> = names.iter().map(|name| (name.as_str(), 2)).collect();
        let wide = flame(&wide, &[]);
        assert_eq!((wide.frames.len(), wide.narrow), (BOXES, 400 + 1 - BOXES));
    }
}
