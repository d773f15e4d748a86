//! The shape of a text decides how it is read: lists of raw keys as they are, structured files by their structure, and
//! nothing is misread silently.

mod field;
mod forms;
mod names;
mod offers;
mod prints;

use std::collections::BTreeMap;

use slotscope::scan::Scanned;
use slotscope::source::memory::memory;
use slotscope::tally::{Parts, Tallies};
use slotscope_base::metric::Metric;
use slotscope_detect::chosen::{AUTO, chosen};
use slotscope_read::format::LineBy;
use slotscope_read::format::table::columns::ColumnNames;

use crate::shape::forms::{Form, Right, Row, forms};
use crate::shape::names::{any, odd, other, size, styles};
use testkit::rng::Rng;
use testkit::scan::Scanning;

/// The outcome of reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Came {
    /// Correct, without a message.
    Right,
    /// Correct, with a warning.
    Told,
    /// Rejected, with a suggested fix.
    Refused,
    /// Wrong, with a warning.
    Said,
    /// Wrong, without a warning.
    Silent,
}

/// Keys with their sizes or their operations.
#[derive(Debug, PartialEq, Default)]
struct Loads {
    keys: BTreeMap<u16, u64>,
    bytes: u64,
}

impl Loads {
    fn of(keys: &[Vec<u8>], sizes: impl Iterator<Item = u64>) -> Loads {
        let mut loads = Loads {
            bytes: sizes.sum(),
            ..Loads::default()
        };
        for key in keys {
            *loads.keys.entry(hashslot::slot(key)).or_default() += 1;
        }
        loads
    }

    fn scanned(scanned: &Scanned<Tallies>, by: Metric) -> Loads {
        let loads = &scanned.tally.slots.loads;
        let slots = loads.get(by).cloned().unwrap_or_default();
        let taken = (0..).zip(slots).filter(|(_, count)| *count > 0);
        let bytes = loads.get(Metric::Bytes);
        Loads {
            keys: taken.collect(),
            bytes: bytes.map_or(0, |bytes| bytes.iter().sum()),
        }
    }
}

/// The difference of a file that is read by the pattern that is shown of it.
fn by_shown(content: &[u8]) -> Option<String> {
    let file = || [memory("test", content)];
    let counts = || Tallies::new(Parts::All);
    let found = Scanning::detected().try_run(&file(), counts).ok()?;
    let told = found.inputs[0].told.as_ref()?;
    let line = told.line.as_ref()?;
    let is_below = told.line_by == Some(LineBy::Header);
    // The header is a row then, of a key without a size that can be read; other patterns do not fit it.
    if is_below && (line.contains("csv") || !line.contains("{size")) {
        return None;
    }
    let given = chosen(AUTO, None, &ColumnNames::default(), Some(line));
    let again = given.and_then(|format| {
        let scanning = Scanning {
            format,
            ..Scanning::detected()
        };
        scanning.try_run(&file(), counts)
    });
    match again {
        // Titles and a header may be most of a short file.
        Err(_) if is_below && content.len() < 1000 => None,
        Err(why) => Some(format!("{line}: {why}")),
        Ok(again) => {
            let of = |scanned: &Scanned<Tallies>| Loads::scanned(scanned, Metric::Keys);
            let (once, again) = (of(&found), of(&again));
            (once != again).then(|| format!("{line}: {} and {} bytes", once.bytes, again.bytes))
        }
    }
}

/// The outcome for `content`, which represents `expected`, with or without sizes or operations.
fn came(content: &[u8], right: Right, expected: &Loads) -> Came {
    let found =
        Scanning::detected().try_run(&[memory("test", content)], || Tallies::new(Parts::All));
    let scanned = match found {
        Ok(scanned) => scanned,
        Err(refused) => {
            let (text, fixes) = (refused.to_string(), ["--", "slotscope ", "redis-cli"]);
            assert!(fixes.iter().any(|fix| text.contains(fix)), "{text}");
            return Came::Refused;
        }
    };
    let by = if right == Right::Operations {
        Metric::Ops
    } else {
        Metric::Keys
    };
    let loads = Loads::scanned(&scanned, by);
    let has_sizes =
        |loads: &Loads| loads.bytes.abs_diff(expected.bytes) <= 1 + expected.bytes / 10_000;
    let is_right = right != Right::Refused
        && loads.keys == expected.keys
        && (right != Right::Sizes || has_sizes(&loads))
        && scanned.rejects.count == 0;
    let input = &scanned.inputs[0];
    let has_warning = input
        .told
        .as_ref()
        .is_some_and(|told| told.warning.is_some());
    let is_told = has_warning || !input.seen.warnings().is_empty() || scanned.rejects.count > 0;
    match (is_right, is_told) {
        (true, false) => Came::Right,
        (true, true) => Came::Told,
        (false, true) => Came::Said,
        (false, false) => Came::Silent,
    }
}

/// Distinct names in a style.
fn names_of(
    rng: &mut Rng,
    count: usize,
    name: impl Fn(&mut Rng, usize) -> Vec<u8>,
) -> Vec<Vec<u8>> {
    let (start, step) = *rng.pick(&[(0, 1), (10_000, 1), (1000, 7919)]);
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for i in 0..20 * count {
        let name = name(rng, start + i * step % 1_000_003);
        if names.len() < count && seen.insert(name.clone()) {
            names.push(name);
        }
    }
    for at in (1..names.len()).rev() {
        names.swap(at, rng.below(at + 1));
    }
    names
}

/// A file in a form.
fn written(form: &Form, keys: &[Vec<u8>], sizes: &[u64], rng: &mut Rng) -> String {
    let rows = keys.iter().zip(sizes).enumerate().map(|(at, (key, size))| {
        let (key, size) = (std::str::from_utf8(key).unwrap(), *size);
        form.row(&Row { key, size, at }, rng) + "\n"
    });
    form.head.clone() + &rows.collect::<String>() + &form.tail
}

/// Names of keys, and the function that generates them.
type Content = (&'static str, fn(&mut Rng, usize) -> String);

#[test]
fn files_with_a_structure_are_read_by_it_or_refused() {
    let mut counts = BTreeMap::<Came, Vec<String>>::new();
    let contents: [Content; 3] = [("any", any), ("odd", odd), ("other", other)];
    let forms = forms();
    for (number, form) in forms.iter().enumerate() {
        for (content, name) in contents {
            for count in [1, 5, 50, 900] {
                if count < 50 && content != "any" {
                    continue;
                }
                let mut rng = Rng::new(number as u64 * 1000 + count as u64);
                let keys = names_of(&mut rng, count, |rng, i| name(rng, i).into_bytes());
                let sizes: Vec<u64> = keys.iter().map(|_| size(&mut rng)).collect();
                let file = written(form, &keys, &sizes, &mut rng);
                let expected = Loads::of(&keys, sizes.iter().copied());
                let other = by_shown(file.as_bytes());
                assert_eq!(other, None, "{} of {count} {content} keys", form.name);
                let came = came(file.as_bytes(), form.right, &expected);
                let what = format!("{} of {count} {content} keys", form.name);
                counts.entry(came).or_default().push(what);
            }
        }
    }
    let of = |came: Came| counts.get(&came).cloned().unwrap_or_default();
    let all: usize = counts.values().map(Vec::len).sum();
    assert_eq!(of(Came::Silent), Vec::<String>::new());
    assert!(of(Came::Said).len() * 50 <= all, "{:#?}", of(Came::Said));
    let refused = of(Came::Refused);
    let refusable = forms
        .iter()
        .filter(|form| form.right == Right::Refused)
        .count();
    assert!(refused.len() <= 10 * refusable + 6, "{refused:#?}");
}

#[test]
fn lists_of_raw_keys_are_read_as_they_are() {
    let mut others = Vec::new();
    let mut warned = Vec::new();
    let mut all = 0;
    for (number, (style, name)) in styles().iter().enumerate() {
        for seed in 0..3 {
            for count in [50, 900] {
                let mut rng = Rng::new(number as u64 * 100 + seed);
                let keys = names_of(&mut rng, count, name);
                let file = [keys.join(&b'\n'), b"\n".to_vec()].concat();
                let expected = Loads::of(&keys, std::iter::empty());
                all += 1;
                match came(&file, Right::Keys, &expected) {
                    Came::Right => {}
                    Came::Told => warned.push(format!("{style} {count} {seed}")),
                    came => others.push(format!("{came:?}: {style} {count} {seed}")),
                }
            }
        }
    }
    let is_silent = |other: &String| other.starts_with("Silent");
    assert!(
        others.len() * 25 <= all && !others.iter().any(is_silent),
        "{others:#?}"
    );
    assert!(warned.len() * 10 <= all, "{warned:#?}");
}
