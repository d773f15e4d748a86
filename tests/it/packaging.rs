//! Published files are consistent: archives, the names that installers look for, the image, licences. Checks that need
//! a build are in `packaging/check`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use regex::Regex;
use testkit::files::text_of as read;
use testkit::run::{Said, Scratch, root, succeeded};

fn toml(path: &str) -> toml::Table {
    read(path).parse().unwrap()
}

/// All texts matched by the first group of `pattern`.
fn found(pattern: &str, text: &str) -> BTreeSet<String> {
    let regex = Regex::new(pattern).unwrap();
    let captures = regex.captures_iter(text);
    captures.map(|found| found[1].to_owned()).collect()
}

/// The targets of a release: those of `packaging/build` on Linux, and the matrix of the others.
fn released() -> BTreeSet<String> {
    let workflow = read(".github/workflows/release.yml");
    let mut targets = found(r"- target: (\S+)", &workflow);
    let build = found(r"run: packaging/build (.+)", &workflow);
    let words = build.iter().flat_map(|line| line.split_whitespace());
    let on_linux = words.filter(|word| word.contains("-linux-"));
    targets.extend(on_linux.map(str::to_owned));
    targets
}

/// The names of a target's archive and of the program in it.
fn archive(target: &str) -> (String, String) {
    let mut script = Command::new("bash");
    script
        .args(["packaging/archive", "--name", target])
        .current_dir(root());
    let names = String::from_utf8(succeeded(script.output().unwrap())).unwrap();
    let (archive, program) = names.trim().split_once('\n').unwrap();
    (archive.to_owned(), program.to_owned())
}

#[test]
fn the_program_is_summed_up_by_one_sentence() {
    let sentence = env!("CARGO_PKG_DESCRIPTION");
    // Homebrew and Debian allow no more.
    assert!(
        sentence.len() < 80 && !sentence.ends_with('.'),
        "{sentence}"
    );
    let printed = ["help", "man"].map(|line| Scratch::new().text(line));
    let files = [
        "README.md",
        "docs/README.md",
        "book.toml",
        "python/README.md",
        "python/pyproject.toml",
        "packaging/slotscope.rb",
        "packaging/debian/description",
    ];
    for text in printed.into_iter().chain(files.map(read)) {
        let start: Vec<&str> = text.split_whitespace().take(100).collect();
        start.join(" ").says(&sentence[1..]);
    }
}

#[test]
fn a_release_has_programs_for_three_systems() {
    let targets = released();
    for part in ["x86_64-unknown-linux-musl", "-apple-darwin", "-windows-"] {
        assert!(targets.iter().any(|it| it.contains(part)), "{targets:?}");
    }
    assert_eq!(targets.len(), 5, "{targets:?}");
}

#[test]
fn binstall_looks_for_the_archives_that_are_made() {
    let manifest = toml("Cargo.toml");
    let package = &manifest["package"];
    let binstall = &package["metadata"]["binstall"];
    let shared = &manifest["workspace"]["package"];
    let version = shared["version"].as_str().unwrap();
    let repository = shared["repository"].as_str().unwrap();
    for target in released() {
        let own = binstall["overrides"].get(&target);
        let setting = |name: &str| {
            let value = own.and_then(|own| own.get(name)).unwrap_or(&binstall[name]);
            value.as_str().unwrap()
        };
        let is_windows = target.contains("windows");
        let expand = |template: &str| {
            let values = [
                ("{ repo }", repository),
                ("{ version }", version),
                ("{ target }", &target),
                ("{ bin }", "slotscope"),
                ("{ binary-ext }", if is_windows { ".exe" } else { "" }),
            ];
            let fill = |text: String, (name, value): (&str, &str)| text.replace(name, value);
            values.into_iter().fold(template.to_owned(), fill)
        };
        let (archive, program) = archive(&target);
        let url = format!("{repository}/releases/download/v{version}/{archive}");
        assert_eq!(expand(setting("pkg-url")), url);
        assert_eq!(expand(setting("bin-dir")), program);
        let ending = BTreeMap::from([("tgz", ".tar.gz"), ("zip", ".zip")])[setting("pkg-fmt")];
        assert!(archive.ends_with(ending), "{archive}");
    }
}

#[test]
fn the_formula_names_archives_that_are_made_and_files_that_are_in_them() {
    let formula = read("packaging/slotscope.rb");
    let names = found(r#"/releases/download/v#\{version\}/([^"]+)""#, &formula);
    let sums = found(r#"sha256 "@([^"@]+)@""#, &formula);
    let released = released();
    let brewed = released.iter().filter(|it| !it.contains("windows"));
    let made: BTreeSet<String> = brewed.clone().map(|target| archive(target).0).collect();
    assert_eq!(names, made);
    assert_eq!(sums, brewed.cloned().collect());

    let script = read("packaging/archive");
    for file in found(r#"(?:install|Dir\[) ?"([^"*]+)"#, &formula) {
        let name = file.trim_end_matches('/');
        let is_made = script.contains(&format!("folder/{name}"));
        assert!(is_made || name == "slotscope", "{name}");
    }
}

#[test]
fn the_image_starts_the_program_that_is_copied_into_it() {
    let dockerfile = read("packaging/Dockerfile");
    let copied = Regex::new(r"COPY \$\{TARGETARCH\}/(\S+) (\S+)").unwrap();
    let copied = copied.captures_iter(&dockerfile);
    let copied = copied.map(|found| (found[1].to_owned(), found[2].to_owned()));
    let copied: BTreeMap<String, String> = copied.collect();
    let entry = found(r#"ENTRYPOINT \["([^"]+)"\]"#, &dockerfile);
    assert_eq!(entry, BTreeSet::from([copied["slotscope"].clone()]));
    let script = read("packaging/image");
    let made = found(r"context/\$architecture/([\w.-]*)", &script);
    for file in copied.keys().filter(|file| *file != "slotscope") {
        assert!(made.contains(file), "packaging/image makes no {file}");
    }
}

#[test]
fn licences_are_checked_for_the_targets_of_a_release() {
    let deny = toml("deny.toml");
    let targets = deny["graph"]["targets"].as_array().unwrap().iter();
    let targets: BTreeSet<String> = targets.map(|it| it.as_str().unwrap().to_owned()).collect();
    assert_eq!(targets, released());
}

/// The scripts of packaging/, relative to the root.
fn scripts() -> Vec<PathBuf> {
    let mut scripts = Vec::new();
    for folder in ["packaging", "packaging/checks"] {
        let entries = fs::read_dir(root().join(folder)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        scripts.extend(paths.filter(|path| path.is_file() && path.extension().is_none()));
    }
    scripts
}

#[test]
fn the_scripts_are_bash_and_those_that_are_run_can_be() {
    let mut count = 0;
    for path in scripts() {
        let text = fs::read_to_string(&path).unwrap();
        if text.contains("env python3") || path.ends_with("Dockerfile") {
            continue;
        }
        count += 1;
        let output = Command::new("bash").arg("-n").arg(&path).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert!(count >= 10, "only {count} scripts");
    let workflow = read(".github/workflows/release.yml");
    for script in found(r"packaging/(\w[\w-]*)", &workflow) {
        let text = read(&format!("packaging/{script}"));
        assert!(text.starts_with("#!"), "packaging/{script}");
    }
}
