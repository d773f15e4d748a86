//! A word beside the name in each line, which other programs printed: a number of the line, a time, a host, an encoding.

use crate::format::shape::column::{Column, MOST, common_prefix, share, share_of};
use crate::sentence::Sentence;

const RAW: &str = "--format lines reads each line as a key";

/// Encodings, replies and the like, as scripts print them after a key.
const ANSWERS: [&str; 16] = [
    "embstr",
    "raw",
    "int",
    "intset",
    "listpack",
    "quicklist",
    "skiplist",
    "hashtable",
    "ziplist",
    "linkedlist",
    "stream",
    "ok",
    "true",
    "false",
    "yes",
    "no",
];

fn said(fact: &str, way_out: &str) -> Option<Sentence> {
    Some(Sentence::default().words(format!(
        "{fact}, and the whole lines are read as keys; otherwise: {way_out} | slotscope analyze - ; {RAW}"
    )))
}

/// Rising numbers before the names, if there are any.
pub(super) fn number(rows: &[&[u8]]) -> Option<Sentence> {
    let fact = "each line starts with a rising number, as grep -n prints it";
    let way_out = "sed -E 's/^([^:]*[.][^:]*:)?[^:]*://' FILE";
    are_numbered(rows).then(|| said(fact, way_out)).flatten()
}

/// Words beside the names, if there are any.
pub(super) fn doubt(rows: &[&[u8]]) -> Option<Sentence> {
    let words: Vec<Vec<&[u8]>> = rows.iter().map(|row| words_of(row)).collect();
    let apart: Vec<&Vec<&[u8]>> = words.iter().filter(|words| words.len() > 1).collect();
    if share(apart.len(), rows.len()) < MOST {
        return None;
    }
    let is_tab = share_of(rows, |row| row.contains(&b'\t')) >= MOST;
    let firsts: Vec<&[u8]> = apart.iter().map(|words| words[0]).collect();
    let seconds: Vec<&[u8]> = apart.iter().map(|words| words[1]).collect();
    if are_names(&firsts) && (is_tab || are_beside(seconds)) {
        return said(
            "each line has a name and another word after it",
            "awk '{print $1}' FILE",
        );
    }
    let lasts: Vec<&[u8]> = apart.iter().map(|words| words[words.len() - 1]).collect();
    let befores: Vec<&[u8]> = apart.iter().map(|words| words[words.len() - 2]).collect();
    if are_names(&lasts) && (is_tab || are_beside(befores)) {
        return said(
            "each line has a name and another word before it",
            "awk '{print $NF}' FILE",
        );
    }
    None
}

/// Whether these are distinct names with a colon inside.
pub(super) fn are_names(texts: &[&[u8]]) -> bool {
    let has_colon = |text: &&[u8]| text.strip_suffix(b":").unwrap_or(text).contains(&b':');
    share_of(texts, has_colon) >= MOST && Column::of(texts.to_vec()).is_unique()
}

fn words_of(row: &[u8]) -> Vec<&[u8]> {
    let words = row.split(|byte| b" \t".contains(byte));
    words.filter(|word| !word.is_empty()).collect()
}

/// Whether words say the same of many rows, are values, or answers that servers give.
fn are_beside(words: Vec<&[u8]>) -> bool {
    let is_answer = |word: &&[u8]| {
        ANSWERS
            .iter()
            .any(|answer| word.eq_ignore_ascii_case(answer.as_bytes()))
    };
    let is_labelled = words.len() > 2 && common_prefix(&words).contains(&b'=');
    is_labelled || share_of(&words, is_answer) >= MOST || {
        let column = Column::of(words);
        column.is_filler() || column.is_value()
    }
}

/// Whether lines start with rising numbers and a colon, possibly after the name of a file. Sorted names rise, too, but as
/// texts: their numbers have one length.
fn are_numbered(rows: &[&[u8]]) -> bool {
    const LEAST: usize = 4;
    let file = |row: &[u8]| {
        let end = memchr::memchr(b':', row)?;
        row[..end].contains(&b'.').then_some(end + 1)
    };
    let number = |row: &&[u8]| {
        let rest = &row[file(row).unwrap_or(0)..];
        let number = &rest[..memchr::memchr(b':', rest)?];
        let is_one = number.iter().all(u8::is_ascii_digit) && !number.starts_with(b"0");
        std::str::from_utf8(number)
            .ok()
            .filter(|_| is_one)?
            .parse::<u64>()
            .ok()
    };
    let numbers: Vec<u64> = rows.iter().filter_map(number).collect();
    let lengths = |at: Option<&u64>| at.and_then(|number| number.checked_ilog10());
    let is_in_file = rows.first().is_some_and(|row| file(row).is_some());
    let is_long = || {
        rows.len() >= LEAST
            && numbers.is_sorted_by(|one, next| one < next)
            && (is_in_file || lengths(numbers.first()) < lengths(numbers.last()))
    };
    let starts = rows
        .iter()
        .filter_map(|row| Some(&row[..memchr::memchr(b':', row)?]));
    let starts: Vec<&[u8]> = starts.collect();
    let has_index = starts.len() == rows.len() && Column::of(starts).is_index;
    has_index || numbers.len() == rows.len() && is_long()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_doubted(text: &str) -> bool {
        let rows: Vec<&[u8]> = text.lines().map(str::as_bytes).collect();
        number(&rows).or_else(|| doubt(&rows)).is_some()
    }

    #[test]
    fn what_programs_print_beside_a_name_is_doubted() {
        for text in [
            "user:1 embstr\nsess:2 raw\ncart:3 listpack",
            "user:1 OK\nsess:2 OK\ncart:3 OK",
            "user:1 true\nsess:2 false\ncart:3 true",
            "user:1 ttl=55\nsess:2 ttl=-1\ncart:3 ttl=7",
            "user:1 (integer) 55\nsess:2 (integer) 7\ncart:3 (integer) 9",
            "user:1 Value at:0x7f80 refcount:1\nsess:2 Value at:0x7f81 refcount:1\ncart:3 Value at:0x7f82 refcount:1",
            "Nov 27 10:00:01 user:1\nNov 27 10:00:02 sess:2\nNov 27 10:00:03 cart:3",
            "1795000001 user:1\n1795000002 sess:2\n1795000003 cart:3",
            "redis-0\tuser:1\nredis-1\tsess:2\nredis-2\tcart:3",
            "keys.txt:2:user:1\nkeys.txt:9:sess:2\nkeys.txt:12:cart:3\nkeys.txt:30:lock:4",
            "user:1: 12 elements\nsess:2: 14 elements\ncart:3: 9 elements",
            "keys.txt:12:user:1\nkeys.txt:13:sess:2\nkeys.txt:14:cart:3\nkeys.txt:15:lock:4",
            "7:user:1\n19:sess:ab\n23:cart:{2}\n31:lock:9",
            "000001:user:1\n000002:sess:2\n000003:cart:3",
            "#1:user:1\n#2:sess:2\n#3:cart:3",
        ] {
            assert!(is_doubted(text), "{text}");
        }
    }

    #[test]
    fn names_with_blanks_and_numbers_are_not() {
        for text in [
            "user 1\nuser 2\nuser 3",
            "a:1 b\na:2 b\na:3 c",
            "GET /a/1\nGET /a/2\nGET /b/3",
            "article:The red 1\narticle:The blue 2\narticle:The red 3",
            "10:user:1\n11:user:2\n12:user:3\n13:user:4",
            "0:session\n2:session\n5:session\n7:session",
            "1:a\n10:a\n11:a\n2:a",
            "user:1\nuser:9\nuser:10\nuser:11",
        ] {
            assert!(!is_doubted(text), "{text}");
        }
    }
}
