//! A table with columns named by the user; its start decides whether it is `csv` or `jsonl`.

use slotscope_read::format::table::columns::ColumnNames;
use slotscope_read::format::table::jsonl::Jsonl;
use slotscope_read::format::{Format, Head, Opened, table};

use crate::csv::{self, Csv};

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
    use slotscope_read::format::reading::{assert_reads, refused};

    #[test]
    fn the_content_decides_what_table_it_is() {
        let table = ByName(ColumnNames {
            key: Some("id".into()),
            ops: Some("n".into()),
            ..ColumnNames::USUAL
        });
        let rows = ["id,n\na,1\n", "\n{\"id\":\"a\",\"n\":1}\n"];
        assert_reads(&table, &rows.map(|rows| (rows, "a ops=1")));
        for (content, why) in [
            ("key,n\n", "no column \"id\"; columns are: \"key\", \"n\""),
            ("{\"id\":\"a\"}\n", "no member \"n\"; members are: \"id\""),
        ] {
            assert_eq!(refused(&table, content), why);
        }
    }
}
