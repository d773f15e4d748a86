//! Finds short hash tags that hash to wanted slots.
//!
//! Words are tried in a fixed order, short ones first, and each is hashed inside a complete key. The same question thus
//! has the same answer everywhere, and no answer needs checking. A given slot is hit every 16384 words on average,
//! which takes less than a millisecond.

#[cfg(feature = "cli")]
pub(crate) mod view;

use std::collections::HashSet;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::slot::slot;
use slotscope_topology::{Topology, ranges};

/// The characters of words: letters before digits, without lookalikes (0 and o, 1, i and l).
const LETTERS: &[u8] = b"abcdefghjkmnpqrstuvwxyz23456789";

/// The placeholder in a template.
const HOLE: &[u8] = b"{}";

/// The text of a hash tag with one variable part: the text between the braces of the key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    before: Vec<u8>,
    behind: Vec<u8>,
}

impl Template {
    /// Parses `fav:{}`: a tag of `fav:` and a word. `{}` is the placeholder for the word; other braces are not allowed,
    /// since the server ends a tag at the first `}`, and Redis Enterprise treats nested braces differently.
    ///
    /// ```
    /// use slotscope::find_tag::{Template, in_slot};
    /// let template = Template::parse(b"fav:{}")?;
    /// let found = in_slot(5474, &template).next().expect("there is always one");
    /// assert_eq!(slotscope::slot::slot(format!("prod:news:favorites:{{{}}}:meta", found.tag).as_bytes()), 5474);
    /// # Ok::<(), slotscope::error::Error>(())
    /// ```
    ///
    /// # Errors
    /// `{}` is missing, or there is another brace.
    pub fn parse(text: &[u8]) -> Result<Template> {
        let bad = |hint: &str| Err(Error::option("template", Name::from(text), hint));
        let Some(at) = text.windows(HOLE.len()).position(|part| part == HOLE) else {
            return bad("has no {} in the place of the part that changes; write it as: fav:{}");
        };
        let (before, behind) = (&text[..at], &text[at + HOLE.len()..]);
        if before.iter().chain(behind).any(|byte| b"{}".contains(byte)) {
            return bad(
                "has other braces than its {}; it is the text inside the braces of a key, as in: fav:{}",
            );
        }
        Ok(Template {
            before: before.to_vec(),
            behind: behind.to_vec(),
        })
    }
}

/// A suggested tag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundTag {
    /// The text of the tag, without braces.
    pub tag: Name,
    /// The slot of every key with this tag.
    pub slot: u16,
}

/// Tags of one slot, shortest first; infinite.
pub fn in_slot(wanted: u16, template: &Template) -> impl Iterator<Item = FoundTag> + '_ {
    Words::of(template).filter(move |tag| tag.slot == wanted)
}

/// Tags of any of `wanted`, visiting each slot once per round; infinite. `wanted` must not be empty.
pub fn on_slots<'a>(
    wanted: &'a [u16],
    template: &'a Template,
) -> impl Iterator<Item = FoundTag> + 'a {
    let mut left: HashSet<u16> = HashSet::new();
    Words::of(template).filter(move |tag| {
        if left.is_empty() {
            left.extend(wanted);
        }
        left.remove(&tag.slot)
    })
}

/// `count` tags in distinct slots, ascending by slot: equally many on each node that has enough slots, and evenly
/// spread over each node's slots.
///
/// # Errors
/// There are fewer owned slots than tags requested.
pub fn spread(count: usize, topology: &Topology, template: &Template) -> Result<Vec<FoundTag>> {
    let owned: Vec<Vec<u16>> = topology
        .nodes
        .iter()
        .map(|node| ranges::slots(&node.ranges).collect())
        .filter(|slots: &Vec<u16>| !slots.is_empty())
        .collect();
    let room: Vec<usize> = owned.iter().map(Vec::len).collect();
    let total: usize = room.iter().sum();
    if count > total {
        let hint = format!("there are {total} slots with an owner, and each takes one tag");
        return Err(Error::option("spread", count.to_string(), hint));
    }
    let even = |(slots, quota): (&Vec<u16>, usize)| -> Vec<u16> {
        let places = (0..quota).map(|i| (2 * i + 1) * slots.len() / (2 * quota));
        places.map(|place| slots[place]).collect()
    };
    let quotas = quotas(count, &room);
    let wanted: Vec<u16> = owned.iter().zip(quotas).flat_map(even).collect();
    let mut tags: Vec<FoundTag> = on_slots(&wanted, template).take(count).collect();
    tags.sort_by_key(|tag| tag.slot);
    Ok(tags)
}

/// Distributes `count` over nodes with limited room, round robin.
fn quotas(count: usize, room: &[usize]) -> Vec<usize> {
    let mut quotas = vec![0; room.len()];
    let mut left = count;
    while left > 0 {
        for (quota, _) in quotas
            .iter_mut()
            .zip(room)
            .filter(|(quota, room)| **quota < **room)
        {
            let share = left.min(1);
            (*quota, left) = (*quota + share, left - share);
        }
    }
    quotas
}

/// All words in the template, shortest first, then in `LETTERS` order.
struct Words<'a> {
    template: &'a Template,
    /// The word as indices into `LETTERS`, first letter first.
    word: Vec<usize>,
    /// `{`, the tag, `}`.
    key: Vec<u8>,
}

impl<'a> Words<'a> {
    fn of(template: &'a Template) -> Self {
        Words {
            template,
            word: Vec::new(),
            key: Vec::new(),
        }
    }

    /// Advances to the next word, like incrementing a number.
    fn count_up(&mut self) {
        let from = 1 + self.template.before.len();
        for i in (0..self.word.len()).rev() {
            self.word[i] = (self.word[i] + 1) % LETTERS.len();
            self.key[from + i] = LETTERS[self.word[i]];
            if self.word[i] > 0 {
                return;
            }
        }
        self.word.push(0);
        let word = vec![LETTERS[0]; self.word.len()];
        self.key = [
            b"{",
            self.template.before.as_slice(),
            &word,
            &self.template.behind,
            b"}",
        ]
        .concat();
    }
}

impl Iterator for Words<'_> {
    type Item = FoundTag;

    fn next(&mut self) -> Option<FoundTag> {
        self.count_up();
        Some(FoundTag {
            tag: Name::from(&self.key[1..self.key.len() - 1]),
            slot: slot(&self.key),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_base::slot::SLOTS;

    fn template(text: &str) -> Template {
        Template::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn words_come_short_ones_first_and_each_once() {
        let template = template("a{}b");
        let words: Vec<Name> = Words::of(&template)
            .map(|found| found.tag)
            .take(31 + 31 * 31 + 1)
            .collect();
        assert_eq!(
            [&words[0], &words[31], &words[992]].map(Name::to_string),
            ["aab", "aaab", "aaaab"]
        );
        assert_eq!(words.iter().collect::<HashSet<_>>().len(), words.len());
    }

    #[test]
    fn every_slot_has_a_tag_of_at_most_four_letters() {
        let template = template("{}");
        let four: usize = (1..=4).map(|letters| LETTERS.len().pow(letters)).sum();
        let met: HashSet<u16> = Words::of(&template)
            .take(four)
            .map(|found| found.slot)
            .collect();
        assert_eq!(met.len(), SLOTS);
    }

    #[test]
    fn nodes_with_few_slots_leave_their_part_to_the_others() {
        assert_eq!(quotas(7, &[5461, 5462, 5461]), [3, 2, 2]);
        assert_eq!(quotas(9, &[1, 100, 100]), [1, 4, 4]);
        assert_eq!(quotas(6, &[1, 2, 3]), [1, 2, 3]);
    }

    #[test]
    fn a_template_is_the_text_inside_the_braces_with_one_place_in_it() {
        assert_eq!(
            template("fav:{}"),
            Template {
                before: b"fav:".into(),
                behind: b"".into()
            }
        );
        for text in ["", "fav", "{fav:{}}", "{}{}", "a}{}", "{{}}"] {
            assert!(Template::parse(text.as_bytes()).is_err(), "{text}");
        }
    }

    #[test]
    fn a_spread_takes_every_slot_before_it_takes_none_twice() {
        let topology = Topology::even(5, String::from("even 5")).unwrap();
        let found = spread(SLOTS, &topology, &template("{}")).unwrap();
        assert!(
            found
                .iter()
                .map(|found| usize::from(found.slot))
                .eq(0..SLOTS)
        );
        assert!(spread(SLOTS + 1, &topology, &template("{}")).is_err());
    }
}
