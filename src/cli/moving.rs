//! Running only the preflight of a plan's script.

use std::io::{self, Write};
use std::process::{Command, Stdio};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::secret::Credentials;

use crate::cli::Ending;
use crate::plan::script::Script;

/// Runs a script in bash such that it inspects the cluster and moves nothing. It reports to standard error.
pub(super) fn check(script: &Script<'_>, credentials: &Credentials) -> Result<Ending> {
    let mut text = Vec::new();
    script
        .write(&mut text)
        .map_err(|error| Error::bad("--check", error.to_string()))?;
    let failed = |error: io::Error| {
        let reason = format!("{error}; it runs the script in bash, which has to be on the PATH");
        Error::bad("--check", reason)
    };
    let mut bash = Command::new("bash");
    bash.args(["-s", "--", "--check"]).stdin(Stdio::piped());
    // redis-cli takes the password from the environment, never from its arguments.
    if let Some(password) = &credentials.password {
        bash.env("REDISCLI_AUTH", password.reveal());
    }
    let mut child = bash.spawn().map_err(failed)?;
    let written = child.stdin.take().map(|mut pipe| pipe.write_all(&text));
    let status = child.wait().map_err(failed)?;
    // A script that exits early closes the pipe; its exit code tells why.
    let is_read = !matches!(written, Some(Err(error)) if error.kind() != io::ErrorKind::BrokenPipe);
    if status.success() && is_read {
        Ok(Ending::Done)
    } else {
        let reason = "the cluster is not ready for these moves: the lines above say what to fix";
        Err(Error::bad("--check", reason))
    }
}
