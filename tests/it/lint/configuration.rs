//! The settings in slotscope.toml, and messages about an invalid file.

use super::{findings, lint};
use testkit::prelude::*;

#[test]
fn a_configuration_sets_patterns_severities_limits_and_what_is_allowed() {
    let scratch = Scratch::with(
        "slotscope.toml",
        br#"
namespace = '^[a-z]+/'
tag = '^[0-9]+$'
global-tags = ["everything"]
allow = ['^legacy']
version = '[0-9]$'
[severity]
enterprise-tag = "off"
version = "warning"
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
    let keys = "cart/{7}/1\nlegacy key {common}\ncart/tmp/x\ncart/{everything}/1\n\
                cart/{common}:2\ncart/a long name with blanks 1\n";
    let found = findings(&scratch, keys);
    let rules = json!([
        "global-tag",
        "blanks",
        "tag-form",
        "long-key",
        "version",
        "ends-in-a-digit",
        "no-temp"
    ]);
    assert_eq!(found.each("rule"), rules);
    found
        .find("rule", "no-temp")
        .has(json!({"what": "are temporary"}));
    let form = found.find("rule", "tag-form");
    assert_eq!(
        (&form["count"], form["examples"].list().len()),
        (&2.into(), 1)
    );
    scratch.file("other.toml", "[severity]\nglobal-tag = \"off\"\n");
    let said = lint(
        &scratch,
        "prod:uc:profile:{common}\n",
        "--config other.toml",
    );
    assert_eq!(code(&said), 0, "{}", stdout(&said));
}

#[test]
fn what_a_configuration_gets_wrong_is_named_with_its_line() {
    let scratch = Scratch::with("dump.keys", b"a\n");
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
        scratch.run("lint dump.keys --config c.toml").refused(part);
    }
    scratch.file("c.toml", b"tag = 'x'\nallow = ['\xff']");
    scratch.refuses(
        "lint dump.keys --config c.toml | c.toml: line 2: not UTF-8
         lint dump.keys --config no.toml | no.toml: no such file",
    );
}

#[test]
fn a_convention_from_elsewhere_costs_little() {
    let scratch = Scratch::with("a.keys", "a\n");
    let many = "allow = [".to_owned() + &"\"x\",".repeat(300) + "]";
    scratch.file("slotscope.toml", many);
    scratch.refuses("lint a.keys | slotscope.toml: more than 256 patterns");
    scratch.file("slotscope.toml", "allow = ['\\pL{100}x']");
    scratch.refuses("lint a.keys | slotscope.toml: | exceeds size limit");
    // A pipe of that name is not waited for.
    succeeded(scratch.shell("rm slotscope.toml && mkfifo slotscope.toml"));
    assert!(scratch.run("lint a.keys").status.code().is_some());
}
