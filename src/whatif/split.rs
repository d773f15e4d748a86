//! Splitting a tag into several, and the smallest number of parts that helps.
//!
//! A unit is heavy from 5% of a node's fair share on. A tag of load w becomes light in K = w n / (0.05 W) parts, n the
//! nodes and W all load; but few parts may land on the same node, so K is doubled until the nodes can be level.

use regex::bytes::Regex;

use slotscope_engine::error::Result;
use slotscope_engine::metric::{Metric, PerMetric};
use slotscope_engine::name::Name;
use slotscope_engine::slot::policy::compile_over_bytes;
use slotscope_engine::text;
use slotscope_findings::plan::move_request::MoveRequest;
use slotscope_findings::plan::solve;
use slotscope_findings::summary::independent_units::{MOST_PARTS, parts_needed};
use slotscope_findings::summary::limit;
use slotscope_findings::summary::tags::Tag;
use slotscope_findings::topology::Topology;

/// Twice as many parts that bring the fullest node no further down than this are not worth it.
const GAIN: f64 = 0.005;

/// Gives the keys of a tag one of several tags.
#[derive(Debug, Clone)]
pub struct Split {
    tag: Which,
    /// How many; `None` where they are to be found.
    pub parts: Option<u32>,
}

#[derive(Debug, Clone)]
enum Which {
    Tag(Vec<u8>),
    Matching(String, Regex),
}

impl Split {
    /// Reads `TAG`, `TAG = K` or the same with `/REGEX/`.
    pub(super) fn parse(text: &str) -> std::result::Result<Split, String> {
        let usage = "K in 'TAG = K' or '/REGEX/ = K' is from 2 to 16384, as in 'common = 16'; without K the smallest \
            that helps is found";
        let is_number = |parts: &str| parts.bytes().all(|byte| byte.is_ascii_digit());
        let (tag, parts) = match text.rsplit_once('=') {
            Some((tag, parts)) => (tag, Some(parts.trim_ascii())),
            None => (text, None),
        };
        let parse = |parts: &str| parts.parse().ok().filter(|_| is_number(parts));
        let parts = match parts.map(parse) {
            None => None,
            Some(Some(parts)) if (2..=MOST_PARTS).contains(&parts) => Some(parts),
            Some(_) => return Err(usage.into()),
        };
        let tag = tag.trim_ascii();
        if tag.is_empty() {
            return Err(usage.into());
        }
        let tag = match tag.strip_prefix('/').and_then(|tag| tag.strip_suffix('/')) {
            Some(pattern) => {
                let regex = compile_over_bytes(&format!("^(?:{pattern})$"))?;
                Which::Matching(tag.to_owned(), regex)
            }
            None => {
                let bare = tag.strip_prefix('{').and_then(|tag| tag.strip_suffix('}'));
                Which::Tag(bare.unwrap_or(tag).as_bytes().to_vec())
            }
        };
        Ok(Split { tag, parts })
    }

    /// Whether it splits a tag.
    pub(crate) fn is_of(&self, tag: &[u8]) -> bool {
        match &self.tag {
            Which::Tag(name) => name == tag,
            Which::Matching(_, regex) => regex.is_match(tag),
        }
    }

    /// The part of a key; `None` if their number is not known yet.
    pub(super) fn part_of(&self, key: &[u8]) -> Option<u32> {
        self.parts
            .map(|parts| u32::from(hashslot::crc16(key)) % parts)
    }

    /// The tag that it splits, in words: "the tag {common}".
    pub(crate) fn tag_in_words(&self) -> String {
        match &self.tag {
            Which::Tag(tag) => format!("the tag {{{}}}", text::short(&Name::from(tag.as_slice()))),
            Which::Matching(text, _) => {
                format!(
                    "a tag that matches {}",
                    text::short(&Name::from(text.as_str()))
                )
            }
        }
    }

    /// The flag that asks for this many parts.
    pub fn flag(&self, parts: u32) -> String {
        let tag = match &self.tag {
            Which::Tag(tag) => Name::from(tag.as_slice()).to_string(),
            Which::Matching(text, _) => text.clone(),
        };
        format!("--split '{} = {parts}'", tag.replace('\'', r"'\''"))
    }
}

/// The numbers of parts to begin with, for `open` splits without one: those that the heaviest of their tags needs.
pub(crate) fn first_parts(
    open: &[&Split],
    tags: &[Tag],
    by: Metric,
    nodes: usize,
    total: f64,
) -> Vec<u32> {
    let load = |tag: &Tag| tag.load.get(by).copied().unwrap_or(0);
    open.iter()
        .map(|split| {
            let those = tags.iter().filter(|tag| split.is_of(&tag.tag.0));
            let heaviest = those.map(load).max().unwrap_or(0);
            parts_needed(heaviest as f64, nodes, total)
        })
        .collect()
}

/// A number of parts that was tried, and the result.
pub(crate) struct Tried<T> {
    /// The counts with these parts.
    pub counted: T,
    /// The numbers of parts.
    pub parts: Vec<u32>,
    /// The fullest node in fair shares, once slots are moved as `plan` does.
    pub planned: f64,
}

/// Doubles `parts` until the nodes can be level; `count` counts the keys with this many parts, `planned` gives the ratio
/// of that.
///
/// # Errors
/// As `count`.
pub(crate) fn search<T>(
    mut parts: Vec<u32>,
    mut count: impl FnMut(&[u32]) -> Result<T>,
    planned: impl Fn(&T) -> f64,
) -> Result<Tried<T>> {
    let mut best: Option<Tried<T>> = None;
    loop {
        let counted = count(&parts)?;
        let tried = Tried {
            planned: planned(&counted),
            parts: parts.clone(),
            counted,
        };
        let helps = |best: &Tried<T>| tried.planned < best.planned - GAIN;
        if let Some(best) = best.take_if(|best| !helps(best)) {
            return Ok(best);
        }
        if tried.planned <= limit::BALANCED || parts.iter().all(|parts| *parts == MOST_PARTS) {
            return Ok(tried);
        }
        best = Some(tried);
        parts
            .iter_mut()
            .for_each(|parts| *parts = (*parts * 2).min(MOST_PARTS));
    }
}

/// Nodes of a split tag are to be even by moves: below the balanced band, whatever the metric.
const TOLERANCE: f64 = 0.02;

/// The fullest node, in fair shares, once slots are moved as `plan` does; 1 where nothing has a load.
pub fn planned_max_over_mean(loads: &PerMetric<Vec<u64>>, by: Metric, topology: &Topology) -> f64 {
    let loads = loads.get(by).map(Vec::as_slice);
    let request = loads.and_then(|loads| MoveRequest::alone(topology, by, loads, TOLERANCE));
    request.map_or(1.0, |request| solve::plan(&request).roles[0].after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_named_with_or_without_braces_and_with_or_without_parts() {
        for (text, parts) in [
            ("common = 16", Some(16)),
            ("{common}=16", Some(16)),
            ("/com+on/ = 16", Some(16)),
            ("common", None),
            ("{common}", None),
            ("/com+on/", None),
        ] {
            let split = Split::parse(text).unwrap();
            assert!(split.is_of(b"common") && !split.is_of(b"commons"), "{text}");
            assert_eq!(split.parts, parts, "{text}");
        }
        for text in [
            "common = 1",
            "common = 16385",
            "common = x",
            "common = +8",
            "a =",
            "",
            "= 4",
        ] {
            assert!(
                Split::parse(text).is_err_and(|what| what.contains("'TAG = K'")),
                "{text}"
            );
        }
    }

    #[test]
    fn parts_are_doubled_until_the_nodes_can_be_level_or_it_no_longer_helps() {
        let run = |planned: &dyn Fn(u32) -> f64| {
            let found = search(vec![3], |parts| Ok(parts[0]), |parts| planned(*parts)).unwrap();
            (found.counted, found.parts[0])
        };
        assert_eq!(run(&|_| 1.0), (3, 3));
        assert_eq!(run(&|parts| 1.0 + 1.0 / f64::from(parts)), (24, 24));
        assert_eq!(
            run(&|parts| if parts < 12 {
                2.0 - f64::from(parts) / 100.0
            } else {
                1.5
            }),
            (12, 12)
        );
        assert_eq!(run(&|_| 1.3), (3, 3), "another cause");
        assert_eq!(run(&|parts| 9.0 - f64::from(parts) / 2e4), (3, 3));
    }
}
