//! Scripts of plans hold no construct by which bash takes text for a command or a number. That no reply gets into
//! arithmetic is shown by `live plan::hostile_replies`, in which each field of each reply is hostile in turn.

use regex::Regex;

use testkit::run::Scratch;

/// Constructs that evaluate text as arithmetic or as commands, and that no script needs.
const EVALUATE: &str = r#"(?m)(^|[;&|({]|\b(do|then|else))\s*(eval|let|source|\.)\s|\s-(gt|lt|ge|le|eq|ne)\s|(declare|local|typeset) -i|printf -v \w*[^\w ]|\[\[ -v|\bunset\b|\$\{\w+:[^-+=?0-9]"#;

/// The first such construct in a script without its comments and single-quoted text.
fn evaluated(script: &str) -> Option<String> {
    let inert = Regex::new(r"(?m)^\s*#.*$|\s# .*$|'[^']*'").unwrap();
    let script = inert.replace_all(script, " quoted");
    let found = Regex::new(EVALUATE).unwrap().find(&script)?;
    Some(found.as_str().to_owned())
}

#[test]
fn scripts_evaluate_no_text() {
    let scratch = Scratch::new();
    let samples = concat!(env!("CARGO_MANIFEST_DIR"), "/samples");
    for kind in ["setslot", "valkey", "redis-8.4"] {
        let script = scratch.text(&format!(
            "plan {samples}/hot-tag.keys --topology {samples}/seed-cluster.nodes --commands {kind}"
        ));
        assert_eq!(evaluated(&script), None, "{kind}");
    }
}

#[test]
fn text_that_is_evaluated_is_found() {
    for line in [
        r#"[[ $x == a && ${x%% *} -gt 60 ]]"#,
        r#"eval "$x""#,
        r#"if true; then . "$x"; fi"#,
        r#"echo "${name:$x}""#,
        r#"printf -v "$x" %s y"#,
        r#"printf -v id[x] %s y"#,
        "local -i x=$1",
    ] {
        assert!(evaluated(line).is_some(), "{line}");
    }
    assert_eq!(evaluated("# let it be\nsay 'eval x' # -gt 1\n"), None);
}
