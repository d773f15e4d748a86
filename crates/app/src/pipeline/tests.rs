//! Tests of the main API on in-memory dumps.

use slotscope_base::error::Error;
use slotscope_model::state::State;
use slotscope_read::source::collection::{Collection, manifest};
use slotscope_read::source::memory::memory;
use std::sync::Mutex;

use super::*;

fn reading(analysis: &Analysis, dump: &[u8]) -> Reading {
    let found = source::Found {
        sources: vec![memory("dump", dump)],
        ..Default::default()
    };
    Reading::new(found, analysis.reading.clone()).unwrap()
}

#[test]
fn defaults_count_everything_on_three_assumed_nodes() {
    let analysis = Analysis::new();
    let summary = analysis
        .run_on(reading(&analysis, b"{a}1\n{a}2\nb\n"))
        .unwrap();
    assert_eq!((summary.input.keys, summary.nodes.list.len()), (3, 3));
    assert_eq!(summary.nodes.source.to_string(), "assumed even 3");
    assert_eq!(summary.tags.unwrap().top[0].load.keys, 2);
    assert_eq!(summary.run.passes, 1);
}

#[test]
fn many_tags_take_one_pass_and_two_only_where_they_are_too_many_to_count_each() {
    let dump: String = (0..70_000)
        .map(|i| format!("{{t{i}}}\n{{hot}}{i}\n"))
        .collect();
    let counted = |most_tags: usize, one_pass: bool| {
        let passes = Arc::new(Mutex::new(Vec::new()));
        let seen = passes.clone();
        let analysis = Analysis::new().most_tags(most_tags).one_pass(one_pass);
        let analysis = analysis.on_progress(move |progress| {
            if progress.is_done {
                seen.lock().unwrap().push(progress.pass);
            }
            true
        });
        let summary = analysis.run_on(reading(&analysis, dump.as_bytes()));
        let summary = summary.unwrap();
        let tags = summary.tags.unwrap();
        let hot = tags.top[0].tag.to_string();
        assert_eq!((hot.as_str(), tags.top[0].load.keys), ("hot", 70_000));
        let passes = passes.lock().unwrap().clone();
        (passes, summary.run.passes, tags.distinct_error > 0.0)
    };
    assert_eq!(counted(70_001, false), (vec!["counting"], 1, false));
    assert_eq!(counted(70_001, true), (vec!["counting"], 1, false));
    let over = vec!["counting", "counting"];
    assert_eq!(counted(70_000, true), (over, 1, true));
    let twice = vec!["counting", "counting", "recounting names"];
    assert_eq!(counted(70_000, false), (twice, 2, true));
}

#[test]
fn every_metric_of_a_column_is_counted_judged_and_shown_alike() {
    for (metric, column) in [(Metric::Bytes, "size"), (Metric::Ops, "ops")] {
        let analysis = Analysis::new().by([metric]);
        let dump = format!("key,{column},type\n{{a}}1,30,hash\n{{a}}2,50,hash\nb,20,set\n");
        let summary = analysis
            .run_on(reading(&analysis, dump.as_bytes()))
            .unwrap();
        let report = serde_json::to_value(&summary).unwrap();
        let name = metric.name();
        assert_eq!(report["input"]["weights"][name], 3);
        assert_eq!(report["slots"]["stats"][name]["max"], 80);
        assert_eq!(report["nodes"][name]["max"], 80);
        assert_eq!(report["tags"]["top"][0][name], 80);
        assert_eq!(report["keys"]["top"][0][name], 50);
        assert_eq!(report["by"], name);
    }
}

#[test]
fn a_hook_that_returns_false_cancels_the_run() {
    for calls_before in [0, 1] {
        let calls = Mutex::new(0);
        let analysis = Analysis::new().on_progress(move |_| {
            let mut calls = calls.lock().unwrap();
            *calls += 1;
            *calls <= calls_before
        });
        let result = analysis.run_on(reading(&analysis, b"a\nb\n"));
        assert!(matches!(result, Err(Error::Cancelled)), "{calls_before}");
    }
}

#[test]
fn a_sample_of_the_slots_is_not_suspicious_and_the_same_keys_without_the_word_are() {
    let keys = (0..1_000_000).map(|id| format!("user:{id}\n"));
    let keys = keys
        .filter(|key| slotscope_base::slot::slot(key.trim_end().as_bytes()).is_multiple_of(100));
    let dump = keys.collect::<String>();
    let analysis = Analysis::new();
    let state = |percent: f64| {
        let mut manifest = manifest::example(&["dump"]);
        manifest.cluster = false;
        manifest.settings.sample_percent = percent;
        let mut reading = reading(&analysis, dump.as_bytes());
        reading.collections.push(Collection {
            directory: "dir".into(),
            manifest,
        });
        analysis.run_on(reading).unwrap().verdict.state
    };
    assert_eq!(state(100.0), State::Suspicious);
    assert_ne!(state(1.0), State::Suspicious);
}
