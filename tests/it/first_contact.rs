//! A newcomer's mistakes: no input, a file that is not a dump, arguments in the wrong order, a truncated dump.

use std::process::{Command, Stdio};

use testkit::dumps::gzip;
use testkit::prelude::*;
use testkit::redis::wait_for;

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_command_without_an_input_is_answered_with_its_examples() {
    let scratch = Scratch::with("a.keys", b"a\n");
    for [line, example] in rows(
        "analyze --no-files | slotscope analyze dump-*.rdb
         plan --nodes 3 | slotscope plan dumps --topology
         whatif --to-nodes 6 | slotscope whatif dumps --nodes 6
         timeline | slotscope timeline *.monitor
         lint | slotscope lint
         fanout | slotscope fanout node.monitor
         tally -o a.tally | slotscope tally
         keyslot | slotscope keyslot 'user",
    ) {
        let empty = scratch.piped(line, b"");
        stderr(&empty).says("no input: none is named").says(example);
        assert_eq!(code(&empty), 2, "{line}");
        // Piped keys are read from the first byte, and a named input suffices.
        stderr(&scratch.piped(line, b"a\n")).lacks("no input");
        stderr(&scratch.run(&format!("{line} a.keys"))).lacks("no input");
    }
    // Without a terminal and a pipe, as in cron jobs, before anything else that is wrong.
    for line in ["plan", "whatif", "advise"] {
        let empty = scratch.run(line);
        stderr(&empty).says("no input: none is named");
        assert_eq!((code(&empty), stdout(&empty)), (2, ""), "{line}");
    }
    scratch.refuses("plan a.keys | no nodes | slotscope plan dumps --topology cluster.nodes");
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
        let said = on_one_line(stdout(&said));
        said.says("sizes could not be read (\"1536.5\", line")
            .says("1 of ");
    }
}

#[test]
fn a_bad_path_fails_at_once_however_long_the_pipe_is_silent() {
    let scratch = Scratch::new();
    let bad = ["analyze --topology", "analyze --config", "plan --topology"];
    for words in bad {
        let mut command = scratch.command(&format!("{words} missing"));
        command.stdin(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let silent = child.stdin.take();
        let ended = wait_for(|| match child.try_wait() {
            Ok(None) => Err(format!("{words} waits for the pipe")),
            ended => ended.map_err(|error| error.to_string()),
        });
        drop(silent);
        assert_eq!(ended.and_then(|status| status.code()), Some(2), "{words}");
    }
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
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
        let time = format!("2026-11-22T10:{:02}:{:02}", i / 60, i % 60);
        format!("{time} INFO request {i} took 12 ms\n")
    };
    scratch.file("app.log", (0..300).map(line).collect::<String>());
    let text = scratch.text("analyze app.log --no-files");
    let (first, _) = text.split_once("\n\n").unwrap();
    first.says("lines start with a time, as those of a log");
    // The texts of the samples, in reports/samples, lack this as well.
    scratch
        .text("analyze app.log --format lines --no-files")
        .lacks("the look of text");
}

#[test]
fn the_place_where_an_input_is_cut_off_is_next_to_the_verdict() {
    let scratch = Scratch::new();
    let keys: String = (0..50_000).map(|i| format!("user:{i}\n")).collect();
    let whole = gzip(keys.as_bytes());
    scratch.file("cut.gz", &whole[..whole.len() / 2]);
    let output = scratch.run("analyze cut.gz --out out");
    assert_eq!(code(&output), 2);
    let text = stdout(&output);
    let stop = "\n  incomplete: cut.gz: byte ";
    let (verdict, rest) = text.split_once(stop).expect(text);
    verdict.begins("SUSPICIOUS").lacks("\n\n");
    rest.says("it is cut off\n\n");
    let page = scratch.read("out/report.html");
    page.says("</h1><p class=\"stop\"><bdi>cut.gz: not read beyond byte ");
}

#[test]
fn a_table_of_causes_has_no_row_for_nothing() {
    let scratch = Scratch::new();
    let keys: String = (0..3000).map(|i| format!("{{{}}}:{i}\n", i % 4)).collect();
    scratch.file("tagged.keys", keys);
    let text = scratch.text("analyze tagged.keys --no-files --full");
    text.says("\nWhy ").lacks("other tags and keys");
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn every_command_says_next_to_its_first_sentence_where_an_input_is_cut_off() {
    let scratch = Scratch::new();
    let keys: String = (0..50_000).map(|i| format!("user:{i}\n")).collect();
    let line = |i| format!("1795216373.{i:06} [0 10.0.0.7:5] \"GET\" \"user:{i}\"\n");
    let monitor: String = (0..50_000).map(line).collect();
    for (name, text) in [("keys.gz", keys), ("monitor.gz", monitor)] {
        let whole = gzip(text.as_bytes());
        scratch.file(name, &whole[..whole.len() / 2]);
    }
    for (command, file) in [
        ("whatif --to-nodes 6", "keys.gz"),
        ("fanout", "monitor.gz"),
        ("timeline", "monitor.gz"),
    ] {
        let output = scratch.run(&format!("{command} {file}"));
        let text = stdout(&output);
        let second = text.split("\n\n").nth(1).unwrap_or_default();
        second.begins(&format!("incomplete: {file}: byte "));
        assert_eq!(
            (text.matches("incomplete: ").count(), code(&output)),
            (1, 2)
        );
    }
}

#[test]
fn an_input_that_ends_at_once_is_not_said_to_hold_nothing() {
    let scratch = Scratch::with("odd.aof", "neither a command nor a time\n");
    let output = scratch.run("analyze odd.aof --format aof --no-files");
    stdout(&output)
        .says("odd.aof: byte 0: neither")
        .lacks("is empty");
    assert_eq!(code(&output), 2);
}

#[cfg(unix)]
#[test]
fn an_argument_that_is_not_utf8_has_a_way_out() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = Scratch::with("a.keys", b"a\xffb\nab\n");
    let mut command = scratch.command("analyze a.keys --no-files --match");
    command.arg(std::ffi::OsStr::from_bytes(b"a\xff*"));
    let output = command.output().unwrap();
    assert_eq!(code(&output), 2);
    let flag = "--match-regex '^a(?-u:\\xff)'";
    stderr(&output).says(flag);
    let output = scratch.shell(format!("slotscope analyze a.keys --json {flag}"));
    assert_eq!(report(&output)["input"]["keys"], 1);
}

/// Without the words of parsers.
#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn a_wrong_value_is_answered_with_what_is_wanted() {
    let scratch = Scratch::with("keys", "user:1\nuser:2\n");
    std::fs::write(scratch.path("cut.rdb"), "REDIS0010").unwrap();
    for (line, said) in [
        ("analyze keys --nodes abc", "it must be a whole number"),
        (
            "analyze keys --growth x --maxmemory 1gb",
            "not a number of percent; write 8 or 8%",
        ),
        (
            "find-tag --slot 20000",
            "20000 is not a slot; slots are 0 to 16383",
        ),
        ("find-tag --slot 99999999999999999999", "it is too large"),
        (
            "diff keys keys",
            "no report.json of analyze; of a dump, make one first",
        ),
        (
            "analyze cut.rdb",
            "the first bytes of an RDB file, without any key",
        ),
    ] {
        let output = scratch.run(line);
        assert_eq!(code(&output), 2, "{line}");
        stderr(&output).says(said);
    }
}
