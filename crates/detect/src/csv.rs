//! `csv`: a table with a header line, fields quoted as in RFC 4180, columns found by name.
//!
//! A quote in the middle of an unquoted field is literal. A row with text after a closing quote, or with an open one, is
//! rejected and ends with its first line: the quote may swallow others. Doubled quotes are decoded in place, so that a key
//! stays a span.

use slotscope_read::format::table::columns::ColumnNames;
use slotscope_read::format::table::first_line;
use slotscope_read::format::{Format, Head, Opened};

use crate::shape;

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
        "user:{1000}:profile,184,17,string (a table of your own, below a header: key,size,ops,type)"
    }

    fn header(&self) -> &'static str {
        "key,size,ops,type"
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        let names = &self.names;
        match shape::table_with(head, names) {
            Some(table) => table.opened(head, names.escapes, self.name()),
            None => first_line::open(head, names, self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_read::format::reading::{assert_reads, refused};
    use slotscope_read::format::table::columns::KeyEscapes;

    #[test]
    fn columns_are_found_by_name_and_cells_may_be_quoted() {
        assert_reads(
            &USUAL,
            &[
                (
                    "TTL,Hits,Name,DB,Type,memory_usage\n-1,7,a,0,hash,88\n60,,b,,,\n",
                    "a bytes=88 ops=7 database=0 type=hash; b expiry=60000; TimeLeft=1",
                ),
                ("key,frequency\na,255\n", "a"),
                (
                    "key,size\n\"a,b\",1\n\"c\nd\",2\n\"e\"\"f\"\"\",3\n",
                    r#"a,b bytes=1; c\nd bytes=2; e\"f\" bytes=3"#,
                ),
                (
                    "key;size\r\na,b;1\r\n\"c;d\";2\r\n",
                    "a,b bytes=1; c;d bytes=2",
                ),
                ("size\tkey\n1\ta\n", "a bytes=1"),
                ("key|size\na,b|1\n\"c|d\"|2\n", "a,b bytes=1; c|d bytes=2"),
                (
                    "\u{feff}key,size\na\"b,1",
                    r#"a\"b bytes=1; ByteOrderMark=1"#,
                ),
                (
                    "key,size\na,1\nb\nc,many\n\nd,2,3,x\ne,4\n",
                    "a bytes=1; c; e bytes=4; !13; !23; Size=1 at 15: many",
                ),
                // A quote that is not closed, one that is closed by that of another row, and quotes after backslashes.
                (
                    "key,size\na,1\n\"b,2\nc,3\n\"\"\"d\",4\n\"e\n,5\n",
                    "a bytes=1; c bytes=3; \\\"d bytes=4; !13; !30; !33",
                ),
                (
                    "key,size\n\"b,2\nc,3\nd,4\n\"e\",5\n\"f\\\"g\",6\nh,7\n",
                    "c bytes=3; d bytes=4; e bytes=5; h bytes=7; !9; !28",
                ),
                // A rule between rows is not the end of a header.
                (
                    "key,size\na,1\n---\nb,2\nc,3\n",
                    "a bytes=1; b bytes=2; c bytes=3; Around=1",
                ),
                // DuckDB writes types below the names.
                (
                    "│key│size│\n│varchar│int64│\n├───┼───┤\n│a│1│\n│b│2│\n",
                    "a bytes=1; b bytes=2; Around=1",
                ),
                (
                    "│key│size│\n├───┼───┤\n│a│1│\n│b│2│\n└───┴───┘\n",
                    "a bytes=1; b bytes=2; Around=2",
                ),
            ],
        );
    }

    #[test]
    fn columns_may_be_named() {
        let names = ColumnNames {
            size: Some("weight".into()),
            ..ColumnNames::USUAL
        };
        assert_eq!(
            refused(&USUAL, "id,size\n1,2\n"),
            "no column \"key\"; columns are: \"id\", \"size\""
        );
        assert_eq!(
            refused(&Csv { names }, "key;size\n1;2\n"),
            "no column \"weight\"; columns are: \"key\", \"size\""
        );
        let names = ColumnNames {
            key: Some("id".into()),
            ..ColumnNames::USUAL
        };
        assert_reads(&Csv { names }, &[("key,id\na,b\n", "b")]);
    }

    #[test]
    fn keys_as_redis_cli_spells_them_are_decoded_unless_the_user_says_otherwise() {
        for (escapes, content, expected) in [
            (
                KeyEscapes::Auto,
                "key,size\n\"\\xd1\\x82\",1\n\"a\\\"b,c\\\\\",2\n\"\",3\n",
                r#"\xd1\x82 bytes=1; a\"b,c\\ bytes=2;  bytes=3; EscapedKey=2"#,
            ),
            (
                KeyEscapes::Auto,
                "size;key\n1;\"\"\"\\xd1\\x82\"\"\"\n2;\"\"\"a\\\"\"b\"\"\"\n",
                r#"\xd1\x82 bytes=1; a\"b bytes=2; EscapedKey=2"#,
            ),
            (
                KeyEscapes::None,
                "key,size\n\"\\x41\",1\n",
                r"\\x41 bytes=1",
            ),
            (
                KeyEscapes::C,
                "key,size\n\\x41,1\n\"\\x42\",2\n\"open,4\nc,3\n\"d\"x,5\n\n",
                "A bytes=1; B bytes=2; c bytes=3; !25; !37; EscapedKey=2",
            ),
        ] {
            let names = ColumnNames {
                escapes,
                ..ColumnNames::USUAL
            };
            assert_reads(&Csv { names }, &[(content, expected)]);
        }
    }
}
