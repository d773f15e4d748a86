//! MONITOR records inside other lines: after a container name, a time, a file name; and records in other forms.

use slotscope_read::format::capture::monitor_line::start_inside as start;

use crate::shape::column::share_of;

/// The fraction of rows that must be records.
const RECORDS: f64 = 0.8;

/// The offset of the record in most rows, if most have one.
pub(super) fn lead(rows: &[&[u8]]) -> Option<usize> {
    let starts: Vec<Option<usize>> = rows.iter().map(|row| start(row)).collect();
    let first = starts.iter().flatten().next()?;
    (share_of(&starts, Option::is_some) >= RECORDS).then_some(*first)
}

/// Why records in another form than those of redis-cli are refused.
pub(super) fn refused(rows: &[&[u8]]) -> Option<String> {
    let is_most = |rows: &[&[u8]]| share_of(rows, |row| is_other(row)) >= RECORDS;
    // The first line may be the answer OK.
    let are_others = is_most(rows) || rows.len() > 1 && is_most(&rows[1..]);
    are_others.then(|| {
        "lines of MONITOR in another form than redis-cli prints, TIME [DB ADDRESS] \"COMMAND\" \"KEY\": jq -r '.log // .message // .msg' FILE | \
         slotscope analyze - takes them out of JSON; bring other forms into this one with sed"
            .into()
    })
}

/// The rest of a line after a MONITOR timestamp.
fn behind_time(line: &[u8]) -> Option<&[u8]> {
    let mut at = 0;
    while let Some(point) = memchr::memchr(b'.', &line[at..]) {
        let point = at + point;
        let before = line[..point]
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let behind = line[point + 1..]
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        if before >= 9 && (2..=7).contains(&behind) {
            return Some(&line[point + 1 + behind..]);
        }
        at = point + 1;
    }
    None
}

/// Whether words or an address follow the time of a record.
fn is_other(line: &[u8]) -> bool {
    behind_time(line).is_some_and(|rest| match rest {
        [b' ', b'[', inside @ ..] => memchr::memmem::find(inside, b"] ").is_some(),
        [b' ', b'"', first, ..] => first.is_ascii_alphabetic(),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"1795216373.125436 [0 10.0.0.7:58548] "GET" "a [1] \"b""#;

    #[test]
    fn a_record_is_found_behind_what_other_tools_write() {
        for before in [
            "",
            "+",
            "redis-1  | ",
            "Nov 26 10:01:02 host redis[12]: ",
            "7001.monitor:",
            "2026-11-20T10:01:02.123Z stdout F ",
        ] {
            let line = format!("{before}{RECORD}");
            let at = if before == "+" { 0 } else { before.len() };
            assert_eq!(start(line.as_bytes()), Some(at), "{before}");
        }
        for no in [
            "",
            "user:1",
            "1795216373.125436 [0 a] GET",
            "a 1.5 [0 b:1] \"GET\" \"k\"",
        ] {
            assert_eq!(start(no.as_bytes()), None, "{no}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        for line in [
            r#"{"log":"1795216373.1254 [0 10.0.0.7:5] \"GET\" \"a\"\n"}"#,
            r#"1795216373.1254 [10.0.0.7:5 0] "GET" "a""#,
            r#"1795216373.1254 "GET" "a""#,
            "1795216373.1254 [0 10.0.0.7:5] GET a",
        ] {
            assert!(refused(&[line.as_bytes()]).is_some(), "{line}");
        }
        assert_eq!(refused(&[b"user:1"]), None);
    }
}
