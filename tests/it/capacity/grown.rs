//! Growth by assumption and numbers of shards: exact, or with the reason why not.

use super::review;
use testkit::history::{monthly, run};
use testkit::prelude::*;

/// A report of 1,000 users and a tag of 200 keys of 100 bytes.
fn one(scratch: &Scratch) -> [String; 1] {
    [monthly(
        scratch,
        0,
        1000,
        &[("acme", 200), ("b=c", 10)],
        &[],
    )]
}

fn grown(found: &Value, metric: &str) -> u64 {
    found["total"][metric]["grown"].whole()
}

#[test]
fn growth_by_assumption_is_exact() {
    let scratch = Scratch::new();
    let reports = one(&scratch);
    let plain = review(&scratch, &reports, "");
    let bytes = plain["total"]["bytes"]["now"].whole();
    assert_eq!(plain["total"]["bytes"].get("grown"), None);
    let tag = 200 * 100;
    for (flags, keys, expected) in [
        ("--grow 40%", 1694, bytes * 14 / 10),
        ("--grow 1.5x", 1815, bytes * 3 / 2),
        ("--grow {acme}=2x", 1410, bytes + tag),
        ("--grow {b=c}=3x", 1230, bytes + 2000),
        (
            "--grow {acme}=2x --grow 40%",
            1814,
            bytes * 14 / 10 + tag * 6 / 10,
        ),
        ("--grow user:*=3x", 3210, bytes + 2 * (bytes - tag - 1000)),
        ("--grow user:<n>=3x", 3210, bytes + 2 * (bytes - tag - 1000)),
        // All keys of a pattern with a literal tag are in its slot.
        ("--grow app:{acme}:*=2x", 1410, bytes + tag),
        (
            "--grow app:{acme}:*=2x --grow user:*=3x",
            3410,
            bytes + tag + 2 * (bytes - tag - 1000),
        ),
        ("--grow 0%", 1210, bytes),
    ] {
        let found = review(&scratch, &reports, flags);
        assert_eq!(
            (
                grown(&found, "keys"),
                grown(&found, "bytes").abs_diff(expected) <= 1
            ),
            (keys, true),
            "{flags}"
        );
        let shards = found["shards"].list().iter();
        let sum: u64 = shards.map(|shard| shard["bytes"]["grown"].whole()).sum();
        assert!(sum.abs_diff(expected) <= 3, "{flags}");
    }
    let found = review(&scratch, &reports, "--grow {acme}=2x");
    assert_eq!(found["tags"][0]["grown"], 2 * tag);
    let [by_tag, by_pattern] = ["{acme}=2x", "app:{acme}:*=2x"]
        .map(|growth| review(&scratch, &reports, &format!("--grow {growth}")));
    for part in ["shards", "tags", "counts", "floor"] {
        assert_eq!(by_tag[part], by_pattern[part], "{part}");
    }
    // The tags of the keys of a pattern are not known.
    let spread = review(&scratch, &reports, "--grow *=3x");
    assert_eq!(spread["tags"][0].get("grown"), None);
    let spread = review(&scratch, &reports, "--grow user:*=3x");
    spread["notes"]
        .to_string()
        .says("what they add is spread evenly");
}

#[test]
fn what_grows_by_more_than_the_report_knows_is_refused() {
    let scratch = Scratch::new();
    let reports = one(&scratch);
    for [growth, reason] in rows(
        "-40% | less than today
         {acme}=0.5x | less than today
         40 | write 40% or 1.4x
         {acme}=x | write 40% or 1.4x
         {nobody}=2x | not among the 2 hash tags that r0/report.json lists
         cart:*=2x | not among the 3 patterns that r0/report.json lists
         {}=2x | names nothing",
    ) {
        run(&scratch, &reports, &["--grow", growth]).refused(reason);
    }
    for (twice, reason) in [
        (["{acme}=2x", "{acme}=3x"], "the second growth of the same"),
        (
            ["{acme}=2x", "app:*=3x"],
            "grows the keys of app:{acme}:<n>, as --grow {acme}=2x does",
        ),
        (
            ["app:*=2x", "app:{acme}:*=3x"],
            "grows the keys of app:{acme}:<n>, as --grow app:{acme}:*=3x does",
        ),
    ] {
        let flags = twice.map(|growth| ["--grow", growth]).concat();
        run(&scratch, &reports, &flags).refused(reason);
    }
}

#[test]
fn numbers_of_shards_have_a_placement_near_the_bound_and_an_answer() {
    let scratch = Scratch::new();
    let reports = one(&scratch);
    let found = review(
        &scratch,
        &reports,
        "--maxmemory 45000 --grow 40% --shards 3,4,12",
    );
    let counts = found["counts"].list();
    let bytes = found["total"]["bytes"]["now"].float();
    for (count, shards) in counts.iter().zip([3.0, 4.0, 12.0]) {
        assert_eq!(count["shards"].float(), shards);
        let [now, bound] = ["now", "bound"].map(|of| count["bytes"][of].float());
        let truth = (bytes / shards).ceil().max(200.0 * 100.0);
        assert_eq!(bound, truth, "{count}");
        assert!(now >= bound && now <= 1.01 * bound, "{count}");
    }
    // 57 KB on three, with one lost, or grown: 40.6, 60.8, 56.8 KB.
    counts[0]["fits"].has(json!({"now": true, "one_lost": false, "grown": false}));
    counts[1]["fits"]
        .has(json!({"now": true, "one_lost": true, "grown": true, "grown_one_lost": false}));
    counts[2]["fits"].has(json!({"grown_one_lost": true}));
    let answer = found["answer"].text();
    answer
        .says("4 shards of 43.95 KiB, with slots placed anew, are enough after growth")
        .says("the slot of {acme} (19.53 KiB) is the limit beyond 6 shards");
    let tight = review(&scratch, &reports, "--maxmemory 19000 --shards 3,64");
    tight["answer"]
        .text()
        .says("no number of shards up to 64 was found to stay below 100% of 18.55 KiB");
    for bad in ["0", "99999", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"] {
        run(&scratch, &reports, &["--shards", bad]).refused("--shards");
    }
}

#[test]
fn the_fullest_of_3_to_64_shards_is_within_1_percent_of_the_bound_on_the_samples() {
    let scratch = Scratch::new();
    for sample in ["shop", "hot-tag"] {
        let report = root().join("reports/samples").join(sample);
        for from in (3..=64).step_by(16) {
            let numbers: Vec<String> = (from..(from + 16).min(65)).map(|n| n.to_string()).collect();
            let report = report.to_string_lossy().into_owned();
            let found = review(
                &scratch,
                &[report],
                &format!("--shards {}", numbers.join(",")),
            );
            for count in found["counts"].list() {
                for metric in ["keys", "bytes", "ops"] {
                    let Some(of) = count.get(metric) else {
                        continue;
                    };
                    let [now, bound] = ["now", "bound"].map(|end| of[end].float());
                    assert!(now <= 1.01 * bound + 1.0, "{sample}: {count}");
                }
            }
        }
    }
}
