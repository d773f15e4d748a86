//! `timeline`: a planted burst is found with its name, its ends and its share, nothing else is called one, and neither
//! the parts of a capture, their order nor the threads change anything.

use std::fmt::Write as _;
use std::path::Path;

use crate::browser::UNREADABLE;
use crate::support::chromium::Chromium;
use crate::support::rng::Rng;
use crate::support::run::{Scratch, assert_fails, code, feed, slotscope, stdout};
use serde_json::{Value, json};

/// 2026-11-21 06:26:35.
const START: u64 = 1_795_242_395;
const SECONDS: u64 = 300;
/// The seconds of the burst, and its operations in each.
const BURST: std::ops::Range<u64> = 120..150;
const BURST_RATE: u64 = 150;

/// Lines of MONITOR, a vector a second: traffic over all slots, and one tag that is hot for half a minute.
fn seconds(seed: u64) -> Vec<Vec<String>> {
    let mut rng = Rng::new(seed);
    let line = |at: u64, number: u64, of: u64, command: &str| {
        let micros = number * 1_000_000 / of;
        format!("{}.{micros:06} [0 10.0.0.7:58548] {command}\n", START + at)
    };
    let second = |at: u64| {
        let burst = if BURST.contains(&at) { BURST_RATE } else { 0 };
        let base = 90 + (rng.unit() * 20.0) as u64;
        let all = base + burst;
        let mut command = |number: u64| match number * burst / all < (number + 1) * burst / all {
            true => String::from(r#""HGET" "cart:{hot}:items" "total""#),
            false => match (rng.unit() * 20_000.0) as u64 {
                id @ 0..15_000 => format!(r#""GET" "user:{{{id}}}:profile""#),
                id => format!(r#""SET" "news:{id}" "text""#),
            },
        };
        let commands: Vec<_> = (0..all).map(&mut command).collect();
        let lines = commands.iter().enumerate();
        lines
            .map(|(number, command)| line(at, number as u64, all, command))
            .collect()
    };
    (0..SECONDS).map(second).collect()
}

fn capture(scratch: &Scratch, name: &str, seconds: &[Vec<String>]) -> String {
    let text = String::from("OK\n") + &seconds.concat().concat();
    scratch.file(name, text).display().to_string()
}

fn timeline(args: &[&str]) -> Value {
    let output = slotscope(&[&["timeline", "--json"], args].concat())
        .output()
        .unwrap();
    assert_eq!(
        code(&output),
        0,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_planted_burst_is_found_with_its_tag_ends_and_share() {
    for seed in 1..=5 {
        let scratch = Scratch::new();
        let seconds = seconds(seed);
        let file = capture(&scratch, "node.monitor", &seconds);
        let found = timeline(&[&file, "--nodes", "3"]);
        let bursts = found["bursts"].as_array().unwrap();
        assert_eq!(bursts.len(), 1, "{bursts:?}");
        let burst = &bursts[0];
        assert_eq!(burst["tag"], "hot");
        assert_eq!(burst["pattern"], "cart:{hot}:items");
        assert_eq!(
            burst["slot"],
            u64::from(slotscope::slot(b"cart:{hot}:items"))
        );
        let secs = found["bucket_secs"].as_u64().unwrap();
        for (end, truth) in [("from", BURST.start), ("to", BURST.end)] {
            let end = burst[end].as_u64().unwrap();
            assert!(end.abs_diff(START + truth) <= secs, "{burst}");
        }
        let planted = BURST_RATE * (BURST.end - BURST.start);
        assert!(
            burst["ops"].as_u64().unwrap().abs_diff(planted) < planted / 50,
            "{burst}"
        );
        // A third of the other operations are on the same node.
        let share = burst["share"].as_f64().unwrap();
        assert!((0.77..0.86).contains(&share), "{burst}");
        assert!(burst["times_usual"].as_f64().unwrap() > 50.0, "{burst}");
    }
}

#[test]
fn all_operations_are_counted_at_their_time() {
    let scratch = Scratch::new();
    let seconds = seconds(3);
    let file = capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&[&file, "--nodes", "6"]);
    let buckets = found["buckets"].as_array().unwrap();
    assert_eq!(
        (buckets.len(), &found["bucket_secs"]),
        (300, &Value::from(1))
    );
    for (at, (bucket, lines)) in buckets.iter().zip(&seconds).enumerate() {
        assert_eq!(bucket["from"], START + at as u64);
        assert_eq!(bucket["ops"], lines.len());
    }
    let sum = |lists: &Value, at: usize| -> u64 {
        let lists = lists.as_array().unwrap().iter();
        lists.map(|list| list[at].as_u64().unwrap()).sum()
    };
    let nodes = found["nodes"].as_array().unwrap();
    for (at, lines) in seconds.iter().enumerate() {
        let count = lines.len() as u64;
        assert_eq!(sum(&found["slots"]["ops"], at), count);
        let of_nodes = nodes
            .iter()
            .map(|node| node["over_time"][at].as_u64().unwrap());
        assert_eq!(of_nodes.sum::<u64>(), count);
    }
    let hot = &found["tags"][0];
    assert_eq!(
        (&hot["tag"], &hot["ops"]),
        (&Value::from("hot"), &Value::from(4500))
    );
    let profile = found["patterns"].as_array().unwrap().iter();
    let mut profile = profile.filter(|row| row["pattern"] == "user:{<n>}:profile");
    let planted = seconds.concat().concat().matches("user:{").count();
    assert_eq!(profile.next().unwrap()["ops"], planted);
}

#[test]
fn parts_order_and_threads_change_nothing() {
    let scratch = Scratch::new();
    let seconds = seconds(4);
    let whole = timeline(&[&capture(&scratch, "whole", &seconds), "--threads", "1"]);
    let cuts = [0, 40, 121, 149, 300];
    let parts: Vec<String> = cuts
        .windows(2)
        .map(|cut| {
            capture(
                &scratch,
                &format!("part{}", cut[0]),
                &seconds[cut[0]..cut[1]],
            )
        })
        .collect();
    let reversed: Vec<&str> = parts.iter().rev().map(String::as_str).collect();
    let several = [reversed.as_slice(), &["--threads", "3"]].concat();
    assert_eq!(timeline(&several), whole);
}

#[test]
fn steady_traffic_has_no_burst() {
    for seed in 1..=5 {
        let scratch = Scratch::new();
        let mut seconds = seconds(seed);
        seconds
            .iter_mut()
            .for_each(|lines| lines.retain(|line| !line.contains("{hot}")));
        let found = timeline(&[&capture(&scratch, "node.monitor", &seconds)]);
        assert_eq!(found["bursts"], Value::Array(Vec::new()), "seed {seed}");
    }
}

#[test]
fn a_hot_key_without_a_tag_is_named_and_escaped() {
    let scratch = Scratch::new();
    let mut seconds = seconds(6);
    for (at, lines) in seconds.iter_mut().enumerate().skip(200).take(3) {
        let line = format!(
            "{}.5 [0 10.0.0.7:1] \"GET\" \"<b>\\n\\x1b\"\n",
            START + at as u64
        );
        lines.extend(std::iter::repeat_n(line, 200));
    }
    let file = capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&[&file]);
    let bursts = found["bursts"].as_array().unwrap();
    let key = bursts
        .iter()
        .find(|burst| burst.get("key").is_some())
        .unwrap();
    assert_eq!(key["key"], "<b>\\n\\x1b");
    assert_eq!(key["from"], START + 200);
    assert_eq!(key["to"], START + 203);
    let output = slotscope(&["timeline", &file]).output().unwrap();
    let text = stdout(&output);
    assert!(
        text.contains("key <b>\\n\\x1b (slot ") && !text.contains('\u{1b}'),
        "{text}"
    );
}

#[test]
fn a_clock_that_jumps_back_is_said_and_counted_at_its_time() {
    let scratch = Scratch::new();
    let mut seconds = seconds(7);
    seconds.swap(10, 50);
    let found = timeline(&[&capture(&scratch, "node.monitor", &seconds)]);
    assert!(found["clock"]["jumps_back"].as_u64().unwrap() >= 1);
    assert!(found["clock"]["longest_secs"].as_u64().unwrap() >= 39);
    assert!(
        found["notes"][0]
            .as_str()
            .unwrap()
            .starts_with("the time jumps back in")
    );
    assert_eq!(found["buckets"][10]["ops"], seconds[50].len());
}

#[test]
fn input_without_times_is_refused_with_the_way_out() {
    let scratch = Scratch::new();
    let keys = scratch.file("keys.txt", "a\nb\n").display().to_string();
    let output = slotscope(&["timeline", &keys]).output().unwrap();
    assert_fails(&output, &["keys.txt", "have no time", "redis-cli MONITOR"]);
    let both = capture(&scratch, "node.monitor", &seconds(1)[..5]);
    let output = slotscope(&["timeline", &both, &keys]).output().unwrap();
    assert_fails(&output, &["keys.txt", "have no time"]);
}

#[test]
fn more_tags_than_a_table_holds_are_counted_again_on_any_number_of_threads() {
    let scratch = Scratch::new();
    let mut seconds = seconds(12);
    for (at, lines) in seconds.iter_mut().enumerate() {
        let second = START + at as u64;
        let line = |i| format!("{second}.9 [0 h:1] \"GET\" \"u:{{{}}}\"\n", at * 300 + i);
        lines.extend((0..300).map(line));
    }
    let file = capture(&scratch, "node.monitor", &seconds);
    let found = timeline(&[&file, "--threads", "1"]);
    assert_eq!(
        (&found["tags"][0]["tag"], &found["tags"][0]["ops"]),
        (&json!("hot"), &json!(4500))
    );
    assert_eq!(found["bursts"][0]["tag"], "hot");
    assert_eq!(timeline(&[&file, "--threads", "3"]), found);
}

#[test]
fn an_append_only_file_has_the_times_of_its_lines() {
    let scratch = Scratch::new();
    let command = "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nv\r\n";
    let text = format!(
        "{command}{command}#TS:{START}\r\n{command}{command}#TS:{}\r\n{command}",
        START + 2
    );
    let file = scratch.file("incr.aof", text).display().to_string();
    let found = timeline(&[&file]);
    let ops: Vec<_> = found["buckets"]
        .as_array()
        .unwrap()
        .iter()
        .map(|bucket| &bucket["ops"])
        .collect();
    assert_eq!(ops, [2, 0, 1]);
    assert_eq!(found["untimed"], 2);
    let without = scratch
        .file("without.aof", command.repeat(2))
        .display()
        .to_string();
    let output = slotscope(&["timeline", &without]).output().unwrap();
    assert_fails(
        &output,
        &["without.aof", "have no time", "aof-timestamp-enabled"],
    );
}

#[test]
fn a_pipe_has_slots_and_bursts_without_names() {
    let text = seconds(8).concat().concat();
    let output = feed(slotscope(&["timeline", "--json"]), text.as_bytes());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["bursts"].as_array().unwrap().len(), 1);
    assert!(found.get("tags").is_none() && found["bursts"][0].get("tag").is_none());
    assert!(
        found["notes"][0]
            .as_str()
            .unwrap()
            .contains("a pipe is read once")
    );
}

#[test]
fn the_map_fits_any_width_and_the_burst_comes_first() {
    let scratch = Scratch::new();
    let file = capture(&scratch, "node.monitor", &seconds(9));
    for width in [40, 100, 200] {
        let mut command = slotscope(&["timeline", &file]);
        let output = command.env("COLUMNS", width.to_string()).output().unwrap();
        let text = stdout(&output);
        let first = text.split("\n\n").next().unwrap().replace('\n', " ");
        assert!(first.contains("one burst: tag hot (slot "), "{first}");
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
    if cfg!(feature = "charts") {
        let chart = std::fs::read(out.join("timeline.png")).unwrap();
        assert!(chart.starts_with(b"\x89PNG"));
    }
    // A directory of another command is not written to.
    std::fs::write(out.join("timeline.json"), "{}").unwrap();
    assert_eq!(code(&slotscope(&args).output().unwrap()), 2);
}

#[test]
fn captures_that_share_no_slot_are_a_node_each() {
    let scratch = Scratch::new();
    let seconds = seconds(13);
    let key_of = |line: &str| line.split('"').nth(3).unwrap().to_owned();
    let of_node = |node: u16| {
        let is_its = |line: &String| slotscope::slot(key_of(line).as_bytes()) / 5462 == node;
        let lines = seconds.iter();
        let lines = lines.map(|lines| lines.iter().filter(|line| is_its(line)).cloned().collect());
        capture(
            &scratch,
            &format!("node-{node}.monitor"),
            &lines.collect::<Vec<_>>(),
        )
    };
    let files = [0, 1, 2].map(of_node);
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let found = timeline(&files);
    let nodes = found["nodes"].as_array().unwrap();
    let names: Vec<_> = nodes
        .iter()
        .map(|node| node["name"].as_str().unwrap())
        .collect();
    let expected = ["node-0.monitor", "node-1.monitor", "node-2.monitor"];
    assert_eq!(names, expected);
    let slot = slotscope::slot(b"cart:{hot}:items");
    assert_eq!(
        found["bursts"][0]["node"],
        format!("node-{}.monitor", slot / 5462)
    );
    let share = found["bursts"][0]["share"].as_f64().unwrap();
    assert!((0.77..0.86).contains(&share), "{share}");
    assert!(timeline(&files[..1]).get("nodes").is_none());
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
    for part in ["ops", "buckets", "slots", "bucket_secs", "clock"] {
        assert_eq!(hidden[part], shown[part], "{part}");
    }
    assert_eq!(hidden["bursts"][0]["slot"], shown["bursts"][0]["slot"]);
    assert_eq!(hidden["tags"][0]["ops"], shown["tags"][0]["ops"]);
    let missing = slotscope(&["timeline", "secret.gone", "--redact"])
        .output()
        .unwrap();
    assert!(!String::from_utf8_lossy(&missing.stderr).contains("secret"));
}

#[test]
fn times_of_any_size_neither_panic_nor_take_memory() {
    let mut text = String::new();
    for time in [
        "0.000001",
        "1.5",
        "99999999999.000000",
        "253402300799.999999",
        "1795242395.1",
    ] {
        let _ = writeln!(text, "{time} [0 10.0.0.7:1] \"GET\" \"a\"");
    }
    let output = feed(slotscope(&["timeline", "--json"]), text.as_bytes());
    if code(&output) == 0 {
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(found["buckets"].as_array().unwrap().len() <= 400);
    }
}

#[test]
fn the_map_of_the_page_answers_to_pointer_wheel_and_keys_at_every_width_in_both_themes() {
    let scratch = Scratch::new();
    let mut seconds = seconds(11);
    for line in seconds.iter_mut().flatten() {
        *line = line.replace("{hot}", "{<img src=x onerror=alert(1)>}");
    }
    let file = capture(&scratch, "node.monitor", &seconds);
    let out = scratch.path("out");
    let args = [
        "timeline",
        &file,
        "--nodes",
        "3",
        "--out",
        out.to_str().unwrap(),
    ];
    assert_eq!(code(&slotscope(&args).output().unwrap()), 0);
    let pictures = Path::new(env!("CARGO_BIN_EXE_slotscope")).parent().unwrap();
    let pictures = pictures.join("browser");
    for (width, theme) in [
        (1440, "light"),
        (1440, "dark"),
        (390, "light"),
        (390, "dark"),
    ] {
        let mut tab = Chromium::start().tab(width, theme);
        tab.open(&out.join("timeline.html"));
        let place = format!("{width} px, {theme}");
        assert_eq!(tab.eval(UNREADABLE), json!([]), "{place}");
        tab.screenshot(&pictures.join(format!("timeline-{width}-{theme}.png")));

        // The largest burst is what it shows first.
        let under = tab.text("#heat-under");
        let slot = usize::from(slotscope::slot(b"{<img src=x onerror=alert(1)>}"));
        let row = format!("Slots {} to {}", slot / 64 * 64, slot / 64 * 64 + 63);
        assert!(
            under.contains(&row) && under.contains("2026-11-21 06:28:35 UTC: "),
            "{under}"
        );
        assert!(
            under.contains("Heaviest listed tags: <img src=x onerror=alert(1)> ("),
            "{under}"
        );
        assert!(
            under.contains("Burst: tag <img src=x onerror=alert(1)> (slot "),
            "{under}"
        );

        let range = "document.getElementById('heat-range').textContent";
        assert_eq!(tab.eval(range), "slots 0 to 16383", "{place}");
        tab.eval("document.getElementById('heat').focus()");
        tab.press("ArrowRight");
        assert!(tab.text("#heat-under").contains("06:28:36 UTC"), "{place}");
        tab.press("+");
        assert_ne!(tab.eval(range), "slots 0 to 16383", "{place}");
        assert!(
            tab.text("#heat-from").as_str() > "2026-11-21 06:26:35",
            "{place}"
        );
        tab.press("0");
        assert_eq!(tab.eval(range), "slots 0 to 16383", "{place}");
        tab.hover("#heat", (0.001, 0.001));
        assert!(
            tab.text("#heat-under")
                .starts_with("Slots 0 to 63, 2026-11-21 06:26:35 UTC: ")
        );
        let wheel = "document.getElementById('heat').dispatchEvent(new WheelEvent('wheel', {deltaY: -1, cancelable: true}))";
        assert_eq!(
            tab.eval(wheel),
            false,
            "the page does not scroll while the map zooms"
        );
        assert_ne!(tab.eval(range), "slots 0 to 16383", "{place}");
        tab.click("#heat-all");
        assert_eq!(tab.eval(range), "slots 0 to 16383", "{place}");
        assert_eq!(tab.faults(), Vec::<String>::new(), "{place}");
    }
}
