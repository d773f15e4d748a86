//! Key names as applications choose them, each style with its own, and sizes.

use testkit::rng::Rng;
use testkit::run::raw_rows;

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
    let [a, b, c, d, e] = [8, 4, 3, 3, 12].map(|len| hex(rng, len));
    format!("{a}-{b}-4{c}-a{d}-{e}")
}

/// Lists of raw keys, nothing in which is a value: a style and a name in it.
const RAW: &str = r"
several families ¦ <any>
word, blank, id ¦ user <i>
words, blank, id ¦ <word> <word> <i>
lists of ids ¦ <i>,<ids>
words and commas ¦ <word>,<word>,<word><i>
coordinates ¦ geo:<below 90>.<below 100>,<below 180>.<below 1000><i>
e-mail ¦ <word>.<word><i>@<word>.com
URL ¦ http://<word>.example.com/<i>?q=<word>&p=1
SQL ¦ SELECT a, b FROM <word> WHERE id=<i> LIMIT <below 9>
hash ¦ laravel_cache_:<hex 32><i>
queue ¦ bull:<word>:<i>
number ¦ <number>
UUID ¦ <uuid>
date ¦ <date>
equals ¦ user=<i>
query ¦ id=<i>&type=<word>
word, comma ¦ <word><i>,<word>
bars ¦ <word>|user|<i>
path ¦ C:\Users\<word>\file <i>.txt
tags ¦ {user:<third>}:<cart/prefs/log><i>
titles ¦ article:The <word> <i>
epoch ¦ event:<epoch>
Chinese ¦ 用户:<i>:资料
class ¦ App\Models\<word>:<i>
double colon ¦ <word>::<i>
blank, date ¦ stat 2026-<month>-<month> <i>
comma in some ¦ <with a comma>
names of columns ¦ <size/key/memory/type>:<i>
names of commands ¦ <get/set/del/info>:<i>
trailing colon ¦ cart:<i>:
arrow ¦ redirect:/<word>/<i> -> /<word>
cache of HTTP ¦ GET /api/<word>/<i>
arguments ¦ users::[<below 100>, <i>]
semicolon ¦ <word>;<word>;<i>
version ¦ pkg:<word>@<below 9>.<below 20>.<i>
time ¦ slot:<month>:<month>:<i>
brackets ¦ list[<i>]
sentence ¦ how do i <word> the <word> in <i> steps
base64 ¦ <hex 20><i>==
";

/// A style of names and the function that makes one.
type Style<'s> = (&'s str, Box<dyn Fn(&mut Rng, usize) -> Vec<u8>>);

/// All styles of raw keys.
pub(super) fn styles() -> Vec<Style<'static>> {
    let style = |[style, name]: [&'static str; 2]| -> Style<'static> {
        let make = move |rng: &mut Rng, i: usize| filled(name, |of| part(of, rng, i)).into_bytes();
        (style, Box::new(make))
    };
    // Serialized by Java: bytes that are not text.
    let head = b"\xAC\xED\x00\x05t\x00\x0Buser:";
    let java = move |_: &mut Rng, i: usize| [head, format!("{i:06}").as_bytes()].concat();
    let of_text = raw_rows(RAW).into_iter().map(style);
    of_text.chain([("Java", Box::new(java) as _)]).collect()
}

/// A text in which `<NAME>` is replaced by the text of that name.
pub(super) fn filled(template: &str, mut of: impl FnMut(&str) -> String) -> String {
    let mut parts = template.split('<');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('>').expect("a name of a text");
        text += &of(name);
        text += rest;
    }
    text
}

/// The text of a named part of a key: a choice between words, a random number, or what depends on `i`.
fn part(name: &str, rng: &mut Rng, i: usize) -> String {
    if name.contains('/') {
        let choices: Vec<&str> = name.split('/').collect();
        return (*rng.pick(&choices)).into();
    }
    if let Some((kind, number)) = name
        .split_once(' ')
        .filter(|(_, number)| number.parse::<usize>().is_ok())
    {
        let number = number.parse().unwrap();
        let is_hex = kind == "hex";
        return if is_hex {
            hex(rng, number)
        } else {
            rng.below(number).to_string()
        };
    }
    match name {
        "i" => i.to_string(),
        "third" => (i / 3).to_string(),
        "number" => (100_000 + 3 * i).to_string(),
        "epoch" => (1_795_216_373 + 7 * i).to_string(),
        "date" => {
            let (year, month, day) = (1000 + i / 336, i / 28 % 12 + 1, i % 28 + 1);
            format!("{year}-{month:02}-{day:02}")
        }
        "month" => format!("{:02}", rng.below(12) + 1),
        "with a comma" if !i.is_multiple_of(3) => format!("user:{i}"),
        "with a comma" => format!("geo:{i},{}", 7 * i),
        "ids" => {
            let ids = (0..rng.below(5)).map(|_| rng.below(9999).to_string());
            ids.collect::<Vec<_>>().join(",")
        }
        "any" => any(rng, i),
        "uuid" => uuid(rng),
        _ => word(rng).into(),
    }
}

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
