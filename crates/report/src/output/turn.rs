//! Serializes runs that write to the same directory: each locks the directory while opening files or putting them in
//! place. Any process that can read a directory can lock it, so waiting is bounded.

use std::fs::{File, TryLockError};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;

/// After this, the user is told about the wait.
const PATIENCE: Duration = Duration::from_secs(1);
/// More than any run needs.
const LIMIT: Duration = Duration::from_secs(30);

/// Held until dropped. `None` if directories cannot be locked: the last run then wins, file by file.
pub(super) type Turn = Option<File>;

/// Waits for the lock.
///
/// # Errors
/// Another process keeps the lock.
pub(super) fn take(path: &Path) -> Result<Turn> {
    let Ok(directory) = File::open(path) else {
        return Ok(None);
    };
    match directory.try_lock() {
        Ok(()) => return Ok(Some(directory)),
        Err(TryLockError::Error(_)) => return Ok(None),
        Err(TryLockError::WouldBlock) => {}
    }
    let (sender, receiver) = mpsc::channel();
    let wait = move || sender.send(directory.lock().map(|()| directory).ok());
    thread::Builder::new()
        .spawn(wait)
        .map_err(|error| Error::io(path, error))?;
    if let Ok(turn) = receiver.recv_timeout(PATIENCE) {
        return Ok(turn);
    }
    let name = Name::from(path);
    let _ = writeln!(
        io::stderr(),
        "slotscope: {name}: another process has locked it; waiting for at most {} s",
        LIMIT.as_secs()
    );
    receiver.recv_timeout(LIMIT - PATIENCE).map_err(|_| {
        let reason = format!(
            "another process has kept it locked for {} s; end that process, or name another directory",
            LIMIT.as_secs()
        );
        Error::bad(name.to_string(), reason)
    })
}
