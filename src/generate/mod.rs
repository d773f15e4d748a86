//! Synthetic key dumps: a profile, a number of keys and a seed determine a dump, one key per line.
//!
//! The dump is the same on every machine, no two keys are equal, and a shorter dump is a prefix of a longer one. Memory
//! does not depend on the number of keys.

mod draw;
mod family;

use std::io::{self, Write};

use crate::generate::draw::{Draw, Turn, Zipf};
use crate::generate::family::{FAMILIES, FAVOURITE_TAGS, Family};

/// A dump to generate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generate {
    /// The kind of keys.
    pub profile: Profile,
    /// The number of keys.
    pub keys: u64,
    /// A different seed gives different keys of the same kind.
    pub seed: u64,
}

/// What the generated keys look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Profile {
    /// No hash tags
    Uniform,
    /// One tag per user, Zipf-distributed: the heaviest holds 8% of the keys
    Tagged,
    /// Well spread keys, but the tag {config} holds 12% of them
    HotTag,
    /// A shop with a coarse {common} tag
    Commerce,
    /// A feed: millions of authors with a tag each, Zipf-distributed, beside keys without a tag
    ZipfTail,
}

/// Bytes per write: large enough to make system calls negligible, small enough for L2.
const PAGE_BYTES: usize = 256 << 10;

impl Generate {
    /// Writes the dump to `out` in pieces of about 256 KiB, each ending with a complete line, and flushes it.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let families = deck(self.profile);
        let zipf = Zipf::new(FAVOURITE_TAGS);
        let mut draw = Draw::new(self.seed);
        let mut turns = [Turn::default(); FAMILIES];
        let mut text = Vec::new();
        for _ in 0..self.keys {
            if text.len() >= PAGE_BYTES {
                out.write_all(&text)?;
                text.clear();
            }
            let family = families[draw.below(DECK)];
            family.write(&mut turns[family as usize], &mut draw, &zipf, &mut text)?;
        }
        out.write_all(&text)?;
        out.flush()
    }
}

/// Shares of a profile are in thousandths.
const DECK: usize = 1000;

/// The families of a profile, each repeated by its share: a uniform draw from it is a weighted choice.
fn deck(profile: Profile) -> [Family; DECK] {
    let mut deck = [Family::User; DECK];
    let dealt = profile
        .shares()
        .iter()
        .flat_map(|(share, family)| std::iter::repeat_n(*family, *share));
    deck.iter_mut()
        .zip(dealt)
        .for_each(|(card, family)| *card = family);
    deck
}

impl Profile {
    /// Keys per thousand for each family; the sum is a thousand.
    fn shares(self) -> &'static [(usize, Family)] {
        use Family::*;
        match self {
            Profile::Uniform => &[
                (480, User),
                (190, Item),
                (130, Page),
                (100, RateLimit),
                (100, Session),
            ],
            Profile::Tagged => &[(850, FavouriteNews), (150, FavouriteTopic)],
            Profile::HotTag => &[
                (120, Config),
                (320, User),
                (130, Item),
                (90, Page),
                (70, RateLimit),
                (70, Session),
                (80, Account),
                (60, Cart),
                (60, Order),
            ],
            Profile::Commerce => &[
                (200, Session),
                (130, Account),
                (120, Cart),
                (120, Order),
                (100, Item),
                (70, Stock),
                (70, Common),
                (60, RateLimit),
                (50, FavouriteNews),
                (45, Page),
                (20, Category),
                (10, Payment),
                (4, Config),
                (1, Lock),
            ],
            Profile::ZipfTail => &[
                (550, Post),
                (150, User),
                (100, Session),
                (100, Item),
                (60, Page),
                (40, Payment),
            ],
        }
    }
}

#[cfg(test)]
mod tests;
