//! `slotscope top` in a real terminal (tmux), against real clusters.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use slotscope::slot::slot;
use testkit::cluster::Cluster;
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
    fn top(cluster: &Cluster) -> Tmux {
        let (program, address) = (program().display(), cluster.address(0));
        let after = "echo ended $?; stty -a | grep -o -e '-icanon'; echo end; exec cat";
        Tmux::start(
            80,
            24,
            &format!("{program} top {address} --interval 300ms; {after}"),
        )
    }
    /// Sends a signal to the program.
    fn signal(&self, signal: &str) {
        let shell = self.run(&["list-panes", "-F", "#{pane_pid}"]);
        let children = format!("/proc/{0}/task/{0}/children", shell.trim());
        let child = std::fs::read_to_string(children).unwrap();
        testkit::signals::signal(child.trim().parse().unwrap(), signal);
    }

    fn run(&self, words: &[&str]) -> String {
        let mut command = Command::new("tmux");
        clean_environment(&mut command);
        command.args(["-u", "-f", "/dev/null", "-S"]);
        command.arg(self.folder.path("socket")).args(words);
        // Isolated from the terminal in which the tests run.
        command.env_remove("TMUX").current_dir(self.folder.path(""));
        let output = command.output().expect("tmux; tests/run installs it");
        String::from_utf8(succeeded(output)).unwrap()
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
            let is_shown = is_expected(&text).then(|| text.clone());
            is_shown.ok_or_else(|| format!("{what}: {text}"))
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

/// The first row of the slot table.
fn first_slot(shown: &str) -> Option<&str> {
    let mut lines = shown.lines().skip_while(|line| !line.starts_with("Slots"));
    lines.nth(2)?.split_whitespace().next()
}

#[test]
fn tmux_shows_the_hot_slot_its_keys_and_gives_the_terminal_back() {
    let cluster = Cluster::counting(Kind::Valkey91, 300);
    let tmux = Tmux::top(&cluster);
    tmux.has("3 shards");
    let mut client = cluster.owner_of(b"user:7");
    let hot = slot(b"user:7").to_string();
    let burst = vec![vec![&b"GET"[..], b"user:7"]; 2000];
    let shown = tmux.shows("the hot slot first", |shown| {
        client.pipeline(&burst);
        first_slot(shown) == Some(&hot)
    });
    for at in 0..3 {
        shown.says(&cluster.address(at));
    }
    assert!(shown.lines().count() <= 24 && shown.lines().all(|line| line.chars().count() <= 80));
    // Paused, so that the row stays.
    tmux.press(&["p"]);
    tmux.has("PAUSED");
    tmux.press(&["Enter"]);
    let keys = tmux.has("user:7 ");
    keys.says("string").says(&format!("Slot {hot} of"));
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

    for (signal, code) in [("TERM", 143), ("INT", 130)] {
        let tmux = Tmux::top(&cluster);
        tmux.has("q quit");
        tmux.signal(signal);
        let left = tmux.has("end\n");
        left.says(&format!("ended {code}")).lacks("-icanon");
    }
}

#[test]
fn tmux_shows_keys_where_servers_do_not_count_by_slot() {
    let cluster = Cluster::counting(Kind::Installed, 300);
    let tmux = Tmux::top(&cluster);
    tmux.has("--load 10s --monitor");
    let shown = tmux.has("Slots: ");
    let is_shown = ["29", "300"].map(|slots| shown.contains(&format!("Slots: {slots}")));
    assert!(is_shown.contains(&true), "{shown}");
}

#[test]
fn tmux_shows_a_node_that_dies_and_the_replica_that_takes_over() {
    let mut cluster = Cluster::with_replicas(Kind::Valkey91, &[]);
    cluster.wait_for_replicas();
    let tmux = Tmux::top(&cluster);
    let [dead, heir] = [cluster.address(2), cluster.address(5)];
    tmux.has(&dead);
    cluster.servers[2].stop();
    tmux.shows("no answer", |shown| {
        shown.contains(&dead) && shown.contains("no answer")
    });
    let takeover = ["CLUSTER", "FAILOVER", "TAKEOVER"];
    cluster.servers[5].connect().ask(&takeover);
    tmux.shows("the replica", |shown| {
        let mut lines = shown.lines();
        lines.any(|line| line.starts_with(&heir) && line.trim_end().ends_with("ok"))
            && !shown.contains("no answer")
    });
}
/// The output of `line` in its own terminal; `q` is typed once it waits for keys.
fn in_a_terminal(line: &str) -> String {
    let scratch = Scratch::new();
    let mut terminal = scratch.on_terminal(line);
    terminal.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut terminal = terminal.spawn().unwrap();
    let (mut keys, mut screen) = (terminal.stdin.take(), terminal.stdout.take().unwrap());
    let (mut shown, mut part) = (Vec::new(), [0; 8192]);
    while let len @ 1.. = screen.read(&mut part).unwrap() {
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
    let cluster = Cluster::counting(Kind::Valkey91, 300);
    let top = format!("slotscope top {}", cluster.address(0));
    let shown = in_a_terminal(&format!("stty rows 65535 cols 65535; {top}; echo ended $?"));
    let end = shown.rfind("\x1b[?1049l").expect("the screen is left");
    shown[end..].says("ended 0");
}

#[test]
fn a_screen_without_a_terminal_or_with_one_that_cannot_place_text_is_refused_with_what_to_type() {
    let shown = in_a_terminal("TERM=dumb slotscope top 127.0.0.1:1; echo ended $?");
    shown.says("TERM=dumb: this terminal cannot place text");
    shown.says("slotscope analyze 127.0.0.1:1 --load 10s");
    shown.says("ended 2").lacks("\x1b[?1049h");
    Scratch::new().refuses(
        "top redis://u:secret@127.0.0.1:1 | standard output: is not a terminal | slotscope analyze redis://127.0.0.1:1 --load 10s
         top 127.0.0.1:1 --interval 1ms | --interval | at least 200ms",
    );
}
