//! Expiry over time: bytes and keys by hour, or by another round time of which there are few enough, storms set off.

use slotscope_canvas::font::{Style, fit, width};
use slotscope_canvas::{Anchor, Canvas};

use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::text::{day, percent, span, time};
use slotscope_findings::summary::expiring::Storm;
use slotscope_findings::summary::expiry::Expiry;

use crate::charts::bars;
use crate::charts::legend::{self, Swatch};
use crate::charts::sheet::{BELOW_HEADING, MARGIN, size};
use crate::palette::{ALARM, INK, LOAD, MUTED};
use crate::plot::axis::Axis;
use crate::plot::numbers::Numbers;
use crate::plot::{Mark, Plot};

/// Bars: no more, and round times that they may stand for.
const BARS: u64 = 72;
const STEPS: [u64; 9] = [
    60,
    600,
    3600,
    21_600,
    86_400,
    604_800,
    2_592_000,
    31_536_000,
    315_360_000,
];
/// Bars stand for the shortest time with which they cover this part of the keys, and end where all but a few have expired.
const COVERED: f64 = 0.7;
const NEARLY_ALL: f64 = 0.99;
/// Room for the numbers at the left, and for times and a note below.
const LEFT: i32 = 120;
const BELOW: i32 = 118;
/// Between two fields: the times of the upper one are those of the lower one.
const GAP: i32 = 62;

/// The load that expires from a time on, by bars of the same length.
pub(super) struct OverTime {
    from: u64,
    step: u64,
    bars: Vec<PerMetric<u64>>,
    /// By bar, what expires in storms.
    storms: Vec<PerMetric<u64>>,
    /// The load that expires after the last bar.
    pub later: u64,
}

impl OverTime {
    /// The load that expires after `written`, or at any known time; `None` if nothing expires.
    pub(super) fn new(expiry: &Expiry, written: Option<u64>) -> Option<Self> {
        let first = written.map_or(0, |written| written / 60 * 60);
        let due = expiry.over_time.iter().filter(|(at, _)| *at >= first);
        let due: Vec<&(u64, PerMetric<u64>)> = due.collect();
        let (start, _) = due.first()?;
        let from = written.map_or(*start, |_| first);
        let all: u64 = due.iter().map(|(_, load)| load.keys).sum();
        let reached = |part: f64| {
            let mut sum = 0;
            let mut ends = due.iter().map(|(at, load)| {
                sum += load.keys;
                (*at, sum)
            });
            let enough = part * all as f64;
            ends.find(|(_, sum)| *sum as f64 >= enough)
                .map_or(from, |(at, _)| at)
        };
        let bars = |step: u64, end: u64| end / step - from / step + 1;
        let covered = reached(COVERED);
        let step = STEPS
            .into_iter()
            .find(|step| bars(*step, covered) <= BARS)?;
        let count = bars(step, reached(NEARLY_ALL)).min(BARS) as usize;
        let none = due[0].1.map(|_, _| 0);
        let mut over_time = OverTime {
            from: from / step * step,
            step,
            bars: vec![none; count],
            storms: vec![none; count],
            later: 0,
        };
        let is_storm = |at: u64| expiry.storms.iter().any(|storm| storm.at == at);
        for (at, load) in due {
            let Some(bar) = over_time.bar_of(*at) else {
                over_time.later += load.keys;
                continue;
            };
            add(&mut over_time.bars[bar], load);
            if is_storm(*at) {
                add(&mut over_time.storms[bar], load);
            }
        }
        Some(over_time)
    }

    fn to(&self) -> u64 {
        self.from + self.bars.len() as u64 * self.step
    }

    fn start_of(&self, bar: usize) -> f64 {
        (self.from + bar as u64 * self.step) as f64
    }

    fn bar_of(&self, at: u64) -> Option<usize> {
        let bar = (at.checked_sub(self.from)? / self.step) as usize;
        (bar < self.bars.len()).then_some(bar)
    }

    /// The span of a bar: `hour`, `6 hours`.
    fn step_in_words(&self) -> String {
        let words = span(self.step);
        words.strip_prefix("1 ").map(String::from).unwrap_or(words)
    }
}

fn add(sum: &mut PerMetric<u64>, load: &PerMetric<u64>) {
    *sum = sum.map(|metric, sum| sum.saturating_add(load.get(metric).copied().unwrap_or(0)));
}

/// Draws the fields, and `note` below them.
pub(super) fn draw(canvas: &Canvas<'_>, over_time: &OverTime, storms: &[Storm], note: &str) {
    let has_bytes = over_time.bars[0].get(Metric::Bytes).is_some();
    let metrics = [Metric::Bytes, Metric::Keys];
    let metrics = &metrics[usize::from(!has_bytes)..];
    if !storms.is_empty() {
        let entries = [
            (Swatch::Area(ALARM), "all in one minute"),
            (Swatch::Area(LOAD), "the rest"),
        ];
        legend::draw(canvas, &entries);
    }
    let top = BELOW_HEADING + 76;
    let bottom = canvas.height - BELOW;
    let room = (bottom - top - GAP * (metrics.len() as i32 - 1)) / metrics.len() as i32;
    for (at, metric) in metrics.iter().enumerate() {
        let end = top + at as i32 * (room + GAP);
        let plot = plot(over_time, *metric, (end + room, end), canvas.width - MARGIN);
        let step = over_time.step_in_words();
        plot.draw_y(canvas, &format!("{} expiring per {step}", metric.title()));
        plot.draw_base(canvas);
        plot.draw_marks(canvas);
        if at + 1 == metrics.len() {
            plot.draw_x(canvas, &format!("time (UTC), from {}", day(over_time.from)));
        }
        if at == 0 {
            label_storms(canvas, over_time, &plot, storms);
        }
    }
    let style = Style::plain(size::BODY, MUTED);
    let room = (canvas.width - 2 * MARGIN) as f32;
    let place = (MARGIN, canvas.height - 28);
    canvas.text(&fit(note, room, style), place, Anchor::Start, style);
}

fn plot(over_time: &OverTime, metric: Metric, up: (i32, i32), right: i32) -> Plot {
    let of = |load: &PerMetric<u64>| load.get(metric).copied().unwrap_or(0) as f64;
    let most = over_time.bars.iter().map(of).fold(1.0, f64::max);
    let times = (over_time.from as f64, over_time.to() as f64);
    let x = Axis::new(times, (LEFT, right)).in_numbers(Numbers::Moments);
    let y = Axis::new((0.0, most), up)
        .whole()
        .in_numbers(Numbers::of(metric));
    let bars = over_time.bars.iter().zip(&over_time.storms).enumerate();
    let bars = bars.flat_map(|(at, (bar, storm))| {
        let [left, right] = [at, at + 1].map(|at| over_time.start_of(at));
        let bars = [(of(bar), LOAD), (of(storm), ALARM)];
        let bars = bars.into_iter().filter(|(amount, _)| *amount > 0.0);
        bars.map(move |(amount, colour)| Mark::Bar([left, right, amount], colour, String::new()))
    });
    Plot::new(x, y).with(bars)
}

/// Labels a storm beside its bar.
fn label_storms(canvas: &Canvas<'_>, over_time: &OverTime, plot: &Plot, storms: &[Storm]) {
    let style = Style::bold(size::NOTE, INK);
    for (line, storm) in storms.iter().enumerate() {
        let Some(bar) = over_time.bar_of(storm.at) else {
            continue;
        };
        let x = plot.x.at(over_time.start_of(bar));
        let y = plot.y.end + 10 + 22 * line as i32;
        let words = fit(&in_words(storm), 520.0, style);
        let room = width(&words, style) as i32;
        let (before, behind) = (x - 8, x + bar_width(over_time, plot) + 8);
        let (x, anchor) = if behind + room <= plot.x.end {
            (behind, Anchor::Start)
        } else if before - room >= plot.x.start {
            (before, Anchor::End)
        } else {
            (plot.x.end - 8, Anchor::End) // on the bar, which is nearly as wide as the plot
        };
        canvas.label(&words, (x, y), anchor, style);
    }
}

fn bar_width(over_time: &OverTime, plot: &Plot) -> i32 {
    (plot.x.end - plot.x.start) / over_time.bars.len() as i32
}

/// `10.5% of the keys at 19:47: page:product:<n>`.
fn in_words(storm: &Storm) -> String {
    let clock = time(storm.at);
    let pattern = storm.pattern.as_ref();
    let pattern = pattern.map_or_else(String::new, |of| format!(": {}", bars::spelled(of)));
    format!(
        "{} of the keys at {}{pattern}",
        percent(storm.share),
        &clock[11..16]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In the middle of an hour.
    const NOW: u64 = 1_795_000_000;

    /// Keys of 10 bytes each that expire this many minutes after the dump; and the storms among them, by their minute.
    fn over_time(due: &[(u64, u64)], storms: &[u64]) -> OverTime {
        let at = |minutes: u64| NOW / 60 * 60 + 60 * minutes;
        let load = |keys: u64| PerMetric::of_keys(keys).with(Metric::Bytes, 10 * keys);
        let none = load(0);
        let storm = |minutes: &u64| Storm {
            at: at(*minutes),
            after: None,
            minutes: 1,
            keys: 0,
            share: 0.0,
            pattern: None,
            node: None,
        };
        let expiry = Expiry {
            never: none,
            expiring: none,
            expired: None,
            within: Vec::new(),
            fullest: None,
            storms: storms.iter().map(storm).collect(),
            leaving: None,
            over_time: due
                .iter()
                .map(|(minutes, keys)| (at(*minutes), load(*keys)))
                .collect(),
        };
        OverTime::new(&expiry, Some(NOW)).unwrap()
    }

    #[test]
    fn bars_are_hours_where_most_expires_within_days() {
        let every: Vec<(u64, u64)> = (0..48).map(|hour| (60 * hour, 5)).collect();
        let found = over_time(&every, &[]);
        assert_eq!((found.step, found.bars.len(), found.later), (3600, 48, 0));
        assert!(
            found
                .bars
                .iter()
                .all(|bar| bar.keys == 5 && bar.bytes() == Some(&50))
        );
        // A tenth of the keys, which expires in a year, makes no bar wider, and is noted.
        let with_late = [every.clone(), vec![(500_000, 26)]].concat();
        let found = over_time(&with_late, &[]);
        assert_eq!((found.step, found.later), (3600, 26));
        assert!(found.bars.len() <= BARS as usize);
    }

    #[test]
    fn a_storm_is_the_part_of_its_bar_that_expires_in_its_minute() {
        let found = over_time(&[(0, 1), (125, 70), (130, 7), (600, 3)], &[125]);
        let bar = found.bar_of(NOW / 60 * 60 + 125 * 60).unwrap();
        assert_eq!((found.bars[bar].keys, found.storms[bar].keys), (77, 70));
        assert_eq!(found.storms.iter().map(|of| of.keys).sum::<u64>(), 70);
    }
}
