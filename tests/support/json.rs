//! Values of JSON whose kind a test knows: another kind fails with the value in its message.

use serde_json::Value;

/// A value as the kind that it must be.
pub trait Json {
    fn list(&self) -> &Vec<Value>;
    fn text(&self) -> &str;
    fn float(&self) -> f64;
    fn whole(&self) -> u64;
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
}
