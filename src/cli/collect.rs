//! The flags of `slotscope collect`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::Ending;
use crate::cli::collect_bars::NodeBars;
use crate::cli::printing::{OutputArgs, Rows};
use crate::cli::progress::When;
use crate::cli::values;
use crate::collect::address::{Address, Seed};
use crate::collect::connection::Access;
use crate::collect::manifest::{Level, Manifest, Role};
use crate::collect::run::{self, Options, Times};
use crate::collect::tls::{Tls, TlsConfig};
use crate::collect::view;
use crate::error::{Error, Result};
use crate::name::Name;

/// The keys of a live cluster, with sizes and topology, as a directory that analyze reads.
///
/// Servers are only read, never changed: SCAN and details of each key, at most a part of the time, from replicas where
/// there are any. Slots that move and primaries that fail meanwhile are read again from their new owners.
#[derive(Args, Debug)]
pub struct CollectArgs {
    /// A node: redis://HOST:PORT, rediss:// for TLS, unix://PATH, or HOST:PORT; of several, the first that answers is asked
    #[arg(value_name = "URL", required = true)]
    pub urls: Vec<String>,
    /// The directory to write [default: HOST-PORT.collect]
    #[arg(short, long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace a collection in that directory
    #[arg(long)]
    pub force: bool,
    /// Only the number of keys of each slot, which takes a second
    #[arg(long, conflicts_with = "keys")]
    pub slots_only: bool,
    /// Only the names of the keys
    #[arg(long)]
    pub keys: bool,
    /// Only this percentage of the slots, with all of their keys
    #[arg(long, value_name = "PERCENT", value_parser = percent, conflicts_with = "slots_only")]
    pub sample: Option<f64>,
    /// Which nodes are read [default: replicas where there are any; primaries with --slots-only]
    #[arg(long, value_enum, value_name = "WHICH")]
    pub from: Option<From>,
    /// CLUSTER SLOT-STATS of all primaries at this interval, for example 10s
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "during")]
    pub every: Option<Duration>,
    /// For how long, for example 10m
    #[arg(long = "for", id = "during", value_name = "TIME", value_parser = duration, requires = "every")]
    pub during: Option<Duration>,
    /// The most of a node's time that reading may take
    #[arg(long, value_name = "PERCENT", value_parser = percent, default_value = "25")]
    pub max_load: f64,
    /// COUNT of SCAN: keys of a page
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=100_000), default_value = "500")]
    pub count: u64,
    /// A server that has not answered within this time is given up
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "10s")]
    pub timeout: Duration,
    /// When progress is shown on standard error
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub progress: When,
    /// The form of the result
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Which nodes are read.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The nodes that own the slots: their counters of use are those of the clients
    Primaries,
    /// Their replicas, where one is healthy
    Replicas,
}

impl CollectArgs {
    /// Collects, and prints what was collected.
    ///
    /// # Errors
    /// No server answers, the directory cannot be written, or nothing could be read.
    pub fn run(&self) -> Result<Ending> {
        let options = self.options()?;
        let directory = Name::from(options.out.as_path()).to_string();
        let bars = NodeBars::new(self.progress);
        let manifest = run::run(&options, &|node, page| bars.show(node, page))?;
        drop(bars);
        self.output
            .print(&manifest, Rows::or_json(usize::MAX), || {
                view::sections(&manifest, &directory)
            })?;
        Ok(ending(&manifest))
    }

    fn options(&self) -> Result<Options> {
        let seeds = self
            .urls
            .iter()
            .map(|url| Seed::parse(url))
            .collect::<Result<Vec<_>>>()?;
        let level = match (self.slots_only, self.keys) {
            (true, _) => Level::Slots,
            (_, true) => Level::Keys,
            _ => Level::Sizes,
        };
        let out = self
            .out
            .clone()
            .unwrap_or_else(|| default_out(&seeds[0].address));
        let times = self
            .every
            .zip(self.during)
            .map(|(every, during)| Times { every, during });
        Ok(Options {
            access: self.access(&seeds)?,
            seeds: seeds.into_iter().map(|seed| seed.address).collect(),
            out,
            force: self.force,
            level,
            from: self.from.map(|from| match from {
                From::Primaries => Role::Primary,
                From::Replicas => Role::Replica,
            }),
            count: self.count,
            max_load: self.max_load,
            sample_percent: self.sample.unwrap_or(100.0),
            times,
        })
    }

    fn access(&self, seeds: &[Seed]) -> Result<Access> {
        let first = &seeds[0];
        if seeds.iter().any(|seed| seed.tls != first.tls) {
            return Err(Error::bad(
                "collect",
                "rediss:// and redis:// in one run; all nodes are reached in one way",
            ));
        }
        Ok(Access {
            credentials: first.credentials.clone(),
            tls: first
                .tls
                .then(|| TlsConfig::load(&Tls::default()))
                .transpose()?,
            address_map: Vec::new(),
            timeout: self.timeout,
        })
    }
}

/// The ending of a collection.
pub fn ending(manifest: &Manifest) -> Ending {
    match manifest.incomplete {
        true => Ending::Incomplete,
        false => Ending::Done,
    }
}

fn default_out(seed: &Address) -> PathBuf {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-_.".contains(c) => c,
        _ => '-',
    };
    let name: String = seed.to_string().chars().map(plain).collect();
    PathBuf::from(format!("{}.collect", name.trim_matches(['-', '.'])))
}

/// A percentage above 0, up to 100: `25`, `2.5%`.
fn percent(text: &str) -> std::result::Result<f64, String> {
    let percent = values::percent(text)?;
    let is_fine = percent > 0.0 && percent <= 100.0;
    is_fine
        .then_some(percent)
        .ok_or_else(|| "not above 0 and up to 100".into())
}

/// A time: `500ms`, `10s`, `5m`, `1h`; at most a day, and more than nothing.
fn duration(text: &str) -> std::result::Result<Duration, String> {
    let digits = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => 0.0,
    };
    let seconds = number.parse::<f64>().unwrap_or(0.0) * seconds;
    match (0.001..=86_400.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err("not a time; write 500ms, 10s, 5m or 1h, at most a day".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_percentages_are_read_as_people_write_them() {
        for (text, ms) in [
            ("500ms", 500),
            ("10s", 10_000),
            ("2", 2000),
            ("1.5m", 90_000),
            ("24h", 86_400_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "0s", "-1s", "25h", "1d", "1e9s", "NaN"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!((percent("25"), percent("2.5%")), (Ok(25.0), Ok(2.5)));
        for text in ["0", "101", "-1", "x", "NaN"] {
            assert!(percent(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_directory_is_named_after_the_server() {
        let name = |text: &str| default_out(&Address::parse(text).unwrap());
        assert_eq!(
            name("10.0.0.1:7000"),
            PathBuf::from("10.0.0.1-7000.collect")
        );
        assert_eq!(name("[::1]:7000"), PathBuf::from("1-7000.collect"));
    }
}
