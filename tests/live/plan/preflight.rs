//! The preflight of a script alone.

use super::uneven::Uneven;
use testkit::cluster::call_ok;
use testkit::kinds::Kind;
use testkit::run::{code, stderr, stdout};

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
