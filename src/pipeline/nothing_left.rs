//! A filter or a database that leaves no key is usually a typo, and so an error.

use slotscope_engine::error::{Error, Result};
use slotscope_engine::format::Notice;
use slotscope_engine::scan::{Only, Scanned};
use slotscope_engine::text::counted;

/// Fails if a filter or database selects nothing.
///
/// # Errors
/// It selects nothing.
pub(crate) fn check<T>(only: &Only, scanned: &Scanned<T>) -> Result<()> {
    let seen = || scanned.inputs.iter().map(|input| &input.seen);
    let sum = |notice| seen().map(|seen| seen.count(notice)).sum::<u64>();
    let left: u64 = seen().map(|seen| seen.keys + seen.operations).sum();
    let filtered = sum(Notice::Filtered) + sum(Notice::FilteredOperation);
    let of_others = sum(Notice::OtherDatabase);
    let database = only.database.map(|number| number.to_string());
    match (&only.filter, database) {
        (_, Some(database)) if left > 0 && sum(Notice::NoDatabase) == left => {
            let reason = "no input says which database a key is in: leave this out, or give an RDB file, an append-only file, a collection \
                        or a column db";
            Err(Error::option("db", database, reason))
        }
        (Some(filter), _) if left == 0 && filtered > 0 => {
            let reason = format!("passes none of {}", counted(filtered, "key"));
            Err(Error::bad(filter.said(false), reason))
        }
        (_, Some(database)) if left == 0 && of_others > 0 => {
            let others = counted(of_others, "key");
            let reason = format!("no key is in this database; others have {others}");
            Err(Error::option("db", database, reason))
        }
        _ => Ok(()),
    }
}
