//! The cells of a line of CSV.

use slotscope_engine::format::table::key_spelling::DUMP;
use slotscope_report::output::spelled;

use crate::dump::RecordLine;

/// The cells of `line`, in the order of `DUMP`; empty if unknown.
pub(crate) fn cells(line: &RecordLine) -> [String; DUMP.len()] {
    let number = |number: Option<u64>| number.map_or(String::new(), |number| number.to_string());
    [
        spelled(&line.key),
        line.db.to_string(),
        line.type_name.clone(),
        line.encoding.unwrap_or_default().to_owned(),
        number(line.elements),
        line.bytes.to_string(),
        number(line.memory),
        line.expiry.clone().unwrap_or_default(),
        number(line.lfu.map(u64::from)),
        number(line.idle),
        line.slot.to_string(),
        line.tag.as_ref().map_or(String::new(), spelled),
    ]
}
