//! The packages for crates.io: no packaged document links to an excluded file, and no packaged source includes one.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::docs::dead_links;
use regex::Regex;
use tempfile::TempDir;
use testkit::run::{root, succeeded, words};

/// The output of a command of Cargo.
fn cargo(line: &str) -> String {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    let output = cargo
        .args(words(line))
        .current_dir(root())
        .output()
        .unwrap();
    String::from_utf8(succeeded(output)).unwrap()
}

/// The files of a package, relative to its folder.
fn packaged(package: &str) -> Vec<PathBuf> {
    let list = cargo(&format!(
        "package --list --allow-dirty --offline --package {package}"
    ));
    list.lines().map(PathBuf::from).collect()
}

/// A copy of only the package's files.
fn unpacked(package: &str, source: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in packaged(package) {
        // Cargo generates some files itself.
        if source.join(&file).is_file() {
            fs::create_dir_all(copy.path().join(&file).parent().unwrap()).unwrap();
            fs::copy(source.join(&file), copy.path().join(&file)).unwrap();
        }
    }
    copy
}

/// The files that Rust code reads when built or tested.
fn read_by(code: &str, folder: &Path, root: &Path) -> Vec<PathBuf> {
    let included = Regex::new(r#"include_(?:str|bytes)!\("([^"]+)"\)"#).unwrap();
    let joined = Regex::new(r#"CARGO_MANIFEST_DIR"\)\)\s*\.join\("([^"]+)"\)"#).unwrap();
    let found = |regex: &Regex, from: &Path| -> Vec<PathBuf> {
        let captures = regex.captures_iter(code);
        captures.map(|found| from.join(&found[1])).collect()
    };
    [found(&included, folder), found(&joined, root)].concat()
}

/// Files that are referenced but missing from the package.
fn missing(package: &str, source: &Path) -> Vec<String> {
    let copy = unpacked(package, source);
    let mut missing = Vec::new();
    for file in packaged(package) {
        let path = copy.path().join(&file);
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        let folder = path.parent().unwrap();
        let lost: Vec<String> = match file.extension().and_then(|it| it.to_str()) {
            // Links from one package into the other point to the repository.
            Some("md") => dead_links(folder, &text)
                .into_iter()
                .filter(|link| !link.contains("crates/") && !link.starts_with("../../"))
                .collect(),
            Some("rs") => {
                let read = read_by(&text, folder, copy.path()).into_iter();
                let lost = read.filter(|path| !path.exists());
                lost.map(|path| path.display().to_string()).collect()
            }
            _ => Vec::new(),
        };
        missing.extend(lost.iter().map(|it| format!("{}: {it}", file.display())));
    }
    missing
}

#[test]
fn a_packaged_file_refers_to_no_file_that_is_left_out() {
    let others = "keyname app parts history names live count detect read base advisor objects planner moves findings model topology report collect canvas";
    let others = others
        .split(' ')
        .map(|name| (format!("slotscope-{name}"), format!("crates/{name}")));
    let named = [("slotscope", ""), ("hashslot", "crates/hashslot")];
    let named = named.map(|(name, folder)| (name.into(), folder.into()));
    for (package, folder) in named.into_iter().chain(others) {
        let missing = missing(&package, &root().join(folder));
        assert!(missing.is_empty(), "{package}: {missing:#?}");
    }
}

#[test]
fn an_included_file_is_found_in_the_code() {
    let code = r#"include_str!("a.txt"); Path::new(env!("CARGO_MANIFEST_DIR")).join("b/c")"#;
    let found = read_by(code, Path::new("/src/x"), Path::new("/"));
    assert_eq!(found, [Path::new("/src/x/a.txt"), Path::new("/b/c")]);
}

/// The crates compiled by a build with `arguments`, with their features.
fn features(arguments: &str) -> BTreeMap<String, String> {
    let format = "tree --offline --locked --prefix none --format '{p} {f}'";
    let tree = cargo(&format!("{format} {arguments}"));
    let of_crate = |line: &str| {
        let line = line.trim_end_matches(" (*)");
        let mut words = line.splitn(3, ' ');
        let name = [words.next().unwrap(), words.next().unwrap()].join(" ");
        (name, words.next().unwrap_or_default().to_owned())
    };
    tree.lines()
        .filter(|line| !line.is_empty())
        .map(of_crate)
        .collect()
}

#[test]
fn the_program_and_its_tests_share_their_builds() {
    let program = features("--edges normal,build");
    let with_tests = features("--edges normal,build,dev");
    let differs = |(name, features): &(&String, &String)| {
        let other = with_tests.get(*name);
        !name.starts_with("slotscope v") && other.is_some_and(|other| other != *features)
    };
    let differ: Vec<_> = program.iter().filter(differs).collect();
    assert!(
        differ.is_empty(),
        "`cargo test` compiles these anew: {differ:?}"
    );
}

#[test]
fn a_profile_names_dependencies_only() {
    let text = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let manifest: toml::Table = toml::from_str(&text("Cargo.toml")).unwrap();
    let lock: toml::Table = toml::from_str(&text("Cargo.lock")).unwrap();
    let locked = lock["package"].as_array().unwrap().iter();
    let locked: Vec<_> = locked.map(|package| package["name"].as_str()).collect();
    let mut named = 0;
    for (profile, settings) in manifest["profile"].as_table().unwrap() {
        let packages = settings.get("package").and_then(|it| it.as_table());
        for package in packages.into_iter().flat_map(toml::Table::keys) {
            assert!(
                locked.contains(&Some(package)),
                "{profile}: {package} is no dependency"
            );
            named += 1;
        }
    }
    assert!(named > 5, "{named}");
}
