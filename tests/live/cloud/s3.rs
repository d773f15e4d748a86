//! S3, emulated by moto.

use std::process::Command;

use super::{Started, contents, dumps, installed, report_here, report_of, run_with};
use testkit::prelude::*;

/// A server with a bucket, the options to reach it, and dumps that are here and there.
struct Moto {
    server: Started,
    endpoint: String,
    scratch: Scratch,
    names: [&'static str; 4],
}

impl Moto {
    fn start() -> Moto {
        let mut command = Command::new(installed("venv/bin/moto_server"));
        let server = Started::new(command.args(["-H", "127.0.0.1", "-p", "0"]), "Running on");
        server.send("PUT", "/bucket", &[], b"");
        let (scratch, names) = dumps();
        for (name, content) in contents(&scratch, &names) {
            server.send("PUT", &format!("/bucket/in/{name}"), &[], &content);
        }
        Moto {
            endpoint: format!("http://{}", server.address),
            server,
            scratch,
            names,
        }
    }

    fn variables(&self) -> [(&str, &str); 3] {
        [
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "hunter2"),
            ("AWS_ENDPOINT_URL", &self.endpoint),
        ]
    }
}
#[test]
fn a_report_from_s3_is_that_of_the_same_files() {
    let moto = Moto::start();
    let (scratch, variables) = (&moto.scratch, moto.variables());
    for other in ["in/.hidden", "in/deeper/x.keys", "other.keys"] {
        let target = format!("/bucket/{other}");
        moto.server.send("PUT", &target, &[], b"other\n");
    }
    let here = report_here(scratch);
    let expected = moto.names.map(|name| format!("s3://bucket/in/{name}"));
    for address in [
        "s3://bucket/in/",
        "s3://bucket/in",
        "s3://bucket/i*/[a-d]*.*",
    ] {
        let (mut there, found) = report_of(address, &variables);
        assert_eq!(found, expected, "{address}");
        // A note says that a folder is not searched.
        let notes = there["input"]["notes"].as_array_mut().unwrap();
        notes.retain(|note| !note.text().contains("passed over"));
        assert!(there == here, "{address}");
    }

    // Counted in parts, by processes that look up the objects again.
    let [one, two, all] = ["1.tally", "2.tally", "all.tally"].map(|name| scratch.path(name));
    for (part, file) in [("1/2", &one), ("2/2", &two)] {
        let line = format!(
            "tally s3://bucket/in/ --part {part} --out {}",
            file.display()
        );
        succeeded(run_with(&line, &variables));
    }
    scratch.text("merge 1.tally 2.tally --out all.tally");
    let (merged, _) = report_of(&all.display().to_string(), &[]);
    assert_eq!(merged["slots"], here["slots"]);

    for [address, part, other] in rows(
        "s3://bucket/in/no.keys | no such object | 404 NoSuchKey
        s3://bucket/no/ | names no object | spelling
        s3://bucket/in/*.nothing | names no object | spelling
        s3://elsewhere/in/ | no such bucket | 404 NoSuchBucket
        s3://elsewhere/in/a.keys | no such bucket | 404 NoSuchBucket
        s3://bucket/a//b | an empty part | spelling",
    ) {
        let output = run_with(&format!("analyze {address}"), &variables);
        output.refused(&format!("{address} | {part} | {other}"));
    }
}

#[test]
fn every_command_reads_objects_as_files() {
    let moto = Moto::start();
    let (scratch, variables) = (&moto.scratch, moto.variables());
    let line = |at: u32| {
        let second = 1_700_000_000 + at / 9;
        format!("{second}.5 [0 127.0.0.1:5000] \"GET\" \"{{a}}{at}\"\n")
    };
    let capture = (0..2000).map(line).collect::<String>();
    scratch.file("dumps/node.monitor", &capture);
    let target = "/bucket/in/node.monitor";
    moto.server.send("PUT", target, &[], capture.as_bytes());
    let here = format!("{}/", scratch.path("dumps").display());
    for line in [
        "plan IN/a.keys IN/b.csv.gz --nodes 3 --by keys --force --json",
        "whatif IN/a.keys IN/b.csv.gz --nodes 3 --to-nodes 4 --json",
        "lint IN/a.keys IN/b.csv.gz --json",
        "advise IN/a.keys --nodes 3 --json",
        "fanout IN/node.monitor --json",
        "timeline IN/node.monitor --json",
        "dump IN/c.rdb",
    ] {
        let at = |place: &str| {
            let run = run_with(&line.replace("IN/", place), &variables);
            assert!(!run.stdout.is_empty(), "{line}: {run:?}");
            let text = stdout(&run).replace(place, "");
            let Ok(mut answer) = serde_json::from_str::<Value>(&text) else {
                return text;
            };
            // An object has an entity tag.
            answer["input"].take();
            answer.to_string()
        };
        assert_eq!(at("s3://bucket/in/"), at(&here), "{line}");
    }
}
