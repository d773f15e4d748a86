//! Scans of scripted servers.

use slotscope_report::output::WholeDirectory;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::run::replaces;
use crate::scripted::{access, page, start, text};

/// Reads a scripted server; returns the outcome, and the number of rows.
fn read(
    level: Level,
    mut answer: impl FnMut(&str) -> Option<Vec<u8>> + Send + 'static,
) -> Result<(Outcome, u64)> {
    let info = text("redis_version:7.0.0\r\nrun_id:a\r\ndb0:keys=4,expires=0\r\n");
    let address = start(move |command| {
        let usual = match command {
            "INFO" => info.clone(),
            "DBSIZE" => b":4\r\n".to_vec(),
            _ => b"+OK\r\n".to_vec(),
        };
        answer(command).or(Some(usual))
    });
    let (access, outage) = (access(), AtomicBool::new(true));
    let plan = Plan {
        access: &access,
        outage: &outage,
        level,
        count: 10,
        max_load: 100.0,
        remembered: 100,
        is_cluster: false,
    };
    let task = Task {
        address,
        role: Role::Primary,
        primary: None,
        slots: SlotSet::all(),
        owned: SlotSet::all(),
    };
    let folder = tempfile::tempdir().unwrap();
    let directory = WholeDirectory::create(&folder.path().join("out"), &replaces(false))?;
    let mut file = NodeFile::new(&directory, "h-1.csv.zst".into());
    let outcome = keys(&plan, &task, &mut file, &|_| {})?;
    Ok((outcome, file.keys()))
}

#[test]
fn a_key_that_comes_again_is_written_once() {
    let answer = |command: &str| match command {
        "SCAN 0 COUNT 10" => Some(page("7", &["a", "b", "a"])),
        "SCAN 7 COUNT 10" => Some(page("0", &["b", "c"])),
        _ => None,
    };
    let (outcome, rows) = read(Level::Keys, answer).unwrap();
    assert_eq!((outcome.repeats, rows), (2, 3));
    assert_eq!(outcome.dbsize.after, Some(4));
}

#[test]
fn keys_that_vanish_move_or_change_while_they_are_read_are_not_taken_for_those_that_stay() {
    let mut types = 0;
    let answer = move |command: &str| {
        let reply: &[u8] = match command {
            "SCAN 0 COUNT 10" => {
                return Some(page("0", &["gone", "moved", "changed", "there"]));
            }
            "TYPE gone" => b"+none\r\n",
            "TYPE moved" | "PTTL moved" => b"-MOVED 3 h:1\r\n",
            "TYPE changed" => {
                types += 1;
                if types == 1 {
                    b"+list\r\n"
                } else {
                    b"+string\r\n"
                }
            }
            "LLEN changed" => b"-WRONGTYPE Operation against a key\r\n",
            "TYPE there" => b"+hash\r\n",
            "PTTL gone" => b":-2\r\n",
            other if other.starts_with("PTTL") => b":-1\r\n",
            other if other.starts_with("OBJECT ENCODING") => b"+listpack\r\n",
            other if other.starts_with("OBJECT") => b":5\r\n",
            other if other.starts_with("MEMORY") => b":100\r\n",
            "HLEN there" => b":2\r\n",
            _ => return None,
        };
        Some(reply.to_vec())
    };
    let (outcome, rows) = read(Level::Sizes, answer).unwrap();
    assert_eq!((outcome.vanished, rows), (1, 2));
    assert_eq!(
        outcome.disturbed.iter().collect::<Vec<_>>(),
        [slot(b"moved")]
    );
}

#[test]
fn a_server_that_counts_more_keys_than_servers_have_is_given_up() {
    let mut page_number = 0;
    let answer = move |command: &str| {
        page_number += 1;
        let key = page_number.to_string();
        match command {
            "DBSIZE" => Some(format!(":{}\r\n", i64::MAX).into_bytes()),
            _ => command.starts_with("SCAN").then(|| page(&key, &[&key])),
        }
    };
    let message = read(Level::Keys, answer).unwrap_err().to_string();
    assert!(message.contains("DBSIZE counts more keys"), "{message}");
}
