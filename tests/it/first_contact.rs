//! A newcomer's mistakes: no input, a file that is not a dump, arguments in the wrong order, a truncated dump.

use std::process::{Command, Stdio};

use testkit::dumps::gzip;
use testkit::redis::wait_for;
use testkit::run::{Ran, Said, Scratch, assert_contains, code, rows, stderr, stdout};

#[test]
fn a_command_without_an_input_is_answered_with_its_examples() {
    let scratch = Scratch::new();
    scratch.file("a.keys", b"a\n");
    let commands: [(&[&str], &str); 8] = [
        (&["analyze", "--no-files"], "slotscope analyze dump-*.rdb"),
        (&["plan", "--nodes", "3"], "slotscope plan dumps --topology"),
        (
            &["whatif", "--to-nodes", "6"],
            "slotscope whatif dumps --nodes 6",
        ),
        (&["timeline"], "slotscope timeline *.monitor"),
        (&["lint"], "slotscope lint "),
        (&["fanout"], "slotscope fanout node.monitor"),
        (&["tally", "-o", "a.tally"], "slotscope tally "),
        (&["keyslot"], "slotscope keyslot 'user"),
    ];
    for (words, example) in commands {
        let empty = scratch.piped(words, b"");
        let said = stderr(&empty);
        assert!(
            said.contains("no input: none is named"),
            "{words:?}: {said}"
        );
        assert!(said.contains(example), "{words:?}: {said}");
        assert_eq!(code(&empty), 2, "{words:?}");
        // Piped keys are read from the first byte, and a named input suffices.
        for other in [
            scratch.piped(words, b"a\n"),
            scratch.run(&[words, &["a.keys"]].concat()),
        ] {
            assert!(!stderr(&other).contains("no input"), "{}", stderr(&other));
        }
    }
    // Without a terminal and a pipe, as in cron jobs, before anything else that is wrong.
    for words in [&["plan"][..], &["whatif"], &["advise"]] {
        let empty = scratch.run(words);
        assert_contains(stderr(&empty), &["no input: none is named"]);
        assert_eq!((code(&empty), stdout(&empty)), (2, ""), "{words:?}");
    }
    let unowned = scratch.run(&["plan", "a.keys"]);
    unowned.refused("no nodes | slotscope plan dumps --topology cluster.nodes");
    let slot = scratch.piped(&["keyslot"], b"foo\n");
    assert_eq!(stdout(&slot), "12182\tfoo\n");
}

#[test]
fn a_fraction_of_a_byte_is_not_rounded_in_silence() {
    let scratch = Scratch::new();
    for [name, table] in rows(
        r#"a.csv | key,size\na,1536.5\nb,2.0\nc,\"1.5 KiB\"\n
         a.jsonl | {\"key\":\"a\",\"size\":1536.5}\n{\"key\":\"b\",\"size\":2.0}\n"#,
    ) {
        scratch.file(name, table);
        let said = scratch.run(&["analyze", name, "--no-files"]);
        let said = stdout(&said)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(
            said.contains("sizes could not be read (\"1536.5\", line"),
            "{name}: {said}"
        );
        assert!(said.contains("1 of "), "{name}: {said}");
    }
}

#[test]
fn a_bad_path_fails_at_once_however_long_the_pipe_is_silent() {
    let program = env!("CARGO_BIN_EXE_slotscope");
    let scratch = Scratch::new();
    let bad: [&[&str]; 3] = [
        &["analyze", "--topology", "missing"],
        &["analyze", "--config", "missing"],
        &["plan", "--topology", "missing"],
    ];
    for words in bad {
        let mut command = Command::new(program);
        command.args(words).current_dir(scratch.path("."));
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let silent = child.stdin.take();
        let ended = wait_for(|| match child.try_wait() {
            Ok(None) => Err(format!("{words:?} waits for the pipe")),
            ended => ended.map_err(|error| error.to_string()),
        });
        drop(silent);
        assert_eq!(ended.and_then(|status| status.code()), Some(2), "{words:?}");
    }
}

#[test]
fn at_a_terminal_a_command_without_an_input_does_not_wait_for_keys() {
    let scratch = Scratch::new();
    let program = env!("CARGO_BIN_EXE_slotscope");
    for command in ["analyze", "plan", "whatif", "fanout", "keyslot"] {
        // script(1) provides a terminal.
        let mut script = Command::new("script");
        script.args(["-qec", &format!("{program} {command}"), "/dev/null"]);
        script.current_dir(scratch.path(".")).stdin(Stdio::piped());
        let made = script.stdout(Stdio::piped()).spawn().unwrap();
        let output = made.wait_with_output().unwrap();
        let said = stdout(&output);
        assert_contains(said, &["no input: none is named", " slotscope "]);
        assert_eq!(code(&output), 2, "{command}");
    }
}

#[test]
fn text_that_is_counted_as_keys_is_doubted_below_the_verdict() {
    let scratch = Scratch::new();
    let line = |i| {
        format!(
            "2026-11-22T10:{:02}:{:02} INFO request {i} took 12 ms\n",
            i / 60,
            i % 60
        )
    };
    scratch.file("app.log", (0..300).map(line).collect::<String>());
    let output = scratch.run(&["analyze", "app.log", "--no-files"]);
    let second = stdout(&output);
    let second = second.split("\n\n").next().unwrap();
    assert_contains(second, &["lines start with a time, as those of a log"]);
    assert_eq!(code(&output), 0);
    let named = scratch.run(&["analyze", "app.log", "--format", "lines", "--no-files"]);
    assert!(!stdout(&named).contains("the look of text"));
    let samples = [
        "uniform",
        "commerce",
        "hot-tag",
        "tagged-zipf",
        "nasty",
        "crlf",
        "seed-examples",
    ];
    for sample in samples {
        let path = testkit::run::root().join(format!("samples/{sample}.keys"));
        let output = scratch.run(&["analyze", path.to_str().unwrap(), "--no-files"]);
        assert!(!stdout(&output).contains("the look of text"), "{sample}");
    }
}

#[test]
fn the_place_where_an_input_is_cut_off_is_next_to_the_verdict() {
    let scratch = Scratch::new();
    let keys: String = (0..50_000).map(|i| format!("user:{i}\n")).collect();
    let whole = gzip(keys.as_bytes());
    scratch.file("cut.gz", &whole[..whole.len() / 2]);
    let output = scratch.run(&["analyze", "cut.gz", "--out", "out"]);
    assert_eq!(code(&output), 2);
    let text = stdout(&output);
    let (verdict, rest) = text
        .split_once("\n  incomplete: cut.gz: byte ")
        .expect(text);
    assert!(
        verdict.starts_with("SUSPICIOUS") && !verdict.contains("\n\n"),
        "{text}"
    );
    assert!(rest.contains("it is cut off\n\n"), "{text}");
    let page = scratch.read("out/report.html");
    assert!(page.contains("</h1><p class=\"stop\"><bdi>cut.gz: not read beyond byte "));
}

#[test]
fn a_table_of_causes_has_no_row_for_nothing() {
    let scratch = Scratch::new();
    let keys: String = (0..3000).map(|i| format!("{{{}}}:{i}\n", i % 4)).collect();
    scratch.file("tagged.keys", keys);
    let output = scratch.run(&["analyze", "tagged.keys", "--no-files", "--full"]);
    let text = stdout(&output);
    text.says("\nWhy ").lacks("other tags and keys");
}

#[test]
fn every_command_says_next_to_its_first_sentence_where_an_input_is_cut_off() {
    let scratch = Scratch::new();
    let keys: String = (0..50_000).map(|i| format!("user:{i}\n")).collect();
    let line = |i| format!("1795216373.{i:06} [0 10.0.0.7:5] \"GET\" \"user:{i}\"\n");
    let monitor: String = (0..50_000).map(line).collect();
    for (name, text) in [("keys.gz", keys), ("monitor.gz", monitor)] {
        let whole = gzip(text.as_bytes());
        scratch.file(name, &whole[..whole.len() / 2]);
    }
    for words in [
        &["whatif", "keys.gz", "--to-nodes", "6"][..],
        &["fanout", "monitor.gz"],
        &["timeline", "monitor.gz"],
    ] {
        let output = scratch.run(words);
        let text = stdout(&output);
        let second = text.split("\n\n").nth(1).unwrap_or_default();
        let place = format!("incomplete: {}: byte ", words[1]);
        assert!(second.starts_with(&place), "{words:?}: {text}");
        assert_eq!(
            (text.matches("incomplete: ").count(), code(&output)),
            (1, 2)
        );
    }
}

#[test]
fn an_input_that_ends_at_once_is_not_said_to_hold_nothing() {
    let scratch = Scratch::new();
    scratch.file("odd.aof", "neither a command nor a time\n");
    let output = scratch.run(&["analyze", "odd.aof", "--format", "aof", "--no-files"]);
    let said = stdout(&output);
    assert!(said.contains("odd.aof: byte 0: neither"), "{said}");
    assert!(!said.contains("holds nothing"), "{said}");
    assert_eq!(code(&output), 2);
}
