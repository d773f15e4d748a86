//! Values of JSON whose kind a test knows: another kind fails with the value in its message.

use serde_json::Value;

/// A value as the kind that it must be.
pub trait Json {
    fn list(&self) -> &Vec<Value>;
    fn text(&self) -> &str;
    fn float(&self) -> f64;
    fn whole(&self) -> u64;
    /// Members of each item of a list: the values of one name, or a row for several names.
    fn each(&self, names: &str) -> Value;
    /// The item of a list whose member is `value`.
    fn find(&self, name: &str, value: &str) -> &Value;
    /// Whether a list has an item whose member is `value`.
    fn lists(&self, name: &str, value: &str) -> bool;
    /// Asserts that all members and items of `expected` are here; a member that is missing is null.
    fn has(&self, expected: Value);
}

/// The first places at which a value lacks what is expected.
fn lacking(found: &Value, expected: &Value, path: &str, places: &mut Vec<String>) {
    match expected {
        Value::Object(members) => {
            for (name, value) in members {
                lacking(&found[name], value, &format!("{path}.{name}"), places);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (at, value) in items.iter().enumerate() {
                lacking(&found[at], value, &format!("{path}[{at}]"), places);
            }
        }
        _ if found == expected => {}
        _ => places.push(format!("{path}: {found:.200}, not {expected:.200}")),
    }
}

impl Json for Value {
    #[track_caller]
    fn list(&self) -> &Vec<Value> {
        self.as_array()
            .unwrap_or_else(|| panic!("a list: {self:.400}"))
    }

    #[track_caller]
    fn text(&self) -> &str {
        self.as_str()
            .unwrap_or_else(|| panic!("a text: {self:.400}"))
    }

    #[track_caller]
    fn float(&self) -> f64 {
        self.as_f64()
            .unwrap_or_else(|| panic!("a number: {self:.400}"))
    }

    #[track_caller]
    fn whole(&self) -> u64 {
        self.as_u64()
            .unwrap_or_else(|| panic!("a whole number: {self:.400}"))
    }

    #[track_caller]
    fn each(&self, names: &str) -> Value {
        let rows = self.list().iter();
        match names.split(' ').collect::<Vec<_>>()[..] {
            [name] => rows.map(|row| row[name].clone()).collect(),
            ref names => rows
                .map(|row| {
                    names
                        .iter()
                        .map(|name| row[*name].clone())
                        .collect::<Value>()
                })
                .collect(),
        }
    }

    #[track_caller]
    fn find(&self, name: &str, value: &str) -> &Value {
        let found = self.list().iter().find(|item| item[name] == value);
        found.unwrap_or_else(|| panic!("no {name} is {value}: {self:.400}"))
    }

    #[track_caller]
    fn lists(&self, name: &str, value: &str) -> bool {
        self.list().iter().any(|item| item[name] == value)
    }

    #[track_caller]
    fn has(&self, expected: Value) {
        let mut places = Vec::new();
        lacking(self, &expected, "", &mut places);
        assert!(places.is_empty(), "{}: {self:.400}", places.join(", "));
    }
}
