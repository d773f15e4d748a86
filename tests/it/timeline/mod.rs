//! `timeline`: a planted burst is found with its name, its ends and its share, nothing else is called one, and neither
//! the parts of a capture, their order nor the threads change anything.

mod captures;
mod inputs;
mod outputs;

use serde_json::Value;
use testkit::run::{code, slotscope};

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
