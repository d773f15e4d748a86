//! The slot map: it follows the metric, names what fills a slot, and responds to touch.

use super::{of_sample, open, open_at_the_map, report};
use testkit::chromium::Tab;
use testkit::prelude::*;

fn most(loads: &Value) -> usize {
    let loads = loads.list().iter().map(|load| load.as_u64());
    let first = loads
        .enumerate()
        .max_by_key(|(slot, load)| (*load, usize::MAX - slot));
    first.unwrap().0
}

fn listed(tab: &mut Tab) -> Vec<usize> {
    let slots = tab.texts("#fullest b");
    slots.iter().map(|slot| slot.parse().unwrap()).collect()
}

#[test]
fn heading_list_and_panel_follow_the_metric() {
    let report = of_sample("shop.csv.zst", "shop.nodes");
    let mut tab = open_at_the_map(&report);
    for (metric, name) in [
        ("bytes", "leaderboard:loyalty"),
        ("keys", ""),
        ("ops", "{flash-sale}"),
    ] {
        tab.click(&format!("#metric input[value={metric}]"));
        assert_eq!(tab.text("#slots-head"), format!("Slots by {metric}"));
        let fullest = most(&report.json["slots"][metric]);
        assert_eq!(listed(&mut tab)[0], fullest, "{metric}");
        assert_eq!(tab.text("#under h3"), format!("Slot {fullest}"));
        let panel = tab.text("#under");
        panel.says(name).says(&format!("in {metric}"));
    }
    // The slot filled by a key names it, in the panel and in the table.
    tab.click("#metric input[value=bytes]");
    tab.text("#under dd div").begins("leaderboard:loyalty");
    tab.text("#hot-slots-table")
        .says("config:flags")
        .says("{flash-sale}");
}

#[test]
fn the_scale_ends_at_a_quantile_and_the_slots_above_it_are_labelled() {
    let report = of_sample("shop.csv.zst", "shop.nodes");
    let mut tab = open_at_the_map(&report);
    let mut loads: Vec<u64> = serde_json::from_value(report.json["slots"]["ops"].clone()).unwrap();
    loads.sort_unstable();
    let top = loads[loads.len() * 999 / 1000];
    let end = tab.text("#most").replace(',', "");
    let end: u64 = end.trim_end_matches(" ops or more").parse().unwrap();
    assert!((top..top + top / 10).contains(&end), "{end}, not {top}");
    let labels = tab.texts(".peak");
    assert!(labels.len() > 2, "{labels:?}");
    assert_eq!(labels[0], "7991{flash-sale}");
    let overlap = tab.eval("(() => { const boxes = [...document.querySelectorAll('.peak > span')].map((e) => e.getBoundingClientRect()); return boxes.some((a, i) => boxes.some((b, j) => i < j && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)); })()");
    assert_eq!(overlap, false);
    tab.text("#slot-view .legend").says("empty");
    tab.click("#scale input[value=log]");
    assert_eq!(tab.count(".peak"), 0, "a logarithmic scale holds all");
}

#[test]
fn many_nodes_have_no_borders_at_first() {
    let line = |node: u64| {
        let [first, end] = [node, node + 1].map(|at| at * 16384 / 100);
        let place = format!("10.0.0.{node}:6379@16379 master - 0 0 {node} connected");
        format!("{node:040x} {place} {first}-{}\n", end - 1)
    };
    let scratch = Scratch::new();
    let many = scratch.file("many.nodes", (0..100).map(line).collect::<String>());
    let keys: String = (0..2000).map(|key| format!("key:{key}\n")).collect();
    for (flags, checked) in [
        (["--topology", many.to_str().unwrap()], false),
        (["--nodes", "24"], true),
    ] {
        let mut tab = open(&report(keys.as_bytes(), &flags));
        let borders = tab.eval("document.querySelector('#borders').checked");
        assert_eq!(borders, checked, "{flags:?}");
    }
}
#[test]
fn a_finger_means_the_fullest_slot_below_it() {
    let report = of_sample("shop.csv.zst", "shop.nodes");
    let mut tab = open_at_the_map(&report);
    tab.emulate(390, "light");
    let touch = json!({"enabled": true, "maxTouchPoints": 1});
    tab.call("Emulation.setTouchEmulationEnabled", touch);
    tab.click("#hottest");
    assert_ne!(tab.text("#under h3"), "Slot 7991");
    // Slot 7991 is in row 62 and column 55; the finger is one cell off.
    let place = tab.eval("(() => { const e = document.querySelector('#map'); e.scrollIntoView({block: 'center'}); const b = e.getBoundingClientRect(); return {x: b.left + 56.5 / 128 * b.width, y: b.top + 63.5 / 128 * b.height}; })()");
    for (kind, points) in [("touchStart", json!([place])), ("touchEnd", json!([]))] {
        let touch = json!({"type": kind, "touchPoints": points});
        tab.call("Input.dispatchTouchEvent", touch);
    }
    assert_eq!(tab.text("#under h3"), "Slot 7991");
    tab.has_no_fault();
}
