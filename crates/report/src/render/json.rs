//! Reads and writes report.json: the whole summary on one line, names in C escapes.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_model::{SCHEMA, Summary};

/// Writes a summary.
///
/// # Errors
/// `out` cannot be written.
pub fn write(summary: &Summary, out: &mut dyn Write) -> io::Result<()> {
    write_object(summary, out)
}

/// Writes any object on one line.
///
/// # Errors
/// `out` cannot be written.
pub fn write_object(object: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, object)?;
    out.write_all(b"\n")
}

/// The member of a JSON document that identifies a report.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

/// Parses the report from `file`. Unknown fields are ignored, and missing parts are empty.
///
/// # Errors
/// The file is not JSON, is truncated, has another schema, or lacks a part that every report has; with line and column.
pub fn read(file: &Name, bytes: &[u8]) -> Result<Summary> {
    let unreadable = |error: serde_json::Error| {
        let text = error.to_string();
        let reason = Name::from(text.split(" at line ").next().unwrap_or_default());
        let place = format!("{file}: line {}, column {}", error.line(), error.column());
        Error::bad(
            place,
            format!("{reason}; make it again with: slotscope analyze --json > FILE"),
        )
    };
    let bad = |reason: String| Err(Error::bad(file.to_string(), reason));
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return bad(
            "no report.json of analyze; of a dump, make one first: slotscope analyze DUMP --json > FILE".into(),
        );
    }
    let head: Head = serde_json::from_slice(bytes).map_err(unreadable)?;
    match head.schema {
        Some(serde_json::Value::String(schema)) if schema == SCHEMA => {}
        Some(serde_json::Value::String(schema)) => {
            let way_out = if schema.starts_with("slotscope.report/") {
                ": analyze its dump again with this version"
            } else {
                ", as analyze writes it"
            };
            let name = Name::from(schema.as_str());
            return bad(format!(
                "its schema is \"{name}\"; only {SCHEMA} can be compared{way_out}"
            ));
        }
        _ => return bad("no report.json of analyze: it names no schema".into()),
    }
    let summary: Summary = serde_json::from_slice(bytes).map_err(unreadable)?;
    for (metric, loads) in summary.slots.loads.iter() {
        if loads.len() != SLOTS {
            return bad(format!(
                "slots.{} has {} numbers, not one for each of the 16384 slots",
                metric.name(),
                loads.len()
            ));
        }
    }
    Ok(summary)
}
