//! Reading the page: hostile names are plain text, nothing is fetched, the numbers are those of report.json, and every
//! width is readable in both themes.

use std::path::Path;

use super::{
    Report, UNREADABLE, column, hostile, hostile_dump, of_sample, open, report, sample,
    weighed_dump,
};
use slotscope::name::Name;
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
        assert!(
            size < slotscope::report::render::html::MAX_BYTES as u64,
            "{size} bytes"
        );
        let mut tab = open(report);
        assert_eq!(tab.eval("[document.scripts.length, document.images.length, document.querySelectorAll('[onload],[onerror],[onfocus],[onmouseover],a:not([href^=\"#\"], [href^=\"https://github.com/slotscope/slotscope/blob/main/docs/\"])').length]"), json!([2, 0, 0]));
        for button in [
            "#hottest",
            "#theme",
            "#tags-table thead th:nth-child(4) button",
        ] {
            tab.click(button);
        }
        assert_eq!(tab.faults(), Vec::<String>::new());
    }
    let mut tab = open(&names);
    let shown = tab.texts("#tags-table tbody th");
    for name in hostile().iter().filter(|name| name.len() < 100) {
        let spelling = format!("{{{}}}", Name::from(name.as_slice()));
        // A tag ends at its first closing brace.
        let spelling = if name.starts_with(b"{{") {
            String::from("{{{7*7}")
        } else {
            spelling
        };
        assert!(
            shown.contains(&spelling),
            "{spelling} is not among {shown:?}"
        );
    }
    let longest = shown.iter().max_by_key(|name| name.len()).unwrap();
    longest.ends("…}").begins("{<long>xxx");
}

#[test]
fn only_the_script_of_the_page_runs_and_nothing_is_fetched() {
    let report = sample();
    let mut tab = open(&report);
    assert_eq!(tab.faults(), Vec::<String>::new());
    // The attacks possible through an unescaped name; a policy that permits one gives another result.
    let inline = "new Promise((done) => { document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective), {once: true}); const s = document.createElement('script'); s.append('window.owned = 1'); document.body.append(s); setTimeout(() => done('ran'), 5000); })";
    let directive = tab.eval(inline);
    assert!(
        ["script-src-elem", "require-trusted-types-for"].contains(&directive.text()),
        "{directive}"
    );
    let fetched = tab.eval("fetch('http://127.0.0.1:9/').then(() => 'fetched', (e) => e.message)");
    assert!(fetched.text().contains("Failed to fetch"), "{fetched}");
    let image = "new Promise((done) => { document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective), {once: true}); const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i); setTimeout(() => done('asked'), 5000); })";
    assert_eq!(tab.eval(image), "img-src");
    let markup = tab
        .eval("(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set'; } catch (e) { return e.name; } })()");
    assert_eq!(markup, "TypeError");
    assert_eq!(tab.eval("typeof window.owned"), "undefined");
    assert!(
        !tab.faults().is_empty(),
        "violations are not seen, so their absence says nothing"
    );
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
            path.list()
                .iter()
                .map(|row| row[field].to_string())
                .collect()
        };
        let mut nodes = numbers(&json["nodes"]["list"], "keys");
        let mut shown = column(&mut tab, "nodes-table", 3);
        nodes.sort();
        shown.sort();
        assert_eq!(shown, nodes);
        assert_eq!(
            column(&mut tab, "hot-slots-table", 3),
            numbers(&json["slots"]["hottest"], "keys")
        );
        let tags = column(&mut tab, "tags-table", 4);
        assert_eq!(tags, numbers(&json["tags"]["top"], "keys")[..tags.len()]);
        assert!(tags.len() >= 20 || tags.len() == json["tags"]["top"].list().len());
        let patterns = column(&mut tab, "patterns-table", 2);
        assert_eq!(
            patterns,
            numbers(&json["patterns"]["top"], "keys")[..patterns.len()]
        );
        let prefixes = column(&mut tab, "prefixes-table", 2);
        assert_eq!(
            prefixes,
            numbers(&json["prefixes"]["top"], "keys")[..prefixes.len()]
        );
        for metric in ["keys", by] {
            assert_eq!(
                tab.eval(&format!("exact.{metric}.map(Number)")),
                json["slots"][metric],
                "{metric}"
            );
        }
        let sentence = tab.text(".sentence").replace('\u{a0}', " ").to_lowercase();
        assert_eq!(sentence, json["verdict"]["sentence"].text().to_lowercase());
    }
}

#[test]
fn without_script_the_verdict_the_nodes_and_the_tags_are_there() {
    let report = sample();
    let mut tab = Chromium::start().tab(1440, "light");
    tab.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    tab.open(&report.page);
    let seen = tab.eval("document.body.innerText");
    let seen = seen.text();
    for words in [
        "{common}",
        "172.26.0.6",
        "slot-heatmap.png",
        "Hash tags",
        "Prefixes",
    ] {
        assert!(seen.contains(words), "{words} is not seen");
    }
    assert!(
        !seen.contains("Show all") && !seen.contains("Filter"),
        "controls that do nothing are seen"
    );
}

#[test]
fn every_width_in_both_themes_is_readable() {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("browser");
    let reports = [
        ("commerce", sample()),
        ("shop", of_sample("shop.csv.zst", "shop.nodes")),
        ("hostile", report(&hostile_dump(), &["--format", "quoted"])),
        (
            "weighed",
            report(
                &weighed_dump(),
                &words("--by bytes --maxmemory 8mb --growth 5 --nodes 6"),
            ),
        ),
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
                assert_eq!(
                    tab.faults(),
                    Vec::<String>::new(),
                    "{name} at {width} px, {theme}"
                );
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
