//! `slotscope top` in a real terminal (tmux), against real clusters.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use slotscope::slot::slot;
use testkit::cluster::{Cluster, even};
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::wait_for;

/// A terminal that runs one program.
struct Tmux {
    folder: Scratch,
}

impl Tmux {
    /// Runs a shell command line in a terminal of this size.
    fn start(width: usize, height: usize, line: &str) -> Tmux {
        let tmux = Tmux {
            folder: Scratch::new(),
        };
        let (width, height) = (width.to_string(), height.to_string());
        let session = ["new-session", "-d", "-x", &width, "-y", &height, line];
        let stays = [";", "set-option", "remain-on-exit", "on"];
        tmux.run(&[&session[..], &stays].concat());
        tmux
    }

    /// `slotscope top` on a cluster; afterwards, the state of the terminal is printed.
    fn top(width: usize, height: usize, cluster: &Cluster) -> Tmux {
        let program = env!("CARGO_BIN_EXE_slotscope");
        Tmux::top_of(
            width,
            height,
            &format!("{program} top {}", cluster.address(0)),
        )
    }

    /// A shell command line that ends with the command `top`; afterwards, the state of the terminal is printed.
    fn top_of(width: usize, height: usize, line: &str) -> Tmux {
        let after = "echo ended $?; stty -a | grep -o -e '-icanon'; echo end; exec cat";
        Tmux::start(width, height, &format!("{line} --interval 300ms; {after}"))
    }

    /// Sends a signal to the program.
    fn signal(&self, signal: &str) {
        let shell = self.run(&["list-panes", "-F", "#{pane_pid}"]);
        let children = format!("/proc/{0}/task/{0}/children", shell.trim());
        let child = std::fs::read_to_string(children).unwrap();
        let sent = Command::new("kill").args([signal, child.trim()]).status();
        assert!(sent.unwrap().success());
    }

    fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        clean_environment(&mut command);
        command.args(["-u", "-f", "/dev/null", "-S"]);
        command.arg(self.folder.path("socket")).args(words);
        // Isolated from the terminal in which the tests run.
        command.env_remove("TMUX").current_dir(self.folder.path(""));
        let output = command.output().expect("tmux; tests/run installs it");
        assert!(
            output.status.success(),
            "tmux {words:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn press(&self, keys: &[&str]) {
        self.run(&[&["send-keys"], keys].concat());
    }

    fn resize(&self, width: usize, height: usize) {
        let (width, height) = (width.to_string(), height.to_string());
        self.run(&["resize-window", "-x", &width, "-y", &height]);
    }

    /// The screen, once it is as expected.
    fn shows(&self, what: &str, mut is_expected: impl FnMut(&str) -> bool) -> String {
        wait_for(|| {
            let text = self.run(&["capture-pane", "-p"]);
            if is_expected(&text) {
                Ok(text)
            } else {
                Err(format!("{what}: {text}"))
            }
        })
    }

    fn has(&self, text: &str) -> String {
        self.shows(text, |shown| shown.contains(text))
    }
}

impl Drop for Tmux {
    fn drop(&mut self) {
        let socket = self.folder.path("socket");
        let mut command = Command::new("tmux");
        drop(command.arg("-S").arg(socket).arg("kill-server").output());
    }
}

fn start(kind: Kind) -> Cluster {
    let counts = ["--cluster-slot-stats-enabled", "yes"].map(String::from);
    let cluster = Cluster::made_of(kind, &even(3), |_| match kind {
        Kind::Installed => Vec::new(),
        _ => counts.to_vec(),
    });
    for id in 0..300 {
        let key = format!("user:{id}");
        cluster
            .owner_of(key.as_bytes())
            .call(&["SET", &key, "a value"]);
    }
    cluster
}

/// The first row of the slot table.
fn first_slot(shown: &str) -> Option<&str> {
    let mut lines = shown.lines().skip_while(|line| !line.starts_with("Slots"));
    lines.nth(2)?.split_whitespace().next()
}

#[test]
fn tmux_shows_the_hot_slot_its_keys_and_gives_the_terminal_back() {
    let cluster = start(Kind::Valkey91);
    let tmux = Tmux::top(80, 24, &cluster);
    tmux.has("3 shards");
    let mut client = cluster.owner_of(b"user:7");
    let hot = slot(b"user:7").to_string();
    let burst: Vec<Vec<&[u8]>> = (0..2000).map(|_| vec![&b"GET"[..], b"user:7"]).collect();
    let shown = tmux.shows("the hot slot first", |shown| {
        client.pipeline(&burst);
        first_slot(shown) == Some(&hot)
    });
    for at in 0..3 {
        assert!(shown.contains(&cluster.address(at)), "{shown}");
    }
    assert!(shown.lines().count() <= 24 && shown.lines().all(|line| line.chars().count() <= 80));
    // Paused, so that the row stays.
    tmux.press(&["p"]);
    tmux.has("PAUSED");
    tmux.press(&["Enter"]);
    let keys = tmux.has("user:7 ");
    assert_contains(&keys, &["string", &format!("Slot {hot} of")]);
    tmux.resize(140, 50);
    tmux.shows("wide", |shown| {
        shown.contains("out/s") && shown.lines().count() > 40
    });
    tmux.resize(50, 10);
    tmux.has("top needs 60 columns and 16 lines");
    tmux.resize(80, 24);
    tmux.has("q quit");
    tmux.press(&["q"]);
    let left = tmux.has("end\n");
    left.says("ended 0").lacks("-icanon").lacks("shard");
}

#[test]
fn tmux_shows_keys_where_servers_do_not_count_by_slot() {
    let cluster = start(Kind::Installed);
    let tmux = Tmux::top(80, 24, &cluster);
    tmux.has("CLUSTER SLOT-STATS is not known");
    let shown = tmux.has("Slots: ");
    assert!(
        shown.contains("Slots: 29") || shown.contains("Slots: 300"),
        "{shown}"
    );
}

#[test]
fn tmux_shows_a_node_that_dies_and_the_replica_that_takes_over() {
    let mut cluster = Cluster::with_replicas(Kind::Valkey91, &[]);
    // A replica without data does not take over.
    cluster.wait_for_replicas();
    let tmux = Tmux::top(80, 24, &cluster);
    let [dead, heir] = [cluster.address(2), cluster.address(5)];
    tmux.has(&dead);
    cluster.servers[2].stop();
    tmux.shows("no answer", |shown| {
        shown.contains(&dead) && shown.contains("no answer")
    });
    tmux.shows("the replica", |shown| {
        let mut lines = shown.lines();
        lines.any(|line| line.starts_with(&heir) && line.trim_end().ends_with("ok"))
            && !shown.contains("no answer")
    });
}

#[test]
fn tmux_has_its_terminal_back_after_a_signal() {
    let cluster = start(Kind::Valkey91);
    for (signal, code) in [("-TERM", 143), ("-INT", 130)] {
        let tmux = Tmux::top(80, 24, &cluster);
        tmux.has("q quit");
        tmux.signal(signal);
        let left = tmux.has("end\n");
        left.says(&format!("ended {code}")).lacks("-icanon");
    }
}

/// The output of `line` in its own terminal; `q` is typed once it waits for keys.
fn in_a_terminal(line: &str) -> String {
    let mut terminal = Command::new("script");
    clean_environment(&mut terminal);
    terminal
        .args(["-qec", line, "/dev/null"])
        .env("TERM", "xterm");
    let mut terminal = terminal
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut keys, mut screen) = (terminal.stdin.take(), terminal.stdout.take().unwrap());
    let (mut shown, mut part) = (Vec::new(), [0; 8192]);
    loop {
        let len = screen.read(&mut part).unwrap();
        if len == 0 {
            break;
        }
        shown.extend_from_slice(&part[..len]);
        if shown.windows(6).any(|text| text == b"q quit")
            && let Some(mut keys) = keys.take()
        {
            keys.write_all(b"q").unwrap();
        }
    }
    terminal.wait().unwrap();
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn a_terminal_of_any_size_is_drawn_in_part_and_given_back() {
    let cluster = start(Kind::Valkey91);
    let program = env!("CARGO_BIN_EXE_slotscope");
    let address = cluster.address(0);
    let line = format!("stty rows 65535 cols 65535; {program} top {address}; echo ended $?");
    let shown = in_a_terminal(&line);
    let end = shown.rfind("\x1b[?1049l").expect("the screen is left");
    assert!(shown[end..].contains("ended 0"), "{}", &shown[end..]);
}

#[test]
fn a_terminal_that_cannot_place_text_is_refused_without_escapes() {
    let program = env!("CARGO_BIN_EXE_slotscope");
    let shown = in_a_terminal(&format!(
        "TERM=dumb {program} top 127.0.0.1:1; echo ended $?"
    ));
    assert_contains(&shown, &["TERM=dumb: this terminal cannot place text"]);
    shown.says("slotscope analyze 127.0.0.1:1 --load 10s");
    shown.says("ended 2").lacks("\x1b[?1049h");
}

#[test]
fn a_screen_without_a_terminal_is_refused_with_what_to_type() {
    let output = slotscope(&["top", "redis://u:secret@127.0.0.1:1"])
        .output()
        .unwrap();
    output.refused(
        "standard output: is not a terminal | slotscope analyze redis://127.0.0.1:1 --load 10s",
    );
    let output = slotscope(&["top", "127.0.0.1:1", "--interval", "1ms"])
        .output()
        .unwrap();
    assert_fails(&output, &["--interval", "at least 200ms"]);
}
