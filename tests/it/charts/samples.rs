//! Charts of the samples, of large dumps, of every metric, and the content of their pixels.

use std::fs;
use std::ops::Range;
use std::path::Path;

use super::{
    LABELS, Picture, assert_labelled, draw, draw_slots, even, noise, of_file, of_rows, of_sample,
    of_slots, spread_by_chance,
};
use slotscope::metric::Metric;
use slotscope::report::charts::CHARTS;
use slotscope::summary::Summary;
use slotscope::summary::role_load::Asked;
use slotscope::tally::Parts;
use slotscope::topology::Topology;

/// The findings `by` a metric for keys with sizes and operations, some heavy, some with a tag.
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

/// The same when there are tags and sizes.
const MORE_LABELS: [(&str, Range<u32>, Range<u32>); 3] = [
    ("tag-sizes.png", 40..116, 90..600),   // load of the tag
    ("tag-sizes.png", 60..1160, 640..690), // fair share
    ("tag-sizes.png", 104..1160, 30..84),  // rank
];

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
    let [many, few] = [6104.0, 610.0].map(spread_by_chance);
    assert_labelled("large-even", &draw_slots("large-even", 10, &few), &LABELS);
    draw_slots("large-missing-node", 6, |slot| {
        many(slot) * u64::from(slot >= 2731)
    });
    draw_slots("large-one-hot", 6, |slot| {
        many(slot) + u64::from(slot == 9842) * 5_000_000
    });
    let hot = |slot| (2.0 / (noise(slot + 7) + 1e-4)) as u64;
    draw_slots("large-many-hot", 40, |slot| few(slot) + hot(slot));
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
        // Lengths and sizes do not depend on the metric of the verdict, but the line below the title names it.
        assert!(
            !same(&keys.1, &bytes.1) && !same(&keys.1, &ops.1) && !same(&bytes.1, &ops.1),
            "{}",
            keys.0
        );
    }
    // 2,000 keys per slot and 100 KiB per slot: the maps differ in colours, not only in labels.
    let cells = |picture: &Picture| picture.rgb[1200 * 3 * 130..1200 * 3 * 1000].to_vec();
    let differ = cells(&keys[0].1)
        .iter()
        .zip(cells(&bytes[0].1))
        .filter(|(a, b)| *a != b)
        .count();
    assert!(differ > 100_000, "{differ}");
}

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
    let of_attributes = |rows: &str, written, by| {
        let rows = format!("key,size,type,encoding,expiry\n{rows}");
        of_rows(&rows, written, Asked::from(by))
    };
    for by in [Metric::Keys, Metric::Bytes] {
        let name = format!("attributes-by-{}", by.name());
        draw(&name, &of_attributes(&rows, Some(NOW), by));
    }
    draw(
        "attributes-undated",
        &of_attributes(&rows, None, Metric::Keys),
    );
    let long = "x".repeat(400);
    let odd =
        format!("a,18446744073709551615,{long},{long},1\nb,0,\u{202e},a b ,\n,7,t,,sometime\n");
    draw(
        "attributes-odd",
        &of_attributes(&odd, Some(NOW), Metric::Bytes),
    );
    let nothing = of_attributes("a,0,t,,\n", None, Metric::Bytes);
    draw("attributes-nothing", &nothing);
}

#[test]
fn the_same_findings_give_the_same_bytes() {
    let summary = of_sample("commerce.keys", &even(6), Parts::All);
    for chart in CHARTS {
        let [first, second] = [(); 2].map(|()| {
            let mut bytes = Vec::new();
            let sheet = (chart.sheet)(&summary).unwrap();
            sheet.write(&mut bytes).unwrap();
            bytes
        });
        assert!(first == second, "{}", chart.file);
    }
}

/// Charts are judged by their pixels: the ratio of a hot node is red, a map of equal slots has one colour, an empty
/// slot is white.
#[test]
fn colours_say_what_the_numbers_say() {
    let has = Picture::pixels_of;
    let chart = |pictures: Vec<(&str, Picture)>, file: &str| {
        pictures
            .into_iter()
            .find(|(drawn, _)| *drawn == file)
            .unwrap()
            .1
    };
    let (calm, alarm) = ([0x9F, 0xC4, 0xE4], [0xA8, 0x1E, 0x16]);
    let even_nodes = chart(draw_slots("colour-even", 4, |_| 7), "nodes.png");
    assert!(has(&even_nodes, calm) > 50_000 && has(&even_nodes, alarm) == 0);
    let skewed = of_slots(&even(4), |slot| if slot < 4096 { 21 } else { 7 });
    let nodes = chart(draw("colour-skewed", &skewed), "nodes.png");
    // The ratio of the overloaded node is red.
    assert!(has(&nodes, alarm) > 100 && has(&nodes, calm) > 10_000);

    let half = draw_slots("colour-half", 1, |slot| u64::from(slot < 8192) * 9);
    let map = chart(half, "slot-heatmap.png");
    let cell = |slot: usize| {
        let (x, y) = (102 + slot % 128 * 7 + 3, 124 + slot / 128 * 7 + 3);
        &map.rgb[(y * 1200 + x) * 3..][..3]
    };
    assert_eq!(cell(100), cell(8000), "equal slots have one colour");
    assert_eq!(cell(8192), [255; 3], "an empty slot is white");
    assert_ne!(cell(100), [255; 3]);
}
