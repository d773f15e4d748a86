//! The pictures in README.md are current by the signs that docs/pictures/make checks; it lists the rest.

use std::fs;
use std::process::Command;

use testkit::files::text_of;
use testkit::run::{clean_environment, root};

#[test]
fn the_pictures_of_the_readme_are_what_the_program_makes() {
    let mut make = Command::new("python3");
    make.args(["docs/pictures/make", "--check"])
        .arg(env!("CARGO_BIN_EXE_slotscope"))
        .current_dir(root());
    clean_environment(&mut make);
    let output = make.output().expect("python3 runs docs/pictures/make");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
}

#[test]
fn every_picture_is_shown_and_small() {
    let readme = text_of("README.md");
    for entry in fs::read_dir(root().join("docs/pictures")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_picture = name.ends_with(".png") || name.ends_with(".svg");
        let link = format!("(docs/pictures/{name})");
        assert!(
            !is_picture || readme.contains(&link),
            "{name} is in no document"
        );
        assert!(
            entry.metadata().unwrap().len() < 300_000,
            "{name} is too large"
        );
    }
}
