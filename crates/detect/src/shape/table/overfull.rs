//! Rows with more cells than a table has columns. A few have separators in their keys; where most rows do, or where the
//! separator is also between thousands, nothing tells where the keys end.

use slotscope_read::format::Head;
use slotscope_read::format::line::offer::with_offers;
use slotscope_read::format::table::layout::Layout;
use slotscope_read::format::table::separator::Separator;

use crate::shape::table::Searched;
use crate::shape::told;

impl Searched<'_, '_> {
    /// Why a table is refused for the number of cells in `rows`.
    pub(super) fn overfull(&self, rows: &[usize], layout: &Layout) -> Option<String> {
        let is_longer = |row: &&usize| self.cut.cells(**row).len() > layout.columns;
        let longer: Vec<usize> = rows.iter().filter(is_longer).copied().collect();
        if self.are_grouped(rows, &longer, layout) {
            return Some("numbers with a comma between thousands (1,234) in cells that commas separate, without quotes: where they are last, \
                 sed -E -e :a -e 's/,([0-9]{1,3}),(([0-9]{3})+)$/,\\1\\2/' -e ta FILE | slotscope analyze - takes them out".to_string());
        }
        // The rest of a line is usual for a last column between blanks.
        let is_rest =
            layout.key() + 1 == layout.columns && matches!(self.separator, Separator::Blanks(_));
        (2 * longer.len() > rows.len() && !is_rest).then(|| {
            let what = "most rows have more cells than the header: keys or numbers with separators in them, or columns without a name?";
            let between = self.separator.literal();
            let with_rest = ["{key}", "{size}", "{_}"].join(&between);
            let bytes = self.lines.head.get(layout.skip as usize - self.lines.mark..).unwrap_or_default();
            let head = Head { bytes, whole: self.lines.is_whole };
            with_offers(what, head, [with_rest, told::patterns(layout)[0].replace(":csv", "")])
        })
    }

    /// Whether the size of each longer row is one more group of digits, and no row shows that thousands are not grouped.
    fn are_grouped(&self, rows: &[usize], longer: &[usize], layout: &Layout) -> bool {
        let Some(size) = layout.size() else {
            return false;
        };
        let digits = |row: usize, at: usize| {
            let text = self.cut.text(row, self.cut.cells(row)[at]);
            let are_digits = !text.is_quoted && text.trimmed().iter().all(u8::is_ascii_digit);
            if are_digits { text.trimmed().len() } else { 0 }
        };
        let is_group = |row: &usize| {
            let at = layout.place(size, self.cut.cells(*row).len());
            let first = if size > layout.key() { at - 1 } else { at };
            (1..=3).contains(&digits(*row, first)) && digits(*row, first + 1) == 3
        };
        let has_thousands =
            |row: &usize| self.cut.cells(*row).len() == layout.columns && digits(*row, size) > 3;
        // Without a header a warning shows how the rows were read; there one row of many is a key with a comma.
        let is_lone = layout.header.is_none() && longer.len() == 1 && rows.len() >= 20;
        self.separator == Separator::Byte(b',')
            && !longer.is_empty()
            && !is_lone
            && longer.iter().all(is_group)
            && !rows.iter().any(has_thousands)
    }
}

#[cfg(test)]
mod tests {
    use crate::shape;
    use slotscope_read::format::Head;

    fn refusal(text: &str) -> Option<String> {
        let bytes = text.as_bytes();
        shape::of(Head { bytes, whole: true }).err()
    }

    #[test]
    fn rows_with_more_cells_than_the_header_are_refused_where_they_are_usual() {
        for table in [
            "key,size\nuser:1,500,5\nsess:ab,90,7\n",
            "key,size\nuser:1,500,\nsess:ab,90,\n",
            "key,size\nuser:1,77,123\nsess:ab,2,456\ncart:9,812\n",
            "key,size\nuser:1,77,123\nsess:ab,812\ncart:9,3\ncart:8,17\n",
            "key,type,size\nuser:1,hash,77,123\nsess:ab,set,812\ncart:9,list,3\n",
            "size,key\n77,123,user:1\n812,sess:ab\n3,cart:9\n",
            "user:1,77,123\nsess:ab,2,456\ncart:9,812\nlock:7,96\n",
        ] {
            let reason = refusal(table).unwrap_or_default();
            assert!(
                reason.contains("analyze -") || reason.contains("--line"),
                "{table}: {reason}"
            );
        }
        for table in [
            "key,size\ngeo:1,2,104\nuser:1,1234\nuser:2,96\n",
            "key,size\na,b,104\nuser:1,500\nuser:2,96\n",
            "size key\n104 the first key\n96 the second one\n",
            "key,size\nuser:1,\"77,123\"\nsess:ab,812\n",
        ] {
            assert_eq!(refusal(table), None, "{table}");
        }
    }

    #[test]
    fn words_of_a_reply_are_no_titles_of_a_table() {
        let reply = "get summary Get the value of a key\nsince 1.0.0\ngroup string\ncomplexity O(1)\n\
                     arguments name key\ntype key\nkey_spec_index 0\n";
        let reason = refusal(reply).unwrap_or_default();
        assert!(reason.starts_with("what a server says"), "{reason}");
    }

    #[test]
    fn a_number_with_groups_after_a_blank_is_one_number() {
        let shape = shape::of(Head {
            bytes: b"user:1 77,123\nsess:ab 2,456\ncart:{2} 8,001\n",
            whole: true,
        });
        let told = shape.unwrap().unwrap().told.shape;
        assert!(told == "{key} {size}", "{told}");
    }
}
