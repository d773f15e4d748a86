//! Inputs that are not key dumps are refused with a suggested command, and never counted; doubts are stated.

mod doubtful;
mod refused;
mod replies;

use slotscope::format::not_a_dump::{LINE_FORMS, NotADump, REPLIES, SIGNATURES};
use testkit::run::root;

fn refusals() -> impl Iterator<Item = &'static NotADump> {
    SIGNATURES.iter().chain(REPLIES).chain(LINE_FORMS)
}

#[test]
fn the_manual_lists_what_the_program_refuses() {
    let manual = std::fs::read_to_string(root().join("docs/formats.md")).unwrap();
    let cell = |text: &str| text.replace('|', "\\|");
    let row = |one: &NotADump| format!("| {} | {} |\n", cell(one.what), cell(one.way_out));
    let mut rows: Vec<String> = refusals().map(row).collect();
    rows.dedup();
    let expected = format!("| refused | what to type |\n|---|---|\n{}\n", rows.concat());
    assert!(
        manual.contains(&expected),
        "docs/formats.md is to hold\n{expected}"
    );
}
