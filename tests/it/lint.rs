//! `lint`: keys that follow the convention have no finding, keys that break it have one, and the findings are the same
//! for any number of threads.

use std::process::Output;

use crate::support::dumps::gzip;
use crate::support::run::{Scratch, assert_fails, code, stderr, stdout};
use serde_json::Value;

fn lint(scratch: &Scratch, keys: &[u8], args: &[&str]) -> Output {
    scratch.file("dump.keys", keys);
    scratch.run(&[&["lint", "dump.keys"], args].concat())
}

/// The findings on `keys`.
fn findings(scratch: &Scratch, keys: &[u8]) -> Vec<Value> {
    let said = lint(scratch, keys, &["--json", "--format", "lines"]);
    let json: Value = serde_json::from_str(stdout(&said))
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&said)));
    assert_eq!(json["schema"], "slotscope.lint/1");
    let findings = json["findings"].as_array().unwrap().clone();
    let has_error = findings
        .iter()
        .any(|finding| finding["severity"] == "error");
    assert_eq!(code(&said), i32::from(has_error), "{}", stderr(&said));
    findings
}

/// The ids of the rules that `key` alone breaks, in their order.
fn broken(key: &str) -> Vec<String> {
    // Keys that follow the convention, so that it is that of the dump.
    let others: String = (0..20).map(|i| format!("prod:a:b:{i}\n")).collect();
    let findings = findings(&Scratch::new(), format!("{others}{key}\n").as_bytes());
    let id = |finding: &Value| finding["rule"].as_str().unwrap().to_owned();
    findings.iter().map(id).collect()
}

fn found<'a>(findings: &'a [Value], rule: &str) -> &'a Value {
    findings
        .iter()
        .find(|finding| finding["rule"] == rule)
        .unwrap_or_else(|| panic!("no {rule} in {findings:?}"))
}

#[test]
fn what_the_documents_recommend_is_clean() {
    for key in [
        "prod:news:favorites:{fav:123}:news:001",
        "prod:news:favorites:{fav:123}:meta",
        "test:uc:session:{sess:uid123}:token",
        "prod:uc:profile:{uc:123}:base",
        "prod:news:favorites:v1:{fav:123}:news:001",
        "prod:news:favorites:v2:{fav:123}:news:001",
    ] {
        assert_eq!(broken(key), [""; 0], "{key}");
    }
    let scratch = Scratch::new();
    scratch.file("slotscope.toml", b"[severity]\nversion = 'info'\n");
    let versioned = findings(
        &scratch,
        b"prod:news:favorites:v1:{fav:123}:news:001\nprod:uc:profile:{uc:123}:base\n",
    );
    assert_eq!(
        (versioned.len(), &versioned[0]["rule"]),
        (1, &Value::from("version"))
    );
    assert_eq!(
        versioned[0]["examples"],
        serde_json::json!(["prod:uc:profile:{uc:123}:base"])
    );
}

#[test]
fn what_the_documents_warn_of_is_found() {
    for (key, rules) in [
        ("favorites:{fav:123}:news001", &["namespace"][..]),
        ("orders:{ord:123}:order8899", &["namespace"]),
        ("favorites:123:news001", &["namespace"]),
        ("prod:news:favorites:{123}:news001", &["tag-form"]),
        (
            "prod:news:favorites:{common}:news001",
            &["global-tag", "tag-form"],
        ),
        (
            "prod:news:favorites:{config}:news001",
            &["global-tag", "tag-form"],
        ),
        ("prod:news:favorites:{fav:<userId>}:news", &["placeholder"]),
        (
            "prod:news:favorites:{}{fav:1}",
            &["empty-tag", "enterprise-tag"],
        ),
        ("user::10086", &["namespace"]),
        ("{user}::10086", &["namespace", "tag-form"]),
        (
            "{user}::{10086}",
            &["extra-braces", "namespace", "tag-form", "enterprise-tag"],
        ),
        (
            "{user}::10086::{profile}",
            &["extra-braces", "namespace", "tag-form", "enterprise-tag"],
        ),
        (
            "{}user::10086",
            &["empty-tag", "namespace", "enterprise-tag"],
        ),
        (
            "user{}::10086",
            &["empty-tag", "namespace", "enterprise-tag"],
        ),
        ("foo{}{bar}", &["empty-tag", "namespace", "enterprise-tag"]),
        (
            "foo{{bar}}zap",
            &[
                "placeholder",
                "extra-braces",
                "namespace",
                "tag-form",
                "enterprise-tag",
            ],
        ),
        (
            "foo{bar}{zap}",
            &["extra-braces", "namespace", "tag-form", "enterprise-tag"],
        ),
        ("user-profile:{1234}", &["namespace", "tag-form"]),
        ("user-session:1234", &["namespace"]),
        ("{user1000}.following", &["namespace", "tag-form"]),
        (
            "a{'1':{'i32':1}}",
            &["extra-braces", "namespace", "tag-form", "enterprise-tag"],
        ),
    ] {
        assert_eq!(broken(key), rules, "{key}");
    }
}

#[test]
fn unfilled_placeholders_are_errors_and_names_that_look_similar_are_not() {
    for key in [
        "prod:uc:profile:{userId}",
        "prod:uc:profile:{uc:userId}:x",
        "prod:uc:profile:{user_id}",
        "prod:uc:profile:${id}",
        "prod:uc:profile:%s:x",
        "prod:uc:profile:%d",
        "prod:uc:profile:%(id)s",
        "prod:uc:profile:undefined",
        "prod:uc:profile:null:x",
        "prod:uc:profile:{uc:undefined}",
        "prod:uc:profile:{{id}}",
        "prod:uc:profile:[object Object]",
    ] {
        assert!(broken(key).contains(&String::from("placeholder")), "{key}");
    }
    for key in [
        "prod:uc:profile:%d0%bf",
        "prod:uc:profile:100%25",
        "prod:uc:profile:nullable",
        "prod:uc:undefined-behaviour:1",
        "prod:uc:profile:{uc:identity}",
        "prod:uc:profile:Nonesuch",
        "prod:uc:profile:{uc:42}:a<b",
        "prod:uc:profile:100%uXy",
    ] {
        assert!(!broken(key).contains(&String::from("placeholder")), "{key}");
    }
    let random = findings(&Scratch::new(), b"bin:\xfe%u:\x01\nbin:\x02<a>%s\n");
    assert!(
        random
            .iter()
            .all(|finding| finding["rule"] != "placeholder"),
        "{random:?}"
    );
}

#[test]
fn keys_of_another_convention_are_one_note_without_examples() {
    let scratch = Scratch::new();
    let keys: String = (0..100).map(|i| format!("user/{i}\n")).collect();
    let found_all = findings(&scratch, keys.as_bytes());
    assert_eq!(found_all.len(), 1, "{found_all:?}");
    let namespace = found(&found_all, "namespace");
    assert_eq!(namespace["severity"], "info");
    assert_eq!(namespace["examples"], serde_json::json!([]));
    scratch.file("slotscope.toml", b"namespace = '^shop/'\n");
    let set = findings(&scratch, keys.as_bytes());
    assert_eq!(found(&set, "namespace")["severity"], "warning");
}

#[test]
fn a_dump_without_keys_is_not_a_clean_one() {
    let said = lint(&Scratch::new(), b"", &[]);
    assert_eq!(code(&said), 2);
    assert!(
        stderr(&said).contains("no keys were checked"),
        "{}",
        stderr(&said)
    );
}

#[test]
fn help_lists_the_rules() {
    let said = Scratch::new().run(&["lint", "--help"]);
    assert!(
        stdout(&said).contains("heavy-tag         error    have a tag"),
        "{}",
        stdout(&said)
    );
}

#[test]
fn control_bytes_invalid_utf8_and_blanks_are_found_and_shown_escaped() {
    let scratch = Scratch::new();
    let long = format!("prod:uc:profile:{}", "k".repeat(300));
    let keys = [
        b"prod:uc:profile:\x1b[2J",
        &b"prod:uc:profile:\xff"[..],
        b"prod:uc:profile:a b",
        long.as_bytes(),
    ]
    .join(&b'\n');
    let findings = findings(&scratch, &keys);
    assert_eq!(
        found(&findings, "control-bytes")["examples"][0],
        "prod:uc:profile:\\x1b[2J"
    );
    assert_eq!(
        found(&findings, "invalid-utf8")["examples"][0],
        "prod:uc:profile:\\xff"
    );
    assert_eq!(found(&findings, "blanks")["count"], 1);
    let example = found(&findings, "long-key")["examples"][0]
        .as_str()
        .unwrap();
    assert!(example.ends_with("... and 116 more bytes"), "{example}");
    let said = lint(&scratch, &keys, &["--color", "never"]);
    assert!(!stdout(&said).contains('\u{1b}'), "{:?}", stdout(&said));
}

#[test]
fn one_id_as_the_tag_of_several_services_is_found() {
    let scratch = Scratch::new();
    let keys =
        b"favorites:{123}:news001\norders:{123}:order8899\nfavorites:{7}:x\nfavorites:{7}:y\n\
        prod:news:a:{9}:x\ntest:news:b:{9}:y\nuser-profile:{1234}\nuser-session:{1234}\n\
        a:{fav:1}\nb:{fav:1}\n{u1}.following\n{u1}.followers\n";
    let findings = findings(&scratch, keys);
    let shared = found(&findings, "shared-tag");
    assert_eq!(
        (&shared["count"], &shared["counted"]),
        (&Value::from(4), &Value::from("exactly"))
    );
    assert_eq!(
        shared["examples"],
        serde_json::json!([
            "{123} of favorites, orders",
            "{1234} of user-profile, user-session"
        ])
    );
}

#[test]
fn a_tag_that_holds_a_large_part_of_all_keys_is_an_error() {
    let scratch = Scratch::new();
    let keys = |heavy: usize, others: usize| -> Vec<u8> {
        let heavy = (0..heavy).map(|i| format!("prod:news:list:{{news:hot}}:{i}\n"));
        heavy
            .chain((0..others).map(|i| format!("prod:uc:profile:{{uc:{i}}}\n")))
            .collect::<String>()
            .into_bytes()
    };
    let some = findings(&scratch, &keys(1500, 20_000));
    assert_eq!(
        (
            &found(&some, "heavy-tag")["count"],
            &found(&some, "heavy-tag")["severity"]
        ),
        (&1500.into(), &"error".into())
    );
    assert_eq!(
        found(&some, "heavy-tag")["examples"],
        serde_json::json!(["{news:hot}"])
    );
    for (heavy, others) in [(999, 1), (1500, 40_000)] {
        assert!(
            findings(&scratch, &keys(heavy, others))
                .iter()
                .all(|finding| finding["rule"] != "heavy-tag"),
            "{heavy} of {others}"
        );
    }
}

#[test]
fn any_number_of_threads_finds_the_same() {
    let scratch = Scratch::new();
    let mut keys = String::new();
    for i in 0..400_000 {
        let tag = i / 5 % 70_000;
        keys += &match i % 5 {
            0 => format!("prod:news:favorites:{{fav:{tag}}}:news:{i}\n"),
            1 => format!("orders:{{{tag}}}:{i}\n"),
            2 => format!("carts:{{{tag}}}:{i}\n"),
            3 => format!("prod:news:list:{{hot}}:%s:{i}\n"),
            _ => format!("user{i}{{a}}{{b{i}}} \n"),
        };
    }
    let one = lint(&scratch, keys.as_bytes(), &["--json", "--threads", "1"]);
    assert_eq!(code(&one), 1, "{}", stderr(&one));
    let json: Value = serde_json::from_str(stdout(&one)).unwrap();
    let findings = json["findings"].as_array().unwrap();
    assert_eq!(found(findings, "shared-tag")["counted"], "at_least");
    assert_eq!(found(findings, "heavy-tag")["counted"], "at_most");
    for threads in ["2", "4", "7"] {
        assert_eq!(
            stdout(&one),
            stdout(&lint(
                &scratch,
                keys.as_bytes(),
                &["--json", "--threads", threads]
            )),
            "{threads} threads"
        );
    }
}

#[test]
fn all_forms_that_analyze_reads_are_read() {
    let scratch = Scratch::new();
    scratch.file("dump.csv", b"key,size\nprod:news:favorites:{common}:1,7\n");
    assert_eq!(code(&scratch.run(&["lint", "dump.csv"])), 1);
    scratch.file("dump.json", br#"["prod:news:favorites:{common}:1"]"#);
    assert_eq!(code(&scratch.run(&["lint", "dump.json"])), 1);
    scratch.file("dump.txt", b"1) \"prod:news:favorites:{fav:1}\"\n");
    assert_eq!(code(&scratch.run(&["lint", "dump.txt"])), 0);
    assert_fails(
        &scratch.run(&["lint", "nothing.keys"]),
        &["nothing.keys: no such file"],
    );
    scratch.file("table.csv", b"id,n\nprod:news:favorites:{common}:1,7\n");
    let said = scratch.run(&["lint", "table.csv", "--key-column", "id"]);
    assert!(
        stdout(&said).starts_with("1 error, 1 warning, 0 notes on 1 key\n"),
        "{}",
        stdout(&said)
    );
    assert!(
        stdout(&said).contains("error  global-tag: 1 of 1 keys (100.0 %) have a tag"),
        "{}",
        stdout(&said)
    );
    assert!(stdout(&scratch.run(&["lint", "--format", "help"])).contains("lines"));
}

#[test]
fn an_input_that_ends_in_the_middle_beats_an_error() {
    let scratch = Scratch::new();
    let keys: String = (0..50_000)
        .map(|i| format!("prod:news:favorites:{{common}}:{i}\n"))
        .collect();
    let whole = gzip(keys.as_bytes());
    scratch.file("broken.gz", &whole[..whole.len() / 2]);
    let said = scratch.run(&["lint", "broken.gz"]);
    assert_eq!(code(&said), 2, "{}", stderr(&said));
    assert!(
        stderr(&said).contains("broken.gz: byte ") && stdout(&said).contains("global-tag"),
        "{}",
        stderr(&said)
    );
}

#[test]
fn a_configuration_sets_patterns_severities_limits_and_what_is_allowed() {
    let scratch = Scratch::new();
    scratch.file(
        "slotscope.toml",
        br#"
namespace = '^(?P<service>[a-z]+)/'
tag = '^[0-9]+$'
global-tags = ["everything"]
allow = ['^legacy']
[severity]
version = "off"
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
        .map(|finding| finding["rule"].as_str().unwrap())
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
    assert_eq!(
        found(&found_all, "tag-form")["examples"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
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
    for (text, part) in [
        (
            "\nnamspace = 'x'",
            "c.toml: line 2: unknown field `namspace`",
        ),
        (
            "[limits]\nkey-byte = 3",
            "c.toml: line 2: unknown field `key-byte`",
        ),
        ("[limits]\nkey-bytes = -3", "c.toml: line 2: "),
        (
            "[limits]\ntag-share = nan",
            "c.toml: line 1: limits: tag-share",
        ),
        (
            "[severity]\n\nglobaltag = 'off'",
            "c.toml: line 3: there is no rule \"globaltag\"; there are: global-tag, ",
        ),
        (
            "[severity]\nversion = 'fatal'",
            "c.toml: line 2: unknown variant `fatal`",
        ),
        (
            "allow = [\n'ok',\n'(']",
            "c.toml: line 3: \"(\" is no regular expression: unclosed group",
        ),
        ("[[rule]]\nid = 'x'", "c.toml: line 1: a rule has either"),
        (
            "[[rule]]\nid = 'blanks'\nmust-match = 'x'",
            "c.toml: line 1: the id \"blanks\" is taken",
        ),
        (
            "[[rule]]\nmust-match = 'x'",
            "c.toml: line 1: missing field `id`",
        ),
        ("a = 'x", "c.toml: line 1: "),
        ("\"\\u001b\" = 1", "c.toml: line 1: "),
    ] {
        scratch.file("c.toml", text.as_bytes());
        assert_fails(
            &scratch.run(&["lint", "dump.keys", "--config", "c.toml"]),
            &[part],
        );
    }
    scratch.file("c.toml", b"tag = 'x'\nallow = ['\xff']");
    assert_fails(
        &scratch.run(&["lint", "dump.keys", "--config", "c.toml"]),
        &["c.toml: line 2: not UTF-8"],
    );
    assert_fails(
        &scratch.run(&["lint", "dump.keys", "--config", "no.toml"]),
        &["no.toml: no such file"],
    );
}

#[test]
fn a_convention_from_elsewhere_costs_little() {
    let scratch = Scratch::new();
    scratch.file("a.keys", "a\n");
    let many = "allow = [".to_owned() + &"\"x\",".repeat(300) + "]";
    scratch.file("slotscope.toml", many);
    let output = scratch.run(&["lint", "a.keys"]);
    assert_fails(&output, &["slotscope.toml: line 1: more than 256 patterns"]);
    scratch.file("slotscope.toml", "allow = ['\\pL{100}x']");
    let output = scratch.run(&["lint", "a.keys"]);
    assert_fails(&output, &["slotscope.toml: line 1", "exceeds size limit"]);
    std::fs::remove_file(scratch.path("slotscope.toml")).unwrap();
    // A pipe of that name is not waited for.
    let made = std::process::Command::new("mkfifo")
        .arg(scratch.path("slotscope.toml"))
        .status();
    assert!(made.unwrap().success());
    assert!(scratch.run(&["lint", "a.keys"]).status.code().is_some());
}

#[test]
fn a_capture_is_refused_and_operations_next_to_keys_are_not_names() {
    let scratch = Scratch::new();
    let line = "1795216373.125436 [0 10.0.0.7:5] \"GET\" \"bad name\"\n";
    scratch.file("a.monitor", line.repeat(3));
    let said = scratch.run(&["lint", "a.monitor"]);
    assert_fails(
        &said,
        &["a.monitor", "(monitor) are operations", "slotscope analyze"],
    );
}
