//! `lint`: keys that follow the convention have no finding, keys that break it have one, and the findings do not depend
//! on the number of threads.

mod configuration;
mod inputs;
mod rules;

use std::process::Output;

use testkit::prelude::*;

fn lint(scratch: &Scratch, keys: impl AsRef<[u8]>, flags: &str) -> Output {
    scratch.file("dump.keys", keys);
    scratch.run(&format!("lint dump.keys {flags}"))
}

/// The findings for `keys`.
fn findings(scratch: &Scratch, keys: impl AsRef<[u8]>) -> Value {
    let said = lint(scratch, keys, "--json --format lines");
    let json: Value = serde_json::from_str(stdout(&said))
        .unwrap_or_else(|error| panic!("{error}: {}", stderr(&said)));
    assert_eq!(json["schema"], "slotscope.lint/1");
    let has_error = json["findings"].lists("severity", "error");
    assert_eq!(code(&said), i32::from(has_error), "{}", stderr(&said));
    json["findings"].clone()
}
