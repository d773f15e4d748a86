//! Key names as applications choose them, each style with its own, and sizes.

use testkit::rng::Rng;

const WORDS: [&str; 24] = [
    "acme", "globex", "initech", "umbrella", "hooli", "stark", "wayne", "red", "green", "shoes",
    "running", "paris", "london", "tokyo", "sales", "invoice", "customer", "night", "summer",
    "large", "fast", "alpha", "beta", "delta",
];

/// A word.
pub(super) fn word(rng: &mut Rng) -> &'static str {
    let word: &&str = rng.pick(&WORDS);
    word
}

fn hex(rng: &mut Rng, len: usize) -> String {
    (0..len)
        .map(|_| char::from_digit(rng.below(16) as u32, 16).unwrap_or('0'))
        .collect()
}

fn uuid(rng: &mut Rng) -> String {
    format!(
        "{}-{}-4{}-a{}-{}",
        hex(rng, 8),
        hex(rng, 4),
        hex(rng, 3),
        hex(rng, 3),
        hex(rng, 12)
    )
}

/// A style of names: its own, and those of raw lists that look like rows.
pub(super) type Style = (&'static str, fn(&mut Rng, usize) -> Vec<u8>);

macro_rules! style {
    ($name:literal, |$rng:ident, $i:ident| $text:expr) => {
        ($name, |$rng, $i| {
            let (_, _) = (&$rng, &$i);
            $text.into_bytes()
        })
    };
}

/// Lists of raw keys: nothing in them is a value.
pub(super) const RAW: &[Style] = &[
    style!("several families", |r, i| any(r, i)),
    style!("word, blank, id", |r, i| format!("user {i}")),
    style!("words, blank, id", |r, i| format!(
        "{} {} {i}",
        word(r),
        word(r)
    )),
    style!("lists of ids", |r, i| {
        let more: Vec<String> = (0..r.below(5)).map(|_| r.below(9999).to_string()).collect();
        format!("{i},{}", more.join(","))
    }),
    style!("words and commas", |r, i| format!(
        "{},{},{}{i}",
        word(r),
        word(r),
        word(r)
    )),
    style!("coordinates", |r, i| format!(
        "geo:{:.2},{:.3}{i}",
        r.unit() * 90.0,
        r.unit() * 180.0
    )),
    style!("e-mail", |r, i| format!(
        "{}.{}{i}@{}.com",
        word(r),
        word(r),
        word(r)
    )),
    style!("URL", |r, i| format!(
        "http://{}.example.com/{i}?q={}&p=1",
        word(r),
        word(r)
    )),
    style!("SQL", |r, i| format!(
        "SELECT a, b FROM {} WHERE id={i} LIMIT {}",
        word(r),
        r.below(9)
    )),
    style!("hash", |r, i| format!("laravel_cache_:{}{i}", hex(r, 32))),
    style!("queue", |r, i| format!("bull:{}:{i}", word(r))),
    style!("number", |r, i| (100_000 + 3 * i).to_string()),
    style!("UUID", |r, i| uuid(r)),
    style!("date", |r, i| format!(
        "{}-{:02}-{:02}",
        1000 + i / 336,
        i / 28 % 12 + 1,
        i % 28 + 1
    )),
    style!("equals", |r, i| format!("user={i}")),
    style!("query", |r, i| format!("id={i}&type={}", word(r))),
    style!("word, comma", |r, i| format!("{}{i},{}", word(r), word(r))),
    style!("bars", |r, i| format!("{}|user|{i}", word(r))),
    style!("path", |r, i| format!(r"C:\Users\{}\file {i}.txt", word(r))),
    style!("tags", |r, i| format!(
        "{{user:{}}}:{}{i}",
        i / 3,
        r.pick(&["cart", "prefs", "log"])
    )),
    style!("titles", |r, i| format!("article:The {} {i}", word(r))),
    style!("epoch", |r, i| format!("event:{}", 1_795_216_373 + 7 * i)),
    style!("Chinese", |r, i| format!("用户:{i}:资料")),
    style!("class", |r, i| format!(r"App\Models\{}:{i}", word(r))),
    style!("double colon", |r, i| format!("{}::{i}", word(r))),
    style!("blank, date", |r, i| format!(
        "stat 2026-{:02}-{:02} {i}",
        r.below(12) + 1,
        r.below(28) + 1
    )),
    style!("comma in some", |r, i| if i % 3 > 0 {
        format!("user:{i}")
    } else {
        format!("geo:{i},{}", 7 * i)
    }),
    style!("names of columns", |r, i| format!(
        "{}:{i}",
        r.pick(&["size", "key", "memory", "type"])
    )),
    style!("names of commands", |r, i| format!(
        "{}:{i}",
        r.pick(&["get", "set", "del", "info"])
    )),
    style!("trailing colon", |r, i| format!("cart:{i}:")),
    style!("arrow", |r, i| format!(
        "redirect:/{}/{i} -> /{}",
        word(r),
        word(r)
    )),
    style!("cache of HTTP", |r, i| format!("GET /api/{}/{i}", word(r))),
    style!("arguments", |r, i| format!(
        "users::[{}, {i}]",
        r.below(100)
    )),
    style!("semicolon", |r, i| format!("{};{};{i}", word(r), word(r))),
    style!("version", |r, i| format!(
        "pkg:{}@{}.{}.{i}",
        word(r),
        r.below(9),
        r.below(20)
    )),
    style!("time", |r, i| format!(
        "slot:{:02}:{:02}:{i}",
        r.below(24),
        r.below(60)
    )),
    style!("brackets", |r, i| format!("list[{i}]")),
    style!("sentence", |r, i| format!(
        "how do i {} the {} in {i} steps",
        word(r),
        word(r)
    )),
    style!("base64", |r, i| format!("{}{i}==", hex(r, 20))),
    ("Java", |_, i| {
        [
            b"\xAC\xED\x00\x05t\x00\x0Buser:",
            format!("{i:06}").as_bytes(),
        ]
        .concat()
    }),
];

/// Names from several families.
pub(super) fn any(rng: &mut Rng, i: usize) -> String {
    match rng.below(5) {
        0 => format!("user:{i}:profile"),
        1 => format!("cart:{{u{}}}:{i}", i % 200),
        2 => format!("session:{}{i}", hex(rng, 12)),
        3 => format!("order:{i}:items"),
        _ => format!("{}:{}:{i}", word(rng), word(rng)),
    }
}

/// The same, a quarter with cell separators in them.
pub(super) fn odd(rng: &mut Rng, i: usize) -> String {
    match rng.below(40) {
        0 => format!("search:{} {} {i}", word(rng), word(rng)),
        1 => format!("geo:{i},{}", i % 90),
        2 => format!("q:{}; {}{i}", word(rng), word(rng)),
        3 => format!("user {i}"),
        4 => format!("note:it's {i}"),
        5 => format!("поиск:{i}"),
        6 => format!(r"path:a\b{i}"),
        7 => format!("http://h/p?q={i}"),
        8 => format!("a=b{i}"),
        9 => format!("say \"hi\" {i}"),
        _ => any(rng, i),
    }
}

/// Names from other families.
pub(super) fn other(rng: &mut Rng, i: usize) -> String {
    match rng.below(4) {
        0 => format!("tenant-{i}/doc/{}", hex(rng, 6)),
        1 => uuid(rng),
        2 => format!("lock.{}.{i}", word(rng)),
        _ => (5_000_000 + i).to_string(),
    }
}

/// The size of a key.
pub(super) fn size(rng: &mut Rng) -> u64 {
    match rng.below(10) {
        0 | 1 => 60 + rng.below(340) as u64,
        2 => 400 + rng.below(8600) as u64,
        _ => *rng.pick(&[56, 64, 72, 88, 96, 104, 120, 184]),
    }
}
