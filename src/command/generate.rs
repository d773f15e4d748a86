//! `slotscope generate`: a profile, a number of keys and a seed come in; a dump goes out, one key a line.
//!
//! The same three give the same bytes on every machine, no two keys are equal, and a shorter dump is the
//! beginning of a longer one. Memory does not grow with the number of keys.

use std::io::{self, Write};

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};

mod draw;
mod family;
mod spell;

use draw::{Draw, Turn, Zipf};
use family::{FAMILIES, Family};
use spell::Text;

/// Write a synthetic key dump to standard output, one key a line.
#[derive(Args, Debug, Clone)]
pub struct Generate {
    /// What the keys look like
    #[arg(long, value_enum, default_value_t = Profile::Commerce, value_name = "NAME")]
    pub profile: Profile,
    /// How many keys; 10_000, 10k, 10M and 10G are understood (k is 1,000)
    #[arg(long, default_value = "100k", value_parser = count, value_name = "N")]
    pub keys: u64,
    /// Another seed gives other keys of the same kind
    #[arg(long, default_value_t = 1, value_name = "S")]
    pub seed: u64,
}

/// What the generated keys look like.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// No hash tags: every node gets its fair share
    Uniform,
    /// One tag a user, Zipf-distributed: the heaviest of 100,000 users holds 8 % of the keys
    Tagged,
    /// Mostly well spread keys, but the tag {config} holds 12 % of them
    HotTag,
    /// A shop: sessions, carts, orders, stock, favourites, rate limits, and a coarse {common} tag
    Commerce,
}

/// Bytes gathered before each write: large enough that the system call costs nothing, small enough for L2.
const PAGE_BYTES: usize = 256 << 10;

impl Generate {
    /// Writes the dump to standard output.
    ///
    /// # Errors
    /// What standard output says; a closed pipe is [`Error::BrokenPipe`].
    pub fn run(&self) -> Result<()> {
        self.write_to(&mut io::stdout().lock()).map_err(Error::stdout)
    }

    /// Writes the dump to `out` in pieces of about 256 KiB, each ending with a line, and flushes it.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let families = deck(self.profile);
        let zipf = Zipf::new(family::FAVOURITE_TAGS);
        let mut draw = Draw::new(self.seed);
        let mut turns = [Turn::default(); FAMILIES];
        let mut text = Text::with_capacity(PAGE_BYTES);
        for _ in 0..self.keys {
            if text.is_full() {
                out.write_all(text.bytes())?;
                text.clear();
            }
            let family = families[draw.below(DECK)];
            family.write(&mut turns[family as usize], &mut draw, &zipf, &mut text);
            text.end_line();
        }
        out.write_all(text.bytes())?;
        out.flush()
    }
}

/// Shares of a profile are given in thousandths.
const DECK: usize = 1000;

/// The families of a profile, each as often as its share: a uniform draw from it is a weighted choice.
fn deck(profile: Profile) -> [Family; DECK] {
    let mut deck = [Family::User; DECK];
    let dealt = profile.shares().iter().flat_map(|(share, family)| std::iter::repeat_n(*family, *share));
    deck.iter_mut().zip(dealt).for_each(|(card, family)| *card = family);
    deck
}

impl Profile {
    /// How many keys in a thousand each family gets; they add up to a thousand.
    fn shares(self) -> &'static [(usize, Family)] {
        use Family::*;
        match self {
            Profile::Uniform => &[(480, User), (190, Item), (130, Page), (100, RateLimit), (100, Session)],
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
        }
    }
}

/// Reads a number of keys: digits, `_` between them, and k, M or G for thousands, millions, thousands of millions.
pub(super) fn count(text: &str) -> std::result::Result<u64, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 1_000_000),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 1_000_000_000),
        _ => (text, 1),
    };
    if !digits.starts_with(|c: char| c.is_ascii_digit()) {
        return Err("not a number of keys; write it like 5000, 10_000 or 2M".into());
    }
    let number = digits.replace('_', "").parse::<u64>();
    let number = number.map_err(|_| "not a number of keys; write it like 5000, 10_000 or 2M")?;
    number.checked_mul(unit).ok_or_else(|| "more keys than 64 bits can count".into())
}

#[cfg(test)]
mod tests;
