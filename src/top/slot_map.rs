//! All hash slots as a map of half blocks: two cells per character, brighter with load above the median.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};

use slotscope_engine::slot::SLOTS;
use slotscope_report::palette::ramp;
use slotscope_report::render::text::slot_map::{level, median};

use crate::top::rows::Cluster;

/// The colour of a cell without load.
const EMPTY: Color = Color::Indexed(236);
/// The cell with the cursor.
const MARKED: Color = Color::Indexed(51);
/// Positions in the colour scale, dark to light, by load level.
const PARTS: [f64; 4] = [0.9, 0.65, 0.35, 0.0];
/// Without colours, cells are drawn at or above this level: over twice the median.
const DRAWN: usize = 3;

/// A map of this many columns and lines.
pub(crate) struct SlotMap {
    /// The level of each cell; absent at the cursor.
    cells: Vec<Option<usize>>,
    columns: usize,
    /// Whether it shows CPU time rather than keys.
    pub is_of_cpu: bool,
}

impl SlotMap {
    /// The map of a cluster, with the cursor at slot `marked`.
    pub(crate) fn new(
        cluster: &Cluster,
        marked: Option<u16>,
        columns: usize,
        lines: usize,
    ) -> SlotMap {
        let count = (columns * lines * 2).clamp(1, SLOTS);
        let cell = |slot: u16| usize::from(slot) * count / SLOTS;
        let is_of_cpu = cluster.without_cpu.is_none();
        let mut loads = vec![0u64; count];
        for slot in &cluster.slots {
            let usec = slot.cpu.unwrap_or(0.0) * 1e6;
            let load = if is_of_cpu { usec as u64 } else { slot.keys };
            let sum = &mut loads[cell(slot.slot) % count];
            *sum = sum.saturating_add(load);
        }
        let median = median(&loads);
        let mut cells: Vec<_> = loads
            .iter()
            .map(|load| Some(level(*load, median)))
            .collect();
        if let Some(marked) = marked {
            cells[cell(marked) % count] = None;
        }
        SlotMap {
            cells,
            columns,
            is_of_cpu,
        }
    }

    /// Slots per cell.
    pub(crate) fn slots_a_cell(&self) -> usize {
        SLOTS.div_ceil(self.cells.len())
    }

    /// Its lines; without colours only loads far above the median are drawn.
    pub(crate) fn lines(&self, is_coloured: bool) -> Vec<Line<'static>> {
        let rows: Vec<&[Option<usize>]> = self.cells.chunks(self.columns.max(1)).collect();
        let line = |pair: &[&[Option<usize>]]| {
            let second = pair.get(1).copied().unwrap_or_default().iter();
            let below = second.copied().chain(std::iter::repeat(Some(0)));
            let cells = pair[0].iter().copied().zip(below);
            let drawn = |(top, below)| {
                if is_coloured {
                    coloured(top, below)
                } else {
                    plain(top, below)
                }
            };
            Line::from_iter(cells.map(drawn))
        };
        rows.chunks(2).map(line).collect()
    }
}

fn coloured(top: Option<usize>, below: Option<usize>) -> Span<'static> {
    Span::styled("▀", Style::new().fg(colour(top)).bg(colour(below)))
}

fn plain(top: Option<usize>, below: Option<usize>) -> Span<'static> {
    let is_drawn = |level: Option<usize>| level.is_some_and(|level| level >= DRAWN);
    Span::raw(match (is_drawn(top), is_drawn(below)) {
        (true, true) => "█",
        (true, false) => "▀",
        (false, true) => "▄",
        (false, false) => " ",
    })
}

fn colour(level: Option<usize>) -> Color {
    match level {
        None => MARKED,
        Some(0) => EMPTY,
        Some(level) => indexed(ramp(PARTS[(level - 1).min(PARTS.len() - 1)])),
    }
}

/// The nearest colour of the 216-colour cube supported by all terminals.
fn indexed(rgb: [u8; 3]) -> Color {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let nearest =
        |channel: u8| (0u8..6).min_by_key(|step| STEPS[usize::from(*step)].abs_diff(channel));
    let [red, green, blue] = rgb.map(|channel| nearest(channel).unwrap_or(0));
    Color::Indexed(16 + 36 * red + 6 * green + blue)
}
