//! A table with columns named by the user; its start decides whether it is `csv` or `jsonl`.

use crate::format::table::columns::ColumnNames;
use crate::format::table::csv::{self, Csv};
use crate::format::table::jsonl::Jsonl;
use crate::format::{Format, Head, Opened, table};

/// `csv` or `jsonl`, depending on the content, with these columns.
pub(crate) struct ByName(pub ColumnNames);

impl Format for ByName {
    fn name(&self) -> &'static str {
        "auto"
    }

    fn example(&self) -> &'static str {
        csv::USUAL.example()
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let names = self.0.clone();
        match table::unmarked(head.bytes).trim_ascii_start().first() {
            Some(b'{' | b'[') => Jsonl { names }.open(head),
            _ => Csv { names }.open(head),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::read_whole;

    #[test]
    fn the_content_decides_what_table_it_is() {
        let names = ColumnNames {
            key: Some("id".into()),
            ops: Some("n".into()),
            ..ColumnNames::USUAL
        };
        let table = ByName(names);
        let csv = read_whole(&table, b"id,n\na,1\n");
        assert_eq!(
            (&csv.keys, &csv.values.weights[1]),
            (&vec![b"a".to_vec()], &vec![1])
        );
        let jsonl = read_whole(&table, b"\n{\"id\":\"a\",\"n\":1}\n");
        assert_eq!((jsonl.keys, jsonl.values), (csv.keys, csv.values));
        let missing = |content: &[u8]| {
            table
                .open(Head {
                    bytes: content,
                    whole: true,
                })
                .err()
                .unwrap()
        };
        assert_eq!(
            missing(b"key,n\n"),
            "no column \"id\"; columns are: \"key\", \"n\""
        );
        assert_eq!(
            missing(b"{\"id\":\"a\"}\n"),
            "no member \"n\"; members are: \"id\""
        );
    }
}
