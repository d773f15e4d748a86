//! S3, emulated by moto.

use std::process::Command;

use super::{Started, dumps, installed, report_of, run_with};
use testkit::prelude::*;

/// A server with a bucket, and the options to reach it.
fn moto() -> (Started, [(&'static str, String); 3]) {
    let mut command = Command::new(installed("venv/bin/moto_server"));
    let server = Started::new(command.args(["-H", "127.0.0.1", "-p", "0"]), "Running on");
    server.send("PUT", "/bucket", &[], b"");
    let variables = [
        ("AWS_ACCESS_KEY_ID", "test".into()),
        ("AWS_SECRET_ACCESS_KEY", "hunter2".into()),
        ("AWS_ENDPOINT_URL", format!("http://{}", server.address)),
    ];
    (server, variables)
}

#[test]
fn a_report_from_s3_is_that_of_the_same_files() {
    let (server, variables) = moto();
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let (scratch, names) = dumps();
    for name in names {
        let content = std::fs::read(scratch.path("dumps").join(name)).unwrap();
        let target = format!("/bucket/in/{}", name.replace(' ', "%20"));
        server.send("PUT", &target, &[], &content);
    }
    for other in ["in/.hidden", "in/deeper/x.keys", "other.keys"] {
        server.send("PUT", &format!("/bucket/{other}"), &[], b"other\n");
    }
    let (here, _) = report_of(&[scratch.path("dumps").to_str().unwrap()], &[]);
    let expected = names.map(|name| format!("s3://bucket/in/{name}"));
    for address in ["s3://bucket/in/", "s3://bucket/in"] {
        let (mut there, found) = report_of(&[address], &variables);
        assert_eq!(found, expected, "{address}");
        // A note says that a folder is not searched.
        let notes = there["input"]["notes"].as_array_mut().unwrap();
        notes.retain(|note| !note.text().contains("passed over"));
        assert!(there == here, "{address}");
    }
    let (there, found) = report_of(&["s3://bucket/i*/[a-d]*.*"], &variables);
    assert_eq!(found, expected);
    assert!(there == here);

    // Counted in parts, by processes that look up the objects again.
    let files = ["1.tally", "2.tally", "all.tally"].map(|name| scratch.path(name));
    let [one, two, all] = files.each_ref().map(|file| file.to_str().unwrap());
    for (part, file) in [("1/2", one), ("2/2", two)] {
        let args = ["tally", "s3://bucket/in/", "--part", part, "--out", file];
        succeeded(run_with(&args, &variables));
    }
    succeeded(run_with(&["merge", one, two, "--out", all], &[]));
    let (merged, _) = report_of(&[all], &[]);
    assert_eq!(merged["slots"], here["slots"]);

    for (address, parts) in [
        (
            "s3://bucket/in/no.keys",
            ["no such object", "404 NoSuchKey"],
        ),
        ("s3://bucket/no/", ["names no object", "spelling"]),
        ("s3://bucket/in/*.nothing", ["names no object", "spelling"]),
        ("s3://elsewhere/in/", ["no such bucket", "404 NoSuchBucket"]),
        (
            "s3://elsewhere/in/a.keys",
            ["no such bucket", "404 NoSuchBucket"],
        ),
        ("s3://bucket/a//b", ["an empty part", "spelling"]),
    ] {
        let output = run_with(&["analyze", address], &variables);
        assert_fails(&output, &[address, parts[0], parts[1]]);
    }
}

#[test]
fn every_command_reads_objects_as_files() {
    let (server, variables) = moto();
    let variables = variables
        .each_ref()
        .map(|(name, value)| (*name, value.as_str()));
    let (scratch, names) = dumps();
    let second = |at: u32| {
        format!(
            "{}.5 [0 127.0.0.1:5000] \"GET\" \"{{a}}{at}\"\n",
            1_700_000_000 + at / 9
        )
    };
    scratch.file(
        "dumps/node.monitor",
        (0..2000).map(second).collect::<String>(),
    );
    for name in names.into_iter().chain(["node.monitor"]) {
        let content = std::fs::read(scratch.path("dumps").join(name)).unwrap();
        let target = format!("/bucket/in/{}", name.replace(' ', "%20"));
        server.send("PUT", &target, &[], &content);
    }
    let here = format!("{}/", scratch.path("dumps").display());
    let rows: [(&str, &[&str], &[&str]); 7] = [
        (
            "plan",
            &["--nodes", "3", "--by", "keys", "--force", "--json"],
            &["a.keys", "b.csv.gz"],
        ),
        (
            "whatif",
            &["--nodes", "3", "--to-nodes", "4", "--json"],
            &["a.keys", "b.csv.gz"],
        ),
        ("lint", &["--json"], &["a.keys", "b.csv.gz"]),
        ("advise", &["--nodes", "3", "--json"], &["a.keys"]),
        ("fanout", &["--json"], &["node.monitor"]),
        ("timeline", &["--json"], &["node.monitor"]),
        ("dump", &[], &["c.rdb"]),
    ];
    for (command, flags, names) in rows {
        let at = |place: &str| {
            let inputs: Vec<String> = names.iter().map(|name| format!("{place}{name}")).collect();
            let inputs = inputs.iter().map(String::as_str);
            let args: Vec<&str> = [command]
                .into_iter()
                .chain(inputs)
                .chain(flags.iter().copied())
                .collect();
            let run = run_with(&args, &variables);
            assert!(!run.stdout.is_empty(), "{args:?}: {run:?}");
            let text = String::from_utf8(run.stdout).unwrap().replace(place, "");
            match serde_json::from_str::<serde_json::Value>(&text) {
                Ok(mut answer) => {
                    // An object has an entity tag.
                    answer["input"].take();
                    answer.to_string()
                }
                Err(_) => text,
            }
        };
        assert_eq!(at("s3://bucket/in/"), at(&here), "{command}");
    }
}
