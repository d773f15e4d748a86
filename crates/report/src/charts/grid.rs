//! Amounts in cells, coloured: rows of slots from the top, borders and names of their owners, marked cells, and the colour
//! scale.

use slotscope_canvas::font::{Style, fit};
use slotscope_canvas::{Anchor, Canvas, overlap, text_box};

use slotscope_base::slot::SLOTS;

use crate::charts::field::{scale, tick_label};
use crate::charts::sheet::{MARGIN, note, size};
use crate::palette::{EMPTY, FRAME, INK, Rgb, ramp};
use crate::plot::axis::Axis;

/// Height of a sheet with a grid.
pub(super) const HEIGHT: u32 = 1200;
/// The corners of the cells: 128 rows and columns are 7 pixels each.
const LEFT: i32 = MARGIN + 62;
const TOP: i32 = 124;
const RIGHT: i32 = LEFT + 896;
const BOTTOM: i32 = TOP + 896;
/// With more ranges of owners than this, borders would cover everything.
const BORDERS: usize = 48;
/// A range as high as this has its name beside it.
const NAMED: i32 = 22;
/// Maximum width of a label of a mark.
const LABEL: f32 = 480.0;

/// The picture.
pub(super) struct Grid {
    /// The amounts by row and column.
    pub rows: Vec<Vec<u64>>,
    /// Columns with labels.
    pub columns: Vec<(f64, String)>,
    /// First and last slot of each range of an owner, and the name beside it.
    pub owners: Vec<(u16, u16, String)>,
    /// The slots of marked cells, with labels, most important first.
    pub marks: Vec<(u16, String)>,
    /// The amount of the darkest colour.
    pub top: u64,
    /// The colour scale, from 0 to the darkest colour, and the words for less, for more and below it.
    pub scale: Axis,
    pub words: [String; 3],
}

/// Draws it.
pub(super) fn draw(canvas: &Canvas<'_>, grid: &Grid) {
    let columns = grid.rows.first().map_or(0, Vec::len);
    let x = Axis::new((0.0, columns as f64)).placed((LEFT, RIGHT));
    let y = Axis::new((0.0, grid.rows.len() as f64)).placed((TOP, BOTTOM));
    for (row, amounts) in grid.rows.iter().enumerate() {
        let [above, below] = [row, row + 1].map(|row| y.at(row as f64));
        for (column, amount) in amounts
            .iter()
            .enumerate()
            .filter(|(_, amount)| **amount > 0)
        {
            let [left, right] = [column, column + 1].map(|column| x.at(column as f64));
            let colour = ramp(*amount as f64 / grid.top as f64);
            canvas.fill([left, above, right, below], colour);
        }
    }
    canvas.outline([LEFT - 1, TOP - 1, RIGHT + 1, BOTTOM + 1], FRAME);
    axes(canvas, grid, &x);
    let place = |slot: u32| {
        let row = f64::from(slot) * grid.rows.len() as f64 / SLOTS as f64;
        (row.floor(), row.fract() * columns as f64)
    };
    borders(canvas, grid, |slot| {
        let (row, column) = place(slot);
        (x.at(column), y.at(row), y.at(row + 1.0))
    });
    marks(canvas, grid, |slot| {
        let (row, column) = place(u32::from(slot));
        [x.at(column), y.at(row), x.at(column + 1.0), y.at(row + 1.0)]
    });
    legend(canvas, grid);
}

fn height(slot: usize) -> i32 {
    TOP + slot as i32 * (BOTTOM - TOP) / SLOTS as i32
}

fn axes(canvas: &Canvas<'_>, grid: &Grid, x: &Axis) {
    for slot in (0..SLOTS).step_by(2048) {
        let y = height(slot) + 3;
        canvas.fill([LEFT - 7, y, LEFT - 1, y + 1], FRAME);
        note(canvas, &slot.to_string(), (LEFT - 12, y), Anchor::End);
    }
    note(canvas, "slot", (LEFT - 12, TOP - 14), Anchor::End);
    for (column, label) in &grid.columns {
        let place = x.at(*column);
        canvas.fill([place, BOTTOM + 1, place + 1, BOTTOM + 7], FRAME);
        tick_label(canvas, label, (place, BOTTOM + 18));
    }
}

/// Lines where ranges of owners begin and end, dark with white edges, visible on any colour; and the names of high ranges.
fn borders(canvas: &Canvas<'_>, grid: &Grid, place: impl Fn(u32) -> (i32, i32, i32)) {
    if grid.owners.len() > BORDERS {
        let count = format!("{} ranges of slots:", grid.owners.len());
        note(canvas, &count, (RIGHT + 12, TOP + 12), Anchor::Start);
        note(
            canvas,
            "borders left out",
            (RIGHT + 12, TOP + 34),
            Anchor::Start,
        );
        return;
    }
    let ends = grid
        .owners
        .iter()
        .flat_map(|(first, last, _)| [u32::from(*first), u32::from(*last) + 1]);
    let within: Vec<_> = ends
        .filter(|slot| (1..SLOTS as u32).contains(slot))
        .map(place)
        .collect();
    for (pad, colour) in [(1, EMPTY), (0, INK)] {
        for (x, above, below) in &within {
            canvas.fill([x - pad, above - pad, RIGHT, above + 1 + pad], colour);
            if *x > LEFT {
                canvas.fill([x - pad, above - pad, x + 1 + pad, below + 1 + pad], colour);
                canvas.fill([LEFT, below - pad, x + 1, below + 1 + pad], colour);
            }
        }
    }
    let style = Style::plain(size::BODY, INK);
    let room = (canvas.width - RIGHT - 34) as f32;
    for (first, last, name) in &grid.owners {
        let (above, below) = (
            height(usize::from(*first)) + 3,
            height(usize::from(*last) + 1) - 2,
        );
        canvas.fill([RIGHT + 9, above, RIGHT + 11, below.max(above + 1)], FRAME);
        if below - above >= NAMED {
            let at = (RIGHT + 22, (above + below) / 2);
            canvas.text(&fit(name, room, style), at, Anchor::Start, style);
        }
    }
}

/// A frame around every mark, and the labels that fit above or below it, most important first.
fn marks(canvas: &Canvas<'_>, grid: &Grid, place: impl Fn(u16) -> [i32; 4]) {
    let wider = |[x0, y0, x1, y1]: [i32; 4], pad: i32| [x0 - pad, y0 - pad, x1 + pad, y1 + pad];
    let frames: Vec<_> = grid
        .marks
        .iter()
        .map(|(slot, _)| wider(place(*slot), 4))
        .collect();
    for frame in &frames {
        canvas.outline(*frame, INK);
        canvas.outline(wider(*frame, -1), EMPTY);
    }
    let style = Style::bold(size::NOTE, INK);
    let mut taken: Vec<[i32; 4]> = Vec::new();
    for ([x0, y0, x1, y1], (_, label)) in frames.iter().zip(&grid.marks) {
        let label = fit(label, LABEL, style);
        let places = [y0 - 16, y1 + 16].into_iter().flat_map(|y| {
            let sides = [(Anchor::Start, *x0), (Anchor::End, *x1)];
            sides.map(|(anchor, x)| ((x, y), anchor))
        });
        let free = places.map(|(at, anchor)| (at, anchor, text_box(&label, at, anchor, style)));
        let mut free = free.filter(|(_, _, [left, top, right, bottom])| {
            let place = [*left, *top, *right, *bottom];
            let is_inside =
                *left > LEFT - 8 && *right < RIGHT + 8 && *top > TOP && *bottom < BOTTOM;
            is_inside && !taken.iter().any(|label| overlap(*label, wider(place, 3)))
        });
        if let (false, Some((at, anchor, place))) = (label.is_empty(), free.next()) {
            canvas.label(&label, at, anchor, style);
            canvas.outline(wider(place, 3), INK);
            taken.push(wider(place, 3));
        }
    }
}

/// The colour scale.
fn legend(canvas: &Canvas<'_>, grid: &Grid) {
    let (top, bottom) = (BOTTOM + 78, BOTTOM + 100);
    let swatch = |x: i32, colour: Rgb, words: &str| {
        canvas.fill([x, top, x + 24, bottom], colour);
        canvas.outline([x, top, x + 24, bottom], FRAME);
        note(canvas, words, (x + 32, (top + bottom) / 2), Anchor::Start);
    };
    let [less, more, below] = &grid.words;
    swatch(LEFT, EMPTY, less);
    let x = grid.scale.placed((LEFT + 210, LEFT + 650));
    scale(canvas, &x, (top, bottom));
    swatch(x.end + 34, ramp(1.0), more);
    note(canvas, below, (LEFT, bottom + 44), Anchor::Start);
}
