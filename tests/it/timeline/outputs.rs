//! The text, the files and the page.

use super::timeline;
use testkit::prelude::*;
use testkit::timeline::{capture, hot_key, seconds};

#[test]
fn the_map_fits_any_width_and_the_burst_comes_first() {
    let scratch = Scratch::new();
    capture(&scratch, "node.monitor", &seconds(9));
    for width in [40, 100, 200] {
        let mut command = scratch.command("timeline node.monitor");
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = stdout(&output);
        let first = text.split("\n\n").next().unwrap().replace('\n', " ");
        first.says("one burst: hash tag {hot} (slot ");
        let map = text.lines().filter(|line| line.contains('▒'));
        assert!(map.count() >= 32, "{text}");
        let is_wide = |line: &str| line.chars().count() > width;
        assert!(!text.lines().any(is_wide), "{width}: {text}");
    }
}

#[test]
fn the_files_are_written_and_ask_for_nothing() {
    let scratch = Scratch::new();
    capture(&scratch, "node.monitor", &seconds(10));
    let line = "timeline node.monitor --out out --nodes 3";
    scratch.text(line);
    let page = scratch.read("out/timeline.html");
    let is_small = page.len() < 1_500_000;
    let is_alone = !page.contains("http://") && !page.contains("https://");
    assert!(is_small && is_alone && page.contains("default-src 'none'"));
    assert!(page.contains("id=\"heat-data\""));
    let made = timeline(&scratch, "node.monitor --nodes 3");
    assert_eq!(scratch.json("out/timeline.json"), made);
    // A directory of another command is not written to.
    scratch.file("out/timeline.json", "{}");
    assert_eq!(code(&scratch.run(line)), 2);
}

#[test]
fn redaction_leaves_no_name_and_all_numbers() {
    let scratch = Scratch::new();
    let mut seconds = seconds(14);
    hot_key(&mut seconds, "secret:plain");
    seconds[5].push(String::from("secret, which is no line\n"));
    capture(&scratch, "secret.monitor", &seconds);
    let node = "secret0000000000000000000000000000000001 10.9.9.9:7001@17001,secret";
    let nodes = format!("{node} myself,master - 0 0 1 connected 0-16383\n");
    scratch.file("secret.nodes", nodes);
    let line = "secret.monitor --topology secret.nodes";
    let text = scratch.text(&format!("timeline {line} --redact --out out"));
    let files = ["timeline.json", "timeline.html"].map(|name| scratch.read(format!("out/{name}")));
    for text in files.iter().chain([&text]) {
        for name in ["secret", "hot", "cart", "news", "profile", "10.9.9.9"] {
            let found = text
                .find(name)
                .map(|at| &text[at.saturating_sub(60)..at + 20]);
            assert_eq!(found, None, "{name}");
        }
    }
    let hidden = scratch.json("out/timeline.json");
    let shown = timeline(&scratch, line);
    for part in ["ops", "buckets", "slots", "bucket_secs"] {
        assert_eq!(hidden[part], shown[part], "{part}");
    }
    assert_eq!(hidden["bursts"][0]["slot"], shown["bursts"][0]["slot"]);
    assert_eq!(hidden["tags"][0]["ops"], shown["tags"][0]["ops"]);
    stderr(&scratch.run("timeline secret.gone --redact")).lacks("secret");
}
