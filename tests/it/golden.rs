//! The committed reports equal those of the present program: `BLESS=1 cargo test --test it golden` rewrites them.
//!
//! Three samples have their whole report in reports/samples/, every sample its text. A missing file is a failure.

use std::fs;
use std::path::Path;

use crate::charts::Picture;
use testkit::files::{committed, same_bytes};
use testkit::prelude::*;

/// Samples whose whole report is committed, with their flags.
const WHOLE: &[(&str, &[&str])] = &[
    ("commerce.keys", &[]),
    (
        "hot-tag.keys",
        &["--topology", "samples/seed-cluster.nodes"],
    ),
    ("shop.csv.zst", &["--topology", "samples/shop.nodes"]),
];

/// Fraction of pixels in which a chart may differ from the committed one: another libm rounds curves differently.
const CHART_TOLERANCE: f64 = 0.0002;

/// The standard output of `analyze`, run in the root of the repository so that names are as in the README.
fn analyze(args: &[&str]) -> Vec<u8> {
    let mut command = in_repository(&[&["analyze"], args].concat());
    succeeded(command.output().unwrap())
}

type Same = fn(&[u8], &[u8]) -> bool;

/// Equal except for `run`, which describes how a report was made.
fn same_report(old: &[u8], new: &[u8]) -> bool {
    let [old, new] = [old, new].map(|text| {
        let mut report: Value = serde_json::from_slice(text).unwrap();
        assert!(report.as_object_mut().unwrap().remove("run").is_some());
        report
    });
    old == new
}

/// Equal except for the parts that describe when and how a report was made.
fn same_page(old: &[u8], new: &[u8]) -> bool {
    let [old, new] = [old, new].map(|page| {
        let page = std::str::from_utf8(page).unwrap();
        let (start, page) = page.split_once("<time>")?;
        let (_, page) = page.split_once("</time>")?;
        let (middle, run) = page.split_once("<section id=\"run\"")?;
        Some([start, middle, run.split_once("</section>")?.1].map(str::to_owned))
    });
    assert!(new.is_some(), "a page has a time and a section on the run");
    old == new
}

fn same_chart(old: &[u8], new: &[u8]) -> bool {
    let [old, new] = [old, new].map(Picture::decode);
    let pairs = old.rgb.iter().zip(&new.rgb);
    let differing = pairs.filter(|(old, new)| old != new).count() as f64;
    let is_near = differing <= CHART_TOLERANCE * old.rgb.len() as f64;
    is_near && (old.width, old.height) == (new.width, new.height)
}

#[test]
fn the_text_of_every_sample() {
    let mut samples = 0;
    for entry in fs::read_dir(root().join("samples")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "keys") {
            let name = path.file_stem().unwrap().to_str().unwrap();
            text(name, &format!("--full samples/{name}.keys"));
            samples += 1;
        }
    }
    assert!(samples >= 7, "{samples}");
    let shop = "samples/shop.csv.zst --topology samples/shop.nodes";
    text("shop", &format!("--full {shop}"));
    text("shop-answer", shop);
}

/// The text for a sample with these flags.
fn text(name: &str, flags: &str) {
    let text = analyze(&words(&format!("--no-files {flags}")));
    committed(&format!("reports/samples/{name}.txt"), &text, same_bytes);
}

#[test]
fn the_text_keeps_within_the_width() {
    for name in ["commerce", "nasty"] {
        for width in ["40", "72", "200"] {
            let line = format!("analyze --full --no-files samples/{name}.keys");
            let mut command = in_repository(&line);
            let text = succeeded(command.env("COLUMNS", width).output().unwrap());
            let text = String::from_utf8(text).unwrap();
            let columns: usize = width.parse().unwrap();
            for line in text.lines() {
                assert!(line.chars().count() <= columns, "{name} at {width}: {line}");
            }
            let file = format!("reports/samples/{name}-{width}.txt");
            committed(&file, text.as_bytes(), same_bytes);
        }
    }
}

#[test]
fn the_whole_report_of_three_samples() {
    for (file, flags) in WHOLE {
        let made = tempfile::tempdir().unwrap();
        let sample = format!("samples/{file}");
        let name = file.split('.').next().unwrap();
        let out = made.path().to_str().unwrap();
        analyze(&[&[&sample, "--out", out], *flags].concat());
        let folder = format!("reports/samples/{name}");
        let json = fs::read(made.path().join("report.json")).unwrap();
        let files = files_of(&serde_json::from_slice(&json).unwrap());
        for file in &files {
            let same = match file.rsplit_once('.').unwrap().1 {
                "json" => same_report,
                "html" => same_page,
                "png" => same_chart,
                _ => same_bytes,
            };
            let content = fs::read(made.path().join(file)).unwrap();
            let content = in_place(content, made.path(), name);
            committed(&format!("{folder}/{file}"), &content, same);
        }
        for folder in [&root().join(&folder), made.path()] {
            let entries = fs::read_dir(folder).unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut there: Vec<_> = names.collect();
            there.sort();
            assert_eq!(there, files, "{name}: other files than the report has");
        }
    }
}

/// The command quoted in a text, with the committed directory instead of that of the test.
fn in_place(content: Vec<u8>, made: &Path, name: &str) -> Vec<u8> {
    match String::from_utf8(content) {
        Ok(text) => text
            .replace(made.to_str().unwrap(), &format!("reports/samples/{name}"))
            .into(),
        Err(picture) => picture.into_bytes(),
    }
}

#[test]
fn a_report_that_differs_is_not_taken_for_the_same() {
    let cases = [("a", 1), ("a", 2), ("b", 1)];
    let report = cases.map(|(a, run)| json!({"run": run, "a": a}).to_string());
    let page =
        cases.map(|(a, run)| format!("{a}<time>{run}</time><section id=\"run\">{run}</section>z"));
    let same: [([String; 3], Same); 2] = [(report, same_report), (page, same_page)];
    for ([made, later, other], same) in same {
        assert!(same(made.as_bytes(), later.as_bytes()));
        assert!(!same(made.as_bytes(), other.as_bytes()));
    }
    assert!(!same_bytes(b"a", b"b"));
}
