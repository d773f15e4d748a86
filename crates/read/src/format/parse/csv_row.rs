//! Parses one RFC 4180 row in place: takes a position in a block and returns the bounds of its decoded fields.

use crate::format::table::Span;

/// Splits the row at `at` into fields, decodes them in place, and returns the start of the next row. A row ends with
/// LF, CR or both; an empty one has no fields.
pub(crate) fn cut_row(
    content: &mut [u8],
    mut at: usize,
    delimiter: u8,
    fields: &mut Vec<Span>,
) -> usize {
    fields.clear();
    if matches!(content.get(at), None | Some(b'\n' | b'\r')) {
        return content.len().min(at + 1);
    }
    loop {
        let (field, end) = match content.get(at) {
            Some(b'"') => decode(content, at + 1, delimiter),
            _ => {
                let end = field_end(content, at, delimiter);
                ((at as u32, end as u32), end)
            }
        };
        push(fields, field);
        match content.get(end) {
            Some(byte) if *byte == delimiter => at = end + 1,
            Some(b'\r') if content.get(end + 1) == Some(&b'\n') => return end + 2,
            Some(_) => return end + 1,
            None => return end,
        }
    }
}

/// Maximum fields kept per row; no header has as many.
pub(crate) const MAX_FIELDS: usize = 1 << 16;

/// Keeps a field, up to the maximum.
pub(crate) fn push(fields: &mut Vec<Span>, field: Span) {
    if fields.len() < MAX_FIELDS {
        fields.push(field);
    }
}

fn field_end(content: &[u8], at: usize, delimiter: u8) -> usize {
    memchr::memchr3(delimiter, b'\n', b'\r', &content[at..]).map_or(content.len(), |end| at + end)
}

/// Whether each quoted field of the row at `at` ends with its closing quote, blanks aside. If not, a quote is missing, or
/// those inside the field are not doubled, and the row may swallow others.
pub(crate) fn is_closed(content: &[u8], mut at: usize, delimiter: u8) -> bool {
    loop {
        let end = if content.get(at) == Some(&b'"') {
            let Some(close) = close(content, at + 1) else {
                return false;
            };
            let blanks = content[close + 1..]
                .iter()
                .take_while(|byte| **byte == b' ');
            close + 1 + blanks.count()
        } else {
            field_end(content, at, delimiter)
        };
        match content.get(end) {
            Some(byte) if *byte == delimiter => at = end + 1,
            None | Some(b'\n' | b'\r') => return true,
            Some(_) => return false,
        }
    }
}

/// The closing quote of the field whose opening one is before `start`.
fn close(content: &[u8], start: usize) -> Option<usize> {
    let mut at = start;
    loop {
        at += memchr::memchr(b'"', content.get(at..)?)?;
        if content.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

/// Decodes the field whose opening quote is before `start`; returns it and its end in the source.
fn decode(content: &mut [u8], start: usize, delimiter: u8) -> (Span, usize) {
    let (mut read, mut write) = (start, start);
    let mut keep = |content: &mut [u8], from: usize, to: usize| {
        if from != write {
            content.copy_within(from..to, write);
        }
        write += to - from;
        write
    };
    loop {
        let Some(quote) = memchr::memchr(b'"', &content[read..]).map(|quote| read + quote) else {
            let end = content.len();
            return ((start as u32, keep(content, read, end) as u32), end);
        };
        if content.get(quote + 1) == Some(&b'"') {
            keep(content, read, quote + 1);
            read = quote + 2;
        } else {
            keep(content, read, quote);
            let end = field_end(content, quote + 1, delimiter);
            return ((start as u32, keep(content, quote + 1, end) as u32), end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_row_is_closed_if_its_quotes_close_at_the_ends_of_fields() {
        for closed in [
            "",
            "a,b",
            "\"a\",b",
            "\"a\"\"b\" ,\"c\nd\"\r\n\"",
            "a\"b,c",
            "a,\"\"\n\"x",
        ] {
            assert!(is_closed(closed.as_bytes(), 0, b','), "{closed:?}");
        }
        for open in [
            "\"a",
            "\"a,1\nb,2\n",
            "\"a\"b,1",
            "a,\"b\\\"c\"",
            "\"a,1\nb,2\n\"c\",3\n",
        ] {
            assert!(!is_closed(open.as_bytes(), 0, b','), "{open:?}");
        }
    }

    proptest! {
        #[test]
        fn fields_are_those_of_the_csv_crate(
            bytes in prop::collection::vec(prop::sample::select(b"\"\",\n\rab".to_vec()), 0..60),
        ) {
            let mut oracle = csv::ReaderBuilder::new().flexible(true).has_headers(false).from_reader(&bytes[..]);
            let expected: Vec<Vec<Vec<u8>>> =
                oracle.byte_records().map(|row| row.unwrap().iter().map(<[u8]>::to_vec).collect()).collect();
            let (mut content, mut fields, mut at, mut found) = (bytes.clone(), Vec::new(), 0, Vec::new());
            while at < content.len() {
                at = cut_row(&mut content, at, b',', &mut fields);
                if !fields.is_empty() {
                    let text = |(start, end): &Span| content[*start as usize..*end as usize].to_vec();
                    found.push(fields.iter().map(text).collect::<Vec<_>>());
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
