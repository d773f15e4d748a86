//! MONITOR records inside other lines: after a container name, a time, a file name; and record forms without a reader.

use crate::format::capture::monitor_line::start_inside as start;
use crate::format::shape::column::share_of;

/// The fraction of rows that must be records.
const RECORDS: f64 = 0.8;

/// The offset of the record in most rows, if most have one.
pub(super) fn lead(rows: &[&[u8]]) -> Option<usize> {
    let starts: Vec<Option<usize>> = rows.iter().map(|row| start(row)).collect();
    let first = starts.iter().flatten().next()?;
    (share_of(&starts, Option::is_some) >= RECORDS).then_some(*first)
}

/// A form of records: its name, its detector, and a suggested command.
type Form = (&'static str, fn(&[u8]) -> bool, &'static str);

/// Why MONITOR records in an unsupported form are refused, with a command to convert them.
pub(super) fn refused(rows: &[&[u8]]) -> Option<String> {
    const FORMS: [Form; 5] = [
        (
            "lines of MONITOR in the texts of JSON or CSV",
            is_in_text,
            "jq -r '.log // .message // .msg' FILE | slotscope analyze - reads those of JSON",
        ),
        (
            "MONITOR with the address before the database",
            has_address_first,
            r"sed -E 's/ \[(.* )?([^ ]+) ([0-9]+)\] / [\3 \2] /' FILE | slotscope analyze -",
        ),
        (
            "MONITOR of Redis 2.4, without database and address",
            is_without_address,
            r#"sed -E 's/^([0-9.]+) "/\1 [0 ?] "/' FILE | slotscope analyze -"#,
        ),
        (
            "MONITOR without quotes around its words",
            is_without_quotes,
            r#"sed -E 's/(\] )([^ ]+) ([^ ]+).*/\1"\2" "\3"/' FILE | slotscope analyze - takes their first arguments as keys"#,
        ),
        (
            "what the monitor() of redis-py returns",
            is_of_redis_py,
            "python3 -c 'import ast,json,sys; [print(\"%f [%s %s:%s] %s\" % (d[\"time\"], d[\"db\"], d[\"client_address\"], d[\"client_port\"], \
             \" \".join(map(json.dumps, d[\"command\"].split())))) for d in map(ast.literal_eval, sys.stdin)]' < FILE | slotscope analyze -",
        ),
    ];
    let is_most = |test: &fn(&[u8]) -> bool| {
        share_of(rows, |row| test(row)) >= RECORDS
            || rows.len() > 1 && share_of(&rows[1..], |row| test(row)) >= RECORDS
    };
    let (form, _, way_out) = FORMS.iter().find(|(_, test, _)| is_most(test))?;
    Some(format!("{form}: {way_out}"))
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

fn in_brackets(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let inside = rest.strip_prefix(b" [")?;
    let end = memchr::memmem::find(inside, b"] ")?;
    Some((&inside[..end], &inside[end + 2..]))
}

fn is_in_text(line: &[u8]) -> bool {
    let words = behind_time(line).and_then(in_brackets);
    words.is_some_and(|(_, words)| words.starts_with(b"\\\"") || words.starts_with(b"\"\""))
}

fn has_address_first(line: &[u8]) -> bool {
    let split = behind_time(line).and_then(in_brackets);
    split.is_some_and(|(inside, words)| {
        let mut parts = inside.rsplit(|byte| *byte == b' ');
        let database = parts.next().unwrap_or_default();
        let is_number = !database.is_empty() && database.iter().all(u8::is_ascii_digit);
        is_number
            && parts.next().is_some_and(|address| address.contains(&b':'))
            && words.starts_with(b"\"")
    })
}

fn is_without_quotes(line: &[u8]) -> bool {
    let split = behind_time(line).and_then(in_brackets);
    split.is_some_and(|(inside, words)| {
        inside.contains(&b':')
            && inside.first().is_some_and(u8::is_ascii_digit)
            && words.first().is_some_and(u8::is_ascii_alphabetic)
    })
}

fn is_without_address(line: &[u8]) -> bool {
    let is_first = line.first().is_some_and(u8::is_ascii_digit);
    is_first
        && behind_time(line).is_some_and(|rest| {
            rest.starts_with(b" \"") && rest.get(2).is_some_and(u8::is_ascii_alphabetic)
        })
}

fn is_of_redis_py(line: &[u8]) -> bool {
    let has = |part: &[u8]| memchr::memmem::find(line, part).is_some();
    line.starts_with(b"{") && (has(b"'command': '") || has(b"'command': \"")) && has(b"'db': ")
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
    fn other_forms_are_refused_with_what_makes_records_of_them() {
        for (line, part) in [
            (
                r#"{"log":"1795216373.1254 [0 10.0.0.7:5] \"GET\" \"a\"\n"}"#,
                "jq",
            ),
            (r#"1795216373.1254 [10.0.0.7:5 0] "GET" "a""#, "sed"),
            (r#"1795216373.1254 "GET" "a""#, "Redis 2.4"),
            ("1795216373.1254 [0 10.0.0.7:5] GET a", "quotes"),
            (
                r"{'time': 1795216373.1, 'db': 0, 'client_address': 'x', 'command': 'GET a'}",
                "redis-py",
            ),
        ] {
            let refused = refused(&[line.as_bytes()]).unwrap();
            assert!(refused.contains(part), "{refused}");
        }
        assert_eq!(refused(&[b"user:1"]), None);
    }
}
