//! What programs print around keys is refused with a command, or told on the first screen.

use testkit::run::{assert_fails, feed, slotscope};

fn analyze(text: &str, flags: &[&str]) -> std::process::Output {
    let arguments = [&["analyze", "-", "--nodes", "3", "--no-files"], flags].concat();
    feed(slotscope(&arguments), text.as_bytes())
}

/// The first screen without its line breaks.
fn screen(text: &str, flags: &[&str]) -> String {
    let output = analyze(text, flags);
    assert!(output.status.success(), "{text}: {output:?}");
    let screen = String::from_utf8_lossy(&output.stdout).into_owned();
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_first_key_is_shown_where_it_was_cut_out_of_a_line() {
    for (text, key) in [
        (
            "Key: user:1 Size: 12 bytes\nKey: sess:2 Size: 13 bytes\nKey: cart:3 Size: 140 bytes\n",
            "user:1 Size",
        ),
        (
            "user:1 (hash): 12 bytes\nsess:2 (set): 131 bytes\ncart:3 (list): 14 bytes\n",
            "user:1 (hash)",
        ),
        ("* `user:1`\n* `sess:2`\n* `cart:3`\n", "`user:1`"),
        ("b'user:\\xff'\nb'sess:2'\n", "user:\\xff"),
    ] {
        let shown = screen(text, &[]);
        let first = format!("the first key is \"{key}\"");
        assert!(shown.contains(&first), "{shown}");
        let hidden = screen(text, &["--redact"]);
        assert!(
            !hidden.contains(&first) && hidden.contains("the first key is \""),
            "{hidden}"
        );
    }
    let long = format!("- {}\n- b:2\n- c:3\n", "k".repeat(5000));
    assert!(screen(&long, &[]).len() < 5000);
}

#[test]
fn prints_without_sizes_or_rows_are_refused_with_what_takes_the_keys() {
    for (text, way_out) in [
        (
            "     40 user:1\n     31 sess:ab\n      3 cart:{2}\n",
            "--columns ops,key",
        ),
        (
            "0      user:1\n1      sess:2\n      ...  \n298    cart:3\n299    lock:4\nName: key, Length: 300, dtype: object\n",
            "to_csv",
        ),
        (
            "┌──────────┬──────┐\n│   key    │ size │\n├──────────┼──────┤\n│ user:1   │   12 │\n│    ·     │    · │\n│ lock:4   │    7 │\n",
            "COPY",
        ),
        (
            "\"{\\\"key\\\":\\\"user:1\\\",\\\"size\\\":12}\"\n\"{\\\"key\\\":\\\"sess:2\\\",\\\"size\\\":13}\"\n",
            "jq -r . FILE",
        ),
        (
            "{\n  \"key\": \"user:1\",\n  \"size\": 12\n}\n{\n  \"key\": \"sess:2\",\n  \"size\": 13\n}\n",
            "jq -c . FILE",
        ),
        ("[\n  'user:1',\n  'sess:2',\n]\n", "JSON.stringify"),
        (
            "{\"columns\":[\"key\",\"size\"],\"index\":[0],\"data\":[[\"user:1\",12]]}\n",
            "jq -r '.columns, .data[] | @csv'",
        ),
        (
            "{\n\t\"meta\":\n\t[\n\t\t{\"name\": \"key\"}\n\t],\n\n\t\"data\":\n\t[\n\t\t[\"user:1\", \"12\"]\n\t]\n}\n",
            "jq -r '[.meta[].name], .data[] | @csv'",
        ),
    ] {
        assert_fails(&analyze(text, &[]), &[way_out]);
    }
    let counted = screen(
        "     40 user:1\n     31 sess:ab\n",
        &["--columns", "ops,key"],
    );
    assert!(counted.contains("user:1"), "{counted}");
}
