//! A dump that changes while it is read: the count is that of one state of the file, or the run reports the change.

use std::fs;
use std::io::Write;
use std::thread;
use std::time::Duration;

use testkit::env;
use testkit::prelude::*;
use testkit::rng::Rng;

const KEYS: usize = 400_000;

#[test]
fn a_file_that_changes_while_it_is_read_gives_no_wrong_count() {
    let dump: String = (0..KEYS)
        .map(|i| format!("user:{{{i}}}:profile\n"))
        .collect();
    let scratch = Scratch::new();
    let mut rng = Rng::new(74);
    let mut noticed = 0;
    let cases = env::cases("SLOTSCOPE_FAULTS", 20);
    for case in 0..10 * cases {
        // On a busy machine a program may start after the change.
        if case >= cases && noticed > 0 {
            break;
        }
        let path = scratch.file("dump.keys", &dump);
        let child = scratch
            .command(&["analyze", "dump.keys", "--json", "--only", "slots"])
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        thread::sleep(Duration::from_millis(rng.below(120) as u64));
        let open = || fs::OpenOptions::new().append(true).open(&path).unwrap();
        let change = rng.below(5);
        match change {
            0 => open().write_all(b"one:more\n").unwrap(),
            1 => open().set_len(dump.len() as u64 / 2).unwrap(),
            2 => open().set_len(0).unwrap(),
            3 => fs::remove_file(&path).unwrap(),
            _ => {
                let other = scratch.file("other.keys", "another\n");
                fs::rename(other, &path).unwrap();
            }
        }
        let run = child.wait_with_output().unwrap();
        match run.status.code() {
            Some(0) => {
                let report: Value = serde_json::from_slice(&run.stdout).unwrap();
                let keys = report["input"]["keys"].whole() as usize;
                // The old state or the new one.
                let states = [KEYS, [KEYS + 1, KEYS / 2, 0, KEYS, 1][change]];
                let near = |state: &usize| {
                    keys == *state || change == 1 && keys.abs_diff(*state) < KEYS / 20
                };
                assert!(
                    states.iter().any(near),
                    "change {change}: {keys} keys, exit code 0"
                );
            }
            code => {
                assert_eq!(code, Some(2), "{}", String::from_utf8_lossy(&run.stderr));
                noticed += 1;
            }
        }
    }
    assert!(noticed > 0);
}
