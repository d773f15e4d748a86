//! Texts that programs print around keys: refused with a command, or told on the first screen.

use std::process::Output;

use testkit::prelude::*;

fn analyze(text: &str, flags: &str) -> Output {
    let line = format!("analyze - --nodes 3 --no-files {flags}");
    feed(slotscope(&line), text.as_bytes())
}

/// The first screen without its line breaks.
fn screen(text: &str, flags: &str) -> String {
    on_one_line(&String::from_utf8(succeeded(analyze(text, flags))).unwrap())
}

#[test]
fn the_first_key_is_shown_where_it_was_cut_out_of_a_line() {
    for [text, line] in rows(
        r#"Key: user:1 Size: 12 bytes\nKey: sess:2 Size: 13 bytes\nKey: cart:3 Size: 140 bytes\n | read as Key: {key} Size: {size}: "user:1" of 12 B
           user:1 (hash): 12 bytes\nsess:2 (set): 131 bytes\ncart:3 (list): 14 bytes\n | "user:1
           * `user:1`\n* `sess:2`\n* `cart:3`\n | read as * {key:q}: "user:1"
           b'user:\\xff'\nb'sess:2'\n | read as {key:q}: "user:"#,
    ) {
        let shown = screen(text, "");
        shown.says(line);
        screen(text, "--redact").lacks("user");
    }
    let long = format!("- {}\n- b:2\n- c:3\n", "k".repeat(5000));
    assert!(screen(&long, "").len() < 5000);
}

/// Lines of a form, with their keys and sizes; some names have a quote, written as the form does.
fn lines(form: &str, quote: &str) -> (String, Vec<(String, u64)>) {
    let rows = (0..40u64).map(|i| {
        (
            format!("{}:{i}:it's", ["user", "cart"][i as usize % 2]),
            60 + i * 7919 % 4099,
        )
    });
    let rows: Vec<(String, u64)> = rows.collect();
    let line = |(i, (key, size)): (usize, &(String, u64))| {
        let at = format!("10:1{}:{}", i / 60, 10 + i % 50);
        form.replace("KEY", &key.replace('\'', quote))
            .replace("SIZE", &size.to_string())
            .replace("AT", &at)
            .replace("NUMBER", &(i * 7919 % 90_000).to_string())
            .replace("LEVEL", ["INFO   ", "WARNING"][i % 2])
            + "\n"
    };
    (rows.iter().enumerate().map(line).collect(), rows)
}

#[test]
fn text_around_names_is_cut_off_whatever_printed_it() {
    // The form, a quote in it, and the pattern that is found or offered.
    for [form, quote, pattern] in raw_rows(
        r#"
<tr><td>KEY</td><td>SIZE</td></tr> ¦ ' ¦ <tr><td>{key}</td><td>{size}</td></tr>
<entry name="KEY" type="set" bytes="SIZE"/> ¦ ' ¦ <entry name={key:q} type="set" bytes={size}/>
INSERT INTO keys (name, size) VALUES ('KEY', SIZE); ¦ '' ¦ INSERT INTO keys (name, size) VALUES ({key:q}, {size});
memory{db="0",key="KEY"} SIZE ¦ ' ¦ memory{{db="0",key={key:q}}} {size}
1# "KEY" => (integer) SIZE ¦ ' ¦ {_} {key:q} {_} {size}
2026-11-30 AT | LEVEL | scan:main:12 - KEY SIZE ¦ ' ¦ 2026-11-30 {_} | {_} | scan:main:12 - {key} {size}
- [ ] KEY (SIZE bytes) ¦ ' ¦ {_} {_} {_} {key} {size}
{"KEY", SIZE}, ¦ ' ¦ {{{key:q}, {size}}},
"KEY"=>SIZE, ¦ ' ¦ {key:q}=>{size},
[pod/audit-0/main] AT KEY -> SIZE ¦ ' ¦ {_} {_} {key} {_} {size}
[pod/audit-NUMBER/main] AT KEY -> SIZE ¦ ' ¦ {_} {_} {key} -> {size}
KEY Value at:0x7fNUMBER refcount:1 serializedlength:SIZE lru:NUMBER ¦ ' ¦ {key} Value at:{_} refcount:1 serializedlength:{size} lru:{_}
"#,
    ) {
        let (text, expected) = lines(form, quote);
        let said = analyze(&text, "");
        let said = [said.stderr, said.stdout].concat();
        let said = on_one_line(&String::from_utf8(said).unwrap());
        said.says(pattern);
        let report = slotscope(&["analyze", "-", "--json", "--line", pattern]);
        let report: Value =
            serde_json::from_slice(&succeeded(feed(report, text.as_bytes()))).unwrap();
        let mut slots = vec![0; 16_384];
        for (key, size) in &expected {
            slots[usize::from(hashslot::slot(key.as_bytes()))] += size;
        }
        assert_eq!(report["input"]["keys"], 40, "{form}");
        assert_eq!(report["slots"]["bytes"], json!(slots), "{form}");
    }
}

#[test]
fn prints_without_sizes_or_rows_are_refused_with_what_takes_the_keys() {
    for [text, way_out] in rows(
        r#"\x20    40 user:1\n     31 sess:ab\n      3 cart:{2}\n | --line '{ops} {key}' gives "user:1"
         0      user:1\n1      sess:2\n      ...  \n298    cart:3\n299    lock:4\nName: key, Length: 300, dtype: object\n | to_csv
         ┌──────────┬──────┐\n│   key    │ size │\n├──────────┼──────┤\n│ user:1   │   12 │\n│    ·     │    · │\n│ lock:4   │    7 │\n | COPY
         "{\\"key\\":\\"user:1\\",\\"size\\":12}"\n"{\\"key\\":\\"sess:2\\",\\"size\\":13}"\n | jq -r . FILE"#,
    ) {
        analyze(text, "").refused(way_out);
    }
    let counted = screen("     40 user:1\n     31 sess:ab\n", "--line '{ops} {key}'");
    counted.says("user:1");
}

#[test]
fn lines_that_are_no_keys_alone_are_told() {
    for [text, told] in rows(
        r"user:1\nsess:2\r\ncart:3\nlock:4\r\n | 2 keys with a carriage return at the end
         user:1 embstr\nsess:2 raw\ncart:3 listpack\n | another word after it
         redis-0\tuser:1\nredis-1\tsess:2\nredis-2\tcart:3\n | another word before it
         1795000001 user:1\n1795000002 sess:2\n1795000003 cart:3\n | another word before it
         7:user:1\n19:sess:ab\n23:cart:{2}\n31:lock:9\n | as grep -n prints it
         14\nuser:1\nsess:2\nfeed:7\n0\ncart:3\n | as the cursors of SCAN
         OK\nuser:1\nsess:2\ncart:3\n | 1 line in the form of a prompt, a reply
         (integer) 54\nuser:1\nsess:2\ncart:3\n | some lines are not keys
         user:1\nsess:2\n--More--(20%)\ncart:3\n | some lines are not keys
         == 127.0.0.1:7001 ==\nuser:1\nsess:2\ncart:3\n | some lines are not keys
         user:1\nsess:2\n# of the second node\ncart:3\n | some lines are not keys",
    ) {
        screen(text, "").says(told);
    }
    let keys = (0..1200).map(|i| format!("user:{i}\n"));
    let late = keys.chain((0..300).map(|i| format!("\"cart:{i}:items\"\n")));
    screen(&late.collect::<String>(), "").says("another shape than the first ones");
    let ended = screen("user:1\r\nsess:2\r\ncart:3\r\n", "");
    ended.lacks("carriage return");
}
