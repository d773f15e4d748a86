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

fn report(scratch: &Scratch, name: &str, flags: &str) -> Value {
    scratch.report(&format!("analyze {name} --json --nodes 3 {flags}"))
}

#[test]
fn types_elements_expiry_and_use_are_counted() {
    let scratch = Scratch::with("keys.csv", table());
    for threads in ["1", "3"] {
        let report = report(&scratch, "keys.csv", &format!("--threads {threads}"));
        let of_tables: u64 = (0..3000).filter(|i| i % 3 == 1).map(|i| 1000 + i).sum();
        let counted = json!([
            ["hash", "hashtable", 1000, 100_000, of_tables],
            ["hash", "listpack", 1000, 100_000, 10_000],
            ["string", "raw", 1000, 100_000, 1000],
        ]);
        assert_eq!(
            report["encodings"].each("type encoding keys bytes elements"),
            counted
        );
        report["largest"][0].has(json!({"key": "k:2998", "elements": 3998}));
        let expiry = &report["expiry"];
        expiry.has(json!({"never": {"keys": 600}, "expiring": {"keys": 2400}}));
        // The minute of 1,795,000,000, with the 600 and one other row that falls into it.
        let at = 1_795_000_000 / 60 * 60;
        expiry["fullest"].has(json!({"at": at, "keys": 600, "minutes": 1}));
        assert_eq!(report["idle"].each("keys"), json!(vec![500; 6]));
        assert_eq!(report["lfu"].list().len(), 256);
        report["lfu"][7].has(json!({"counter": 7, "keys": 12}));
        assert!(
            report["verdict"]["findings"].lists("kind", "expiry"),
            "{report}"
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
    let risks = report(&scratch, "far.csv", "")["verdict"]["findings"].to_string();
    risks.says("22.2% of the keys expire within the same 2 minutes");
}

#[test]
fn columns_that_hold_something_else_cost_no_key_and_are_redacted() {
    let odd = "key,elements,freq,idle,ttl\na,many,0.5,-,1d\nb,,,,\n";
    let scratch = Scratch::with("odd.csv", odd);
    let made = report(&scratch, "odd.csv", "");
    made["input"].has(json!({"keys": 2, "rejected": {"count": 0}}));
    made["expiry"].has(json!({"never": {"keys": 1}, "expiring": {"keys": 1}}));
    made.has(json!({"idle": null, "lfu": null}));
    let rows = "key,type,encoding,elements\na,hash,secret-encoding,5\nb,secret-type,raw,7\n";
    scratch.file("odd.csv", rows);
    let text = report(&scratch, "odd.csv", "--redact").to_string();
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
    let made = report(&scratch, "keys.csv", "");
    // Counters up to 5 mean a key without accesses.
    let all = 2501 + 300 * 1001;
    let sum = |loads: &Value| loads.list().iter().map(|load| load.whole()).sum::<u64>();
    assert_eq!(sum(&made["slots"]["accesses"]), all);
    assert_eq!(sum(&made["slots"]["ops"]), 21_000);
    let tag = &made["tags"]["top"][0];
    tag.has(json!({"tag": "hot", "accesses": 300_300, "ops": 2100}));
    assert!(made["nodes"]["list"][0]["accesses"].is_u64());
    let hottest = json!([{"key": "user:0", "accesses": 2501}, {"accesses": 1001}]);
    made["keys"]["hottest"].has(hottest);
    // Counted operations measure load better than estimated accesses.
    let metrics = made["verdict"]["roles"].each("metric");
    assert_eq!(metrics, json!(["bytes", "ops"]));
    let notes = made["input"]["notes"].to_string();
    notes.says("lfu-log-factor 10 and lfu-decay-time 1 counts; keys with a counter of 250 or more have at least 2451 a minute: 1");
    // Another server counts differently.
    let flags = "--lfu-log-factor 1 --lfu-decay-time 2 --by accesses";
    let made = report(&scratch, "keys.csv", flags);
    assert_eq!(made["keys"]["top"][0]["accesses"], 126);
    assert!(made["keys"].get("hottest").is_none());
    scratch
        .text("plan keys.csv --nodes 3 --by accesses")
        .says("{hot}");
}

#[test]
fn a_few_accesses_are_no_load_unless_a_counter_is_at_its_end() {
    for (most, state) in [(20, "unjudged"), (255, "skewed")] {
        let rows = (0..3000).map(|i| match i {
            0 => format!("{{eu}}:0,100,{most}\n"),
            1..20 => format!("{{eu}}:{i},100,20\n"),
            _ => format!("user:{i},100,5\n"),
        });
        let table = format!("key,size,lfu\n{}", rows.collect::<String>());
        let made = report(&Scratch::with("keys.csv", table), "keys.csv", "");
        let load = made["verdict"]["roles"].find("metric", "accesses");
        assert_eq!(load["state"], state, "{most}");
    }
}

#[test]
fn without_counters_nothing_says_accesses() {
    let scratch = Scratch::with("plain.csv", "key,size,ops,freq\na,1,1,\nb,1,1,300\n");
    let made = report(&scratch, "plain.csv", "");
    assert!(made["slots"].get("accesses").is_none());
    scratch.text("analyze plain.csv --out out");
    scratch
        .read("out/slots.csv")
        .begins("slot,node,keys,bytes,ops\n");
    let header = "node,node_id,address,slots,keys,bytes,ops,memory_over_fair,load_over_fair\n";
    scratch.read("out/nodes.csv").begins(header);
    scratch.file("lfu.csv", "key,lfu\na,9\n");
    scratch.text("analyze lfu.csv --out out");
    scratch
        .read("out/slots.csv")
        .begins("slot,node,keys,bytes,ops,accesses\n");
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
    for flags in ["--threads 1", "--threads 3 --one-pass"] {
        let made = report(&scratch, "keys.csv", flags);
        for (name, share) in [
            ("shop:cart:<n>", 0.25),
            ("shop:{user:<n>}:name", 1.0),
            ("session:<n>", 0.0),
        ] {
            let row = made["patterns"]["top"].find("pattern", name);
            row.has(json!({"keys": 1000, "no_expiry_share": share}));
        }
        let shop = made["prefixes"]["top"].find("prefix", "shop");
        shop.has(json!({"keys": 2000, "no_expiry_share": 0.625}));
    }
    scratch.text("analyze keys.csv --out out");
    let csv = scratch.read("out/patterns.csv");
    csv.begins("pattern,keys,bytes,ops,share_of_keys,tagged_share,slots,no_expiry_share\n");
    scratch.file("plain.keys", "a:1\na:2\n");
    let made = report(&scratch, "plain.keys", "");
    assert!(made["patterns"]["top"][0].get("no_expiry_share").is_none());
}

#[test]
fn several_databases_have_their_totals_and_one_has_no_table() {
    let scratch = Scratch::new();
    let row = |i: u64| format!("k:{i},{},{}\n", 10 * (1 + i % 7), i % 7 % 3);
    let rows: String = (0..7000).map(row).collect();
    scratch.file("keys.csv", format!("key,size,db\n{rows}"));
    for threads in ["1", "3"] {
        let report = report(&scratch, "keys.csv", &format!("--threads {threads}"));
        assert_eq!(
            report["databases"],
            json!([
                {"db": 0, "keys": 3000, "bytes": 120_000},
                {"db": 1, "keys": 2000, "bytes": 70_000},
                {"db": 2, "keys": 2000, "bytes": 90_000},
            ])
        );
    }
    let text = scratch.text("analyze keys.csv --full --no-files");
    let (_, table) = text.split_once("Keys by database").expect(&text);
    let first = on_one_line(table.lines().nth(2).unwrap());
    first.begins("0 3,000 ").says("117.19 KiB");
    scratch
        .text("analyze keys.csv --full --no-files --db 1")
        .lacks("Keys by database");
}
