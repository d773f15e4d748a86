//! Charts of the samples, of large dumps, of every metric, and the content of their pixels.

use std::fs;
use std::ops::Range;

use super::{
    LABELS, Picture, assert_labelled, draw, draw_slots, even, noise, of_rows, of_sample, of_slots,
    spread_by_chance,
};
use slotscope::metric::Metric;
use slotscope::summary::Summary;
use slotscope::summary::role_load::Asked;
use slotscope::tally::Parts;
use slotscope::topology::Topology;
use testkit::env::is_campaign;
use testkit::run::root;

/// The findings `by` a metric for keys with sizes and operations, some heavy, some with a tag.
fn of_weighed(by: Metric) -> Summary {
    let row = |i: u64| {
        let size = (60.0 + 40.0 / (noise(i) + 1e-5)) as u64;
        let ops = (1.0 / (noise(i + 77_777) + 1e-4)) as u64;
        match i % 4 {
            0 => format!("cart:{{{}}}:{i},{size},{ops}\n", i % 97),
            _ => format!("user:profile:{i},{size},{ops}\n"),
        }
    };
    let rows: String = (0..20_000).map(row).collect();
    of_rows(&format!("key,size,ops\n{rows}"), None, Asked::from(by))
}

/// The same when there are tags and sizes.
const MORE_LABELS: [(&str, Range<u32>, Range<u32>); 3] = [
    ("tag-sizes.png", 40..116, 90..600),   // load of the tag
    ("tag-sizes.png", 60..1160, 640..690), // fair share
    ("tag-sizes.png", 104..1160, 30..84),  // rank
];

#[test]
fn every_sample_has_all_charts() {
    let nodes = fs::read(root().join("samples/seed-cluster.nodes")).unwrap();
    let listed = Topology::parse("samples/seed-cluster.nodes", &nodes).unwrap();
    for (file, topology) in [
        ("uniform.keys", &even(3)),
        ("commerce.keys", &listed),
        ("hot-tag.keys", &even(3)),
        ("tagged-zipf.keys", &even(12)),
        ("nasty.keys", &even(6)),
        ("seed-examples.keys", &even(1)),
    ] {
        let drawn = draw(file, &of_sample(file, topology, Parts::All));
        assert_labelled(file, &drawn, &LABELS);
    }
    draw(
        "only-slots",
        &of_sample("commerce.keys", &even(3), Parts::Slots),
    );
}

/// A name, a number of nodes, and the keys in each slot.
type Load<'l> = (&'l str, usize, &'l dyn Fn(u64) -> u64);

/// Few keys and many, none at all, one node and as many as there can be, one key and as many as can be counted.
#[test]
fn loads_of_any_size_on_any_number_of_nodes() {
    let [many, few] = [6104.0, 610.0].map(spread_by_chance);
    let hot = |slot| (2.0 / (noise(slot + 7) + 1e-4)) as u64;
    assert_labelled("large-even", &draw_slots("large-even", 10, &few), &LABELS);
    let missing = |slot| many(slot) * u64::from(slot >= 2731);
    let one_hot = |slot| many(slot) + u64::from(slot == 9842) * 5_000_000;
    let huge_hot = |slot| if slot == 5000 { 10u64.pow(18) } else { 3 };
    let loads: [Load<'_>; 8] = [
        ("large-missing-node", 6, &missing),
        ("large-one-hot", 6, &one_hot),
        ("large-many-hot", 40, &|slot| few(slot) + hot(slot)),
        ("one-key", 3, &|slot| u64::from(slot == 16383)),
        ("all-equal", 3, &|_| 7),
        ("huge-hot", 3, &huge_hot),
        ("huge-all", 6, &|slot| {
            10u64.pow(15) + (noise(slot) * 1e7) as u64
        }),
        ("huge-equal", 6, &|_| 10u64.pow(15)),
    ];
    for (name, nodes, keys) in loads {
        draw_slots(name, nodes, keys);
    }
    for nodes in [1, 2, 3, 13, 41, 1000, 16384] {
        // The report of an empty dump on 16384 nodes has these, too.
        if is_campaign() || nodes < 1000 {
            draw_slots(&format!("empty-{nodes}"), nodes, |_| 0);
        }
        draw_slots(&format!("nodes-{nodes}"), nodes, spread_by_chance(61.0));
    }
}

#[test]
fn a_verdict_by_bytes_or_operations_has_charts_of_them() {
    let by = |by: Metric| {
        let name = format!("by-{}", by.name());
        let pictures = draw(&name, &of_weighed(by));
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
    let long = "x".repeat(400);
    let odd =
        format!("a,18446744073709551615,{long},{long},1\nb,0,\u{202e},a b ,\n,7,t,,sometime\n");
    for (name, rows, written, by) in [
        ("by-keys", rows.as_str(), Some(NOW), Metric::Keys),
        ("by-bytes", &rows, Some(NOW), Metric::Bytes),
        ("undated", &rows, None, Metric::Keys),
        ("odd", &odd, Some(NOW), Metric::Bytes),
        ("nothing", "a,0,t,,\n", None, Metric::Bytes),
    ] {
        let table = format!("key,size,type,encoding,expiry\n{rows}");
        let summary = of_rows(&table, written, Asked::from(by));
        draw(&format!("attributes-{name}"), &summary);
    }
}

/// Charts are judged by their pixels: the ratio of a hot node is red, a map of equal slots has one colour, an empty
/// slot is white.
#[test]
fn colours_say_what_the_numbers_say() {
    let has = Picture::pixels_of;
    let chart = |pictures: Vec<(&str, Picture)>, file: &str| {
        let mut pictures = pictures.into_iter();
        pictures.find(|(drawn, _)| *drawn == file).unwrap().1
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
