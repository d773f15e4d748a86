//! No files depend on each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::paths::{paths_from_root, tested};

/// The module name of a file: `summary::model` for summary/model/mod.rs.
fn module_of(path: &Path) -> String {
    let path = path.with_extension("");
    let parts = path.iter().map(|part| part.to_str().unwrap());
    let parts = parts.filter(|part| !["mod", "lib", "main"].contains(part));
    parts.collect::<Vec<_>>().join("::")
}

/// Files that depend on each other in a circle, each circle once. A file may use what its folder's mod.rs defines for
/// all of them, and that mod.rs may use the file.
pub(crate) fn circles(files: &[(PathBuf, String)]) -> Vec<Vec<String>> {
    let arrows: BTreeMap<String, BTreeSet<String>> = {
        let modules: BTreeSet<String> = files.iter().map(|(path, _)| module_of(path)).collect();
        let arrows = files.iter().map(|(path, code)| {
            let module = module_of(path);
            let parts: Vec<&str> = module.split("::").collect();
            let targets = paths_from_root(&tested(code), &parts).into_iter();
            let file_of = |path: String| {
                let mut target = path.as_str();
                while !modules.contains(target) {
                    target = target.rsplit_once("::")?.0;
                }
                Some(target.to_owned())
            };
            let is_around = |target: &String| module.starts_with(&format!("{target}::"));
            let targets = targets
                .filter_map(file_of)
                .filter(|target| *target != module && !is_around(target))
                .collect();
            (module, targets)
        });
        arrows.collect()
    };
    let reached_from = |start: &String| {
        let mut reached = BTreeSet::new();
        let mut next = vec![start];
        while let Some(module) = next.pop() {
            let targets = arrows.get(module).into_iter().flatten();
            next.extend(targets.filter(|target| reached.insert((*target).clone())));
        }
        reached
    };
    let reached = arrows.keys().map(|module| (module, reached_from(module)));
    let reached: BTreeMap<&String, _> = reached.collect();
    let circle = |module: &&String| -> Vec<String> {
        let back = |other: &&String| reached.get(other).is_some_and(|of| of.contains(*module));
        reached[*module].iter().filter(back).cloned().collect()
    };
    let circles: BTreeSet<Vec<String>> = arrows.keys().map(|module| circle(&module)).collect();
    circles
        .into_iter()
        .filter(|circle| !circle.is_empty())
        .collect()
}

#[test]
fn files_that_use_each_other_are_found_through_any_number_of_others() {
    let file = |path: &str, code: &str| (PathBuf::from(path), String::from(code));
    let tests = "#[cfg(test)]\nmod tests { use crate::summary::a::A; }";
    let mut files = vec![
        file(
            "summary/mod.rs",
            "use crate::summary::a::A;\nuse crate::tally;",
        ),
        file(
            "summary/a.rs",
            "use crate::{summary::b::B, summary::Summary};",
        ),
        file("summary/b.rs", "fn f() { crate::summary::model::c::g() }"),
        file(
            "summary/model/c.rs",
            "// crate::summary::a\nuse crate::tally::T;",
        ),
        file("tally/mod.rs", tests),
    ];
    assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    for closing in ["use crate::summary::a::A;", "use super::super::a::A;"] {
        files[3].1 = String::from(closing);
        let circle = ["summary::a", "summary::b", "summary::model::c"];
        assert_eq!(circles(&files), [circle], "{closing}");
    }
    files[3].1 = String::from("use super::d::D;");
    files.push(file("summary/model/d.rs", "use super::c::C;"));
    let siblings = ["summary::model::c", "summary::model::d"];
    assert_eq!(circles(&files), [siblings]);
}
