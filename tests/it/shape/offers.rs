//! Runs each offer of a message on the input that it was made for: it gives what the message says; and lines are read
//! by the pattern that the user gives.

use std::process::Output;

use testkit::prelude::*;

/// The output of a run, on one line.
fn said(output: &Output) -> String {
    let both = [output.stderr.as_slice(), &output.stdout].concat();
    on_one_line(&String::from_utf8_lossy(&both))
}

/// The commands after `FILE |`, or the flags, and what each gives.
fn offers(message: &str) -> Vec<(String, String)> {
    let mut offers = Vec::new();
    for (at, _) in message.match_indices("--line ") {
        let Some((flag, rest)) = message[at..].split_once(" gives \"") else {
            continue;
        };
        let before = message[..at].strip_suffix("slotscope analyze - ");
        let start = before.map_or("", |before| {
            let from = before.rfind(": ").map_or(0, |at| at + 2);
            &before[from..]
        });
        let (key, rest) = rest.split_once('"').unwrap();
        let size = rest.strip_prefix(" of ").map_or(String::new(), |rest| {
            let words: Vec<&str> = rest.split([' ', ',', ';']).take(2).collect();
            format!(" of {}", words.join(" "))
        });
        offers.push((format!("{start}\n{flag}"), format!("\"{key}\"{size}")));
    }
    offers
}

/// Lines that are refused, or read with a doubt.
fn doubted() -> Vec<String> {
    let row = |form: &str| {
        let rows = (0..60).map(|i: u64| {
            let key = [
                format!("user:{i}:p"),
                format!("cart:{}", i * 7919),
                format!("s:{{eu}}:{i}"),
            ];
            let number = i * 7919 % 4099 + 60;
            form.replace("KEY", &key[i as usize % 3])
                .replace("ONE", &format!("likes:{i}"))
                .replace("SIZE", &number.to_string())
                .replace("AT", &(i + 10).to_string())
                + "\n"
        });
        rows.collect::<String>()
    };
    let forms = [
        "ONE SIZE",
        "ONE,SIZE",
        "     SIZE KEY",
        "SIZE SIZE",
        "KEY\nSIZE",
        "KEY\n(integer) SIZE",
        "AT) \"KEY\"\n(integer) SIZE",
        "AT) \"KEY\"\n AT) (integer) SIZE",
        "AT) 1) \"KEY\"\n    2) (integer) SIZE",
        "h:6379> MEMORY USAGE KEY\n(integer) SIZE\nh:6379>",
        "h:6379> MEMORY USAGE \"KEY\" SAMPLES 0\n(integer) SIZE",
        "HASH\nKEY\n12 min\nSIZE B\n6 616",
        "'KEY' => {\n  'ttl' => 300,\n  'mem' => SIZE\n},",
        "  {\n    _id: ObjectId('f9AT'),\n    key: 'KEY',\n    bytes: SIZE\n  },",
        "Key\t\tKEY\nBytes\t\tSIZE\nType\t\tset",
        "-[ RECORD AT ]----\nkey   | KEY\nbytes | SIZE",
        "key: KEY\nsize: SIZE",
        "  key = KEY\n  size = SIZE",
        "- key: \"KEY\"\n  type: set\n  bytes: SIZE",
        "Key  : KEY\r\nSize : SIZE\r\n\r",
        "[KEY]\nttl=-1\nsize=SIZE\n",
        "{\n     \"redis_key\" => \"KEY\",\n          \"host\" => {\n        \"name\" => \"h\"\n    },\n         \"bytes\" => SIZE\n}",
        "---\njsonPayload:\n  key: KEY\n  bytes: SIZE\n  message: key sampled\n  type: list\nresource:\n  type: pod\nlog: a",
        "2026-11-20 10:11:AT INFO {\"at\":AT,\"key\":\"KEY\",\"bytes\":SIZE}",
        "AT,\"{\"\"level\"\": \"\"AT\"\", \"\"key\"\": \"\"KEY\"\", \"\"bytes\"\": SIZE}\"",
        "KEY embstr",
        "redis-0\tKEY",
        "17950000AT KEY",
        "10:11:AT KEY",
        "2026-11-20 10:11:AT INFO KEY",
        "KEY | a b",
        "f.txt:AT:KEY",
        "KEY -> x y",
        "(KEY SIZE)",
        "['KEY', 'x']",
        "KEY v1",
    ];
    let above = "scan:\n  host: cache-01\n  keys:\n".to_owned();
    let below = row("    - name: \"KEY\"\n      memory_bytes: SIZE\n      ttl: 5");
    let pairs = "array(60) {\n".to_owned() + &row("  [\"KEY\"]=>\n  int(SIZE)") + "}\n";
    let session =
        "$ redis-cli -h h\n".to_owned() + &row("h:6379> MEMORY USAGE KEY\n(integer) SIZE");
    let indented = "Scan of node 3\n".to_owned()
        + &row("KEY\n    type hash, SIZE B, 15 elements\n    idle 48s, encoding listpack");
    let cards = row("Clé      : KEY\nType     : hash\nMémoire  : SIZE o\n");
    let among = [
        "KEY - SIZE B",
        "> KEY (SIZE bytes)",
        " AT. │ KEY │ set │ SIZE │",
    ];
    let among = among.map(|form| {
        let list = row(form);
        format!("Hi all,\nthese are the largest keys of node 3:\n\n{list}\nCan you look at them?\nthanks\n")
    });
    let rows = forms.iter().map(|form| row(form));
    let others = [above + &below, pairs, session, indented, cards];
    let others = others.into_iter().chain(among);
    rows.chain(others).collect()
}

#[test]
fn every_offer_gives_what_the_message_says() {
    let mut tried = 0;
    for text in doubted() {
        let scratch = Scratch::with("FILE", &text);
        let message = said(&scratch.run("analyze FILE --nodes 3 --no-files"));
        let offers = offers(&message);
        assert!(offers.len() <= 2, "{message}");
        for (line, gives) in offers {
            let (lines, flag) = line.split_once('\n').unwrap();
            let command = match lines {
                "" => format!("slotscope analyze FILE --nodes 3 --no-files {flag}"),
                lines => format!("{lines}slotscope analyze - --nodes 3 --no-files {flag}"),
            };
            let output = scratch.shell(&command);
            assert_eq!(code(&output), 0, "{command}: {}", said(&output));
            said(&output).says(&gives);
            // Lines of a record are joined first.
            let is_joined = ["records of", "on two lines", "objects of JSON"]
                .map(|what| message.contains(what));
            assert_eq!(!lines.is_empty(), is_joined.contains(&true), "{message}");
            if is_joined.contains(&true) {
                assert_eq!(gives, "\"user:0:p\" of 60 B", "{message}");
            }
            tried += 1;
        }
    }
    assert!(tried >= 39, "{tried} offers");
}

#[test]
fn numbers_of_slots_and_objects_in_lines_are_read_after_the_command_that_is_shown() {
    let of_slots: fn(u64) -> String = |i| format!("{} {}\n", i * 270, i * 7 + 1);
    let in_logs = |i: u64| {
        format!(
            "10:11:{} INFO {{\"n\":{i},\"key\":\"user:{i}\",\"size\":{i}}}\n",
            i + 10
        )
    };
    let in_cells = |i: u64| {
        format!("{i},\"{{\"\"n\"\": {i}, \"\"key\"\": \"\"user:{i}\"\", \"\"size\"\": {i}}}\"\n")
    };
    for (row, what, gives, total) in [
        (
            of_slots,
            "as counts by slot",
            "slot 0 with 1 key",
            60 * 59 / 2 * 7 + 60,
        ),
        (
            in_logs,
            "objects of JSON with other text around",
            "\"user:0\" of 0 B",
            60,
        ),
        (
            in_cells,
            "objects of JSON with other text around",
            "\"user:0\" of 0 B",
            60,
        ),
    ] {
        let scratch = Scratch::with("FILE", (0..60).map(row).collect::<String>());
        let message = said(&scratch.run("analyze FILE --no-files"));
        let (_, shown) = message.split_once(&format!("{what}: ")).expect(&message);
        let (command, given) = shown.split_once(" gives ").expect(&message);
        assert!(given.starts_with(gives), "{message}");
        let output = scratch.shell(format!("{command} --json --no-files"));
        let report: Value = serde_json::from_slice(&succeeded(output)).unwrap();
        let keys = report["slots"]["keys"].list().iter().map(Value::float);
        assert_eq!(keys.sum::<f64>(), f64::from(total), "{message}");
    }
}

#[test]
fn crlf_that_became_lf_is_brought_back_by_the_command_that_is_offered() {
    let commands: String = (0..40)
        .map(|i| format!("*3\n$3\nSET\n$7\nuser:{:02}\n$1\nv\n", i))
        .collect();
    let scratch = Scratch::with("FILE", &commands);
    let message = said(&scratch.run("analyze FILE"));
    message.says("whose CRLF became LF");
    let output = scratch.shell("sed 's/$/\\r/' FILE | slotscope analyze - --no-files");
    said(&output).says("40 operations");
}

#[test]
fn a_pattern_of_the_user_reads_lines_and_is_refused_if_it_fits_few() {
    let log: String = (0..200)
        .map(|i| format!("10:{:02} [{{u{i}}}:cart] took {} kb, a b\n", i % 60, i + 1))
        .collect();
    let scratch = Scratch::with("a.log", &log);
    let report =
        scratch.text("analyze a.log --no-files --line '{_} [{key}] took {size} kb, {_} b'");
    let first = on_one_line(&report);
    first.says("read as {_} [{key}] took {size} kb, {_} b: \"{u0}:cart\" of 1.00 KiB, the largest \"{u199}:cart\" of 200.00 KiB");
    let json = scratch.run("analyze a.log --json --line '{_} [{key}] took {size:kb} kb, {_} b'");
    let report: Value = serde_json::from_slice(&succeeded(json)).unwrap();
    report["input"]["files"][0].has(json!({
        "line": "{_} [{key}] took {size:kb} kb, {_} b",
        "line_by": "given",
        "first": {"key": "{u0}:cart", "size": 1024},
    }));
    for [flags, why] in rows(
        r#"--line '{key} {kee}' | --line "{key} {kee}": column 7: no field is called "kee"
           --line '{size}' | no {key} in it
           --line '{key} {key}' | column 7: this field is in the pattern twice
           --line '{key}{size}' | column 6: nothing between two fields
           --line '{_} <{key}>' | fits 0 of the first 200 lines; the first that it does not fit is "10:00 [{u0}
           --line '{key}' --format csv | --line: says how a line is read
           --columns key,_,size --column-separator blank | --line '{key} {_} {size}'"#,
    ) {
        let line = format!("analyze a.log {flags}");
        scratch.run(&words(&line)).refused(why);
    }
}

#[test]
fn how_a_text_was_read_is_on_the_first_screen_and_hides_names_if_asked() {
    for [text, line] in rows(
        r#"user:17\ncart:18\n | read as lines of keys: "user:17"; no sizes
           key,size\nuser:17,12\ncart:18,9\n | read as CSV with key, size: "user:17" of 12 B, the largest
           key;size\nuser:17;12\ncart:18;9\n | read as CSV (;) with key, size: "user:17" of 12 B, the largest
           "user:17"\n"cart:18"\n | read as quoted: "user:17"; no sizes"#,
    ) {
        let run = |flags: &str| {
            let line = format!("analyze - --nodes 3 --no-files {flags}");
            said(&feed(slotscope(&line), text.as_bytes()))
        };
        run("").says(line);
        run("--redact").says("read as ").lacks("user");
    }
}

#[test]
fn a_column_that_may_not_be_what_its_name_says_is_a_warning() {
    let rows = |size: fn(u64) -> u64| (0..300).map(move |at| (format!("user:{at}"), size(at)));
    let text = |rows: Vec<(String, u64)>| {
        let rows = rows.iter().map(|(key, size)| format!("{key},{size}\n"));
        format!("key,size\n{}", rows.collect::<String>())
    };
    let zeros = text(rows(|_| 0).collect());
    let total = rows(|at| at).map(|(_, size)| size).sum();
    let summed = [("ALL KEYS".to_owned(), total)];
    let with_total = text(rows(|at| at).chain(summed).collect());
    let repeated: Vec<_> = rows(|_| 7).chain(rows(|_| 7).take(30)).collect();
    let titled = with_total.replacen("key,size", "Export of Monday,\n\nkey,size", 1);
    let warnings = |text: &str| {
        let output = feed(slotscope("analyze - --nodes 3 --no-files"), text.as_bytes());
        said(&output)
    };
    for (text, warning) in [
        (
            &zeros,
            "warning: all sizes are 0, so nothing is judged by them",
        ),
        (
            &with_total,
            "warning: ALL KEYS is exactly as large as all other keys together",
        ),
        (&titled, "not read: 1 row above the header in line 3"),
        (
            &(0..300)
                .map(|at| format!("[user:{at}] => {}\n", at + 50))
                .collect(),
            "Nothing in the lines says which: --line '[{key}] => {size}' gives \"user:0\" of 50 B",
        ),
        (
            &text(repeated),
            "are there several readings of a key in it?",
        ),
    ] {
        warnings(text).says(warning);
    }
    warnings(&text(rows(|at| at).collect())).lacks("warning: ");
}

/// No name says which column has the keys of this table: its content does, also where a flag names another column.
#[test]
fn the_flag_that_a_message_offers_for_sizes_finds_the_table() {
    let rows = (0..300).map(|at| format!("| {} | user:{at} | {} |\n", 1000 + 7 * at, at + 50));
    let border = "+------+----------+-----+\n";
    let text = format!(
        "{border}| id   | k        | sz  |\n{border}{}{border}",
        rows.collect::<String>()
    );
    for (flag, sum) in [("sz", (0..300).map(|at| at + 50).sum()), ("none", 0)] {
        let line = format!("analyze - --nodes 3 --no-files --json --size-column {flag}");
        let report = report(&feed(slotscope(&line), text.as_bytes()));
        assert_eq!(report["input"]["keys"], 300, "{flag}");
        let nodes = report["nodes"]["list"].list().iter();
        let bytes: u64 = nodes.filter_map(|node| node["bytes"].as_u64()).sum();
        assert_eq!(bytes, sum, "{flag}");
    }
}

#[test]
fn a_table_below_lines_that_redis_cli_prints_too_is_read() {
    let rows = (0..8).map(|i| {
        let members = format!("{} members", i * 77 + 9);
        format!(
            "| {:^12} | {:^6} | {:^9} | {members:^19} |\n",
            format!("user:{i}:p"),
            "zset",
            "1.5 KB"
        )
    });
    let border = "+--------------+--------+-----------+---------------------+\n";
    let header = "|     Key      |  Type  |   Size    | Number of elements  |\n";
    let above = "-------- Summary --------\nSampled 8 keys in the keyspace!\n\nTop biggest keys:\n";
    let text = format!(
        "{above}{border}{header}{border}{}{border}",
        rows.collect::<String>()
    );
    let scratch = Scratch::with("FILE", &text);
    said(&scratch.run("analyze FILE --nodes 3 --no-files"))
        .says("| {key} | {type} | {size} | {_} |: \"user:0:p\" of 1.50 KiB");
    let none = "-------- summary -------\n\nSampled 0 keys in the keyspace!\n";
    let scratch = Scratch::with("FILE", none);
    said(&scratch.run("analyze FILE --no-files")).says("no key in its");
}
