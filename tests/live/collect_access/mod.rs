//! `collect` and the obstacles to the keys: passwords, TLS, permissions, misbehaving servers, and runs that end early.

mod acl;
mod addresses;
pub(crate) mod analyzed;
pub(crate) mod bounds;
mod crowd;
mod early_end;
mod hostile;
mod scarce;
mod secrets;
mod tls;
mod tls_hostile;

use std::collections::BTreeSet;
use std::process::Output;

use testkit::cluster::Cluster;
use testkit::prelude::*;

/// `slotscope collect URL -o all FLAGS`.
fn collect(scratch: &Scratch, url: &str, flags: &str) -> Output {
    scratch.run(&format!("collect {url} -o all {flags}"))
}

/// The manifest of such a run, which must succeed.
#[track_caller]
fn collected(scratch: &Scratch, url: &str, flags: &str) -> Value {
    manifest(scratch, collect(scratch, url, flags))
}

/// The manifest of a successful run.
#[track_caller]
fn manifest(scratch: &Scratch, run: Output) -> Value {
    succeeded(run);
    serde_json::from_str(&scratch.read("all/collect.json")).unwrap()
}

/// 300 keys, each on its owner.
fn fill(cluster: &Cluster) -> BTreeSet<Vec<u8>> {
    let keys = (0..300).map(|id| format!("user:{id}").into_bytes());
    let keys: BTreeSet<Vec<u8>> = keys.collect();
    cluster.set_all(keys.iter().map(|key| (key, "x")));
    keys
}
