//! Rows of steps in a report: each begins where those before it end, and has figures only where these are known.

use testkit::prelude::*;

/// Three nodes whose slots end so.
fn cluster(ends: [u32; 3]) -> Scratch {
    let mut first = 0;
    let listing = ["a", "b", "c"]
        .iter()
        .zip(1..)
        .zip(ends)
        .map(|((id, at), end)| {
            let start = std::mem::replace(&mut first, end + 1);
            let id = id.repeat(40);
            format!("{id} 10.0.0.{at}:6379@16379 master - 0 0 1 connected {start}-{end}\n")
        });
    Scratch::with("cluster.nodes", listing.collect::<String>().as_bytes())
}

/// Three nodes, and a key with many operations of which nobody knows whether it is read.
fn hot(ends: [u32; 3], ops: u32) -> Scratch {
    let scratch = cluster(ends);
    let light = (0..30_000).map(|at| format!("session:{at},100,1\n"));
    let light: String = light.collect();
    let csv = format!("key,size,ops\n{light}cfg:limits,100,{ops}\n");
    scratch.file("dump.csv", csv);
    scratch
}

/// The steps, and the text.
fn steps(scratch: &Scratch) -> (Value, String) {
    let found = scratch.report("analyze dump.csv --topology cluster.nodes --json");
    let text = scratch.text("analyze dump.csv --topology cluster.nodes --no-files");
    (found["verdict"]["steps"].clone(), text)
}

#[test]
fn a_cache_that_may_not_help_has_no_figure() {
    let (found, text) = steps(&hot([5460, 10_921, 16_383], 12_000));
    found[0].has(json!({"kind": "cache", "estimated": false}));
    let figures = &found[0]["after"];
    let is_known = |role: &&str| !figures[*role].is_null();
    assert!(!["memory", "load"].iter().any(is_known), "{found}");
    let rows = text
        .lines()
        .skip_while(|line| !line.contains(" 1 now: cache key"));
    let row: String = rows.take_while(|line| !line.starts_with(" 2 ")).collect();
    row.says("if it is mostly read").lacks("->");
}

#[test]
fn a_row_begins_where_the_last_row_with_a_figure_ended() {
    let (found, text) = steps(&hot([7999, 11_999, 16_383], 30_000));
    assert_eq!(found.each("kind"), json!(["cache", "split", "move"]));
    let after = |step: usize, role: &str| found[step]["after"][role]["max_over_mean"].float();
    let row = |start: &str| {
        text.lines()
            .find(|line| line.starts_with(start))
            .expect(&text)
    };
    // A cache that may not help takes nothing from what is split.
    row(" 2 split key cfg:limits").says(&format!("1.90 -> ≈{:.2}", after(1, "load")));
    for role in ["memory", "load"] {
        let [start, end] = [after(1, role), after(2, role)];
        assert!(end < start, "{role}: {found}");
        let about = if role == "load" { "≈" } else { "" };
        row(" 3 then even out").says(&format!("{about}{start:.2} -> ≈{end:.2}"));
    }
}

#[test]
fn rows_after_moves_begin_where_these_end() {
    let scratch = cluster([9999, 13_191, 16_383]);
    let light = (0..20_000).map(|at| format!("session:{at},100\n"));
    let heavy = (0..100).map(|at| format!("cart:{{hot}}:{at},7000\n"));
    let keys: String = light.chain(heavy).collect();
    scratch.file("dump.csv", format!("key,size\n{keys}"));
    let line = "analyze dump.csv --topology cluster.nodes --maxmemory 1500000";
    let found = scratch.report(&format!("{line} --json"));
    let steps = &found["verdict"]["steps"];
    assert_eq!(steps.each("kind"), json!(["move", "move"]));
    let after = |step: usize| steps[step]["after"]["memory"]["max_over_mean"].float();
    assert!(after(1) < after(0), "{steps}");
    scratch.text(&format!("{line} --no-files")).says(&format!(
        "{:.2} -> ≈{:.2}",
        after(0),
        after(1)
    ));
}
