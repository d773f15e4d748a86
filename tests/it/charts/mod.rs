//! The charts of real samples and of extreme findings: decodable, of the right size, with ink where text belongs. They
//! are written to `target/tmp/charts/`.

mod extremes;
mod roles;
mod samples;

use std::ops::{Range, RangeInclusive};
use std::path::Path;
use std::{fs, io};

use slotscope::findings::summary::observed::Observed;
use slotscope::findings::summary::summarise;
use slotscope::metric::Metric;
use slotscope::name::Name;
use slotscope::report::charts::{Chart, charts};
use slotscope::slot::SLOTS;
use slotscope::source;
use slotscope::source::memory::memory;
use slotscope::summary::role_load::Asked;
use slotscope::summary::{FileFacts, InputFacts, Summary};
use slotscope::tally::{Parts, Tallies};
use slotscope::topology::Topology;
use testkit::planted::even;
use testkit::rng::Rng;
use testkit::run::root;
use testkit::scan::Scanning;

/// Allowed heights of a chart; charts with a row per node grow with the rows.
const HEIGHTS: RangeInclusive<u32> = 308..=1260;

/// The findings for the keys in a file of samples/.
fn of_sample(file: &str, topology: &Topology, parts: Parts) -> Summary {
    let inputs = source::find(&[root().join("samples").join(file)])
        .unwrap()
        .sources;
    let scanned = Scanning::detected().run(&inputs, || Tallies::new(parts));
    let facts = FileFacts {
        name: Name::from(file),
        format: "lines".into(),
        ..FileFacts::default()
    };
    let input = InputFacts {
        files: vec![facts],
        ..InputFacts::default()
    };
    judged(&scanned.tally, topology, Asked::from(Metric::Keys), input)
}

/// The findings for the rows of a table on three nodes, in a dump written in that second.
fn of_rows(rows: &str, written: Option<u64>, asked: Asked) -> Summary {
    let inputs = [memory("rows", rows.as_bytes())];
    let scanned = Scanning::detected().run(&inputs, || Tallies::new(Parts::All));
    let input = InputFacts {
        written,
        ..InputFacts::default()
    };
    judged(&scanned.tally, &even(3), asked, input)
}

fn judged(tallies: &Tallies, topology: &Topology, asked: Asked, input: InputFacts) -> Summary {
    summarise(tallies, None, topology, &Observed::default(), &asked, input)
}

/// The findings for keys without tags, with `keys` keys in each slot.
fn of_slots(topology: &Topology, keys: impl Fn(u64) -> u64) -> Summary {
    let mut tallies = Tallies::new(Parts::All);
    tallies.slots.loads.keys = (0..SLOTS as u64).map(keys).collect();
    judged(&tallies, topology, Asked::default(), InputFacts::default())
}

/// A pseudorandom number in [0, 1) determined by the slot.
fn noise(slot: u64) -> f64 {
    Rng::new(slot).unit()
}

/// A standard normal deviate determined by the slot.
fn bell(slot: u64) -> f64 {
    Rng::new(slot).normal()
}

/// Keys as spread by a perfect hash.
fn spread_by_chance(mean: f64) -> impl Fn(u64) -> u64 {
    move |slot| (mean + bell(slot) * mean.sqrt()).max(0.0).round() as u64
}

/// A decoded chart.
pub(crate) struct Picture {
    pub width: u32,
    pub height: u32,
    pub rgb: Vec<u8>,
}

impl Picture {
    pub(crate) fn decode(bytes: &[u8]) -> Picture {
        let mut reader = png::Decoder::new(io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        Picture {
            width: info.width,
            height: info.height,
            rgb,
        }
    }

    /// Number of pixels of exactly this colour.
    fn pixels_of(&self, colour: [u8; 3]) -> usize {
        let pixels = self.rgb.chunks_exact(3);
        pixels.filter(|pixel| **pixel == colour).count()
    }

    /// Number of pixels in a rectangle that are much darker than white.
    fn ink(&self, columns: Range<u32>, rows: Range<u32>) -> usize {
        let dark = |x: u32, y: u32| {
            let at = ((y * self.width + x) * 3) as usize;
            let parts = self.rgb[at..at + 3].iter().map(|part| u32::from(*part));
            parts.sum::<u32>() < 450
        };
        rows.map(|y| columns.clone().filter(|x| dark(*x, y)).count())
            .sum()
    }
}

/// Draws all charts of `summary` into target/tmp/charts/ and checks the invariants of charts.
fn draw(name: &str, summary: &Summary) -> Vec<(&'static str, Picture)> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("charts")
        .join(name);
    fs::create_dir_all(&directory).unwrap();
    let draw_one = |chart: Chart| {
        let file = chart.file;
        let mut bytes = Vec::new();
        chart.sheet(summary)?.write(&mut bytes).unwrap();
        fs::write(directory.join(file), &bytes).unwrap();
        let picture = Picture::decode(&bytes);
        let (width, height) = (picture.width, picture.height);
        let is_of_size = width == 1200 && HEIGHTS.contains(&height);
        assert!(is_of_size, "{name}/{file}: {width} x {height}");
        let [title, subtitle] = [26..62, 72..96].map(|rows| picture.ink(40..1160, rows));
        assert!(title > 800 && subtitle > 60, "{name}/{file}: no title");
        for (edge, columns, rows) in [
            ("left", 0..8, 0..height),
            ("right", width - 8..width, 0..height),
            ("top", 0..width, 0..16),
            ("bottom", 0..width, height - 8..height),
        ] {
            let ink = picture.ink(columns, rows);
            assert_eq!(ink, 0, "{name}/{file}: something runs over the {edge} edge");
        }
        Some((file, picture))
    };
    charts().filter_map(draw_one).collect()
}

/// Draws the charts of keys without tags on equal nodes.
fn draw_slots(name: &str, nodes: usize, keys: impl Fn(u64) -> u64) -> Vec<(&'static str, Picture)> {
    draw(name, &of_slots(&even(nodes), keys))
}

/// Places of the labels of axes and legends when there are keys: file, columns, rows counted from the bottom.
const LABELS: [(&str, Range<u32>, Range<u32>); 6] = [
    ("slot-heatmap.png", 60..100, 180..1080), // first slot of each row
    ("slot-heatmap.png", 1010..1190, 180..1080), // nodes
    ("slot-heatmap.png", 100..1190, 20..130), // colour bar
    ("nodes.png", 40..1160, 20..80),          // keys
    ("slot-distribution.png", 60..116, 90..600), // slots
    ("slot-distribution.png", 104..1190, 30..84), // keys per slot
];

fn assert_labelled(
    name: &str,
    pictures: &[(&str, Picture)],
    labels: &[(&str, Range<u32>, Range<u32>)],
) {
    for (file, columns, from_bottom) in labels.iter().cloned() {
        let (_, picture) = pictures.iter().find(|(drawn, _)| *drawn == file).unwrap();
        let rows = picture.height - from_bottom.end..picture.height - from_bottom.start;
        let ink = picture.ink(columns.clone(), rows);
        assert!(
            ink > 60,
            "{name}/{file}: no words in columns {columns:?}, {from_bottom:?} above the bottom"
        );
    }
}
