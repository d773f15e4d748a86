//! `slotscope lint`: key dumps come in; which names break the naming convention goes out.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anstyle::{AnsiColor, Style};
use clap::{Args, ValueEnum};

use super::Ending;
use super::columns::cut;
use super::reading::{Reader, Reading, format_help};
use crate::advice::lint::{Checks, Counted, Finding, Findings, Rules, Severity};
use crate::error::{Error, Result};
use crate::name::Name;
use crate::report::json;
use crate::report::units::{counted, grouped, percent};
use crate::scan::Scanned;

/// The configuration that is read where none is named.
const CONFIG: &str = "slotscope.toml";
/// Longer than any list of rules.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Key names against a naming convention.
///
/// Exits with 1 where there is an error. The convention is env:service:module:{domain:id}:...; slotscope.toml
/// in the current directory changes it.
#[derive(Args, Debug)]
pub struct Lint {
    /// What is read
    #[command(flatten)]
    pub reading: Reading,
    /// The convention [default: slotscope.toml in the current directory, if there is one]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How findings are printed
    #[arg(long, value_enum, value_name = "FORM", default_value_t = Form::Text)]
    pub output: Form,
    /// The same as --output json
    #[arg(long, conflicts_with = "output")]
    pub json: bool,
}

/// How findings are printed.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// For people
    Text,
    /// One JSON object
    Json,
}

impl Lint {
    /// Reads, checks and prints.
    ///
    /// # Errors
    /// An input or a configuration that cannot be used.
    pub fn run(&self) -> Result<Ending> {
        if self.reading.format == "help" {
            io::stdout().write_all(format_help().as_bytes()).map_err(Error::stdout)?;
            return Ok(Ending::Done);
        }
        let rules = Arc::new(self.rules()?);
        let reader = self.reading.reader()?;
        let scanned = reader.scan("checking", || Checks::new(&rules))?;
        let findings = Findings::of(&scanned.tally, &rules);
        self.print(&findings).map_err(Error::stdout)?;
        remark(&reader, &scanned);
        Ok(match (scanned.incomplete.is_empty(), findings.of_severity(Severity::Error)) {
            (false, _) => Ending::Incomplete,
            (true, 0) => Ending::Done,
            (true, _) => Ending::Crossed,
        })
    }

    /// The convention that the flags, or the current directory, name.
    fn rules(&self) -> Result<Rules> {
        match &self.config {
            Some(path) => read_rules(path),
            None if Path::new(CONFIG).exists() => read_rules(Path::new(CONFIG)),
            None => Rules::usual(),
        }
    }

    fn print(&self, findings: &Findings) -> io::Result<()> {
        if self.json || self.output == Form::Json {
            let mut out = io::BufWriter::new(io::stdout().lock());
            json::write_object(findings, &mut out)?;
            return out.flush();
        }
        let mut lines = Vec::new();
        write_text(findings, &mut lines)?;
        let mut out = anstream::AutoStream::auto(io::stdout().lock());
        out.write_all(&lines)?;
        out.flush()
    }
}

fn read_rules(path: &Path) -> Result<Rules> {
    let file = std::fs::File::open(path).map_err(|error| Error::io(path, error))?;
    let mut bytes = Vec::new();
    file.take(MAX_CONFIG_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Error::io(path, error))?;
    let name = Name::from(path);
    if bytes.len() as u64 > MAX_CONFIG_BYTES {
        return Err(Error::bad(name.to_string(), "more than 1 MiB, too much for a naming convention"));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        Error::bad(format!("{name}: line {line}"), "not UTF-8, which TOML is; write other bytes as \\xHH in a pattern")
    })?;
    Rules::parse(&name, &text)
}

/// What was not checked is said, on standard error.
fn remark(reader: &Reader, scanned: &Scanned<Checks>) {
    let rejected = scanned.rejects.count;
    let rows = (rejected > 0).then(|| format!("rows that are no keys, not checked: {}", grouped(rejected)));
    let stops = scanned
        .incomplete
        .iter()
        .map(|stop| format!("{}: byte {}: {}", Name::from(reader.inputs[stop.input].path()), stop.byte, stop.reason));
    // Where standard error is closed, the exit code tells.
    rows.into_iter().chain(stops).for_each(|line| drop(writeln!(io::stderr(), "slotscope: {line}")));
}

/// Writes the findings: how many, then each with what keys do and a few of them.
fn write_text(findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
    let kinds = [(Severity::Error, "error"), (Severity::Warning, "warning"), (Severity::Info, "note")];
    let [errors, warnings, notes] = kinds.map(|(severity, one)| counted(findings.of_severity(severity) as u64, one));
    writeln!(out, "{errors}, {warnings}, {notes} on {}", counted(findings.keys, "key"))?;
    if findings.allowed > 0 {
        writeln!(out, "passed over by the allow list: {}", counted(findings.allowed, "key"))?;
    }
    findings.findings.iter().try_for_each(|finding| write_finding(finding, findings.keys, out))?;
    match findings.findings.is_empty() {
        true => Ok(()),
        false => writeln!(out, "\nThe rules are explained in {}; slotscope.toml changes them", findings.help),
    }
}

fn write_finding(finding: &Finding, keys: u64, out: &mut dyn Write) -> io::Result<()> {
    let color = match finding.severity {
        Severity::Error => AnsiColor::Red,
        Severity::Warning => AnsiColor::Yellow,
        Severity::Info | Severity::Off => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(color.into()));
    let how = match finding.counted {
        Counted::Exactly => "",
        Counted::AtLeast => "at least ",
        Counted::AtMost => "at most ",
    };
    let (severity, rule, what) = (finding.severity.name(), &finding.rule, &finding.what);
    let (count, keys, share) = (grouped(finding.count), grouped(keys), percent(finding.share));
    writeln!(out, "\n{style}{severity}{style:#}  {rule}: {how}{count} of {keys} keys ({share}) {what}")?;
    finding.examples.iter().try_for_each(|example| writeln!(out, "  {}", cut(&example.to_string())))
}
