//! Names that nearly every test uses: to run the program, and for its outputs and JSON.

pub use serde_json::{Value, json};

pub use crate::json::Json;
pub use crate::run::*;
pub use crate::signals::*;
