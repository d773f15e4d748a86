//! The checks of JSON by its schema, which every run with `--json` in these tests gets.

use testkit::prelude::*;
use testkit::schema::wrong;

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
