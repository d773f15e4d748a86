//! The paths that a file uses, from the root of its crate.

/// The paths used by the code of `module`, from the root of the crate, with `use` groups expanded:
/// `slot::kernel::best`. This includes paths that begin with `super::`.
pub(crate) fn paths_from_root(code: &str, module: &[&str]) -> Vec<String> {
    let code: Vec<&str> = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect();
    let code = code.join("\n");
    let mut paths = Vec::new();
    let supers = (1..=module.len()).map(|up| {
        let above = &module[..module.len() - up];
        ("super::".repeat(up), above.join("::"))
    });
    let others = [("crate::", ""), ("slotscope::", "slotscope")];
    let others = others.map(|(root, place)| (String::from(root), String::from(place)));
    for (root, place) in supers.chain(others) {
        for (at, _) in code.match_indices(&root) {
            // `other_crate::` and the tail of a longer chain of `super::` start elsewhere.
            let is_tail = code[..at].ends_with(|c: char| c.is_alphanumeric() || "_:".contains(c));
            let target = &code[at + root.len()..];
            if !is_tail && !target.starts_with("super::") {
                spell_out(&place, target, &mut paths);
            }
        }
    }
    paths
}

/// Appends the paths at the start of `tree`, `a::{b, c::d}` or `a::b`, each prefixed by `before`; returns the rest.
fn spell_out<'a>(before: &str, tree: &'a str, paths: &mut Vec<String>) -> &'a str {
    let tree = tree.trim_start();
    if let Some(mut rest) = tree.strip_prefix('{') {
        loop {
            rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
            let after = spell_out(before, rest, paths);
            if after.len() == rest.len() {
                return after.trim_start().strip_prefix('}').unwrap_or(after);
            }
            // `as other_name` ends the path like a comma.
            rest = &after[after.find([',', '}']).unwrap_or(after.len())..];
        }
    }
    let end = tree
        .find(|c: char| !c.is_alphanumeric() && !"_*".contains(c))
        .unwrap_or(tree.len());
    let (word, rest) = tree.split_at(end);
    let path = if before.is_empty() {
        word.to_owned()
    } else {
        format!("{before}::{word}")
    };
    // The `::<` of a generic argument is not a component of the path.
    match rest
        .strip_prefix("::")
        .filter(|next| !word.is_empty() && !next.starts_with('<'))
    {
        Some(next) => spell_out(&path, next, paths),
        None => {
            paths.extend((!word.is_empty()).then_some(path));
            rest
        }
    }
}

/// The code of a file without tests and comments.
pub(crate) fn tested(code: &str) -> String {
    let code = code.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let code = code.lines().map(|line| match line.trim_start() {
        comment if comment.starts_with("//") => "",
        _ => line,
    });
    code.collect::<Vec<_>>().join("\n")
}
