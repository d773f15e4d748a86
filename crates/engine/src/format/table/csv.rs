//! `csv`: a table with a header line, fields quoted as in RFC 4180, columns found by name.
//!
//! A quote in the middle of an unquoted field is literal, and text after a closing quote belongs to the field, as in
//! `row_boundary` and the `csv` crate. Doubled quotes are decoded in place, so that a key stays a span.

use crate::format::shape;
use crate::format::table::columns::{ColumnNames, listed};
use crate::format::table::csv_keys::CsvKeys;
use crate::format::table::layout::Layout;
use crate::format::table::separator::Separator;
use crate::format::{Format, Head, Opened, table};
use crate::name::Name;

/// The format.
pub struct Csv {
    /// Columns that the user named.
    pub names: ColumnNames,
}

/// `csv` with the column names used by tools.
pub(crate) static USUAL: Csv = Csv {
    names: ColumnNames::USUAL,
};

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn example(&self) -> &'static str {
        "key,size,ops (a header line; then) user:{1000}:profile,184,17"
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        Ok(open(head, &self.names)?.opened(self.name()))
    }
}

/// Finds a table's columns by its header, or by the positions given by the user.
///
/// # Errors
/// A required column is missing; the message lists the columns present.
pub(crate) fn open(head: Head<'_>, names: &ColumnNames) -> Result<CsvKeys, String> {
    let layout = if !names.places.is_empty() {
        shape::table_of(head, names)?
    } else if let Some((layout, _)) = shape::table_with(head, names) {
        layout
    } else {
        below_first_line(head, names)?
    };
    Ok(CsvKeys::of(head, layout, names.escapes))
}

/// The layout below the first line with text, with the delimiter that yields the required columns, or else most columns.
fn below_first_line(head: Head<'_>, names: &ColumnNames) -> Result<Layout, String> {
    const DELIMITERS: [u8; 4] = [b'|', b'\t', b';', b','];
    const LONGEST: usize = 16 << 10;
    let text = table::unmarked(head.bytes);
    let blank = text
        .iter()
        .take_while(|byte| b"\r\n".contains(byte))
        .count();
    let end =
        memchr::memchr(b'\n', &text[blank..]).or_else(|| head.whole.then_some(text.len() - blank));
    let len = end
        .filter(|len| *len <= LONGEST)
        .ok_or("the header line does not end")?;
    let line = text[blank..blank + len].trim_ascii_end();
    let columns = |delimiter: u8| -> Vec<Vec<u8>> {
        let mut cells = Vec::new();
        Separator::Byte(delimiter).cut(line, true, &mut cells);
        let spans = cells
            .iter()
            .map(|cell| cell.span.0 as usize..cell.span.1 as usize);
        spans.map(|span| line[span].trim_ascii().to_vec()).collect()
    };
    let (delimiter, columns) = DELIMITERS
        .map(|delimiter| (delimiter, columns(delimiter)))
        .into_iter()
        .max_by_key(|(_, columns)| (names.missing_in(columns).is_none(), columns.len()))
        .unwrap_or_default();
    if let Some(missing) = names.missing_in(&columns) {
        let missing = Name::from(missing.as_str());
        let listed = listed(&columns);
        return Err(format!("no column \"{missing}\"; columns are: {listed}"));
    }
    let mut layout = Layout::below(columns, Separator::Byte(delimiter), names);
    layout.has_quotes = true;
    layout.skip = (head.bytes.len() - text.len() + blank + len + 1) as u64;
    Ok(layout)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::batch::{MISSING, NEVER, Number};
    use crate::format::reading::{Found, read_whole};
    use crate::format::table::columns::KeyEscapes;
    use crate::format::{Lost, Notice, detect};

    fn read(content: &str) -> Found {
        read_whole(&USUAL, content.as_bytes())
    }

    fn keys(content: &str) -> Vec<String> {
        read(content)
            .keys
            .into_iter()
            .map(|key| String::from_utf8(key).unwrap())
            .collect()
    }

    #[test]
    fn columns_are_found_by_name_in_any_order_and_case() {
        let found = read("TTL,Hits,Name,DB,Type,memory_usage\n-1,7,a,0,hash,88\n60,,b,,,\n");
        assert_eq!(found.keys, [b"a", b"b"]);
        assert_eq!(found.values.weights[1], [7, MISSING]);
        assert_eq!(found.values.weights[0], [88, MISSING]);
        assert_eq!(found.values.number(Number::Database).to_vec(), [0, MISSING]);
        assert_eq!(
            found.values.number(Number::Expiry).to_vec(),
            [NEVER, 60_000]
        );
        assert_eq!(found.types, [&b"hash"[..], b""]);
    }

    #[test]
    fn a_column_that_is_not_there_is_empty() {
        let found = read("key,frequency\na,255\n");
        assert_eq!((found.keys.len(), found.values), (1, Default::default()));
    }

    #[test]
    fn quotes_delimiters_and_line_ends_may_be_in_a_key() {
        assert_eq!(
            keys("key,size\n\"a,b\",1\n\"c\nd\",2\n\"e\"\"f\"\"\",3\n"),
            ["a,b", "c\nd", "e\"f\""]
        );
        assert_eq!(keys("key;size\r\na,b;1\r\n\"c;d\";2\r\n"), ["a,b", "c;d"]);
        assert_eq!(keys("size\tkey\n1\ta\n"), ["a"]);
        assert_eq!(keys("key|size\na,b|1\n\"c|d\"|2\n"), ["a,b", "c|d"]);
        assert_eq!(keys("\u{feff}key,size\na\"b,1"), ["a\"b"]);
    }

    #[test]
    fn types_between_header_and_border_are_no_row() {
        let below = |header: &str| format!("{header}├───┼───┤\n│ a │ 1 │\n│ b │ 2 │\n└───┴───┘\n");
        let names = "│ key │ size │\n";
        for header in [String::from(names), format!("{names}│ varchar │ int64 │\n")] {
            let found = read(&below(&header));
            assert_eq!(
                (found.keys.join(&b' '), found.rejects.len()),
                (b"a b".to_vec(), 0)
            );
            assert_eq!(found.values.weights[0], [1, 2]);
        }
    }

    #[test]
    fn a_header_without_a_key_lists_its_columns() {
        let open = |content: &str, names| {
            Csv { names }
                .open(Head {
                    bytes: content.as_bytes(),
                    whole: true,
                })
                .err()
                .unwrap_or_default()
        };
        assert_eq!(
            open("id,size\n1,2\n", ColumnNames::USUAL),
            "no column \"key\"; columns are: \"id\", \"size\""
        );
        let names = ColumnNames {
            size: Some("weight".into()),
            ..ColumnNames::USUAL
        };
        assert_eq!(
            open("key;size\n1;2\n", names),
            "no column \"weight\"; columns are: \"key\", \"size\""
        );
    }

    #[test]
    fn a_column_can_be_named() {
        let csv = Csv {
            names: ColumnNames {
                key: Some("id".into()),
                ..ColumnNames::USUAL
            },
        };
        assert_eq!(read_whole(&csv, b"key,id\na,b\n").keys, [b"b"]);
    }

    #[test]
    fn keys_as_redis_cli_spells_them_are_decoded_unless_the_user_says_otherwise() {
        let with = |escapes, content: &[u8]| {
            let names = ColumnNames {
                escapes,
                ..ColumnNames::USUAL
            };
            read_whole(&Csv { names }, content)
        };
        let found = read("key,size\n\"\\xd1\\x82\",1\n\"a\\\"b,c\\\\\",2\n\"\",3\n");
        assert_eq!(found.keys, [&b"\xd1\x82"[..], b"a\"b,c\\", b""]);
        assert_eq!(found.values.weights[0], [1, 2, 3]);
        assert_eq!(found.seen.count(Notice::EscapedKey), 2);
        let found = read("size;key\n1;\"\"\"\\xd1\\x82\"\"\"\n2;\"\"\"a\\\"\"b\"\"\"\n");
        assert_eq!(found.keys, [&b"\xd1\x82"[..], b"a\"b"]);
        assert_eq!(found.seen.count(Notice::EscapedKey), 2);
        let kept = with(KeyEscapes::None, b"key,size\n\"\\x41\",1\n");
        assert_eq!(kept.keys, [br"\x41"]);
        let rows = b"key,size\n\\x41,1\n\"\\x42\",2\n\"open,4\nc,3\n\"d\"x,5\n\n";
        let undone = with(KeyEscapes::C, rows);
        assert_eq!(undone.keys, [b"A", b"B", b"c"]);
        let places: Vec<_> = undone.rejects.iter().map(|(at, _)| *at).collect();
        assert_eq!(places, [25, 37]);
    }

    #[test]
    fn a_row_that_does_not_fit_is_rejected_where_it_starts() {
        let found = read("key,size\na,1\nb\nc,many\n\nd,2,3,x\ne,4\n");
        assert_eq!(found.keys, [b"a", b"c", b"e"]);
        let rejects: Vec<_> = found
            .rejects
            .iter()
            .map(|(at, why)| (*at, why.as_str()))
            .collect();
        let expected = [
            (13, "1 fields, where the table has 2"),
            (23, "4 fields, where the table has 2"),
        ];
        assert_eq!(rejects, expected);
        let (role, lost) = found.seen.unreadable().next().unwrap();
        assert_eq!(
            (role, lost.count, lost.byte, lost.text()),
            (Lost::Size, 1, 15, &b"many"[..])
        );
    }

    #[test]
    fn only_a_header_with_a_key_among_other_columns_is_detected() {
        let name = |content: &str| {
            let bytes = content.as_bytes();
            detect(Head { bytes, whole: true }).map(Format::name)
        };
        for yes in ["key,size\na,1\n", "db;name\n1;a\n", "key,size\n"] {
            assert_eq!(name(yes), Some("csv"), "{yes:?}");
        }
        for no in [
            "key\na",
            "user:1,user:2\na",
            "a,b\na",
            "key,{user}:1\na",
            "\na\na",
        ] {
            assert_eq!(name(no), Some("lines"), "{no:?}");
        }
    }
}
