//! The settings in slotscope.toml, and messages about an invalid file.

use super::{findings, found, lint};
use testkit::prelude::*;

#[test]
fn a_configuration_sets_patterns_severities_limits_and_what_is_allowed() {
    let scratch = Scratch::new();
    scratch.file(
        "slotscope.toml",
        br#"
namespace = '^[a-z]+/'
tag = '^[0-9]+$'
global-tags = ["everything"]
allow = ['^legacy']
[severity]
enterprise-tag = "off"
blanks = "error"
[limits]
key-bytes = 20
examples = 1
[[rule]]
id = "no-temp"
must-not-match = '/tmp/'
severity = "info"
what = "are temporary"
[[rule]]
id = "ends-in-a-digit"
must-match = '[0-9]$'
"#,
    );
    let found_all = findings(&scratch, b"cart/{7}/1\nlegacy key {common}\ncart/tmp/x\ncart/{everything}/1\ncart/{common}:2\ncart/a long name with blanks 1\n");
    let ids: Vec<&str> = found_all
        .iter()
        .map(|finding| finding["rule"].text())
        .collect();
    assert_eq!(
        ids,
        [
            "global-tag",
            "blanks",
            "tag-form",
            "long-key",
            "ends-in-a-digit",
            "no-temp"
        ]
    );
    assert_eq!(found(&found_all, "no-temp")["what"], "are temporary");
    assert_eq!(found(&found_all, "tag-form")["count"], 2);
    assert_eq!(found(&found_all, "tag-form")["examples"].list().len(), 1);
    scratch.file("other.toml", b"[severity]\nglobal-tag = \"off\"\n");
    let said = lint(
        &scratch,
        b"prod:uc:profile:{common}\n",
        &["--config", "other.toml"],
    );
    assert_eq!(code(&said), 0, "{}", stdout(&said));
}

#[test]
fn what_a_configuration_gets_wrong_is_named_with_its_line() {
    let scratch = Scratch::new();
    scratch.file("dump.keys", b"a\n");
    for [text, part] in rows(
        r#"\nnamspace = 'x' | c.toml: line 2: unknown field `namspace`
         [limits]\nkey-byte = 3 | c.toml: line 2: unknown field `key-byte`
         [limits]\nkey-bytes = -3 | c.toml: line 2:
         [limits]\ntag-share = nan | c.toml: limits: tag-share
         [severity]\n\nglobaltag = 'off' | c.toml: there is no rule \"globaltag\"; there are: global-tag,
         [severity]\nblanks = 'fatal' | c.toml: line 2: unknown variant `fatal`
         allow = [\n'ok',\n'('] | c.toml: \"(\" is not a regular expression: unclosed group
         [[rule]]\nid = 'x' | c.toml: rule \"x\" has to have must-match
         [[rule]]\nid = 'blanks'\nmust-match = 'x' | c.toml: the id \"blanks\" is taken
         [[rule]]\nmust-match = 'x' | c.toml: line 1: missing field `id`
         a = 'x | c.toml: line 1:
         \"\\u001b\" = 1 | c.toml: line 1:"#,
    ) {
        scratch.file("c.toml", text.as_bytes());
        scratch
            .run(&["lint", "dump.keys", "--config", "c.toml"])
            .refused(part);
    }
    scratch.file("c.toml", b"tag = 'x'\nallow = ['\xff']");
    scratch.refuses(
        "lint dump.keys --config c.toml | c.toml: line 2: not UTF-8
         lint dump.keys --config no.toml | no.toml: no such file",
    );
}

#[test]
fn a_convention_from_elsewhere_costs_little() {
    let scratch = Scratch::new();
    scratch.file("a.keys", "a\n");
    let many = "allow = [".to_owned() + &"\"x\",".repeat(300) + "]";
    scratch.file("slotscope.toml", many);
    let output = scratch.run(&["lint", "a.keys"]);
    assert_fails(&output, &["slotscope.toml: more than 256 patterns"]);
    scratch.file("slotscope.toml", "allow = ['\\pL{100}x']");
    let output = scratch.run(&["lint", "a.keys"]);
    assert_fails(&output, &["slotscope.toml: ", "exceeds size limit"]);
    std::fs::remove_file(scratch.path("slotscope.toml")).unwrap();
    // A pipe of that name is not waited for.
    let made = std::process::Command::new("mkfifo")
        .arg(scratch.path("slotscope.toml"))
        .status();
    assert!(made.unwrap().success());
    assert!(scratch.run(&["lint", "a.keys"]).status.code().is_some());
}
