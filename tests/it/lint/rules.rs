//! Keys, and the rules that they break.

use super::{findings, lint};
use testkit::prelude::*;

/// The ids of the rules broken by `key` alone, in order.
fn broken(key: &str) -> Value {
    // Keys that follow the convention, so that it is established in the dump.
    let others: String = (0..20).map(|i| format!("prod:a:b:v1:{i}\n")).collect();
    findings(&Scratch::new(), format!("{others}{key}\n")).each("rule")
}

#[test]
fn what_the_documents_recommend_is_clean() {
    for key in [
        "prod:news:favorites:v1:{fav:123}:news:001",
        "prod:news:favorites:v2:{fav:123}:news:001",
    ] {
        assert_eq!(broken(key), json!([]), "{key}");
    }
    // Where no version is, one is asked for, in a note.
    for key in [
        "prod:news:favorites:{fav:123}:news:001",
        "prod:news:favorites:{fav:123}:meta",
        "test:uc:session:{sess:uid123}:token",
        "prod:uc:profile:{uc:123}:base",
    ] {
        assert_eq!(broken(key), json!(["version"]), "{key}");
    }
    let keys = "prod:news:favorites:v1:{fav:1}:x\nprod:uc:profile:{uc:1}:base\nuser:v:1\n";
    let asked =
        json!({"severity": "info", "count": 1, "examples": ["prod:uc:profile:{uc:1}:base"]});
    findings(&Scratch::new(), keys)
        .find("rule", "version")
        .has(asked);
}

#[test]
fn what_the_documents_warn_of_is_found() {
    for [key, rules] in rows(
        "favorites:{fav:123}:news001 | namespace
         orders:{ord:123}:order8899 | namespace
         favorites:123:news001 | namespace
         prod:news:favorites:{123}:news001 | tag-form version
         prod:news:favorites:{common}:news001 | global-tag tag-form version
         prod:news:favorites:{config}:news001 | global-tag tag-form version
         prod:news:favorites:{fav:<userId>}:news | placeholder version
         prod:news:favorites:{}{fav:1} | empty-tag enterprise-tag version
         user::10086 | namespace
         {user}::10086 | namespace tag-form
         {user}::{10086} | extra-braces namespace tag-form enterprise-tag
         {user}::10086::{profile} | extra-braces namespace tag-form enterprise-tag
         {}user::10086 | empty-tag namespace enterprise-tag
         user{}::10086 | empty-tag namespace enterprise-tag
         foo{}{bar} | empty-tag namespace enterprise-tag
         foo{{bar}}zap | placeholder extra-braces namespace tag-form enterprise-tag
         foo{bar}{zap} | extra-braces namespace tag-form enterprise-tag
         user-profile:{1234} | namespace tag-form
         user-session:1234 | namespace
         foo{bar | unbalanced-braces namespace
         A}B{C | unbalanced-braces namespace
         {a}b} | unbalanced-braces namespace tag-form enterprise-tag
         {user1000}.following | namespace tag-form
         a{'1':{'i32':1}} | extra-braces namespace tag-form enterprise-tag",
    ) {
        assert_eq!(broken(key), json!(words(rules)), "{key}");
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
        assert!(broken(key).list().contains(&"placeholder".into()), "{key}");
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
        assert!(!broken(key).list().contains(&"placeholder".into()), "{key}");
    }
    let random = findings(&Scratch::new(), b"bin:\xfe%u:\x01\nbin:\x02<a>%s\n");
    assert!(!random.lists("rule", "placeholder"), "{random}");
}

#[test]
fn keys_of_another_convention_are_one_note_without_examples() {
    let scratch = Scratch::new();
    let keys: String = (0..100).map(|i| format!("user/{i}\n")).collect();
    let found = findings(&scratch, &keys).each("rule severity examples");
    assert_eq!(found, json!([["namespace", "info", []]]));
    scratch.file("slotscope.toml", "namespace = '^shop/'\n");
    let set = findings(&scratch, &keys);
    assert_eq!(set.find("rule", "namespace")["severity"], "warning");
}

#[test]
fn help_lists_the_rules() {
    let help = Scratch::new().text("lint --help");
    help.says("heavy-tag         error    have a tag");
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
    let found = findings(&scratch, &keys);
    let of = |rule: &str| found.find("rule", rule);
    of("control-bytes").has(json!({"examples": ["prod:uc:profile:\\x1b[2J"]}));
    of("invalid-utf8").has(json!({"examples": ["prod:uc:profile:\\xff"]}));
    of("blanks").has(json!({"count": 1}));
    of("long-key")["examples"][0]
        .text()
        .ends("... and 116 more bytes");
    stdout(&lint(&scratch, &keys, "--color never")).lacks("\u{1b}");
}

#[test]
fn one_id_as_the_tag_of_several_domains_is_found() {
    let scratch = Scratch::new();
    // The environment is not a domain, and {fav:1} names its own.
    let keys = "favorites:{123}:news001\norders:{123}:order8899\nfavorites:{7}:x\nfavorites:{7}:y\n\
        prod:news:a:{9}:x\ntest:news:a:{9}:y\nprod:news:a:{8}\nprod:news:b:{8}\n\
        user-profile:{1234}\nuser-session:{1234}\na:{fav:1}\nb:{fav:1}\n{u1}.following\n{u1}.followers\n";
    let shared = |keys: &str| findings(&scratch, keys).find("rule", "shared-tag").clone();
    let names = [
        "{8} of news:a, news:b",
        "{123} of favorites, orders",
        "{1234} of user-profile, user-session",
    ];
    let found = json!({"severity": "info", "count": 6, "counted": "exactly", "examples": names});
    shared(keys).has(found);
    // The user's own namespace names domains by its group, else by all that it matches.
    scratch.file(
        "slotscope.toml",
        "namespace = '^[a-z]+/(?<domain>[a-z]+)/'\n",
    );
    let found = json!(["{1} of cart, news"]);
    assert_eq!(
        shared("eu/news/{1}\nus/cart/{1}\neu/news/{2}\nus/news/{2}\n")["examples"],
        found
    );
    scratch.file("slotscope.toml", "namespace = '^[a-z]+/'\n");
    assert_eq!(
        shared("eu/news/{2}\nus/news/{2}\n")["examples"],
        json!(["{2} of eu/, us/"])
    );
}

#[test]
fn a_tag_that_holds_a_large_part_of_all_keys_is_an_error() {
    let scratch = Scratch::new();
    let found = |heavy: usize, others: usize| {
        let heavy = (0..heavy).map(|i| format!("prod:news:list:{{news:hot}}:{i}\n"));
        let others = (0..others).map(|i| format!("prod:uc:profile:{{uc:{i}}}\n"));
        findings(&scratch, heavy.chain(others).collect::<String>())
    };
    let some = found(1500, 20_000);
    let heavy = json!({"count": 1500, "severity": "error", "examples": ["{news:hot}"]});
    some.find("rule", "heavy-tag").has(heavy);
    for (heavy, others) in [(999, 1), (1500, 40_000)] {
        assert!(
            !found(heavy, others).lists("rule", "heavy-tag"),
            "{heavy} of {others}"
        );
    }
}
