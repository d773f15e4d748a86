//! Around a script: its preflight alone, and the forecast compared with the cluster before and after the moves.

use super::uneven::Uneven;
use testkit::cluster::call_ok;
use testkit::kinds::Kind;
use testkit::run::{code, report, stderr, stdout, succeeded};

/// `slotscope plan` on an address or on the collection `out`.
fn plan(uneven: &Uneven, input: &str, flags: &[&str]) -> (i32, String) {
    let output = uneven.scratch.run(&[&["plan", input], flags].concat());
    let said = format!("{}{}", stdout(&output), stderr(&output));
    (code(&output), said)
}

#[test]
fn a_check_says_what_stands_in_the_way_and_moves_nothing() {
    let uneven = Uneven::new(Kind::Installed, "setslot", &[]);
    uneven.plan(&[]);
    let flags = ["--by", "bytes", "--commands", "auto", "--check"];
    let (code, said) = plan(&uneven, "out", &flags);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("nothing stands in the way"), "{said}");
    for server in &uneven.cluster.servers[1..] {
        let words = ["CONFIG", "SET", "maxmemory", "2mb"];
        call_ok(&mut server.connect(), &words);
    }
    // The collection is older than the limits.
    let (code, said) = plan(&uneven, "out", &flags);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("would refuse writes"), "{said}");
    assert!(said.contains("not ready for these moves"), "{said}");
    uneven.is_as_before();
}

#[test]
fn a_check_logs_in_as_the_user_of_the_flags() {
    let uneven = Uneven::new(Kind::Installed, "setslot", &[]);
    uneven.plan(&[]);
    for server in &uneven.cluster.servers {
        let rights = "ACL SETUSER mover on >p ~* +cluster +info +dbsize +restore-asking";
        let words: Vec<&str> = rights.split(' ').collect();
        call_ok(&mut server.connect(), &words);
    }
    uneven.scratch.file("password", b"p\n");
    let flags = ["--by", "bytes", "--commands", "setslot", "--check"];
    let user = ["--user", "mover", "--password-file", "password"];
    let (code, said) = plan(&uneven, "out", &[&flags[..], &user].concat());
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("refuses MIGRATE"), "{said}");
}

#[test]
fn a_forecast_is_compared_with_the_cluster() {
    let uneven = Uneven::new(Kind::Valkey91, "auto", &[]);
    uneven.plan(&[]);
    let address = format!("redis://{}", uneven.cluster.address(0));
    let made = uneven
        .scratch
        .run(&["plan", "out", "--by", "bytes", "--json"]);
    uneven.scratch.file("plan.json", stdout(&made));
    let judged = uneven.scratch.run(&["analyze", "out", "--json"]);
    let steps = &report(&judged)["verdict"]["steps"];
    assert_eq!(steps[0]["kind"], "move", "{steps}");
    uneven.scratch.file("report.json", stdout(&judged));

    let (code, said) = plan(&uneven, &address, &["--verify", "plan.json"]);
    assert_eq!(code, 1, "{said}");
    assert!(
        said.contains("slots not where the plan puts them"),
        "{said}"
    );
    let (code, said) = plan(&uneven, "out", &["--verify", "report.json"]);
    assert_eq!(code, 1, "{said}");

    succeeded(uneven.run(&["move.sh"]));
    let (code, said) = plan(&uneven, &address, &["--verify", "plan.json"]);
    assert_eq!(code, 0, "{said}");
    // Valkey does not count memory by slot, and a note says so; a collection of the keys has it.
    assert!(said.contains("not compared: bytes"), "{said}");
    let collected = ["collect", &address, "-o", "after", "--max-load", "100"];
    succeeded(uneven.scratch.run(&collected));
    let (code, said) = plan(&uneven, "after", &["--verify", "plan.json"]);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains(" bytes "), "{said}");
    let (code, said) = plan(&uneven, "after", &["--verify", "report.json"]);
    assert_eq!(code, 0, "{said}");

    call_ok(&mut uneven.cluster.servers[0].connect(), &["FLUSHALL"]);
    let (code, said) = plan(&uneven, &address, &["--verify", "plan.json"]);
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("3 figures differ"), "{said}");
}

#[test]
fn a_forecast_that_is_none_is_refused() {
    let uneven = Uneven::new(Kind::Installed, "setslot", &[]);
    uneven.plan(&[]);
    let (code, said) = plan(&uneven, "out", &["--verify", "move.sh"]);
    assert_eq!(code, 2, "{said}");
    assert!(said.contains("slotscope plan --json writes one"), "{said}");
}
