//! Command lines and tables of cases as texts, and cases that run at once.

use std::sync::Mutex;

/// The words of a command line as a user types it; single quotes hold a word with blanks together.
pub fn words(line: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, after) = match rest.strip_prefix('\'') {
            Some(quoted) => quoted.split_once('\'').expect("a closing quote"),
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// The rows of a table of cases, a line each: cells between ` | ` with escapes as in literals of Rust.
#[track_caller]
pub fn rows<const N: usize>(table: &str) -> Vec<[&'static str; N]> {
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim().split(" | ").map(decoded).collect();
        let cells: [&str; N] = cells
            .try_into()
            .unwrap_or_else(|_| panic!("{N} cells: {line}"));
        cells
    };
    table.trim().lines().map(row).collect()
}

/// The rows of a table whose cells are read as they stand, as regular expressions are: cells between ` ¦ `.
#[track_caller]
pub fn raw_rows<const N: usize>(table: &'static str) -> Vec<[&'static str; N]> {
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split(" ¦ ").collect();
        let cells: Result<[&str; N], _> = cells.try_into();
        cells.unwrap_or_else(|_| panic!("{N} cells: {line}"))
    };
    table.trim_matches('\n').lines().map(row).collect()
}

/// Runs cases on this many threads, for cases that mostly wait: the test fails if one of them does.
pub fn at_once<T: Send>(
    threads: usize,
    cases: impl IntoIterator<Item = T, IntoIter: Send>,
    run: impl Fn(T) + Sync,
) {
    let cases = Mutex::new(cases.into_iter());
    let next = || cases.lock().unwrap().next();
    let work = || std::iter::from_fn(next).for_each(&run);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
}

/// A cell without its escapes.
fn decoded(cell: &str) -> &'static str {
    let mut text = String::new();
    let mut rest = cell.chars();
    while let Some(c) = rest.next() {
        text.push(match (c, c == '\\') {
            (c, false) => c,
            _ => match rest.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('0') => '\0',
                Some('x') => {
                    let digits: String = rest.by_ref().take(2).collect();
                    char::from(u8::from_str_radix(&digits, 16).expect("two digits"))
                }
                Some('u') => {
                    let digits: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    let code = u32::from_str_radix(&digits, 16).expect("digits");
                    char::from_u32(code).expect("a character")
                }
                Some(c) => c,
                None => panic!("an escape at the end of {cell}"),
            },
        });
    }
    text.leak()
}
