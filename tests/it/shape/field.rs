//! Sizes that cannot be parsed, in the verdict: nodes are never called even on the strength of the rest.

use std::fmt::Write;

use crate::shape::names::{any, size};
use testkit::prelude::*;
use testkit::rng::Rng;

/// The report of a table on three nodes, and the exit code with a limit on the verdict.
fn report(table: &str) -> (Value, i32) {
    let scratch = Scratch::with("keys.csv", table);
    let json = scratch.run("analyze keys.csv --json");
    let limit = words("analyze keys.csv --json --nodes 3 --fail-on 'verdict >= watch'");
    let report = serde_json::from_slice(&json.stdout).unwrap();
    (report, code(&scratch.run(&limit)))
}

#[test]
fn the_nodes_are_not_called_even_where_sizes_could_not_be_read() {
    let unreadable = ["1e+x8", "12,34", "95.4 Mo2", "n.a.", "1.234", "#REF!"];
    for seed in 0..12 {
        let mut rng = Rng::new(seed);
        let mut columns = ["key", "size", "type", "idle"];
        for at in (1..columns.len()).rev() {
            columns.swap(at, rng.below(at + 1));
        }
        let header = columns.map(|name| match name {
            "key" => *rng.pick(&["key", "Key name", "clé", "redis_key"]),
            "size" => *rng.pick(&["size", "Memory (bytes)", "taille", "mem"]),
            name => name,
        });
        let mut table = header.join(";") + "\n";
        let bad = *rng.pick(&unreadable);
        let one_in = 20 + rng.below(80);
        let mut lost = 0;
        for i in 0..2000 {
            let is_lost = i == 5 || rng.one_in(one_in);
            lost += u64::from(is_lost);
            let cells = columns.map(|name| match name {
                "key" => any(&mut rng, i),
                "size" if is_lost => bad.into(),
                "size" => size(&mut rng).to_string(),
                "type" => "hash".into(),
                _ => rng.below(1000).to_string(),
            });
            writeln!(table, "{}", cells.join(";")).unwrap();
        }
        let (report, code) = report(&table);
        let verdict = &report["verdict"];
        assert_eq!(
            (verdict["state"].text(), code),
            ("unjudged", 2),
            "seed {seed}"
        );
        let sentence = verdict["sentence"].text();
        sentence.says(&format!("{lost} of 2,000 sizes could not be read"));
        // No key is lost with its size.
        let unreadable = json!([{"role": "size", "count": lost}]);
        report["input"].has(json!({"keys": 2000, "unreadable_values": unreadable}));
        report["input"]["files"][0]["shape"].text().says("{size");
    }
}

/// Spreadsheets of many countries write a comma before a fraction, and points between groups.
#[test]
fn commas_before_fractions_are_read_where_the_column_proves_them() {
    for (table, line, sizes) in [
        (
            "key;size KB;t\nuser:1;0,11;7\nuser:2;1.234,5;9\nuser:3;2;9\n",
            "{key:csv};{size:csv,kb,comma};{_:csv}",
            vec![113, 1_264_128, 2048],
        ),
        (
            "key;size;t\nuser:1;3.279;7\nuser:2;342;9\n",
            "{key:csv};{size:csv,comma};{_:csv}",
            vec![3279, 342],
        ),
        (
            "key;size KB;t\nuser:1;1,234;7\nuser:2;342;9\n",
            "{key:csv};{size:csv,kb};{_:csv}",
            vec![342 << 10],
        ),
        (
            "key;size;t\nuser:1;3.279;7\nuser:2;3420;9\n",
            "{key:csv};{size:csv};{_:csv}",
            vec![3420],
        ),
    ] {
        for flags in ["", &format!("--line '{line}'")] {
            let command = format!("analyze - --json {flags}");
            let read =
                testkit::prelude::report(&feed(slotscope(&words(&command)), table.as_bytes()));
            assert_eq!(read["input"]["files"][0]["line"], line, "{table}");
            let slots = read["slots"]["bytes"].list().iter();
            let mut read: Vec<u64> = slots
                .filter_map(Value::as_u64)
                .filter(|bytes| *bytes > 0)
                .collect();
            read.sort_unstable();
            let mut sizes = sizes.clone();
            sizes.sort_unstable();
            assert_eq!(read, sizes, "{table}");
        }
    }
}

#[test]
fn an_unreadable_size_is_in_the_first_lines_of_the_terminal() {
    let rows: String = (0..4000)
        .map(|i| format!("user:{i},{}\n", if i == 15 { "1e+x8" } else { "100" }))
        .collect();
    let output = feed(
        slotscope("analyze - --no-files"),
        format!("key,size\n{rows}").as_bytes(),
    );
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().take(2).collect::<Vec<_>>().join(" ");
    let said = "1 of 4,000 sizes could not be read (\"1e+x8\"";
    first.begins("UNJUDGED").says(said);
}

#[test]
fn a_part_of_an_operation_is_not_cut_off() {
    for table in [
        "key,qps\na,0.4\nb,3\n",
        "{\"key\":\"a\",\"ops\":0.4}\n{\"key\":\"b\",\"ops\":3}\n",
    ] {
        let (read, _) = report(table);
        let lost = &read["input"]["unreadable_values"][0];
        lost.has(json!({"role": "operations", "count": 1}));
        lost["first"]["reason"].text().says("0.4");
    }
}

#[test]
fn a_column_has_keys_or_sizes_and_never_both() {
    let rows: String = (0..40)
        .map(|i| format!("user:{i},{}\n", 100 + 7 * (i * 13 % 40)))
        .collect();
    let (read, _) = report(&format!("k,b\n{rows}"));
    read["input"]["warnings"]
        .to_string()
        .lacks("size in column 1");
    assert!(read["slots"]["bytes"].is_array(), "{read}");
}

#[test]
fn empty_cells_and_zeros_are_no_keys_with_their_slots() {
    let rows: String = (0..300)
        .map(|i| format!("user:{i},0,{},\n", u8::from(i == 7) * 9))
        .collect();
    let (read, _) = report(&format!("key,db,idle,tag\n{rows}"));
    let taken = read["slots"]["keys"].list();
    let taken = taken.iter().filter(|keys| keys.as_u64() > Some(0)).count();
    assert!(taken > 250, "{taken} slots");
}

#[test]
fn a_name_with_a_word_that_is_not_understood_leaves_memory_unjudged() {
    let rows: String = (0..900)
        .map(|i| format!("user:{i},{},{}\n", 1 + i % 3, i % 7))
        .collect();
    for name in [
        "bytes_in",
        "max_bytes",
        "size (x1000)",
        "key_length",
        "MB/s",
    ] {
        let (read, code) = report(&format!("key,{name},slot\n{rows}"));
        let state = read["verdict"]["state"].text();
        assert_eq!((state, code), ("unjudged", 2), "{name}");
        read["verdict"].to_string().says(name);
    }
    // The other way around, sizes are there, and operations are not.
    let (read, _) = report(&format!("key,size (M),ops_failed\n{rows}"));
    read["input"]["weights"].has(json!({"ops": null}));
    assert_eq!(read["input"]["files"][0]["first"]["size"], 1 << 20);
}

#[test]
fn a_quote_that_is_not_closed_costs_its_own_line() {
    let rows = |from: usize| -> String {
        (from..from + 4000)
            .map(|i| format!("user:{i},{}\n", 100 + i))
            .collect()
    };
    for (last, keys) in [("", 8000), ("\"user:z\",5\n", 8001)] {
        let table = format!("key,bytes\n{}\"user:open,5\n{}{last}", rows(0), rows(4000));
        let (read, _) = report(&table);
        let first = json!([{"line": 4002}]);
        read["input"].has(json!({"keys": keys, "rejected": {"count": 1, "first": first}}));
    }
    // Spark and MySQL write a backslash before a quote.
    let (read, _) = report(&format!("key,bytes\n{}\"a\\\"b\",10\n", rows(0)));
    let rejected = &read["input"]["rejected"];
    rejected.has(json!({"count": 1, "first": [{"line": 4002}]}));
    rejected.to_string().says("--escapes c");
}

#[test]
fn seconds_to_live_count_from_the_writing_of_the_file() {
    let scratch = Scratch::new();
    let rows: String = (0..400)
        .map(|i| format!("user:{i},100,{}\n", 60 * (60 + i % 4 * 10)))
        .collect();
    scratch.file("keys.csv", format!("key,size,ttl\n{rows}"));
    for (bounds, kept) in [("30m..2h", 400), ("1s..30m", 0), ("65m..2h", 300)] {
        let output = scratch.run(&["analyze", "keys.csv", "--json", "--ttl", bounds]);
        let read: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let keys = read["input"]["keys"].as_u64().unwrap_or(0);
        assert_eq!(keys, kept, "{bounds}");
    }
}

#[test]
fn a_word_for_no_time_to_live_is_read_and_others_are_told() {
    let table = "key,size,ttl\nuser:1,500,never\nuser:2,9,No limit\nuser:3,9,60\nuser:4,9,soon\n";
    let objects = table.lines().skip(1).map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        json!({"key": cells[0], "size": 9, "ttl": cells[2]}).to_string() + "\n"
    });
    for text in [table.to_owned(), objects.collect()] {
        let (read, _) = report(&text);
        let warnings = read["input"]["warnings"].to_string();
        warnings.says("1 time of expiry could not be read");
        assert_eq!(read["expiry"]["never"]["keys"], 2, "{}", read["expiry"]);
    }
}

#[test]
fn a_total_is_not_a_key_and_a_unit_beside_a_size_is_not_ignored() {
    let rows = |unit: &str| {
        let rows = (0..300).map(|i| format!("user:{i},{}{unit}\n", 100 + i));
        rows.collect::<String>()
    };
    for last in ["Total", "TOTAL", "\"Grand Total\"", ""] {
        let (read, _) = report(&format!("key,size\n{}{last},74850\n", rows("")));
        read["input"].has(json!({"keys": 300, "rejected": {"count": 1}}));
    }
    let (read, _) = report(&format!("key,size,unit\n{}", rows(",KB")));
    read["input"]["weights"].has(json!({"bytes": null}));
    // The empty key is in quotes.
    let (read, _) = report(&format!("key,size\n{}\"\",12\n", rows("")));
    assert_eq!(read["input"]["keys"], 301);
    // 0.100 to 0.399 of 1,024 bytes.
    let (read, _) = report(&format!("key;size (KB)\n{}", rows("").replace(',', ";0.")));
    let loads = read["slots"]["bytes"].list().iter();
    assert_eq!(loads.filter_map(Value::as_u64).sum::<u64>(), 76_646);
}

#[test]
fn a_list_cut_off_in_its_last_line_says_so_and_a_whole_one_does_not() {
    for (text, is_said) in [
        ("key,size\na:1,100\nb:2,31", true),
        ("a:1\nb:2\nses", true),
        ("{\"key\":\"a\"}\n{\"key\":\"b\"}", true),
        ("key,size\na:1,100\nb:2,31\n", false),
        ("a:1\nb:2\n", false),
    ] {
        let (read, _) = report(text);
        let warnings = read["input"]["warnings"].to_string();
        let said = warnings.contains("without a line end after the last line");
        assert_eq!(said, is_said, "{text:?}: {warnings}");
    }
}

#[test]
fn objects_inside_objects_are_refused_with_the_command_that_takes_them_out() {
    let line = |at: usize| json!({"_id": at, "_source": {"key": format!("a:{at}"), "bytes": 9}});
    let lines = (0..20).map(|at| format!("{}\n", line(at)));
    let scratch = Scratch::with("log.jsonl", lines.collect::<String>());
    let run = scratch.run("analyze log.jsonl");
    let recipe = "jq -c '._source' FILE | slotscope analyze - gives \"a:0\" of 9 B";
    assert_fails(&run, &[recipe]);
}

#[test]
fn a_size_that_was_rounded_to_nothing_is_not_known_to_be_zero() {
    let rows: String = (0..2000)
        .map(|i| format!("user:{i},{}\n", if i < 20 { "3.00" } else { "0.00" }))
        .collect();
    let (read, _) = report(&format!("key,memory_mb\n{rows}"));
    let unreadable = json!({"unreadable_values": [{"count": 1980}]});
    read.has(json!({"verdict": {"state": "unjudged"}, "input": unreadable}));
}

/// Lists of keys that have something of what is refused elsewhere.
#[test]
fn keys_that_look_like_what_is_refused_are_read() {
    let many = |form: &str| -> String {
        let line = |at: usize| form.replace('N', &at.to_string()) + "\n";
        (0..60).map(line).collect()
    };
    let users = many("user:N");
    for (text, keys) in [
        (many("slot:N:key:1"), 60),
        (many("slot:N:count:1"), 60),
        (
            users.clone() + "used_memory:host1\nconnected_clients:host1\n",
            62,
        ),
        (many("$N"), 60),
        (users.clone() + &many("lock:__keyspace@0__:N"), 120),
        ("user~name\n".to_owned() + &many("user~N"), 61),
        ("cache^key\n".to_owned() + &many("cache^N"), 61),
        ("key,node\n".to_owned() + &many("100N,a"), 60),
        (
            "key,size\nsum,7\nSumme,9\n".to_owned() + &many("user:N,5"),
            62,
        ),
    ] {
        let scratch = Scratch::with("list", &text);
        let report = scratch.report("analyze list --json --nodes 3");
        assert_eq!(report["input"]["keys"], keys, "{text}");
    }
    let totals = "key,size\n".to_owned() + &many("user:N,5") + "Summe,300\n";
    let scratch = Scratch::with("list.csv", &totals);
    assert_eq!(
        scratch.report("analyze list.csv --json --nodes 3")["input"]["keys"],
        60
    );
}

/// One row whose cells stand nearer together than others changes no key of the others.
#[test]
fn a_long_cell_changes_no_other_row() {
    let row = |at: usize| {
        let between = if at == 101 { " " } else { "  " };
        format!("2026-11-20 10:11:12  user:{at}{between}{}\n", 100 + at)
    };
    let rows: String = (0..300).map(row).collect();
    let scratch = Scratch::with("table", format!("SCANNED AT  KEY  SIZE\n{rows}"));
    let report = scratch.report("analyze table --json --nodes 3");
    assert_eq!(report["input"]["files"][0]["first"]["key"], "user:0");
}
