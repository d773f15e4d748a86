//! `--by METRICS`: defines load, with the same meaning in every command.

use clap::Args;
use serde::Serialize;

use slotscope_engine::error::{Error, Result};
use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;

use crate::cli::values::positive;
use crate::options::headings::COUNTING;

/// What load is.
#[derive(Args, Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ByArgs {
    /// What nodes are judged by: keys, bytes, ops, accesses, or several as in bytes=2,ops=1
    ///
    /// The largest weight comes first. All metrics of the input are reported, and limits are always judged. [default:
    /// memory and load, each by the best metric of the input]
    #[arg(long = "by", value_name = "METRICS", help_heading = COUNTING)]
    pub by: Option<String>,
}

impl ByArgs {
    /// The metrics by descending weight; empty if the user chose none.
    ///
    /// # Errors
    /// The text does not name metrics.
    pub fn metrics(&self) -> Result<Vec<Metric>> {
        let Some(text) = &self.by else {
            return Ok(Vec::new());
        };
        Ok(weighed(text)?
            .into_iter()
            .map(|(metric, _)| metric)
            .collect())
    }
}

/// The metrics of a text such as `bytes=2,ops=1`, by descending weight.
///
/// # Errors
/// A word is not a metric, a metric is repeated, or a weight is not above 0.
pub(crate) fn weighed(text: &str) -> Result<Vec<(Metric, f64)>> {
    let bad = || {
        let names: Vec<&str> = Metric::ALL.into_iter().map(Metric::name).collect();
        let reason = format!(
            "name {}, each once; several may have weights above 0: bytes=2,ops=1",
            names.join(", ")
        );
        Error::option("by", Name::from(text), reason)
    };
    let mut weights: Vec<(Metric, f64)> = Vec::new();
    for part in text.split(',') {
        let (name, weight) = part.split_once('=').unwrap_or((part, "1"));
        let mut metrics = Metric::ALL.into_iter();
        let metric = metrics
            .find(|metric| metric.name() == name)
            .ok_or_else(bad)?;
        let weight = positive(weight).ok_or_else(bad)?;
        if weights.iter().any(|(known, _)| *known == metric) {
            return Err(bad());
        }
        weights.push((metric, weight));
    }
    weights.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(weights)
}
