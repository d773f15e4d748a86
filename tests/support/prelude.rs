//! What nearly every test uses: running the program, its outputs, JSON.

pub use serde_json::{Value, json};

pub use crate::json::Json;
pub use crate::run::*;
