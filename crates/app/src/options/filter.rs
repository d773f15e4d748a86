//! Filters keys by name, type, size and expiry.

use std::sync::Arc;

use regex::bytes::RegexBuilder;
use serde::{Deserialize, Serialize};

use slotscope_base::error::{Error, Result};
use slotscope_base::glob::Glob;
use slotscope_base::slot::policy::reason;
use slotscope_count::scan::filter::{Expires, Filter};

#[cfg(feature = "cli")]
use crate::options::headings::FILTERS;
use crate::options::sizes::config_size;
use crate::options::{times, words};

/// Which keys are counted: those that meet all conditions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
#[cfg_attr(feature = "cli", command(next_help_heading = FILTERS))]
#[serde(default)]
pub struct FilterSpec {
    /// Only keys with a name that matches, as SCAN MATCH does; repeat it for keys that match any
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "match",
            value_name = "GLOB",
            allow_hyphen_values = true,
            hide_short_help = true
        )
    )]
    #[serde(rename = "match")]
    pub globs: Vec<String>,
    /// The same with a regular expression, which need not match all of the name
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "match-regex",
            value_name = "REGEX",
            allow_hyphen_values = true,
            hide_short_help = true
        )
    )]
    #[serde(rename = "match_regex")]
    pub regexes: Vec<String>,
    /// Only keys of these types, such as string,hash
    #[cfg_attr(
        feature = "cli",
        arg(
            long = "type",
            value_name = "TYPES",
            value_delimiter = ',',
            hide_short_help = true
        )
    )]
    #[serde(rename = "type")]
    pub types: Vec<String>,
    /// Only keys of at least this size: bytes, or 10kb, 1mb
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "SIZE", hide_short_help = true)
    )]
    pub min_size: Option<String>,
    /// Only keys of at most this size
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "SIZE", hide_short_help = true)
    )]
    pub max_size: Option<String>,
    /// Only keys that never expire (none), that expire (any), or that expire in a range: 1h..7d from now,
    /// 2026-12-01..2027-01-01
    ///
    /// Either end of a range may be left out.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_name = "WHEN", hide_short_help = true)
    )]
    pub ttl: Option<String>,
}

impl FilterSpec {
    /// The filter; `None` for all keys.
    ///
    /// # Errors
    /// A condition is unusable.
    pub fn filter(&self) -> Result<Option<Arc<Filter>>> {
        if *self == FilterSpec::default() {
            return Ok(None);
        }
        let globs = self.globs.iter().map(|glob| Glob::new(glob.as_bytes()));
        let compile = |regex: &String| {
            let built = RegexBuilder::new(regex).unicode(false).build();
            built.map_err(|error| Error::option("match-regex", regex.as_str(), reason(&error)))
        };
        let regexes = self.regexes.iter().map(compile);
        let min = size("min-size", self.min_size.as_deref())?;
        let max = size("max-size", self.max_size.as_deref())?;
        let sizes = min.unwrap_or(0)..=max.unwrap_or(u64::MAX);
        if sizes.is_empty() {
            let reason = "is more than --max-size; exchange them";
            return Err(Error::option(
                "min-size",
                self.min_size.as_deref().unwrap_or(""),
                reason,
            ));
        }
        if self.types.iter().any(String::is_empty) {
            return Err(Error::option("type", "", "name types such as string,hash"));
        }
        Ok(Some(Arc::new(Filter {
            globs: globs.collect(),
            regexes: regexes.collect::<Result<_>>()?,
            types: self.types.clone(),
            sizes: (min.is_some() || max.is_some()).then_some(sizes),
            expiry: self.expires()?,
            words: words(self),
        })))
    }

    /// Replaces durations by absolute times, so that it means the same later and elsewhere.
    ///
    /// # Errors
    /// A time is unusable.
    pub fn settled(&self) -> Result<FilterSpec> {
        let ttl = match self.expires()? {
            Some(Expires::Within(range)) => {
                Some(format!("{}..{}", range.start() / 1000, range.end() / 1000))
            }
            _ => self.ttl.clone(),
        };
        Ok(FilterSpec {
            ttl,
            ..self.clone()
        })
    }

    fn expires(&self) -> Result<Option<Expires>> {
        let Some(text) = self.ttl.as_deref() else {
            return Ok(None);
        };
        let parsed = match text {
            "none" => Some(Expires::Never),
            "any" => Some(Expires::Sometime),
            range => times::range(range, times::now())
                .map(|range| Expires::Within(range.start() * 1000..=range.end() * 1000 + 999)),
        };
        let hint = "expected none, any, or a range such as 1h..7d, ..1h or 2026-12-01..2027-01-01";
        let bad = || Error::option("ttl", text, hint);
        parsed.map(Some).ok_or_else(bad)
    }
}

fn size(name: &'static str, text: Option<&str>) -> Result<Option<u64>> {
    let Some(text) = text else {
        return Ok(None);
    };
    let hint = "not a size; write bytes, or 10kb, 1mb, 4gb as in redis.conf";
    let bad = || Error::option(name, text, hint);
    config_size(text).map(Some).ok_or_else(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ttl(text: &str) -> FilterSpec {
        FilterSpec {
            ttl: Some(text.into()),
            ..FilterSpec::default()
        }
    }

    #[test]
    fn a_condition_that_cannot_be_used_is_named() {
        let sizes = |min: &str, max: &str| FilterSpec {
            min_size: Some(min.into()),
            max_size: Some(max.into()),
            ..FilterSpec::default()
        };
        let regex = FilterSpec {
            regexes: vec!["(".into()],
            ..FilterSpec::default()
        };
        for (spec, wanted) in [
            (ttl("soon"), "--ttl soon: expected none, any"),
            (sizes("10x", "1"), "--min-size 10x: not a size"),
            (sizes("1", "many"), "--max-size many: not a size"),
            (
                sizes("2kb", "1kb"),
                "--min-size 2kb: is more than --max-size",
            ),
            (regex, "--match-regex \"(\": "),
        ] {
            let error = spec.filter().unwrap_err().to_string();
            assert!(error.starts_with(wanted), "{error}");
        }
        assert!(FilterSpec::default().filter().unwrap().is_none());
    }

    #[test]
    fn settled_times_stay_what_they_are() {
        let settled = ttl("1h..2h").settled().unwrap();
        assert_ne!(settled, ttl("1h..2h"));
        assert_eq!(settled.settled().unwrap(), settled);
        let range = |spec: &FilterSpec| spec.filter().unwrap().unwrap().expiry.clone();
        assert!(matches!(range(&settled), Some(Expires::Within(_))));
        assert_eq!(ttl("any").settled().unwrap(), ttl("any"));
    }
}
