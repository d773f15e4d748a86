//! Splitting a tag into several.

use regex::bytes::Regex;

use slotscope_base::name::Name;
use slotscope_base::slot::policy::compile_over_bytes;
use slotscope_base::text;
use slotscope_model::independent_units::MOST_PARTS;

/// Distributes a tag's keys over several tags.
#[derive(Debug, Clone)]
pub(super) struct Split {
    tag: Which,
    /// The number of tags.
    parts: u32,
}

#[derive(Debug, Clone)]
enum Which {
    Tag(Vec<u8>),
    Matching(String, Regex),
}

impl Split {
    /// Parses `TAG = K` or `/REGEX/ = K`.
    pub(super) fn parse(text: &str) -> std::result::Result<Split, String> {
        let usage = "K in 'TAG = K' or '/REGEX/ = K' is from 2 to 16384, as in 'common = 16'; the steps of slotscope analyze \
            say how many it takes";
        let (selector, parts) = text.rsplit_once('=').ok_or(usage)?;
        let digits = parts.trim_ascii();
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        let parts = digits
            .parse()
            .ok()
            .filter(|parts| is_number && (2..=MOST_PARTS).contains(parts))
            .ok_or(usage)?;
        let name = selector.trim_ascii();
        if name.is_empty() {
            return Err(usage.into());
        }
        let tag = match name
            .strip_prefix('/')
            .and_then(|name| name.strip_suffix('/'))
        {
            Some(pattern) => {
                let regex = compile_over_bytes(&format!("^(?:{pattern})$"))?;
                Which::Matching(name.to_owned(), regex)
            }
            None => {
                let bare = name
                    .strip_prefix('{')
                    .and_then(|name| name.strip_suffix('}'));
                Which::Tag(bare.unwrap_or(name).as_bytes().to_vec())
            }
        };
        Ok(Split { tag, parts })
    }

    /// Whether it splits a tag.
    pub(super) fn is_of(&self, tag: &[u8]) -> bool {
        match &self.tag {
            Which::Tag(name) => name == tag,
            Which::Matching(_, regex) => regex.is_match(tag),
        }
    }

    /// The part that a key goes to.
    pub(super) fn part_of(&self, key: &[u8]) -> u32 {
        u32::from(hashslot::crc16(key)) % self.parts
    }

    /// The tag that it splits, in words: "the tag {common}".
    pub(super) fn tag_in_words(&self) -> String {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_split_is_refused_with_an_example() {
        for text in [
            "common",
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
}
