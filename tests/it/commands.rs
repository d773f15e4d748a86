//! Small commands: keyslot, completions, man, and help.

use testkit::prelude::*;

#[test]
fn keyslot_answers_as_the_server_does() {
    let scratch = Scratch::new();
    let node = |id: u8, slots| format!("{id} 10.0.0.{id}:1@2 master - 0 0 1 connected {slots}\n");
    scratch.file("two.nodes", node(1, "0-12181") + &node(2, "12182"));
    for [line, answer] in rows(
        r"keyslot 123456789 {user}::10086 '' a\tb | 12739\t123456789\n5474\t{user}::10086\n0\t\n6695\ta\\tb\n
         keyslot --nodes 3 foo | 12182\tfoo\teven-3\n
         keyslot --topology two.nodes foo name 123456789 | 12182\tfoo\t10.0.0.2:1\n5798\tname\t10.0.0.1:1\n12739\t123456789\t\n",
    ) {
        assert_eq!(scratch.text(line), answer);
    }
    let output = scratch.piped("keyslot", b"foo\n{user1000}.following\n");
    assert_eq!(stdout(&output), "12182\tfoo\n3443\t{user1000}.following\n");
    let foo = scratch.report("keyslot --json foo");
    assert_eq!(foo, json!({"key": "foo", "slot": 12182, "tag": null}));
    assert_eq!(scratch.report("keyslot --json {a\\}")["tag"], "a\\\\");
    assert_eq!(
        scratch.report("keyslot --json --nodes 2 foo")["node"],
        "even-2"
    );
}

#[test]
fn keyslot_keeps_the_order_of_a_long_dump() {
    let keys: String = (0..300_000).map(|i| format!("key:{i}\n")).collect();
    let output = Scratch::new().piped("keyslot", keys.as_bytes());
    let shown = stdout(&output)
        .lines()
        .map(|line| line.split_once('\t').unwrap().1);
    assert!(shown.eq(keys.lines()), "order or keys differ");
}

#[test]
fn completions_manual_pages_and_help_know_every_command_and_format() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = scratch.text(&["completions", shell]);
        text.says("keyslot").says("topology");
    }
    scratch.text("man").begins(".ie").says(".TH slotscope");
    scratch.text("man analyze").says("\\-\\-topology");
    scratch
        .run("man 'no\nthing\u{1b}'")
        .refused("no\\nthing\\x1b | keyslot, ");
    for line in ["--help", "analyze --help", "--version"] {
        let output = scratch.run(line);
        assert_eq!((code(&output), stderr(&output)), (0, ""));
    }
    for command in ["analyze", "keyslot"] {
        let text = scratch.text(&[command, "--format", "help"]);
        for format in slotscope::detect::FORMATS.iter() {
            text.says(format.name()).says(format.example());
        }
    }
    assert_eq!(code(&scratch.run("analyze --nonsense")), 2);
}
