//! The `--json` of every command matches its schema in docs/schema/.

use testkit::prelude::*;

/// The violations of `schema`, a part of `root`, by `value`. An undeclared member is a violation.
fn complaints(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let target = root.pointer(reference.trim_start_matches('#'));
        return complaints(root, target.expect(reference), value, place, found);
    }
    for known in schema
        .as_object()
        .into_iter()
        .flat_map(|known| known.keys())
    {
        assert!(
            KEYWORDS.split(' ').any(|of| of == known),
            "{known} is not checked"
        );
    }
    let mut complain = |what: String| found.push(format!("{place}: {what}: {value}"));
    if let Some(choices) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
        let fits = |choice: &Value| {
            let mut found = Vec::new();
            complaints(root, choice, value, place, &mut found);
            found.is_empty()
        };
        if !choices.iter().any(fits) {
            complain("fits no choice".into());
        }
        return;
    }
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
    };
    let allows = |name: &Value| name == is || name == "number" && is == "integer";
    match &schema["type"] {
        Value::Array(types) if types.iter().any(allows) => {}
        Value::Null => {}
        only if allows(only) => {}
        other => complain(format!("is no {other}")),
    }
    if schema
        .get("const")
        .is_some_and(|constant| constant != value)
    {
        complain(format!("is not {}", schema["const"]));
    }
    let words = schema["enum"].as_array();
    if words.is_some_and(|words| !words.contains(value)) {
        complain(format!("is none of {}", schema["enum"]));
    }
    if let (Some(number), Some(least)) = (value.as_f64(), schema["minimum"].as_f64())
        && number < least
    {
        complain(format!("is below {least}"));
    }
    if let Some(rows) = value.as_array() {
        let tuple = schema["prefixItems"]
            .as_array()
            .map_or(&[][..], Vec::as_slice);
        for (i, row) in rows.iter().enumerate() {
            let schema = tuple.get(i).unwrap_or(&schema["items"]);
            assert!(schema.is_object(), "{place}: a list of what?");
            complaints(root, schema, row, &format!("{place}[{i}]"), found);
        }
        return;
    }
    let Some(members) = value.as_object() else {
        return;
    };
    for name in schema["required"].as_array().into_iter().flatten() {
        if !members.contains_key(name.text()) {
            found.push(format!("{place}: lacks {name}"));
        }
    }
    for (name, member) in members {
        let place = format!("{place}.{name}");
        match [&schema["properties"][name], &schema["additionalProperties"]] {
            [known, _] if known.is_object() => complaints(root, known, member, &place, found),
            [_, any] if any.is_object() => complaints(root, any, member, &place, found),
            _ => found.push(format!("{place}: is not in the schema")),
        }
    }
}

/// The keywords of a schema: all are checked or do not restrict the value.
const KEYWORDS: &str = "$schema $defs $ref title description format type const enum minimum maximum minItems maxItems \
    anyOf oneOf properties required additionalProperties items prefixItems";

fn wrong(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    complaints(schema, schema, value, "", &mut found);
    found
}

/// Checks that every line printed by `args` conforms to the schema `name`.
fn check(scratch: &Scratch, name: &str, args: &str) {
    let schema = scratch.json(root().join(format!("docs/schema/{name}.json")));
    let said = scratch.run(args);
    assert!(!said.stdout.is_empty(), "{args}: {}", stderr(&said));
    for line in stdout(&said).lines() {
        let found = wrong(&schema, &serde_json::from_str(line).expect(line));
        let first: Vec<_> = found.iter().take(5).collect();
        assert!(found.is_empty(), "{args}: {first:#?}");
    }
}

#[test]
fn outputs_of_every_command_fit_their_schemas() {
    let rows = (0..500).map(|i| format!("u:{{t{}}}:{i},{},{i},hash,0,\n", i % 7, i * 3));
    let table = format!("key,size,ops,type,db,ttl\n{}", rows.collect::<String>());
    let scratch = Scratch::with("table.csv", table);
    let keys: String = (0..900)
        .map(|i| format!("app:{{a}}:{i}\nuser:{i}\n"))
        .collect();
    scratch.file("a.keys", &keys);
    scratch.file("b.keys", keys.replace("{a}", "{b}"));
    scratch.file("odd.csv", "key,size\nx,1\ny,what,no\n");
    scratch.file(
        "batches",
        "MGET user:1 user:2\nGET user:1\nMSET user:1 x user:2\n",
    );
    let info = "10.0.0.1:6379 (0123abcd...) -> 900 keys | 8192 slots | 0 slaves.\n\
                10.0.0.2:6379 (4567abcd...) -> 100 keys | 8192 slots | 0 slaves.\n";
    scratch.file("info", info);
    for (file, keys) in [("old", "a.keys"), ("new", "b.keys")] {
        scratch.file(
            file,
            scratch.text(&format!("analyze {keys} --json --nodes 3")),
        );
    }
    for [schema, line] in testkit::run::rows(
        "report | analyze --json table.csv --by ops --maxmemory 1mb --growth 3
         report | analyze --json a.keys --nodes 3
         report | analyze --json a.keys --one-pass
         report | analyze --json odd.csv --only slots
         node-counts | analyze --json --cluster-info info
         diff | diff old new --json
         keyslot | keyslot --json {a}:1 b
         keyslot | keyslot --json --nodes 3 b
         find-tag | find-tag --json --spread 4 --nodes 2
         lint | lint --json a.keys
         fanout | fanout --json batches
         whatif | whatif --json table.csv --to-nodes 4
         plan | plan --json table.csv --nodes 3 --by bytes
         bench | bench --json --rounds 1",
    ) {
        check(&scratch, schema, line);
    }
    for made in crate::fuzz::targets::snapshots::MADE.iter() {
        scratch.file("dump.rdb", &made.bytes);
        check(&scratch, "dump", "dump --output jsonl dump.rdb");
    }
}

#[test]
fn values_that_do_not_fit_a_schema_are_found() {
    let schema = json!({
        "type": "object",
        "properties": {
            "schema": {"const": "x/1", "type": "string"},
            "node": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
            "range": {"type": "array", "prefixItems": [{"type": "integer", "minimum": 0}]},
        },
        "required": ["schema"],
        "$defs": {"Node": {"enum": ["a", "b"], "type": "string"}},
    });
    for value in [json!({"node": "a", "range": [3]}), json!({"node": null})] {
        let mut value = value;
        value["schema"] = json!("x/1");
        assert_eq!(wrong(&schema, &value), [""; 0]);
    }
    for (value, part) in [
        (json!([]), "is no"),
        (json!({}), "lacks"),
        (json!({"schema": "x/2"}), "is not"),
        (json!({"schema": "x/1", "node": "c"}), "fits no choice"),
        (json!({"schema": "x/1", "range": [-1]}), "is below"),
        (json!({"schema": "x/1", "range": [0.5]}), "is no"),
        (json!({"schema": "x/1", "more": 1}), "is not in the schema"),
    ] {
        let found = wrong(&schema, &value);
        let is_found = found.len() == 1 && found[0].contains(part);
        assert!(is_found, "{value}: {found:?}");
    }
}
