//! The top of the page, and its coherence: cards of the problems, steps, navigation, print, layout.

use super::{Report, of_sample, open, sample};
use testkit::chromium::Chromium;
use testkit::prelude::*;

/// Size limit for the page of the shop, in bytes.
const SHOP_BYTES: u64 = 550_000;
/// Limit for the layout shift while the page loads; above it readers lose their place.
const LAYOUT_SHIFT: f64 = 0.05;

fn shop() -> Report {
    of_sample("shop.csv.zst", "shop.nodes")
}

/// With plain spaces as in report.json: the page keeps numbers and units on one line.
fn plain(text: String) -> String {
    text.replace('\u{a0}', " ")
}

#[test]
fn every_problem_has_a_card_with_its_causes_and_steps_on_the_first_screen() {
    let report = shop();
    let findings = report.json["verdict"]["findings"].list().iter();
    let problems: Vec<&Value> = findings.filter(|found| !found["state"].is_null()).collect();
    let mut tab = open(&report);
    assert_eq!(problems.len(), 2);
    assert_eq!(tab.texts(".card .badge"), ["HOT", "SKEWED"]);
    for (at, problem) in problems.iter().enumerate() {
        let card = format!("#finding-{at}");
        let sentence = plain(tab.text(&format!("{card} .sentence")));
        assert_eq!(sentence, problem["sentence"].text());
        let causes = tab.count(&format!("{card} tbody tr"));
        assert!(causes > 1, "{causes}");
        assert_eq!(tab.count(&format!("{card} tbody .bar")), causes);
        let items = format!("[...document.querySelectorAll('{card} .for li')]");
        let numbers = tab.eval(&format!("{items}.map((e) => e.value - 1)"));
        assert_eq!(numbers, problem["steps"]);
        let end = format!("document.querySelector('{card}').getBoundingClientRect().bottom");
        assert!(tab.eval(&end).float() < 900.0, "{card} is cut off");
    }
    let lost = tab.eval("[...document.querySelectorAll('.for a')].filter((a) => !document.querySelector(a.hash)).length");
    assert_eq!(lost, 0);
    let shown = plain(tab.text("#finding-0 .for li a"));
    let first = &report.json["verdict"]["steps"][problems[0]["steps"][0].whole() as usize];
    assert_eq!(shown, first["sentence"].text());
    let size = std::fs::metadata(&report.page).unwrap().len();
    assert!(size < SHOP_BYTES, "{size} bytes");
}
#[test]
fn each_step_says_what_it_changes_in_memory_and_load() {
    let report = shop();
    let steps = report.json["verdict"]["steps"].list();
    let mut tab = open(&report);
    let heads = tab.texts(".steps thead th");
    assert_eq!(heads, ["Step", "What", "memory", "load"]);
    for (at, step) in steps.iter().enumerate() {
        let row = format!("#step-{}", at + 1);
        let after = tab.texts(&format!("{row} .n"));
        for (role, shown) in ["memory", "load"].iter().zip(after) {
            // A step without effect has no arrow.
            if let Some((_, shown)) = shown.split_once(" → ") {
                let exact = step["after"][role]["max_over_mean"].float();
                let shown: f64 = shown.trim_start_matches('≈').parse().unwrap();
                let off = (shown - exact).abs();
                assert!(off < 0.006, "{row}: {role} {shown}, {exact}");
            }
        }
        let command = format!("document.querySelector('#command-{}')", at + 1);
        let found = tab.eval(&format!("{command}?.textContent ?? null"));
        assert_eq!(found.as_str(), step["command"].as_str());
    }
    let buttons = tab.count(".copy");
    assert!(buttons > 3, "{buttons}");
    tab.click(".for .copy");
    let chosen = tab.eval("getSelection().toString()");
    // The first step is for the cluster, the others are on its cards.
    let first = steps[1..].iter().find(|step| step["command"].is_string());
    let command = &first.unwrap()["command"];
    assert_eq!(chosen, *command, "Copy in a card is for its command");
}

#[test]
fn nodes_are_ordered_by_the_worse_of_their_roles() {
    let report = shop();
    let mut tab = open(&report);
    let worse = |node: &Value| {
        let of = |role: &str| node["over_share"][role].as_f64().unwrap_or(0.0);
        of("memory").max(of("load"))
    };
    let mut nodes: Vec<&Value> = report.json["nodes"]["list"].list().iter().collect();
    nodes.sort_by(|a, b| worse(b).total_cmp(&worse(a)));
    let wanted: Vec<String> = nodes.iter().map(|node| node["slots"].to_string()).collect();
    assert_eq!(super::column(&mut tab, "nodes-table", 2), wanted);
    let bars = tab.count("#nodes-table tbody tr:first-child .bar");
    assert_eq!(bars, 2, "memory and load");
}

#[test]
fn every_section_is_in_the_navigation_and_details_open_where_a_link_leads() {
    let report = shop();
    let mut tab = open(&report);
    let missing = tab.strings(
        "[...document.querySelectorAll('main section[id]')].map((e) => e.id).filter((id) => !id.startsWith('finding-') && !document.querySelector(`nav a[href=\"#${id}\"]`))",
    );
    assert_eq!(missing, [""; 0]);
    let is_open = "document.querySelector('.details').open";
    assert_eq!(tab.eval(is_open), false);
    tab.click("nav details:has(a[href=\"#run\"]) summary");
    tab.click("nav a[href=\"#run\"]");
    tab.until(is_open);
}

#[test]
fn landmarks_have_names_of_their_own_and_no_head_is_empty() {
    for report in [shop(), sample()] {
        let mut tab = open(&report);
        let names = tab.strings(
            "[...document.querySelectorAll('section[aria-labelledby], [role=region], nav')].map((e) => e.ariaLabel ?? document.getElementById(e.getAttribute('aria-labelledby')).textContent)",
        );
        let mut unique = names.clone();
        unique.sort();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{names:?}");
        let empty = tab.eval(
            "[...document.querySelectorAll('th')].filter((e) => !e.textContent.trim()).length",
        );
        assert_eq!(empty, 0);
        let hints = tab.count("thead [title], dd[title]");
        assert_eq!(hints, 0, "explanations that only a pointer shows");
    }
}

#[test]
fn paper_has_no_instructions_for_a_screen() {
    let report = shop();
    for width in [390, 1000] {
        let mut tab = Chromium::start().tab(width, "light");
        tab.open(&report.page);
        if width == 390 {
            assert_eq!(tab.text("#most"), "", "the map is drawn before it is near");
        }
        tab.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
        tab.eval("dispatchEvent(new Event('beforeprint'))");
        tab.text("#most").says("ops or more");
        let seen = tab.eval("document.body.innerText + [...document.querySelectorAll('.table')].map((e) => getComputedStyle(e, '::after').content).filter((text) => text !== 'none').join()");
        println!("{width} px");
        let seen = seen.text();
        seen.lacks("Copy")
            .lacks("wider screen")
            .lacks("Tap or point")
            .lacks("Show all");
        seen.says("leaderboard:loyalty")
            .says("filled by")
            .says("× fair");
    }
}

#[test]
fn the_page_does_not_move_while_it_loads() {
    let watch = "window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value; }).observe({type: 'layout-shift', buffered: true});";
    let report = shop();
    for width in [1440, 390] {
        let mut tab = Chromium::start().tab(width, "light");
        let add = "Page.addScriptToEvaluateOnNewDocument";
        tab.call(add, json!({"source": watch}));
        // On a slow CPU the browser paints what it has read so far, and before the script runs.
        tab.call("Emulation.setCPUThrottlingRate", json!({"rate": 20}));
        tab.open(&report.page);
        let shift = tab.eval("new Promise((done) => setTimeout(() => done(window.shift), 1000))");
        assert!(shift.float() < LAYOUT_SHIFT, "{shift} at {width} px");
    }
}
