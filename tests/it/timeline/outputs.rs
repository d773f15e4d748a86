//! The text, the files and the page.

use super::timeline;
use testkit::prelude::*;
use testkit::timeline::{START, capture, seconds};

#[test]
fn the_map_fits_any_width_and_the_burst_comes_first() {
    let scratch = Scratch::new();
    let file = capture(&scratch, "node.monitor", &seconds(9));
    for width in [40, 100, 200] {
        let mut command = slotscope(&["timeline", &file]);
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = stdout(&output);
        let first = text.split("\n\n").next().unwrap().replace('\n', " ");
        assert_contains(&first, &["one burst: hash tag {hot} (slot "]);
        let map: Vec<&str> = text.lines().filter(|line| line.contains('▒')).collect();
        assert!(map.len() >= 32, "{text}");
        let is_wide = |line: &str| line.chars().count() > width;
        assert!(!text.lines().any(is_wide), "{width}: {text}");
    }
}

#[test]
fn the_files_are_written_and_ask_for_nothing() {
    let scratch = Scratch::new();
    let file = capture(&scratch, "node.monitor", &seconds(10));
    let out = scratch.path("out");
    let args = [
        "timeline",
        &file,
        "--out",
        out.to_str().unwrap(),
        "--nodes",
        "3",
    ];
    assert_eq!(code(&slotscope(&args).output().unwrap()), 0);
    let page = std::fs::read_to_string(out.join("timeline.html")).unwrap();
    assert!(page.contains("default-src 'none'") && page.contains("id=\"heat-data\""));
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert!(page.len() < 1_500_000, "{}", page.len());
    let written: Value =
        serde_json::from_slice(&std::fs::read(out.join("timeline.json")).unwrap()).unwrap();
    assert_eq!(written, timeline(&[&file, "--nodes", "3"]));
    // A directory of another command is not written to.
    std::fs::write(out.join("timeline.json"), "{}").unwrap();
    assert_eq!(code(&slotscope(&args).output().unwrap()), 2);
}

#[test]
fn redaction_leaves_no_name_and_all_numbers() {
    let scratch = Scratch::new();
    let mut seconds = seconds(14);
    for (at, lines) in seconds.iter_mut().enumerate().skip(200).take(3) {
        let line = format!(
            "{}.5 [0 10.0.0.7:1] \"GET\" \"secret:plain\"\n",
            START + at as u64
        );
        lines.extend(std::iter::repeat_n(line, 200));
    }
    seconds[5].push(String::from("secret, which is no line\n"));
    let file = capture(&scratch, "secret.monitor", &seconds);
    let nodes = "secret0000000000000000000000000000000001 10.9.9.9:7001@17001,secret myself,master - 0 0 1 connected 0-16383\n";
    let nodes = scratch.file("secret.nodes", nodes).display().to_string();
    let out = scratch.path("out");
    let args = ["timeline", &file, "--topology", &nodes, "--redact", "--out"];
    let output = slotscope(&[&args[..], &[out.to_str().unwrap()]].concat())
        .output()
        .unwrap();
    assert_eq!(
        code(&output),
        0,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let files = ["timeline.json", "timeline.html"].map(|name| out.join(name));
    let files = files.map(|path| std::fs::read_to_string(path).unwrap());
    for text in files.iter().map(String::as_str).chain([stdout(&output)]) {
        for name in ["secret", "hot", "cart", "news", "profile", "10.9.9.9"] {
            let found = text
                .find(name)
                .map(|at| &text[at.saturating_sub(60)..at + 20]);
            assert_eq!(found, None, "{name}");
        }
    }
    let hidden: Value = serde_json::from_str(&files[0]).unwrap();
    let shown = timeline(&[&file, "--topology", &nodes]);
    for part in ["ops", "buckets", "slots", "bucket_secs"] {
        assert_eq!(hidden[part], shown[part], "{part}");
    }
    assert_eq!(hidden["bursts"][0]["slot"], shown["bursts"][0]["slot"]);
    assert_eq!(hidden["tags"][0]["ops"], shown["tags"][0]["ops"]);
    let missing = slotscope(&["timeline", "secret.gone", "--redact"])
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&missing.stderr).contains("secret"));
}
