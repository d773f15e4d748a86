//! The key families mixed by `generate`, named as the teams of a shop would: most follow
//! `<env>:<service>:<module>:{<domain>:<id>}:<part>`, some older ones do not.
//!
//! Each key contains a number unique within its family, and families have distinct prefixes.

use std::io::{self, Write};
use std::net::Ipv4Addr;

use crate::generate::draw::{Draw, Turn, Zipf};

/// Users with favourites: few enough for the heaviest of a Zipf distribution to hold 8.3%.
pub(super) const FAVOURITE_TAGS: u32 = 100_000;

/// Number of families.
pub(super) const FAMILIES: usize = Family::Post as usize + 1;

/// Authors of posts: 2^23, a Zipf tail of millions of tags.
const AUTHOR_OCTAVES: u32 = 23;

/// A family of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Family {
    /// `user:<n>`
    User,
    /// `sess:<32 hex digits>`
    Session,
    /// `cache:page:<16 hex digits>`
    Page,
    /// `rl:<address>:<minute>`, a counter with a time in its name
    RateLimit,
    /// `prod:shop:item:<n>`
    Item,
    /// `prod:shop:stock:<item>:w<warehouse>`
    Stock,
    /// `prod:shop:category:<word>:page:<n>`
    Category,
    /// `prod:pay:once:<uuid>`
    Payment,
    /// `prod:uc:profile:{uc:<user>}:<part>`
    Account,
    /// `prod:shop:cart:{cart:<user>}:<part>`
    Cart,
    /// `prod:shop:order:{ord:<order>}:<part>`
    Order,
    /// `prod:news:favorites:{fav:<user>}:news:<n>`
    FavouriteNews,
    /// `prod:news:favorites:{fav:<user>}:topic:<n>`
    FavouriteTopic,
    /// `prod:shop:dict:{common}:<n>`, an antipattern in a cluster
    Common,
    /// `prod:ops:flags:{config}:<n>`, another antipattern
    Config,
    /// `lock:order:<n>`
    Lock,
    /// `prod:feed:posts:{author:<user>}:<n>`
    Post,
}

/// Kinds of ids: families sharing one refer to the same users, items or orders.
const USER: u64 = 1;
const ITEM: u64 = 2;
const ORDER: u64 = 3;
const NEWS: u64 = 4;
const ENTRY: u64 = 5;
const SESSION: u64 = 6;
const PAGE: u64 = 7;
const PAYMENT: u64 = 8;
const ADDRESS: u64 = 9;
const POST: u64 = 10;

/// Midnight on 1 June 2024, UTC: no clock is used, so that a dump is reproducible.
const FIRST_MINUTE: u64 = 1_717_200_000;
const MINUTES_OF_A_DAY: usize = 1440;

const ACCOUNT_PARTS: [&str; 3] = ["base", "prefs", "address"];
const CART_PARTS: [&str; 3] = ["items", "meta", "coupon"];
const ORDER_PARTS: [&str; 4] = ["head", "lines", "pay", "parcel"];
const CATEGORIES: [&str; 8] = [
    "books", "garden", "kitchen", "music", "outdoor", "shoes", "toys", "wine",
];

impl Family {
    /// Writes the next key of this family and a line end to `text`.
    pub(super) fn write(
        self,
        turn: &mut Turn,
        draw: &mut Draw,
        zipf: &Zipf,
        text: &mut Vec<u8>,
    ) -> io::Result<()> {
        match self {
            Family::User => writeln!(text, "user:{}", user(draw, turn.number())),
            Family::Session => {
                let high = draw.scatter(SESSION, 64, turn.number());
                writeln!(text, "sess:{high:016x}{:016x}", draw.next())
            }
            Family::Page => {
                let page = draw.scatter(PAGE, 64, turn.number());
                writeln!(text, "cache:page:{page:016x}")
            }
            Family::RateLimit => rate_limit(turn.number(), draw, text),
            Family::Item => writeln!(text, "prod:shop:item:{}", item(draw, turn.number())),
            Family::Stock => {
                let (number, part) = turn.part(draw, 3);
                let item = item(draw, number);
                writeln!(text, "prod:shop:stock:{item}:w{}", part + 1)
            }
            Family::Category => {
                let number = turn.number() as usize;
                let category = CATEGORIES[number % CATEGORIES.len()];
                let page = number / CATEGORIES.len() + 1;
                writeln!(text, "prod:shop:category:{category}:page:{page}")
            }
            Family::Payment => {
                // The number is in the 48 bits not fixed by the UUID version.
                let number = draw.scatter(PAYMENT, 48, turn.number());
                payment(number << 16, draw.next(), text)
            }
            Family::Account => {
                let (number, part) = turn.part(draw, ACCOUNT_PARTS.len());
                let (user, part) = (user(draw, number), ACCOUNT_PARTS[part]);
                writeln!(text, "prod:uc:profile:{{uc:{user}}}:{part}")
            }
            Family::Cart => {
                let (number, part) = turn.part(draw, CART_PARTS.len());
                let (user, part) = (user(draw, number), CART_PARTS[part]);
                writeln!(text, "prod:shop:cart:{{cart:{user}}}:{part}")
            }
            Family::Order => {
                let (number, part) = turn.part(draw, ORDER_PARTS.len());
                let (order, part) = (order(draw, number), ORDER_PARTS[part]);
                writeln!(text, "prod:shop:order:{{ord:{order}}}:{part}")
            }
            Family::FavouriteNews => {
                let user = favourite(draw, zipf);
                let news = draw.scatter(NEWS, 24, turn.number());
                writeln!(text, "prod:news:favorites:{{fav:{user}}}:news:{news}")
            }
            Family::FavouriteTopic => {
                let user = favourite(draw, zipf);
                let topic = draw.scatter(NEWS, 20, turn.number());
                writeln!(text, "prod:news:favorites:{{fav:{user}}}:topic:{topic}")
            }
            Family::Common => {
                let entry = draw.scatter(ENTRY, 24, turn.number());
                writeln!(text, "prod:shop:dict:{{common}}:{entry}")
            }
            Family::Config => {
                let entry = draw.scatter(ENTRY, 20, turn.number());
                writeln!(text, "prod:ops:flags:{{config}}:{entry}")
            }
            Family::Lock => writeln!(text, "lock:order:{}", order(draw, turn.number())),
            Family::Post => {
                let rank = draw.long_tail(AUTHOR_OCTAVES);
                let (author, post) = (user(draw, rank), draw.scatter(POST, 26, turn.number()));
                writeln!(text, "prod:feed:posts:{{author:{author}}}:{post}")
            }
        }
    }
}

/// A user id of up to nine digits.
fn user(draw: &Draw, number: u64) -> u64 {
    draw.scatter(USER, 27, number)
}

/// A Zipf-distributed user: ranks are scattered, so that the heaviest users have arbitrary ids.
fn favourite(draw: &mut Draw, zipf: &Zipf) -> u64 {
    let rank = zipf.rank(draw);
    user(draw, rank)
}

/// An item number of up to eight digits.
fn item(draw: &Draw, number: u64) -> u64 {
    draw.scatter(ITEM, 25, number)
}

/// A ten-digit order number.
fn order(draw: &Draw, number: u64) -> u64 {
    8_000_000_000 + draw.scatter(ORDER, 30, number)
}

/// A random UUID (version 4) of `high` and `low`, with six bits and the lowest twelve of `high` replaced.
fn payment(high: u64, low: u64, text: &mut Vec<u8>) -> io::Result<()> {
    let (time, middle) = (high >> 32, high >> 16 & 0xFFFF);
    let (version, variant) = (0x4000 | low & 0xFFF, 0x8000 | low >> 48 & 0x3FFF);
    let node = low & 0xFFFF_FFFF_FFFF;
    writeln!(
        text,
        "prod:pay:once:{time:08x}-{middle:04x}-{version:04x}-{variant:04x}-{node:012x}"
    )
}

/// An IPv4 address and a minute of the day. After 2^32 addresses the next day starts, so that no pair repeats.
fn rate_limit(number: u64, draw: &mut Draw, text: &mut Vec<u8>) -> io::Result<()> {
    let address = draw.scatter(ADDRESS, 32, number);
    let minute = (address >> 32) * MINUTES_OF_A_DAY as u64 + draw.below(MINUTES_OF_A_DAY) as u64;
    let (ip, time) = (
        Ipv4Addr::from_bits(address as u32),
        FIRST_MINUTE + 60 * minute,
    );
    writeln!(text, "rl:{ip}:{time}")
}
