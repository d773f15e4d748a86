//! The charts of real samples and of extreme findings: decoded, of the right size, with ink where words belong.
//! What they look like is in `target/tmp/charts/`.

use std::fs;
use std::io;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use crate::support::rng::Rng;
use crate::support::scan::Scanning;
use slotscope::metric::{Errors, Metric, PerMetric};
use slotscope::name::Name;
use slotscope::report::charts::{CHARTS, Chart};
use slotscope::slot::SLOTS;
use slotscope::source;
use slotscope::source::memory::memory;
use slotscope::summary::patterns::{GroupLoad, KeyGroups, Prefix};
use slotscope::summary::tags::{Tag, TagLoad};
use slotscope::summary::{FileFacts, InputFacts, Summary, summarise};
use slotscope::tally::{Parts, Tallies};
use slotscope::topology::Topology;

/// The heights that a chart may have; those with a row for each node, tag or prefix grow with the rows.
const HEIGHTS: RangeInclusive<u32> = 308..=1260;

fn even(nodes: usize) -> Topology {
    Topology::even(nodes, format!("even {nodes}")).unwrap()
}

/// The findings of the keys in a file of samples/.
fn of_sample(file: &str, topology: &Topology, parts: Parts) -> Summary {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("samples")
        .join(file);
    of_file(path, topology, parts, Metric::Keys)
}

/// The findings of any file `by` a metric.
fn of_file(path: PathBuf, topology: &Topology, parts: Parts, by: Metric) -> Summary {
    let file = path.file_name().unwrap().to_str().unwrap().to_owned();
    let inputs = source::find(&[path]).unwrap().sources;
    let scanned = Scanning::detected().run(&inputs, || Tallies::new(parts));
    let facts = FileFacts {
        name: Name::from(file.as_str()),
        format: "lines".into(),
        ..FileFacts::default()
    };
    let input = InputFacts {
        files: vec![facts],
        ..InputFacts::default()
    };
    summarise(&scanned.tally, None, topology, by, input)
}

/// The findings of keys with sizes and operations, a few of them heavy, some with a tag, `by` a metric.
fn of_weighed(name: &str, by: Metric) -> Summary {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.csv"));
    let mut rows = String::from("key,size,ops\n");
    for i in 0..20_000u64 {
        let size = (60.0 + 40.0 / (noise(i) + 1e-5)) as u64;
        let key = if i % 4 == 0 {
            format!("cart:{{{}}}:{i}", i % 97)
        } else {
            format!("user:profile:{i}")
        };
        rows += &format!(
            "{key},{size},{}\n",
            (1.0 / (noise(i + 77_777) + 1e-4)) as u64
        );
    }
    fs::write(&path, rows).unwrap();
    of_file(path, &even(6), Parts::All, by)
}

/// The findings of keys without tags, so many in each slot.
fn of_slots(topology: &Topology, keys: impl Fn(u64) -> u64) -> Summary {
    let mut tallies = Tallies::new(Parts::All);
    tallies.slots.loads.keys = (0..SLOTS as u64).map(keys).collect();
    summarise(
        &tallies,
        None,
        topology,
        Metric::Keys,
        InputFacts::default(),
    )
}

/// A number in [0, 1) that is the slot's own.
fn noise(slot: u64) -> f64 {
    Rng::new(slot).unit()
}

/// A standard normal deviate that is the slot's own.
fn bell(slot: u64) -> f64 {
    Rng::new(slot).normal()
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

    /// Pixels of a rectangle that are much darker than white.
    fn ink(&self, columns: Range<u32>, rows: Range<u32>) -> usize {
        let dark = |x: u32, y: u32| {
            let at = ((y * self.width + x) * 3) as usize;
            self.rgb[at..at + 3]
                .iter()
                .map(|part| u32::from(*part))
                .sum::<u32>()
                < 450
        };
        rows.map(|y| columns.clone().filter(|x| dark(*x, y)).count())
            .sum()
    }
}

/// Draws all charts of `summary`, leaves them in target/tmp/charts/ and holds them against what any chart must be.
fn draw(name: &str, summary: &Summary) -> Vec<(&'static str, Picture)> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("charts")
        .join(name);
    fs::create_dir_all(&directory).unwrap();
    let draw_one = |chart: &Chart| {
        let file = chart.file;
        let mut bytes = Vec::new();
        (chart.sheet)(summary).write(&mut bytes).unwrap();
        fs::write(directory.join(file), &bytes).unwrap();
        let picture = Picture::decode(&bytes);
        assert_eq!(picture.width, 1200, "{name}/{file}");
        assert!(
            HEIGHTS.contains(&picture.height),
            "{name}/{file}: {} pixels high",
            picture.height
        );
        assert!(
            picture.ink(40..1160, 26..62) > 800,
            "{name}/{file}: no title"
        );
        assert!(
            picture.ink(40..1160, 72..96) > 60,
            "{name}/{file}: no subtitle"
        );
        for (edge, columns, rows) in [
            ("left", 0..8, 0..picture.height),
            ("right", picture.width - 8..picture.width, 0..picture.height),
            ("top", 0..picture.width, 0..16),
            (
                "bottom",
                0..picture.width,
                picture.height - 8..picture.height,
            ),
        ] {
            assert_eq!(
                picture.ink(columns, rows),
                0,
                "{name}/{file}: something runs over the {edge} edge"
            );
        }
        (file, picture)
    };
    CHARTS.iter().map(draw_one).collect()
}

/// Where the words of axes and legends are when there are keys: file, columns, rows counted from the bottom.
const LABELS: [(&str, Range<u32>, Range<u32>); 13] = [
    ("slot-heatmap.png", 60..100, 180..1080), // first slot of each row
    ("slot-heatmap.png", 1010..1190, 180..1080), // nodes
    ("slot-heatmap.png", 100..1190, 20..130), // colour bar
    ("slot-load.png", 60..100, 100..600),     // keys per slot
    ("slot-load.png", 104..1160, 30..84),     // slots
    ("nodes.png", 40..1160, 20..80),          // keys
    ("lorenz.png", 40..100, 90..660),         // share of the keys
    ("lorenz.png", 800..1160, 300..640),      // legend
    ("slot-distribution.png", 60..106, 90..620), // slots
    ("slot-distribution.png", 104..1190, 30..84), // keys per slot
    ("key-lengths.png", 60..106, 90..620),    // keys
    ("key-lengths.png", 104..1190, 30..84),   // length of the key name
    ("prefixes.png", 40..1160, 20..80),       // keys
];

/// The same where there are tags and sizes.
const MORE_LABELS: [(&str, Range<u32>, Range<u32>); 6] = [
    ("tag-sizes.png", 40..106, 90..640),    // load of the tag
    ("tag-sizes.png", 960..1190, 90..640),  // fair share
    ("tag-sizes.png", 104..960, 30..84),    // rank
    ("value-sizes.png", 40..106, 90..640),  // share
    ("value-sizes.png", 104..1190, 30..84), // sizes
    ("prefixes.png", 40..130, 90..250),     // names
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

#[test]
fn every_sample_has_all_charts() {
    let nodes =
        fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/seed-cluster.nodes")).unwrap();
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
        assert_labelled(
            file,
            &draw(file, &of_sample(file, topology, Parts::All)),
            &LABELS,
        );
    }
    draw(
        "only-slots",
        &of_sample("commerce.keys", &assumed, Parts::Slots),
    );
}

#[test]
fn large_dumps() {
    // Made without names: there are no lengths.
    let labels = &LABELS[..10];
    assert_labelled(
        "large-even",
        &draw("large-even", &of_slots(&even(10), spread_by_chance(610.0))),
        labels,
    );
    draw(
        "large-missing-node",
        &of_slots(&even(6), |slot| {
            if slot < 2731 {
                0
            } else {
                spread_by_chance(6104.0)(slot)
            }
        }),
    );
    draw(
        "large-one-hot",
        &of_slots(&even(6), |slot| {
            spread_by_chance(6104.0)(slot) + if slot == 9842 { 5_000_000 } else { 0 }
        }),
    );
    draw(
        "large-many-hot",
        &of_slots(&even(40), |slot| {
            spread_by_chance(610.0)(slot) + (2.0 / (noise(slot + 7) + 1e-4)) as u64
        }),
    );
}

#[test]
fn a_verdict_by_bytes_or_operations_has_charts_of_them() {
    let by = |by: Metric| {
        let name = format!("by-{}", by.name());
        let pictures = draw(&name, &of_weighed(&name, by));
        assert_labelled(&name, &pictures, &LABELS);
        assert_labelled(&name, &pictures, &MORE_LABELS);
        pictures
    };
    let [keys, bytes, ops] = [Metric::Keys, Metric::Bytes, Metric::Ops].map(by);
    for ((keys, bytes), ops) in keys.iter().zip(&bytes).zip(&ops) {
        let same = |a: &Picture, b: &Picture| a.height == b.height && a.rgb == b.rgb;
        // Lengths and sizes do not depend on what the verdict is by, but the line below the title says it.
        assert!(
            !same(&keys.1, &bytes.1) && !same(&keys.1, &ops.1) && !same(&bytes.1, &ops.1),
            "{}",
            keys.0
        );
    }
    // 2,000 keys a slot and 100 KiB a slot: the map is of other colours, not only of other words.
    let cells = |picture: &Picture| picture.rgb[1200 * 3 * 130..1200 * 3 * 1000].to_vec();
    let differ = cells(&keys[0].1)
        .iter()
        .zip(cells(&bytes[0].1))
        .filter(|(a, b)| *a != b)
        .count();
    assert!(differ > 100_000, "{differ}");
}

#[test]
fn names_and_sizes_of_any_length() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extreme.csv");
    let write = |rows: &str| fs::write(&path, format!("key,size\n{rows}")).unwrap();
    let draw_by = |name: &str, by| draw(name, &of_file(path.clone(), &even(3), Parts::All, by));
    write("x,0\n");
    draw_by("one-empty", Metric::Bytes);
    write("{x}:y:1,1\n");
    draw_by("one-byte", Metric::Bytes);
    write(&format!(
        "{},18446744073709551615\na:b:c,1\n,7\n",
        "long:".repeat(1 << 14)
    ));
    draw_by("one-huge", Metric::Bytes);
    draw_by("one-long", Metric::Keys);
    write(
        &(0..5000)
            .map(|i| {
                format!(
                    "a:{}:x{{{}}},{}\n",
                    "seg:".repeat(i % 9),
                    i % 3,
                    1u64 << (i % 60)
                )
            })
            .collect::<String>(),
    );
    draw_by("all-magnitudes", Metric::Bytes);
}

/// `summary` with tags of these names, in order of their weight.
fn with_tags(mut summary: Summary, names: &[Vec<u8>]) -> Summary {
    let tags = summary.tags.as_mut().unwrap();
    let keys = |i: usize| 1_000_000 / (i as u64 + 1);
    let tag = |(i, name): (usize, &Vec<u8>)| Tag {
        tag: Name(name.clone()),
        slot: slotscope::slot::slot(name),
        node: None,
        load: PerMetric::of_keys(keys(i)),
        errors: Errors(PerMetric::of_keys(if i % 3 == 1 { keys(i) / 4 } else { 0 })),
        share: keys(i) as f64 / summary.input.keys as f64,
    };
    tags.top = names.iter().enumerate().map(tag).collect();
    tags.tagged_keys = tags.top.iter().map(|tag| tag.load.keys).sum();
    (tags.distinct, tags.distinct_error, tags.max_error) = (4_051_234, 0.006, 1234);
    for (slot, name) in summary.slots.hottest.iter_mut().zip(names) {
        slot.top_tags = vec![TagLoad {
            tag: Name(name.clone()),
            load: PerMetric::of_keys(7),
        }];
    }
    summary
}

fn hostile_names() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = vec![
        vec![b'x'; 1 << 20],
        "e\u{301}".repeat(1 << 18).into_bytes(),
        "用户:".repeat(50_000).into_bytes(),
        b"\x1b[2J\x1b[31mred".to_vec(),
        "abc\u{202e}fdp.exe".into(),
        "\u{5e9}\u{5dc}\u{5d5}\u{5dd}:\u{645}\u{631}\u{62d}\u{628}\u{627}".into(),
        vec![0xFF; 300],
        vec![0; 40],
        "\u{1F600}".repeat(9).into_bytes(),
        "\u{FDFD}".repeat(30).into_bytes(),
        b"   ".to_vec(),
        b"{}}{{".to_vec(),
        b"<img src=x onerror=alert(1)>".to_vec(),
        b"line\r\nbreak\ttab".to_vec(),
        "e\u{301}a\u{308}\u{323}".into(),
    ];
    names.extend((0..20).map(|i| format!("tenant:{i:03}:{}", "segment:".repeat(i)).into_bytes()));
    names
}

#[test]
fn nothing_at_all() {
    for nodes in [1, 3, 1000] {
        draw(&format!("empty-{nodes}"), &of_slots(&even(nodes), |_| 0));
    }
    let mut tallies = Tallies::new(Parts::Slots);
    tallies.slots.loads.keys = vec![0; SLOTS];
    draw(
        "empty-only-slots",
        &summarise(
            &tallies,
            None,
            &even(3),
            Metric::Keys,
            InputFacts::default(),
        ),
    );
}

#[test]
fn one_node_and_as_many_as_there_can_be() {
    for nodes in [1, 2, 13, 41, 1000, 16384] {
        draw(
            &format!("nodes-{nodes}"),
            &of_slots(&even(nodes), spread_by_chance(61.0)),
        );
    }
}

#[test]
fn one_key_and_as_many_as_can_be_counted() {
    draw(
        "one-key",
        &of_slots(&even(3), |slot| u64::from(slot == 16383)),
    );
    draw("all-equal", &of_slots(&even(3), |_| 7));
    draw(
        "huge-hot",
        &of_slots(
            &even(3),
            |slot| if slot == 5000 { 10u64.pow(18) } else { 3 },
        ),
    );
    draw(
        "huge-all",
        &of_slots(&even(6), |slot| 10u64.pow(15) + (noise(slot) * 1e7) as u64),
    );
    draw("huge-equal", &of_slots(&even(6), |_| 10u64.pow(15)));
}

/// The findings of keys that say when they expire and of which type they are, in a dump of that second.
fn of_attributes(name: &str, rows: &str, written: Option<u64>, by: Metric) -> Summary {
    let inputs = vec![memory(
        name,
        format!("key,size,type,encoding,expiry\n{rows}").as_bytes(),
    )];
    let scanned = Scanning::detected().run(&inputs, || Tallies::new(Parts::All));
    let input = InputFacts {
        written,
        ..InputFacts::default()
    };
    summarise(&scanned.tally, None, &even(3), by, input)
}

/// Where the words of the charts of expiry and types are.
const ATTRIBUTES: [(&str, Range<u32>, Range<u32>); 6] = [
    ("expiry.png", 40..220, 90..560),   // times
    ("expiry.png", 240..1190, 90..150), // the fullest minute
    ("expiry.png", 240..1160, 20..84),  // keys
    ("types.png", 40..160, 90..300),    // types
    ("types.png", 160..1190, 90..300),  // bytes and shares
    ("types.png", 160..1160, 20..84),   // bytes
];

#[test]
fn expiry_and_types_where_the_input_has_them() {
    const NOW: u64 = 1_795_000_000;
    let mut rows = String::new();
    for i in 0..4000u64 {
        let left = [30, 1800, 7200, 200_000, 1_000_000, 9_000_000, 90_000_000][(i % 7) as usize];
        let (kind, encoding) = [
            ("string", "raw"),
            ("hash", "listpack"),
            ("zset", "skiplist"),
            ("mymodule1", ""),
        ][(i % 4) as usize];
        let expiry = match i % 5 {
            0 => String::new(),
            1 => (NOW - 100).to_string(),
            _ => (NOW + left).to_string(),
        };
        rows += &format!("k:{i},{},{kind},{encoding},{expiry}\n", 100 + i);
    }
    for by in [Metric::Keys, Metric::Bytes] {
        let name = format!("attributes-by-{}", by.name());
        let pictures = draw(&name, &of_attributes(&name, &rows, Some(NOW), by));
        assert_labelled(&name, &pictures, &ATTRIBUTES);
    }
    draw(
        "attributes-undated",
        &of_attributes("undated", &rows, None, Metric::Keys),
    );
    let long = "x".repeat(400);
    let odd =
        format!("a,18446744073709551615,{long},{long},1\nb,0,\u{202e},a b ,\n,7,t,,sometime\n");
    draw(
        "attributes-odd",
        &of_attributes("odd", &odd, Some(NOW), Metric::Bytes),
    );
    draw(
        "attributes-nothing",
        &of_attributes("nothing", "a,0,t,,\n", None, Metric::Bytes),
    );
}

#[test]
fn charts_of_hostile_names() {
    let names = hostile_names();
    let mut summary = with_tags(of_slots(&even(10), spread_by_chance(61.0)), &names);
    for (node, name) in summary.nodes.list.iter_mut().zip(&names) {
        node.address = Some(Name(name.clone()));
    }
    summary.nodes.source = Name(names[0].clone());
    let prefix = |(i, name): (usize, &Vec<u8>)| Prefix {
        prefix: Name(name.clone()),
        level: 1 + i % 5,
        kind: GroupLoad {
            load: PerMetric::of_keys(1000 - i as u64),
            share: 0.1,
            tagged_share: 0.3,
            slots: None,
            no_expiry_share: None,
        },
    };
    let top = names.iter().enumerate().map(prefix).collect();
    summary.prefixes = Some(KeyGroups {
        coarseness: 0,
        exact: false,
        max_error: 17,
        top,
    });
    summary.input.files = names
        .iter()
        .map(|name| FileFacts {
            name: Name(name.clone()),
            ..FileFacts::default()
        })
        .collect();
    draw("hostile", &summary);
}

#[test]
fn a_cluster_whose_slots_are_being_moved() {
    let mut listing = String::new();
    for node in 0..8 {
        let ranges: Vec<_> = (0..20)
            .map(|i| i * 800 + node * 95)
            .map(|from| format!("{from}-{}", from + 90))
            .collect();
        let ranges = if node == 7 {
            String::new()
        } else {
            ranges.join(" ")
        };
        listing += &format!(
            "{:040x} redis-{node}.redis-headless.production.svc.cluster.local:6379@16379 master - 0 0 1 connected {ranges}\n",
            0xabc << node
        );
    }
    let topology = Topology::parse("a/long/way/to/cluster.nodes", listing.as_bytes()).unwrap();
    let mut summary = of_slots(&topology, spread_by_chance(61.0));
    summary.input.incomplete = vec![slotscope::summary::Incomplete {
        file: Name::from("x"),
        byte: 7,
        reason: String::new(),
    }];
    draw("rearranged", &summary);
}

#[test]
fn the_same_findings_give_the_same_bytes() {
    let summary = of_sample("commerce.keys", &even(6), Parts::All);
    for chart in CHARTS {
        let [first, second] = [(); 2].map(|()| {
            let mut bytes = Vec::new();
            (chart.sheet)(&summary).write(&mut bytes).unwrap();
            bytes
        });
        assert!(first == second, "{}", chart.file);
    }
}

/// Pixels are what people see: a hot node is red, a map of equal slots is of one colour, an empty slot is white.
#[test]
fn colours_say_what_the_numbers_say() {
    let has = |picture: &Picture, colour: [u8; 3]| {
        picture
            .rgb
            .chunks_exact(3)
            .filter(|pixel| **pixel == colour)
            .count()
    };
    let chart = |pictures: Vec<(&str, Picture)>, file: &str| {
        pictures
            .into_iter()
            .find(|(drawn, _)| *drawn == file)
            .unwrap()
            .1
    };
    let (calm, alarm) = ([0x9F, 0xC4, 0xE4], [0xA8, 0x1E, 0x16]);
    let even_nodes = chart(draw("colour-even", &of_slots(&even(4), |_| 7)), "nodes.png");
    assert!(has(&even_nodes, calm) > 50_000 && has(&even_nodes, alarm) == 0);
    let skewed = of_slots(&even(4), |slot| if slot < 4096 { 21 } else { 7 });
    let nodes = chart(draw("colour-skewed", &skewed), "nodes.png");
    assert!(has(&nodes, alarm) > 20_000 && has(&nodes, calm) > 10_000);

    let map = chart(
        draw(
            "colour-half",
            &of_slots(&even(1), |slot| u64::from(slot < 8192) * 9),
        ),
        "slot-heatmap.png",
    );
    let cell = |slot: usize| {
        let (x, y) = (102 + slot % 128 * 7 + 3, 124 + slot / 128 * 7 + 3);
        &map.rgb[(y * 1200 + x) * 3..][..3]
    };
    assert_eq!(cell(100), cell(8000), "equal slots have one colour");
    assert_eq!(cell(8192), [255; 3], "an empty slot is white");
    assert_ne!(cell(100), [255; 3]);
}

/// Random shapes: loads over many magnitudes, nodes with any ranges, names of any length.
#[test]
fn findings_of_any_shape() {
    for case in 0..12u64 {
        let random = |i: u64| noise(case * 1_000_003 + i);
        let (magnitude, tail, empty) = (
            10f64.powf(random(1) * 12.0 - 1.0),
            random(2) * 6.0,
            random(3).powi(2),
        );
        let keys = |slot: u64| {
            let heavy = noise(case * 7919 + slot * 31).max(1e-12).powf(-tail / 6.0);
            let load = magnitude * heavy * (0.5 + random(slot + 9));
            if random(slot * 3 + 100_000) < empty {
                0
            } else {
                load.min(1e14) as u64
            }
        };
        let count = 1 + (random(4) * random(4) * 60.0) as usize;
        let mut listing = vec![String::new(); count];
        let mut from = 0;
        for i in 0.. {
            let to = from + (random(50_000 + i) * random(5) * 4000.0) as u64;
            if to >= SLOTS as u64 {
                break;
            }
            let node = (random(60_000 + i) * count as f64) as usize;
            listing[node] += &format!(" {from}-{to}");
            from = to + 2 + (random(6) * 30.0) as u64;
        }
        let line = |(node, ranges): (usize, &String)| {
            let host = "host.".repeat((random(70_000 + node as u64) * 9.0) as usize);
            format!(
                "{:040x} {host}n{node}:7000@17000 master - 0 0 1 connected{ranges}\n",
                node + 1
            )
        };
        let listing: String = listing.iter().enumerate().map(line).collect();
        let topology = Topology::parse("any.nodes", listing.as_bytes()).unwrap();
        let summary = of_slots(&topology, keys);
        let names: Vec<_> = (0..case * 3)
            .map(|i| vec![b'a' + i as u8 % 26; (random(i) * 80.0) as usize])
            .collect();
        let drawn = draw(&format!("any-{case}"), &with_tags(summary, &names));
        assert_eq!(drawn.len(), CHARTS.len());
    }
}
