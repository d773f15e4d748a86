//! The charts of real samples and of extreme findings: decoded, of the right size, with ink where words belong.
//! What they look like is in `target/tmp/charts/`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use slotscope::name::Name;
use slotscope::report::chart;
use slotscope::scan::Scan;
use slotscope::slot::SLOTS;
use slotscope::slot::kernel;
use slotscope::source;
use slotscope::summary::tags::{Tag, TagKeys};
use slotscope::summary::{FileFacts, InputFacts, Summary, summarise};
use slotscope::tally::Tallies;
use slotscope::tally::heavy::{HeavyTags, TagCounts};
use slotscope::topology::Topology;

type Write_ = fn(&Summary, &mut dyn Write) -> io::Result<()>;

/// Every chart, its file and its width and least height.
const CHARTS: [(&str, Write_, (u32, u32)); 6] = [
    ("slot-heatmap.png", chart::heatmap::write, (1200, 1200)),
    ("slot-load.png", chart::slot_load::write, (1200, 800)),
    ("nodes.png", chart::nodes::write, (1200, 800)),
    ("top-tags.png", chart::top_tags::write, (1200, 800)),
    ("lorenz.png", chart::lorenz::write, (1200, 800)),
    ("slot-distribution.png", chart::distribution::write, (1200, 800)),
];

fn even(nodes: usize) -> Topology {
    Topology::even(nodes, format!("even {nodes}")).unwrap()
}

/// The findings of the keys in a file of samples/.
fn of_sample(file: &str, topology: &Topology, only_slots: bool) -> Summary {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("samples").join(file);
    let inputs = source::find(&[path]).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let scan = Scan { pool: &pool, kernel: kernel::best(), format: None, chunk: 1 << 20, progress: &|_| {} };
    let scanned = scan.run(&inputs, || Tallies::new(only_slots)).unwrap();
    let facts = FileFacts { name: Name::from(file), format: "lines", ..FileFacts::default() };
    let input = InputFacts { files: vec![facts], ..InputFacts::default() };
    summarise(&scanned.tally, None, topology, input)
}

/// The findings of keys without tags, so many in each slot.
fn of_slots(topology: &Topology, keys: impl Fn(u64) -> u64) -> Summary {
    let mut tallies = Tallies::new(false);
    tallies.slots.keys = (0..SLOTS as u64).map(keys).collect();
    summarise(&tallies, None, topology, InputFacts::default())
}

/// Numbers that look random and are the same every time, from 0 up to 1.
fn noise(slot: u64) -> f64 {
    let mut x = slot.wrapping_add(0x9E37_79B9_7F4A_7C15);
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

/// A deviate that is near enough to normal.
fn bell(slot: u64) -> f64 {
    (0..12).map(|i| noise(slot * 12 + i)).sum::<f64>() - 6.0
}

/// Keys as a perfect hash would spread them.
fn spread_by_chance(mean: f64) -> impl Fn(u64) -> u64 {
    move |slot| (mean + bell(slot) * mean.sqrt()).max(0.0).round() as u64
}

struct Picture {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

impl Picture {
    fn decode(bytes: &[u8]) -> Picture {
        let mut reader = png::Decoder::new(io::Cursor::new(bytes)).read_info().unwrap();
        let mut rgb = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut rgb).unwrap();
        assert_eq!(info.color_type, png::ColorType::Rgb);
        Picture { width: info.width, height: info.height, rgb }
    }

    /// Pixels of a rectangle that are much darker than white.
    fn ink(&self, columns: std::ops::Range<u32>, rows: std::ops::Range<u32>) -> usize {
        let dark = |x: u32, y: u32| {
            let at = ((y * self.width + x) * 3) as usize;
            self.rgb[at..at + 3].iter().map(|part| u32::from(*part)).sum::<u32>() < 450
        };
        rows.map(|y| columns.clone().filter(|x| dark(*x, y)).count()).sum()
    }
}

/// Draws all charts of `summary`, leaves them in target/tmp/charts/ and holds them against what any chart must be.
fn draw(name: &str, summary: &Summary) -> Vec<(&'static str, Picture)> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("charts").join(name);
    fs::create_dir_all(&directory).unwrap();
    let chart = |(file, write, (width, height)): &(&'static str, Write_, (u32, u32))| {
        let mut bytes = Vec::new();
        write(summary, &mut bytes).unwrap();
        fs::write(directory.join(file), &bytes).unwrap();
        let picture = Picture::decode(&bytes);
        assert_eq!(picture.width, *width, "{name}/{file}");
        assert!((*height..2 * height).contains(&picture.height), "{name}/{file}: {} rows", picture.height);
        assert!(picture.ink(40..1160, 26..62) > 800, "{name}/{file}: no title");
        assert!(picture.ink(40..1160, 72..96) > 400, "{name}/{file}: no subtitle");
        for (edge, columns, rows) in [
            ("left", 0..8, 0..picture.height),
            ("right", picture.width - 8..picture.width, 0..picture.height),
            ("top", 0..picture.width, 0..16),
            ("bottom", 0..picture.width, picture.height - 8..picture.height),
        ] {
            assert_eq!(picture.ink(columns, rows), 0, "{name}/{file}: something runs over the {edge} edge");
        }
        (*file, picture)
    };
    CHARTS.iter().map(chart).collect()
}

#[test]
fn every_sample_has_all_charts() {
    let nodes = fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/seed-cluster.nodes")).unwrap();
    let listed = Topology::parse("samples/seed-cluster.nodes", &nodes).unwrap();
    let assumed = Topology::even(3, String::from("assumed even 3")).unwrap();
    for (file, topology) in [
        ("uniform.keys", &assumed),
        ("commerce.keys", &listed),
        ("hot-tag.keys", &assumed),
        ("tagged-zipf.keys", &even(12)),
        ("nasty.keys", &even(6)),
        ("seed-examples.keys", &even(1)),
    ] {
        draw(file, &of_sample(file, topology, false));
    }
    draw("only-slots", &of_sample("commerce.keys", &assumed, true));
}

#[test]
fn large_dumps() {
    draw("large-even", &of_slots(&even(10), spread_by_chance(610.0)));
    draw(
        "large-missing-node",
        &of_slots(&even(6), |slot| if slot < 2731 { 0 } else { spread_by_chance(6104.0)(slot) }),
    );
    draw(
        "large-one-hot",
        &of_slots(&even(6), |slot| spread_by_chance(6104.0)(slot) + if slot == 9842 { 5_000_000 } else { 0 }),
    );
    draw(
        "large-many-hot",
        &of_slots(&even(40), |slot| spread_by_chance(610.0)(slot) + (2.0 / (noise(slot + 7) + 1e-4)) as u64),
    );
}
