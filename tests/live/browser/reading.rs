//! Reading the page: hostile names are plain text, nothing is fetched, the numbers are those of report.json, and every
//! width is readable in both themes.

use std::path::Path;

use super::{
    Report, UNREADABLE, column, hostile, hostile_dump, of_sample, open, report, sample,
    weighed_dump,
};
use slotscope::name::Name;
use slotscope::report::render::html::MAX_BYTES;
use testkit::chromium::Chromium;
use testkit::prelude::*;

/// A report whose headings name a file too long for a line on a phone.
fn with_a_long_path() -> Report {
    let nodes = root().join("samples/seed-cluster.nodes");
    let scratch = Scratch::new();
    let long = scratch.path(&"n".repeat(200));
    std::fs::copy(nodes, &long).unwrap();
    report(b"a\nb\n", &["--topology", long.to_str().unwrap()])
}

#[test]
fn hostile_names_are_shown_as_plain_text() {
    let [names, weighed] = [
        (hostile_dump(), &["--format", "quoted"][..]),
        (weighed_dump(), &["--by", "bytes"]),
    ]
    .map(|(dump, flags)| report(&dump, flags));
    for report in [&names, &weighed] {
        let size = std::fs::metadata(&report.page).unwrap().len();
        assert!(size < MAX_BYTES as u64, "{size} bytes");
        let mut tab = open(report);
        assert_eq!(tab.eval("[document.scripts.length, document.images.length, document.querySelectorAll('[onload],[onerror],[onfocus],[onmouseover],a:not([href^=\"#\"], [href^=\"https://github.com/slotscope/slotscope/blob/main/docs/\"])').length]"), json!([2, 0, 0]));
        for button in [
            "#hottest",
            "#theme",
            "#tags-table thead th:nth-child(4) button",
        ] {
            tab.click(button);
        }
        tab.has_no_fault();
    }
    let mut tab = open(&names);
    let shown = tab.texts("#tags-table tbody th");
    for name in hostile().iter().filter(|name| name.len() < 100) {
        let mut spelling = format!("{{{}}}", Name::from(name.as_slice()));
        // A tag ends at its first closing brace.
        if name.starts_with(b"{{") {
            spelling = String::from("{{{7*7}");
        }
        assert!(shown.contains(&spelling), "no {spelling} in {shown:?}");
    }
    let longest = shown.iter().max_by_key(|name| name.len()).unwrap();
    longest.ends("…}").begins("{<long>xxx");
}

#[test]
fn only_the_script_of_the_page_runs_and_nothing_is_fetched() {
    let report = sample();
    let mut tab = open(&report);
    tab.has_no_fault();
    // The attacks possible through an unescaped name; a policy that permits one gives another result.
    let inline = "new Promise((done) => { document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective), {once: true}); const s = document.createElement('script'); s.append('window.owned = 1'); document.body.append(s); setTimeout(() => done('ran'), 5000); })";
    let directive = tab.eval(inline);
    let policies = ["script-src-elem", "require-trusted-types-for"];
    assert!(policies.contains(&directive.text()), "{directive}");
    let fetched = tab.eval("fetch('http://127.0.0.1:9/').then(() => 'fetched', (e) => e.message)");
    fetched.text().says("Failed to fetch");
    let image = "new Promise((done) => { document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective), {once: true}); const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i); setTimeout(() => done('asked'), 5000); })";
    assert_eq!(tab.eval(image), "img-src");
    let markup = tab
        .eval("(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set'; } catch (e) { return e.name; } })()");
    assert_eq!(markup, "TypeError");
    assert_eq!(tab.eval("typeof window.owned"), "undefined");
    // If violations were not seen, their absence would say nothing.
    assert!(!tab.faults().is_empty());
}

#[test]
fn the_numbers_are_those_of_report_json() {
    for (report, by) in [
        (sample(), "keys"),
        (report(&weighed_dump(), &["--by", "bytes"]), "bytes"),
    ] {
        let json = &report.json;
        let mut tab = open(&report);
        let facts = tab.eval("Object.fromEntries([...document.querySelectorAll('.facts dd')].map((e) => [e.dataset.name, Number(e.dataset.v)]))");
        assert_eq!(json["by"], by);
        let found = json["verdict"]["roles"].list();
        let worst = found.iter().find(|found| found["metric"] == by).unwrap();
        // Without sizes, nobody knows the usable memory.
        let usable = (by != "keys").then(|| &worst["usable_capacity"]);
        let expected = json!({
            "input.keys": json["input"]["keys"], "verdict.max_over_mean": worst["fullest"]["max_over_mean"],
            "verdict.usable_capacity": usable, "tags.distinct": json["tags"]["distinct"],
            "nodes.count": json["nodes"]["list"].list().len(),
        });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(facts[name].as_f64(), value.as_f64(), "{name}");
        }
        let numbers = |path: &Value, field: &str| -> Vec<String> {
            let rows = path.list().iter();
            rows.map(|row| row[field].to_string()).collect()
        };
        let mut nodes = numbers(&json["nodes"]["list"], "keys");
        let mut shown = column(&mut tab, "nodes-table", 3);
        nodes.sort();
        shown.sort();
        assert_eq!(shown, nodes);
        for (table, at, rows) in [
            ("hot-slots-table", 3, &json["slots"]["hottest"]),
            ("tags-table", 4, &json["tags"]["top"]),
            ("patterns-table", 2, &json["patterns"]["top"]),
            ("prefixes-table", 2, &json["prefixes"]["top"]),
        ] {
            let (shown, numbers) = (column(&mut tab, table, at), numbers(rows, "keys"));
            assert_eq!(shown, numbers[..shown.len()], "{table}");
            let is_enough = shown.len() >= 20 || shown.len() == numbers.len();
            assert!(is_enough, "{table}: {}", shown.len());
        }
        for metric in ["keys", by] {
            let loads = tab.eval(&format!(
                "texts.{metric}.map((text) => Number(base36(text)))"
            ));
            assert_eq!(loads, json["slots"][metric], "{metric}");
        }
        let sentence = tab.text(".sentence").replace('\u{a0}', " ").to_lowercase();
        assert_eq!(sentence, json["verdict"]["sentence"].text().to_lowercase());
    }
}

#[test]
fn without_script_the_verdict_the_nodes_and_the_tags_are_there() {
    let report = sample();
    let mut tab = Chromium::start().tab(1440, "light");
    let disable = "Emulation.setScriptExecutionDisabled";
    tab.call(disable, json!({"value": true}));
    tab.open(&report.page);
    // As if all was near the window: what is far from it has no text yet.
    tab.eval("for (const part of document.querySelectorAll('main > *')) part.style.contentVisibility = 'visible'");
    let seen = tab.eval("document.body.innerText");
    let seen = seen.text();
    seen.says("{common}")
        .says("172.26.0.6")
        .says("slot-heatmap.png");
    seen.says("Hash tags").says("Prefixes");
    // Controls would do nothing.
    seen.lacks("Show all").lacks("Filter");
}

#[test]
fn every_width_in_both_themes_is_readable() {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("browser");
    let flags = words("--by bytes --maxmemory 8mb --growth 5 --nodes 6");
    let reports = [
        ("commerce", sample()),
        ("shop", of_sample("shop.csv.zst", "shop.nodes")),
        ("hostile", report(&hostile_dump(), &["--format", "quoted"])),
        ("weighed", report(&weighed_dump(), &flags)),
        ("empty", report(b"", &[])),
        ("long-path", with_a_long_path()),
    ];
    let mut found = Vec::new();
    let mut tab = Chromium::start().tab(1440, "light");
    for width in [1440, 820, 390] {
        for theme in ["light", "dark"] {
            tab.emulate(width, theme);
            for (name, report) in &reports {
                tab.open(&report.page);
                let unreadable = tab.eval(UNREADABLE);
                tab.screenshot(&pictures.join(format!("{name}-{width}-{theme}.png")));
                if unreadable != json!([]) {
                    found.push(format!("{name} at {width} px, {theme}: {unreadable}"));
                }
                tab.has_no_fault();
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
