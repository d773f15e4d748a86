//! advise as a user runs it: names, captures, demands, and errors with suggested fixes.

use testkit::prelude::*;

/// The names and a capture of a shop: users' carts and profiles, read together by scripts.
pub(super) fn shop() -> Scratch {
    let scratch = Scratch::new();
    let names: String = (0..2000)
        .map(|user| format!("cart:{user}:items\nuser:{user}:profile\n"))
        .collect();
    scratch.file("keys", names);
    let capture = (0..400).map(|i| {
        let user = i * 37 % 2000;
        format!("1700000000.{i:06} [0 127.0.0.1:5] \"EVAL\" \"return 1\" \"2\" \"cart:{user}:items\" \"user:{user}:profile\"\n")
    });
    scratch.file(
        "node.monitor",
        format!("OK\n{}", capture.collect::<String>()),
    );
    scratch
}

fn becomes(advice: &Value) -> Vec<(String, String)> {
    let families = advice["families"].list().iter();
    let changed = families.filter(|family| !family["becomes"].is_null());
    let text = |value: &Value| value.text().to_owned();
    changed
        .map(|family| (text(&family["pattern"]), text(&family["becomes"])))
        .collect()
}

#[test]
fn names_and_a_capture_become_a_change_wherever_the_capture_is_named() {
    let scratch = shop();
    let by_flag = scratch.run(&words(
        "advise keys --batches node.monitor --nodes 6 --json",
    ));
    let by_input = scratch.run(&["advise", "keys", "node.monitor", "--nodes", "6", "--json"]);
    let advice = report(&by_flag);
    assert_eq!(advice, report(&by_input));
    let right = [
        ("cart:<n>:items", "cart:{user:<n>}:items"),
        ("user:<n>:profile", "{user:<n>}:profile"),
    ];
    assert_eq!(
        becomes(&advice),
        right.map(|(from, to)| (from.to_owned(), to.to_owned()))
    );
    advice.has(json!({"advice": "change", "evidence": "batches"}));
    assert_eq!(
        (
            &advice["schemes"][0]["single_slot_share"],
            &advice["schemes"][1]["crossslot"]
        ),
        (&1.0.into(), &400.into())
    );

    let text = scratch.run(&words("advise keys --batches node.monitor --nodes 6"));
    stdout(&text)
        .says("CHANGE: use the hash tag {user:<n>}")
        .says("CROSSSLOT")
        .says("--retag '^cart:([0-9]+):items$ => cart:{user:${1}}:items'");
    // The names in the capture suffice.
    let alone = scratch.report(&words("advise --batches node.monitor --nodes 6 --json"));
    assert_eq!(becomes(&alone).len(), 2);
}

/// A capture of scripts that run a queue for each of these names, and write an undeclared key.
fn queues(names: &[String]) -> Scratch {
    let scratch = Scratch::new();
    let lines = (0..300).map(|i| {
        let (queue, sha) = (&names[i % names.len()], "0".repeat(40));
        format!(
            "1700000000.{i:06} [0 10.0.0.7:5] \"EVALSHA\" \"{sha}\" \"2\" \"bull:{queue}:wait\" \"bull:{queue}:active\" \"bull:{queue}:\"\n\
             1700000000.{i:06} [0 lua] \"hset\" \"bull:{queue}:{i}\" \"d\" \"1\"\n"
        )
    });
    scratch.file("bull.monitor", lines.collect::<String>());
    scratch
}

#[test]
fn queues_of_any_name_get_their_name_as_the_tag_and_so_do_keys_that_scripts_do_not_declare() {
    let names = |count: usize| (0..count).map(|i| format!("send-{}", "abcdefgh"[i..].to_owned()));
    for count in [3, 8] {
        let scratch = queues(&names(count).collect::<Vec<_>>());
        let advice = scratch.report(&["advise", "bull.monitor", "--nodes", "3", "--json"]);
        let right = ["<n>", "active", "wait"].map(|part| {
            let of = |queue: &str| format!("bull:{queue}:{part}");
            (of("<id>"), of("{<id>}"))
        });
        assert_eq!(becomes(&advice), right, "{advice}");
        let [then, today] = [0, 1].map(|at| &advice["schemes"][at]["crossslot"]);
        assert_eq!((then, today), (&0.into(), &300.into()));
        assert_eq!(advice["rules_differ"], 0);
    }
}

#[test]
fn one_queue_gets_its_tag_and_the_price_is_said() {
    let scratch = queues(&["mail-out".into()]);
    let args = ["advise", "bull.monitor", "--nodes", "3"];
    let advice = scratch.report(&[&args[..], &["--json"]].concat());
    let right = ["<n>", "active", "wait"].map(|part| {
        let of = |queue: &str| format!("bull:{queue}:{part}");
        (of("mail-out"), of("{mail-out}"))
    });
    assert_eq!(becomes(&advice), right, "{advice}");
    let text = stdout(&scratch.run(&args)).replace('\n', " ");
    let price = "The price: all keys of {mail-out} share one slot, 100.0% of the load";
    assert!(text.contains(price), "{text}");
}

#[test]
fn demands_are_met_or_named() {
    let scratch = shop();
    let kept = words("advise keys node.monitor --keep cart:<n>:items --json");
    assert!(
        becomes(&scratch.report(&kept))
            .iter()
            .all(|(from, _)| from != "cart:<n>:items")
    );
    let together = words("advise keys --together cart:<n>:items,user:<n>:profile --json");
    let advice = scratch.report(&together);
    assert_eq!(
        (becomes(&advice).len(), &advice["together_unmet"]),
        (2, &0.into()),
        "{advice}"
    );
    assert_eq!(
        scratch.report(&["advise", "keys", "--json"])["why"],
        "names_are_fine"
    );
}

#[test]
fn what_is_missing_or_wrong_is_named() {
    let scratch = shop();
    scratch.refuses(
        "advise keys --keep basket:<n> | --keep \"basket:<n>\" | cart:<n>:items
         advise keys --together cart:<n>:items | a comma between them",
    );
    scratch.file("none", "PING\n");
    scratch.refuses("advise --batches none | no keys | --batches");
    scratch.file("torn", "MGET a:1 \"b\nMGET a:1 b:1\n");
    let torn = scratch.run(&["advise", "--batches", "torn"]);
    assert_eq!(code(&torn), 0);
    assert_contains(stderr(&torn), &["lines are not batches"]);
    // Control bytes in names do not reach a terminal.
    scratch.file(
        "hostile",
        (0..200)
            .map(|i| format!("\x1b[31m{i}:{{}}:x\n"))
            .collect::<String>(),
    );
    let hostile = scratch.run(&["advise", "hostile"]);
    assert!(!stdout(&hostile).contains('\x1b'));
}

/// Every name is a pattern of its own, every name has 64 fields, and one is 64 MiB long: memory and time stay bounded.
#[test]
fn hostile_names_are_bounded() {
    let scratch = Scratch::new();
    let mut names = String::new();
    for i in 0..50_000u32 {
        let word: String = (0..5)
            .map(|place| char::from(b'a' + (i / 26u32.pow(place) % 26) as u8))
            .collect();
        names += &format!("{word}.{}:{}\n", word.repeat(2), "7:".repeat(64));
    }
    names += &"x:7".repeat(200_000);
    scratch.file("hostile", &names);
    let batches: String = (0..2000)
        .map(|i| {
            format!(
                "MGET {}\n",
                (0..40)
                    .map(|j| format!("f{}:{j}", char::from(b'a' + ((i + j) % 26) as u8)))
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        })
        .collect();
    scratch.file("batches", batches);
    let advice = scratch.report(&["advise", "hostile", "--batches", "batches", "--json"]);
    assert_eq!(advice["keys"], 50_001);
    assert!(
        advice["names_unmatched"].whole() >= 1,
        "{}",
        advice["names_unmatched"]
    );
}

#[test]
fn nodes_of_unequal_slots_are_weighed_by_the_slots_that_they_own() {
    let scratch = Scratch::new();
    let users = || 0..3000;
    let keys = users().map(|user| format!("cart:{user}\nprofile:{user}\n"));
    scratch.file("keys.txt", keys.collect::<String>());
    let commands = users().map(|user| format!("MGET cart:{user} profile:{user}\n"));
    scratch.file("commands.txt", commands.collect::<String>());
    let node = |name: &str, slots: &str| {
        format!("{name} 127.0.0.1:7000@17000 master - 0 0 1 connected {slots}\n")
    };
    let listing = [node("aa", "0-12287"), node("bb", "12288-16383")].concat();
    scratch.file("cluster.nodes", listing);
    let figures = |cluster: [&str; 2]| {
        let args = ["advise", "keys.txt", "--batches", "commands.txt", "--json"];
        let advice = report(&scratch.run(&[&args[..], &cluster].concat()));
        let schemes = [0, 1].map(|at| {
            advice["schemes"][at]["max_over_mean"]["n"]
                .as_f64()
                .unwrap()
        });
        assert!(
            advice["schemes"][1]["is_today"].as_bool().unwrap(),
            "{advice}"
        );
        schemes
    };
    // Three quarters of the slots of two nodes are 1.5 fair shares, with tags as without.
    for share in figures(["--topology", "cluster.nodes"]) {
        assert!((share - 1.5).abs() < 0.05, "{share}");
    }
    for share in figures(["--nodes", "2"]) {
        assert!((share - 1.0).abs() < 0.05, "{share}");
    }
}
