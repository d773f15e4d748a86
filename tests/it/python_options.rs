//! The options of the Python package are those of the specs: `BLESS=1 cargo test --test it python_options::` rewrites them.

use std::fs;

use crate::support::run::root;
use schemars::{JsonSchema, schema_for};
use serde_json::Value;
use slotscope::spec::{CountSpec, HashSpec, NodeSpec, ReadSpec};

const FILE: &str = "python/slotscope/_spec.py";
const HEAD: &str = "\"\"\"What is read and counted, generated from the specs of the library (tests/it/python_options.rs).\"\"\"

from __future__ import annotations

from typing import TypedDict
";

/// The type of an option, of any form that serde reads it from.
fn python_type(member: &Value) -> String {
    let kind = match &member["type"] {
        Value::Array(kinds) => kinds[0].as_str(),
        kind => kind.as_str(),
    };
    match kind {
        Some("boolean") => "bool".into(),
        Some("integer") => "int".into(),
        Some("array") => {
            let one = python_type(&member["items"]);
            format!("{one} | list[{one}]")
        }
        // Texts, and words of a list.
        _ => "str".into(),
    }
}

fn class<T: JsonSchema>(name: &str) -> String {
    let schema = schema_for!(T).to_value();
    let about = schema["description"].as_str().unwrap();
    let mut text = format!("\n\nclass {name}(TypedDict, total=False):\n    \"\"\"{about}\"\"\"\n");
    for (name, member) in schema["properties"].as_object().unwrap() {
        let about = member["description"].as_str().expect(name);
        let first = about.split("\n\n").next().unwrap().replace('\n', " ");
        text += &format!("\n    #: {first}\n    {name}: {}\n", python_type(member));
    }
    text
}

#[test]
fn options_are_the_members_of_the_specs() {
    let classes = [
        class::<ReadSpec>("ReadSpec"),
        class::<NodeSpec>("NodeSpec"),
        class::<HashSpec>("HashSpec"),
        class::<CountSpec>("CountSpec"),
    ];
    let wanted = HEAD.to_owned() + &classes.concat();
    let path = root().join(FILE);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{FILE} is not what the specs say; BLESS=1 rewrites it"
    );
}
