//! Attributes of keys other than weights: types, encodings, elements, expiry, idle time, LFU counters.

use testkit::prelude::*;

/// Rows with every attribute: 3,000 keys with known properties.
fn table() -> String {
    let mut text = String::from("key,size,type,encoding,elements,expiry,idle,lfu\n");
    for i in 0..3000u64 {
        let (kind, encoding, elements) = match i % 3 {
            0 => ("hash", "listpack", 10),
            1 => ("hash", "hashtable", 1000 + i),
            _ => ("string", "raw", 1),
        };
        // A fifth never expires, 600 expire in one minute, each of the others in a minute of its own.
        let expiry = match i % 5 {
            0 => String::new(),
            1 => format!("{}", 1_795_000_000_020u64 + i),
            _ => format!("{}", 1_795_000_000 + 60 * i),
        };
        let idle = [30, 100, 5000, 100_000, 1_000_000, 10_000_000][(i % 6) as usize];
        text += &format!(
            "k:{i},100,{kind},{encoding},{elements},{expiry},{idle},{}\n",
            i % 256
        );
    }
    text
}

fn report(scratch: &Scratch, name: &str, args: &[&str]) -> Value {
    let mut command = scratch.command(&["analyze", name, "--json", "--no-files", "--nodes", "3"]);
    serde_json::from_slice(&succeeded(command.args(args).output().unwrap())).unwrap()
}

#[test]
fn types_elements_expiry_and_use_are_counted() {
    let scratch = Scratch::new();
    scratch.file("keys.csv", table());
    for threads in ["1", "3"] {
        let report = report(&scratch, "keys.csv", &["--threads", threads]);
        let counted: Vec<_> = report["encodings"]
            .list()
            .iter()
            .map(|row| {
                json!([
                    row["type"],
                    row["encoding"],
                    row["keys"],
                    row["bytes"],
                    row["elements"]
                ])
            })
            .collect();
        let of_tables: u64 = (0..3000).filter(|i| i % 3 == 1).map(|i| 1000 + i).sum();
        assert_eq!(
            counted,
            [
                json!(["hash", "hashtable", 1000, 100_000, of_tables]),
                json!(["hash", "listpack", 1000, 100_000, 10_000]),
                json!(["string", "raw", 1000, 100_000, 1000]),
            ]
        );
        let largest = &report["largest"][0];
        largest.has(json!({"key": "k:2998", "elements": 3998}));
        let expiry = &report["expiry"];
        expiry.has(json!({"never": {"keys": 600}, "expiring": {"keys": 2400}}));
        // The minute of 1,795,000,000, with the 600 and one other row that falls into it.
        assert_eq!(expiry["fullest"]["at"], json!(1_795_000_000 / 60 * 60));
        expiry["fullest"].has(json!({"keys": 600, "minutes": 1}));
        let idle: Vec<_> = report["idle"]
            .list()
            .iter()
            .map(|row| row["keys"].clone())
            .collect();
        assert_eq!(idle, vec![json!(500); 6]);
        let lfu = report["lfu"].list();
        assert_eq!(
            (lfu.len(), &lfu[7]["counter"], &lfu[7]["keys"]),
            (256, &json!(7), &json!(12))
        );
        let risks = report["verdict"]["findings"].list();
        assert!(
            risks.iter().any(|risk| risk["kind"] == "expiry"),
            "{risks:?}"
        );
    }
}

#[test]
fn keys_that_expire_together_are_a_risk_however_far_apart_the_others_expire() {
    let scratch = Scratch::new();
    let start = 1_795_000_000;
    let far = (0..70_000).map(|i| format!("a:{i},{}\n", start + i * 60));
    let together = (0..20_000).map(|i| format!("b:{i},{start}\n"));
    let rows: String = far.chain(together).collect();
    scratch.file("far.csv", format!("key,expiry\n{rows}"));
    let report = report(&scratch, "far.csv", &[]);
    let risks = report["verdict"]["findings"].to_string();
    risks.says("22.2% of the keys expire within the same 2 minutes");
}

#[test]
fn columns_that_hold_something_else_cost_no_key() {
    let scratch = Scratch::new();
    scratch.file(
        "odd.csv",
        "key,elements,freq,idle,ttl\na,many,0.5,-,1d\nb,,,,\n",
    );
    let report = report(&scratch, "odd.csv", &[]);
    report["input"].has(json!({"keys": 2, "rejected": {"count": 0}}));
    report["expiry"].has(json!({"never": {"keys": 1}, "expiring": {"keys": 1}}));
    report.has(json!({"idle": null, "lfu": null}));
}

#[test]
fn words_that_are_no_types_are_redacted() {
    let scratch = Scratch::new();
    let rows = "key,type,encoding,elements\na,hash,secret-encoding,5\nb,secret-type,raw,7\n";
    scratch.file("odd.csv", rows);
    let text = report(&scratch, "odd.csv", &["--redact"]).to_string();
    text.lacks("secret").says("\"hash\"").says("\"raw\"");
}

#[test]
fn accesses_are_estimated_from_lfu_counters_and_never_mixed_with_operations() {
    let scratch = Scratch::new();
    let mut text = String::from("key,size,ops,lfu\n");
    for i in 0..3000 {
        // Sizes and operations are even; one tag is hot by its counters, one key has the maximum of a counter.
        let (key, counter) = match i {
            0 => ("user:0".into(), 255),
            1..=300 => (format!("{{hot}}:{i}"), 105),
            _ => (format!("user:{i}"), i % 6),
        };
        text += &format!("{key},100,7,{counter}\n");
    }
    scratch.file("keys.csv", text);
    let made = report(&scratch, "keys.csv", &[]);
    // Counters up to 5 mean a key without accesses.
    let all = 2501 + 300 * 1001;
    let sum = |loads: &Value| loads.list().iter().map(|load| load.whole()).sum::<u64>();
    assert_eq!(sum(&made["slots"]["accesses"]), all);
    assert_eq!(sum(&made["slots"]["ops"]), 21_000);
    let tag = &made["tags"]["top"][0];
    tag.has(json!({"tag": "hot", "accesses": 300_300, "ops": 2100}));
    assert!(made["nodes"]["list"][0]["accesses"].is_u64());
    let hottest = &made["keys"]["hottest"];
    hottest[0].has(json!({"key": "user:0", "accesses": 2501}));
    assert_eq!(hottest[1]["accesses"], 1001);
    // Counted operations measure load better than estimated accesses.
    let roles = made["verdict"]["roles"].list();
    let metrics: Vec<_> = roles.iter().map(|role| &role["metric"]).collect();
    assert_eq!(metrics, ["bytes", "ops"]);
    let notes = made["input"]["notes"].to_string();
    notes.says("lfu-log-factor 10 and lfu-decay-time 1 counts; keys with a counter of 250 or more have at least 2451 a minute: 1");
    // Another server counts differently.
    let made = report(
        &scratch,
        "keys.csv",
        &words("--lfu-log-factor 1 --lfu-decay-time 2 --by accesses"),
    );
    assert_eq!(made["keys"]["top"][0]["accesses"], 126);
    assert!(made["keys"].get("hottest").is_none());
    let output = scratch.run(&["plan", "keys.csv", "--nodes", "3", "--by", "accesses"]);
    assert_contains(&String::from_utf8(succeeded(output)).unwrap(), &["{hot}"]);
}

#[test]
fn a_few_accesses_are_no_load_unless_a_counter_is_at_its_end() {
    for (most, state) in [(20, "unjudged"), (255, "skewed")] {
        let scratch = Scratch::new();
        let rows = (0..3000).map(|i| match i {
            0 => format!("{{eu}}:0,100,{most}\n"),
            1..20 => format!("{{eu}}:{i},100,20\n"),
            _ => format!("user:{i},100,5\n"),
        });
        scratch.file(
            "keys.csv",
            format!("key,size,lfu\n{}", rows.collect::<String>()),
        );
        let made = report(&scratch, "keys.csv", &[]);
        let roles = made["verdict"]["roles"].list();
        let load = roles.iter().find(|role| role["metric"] == "accesses");
        assert_eq!(load.unwrap()["state"], state, "{most}: {made}");
    }
}

#[test]
fn without_counters_nothing_says_accesses() {
    let scratch = Scratch::new();
    scratch.file("plain.csv", "key,size,ops,freq\na,1,1,\nb,1,1,300\n");
    let made = report(&scratch, "plain.csv", &[]);
    assert!(made["slots"].get("accesses").is_none());
    succeeded(scratch.run(&["analyze", "plain.csv", "--out", "out"]));
    let header = |file: &str| {
        let text = std::fs::read_to_string(scratch.path("out").join(file)).unwrap();
        text.lines().next().unwrap().to_owned()
    };
    assert_eq!(header("slots.csv"), "slot,node,keys,bytes,ops");
    assert_eq!(
        header("nodes.csv"),
        "node,node_id,address,slots,keys,bytes,ops,memory_over_fair,load_over_fair"
    );
    scratch.file("lfu.csv", "key,lfu\na,9\n");
    succeeded(scratch.run(&["analyze", "lfu.csv", "--out", "out"]));
    assert_eq!(header("slots.csv"), "slot,node,keys,bytes,ops,accesses");
}

#[test]
fn patterns_and_prefixes_say_which_part_of_them_never_expires() {
    let scratch = Scratch::new();
    let mut text = String::from("key,expiry\n");
    for i in 0..1000 {
        let expiry = |never: bool| if never { "" } else { "1795000000" };
        text += &format!("shop:cart:{i},{}\n", expiry(i % 4 == 0));
        text += &format!("shop:{{user:{i}}}:name,{}\n", expiry(true));
        text += &format!("session:{i},{}\n", expiry(false));
    }
    scratch.file("keys.csv", text);
    for args in [&["--threads", "1"][..], &["--threads", "3", "--one-pass"]] {
        let made = report(&scratch, "keys.csv", args);
        let share = |part: &str, name: &str| {
            let field = if part == "patterns" {
                "pattern"
            } else {
                "prefix"
            };
            let rows = made[part]["top"].list();
            let row = rows.iter().find(|row| row[field] == name);
            let row = row.unwrap_or_else(|| panic!("{name}: {rows:?}"));
            (row["keys"].clone(), row["no_expiry_share"].clone())
        };
        assert_eq!(
            share("patterns", "shop:cart:<n>"),
            (json!(1000), json!(0.25))
        );
        assert_eq!(
            share("patterns", "shop:{user:<n>}:name"),
            (json!(1000), json!(1.0))
        );
        assert_eq!(share("patterns", "session:<n>"), (json!(1000), json!(0.0)));
        assert_eq!(share("prefixes", "shop"), (json!(2000), json!(0.625)));
    }
    succeeded(scratch.run(&["analyze", "keys.csv", "--out", "out"]));
    let csv = scratch.read("out/patterns.csv");
    csv.begins("pattern,keys,bytes,ops,share_of_keys,tagged_share,slots,no_expiry_share\n");
    scratch.file("plain.keys", "a:1\na:2\n");
    let made = report(&scratch, "plain.keys", &[]);
    assert!(made["patterns"]["top"][0].get("no_expiry_share").is_none());
}

#[test]
fn several_databases_have_their_totals_and_one_has_no_table() {
    let scratch = Scratch::new();
    let row = |i: u64| format!("k:{i},{},{}\n", 10 * (1 + i % 7), i % 7 % 3);
    let rows: String = (0..7000).map(row).collect();
    scratch.file("keys.csv", format!("key,size,db\n{rows}"));
    for threads in ["1", "3"] {
        let report = report(&scratch, "keys.csv", &["--threads", threads]);
        assert_eq!(
            report["databases"],
            json!([
                {"db": 0, "keys": 3000, "bytes": 120_000},
                {"db": 1, "keys": 2000, "bytes": 70_000},
                {"db": 2, "keys": 2000, "bytes": 90_000},
            ])
        );
    }
    let shown = |args: &[&str]| {
        let mut command = scratch.command(&["analyze", "keys.csv", "--full", "--no-files"]);
        String::from_utf8(succeeded(command.args(args).output().unwrap())).unwrap()
    };
    let text = shown(&[]);
    let (_, table) = text.split_once("Keys by database").expect(&text);
    let rows = table.lines().skip(2).take(3);
    let first: Vec<String> = rows
        .map(|row| row.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert!(
        first[0].starts_with("0 3,000 ") && first[0].contains("117.19 KiB"),
        "{table}"
    );
    assert!(!shown(&["--db", "1"]).contains("Keys by database"));
}
