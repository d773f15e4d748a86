//! The committed reports equal those of the present program: `BLESS=1 cargo test --test it golden` rewrites them.
//!
//! Three samples have their whole report in reports/samples/, every sample its text. A missing file is a failure.

use std::fs;
use std::path::{Path, PathBuf};

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

fn blessing() -> bool {
    std::env::var_os("BLESS").is_some()
}

/// The standard output of `analyze`, run in the root of the repository so that names are as in the README.
fn analyze(args: &[&str]) -> Vec<u8> {
    succeeded(
        in_repository(&[&["analyze"], args].concat())
            .output()
            .unwrap(),
    )
}

/// Compares `made` with the committed file using `same`, or commits it.
fn compare(committed: &Path, made: &[u8], same: fn(&[u8], &[u8]) -> bool) {
    if blessing() {
        fs::create_dir_all(committed.parent().unwrap()).unwrap();
        // An unchanged file is not rewritten, so that a rerun changes nothing.
        if !fs::read(committed).is_ok_and(|old| same(&old, made)) {
            fs::write(committed, made).unwrap();
        }
        return;
    }
    let shown = committed
        .strip_prefix(root())
        .unwrap()
        .display()
        .to_string();
    let old =
        fs::read(committed).unwrap_or_else(|error| panic!("{shown}: {error}; BLESS=1 makes it"));
    assert!(
        same(&old, made),
        "{shown} is not what the program makes now; look at both, then BLESS=1"
    );
}

fn same_bytes(old: &[u8], new: &[u8]) -> bool {
    old == new
}

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
        let (middle, run) = page
            .split_once("</time>")?
            .1
            .split_once("<section id=\"run\"")?;
        Some([start, middle, run.split_once("</section>")?.1].map(str::to_owned))
    });
    assert!(new.is_some(), "a page has a time and a section on the run");
    old == new
}

fn same_chart(old: &[u8], new: &[u8]) -> bool {
    let [(old_size, old), (new_size, new)] = [old, new].map(|bytes| {
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes))
            .read_info()
            .unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        ((info.width, info.height), pixels)
    });
    let differing = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    old_size == new_size && differing as f64 <= CHART_TOLERANCE * old.len() as f64
}

fn samples() -> Vec<PathBuf> {
    let mut samples: Vec<_> = fs::read_dir(root().join("samples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "keys")
        })
        .collect();
    samples.sort();
    assert!(samples.len() >= 7, "{samples:?}");
    samples
}

#[test]
fn the_text_of_every_sample() {
    for sample in samples() {
        let name = sample.file_stem().unwrap().to_str().unwrap();
        let text = analyze(&["--full", "--no-files", &format!("samples/{name}.keys")]);
        compare(
            &root().join(format!("reports/samples/{name}.txt")),
            &text,
            same_bytes,
        );
    }
}

#[test]
fn the_text_of_the_shop() {
    let shop = ["samples/shop.csv.zst", "--topology", "samples/shop.nodes"];
    for (name, flags) in [
        ("shop.txt", &["--no-files", "--full"][..]),
        ("shop-answer.txt", &["--no-files"]),
    ] {
        let text = analyze(&[flags, &shop].concat());
        compare(
            &root().join("reports/samples").join(name),
            &text,
            same_bytes,
        );
    }
}

#[test]
fn the_text_keeps_within_the_width() {
    for name in ["commerce", "nasty"] {
        for width in ["40", "72", "200"] {
            let sample = format!("samples/{name}.keys");
            let mut command = in_repository(&["analyze", "--full", "--no-files", &sample]);
            let text = succeeded(command.env("COLUMNS", width).output().unwrap());
            let text = String::from_utf8(text).unwrap();
            let columns: usize = width.parse().unwrap();
            text.lines().for_each(|line| {
                assert!(line.chars().count() <= columns, "{name} at {width}: {line}")
            });
            compare(
                &root().join(format!("reports/samples/{name}-{width}.txt")),
                text.as_bytes(),
                same_bytes,
            );
        }
    }
}

#[test]
fn the_whole_report_of_three_samples() {
    for (file, flags) in WHOLE {
        let made = tempfile::tempdir().unwrap();
        let sample = format!("samples/{file}");
        let name = file.split('.').next().unwrap();
        analyze(
            &[
                &[sample.as_str(), "--out", made.path().to_str().unwrap()],
                *flags,
            ]
            .concat(),
        );
        let committed = root().join("reports/samples").join(name);
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
            compare(
                &committed.join(file),
                &in_place(content, made.path(), name),
                same,
            );
        }
        for folder in [&committed, made.path()] {
            let mut there: Vec<_> = fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
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
    assert!(same_report(
        br#"{"run":1,"a":[1]}"#,
        br#"{"run":2,"a":[1]}"#
    ));
    assert!(!same_report(
        br#"{"run":1,"a":[1]}"#,
        br#"{"run":1,"a":[2]}"#
    ));
    assert!(!same_bytes(b"a", b"b"));
    let [page, later, other] = [("a", 1), ("a", 2), ("b", 1)]
        .map(|(a, run)| format!("{a}<time>{run}</time><section id=\"run\">{run}</section>z"));
    assert!(
        same_page(page.as_bytes(), later.as_bytes())
            && !same_page(page.as_bytes(), other.as_bytes())
    );
}
