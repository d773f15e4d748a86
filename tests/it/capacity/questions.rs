//! Questions of a capacity reviewer about six weekly dumps of one cluster, with a command for each: the dumps were copied, so that
//! only their names tell their dates.

use std::fs;

use super::shard;
use testkit::prelude::*;

const DAYS: [&str; 6] = [
    "2026-10-24",
    "2026-10-31",
    "2026-11-07",
    "2026-11-14",
    "2026-11-21",
    "2026-11-28",
];

/// The rows of a dump: users that grow by 10 a week, and a tenant that grows by 20.
fn dump(week: usize) -> String {
    let user = |user| format!("user:{user},{},3\n", 90 + user % 21);
    let tenant = |key| format!("app:{{tenant:acme}}:{key},100,5\n");
    let users: String = (0..1000 + 10 * week).map(user).collect();
    let tenants: String = (0..100 + 20 * week).map(tenant).collect();
    format!("key,size,ops\n{users}{tenants}")
}

#[test]
fn seven_questions_have_an_answer_from_one_command_each() {
    let scratch = Scratch::new();
    for (week, day) in DAYS.iter().enumerate() {
        scratch.file(&format!("dump-{day}.csv"), dump(week));
        scratch.text(&format!("analyze dump-{day}.csv --nodes 6"));
    }
    let reports: Vec<String> = DAYS
        .iter()
        .map(|day| format!("reports/dump-{day}"))
        .collect();
    let all = reports.join(" ");
    let last = reports.last().unwrap();

    // 1. What will each shard hold in 3 months?
    let found = scratch.report(&format!("capacity {all} --months 3 --json"));
    assert_eq!(found["shards"].list().len(), 6);
    for shard in found["shards"].list() {
        let then = &shard["bytes"]["ahead"][0];
        assert_eq!(then["months"], 3);
        let load = |end: &str| then["load"][end].float();
        assert!(load("low") <= load("estimate") && load("estimate") <= load("high"));
        assert!(load("estimate") > shard["bytes"]["now"].float(), "{shard}");
    }
    // 2. And if all grows by 40%?
    let grown = scratch.report(&format!("capacity {last} --grow 40% --json"));
    let even = shard(&grown, "even-1");
    near(
        even["bytes"]["grown"].float(),
        1.4 * even["bytes"]["now"].float(),
        1.0,
    );
    // 3. Are 6, 8 or 12 shards of 40 KB enough, and until when?
    let flags = "--shards 6,8,12 --maxmemory 40kb";
    let found = scratch.report(&format!("capacity {all} {flags} --json"));
    let fits = |at: usize| &found["counts"][at]["fits"];
    assert_eq!([0, 1, 2].map(|at| fits(at)["now"] == true), [true; 3]);
    found["answer"]
        .text()
        .says("6 shards of 40.00 KiB, with slots placed anew, last until 2027-");
    // 4. Which tenant is the largest?
    found["tags"][0].has(json!({"name": "tenant:acme", "now": 20_000}));
    // 5. When must it be split? It has 20,000 of 32,768 bytes, and adds 2,000 a week.
    let weeks = (0.8 * 40_960.0 - 20_000.0) / 2000.0;
    near(
        found["tags"][0]["outgrows"]["estimate"].float(),
        weeks * 7.0 * 12.0 / 365.25,
        0.05,
    );
    found["answer"]
        .text()
        .says("split {tenant:acme} before 2027-01-1");
    // 6. A picture for the slide, and a table for the spreadsheet?
    scratch.text(&format!("capacity {all} {flags} --out review"));
    for file in [
        "capacity.png",
        "capacity.csv",
        "capacity.html",
        "capacity.json",
    ] {
        assert!(
            fs::metadata(scratch.path("review").join(file))
                .unwrap()
                .len()
                > 1000,
            "{file}"
        );
    }
    // 7. What changed between two dates?
    let changed = scratch.text(&format!("diff {} {last}", reports[0]));
    changed.says("the tag {tenant:acme} grew most");
}
