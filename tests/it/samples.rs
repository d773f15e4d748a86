//! The samples match samples/README.md: its commands yield these bytes. What each shows is in reports/samples, byte by byte.
//!
//! `BLESS=1 cargo test --test it samples` rewrites the files.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use clap::Parser;
use slotscope::cli::generate::GenerateArgs;
use testkit::files::{committed, same_bytes, text_of};
use testkit::run::{root, succeeded};

/// The parts of the command line that the samples need.
#[derive(Parser)]
enum Slotscope {
    Generate(GenerateArgs),
}

fn folder() -> PathBuf {
    root().join("samples")
}

fn read(name: &str) -> Vec<u8> {
    fs::read(folder().join(name)).unwrap_or_else(|error| panic!("samples/{name}: {error}"))
}

#[test]
fn the_commands_in_the_readme_give_these_bytes() {
    let readme = text_of("samples/README.md");
    let commands = readme
        .split('`')
        .filter(|code| code.starts_with("slotscope generate "));
    let commands: Vec<&str> = commands.collect();
    assert_eq!(commands.len(), 5);
    for command in commands {
        let (command, then) = command.split_once("; ").unwrap_or((command, ""));
        let (words, file) = command.split_once(" > samples/").unwrap();
        let Slotscope::Generate(generate) = Slotscope::try_parse_from(words.split(' ')).unwrap();
        let mut expected = Vec::new();
        generate.dump().write_to(&mut expected).unwrap();
        match then {
            "" => (),
            "sed -i 's/$/\\r/' samples/crlf.keys" => {
                expected = String::from_utf8(expected)
                    .unwrap()
                    .replace('\n', "\r\n")
                    .into();
            }
            other => panic!("this test cannot run {other}"),
        }
        committed(&format!("samples/{file}"), &expected, same_bytes);
    }
}

#[test]
fn every_file_is_in_the_readme_and_small() {
    let readme = text_of("samples/README.md");
    for entry in fs::read_dir(folder()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let is_listed = name == "README.md" || readme.contains(&format!("| `{name}` |"));
        assert!(is_listed, "{name} is not in the table");
        let most = if name == "shop.csv.zst" {
            3_000_000
        } else {
            250_000
        };
        assert!(
            entry.metadata().unwrap().len() < most,
            "{name} is too large for a sample"
        );
    }
}

/// The output of samples/make-shop.
fn made_shop(flag: &str) -> Vec<u8> {
    let mut python = Command::new("python3");
    let output = python.arg(folder().join("make-shop")).arg(flag).output();
    succeeded(output.expect("python3 runs samples/make-shop"))
}

#[test]
fn the_shop_is_what_its_script_makes() {
    if std::env::var_os("BLESS").is_some() {
        let status = Command::new(folder().join("make-shop")).status().unwrap();
        assert!(status.success());
    }
    // Versions of zstd compress differently: only the content is compared.
    let table = zstd::decode_all(&read("shop.csv.zst")[..]).unwrap();
    assert!(table == made_shop("--csv"), "run samples/make-shop");
    committed("samples/shop.nodes", &made_shop("--nodes"), same_bytes);
}
