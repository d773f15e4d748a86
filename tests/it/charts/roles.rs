//! The charts of a dump with a big key, a hot tag and an expiry storm show each of them.

use super::{Picture, even};
use slotscope::report::charts::{CHARTS, Chart};
use slotscope::report::{self, ChartSet};
use slotscope::source::memory::memory;
use slotscope::summary::observed::Observed;
use slotscope::summary::role_load::Asked;
use slotscope::summary::{InputFacts, Summary, summarise};
use slotscope::tally::{Parts, Tallies};
use testkit::run::{Scratch, report};
use testkit::scan::Scanning;

const BIG_KEY: [u8; 3] = [0xD9, 0x82, 0x2B];
const HOT_TAG: [u8; 3] = [0x1D, 0x4F, 0x7C];
const STORM: [u8; 3] = [0xA8, 0x1E, 0x16];
const NOW: u64 = 1_795_000_000;

/// The findings for plain keys, a tenth of which expires, and for additional rows.
fn of_rows(more: &str) -> Summary {
    let mut rows = String::from("key,size,ops,expiry\n");
    for i in 0..6000u64 {
        let expiry = match i % 10 {
            0 => (NOW + 60 * (i % 700)).to_string(),
            _ => String::new(),
        };
        rows += &format!("k:{i},1000,10,{expiry}\n");
    }
    let inputs = vec![memory("rows", (rows + more).as_bytes())];
    let scanned = Scanning::detected().run(&inputs, || Tallies::new(Parts::All));
    let input = InputFacts {
        written: Some(NOW),
        ..InputFacts::default()
    };
    let (observed, asked) = (Observed::default(), Asked::default());
    summarise(&scanned.tally, None, &even(3), &observed, &asked, input)
}

fn chart(file: &str) -> &'static Chart {
    CHARTS.iter().find(|chart| chart.file == file).unwrap()
}

fn drawn(summary: &Summary, file: &str) -> Picture {
    let mut bytes = Vec::new();
    (chart(file).sheet)(summary).write(&mut bytes).unwrap();
    Picture::decode(&bytes)
}

/// Keys of one tag, with many operations.
fn hot_tag() -> String {
    (0..100)
        .map(|i| format!("hot:{{flash}}:{i},10,900,\n"))
        .collect()
}

#[test]
fn nodes_and_tops_show_a_big_key_and_a_hot_tag_in_colours_of_their_own() {
    let big_key = "big,9000000,1,\n";
    for (rows, has_key, has_tag) in [
        (String::new(), false, false),
        (big_key.into(), true, false),
        (hot_tag(), false, true),
        (hot_tag() + big_key, true, true),
    ] {
        let nodes = drawn(&of_rows(&rows), "nodes.png");
        let pixels = (nodes.pixels_of(BIG_KEY), nodes.pixels_of(HOT_TAG));
        assert_eq!(
            (pixels.0 > 2000, pixels.1 > 2000),
            (has_key, has_tag),
            "{pixels:?}"
        );
    }
    // The key by bytes and the tag by operations, in one chart.
    let tops = drawn(&of_rows(&(hot_tag() + big_key)), "top-tags.png");
    assert!(tops.pixels_of(BIG_KEY) > 1000 && tops.pixels_of(HOT_TAG) > 1000);
}

#[test]
fn a_storm_of_expiry_is_set_off() {
    let storm: String = (0..2000)
        .map(|i| format!("page:{i},1000,1,{}\n", NOW + 7200 + i % 40))
        .collect();
    assert_eq!(drawn(&of_rows(""), "expiry.png").pixels_of(STORM), 0);
    let picture = drawn(&of_rows(&storm), "expiry.png");
    assert!(
        picture.pixels_of(STORM) > 1000,
        "{}",
        picture.pixels_of(STORM)
    );
}

#[test]
fn single_bars_are_drawn_on_request() {
    let written = |summary: &Summary, set| {
        let files = CHARTS.iter().map(|chart| chart.file).filter(|file| {
            let mut out = Vec::new();
            report::outputs(set).write(summary, file, &mut out).unwrap();
            !out.is_empty()
        });
        files.collect::<Vec<_>>()
    };
    let plain = of_rows("");
    let (usual, all) = (
        written(&plain, ChartSet::Usual),
        written(&plain, ChartSet::All),
    );
    let on_request: Vec<_> = all.iter().filter(|file| !usual.contains(file)).collect();
    assert_eq!(on_request, [&"top-tags.png"]);
    let usual = written(&of_rows(&(hot_tag() + "big,9000000,1,\n")), ChartSet::Usual);
    assert!(usual.contains(&"top-tags.png"));
}

#[test]
fn a_directory_has_the_charts_that_the_flag_asks_for() {
    let scratch = Scratch::new();
    for (flags, has_all) in [(&["--charts", "all"][..], true), (&[], false)] {
        let args = [&["analyze", "--json", "--out", "here"], flags].concat();
        report(&scratch.piped(&args, b"a\nb\nc\n"));
        let entries = scratch.entries("here");
        assert_eq!(
            entries.contains(&"top-tags.png".into()),
            has_all,
            "{entries:?}"
        );
    }
}
