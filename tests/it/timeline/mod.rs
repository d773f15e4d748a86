//! `timeline`: a planted burst is found with its name, its ends and its share, there are no false positives, and the
//! parts of a capture, their order and the threads do not matter.

mod captures;
mod inputs;
mod outputs;

use testkit::prelude::*;

fn timeline(args: &[&str]) -> Value {
    let output = slotscope(&[&["timeline", "--json"], args].concat())
        .output()
        .unwrap();
    assert_eq!(
        code(&output),
        0,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}
