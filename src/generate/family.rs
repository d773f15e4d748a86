//! The families of keys that `generate` mixes, named as a shop's teams would: most follow
//! `<env>:<service>:<module>:{<domain>:<id>}:<part>`, some older ones do not.
//!
//! Each key holds a number that its family never had before, and no family's keys begin like another's.

use crate::generate::draw::{Draw, Turn, Zipf};
use crate::generate::spell::Text;

/// Users with favourites: few enough that the heaviest of a Zipf distribution holds 8.3%.
pub(super) const FAVOURITE_TAGS: u32 = 100_000;

/// How many families there are.
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
    /// `prod:shop:dict:{common}:<n>`, what a cluster should not have
    Common,
    /// `prod:ops:flags:{config}:<n>`, the same
    Config,
    /// `lock:order:<n>`
    Lock,
    /// `prod:feed:posts:{author:<user>}:<n>`
    Post,
}

/// Kinds of ids: families that share one speak of the same users, items or orders.
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

/// Midnight on the first of June 2024, UTC: no clock is read, a dump is the same tomorrow.
const FIRST_MINUTE: u64 = 1_717_200_000;
const MINUTES_OF_A_DAY: usize = 1440;

const ACCOUNT_PARTS: [&[u8]; 3] = [b"}:base", b"}:prefs", b"}:address"];
const CART_PARTS: [&[u8]; 3] = [b"}:items", b"}:meta", b"}:coupon"];
const ORDER_PARTS: [&[u8]; 4] = [b"}:head", b"}:lines", b"}:pay", b"}:parcel"];
const CATEGORIES: [&[u8]; 8] = [
    b"books", b"garden", b"kitchen", b"music", b"outdoor", b"shoes", b"toys", b"wine",
];

impl Family {
    /// Writes the next key of this family to `text`.
    #[inline]
    pub(super) fn write(self, turn: &mut Turn, draw: &mut Draw, zipf: &Zipf, text: &mut Text) {
        match self {
            Family::User => {
                text.word(b"user:");
                text.decimal(user(draw, turn.number()));
            }
            Family::Session => {
                text.word(b"sess:");
                text.hex(draw.scatter(SESSION, 64, turn.number()));
                text.hex(draw.next());
            }
            Family::Page => {
                text.word(b"cache:page:");
                text.hex(draw.scatter(PAGE, 64, turn.number()));
            }
            Family::RateLimit => rate_limit(turn.number(), draw, text),
            Family::Item => {
                text.word(b"prod:shop:item:");
                text.decimal(item(draw, turn.number()));
            }
            Family::Stock => {
                let (number, part) = turn.part(draw, 3);
                text.word(b"prod:shop:stock:");
                text.decimal(item(draw, number));
                text.word(b":w");
                text.decimal(part as u64 + 1);
            }
            Family::Category => {
                let number = turn.number();
                text.word(b"prod:shop:category:");
                text.one_of(&CATEGORIES, number as usize % CATEGORIES.len());
                text.word(b":page:");
                text.decimal(number / CATEGORIES.len() as u64 + 1);
            }
            Family::Payment => {
                // The number is in the 48 bits that a UUID leaves alone.
                let high = draw.scatter(PAYMENT, 48, turn.number()) << 16;
                let low = draw.next();
                text.word(b"prod:pay:once:");
                text.uuid(high | low & 0xFFF, low);
            }
            Family::Account => {
                let (number, part) = turn.part(draw, ACCOUNT_PARTS.len());
                text.word(b"prod:uc:profile:{uc:");
                text.decimal(user(draw, number));
                text.one_of(&ACCOUNT_PARTS, part);
            }
            Family::Cart => {
                let (number, part) = turn.part(draw, CART_PARTS.len());
                text.word(b"prod:shop:cart:{cart:");
                text.decimal(user(draw, number));
                text.one_of(&CART_PARTS, part);
            }
            Family::Order => {
                let (number, part) = turn.part(draw, ORDER_PARTS.len());
                text.word(b"prod:shop:order:{ord:");
                text.decimal(order(draw, number));
                text.one_of(&ORDER_PARTS, part);
            }
            Family::FavouriteNews => {
                favourite(draw, zipf, text);
                text.word(b"}:news:");
                text.decimal(draw.scatter(NEWS, 24, turn.number()));
            }
            Family::FavouriteTopic => {
                favourite(draw, zipf, text);
                text.word(b"}:topic:");
                text.decimal(draw.scatter(NEWS, 20, turn.number()));
            }
            Family::Common => {
                text.word(b"prod:shop:dict:{common}:");
                text.decimal(draw.scatter(ENTRY, 24, turn.number()));
            }
            Family::Config => {
                text.word(b"prod:ops:flags:{config}:");
                text.decimal(draw.scatter(ENTRY, 20, turn.number()));
            }
            Family::Lock => {
                text.word(b"lock:order:");
                text.decimal(order(draw, turn.number()));
            }
            Family::Post => {
                let rank = draw.long_tail(AUTHOR_OCTAVES);
                text.word(b"prod:feed:posts:{author:");
                text.decimal(user(draw, rank));
                text.word(b"}:");
                text.decimal(draw.scatter(POST, 26, turn.number()));
            }
        }
    }
}

/// User ids of up to nine digits.
#[inline]
fn user(draw: &Draw, number: u64) -> u64 {
    draw.scatter(USER, 27, number)
}

/// Item numbers of up to eight digits.
#[inline]
fn item(draw: &Draw, number: u64) -> u64 {
    draw.scatter(ITEM, 25, number)
}

/// Order numbers of ten digits.
#[inline]
fn order(draw: &Draw, number: u64) -> u64 {
    8_000_000_000 + draw.scatter(ORDER, 30, number)
}

/// A favourites key up to its tag's end; the rank is scattered so that the heaviest users have any id.
#[inline]
fn favourite(draw: &mut Draw, zipf: &Zipf, text: &mut Text) {
    let rank = zipf.rank(draw);
    text.word(b"prod:news:favorites:{fav:");
    text.decimal(user(draw, rank));
}

/// An IPv4 address and a minute of a day. Past 2^32 addresses a new day begins, so no pair comes twice.
#[inline]
fn rate_limit(number: u64, draw: &mut Draw, text: &mut Text) {
    let address = draw.scatter(ADDRESS, 32, number);
    let minute = (address >> 32) * MINUTES_OF_A_DAY as u64 + draw.below(MINUTES_OF_A_DAY) as u64;
    text.word(b"rl:");
    for (byte, end) in [(24, b"."), (16, b"."), (8, b"."), (0, b":")] {
        text.decimal(address >> byte & 0xFF);
        text.word(end);
    }
    text.decimal(FIRST_MINUTE + 60 * minute);
}
