//! Amounts over time: dots, the trend line extended into the future with its band, and the limit.

use slotscope_canvas::Anchor;

use crate::charts::Sheet;
use crate::charts::sheet::{BELOW_HEADING, note};
use crate::plot::over_time::plot;
use crate::view::Curve;

/// Space for numbers on the left, on the right, and for dates and the key below.
const LEFT: i32 = 120;
const RIGHT: i32 = 60;
const BELOW: i32 = 110;

/// The chart of `curve`.
pub fn sheet(title: String, subtitle: String, curve: Curve) -> Sheet<'static> {
    Sheet::new(title, subtitle, move |canvas| {
        let (right, bottom) = (canvas.width - RIGHT, canvas.height - BELOW);
        let plot = plot(&curve, (LEFT, right), (bottom, BELOW_HEADING + 50));
        plot.draw(canvas, "", curve.metric.title());
        let place = ((LEFT + right) / 2, bottom + 60);
        note(canvas, &curve.key().join("  ·  "), place, Anchor::Middle);
    })
}
