//! Server replies in every form that redis-cli prints: read if they are about keys, or rejected with the command to
//! type, and never taken for a list of keys. SLOTSCOPE_RECORD: a folder for the replies of the server in REDIS_SERVER.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Mutex;

use super::refusals;
use testkit::kinds::Kind;
use testkit::prelude::*;
use testkit::redis::Server;

/// Flags of redis-cli for each form.
const FORMS: [(&str, &str); 6] = [
    ("pipe", ""),
    ("resp3", "-3"),
    ("terminal", "--no-raw"),
    ("resp3-terminal", "-3 --no-raw"),
    ("json", "--json"),
    ("csv", "--csv"),
];

/// Commands whose replies are not keys.
const COMMANDS: &str = "HOTKEYS GET, CLUSTER SLOT-STATS SLOTSRANGE 0 40, \
    CLUSTER SLOT-STATS ORDERBY key-count LIMIT 4, CLUSTER MIGRATION STATUS ALL, \
    CLUSTER GETSLOTMIGRATIONS, SLOWLOG GET 3, COMMANDLOG GET 3 slow, COMMANDLOG GET 3 large-reply, \
    CLUSTER SHARDS, CLUSTER SLOTS, CLUSTER NODES, CLUSTER INFO, INFO, CONFIG GET *, MEMORY STATS, \
    LATENCY HISTOGRAM, CLIENT LIST, ACL LIST, ACL GETUSER default, HELLO 3, ROLE, COMMAND DOCS get, \
    COMMAND INFO get, COMMAND LIST, FUNCTION STATS";

/// Formats of replies about keys.
const READ: [&str; 3] = ["hotkeys", "command-log", "slot-stats"];

/// A server that owns all slots and has much to report.
fn talkative(kind: Kind) -> Server {
    let mut options = words("--slowlog-log-slower-than 0");
    if kind != Kind::Installed {
        options.extend(["--cluster-slot-stats-enabled", "yes"]);
    }
    if kind == Kind::Valkey91 {
        options.extend(["--commandlog-reply-larger-than", "0"]);
    }
    let server = kind.start(&options);
    server.own_all_slots();
    let mut client = server.connect();
    client.call(&["SET", "user:1", "v"]);
    client.call(&["HOTKEYS", "START", "METRICS", "2", "CPU", "NET"]);
    for at in 0..20 {
        client.call(&["GET", &format!("user:{at}")]);
        client.call(&["SET", &format!("{{shop}}:{at}"), "v"]);
    }
    server
}

/// The reason why a file is treated wrongly.
fn complaint(scratch: &Scratch, file: &str) -> Option<String> {
    let output = scratch.run(&format!("analyze {file} --json --no-files"));
    // An input without keys yields a report, and an error for cron.
    if code(&output) == 2 && output.stdout.is_empty() {
        let said = stderr(&output);
        let has_way_out = refusals().any(|one| said.contains(one.way_out))
            || said.contains("errors in place of keys")
            || said.contains("--key-column NAME says which member");
        return (!has_way_out).then(|| said.to_owned());
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let input = &report["input"];
    let format = input["files"][0]["format"].as_str().unwrap_or("");
    let is_read = READ.contains(&format) || input["keys"] == 0;
    (!is_read).then(|| format!("{} keys as {format}", input["keys"]))
}

#[test]
fn what_a_server_replies_is_never_a_list_of_keys() {
    let complaints = Mutex::new(Vec::new());
    let kinds = [Kind::Installed, Kind::Redis82, Kind::Valkey91];
    at_once(3, kinds.into_iter().chain(Kind::given()), |kind| {
        let (server, scratch) = (talkative(kind), Scratch::new());
        let mut known = BTreeSet::new();
        for command in COMMANDS.split(", ") {
            for (form, flags) in FORMS {
                let reply = server.redis_cli(&words(&format!("{flags} {command}")));
                // A reply without content does not count, nor one that another form gave.
                let letters = reply.iter().filter(|byte| byte.is_ascii_alphanumeric());
                if letters.count() < 2 || !known.insert(reply.clone()) {
                    continue;
                }
                scratch.file("reply", &reply);
                if let Some(complaint) = complaint(&scratch, "reply") {
                    let complaint = format!("{kind:?}: {command}, {form}: {complaint}");
                    complaints.lock().unwrap().push(complaint);
                }
                record(kind, command, form, &reply);
            }
        }
    });
    let complaints = complaints.into_inner().unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

/// Saves the replies about keys of a given server, if SLOTSCOPE_RECORD names a folder.
fn record(kind: Kind, command: &str, form: &str, reply: &[u8]) {
    let folder = std::env::var_os("SLOTSCOPE_RECORD").filter(|_| kind == Kind::Given);
    let of_keys = [
        "HOTKEYS",
        "SLOWLOG",
        "CLUSTER SLOT-STATS",
        "CLUSTER MIGRATION",
        "COMMANDLOG",
    ];
    let is_of_keys = of_keys.iter().any(|start| command.starts_with(start));
    if let Some(folder) = folder.filter(|_| is_of_keys) {
        let folder = Path::new(&folder).join("replies");
        fs::create_dir_all(&folder).unwrap();
        let name = command.to_ascii_lowercase().replace([' ', '*'], "-");
        fs::write(folder.join(format!("{name}.{form}")), reply).unwrap();
    }
}

#[test]
fn recorded_replies_are_read_or_refused() {
    let (mut files, mut complaints) = (0, Vec::new());
    for folder in fs::read_dir(root().join("tests/recorded")).unwrap() {
        let replies = folder.unwrap().path().join("replies");
        for reply in fs::read_dir(replies).unwrap() {
            let (reply, scratch) = (reply.unwrap().path(), Scratch::new());
            scratch.file("reply", fs::read(&reply).unwrap());
            files += 1;
            let complaint = complaint(&scratch, "reply");
            complaints.extend(complaint.map(|what| format!("{reply:?}: {what}")));
        }
    }
    assert!(files > 20, "{files} files");
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
