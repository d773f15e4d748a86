//! The report.json that a command compares: a file, or the one in a directory.

use std::path::Path;

use slotscope_base::error::Result;
use slotscope_base::name::Name;
use slotscope_base::small_file;
use slotscope_model::Summary;
use slotscope_report::json;

/// Above the size of any report.json: with all metrics and full lists it has 3 MiB.
const MAX_REPORT_BYTES: u64 = 64 << 20;

/// The name and content of a report, given as a file or as a directory with report.json.
///
/// # Errors
/// The file cannot be read, or is not a report.
pub fn read(path: &Path) -> Result<(Name, Summary)> {
    let in_directory = path.join("report.json");
    let path = if path.is_dir() { &in_directory } else { path };
    let too_long = "more than 64 MiB: no report.json of analyze";
    let bytes = small_file::read(path, MAX_REPORT_BYTES, too_long)?;
    let file = Name::from(path);
    let summary = json::read(&file, &bytes)?;
    Ok((file, summary))
}
