//! nodes.png: each primary's load against its fair share, in memory and load, with big keys and hot tags highlighted.

use slotscope_canvas::font::{Style, fit, width};
use slotscope_canvas::{Anchor, Canvas};

use slotscope_base::metric::Metric;
use slotscope_base::text::{and_more, three_digits};
use slotscope_model::Summary;
use slotscope_model::measure::Measure;
use slotscope_model::state::Role;

use crate::charts::field;
use crate::charts::node_stacks::{RoleStacks, Stack};
use crate::charts::sheet::{BELOW_HEADING, MARGIN, note, size};
use crate::charts::{Sheet, node_name, source_line};
use crate::palette::{
    ALARM, BIG_KEY, EMPTY, EXPECTED, FRAME, GRID, HOT_TAG, INK, LIGHT_LOAD, MUTED, Rgb,
};
use crate::plot::Shape;
use crate::plot::axis::Axis;
use crate::plot::loads::{Loads, counted};

/// Maximum nodes shown individually.
const SHOWN: usize = 36;
/// Maximum width of names, and of those in the title.
const NAMES: f32 = 300.0;
const TITLE_NAMES: f32 = 340.0;
/// Height of panel headings, first row, and the space below the last row: axis, axis title, margin.
const HEAD: i32 = BELOW_HEADING + 54;
const TOP: i32 = HEAD + 38;
const BELOW: i32 = 84;
/// Pixels shared by all rows, and the limits for one row.
const ROWS: i32 = 568;
const ROW: (i32, i32) = (25, 76);
/// Distance between panels, and between bars and numbers.
const GAP: i32 = 36;
const BESIDE: i32 = 12;
/// Axes extend to at least this many fair shares.
const LEAST: f64 = 1.15;

/// The chart of `summary`; `None` if no node has a load.
pub(super) fn sheet(summary: &Summary) -> Option<Sheet<'_>> {
    let roles = RoleStacks::of(summary);
    let main = roles.iter().find(|role| role.loads.by == summary.by);
    let first = main.or(roles.first())?;
    let title = title(summary, first);
    let rows = rows(summary, first);
    let height = TOP + row_height(rows.len()) * rows.len() as i32 + BELOW;
    let draw = move |canvas: &Canvas<'_>| draw(canvas, summary, &roles, &rows);
    Some(Sheet::new(title, subtitle(summary), draw).with_height(height as u32))
}

/// The height of each of `rows` rows.
fn row_height(rows: usize) -> i32 {
    (ROWS / rows.max(1) as i32).clamp(ROW.0, ROW.1)
}

fn title(summary: &Summary, role: &RoleStacks<'_>) -> String {
    let times = |place: usize| {
        role.stacks[place]
            .as_ref()
            .map_or("", |stack| &stack.words[1])
    };
    let (most, least) = (times(role.fullest), times(role.emptiest));
    let noun = role.loads.noun();
    let nodes = summary.nodes.owning().count();
    let style = Style::bold(size::SMALL_TITLE, INK);
    let fitting = |name: &str| fit(name, TITLE_NAMES, style);
    if nodes == 1 {
        let total = role.loads.counted(role.loads.total() as u64);
        return format!("One node holds all: {total}");
    }
    if !role.is_uneven {
        let nodes = three_digits(nodes as f64);
        return format!(
            "Fullest of {nodes} nodes by {noun}: {most} its fair share, emptiest {least}"
        );
    }
    let heaviest = role.fullest().and_then(|stack| stack.heaviest.as_ref());
    let cause = heaviest.map_or(String::new(), |(cause, _)| format!(": {}", fitting(cause)));
    let name = fitting(&node_name(&summary.nodes.list[role.fullest]));
    let verb = Measure::from(role.loads.by).verb();
    format!("{name} {verb} {most} its share of {noun}{cause}")
}

fn subtitle(summary: &Summary) -> String {
    let (unowned, loads) = (&summary.nodes.unowned, Loads::of(summary));
    let aside = match loads.held(&unowned.load) {
        0 => String::new(),
        load => format!(
            "  ·  {} in {} of no node",
            loads.counted(load),
            counted(u64::from(unowned.slots), "slot")
        ),
    };
    format!("{}{aside}", source_line(summary))
}

/// A row of the chart.
enum NodeRow {
    /// The index of a node.
    Node(usize),
    /// The number of nodes omitted.
    More(usize),
}

/// The fullest in a role first; if there are too many nodes, the fullest and the emptiest.
fn rows(summary: &Summary, role: &RoleStacks<'_>) -> Vec<NodeRow> {
    let list = &summary.nodes.list;
    let mut places: Vec<usize> = (0..list.len()).filter(|at| list[*at].slots > 0).collect();
    let ratio = |at: &usize| role.stacks[*at].as_ref().map_or(-1.0, |stack| stack.ratio);
    places.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    if places.len() <= SHOWN {
        return places.into_iter().map(NodeRow::Node).collect();
    }
    let (full, rest) = places.split_at(SHOWN / 2);
    let (between, empty) = rest.split_at(rest.len() - SHOWN / 2);
    let nodes = |places: &[usize]| {
        places
            .iter()
            .copied()
            .map(NodeRow::Node)
            .collect::<Vec<_>>()
    };
    let mut rows = nodes(full);
    rows.push(NodeRow::More(between.len()));
    rows.extend(nodes(empty));
    rows
}

/// The position of a role's bars.
struct Panel {
    x: Axis,
    /// The right edge of its numbers.
    right: i32,
    /// The width of the ratios on its right.
    ratios: i32,
}

fn draw(canvas: &Canvas<'_>, summary: &Summary, roles: &[RoleStacks<'_>], rows: &[NodeRow]) {
    let height = row_height(rows.len());
    let style = Style::plain(size::BODY.min(height as f32 * 0.7), INK);
    let name = |row: &NodeRow| match row {
        NodeRow::Node(at) => fit(&node_name(&summary.nodes.list[*at]), NAMES, style),
        NodeRow::More(more) => and_more(*more),
    };
    let names: Vec<String> = rows.iter().map(name).collect();
    let widest = names
        .iter()
        .map(|name| width(name, style))
        .fold(0.0, f32::max);
    let left = MARGIN + widest.ceil() as i32 + BESIDE;
    let bottom = TOP + height * rows.len() as i32 + 8;
    let middle = |row: usize| TOP + height * row as i32 + height / 2;
    key(canvas, roles);
    let room = (canvas.width - MARGIN - left - GAP * (roles.len() as i32 - 1)) / roles.len() as i32;
    for (number, role) in roles.iter().enumerate() {
        let start = left + number as i32 * (room + GAP);
        let panel = panel(role, (start, start + room), style);
        head(canvas, summary, role, &panel);
        axis(canvas, role, &panel, bottom);
        for (at, row) in rows.iter().enumerate() {
            if let NodeRow::Node(place) = row {
                bar(
                    canvas,
                    &panel,
                    role.stacks[*place].as_ref(),
                    (middle(at), height),
                    style,
                );
            }
        }
        let fair = panel.x.at(1.0);
        canvas.dashes([fair - 1, TOP - 6, fair + 1, bottom], 6, EXPECTED);
    }
    for (at, (name, row)) in names.iter().zip(rows).enumerate() {
        let colour = if matches!(row, NodeRow::More(_)) {
            MUTED
        } else {
            INK
        };
        let style = Style { colour, ..style };
        canvas.text(name, (left - BESIDE, middle(at)), Anchor::End, style);
    }
}

fn key(canvas: &Canvas<'_>, roles: &[RoleStacks<'_>]) {
    let has = |part: fn(&Stack) -> f64| {
        let mut stacks = roles.iter().flat_map(|role| role.stacks.iter().flatten());
        stacks.any(|stack| part(stack) > 0.0)
    };
    let mut parts = Vec::new();
    if has(|stack| stack.keys) {
        parts.push((BIG_KEY, "heavy keys"));
    }
    if has(|stack| stack.tags) {
        parts.push((HOT_TAG, "heavy hash tags"));
    }
    let rest = if parts.is_empty() {
        "load: no key or hash tag is heavy"
    } else {
        "the rest"
    };
    parts.push((LIGHT_LOAD, rest));
    let areas = parts.into_iter();
    let areas = areas.map(|(colour, words)| (Shape::unit_bar().of(colour), words.into()));
    let fair = (
        Shape::unit_dashes(6.0).of(EXPECTED),
        String::from("fair share"),
    );
    field::key(canvas, &areas.chain([fair]).collect::<Vec<_>>());
}

fn panel(role: &RoleStacks<'_>, (start, right): (i32, i32), style: Style) -> Panel {
    let widest = |word: usize| {
        let words = role.stacks.iter().flatten().map(|stack| &stack.words[word]);
        let style = Style {
            bold: true,
            ..style
        };
        words
            .map(|word| width(word, style))
            .fold(0.0, f32::max)
            .ceil() as i32
    };
    let ratios = widest(1) + BESIDE;
    let numbers = widest(0) + ratios + BESIDE;
    let x = Axis::new((0.0, role.most().max(LEAST))).placed((start, right - numbers));
    Panel { x, right, ratios }
}

/// The heading of a panel: its subject, and the causes for the fullest node.
fn head(canvas: &Canvas<'_>, summary: &Summary, role: &RoleStacks<'_>, panel: &Panel) {
    let room = (panel.right - panel.x.start) as f32;
    let (bold, note) = (
        Style::bold(size::BODY, INK),
        Style::plain(size::NOTE, MUTED),
    );
    let noun = role.loads.noun();
    let name = match role.role {
        Some(Role::Memory) if role.loads.by == Metric::Keys => String::from(noun),
        Some(role) => format!("{} ({noun})", role.name()),
        None => String::from(noun),
    };
    canvas.text(
        &fit(&name, room, bold),
        (panel.x.start, HEAD),
        Anchor::Start,
        bold,
    );
    let node = node_name(&summary.nodes.list[role.fullest]);
    let heaviest = role
        .fullest()
        .and_then(|stack| Some((stack, stack.heaviest.as_ref()?)));
    let finding = match heaviest {
        Some((stack, (name, share))) => format!(": {name} is {share:.2} of {}", stack.words[1]),
        None => String::from(" is the fullest"),
    };
    // Shorten the node name first, then the key.
    let finding = fit(&finding, 0.8 * room, note);
    let node = fit(&node, room - width(&finding, note), note);
    let place = (panel.x.start, HEAD + 22);
    canvas.text(&format!("{node}{finding}"), place, Anchor::Start, note);
}

fn axis(canvas: &Canvas<'_>, role: &RoleStacks<'_>, panel: &Panel, bottom: i32) {
    let x = panel.x;
    for (value, label) in x.ticks(60) {
        let at = x.at(value);
        canvas.fill([at, TOP, at + 1, bottom], GRID);
        let label = if value == 0.0 {
            label
        } else {
            format!("{label}×")
        };
        note(canvas, &label, (at, bottom + 19), Anchor::Middle);
    }
    canvas.fill([x.start - 1, TOP - 4, x.start, bottom], FRAME);
    canvas.fill([x.start, bottom, x.end, bottom + 1], FRAME);
    let fair = role.fair.map(|fair| role.loads.short(fair));
    let unit = match fair {
        Some(fair) => format!("fair shares of {fair}{}", unit_of(role)),
        None => format!("fair shares of {}", role.loads.noun()),
    };
    note(canvas, &unit, (x.start, bottom + 46), Anchor::Start);
}

/// The word after a number, for a metric without a unit of its own.
fn unit_of(role: &RoleStacks<'_>) -> String {
    if role.loads.by.has_unit() {
        String::new()
    } else {
        format!(" {}", role.loads.noun())
    }
}

fn bar(
    canvas: &Canvas<'_>,
    panel: &Panel,
    stack: Option<&Stack>,
    (y, height): (i32, i32),
    style: Style,
) {
    let x = panel.x;
    let Some(stack) = stack else {
        let style = Style {
            colour: MUTED,
            ..style
        };
        canvas.text("not compared", (x.start + BESIDE, y), Anchor::Start, style);
        return;
    };
    let half = ((height as f32 * 0.36) as i32).max(2);
    let mut from = 0.0;
    let mut piece = |share: f64, colour: Rgb| {
        let (start, end) = (x.at(from), x.at(from + share));
        from += share;
        if share > 0.0 {
            let end = end.max(start + 1);
            canvas.fill([start, y - half, end, y + half], colour);
            // A thin line between pieces, if it fits.
            if start > x.start && end > start + 2 {
                canvas.fill([start, y - half, start + 1, y + half], EMPTY);
            }
        }
    };
    piece(stack.keys, BIG_KEY);
    piece(stack.tags, HOT_TAG);
    piece(stack.rest(), LIGHT_LOAD);
    let ratio = if stack.is_too_full {
        Style {
            bold: true,
            colour: ALARM,
            ..style
        }
    } else {
        style
    };
    let [load, times] = &stack.words;
    canvas.text(times, (panel.right, y), Anchor::End, ratio);
    canvas.text(load, (panel.right - panel.ratios, y), Anchor::End, style);
}
