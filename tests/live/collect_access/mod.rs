//! `collect` and the obstacles to the keys: passwords, TLS, permissions, misbehaving servers, and runs that end early.

mod acl;
mod addresses;
pub(crate) mod analyzed;
mod bounds;
mod crowd;
mod early_end;
mod hostile;
mod scarce;
mod secrets;
mod tls;
mod tls_hostile;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Output;

use testkit::cluster::Cluster;
use testkit::prelude::*;

/// `slotscope collect URL -o all ARGS`, with the password in the environment.
fn collect(scratch: &Scratch, url: &str, password: Option<&str>, args: &[&str]) -> Output {
    let args = [&["collect", url, "-o", "all"], args].concat();
    let mut command = scratch.command(&args);
    command.envs(password.map(|password| ("REDISCLI_AUTH", password)));
    command.output().unwrap()
}

/// The manifest of a successful run.
#[track_caller]
fn manifest(scratch: &Scratch, run: &Output) -> Value {
    assert_eq!(code(run), 0, "{}", stderr(run));
    serde_json::from_slice(&fs::read(scratch.path("all/collect.json")).unwrap()).unwrap()
}

/// The names and contents of all files below a directory.
fn files_below(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path))
        } else {
            files.push((path.display().to_string(), fs::read(&path).unwrap()))
        }
    }
    files
}

/// 300 keys, each on its owner.
fn fill(cluster: &Cluster) -> BTreeSet<Vec<u8>> {
    let keys = (0..300).map(|id| format!("user:{id}").into_bytes());
    let keys: BTreeSet<Vec<u8>> = keys.collect();
    cluster.set_all(keys.iter().map(|key| (key, "x")));
    keys
}
