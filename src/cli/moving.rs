//! Parts of a plan besides its script: running only the script's preflight, and comparing the forecast with the
//! cluster.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::name::Name;
use slotscope_engine::secret::Credentials;
use slotscope_engine::source::small_file;
use slotscope_findings::summary::Summary;

use crate::cli::Ending;
use crate::cli::printing::{OutputArgs, Rows};
use crate::plan::script::Script;
use crate::plan::verify::{self, Forecast};
use crate::plan::view::ROWS;

/// Above the size of any plan or report.
const MAX_BYTES: u64 = 256 << 20;

/// Runs a script in bash such that it inspects the cluster and moves nothing. It reports to standard error.
pub(super) fn check(script: &Script<'_>, credentials: &Credentials) -> Result<Ending> {
    let mut text = Vec::new();
    script
        .write(&mut text)
        .map_err(|error| Error::bad("--check", error.to_string()))?;
    let failed = |error: io::Error| {
        let what = format!("{error}; it runs the script in bash, which has to be on the PATH");
        Error::bad("--check", what)
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
        let what = "the cluster is not ready for these moves: the lines above say what to fix";
        Err(Error::bad("--check", what))
    }
}

/// Reads a forecast.
pub(super) fn forecast(path: &Path) -> Result<Forecast> {
    let text = small_file::read(path, MAX_BYTES, "is longer than any plan or report")?;
    Forecast::parse(&text).map_err(|what| Error::bad(Name::from(path).to_string(), what))
}

/// Prints a forecast next to the current cluster.
pub(super) fn verify(forecast: &Forecast, now: &Summary, output: &OutputArgs) -> Result<Ending> {
    let found = verify::verify(forecast, now);
    output.print(&found, Rows::or_json(ROWS), || verify::sections(&found))?;
    Ok(if found.as_forecast {
        Ending::Done
    } else {
        Ending::Crossed
    })
}
