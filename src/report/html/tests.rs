//! The page as text: what it may run, how large it gets, which colours it has.

use super::*;
use crate::metric::PerMetric;
use crate::name::Name;
use crate::slot::SLOTS;
use crate::summary::nodes::NodeLoad;
use crate::summary::patterns::{Kind, Kinds, Pattern, Prefix};
use crate::summary::tags::{Tag, TagLoad, Tags};
use crate::summary::{HotSlot, InputFacts, summarise};
use crate::tally::{Parts, Tallies};
use crate::topology::Topology;

fn empty() -> Summary {
    let topology = Topology::even(3, "even 3".into()).unwrap();
    summarise(&Tallies::new(Parts::All), None, &topology, Metric::Keys, InputFacts::default())
}

fn page(summary: &Summary) -> String {
    let mut page = Vec::new();
    write(summary, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// A summary in which everything is as long as it can be, and needs escaping.
fn largest() -> Summary {
    let name = |index: usize| Name([vec![b'<'; 1 << 10], index.to_string().into_bytes()].concat());
    // Weights are what a table says; keys are counted one by one.
    let load = PerMetric { keys: 1_000_000_000_000, bytes: Some(u64::MAX), ops: Some(u64::MAX) };
    let mut summary = empty();
    summary.slots.loads = load.map(|_, most| vec![*most; SLOTS]);
    summary.nodes.list = (0..SLOTS as u16)
        .map(|slot| NodeLoad { id: name(slot.into()), address: None, slots: 1, ranges: vec![(slot, slot)], load })
        .collect();
    let tag = |index: usize| Tag {
        tag: name(index),
        slot: index as u16,
        node: Some(name(index)),
        load,
        keys_error: u64::MAX,
        bytes_error: None,
        ops_error: None,
        share: 1.0 / 3.0,
    };
    summary.tags = Some(Tags { top: (0..1000).map(tag).collect(), ..Tags::default() });
    let kind = Kind { load, share: 1.0 / 3.0, tagged_share: 1.0 / 3.0, slots: None };
    let prefix = |index| Prefix { prefix: name(index), level: 1 + index % 4, kind: kind.clone() };
    summary.prefixes = Some(Kinds { exact: false, max_error: u64::MAX, top: (0..1000).map(prefix).collect() });
    let pattern = |index| Pattern { pattern: name(index), kind: kind.clone() };
    summary.patterns = Some(Kinds { exact: false, max_error: u64::MAX, top: (0..1000).map(pattern).collect() });
    let top_tags = (0..5).map(|index| TagLoad { tag: name(index), load }).collect::<Vec<_>>();
    let hot = |slot| HotSlot { slot, node: Some(name(slot.into())), load, over_mean: 1e9, top_tags: top_tags.clone() };
    summary.slots.hottest = (0..20).map(hot).collect();
    let long = || "<".repeat(1 << 20);
    summary.skew.sentence = long();
    summary.input.warnings = (0..1000).map(|_| long()).collect();
    summary.input.notes = (0..1000).map(|_| long()).collect();
    summary
}

#[test]
fn the_page_stays_small_whatever_the_dump() {
    let page = page(&largest());
    assert!(page.len() <= MAX_BYTES, "{} bytes", page.len());
    assert!(page.len() > MAX_BYTES / 2, "{} bytes: there is room for more", page.len());
}

#[test]
fn the_page_holds_one_script_and_one_style_of_ours() {
    for page in [page(&empty()), page(&largest())] {
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script").count(), 2);
        assert_eq!(page.matches("<style").count(), 1);
        assert!(!page.contains(" style=") && !page.contains("<<"));
        let head = page.split("<style>").next().unwrap();
        assert!(head.contains("default-src 'none'; script-src 'sha256-") && !head.contains("unsafe"));
        assert!(
            page.contains(&format!("<script>{SCRIPT}</script>")) && page.contains(&format!("<style>{STYLE}</style>"))
        );
    }
}

#[test]
fn the_policy_names_the_sha_256_of_what_it_lets_run() {
    // FIPS 180-4: the digest of the empty text, as base64.
    assert_eq!(STANDARD.encode(Sha256::digest("")), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert!(policy().contains(&STANDARD.encode(Sha256::digest(SCRIPT))));
}

#[test]
fn the_colours_are_those_of_the_charts() {
    let palette: String = include_str!("../chart/palette.rs").split_whitespace().collect();
    let has = |colour: &str| {
        let [r, g, b] = [0, 2, 4].map(|at| colour[at..at + 2].to_uppercase());
        palette.contains(&format!("RGBColor(0x{r},0x{g},0x{b})"))
    };
    let named = STYLE.lines().filter(|line| line.contains("/* chart")).collect::<Vec<_>>();
    assert!(named.len() >= 6, "{named:?}");
    for line in named {
        let colour = line.split("light-dark(#").nth(1).unwrap().get(..6).unwrap();
        assert!(has(colour), "{colour} is no colour of the charts");
    }
    let ramp: Vec<_> = SCRIPT.split("const RAMP = \"").nth(1).unwrap().split('"').next().unwrap().split(' ').collect();
    assert_eq!(ramp.len(), 9);
    ramp.iter().for_each(|colour| assert!(has(colour), "{colour}"));
}
