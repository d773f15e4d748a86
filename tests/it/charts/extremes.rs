//! Charts of extreme findings: nothing, the maximum of every count, names of any length and form.

use super::{draw, even, judged, noise, of_rows, of_slots, spread_by_chance};
use slotscope::metric::{Errors, Metric, PerMetric};
use slotscope::name::Name;
use slotscope::slot::SLOTS;
use slotscope::summary::independent_units::{Unit, UnitKind};
use slotscope::summary::patterns::{GroupLoad, KeyGroups, Prefix};
use slotscope::summary::role_load::Asked;
use slotscope::summary::tags::{Tag, TagLoad};
use slotscope::summary::{FileFacts, Incomplete, InputFacts, Summary};
use slotscope::tally::{Parts, Tallies};
use slotscope::topology::Topology;

#[test]
fn names_and_sizes_of_any_length() {
    let draw_by = |name: &str, rows: &str, by: Metric| {
        let rows = format!("key,size\n{rows}");
        draw(name, &of_rows(&rows, None, Asked::from(by)));
    };
    let long = "long:".repeat(1 << 14);
    let huge = format!("{long},18446744073709551615\na:b:c,1\n,7\n");
    let row = |i: usize| {
        let segments = "seg:".repeat(i % 9);
        format!("a:{segments}:x{{{}}},{}\n", i % 3, 1u64 << (i % 60))
    };
    let all_magnitudes: String = (0..5000).map(row).collect();
    draw_by("one-empty", "x,0\n", Metric::Bytes);
    draw_by("one-byte", "{x}:y:1,1\n", Metric::Bytes);
    draw_by("one-huge", &huge, Metric::Bytes);
    draw_by("one-long", &huge, Metric::Keys);
    draw_by("all-magnitudes", &all_magnitudes, Metric::Bytes);
}

/// `summary` with tags of these names, sorted by weight.
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
    let unit = |tag: &Tag| Unit {
        kind: UnitKind::Tag,
        name: tag.tag.clone(),
        slot: tag.slot,
        node: summary.nodes.list.first().map(|node| node.id.clone()),
        load: tag.load.keys as f64,
        at_most: (tag.load.keys + tag.error(Metric::Keys)) as f64,
        main_key: None,
        reads: None,
    };
    summary.units.per.keys.named = tags.top.iter().map(unit).collect();
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
        vec![b'x'; 1 << 16],
        "e\u{301}".repeat(1 << 14).into_bytes(),
        "用户:".repeat(5_000).into_bytes(),
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
    let mut tallies = Tallies::new(Parts::Slots);
    tallies.slots.loads.keys = vec![0; SLOTS];
    let summary = judged(&tallies, &even(3), Asked::default(), InputFacts::default());
    draw("empty-only-slots", &summary);
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
    summary.input.incomplete = vec![Incomplete {
        file: Name(names[0].clone()),
        byte: 7,
        reason: String::new(),
    }];
    draw("hostile", &summary);
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
        // Others need tags, or nodes with a load.
        let mut files = drawn.iter().map(|(file, _)| *file);
        assert!(files.any(|file| file == "slot-heatmap.png"), "{case}");
    }
}
