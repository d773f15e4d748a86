//! `--by METRICS`: defines load, with the same meaning in every command.

use clap::Args;
use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;

use crate::options::headings::COUNTING;

/// What load is.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ByArgs {
    /// What nodes are judged by: keys, bytes, ops, accesses, cpu, or several as in bytes,ops
    ///
    /// The most important comes first. All metrics of the input are reported, and limits are always judged. [default:
    /// memory and load, each by the best metric of the input]
    #[arg(long = "by", value_name = "METRICS", help_heading = COUNTING)]
    pub by: Option<String>,
}

impl ByArgs {
    /// The metrics, the most important first; empty if the user chose none.
    ///
    /// # Errors
    /// The text does not name metrics, each once.
    pub fn metrics(&self) -> Result<Vec<Metric>> {
        let Some(text) = &self.by else {
            return Ok(Vec::new());
        };
        let bad = |reason| Error::option("by", Name::from(text.as_str()), reason);
        if text.contains('=') {
            return Err(bad(String::from(
                "metrics have no weights: name them in order, the most important first: bytes,ops",
            )));
        }
        let mut metrics: Vec<Metric> = Vec::new();
        for name in text.split(',') {
            let known = Metric::ALL.into_iter().find(|metric| metric.name() == name);
            match known.filter(|metric| !metrics.contains(metric)) {
                Some(metric) => metrics.push(metric),
                None => {
                    let names = Metric::ALL.map(Metric::name).join(", ");
                    return Err(bad(format!(
                        "name {names}, each once, the most important first: bytes,ops"
                    )));
                }
            }
        }
        Ok(metrics)
    }
}
