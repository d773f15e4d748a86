//! A part that is left out of whole inputs is named, whichever it is.

use super::{NODES, RANGES, first_line, monitor, reads, reply};
use slotscope::slot::slot;
use testkit::env::cases;
use testkit::prelude::*;
use testkit::rng::Rng;

/// Keys of a cluster that is even, by node.
fn keys(count: usize) -> [Vec<String>; 3] {
    let mut of = [(); 3].map(|()| Vec::new());
    for number in 0..count {
        let key = format!("user:{number}");
        let slot = slot(key.as_bytes());
        let node = RANGES.iter().position(|(_, last)| slot <= *last).unwrap();
        of[node].push(key);
    }
    of
}

/// A part that is left out of files that are whole together, and the words for it on the first line.
fn leave_out(
    scratch: &Scratch,
    whole: &[Vec<String>; 3],
    random: &mut Rng,
) -> (String, Vec<String>) {
    let at = random.below(3);
    let port = 7000 + at;
    let (from, to) = RANGES[at];
    let part = 60 + random.below(3000) as u16;
    let cut = from + random.below(usize::from(to - from - part)) as u16;
    let files = |form: &str| -> Vec<String> {
        let names = (0..3).map(|node| format!("{}.{form}", 7000 + node));
        names.collect()
    };
    let node = format!("127.0.0.1:{port}");
    let mut inputs;
    let says;
    match random.below(6) {
        // A node's file.
        form @ 0..3 => {
            inputs = files(["monitor", "keys", "json"][form]);
            inputs.remove(at);
            says = vec![node];
        }
        // One per cent of a node's slots or more, of counts by slot and of keys.
        3 => {
            let of = [(from, cut), (cut + part, to)].map(reply).concat();
            scratch.file("part.json", of.replace("][", ","));
            inputs = files("json");
            inputs[at] = "part.json".into();
            says = vec![format!("slots of {node} were read")];
        }
        4 => {
            let is_left = |key: &&String| !(cut..cut + part).contains(&slot(key.as_bytes()));
            let left: Vec<_> = whole[at].iter().filter(is_left).cloned().collect();
            scratch.file(&format!("part-{port}.keys"), left.join("\n") + "\n");
            inputs = files("keys");
            inputs[at] = format!("part-{port}.keys");
            says = vec![node];
        }
        // A tenth of the seconds, at either end.
        _ => {
            let text = scratch.read(format!("{port}.monitor"));
            let lines: Vec<&str> = text.lines().skip(1).collect();
            let tenth = lines.len() / 8 + random.below(lines.len() / 4);
            let left = match random.below(2) {
                0 => &lines[tenth..],
                _ => &lines[..lines.len() - tenth],
            };
            scratch.file(
                &format!("part-{port}.monitor"),
                format!("OK\n{}\n", left.join("\n")),
            );
            inputs = files("monitor");
            inputs[at] = format!("part-{port}.monitor");
            says = vec![format!("{node} was captured for ")];
        }
    }
    (format!("{} --topology three.nodes", inputs.join(" ")), says)
}

/// Leaves something out of what was whole: nothing is called even, and nothing is planned for it.
#[test]
fn a_part_that_is_left_out_is_never_even() {
    let scratch = Scratch::with("three.nodes", NODES);
    let (of, whole) = (reads(3000), keys(60_000));
    for (at, own) in whole.iter().enumerate() {
        scratch.file(&format!("{}.monitor", 7000 + at), monitor(&of[at]));
        scratch.file(&format!("{}.keys", 7000 + at), own.join("\n") + "\n");
        scratch.file(&format!("{}.json", 7000 + at), reply(RANGES[at]));
    }
    for form in ["monitor", "keys", "json"] {
        let files = format!("7000.{form} 7001.{form} 7002.{form}");
        let whole = scratch.report(&format!("analyze {files} --topology three.nodes --json"));
        let verdict = &whole["verdict"];
        assert_eq!(
            verdict["state"], "balanced",
            "{form}: {}",
            verdict["sentence"]
        );
    }
    let mut random = Rng::new(64);
    for number in 0..cases("SLOTSCOPE_LEFT_OUT", 500_usize) {
        let (inputs, says) = leave_out(&scratch, &whole, &mut random);
        // Load is a rate: it is judged by the seconds in the capture, and the first line names those.
        let (state, sentence) = if inputs.contains("part-") && inputs.contains(".monitor") {
            let report = scratch.report(&format!("analyze {inputs} --json"));
            let sentence = report["verdict"]["sentence"].text().to_owned();
            ("unjudged".to_owned(), sentence)
        } else {
            first_line(&scratch, &inputs)
        };
        assert!(
            ["unjudged", "suspicious"].contains(&&*state),
            "{number}: {inputs}: {state} {sentence}"
        );
        for word in says {
            sentence.says(&word);
        }
    }
}
