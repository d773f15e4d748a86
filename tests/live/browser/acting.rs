//! The top of the page, and its coherence: cards of the problems, steps, navigation, print, layout.

use std::path::Path;

use super::{Report, of_sample, open, sample};
use testkit::chromium::{Chromium, Tab};
use testkit::prelude::*;

/// Size limit for the page of the shop, in bytes.
const SHOP_BYTES: u64 = 550_000;
/// Limit for the layout shift while the page loads; above it readers lose their place.
const LAYOUT_SHIFT: f64 = 0.05;

fn shop() -> Report {
    of_sample("shop.csv.zst", "shop.nodes")
}

fn strings(tab: &mut Tab, expression: &str) -> Vec<String> {
    serde_json::from_value(tab.eval(expression)).unwrap()
}

/// With plain spaces as in report.json: the page keeps numbers and units on one line.
fn plain(text: String) -> String {
    text.replace('\u{a0}', " ")
}

#[test]
fn every_problem_has_a_card_with_its_causes_and_steps_on_the_first_screen() {
    let report = shop();
    let findings = report.json["verdict"]["findings"].list();
    let problems: Vec<&Value> = findings
        .iter()
        .filter(|found| !found["state"].is_null())
        .collect();
    let mut tab = open(&report);
    assert_eq!(problems.len(), 2);
    assert_eq!(tab.texts(".card .badge"), ["HOT", "SKEWED"]);
    for (at, problem) in problems.iter().enumerate() {
        let card = format!("#finding-{at}");
        let sentence = plain(tab.text(&format!("{card} .sentence")));
        assert_eq!(sentence, problem["sentence"].text());
        let causes = tab.texts(&format!("{card} tbody tr"));
        assert!(causes.len() > 1, "{causes:?}");
        let bars = format!("document.querySelectorAll('{card} tbody .bar').length");
        assert_eq!(tab.eval(&bars), causes.len());
        let numbers = strings(
            &mut tab,
            &format!(
                "[...document.querySelectorAll('{card} .for li')].map((e) => String(e.value - 1))"
            ),
        );
        assert_eq!(
            json!(
                numbers
                    .iter()
                    .map(|n| n.parse::<u64>().unwrap())
                    .collect::<Vec<_>>()
            ),
            problem["steps"]
        );
        let end = format!("document.querySelector('{card}').getBoundingClientRect().bottom");
        assert!(tab.eval(&end).float() < 900.0, "{card} is cut off");
    }
    let lost = tab.eval("[...document.querySelectorAll('.for a')].filter((a) => !document.querySelector(a.hash)).length");
    assert_eq!(lost, 0);
    let shown = plain(tab.text("#finding-0 .for li a"));
    let first = &report.json["verdict"]["steps"][problems[0]["steps"][0].whole() as usize];
    assert_eq!(shown, first["sentence"].text());
}

#[test]
fn each_step_says_what_it_changes_in_memory_and_load() {
    let report = shop();
    let steps = report.json["verdict"]["steps"].list();
    let mut tab = open(&report);
    assert_eq!(
        tab.texts(".steps thead th"),
        ["Step", "What", "memory", "load"]
    );
    for (at, step) in steps.iter().enumerate() {
        let row = format!("#step-{}", at + 1);
        let after = tab.texts(&format!("{row} .n"));
        for (role, shown) in ["memory", "load"].iter().zip(after) {
            // A step without effect has no arrow.
            if let Some((_, shown)) = shown.split_once(" → ") {
                let exact = step["after"][role]["max_over_mean"].float();
                let shown: f64 = shown.trim_start_matches('≈').parse().unwrap();
                assert!(
                    (shown - exact).abs() < 0.006,
                    "{row}: {role} {shown}, {exact}"
                );
            }
        }
        let command = step["command"].as_str();
        let found = tab.eval(&format!(
            "document.querySelector('#command-{}')?.textContent ?? null",
            at + 1
        ));
        assert_eq!(found.as_str(), command);
    }
    let buttons = tab.eval("document.querySelectorAll('.copy').length");
    assert!(buttons.whole() > 3, "{buttons}");
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
    let bars =
        tab.eval("document.querySelectorAll('#nodes-table tbody tr:first-child .bar').length");
    assert_eq!(bars, 2, "memory and load");
}

#[test]
fn every_section_is_in_the_navigation_and_details_open_where_a_link_leads() {
    let report = shop();
    let mut tab = open(&report);
    let missing = strings(
        &mut tab,
        "[...document.querySelectorAll('main section[id]')].map((e) => e.id).filter((id) => !id.startsWith('finding-') && !document.querySelector(`nav a[href=\"#${id}\"]`))",
    );
    assert_eq!(missing, [""; 0]);
    let closed = "document.querySelector('.details').open";
    assert_eq!(tab.eval(closed), false);
    tab.click("nav details:has(a[href=\"#run\"]) summary");
    tab.click("nav a[href=\"#run\"]");
    tab.eval("new Promise((done) => setTimeout(done, 100))");
    assert_eq!(tab.eval(closed), true);
}

#[test]
fn landmarks_have_names_of_their_own_and_no_head_is_empty() {
    for report in [shop(), sample()] {
        let mut tab = open(&report);
        let names = strings(
            &mut tab,
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
        let hints = tab.eval("document.querySelectorAll('thead [title], dd[title]').length");
        assert_eq!(hints, 0, "explanations that only a pointer shows");
    }
}

#[test]
fn paper_has_no_instructions_for_a_screen() {
    let report = shop();
    for width in [390, 1000] {
        let mut tab = Chromium::start().tab(width, "light");
        tab.open(&report.page);
        tab.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
        let seen = tab.eval("document.body.innerText + [...document.querySelectorAll('.table')].map((e) => getComputedStyle(e, '::after').content).filter((text) => text !== 'none').join()");
        let seen = seen.text();
        for words in ["Copy", "wider screen", "Tap or point", "Show all"] {
            assert!(!seen.contains(words), "{words} at {width} px");
        }
        for words in ["leaderboard:loyalty", "filled by", "× fair"] {
            assert!(seen.contains(words), "{words} is missing at {width} px");
        }
    }
}

#[test]
fn the_page_does_not_move_while_it_loads() {
    let watch = "window.shift = 0; new PerformanceObserver((list) => { for (const entry of list.getEntries()) window.shift += entry.value; }).observe({type: 'layout-shift', buffered: true});";
    let report = shop();
    for width in [1440, 390] {
        let mut tab = Chromium::start().tab(width, "light");
        tab.call(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": watch}),
        );
        // On a slow CPU the browser paints before the script runs.
        tab.call("Emulation.setCPUThrottlingRate", json!({"rate": 6}));
        tab.open(&report.page);
        let shift = tab.eval("new Promise((done) => setTimeout(() => done(window.shift), 1000))");
        assert!(shift.float() < LAYOUT_SHIFT, "{shift} at {width} px");
    }
}

#[test]
fn the_page_of_the_shop_is_small() {
    let size = |page: &Path| std::fs::metadata(page).unwrap().len();
    let report = shop();
    let size = size(&report.page);
    assert!(size < SHOP_BYTES, "{size} bytes");
}
