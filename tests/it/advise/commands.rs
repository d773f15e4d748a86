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

/// The patterns that change, and what they become.
fn becomes(advice: &Value) -> Value {
    let changes = advice["families"].each("pattern becomes");
    changes
        .list()
        .iter()
        .filter(|row| !row[1].is_null())
        .cloned()
        .collect()
}

#[test]
fn names_and_a_capture_become_a_change_wherever_the_capture_is_named() {
    let scratch = shop();
    let advice = scratch.report("advise keys --batches node.monitor --nodes 6 --json");
    let by_input = scratch.report("advise keys node.monitor --nodes 6 --json");
    assert_eq!(advice, by_input);
    let right = json!([
        ["cart:<n>:items", "cart:{user:<n>}:items"],
        ["user:<n>:profile", "{user:<n>}:profile"],
    ]);
    assert_eq!(becomes(&advice), right);
    advice.has(json!({"advice": "change", "evidence": "batches"}));
    advice["schemes"].has(json!([{"single_slot_share": 1.0}, {"crossslot": 400}]));
    scratch
        .text("advise keys --batches node.monitor --nodes 6")
        .says("CHANGE: use the hash tag {user:<n>}")
        .says("CROSSSLOT")
        .says("--retag '^cart:([0-9]+):items$ => cart:{user:${1}}:items'");
    // The names in the capture suffice.
    let alone = scratch.report("advise --batches node.monitor --nodes 6 --json");
    assert_eq!(becomes(&alone), right);
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
fn queues_get_their_name_as_the_tag_and_so_do_keys_that_scripts_do_not_declare() {
    for (count, from, to) in [
        (3, "<id>", "{<id>}"),
        (8, "<id>", "{<id>}"),
        (1, "send-h", "{send-h}"),
    ] {
        let names = (8 - count..8).map(|i| format!("send-{}", &"abcdefgh"[i..]));
        let scratch = queues(&names.collect::<Vec<_>>());
        let advice = scratch.report("advise bull.monitor --nodes 3 --json");
        let right = ["<n>", "active", "wait"]
            .map(|part| [format!("bull:{from}:{part}"), format!("bull:{to}:{part}")]);
        assert_eq!(becomes(&advice), json!(right), "{advice}");
        advice["schemes"].has(json!([{"crossslot": 0}, {"crossslot": 300}]));
        assert_eq!(advice["rules_differ"], 0);
        if count == 1 {
            let price = "The price: all keys of {send-h} share one slot, 100.0% of the load";
            scratch.prose("advise bull.monitor --nodes 3").says(price);
        }
    }
}

#[test]
fn demands_are_met_or_named() {
    let scratch = shop();
    let kept = scratch.report("advise keys node.monitor --keep cart:<n>:items --json");
    kept["families"]
        .find("pattern", "cart:<n>:items")
        .has(json!({"becomes": null}));
    let together = "advise keys --together cart:<n>:items,user:<n>:profile --json";
    let advice = scratch.report(together);
    advice.has(json!({"together_unmet": 0}));
    assert_eq!(becomes(&advice).list().len(), 2, "{advice}");
    scratch
        .report("advise keys --json")
        .has(json!({"why": "names_are_fine"}));
    scratch.refuses(
        "advise keys --keep basket:<n> | --keep \"basket:<n>\" | cart:<n>:items
         advise keys --together cart:<n>:items | a comma between them",
    );
    scratch.file("none", "PING\n");
    scratch.refuses("advise --batches none | no keys | --batches");
    scratch.file("torn", "MGET a:1 \"b\nMGET a:1 b:1\n");
    let torn = scratch.run("advise --batches torn");
    assert_eq!(code(&torn), 0);
    stderr(&torn).says("lines are not batches");
}

/// Every name is a pattern of its own, every name has 64 fields, and one is 64 MiB long: memory and time stay bounded.
#[test]
fn hostile_names_are_bounded() {
    let scratch = Scratch::new();
    let letter = |number: u32| char::from(b'a' + (number % 26) as u8);
    let name = |i: u32| {
        let word: String = (0..5).map(|place| letter(i / 26u32.pow(place))).collect();
        format!("{word}.{}:{}\n", word.repeat(2), "7:".repeat(64))
    };
    let names: String = (0..50_000).map(name).collect();
    scratch.file("hostile", names + &"x:7".repeat(200_000));
    let batch = |i: u32| {
        let keys = (0..40).map(|j| format!(" f{}:{j}", letter(i + j)));
        format!("MGET{}\n", keys.collect::<String>())
    };
    scratch.file("batches", (0..2000).map(batch).collect::<String>());
    let advice = scratch.report("advise hostile --batches batches --json");
    assert_eq!(advice["keys"], 50_001);
    assert!(advice["names_unmatched"].whole() >= 1, "{advice}");
}

#[test]
fn nodes_of_unequal_slots_are_weighed_by_the_slots_that_they_own() {
    let users = || 0..3000;
    let keys = users().map(|user| format!("cart:{user}\nprofile:{user}\n"));
    let scratch = Scratch::with("keys.txt", keys.collect::<String>());
    let commands = users().map(|user| format!("MGET cart:{user} profile:{user}\n"));
    scratch.file("commands.txt", commands.collect::<String>());
    let node =
        |name, slots| format!("{name} 127.0.0.1:7000@17000 master - 0 0 1 connected {slots}\n");
    scratch.file(
        "cluster.nodes",
        node("aa", "0-12287") + &node("bb", "12288-16383"),
    );
    // Three quarters of the slots of two nodes are 1.5 fair shares, with tags as without.
    for (cluster, share) in [("--topology cluster.nodes", 1.5), ("--nodes 2", 1.0)] {
        let args = format!("advise keys.txt --batches commands.txt --json {cluster}");
        let schemes = &scratch.report(&args)["schemes"];
        assert_eq!(schemes[1]["is_today"], true, "{schemes}");
        for scheme in [0, 1] {
            near(schemes[scheme]["max_over_mean"]["n"].float(), share, 0.05);
        }
    }
}
