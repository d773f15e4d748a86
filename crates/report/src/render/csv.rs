//! A table as CSV: exact numbers, names in C escapes, and an empty cell for unknown values.

use std::io::{self, Write};

use crate::view::{Cell, Table};

/// Characters that require quoting: those that end a field here, or in spreadsheets that split at semicolons.
const QUOTED: [char; 5] = [',', ';', '"', '\n', '\r'];
/// Characters that start a formula; some spreadsheets treat full-width ones like the usual ones.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// Writes every row of `table`.
///
/// # Errors
/// `out` cannot be written.
pub fn write(table: &Table<'_>, out: &mut dyn Write) -> io::Result<()> {
    let columns = table.for_files();
    let header = columns.iter().map(|at| table.columns[*at].field.to_owned());
    write_row(header, out)?;
    for row in &table.rows {
        write_row(columns.iter().map(|at| field(&row[*at])), out)?;
    }
    Ok(())
}

fn write_row(fields: impl Iterator<Item = String>, out: &mut dyn Write) -> io::Result<()> {
    let quoted = fields.map(|field| {
        if field.contains(QUOTED) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            field
        }
    });
    writeln!(out, "{}", quoted.collect::<Vec<_>>().join(","))
}

/// The exact value; text that a spreadsheet would take for a formula gets a leading `'`.
fn field(cell: &Cell<'_>) -> String {
    let text = cell.exact();
    if !cell.is_number() && text.trim_start().starts_with(FORMULA) {
        format!("'{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::{Column, Value};
    use slotscope_base::metric::Metric;
    use slotscope_base::name::Name;

    fn lines(columns: Vec<Column>, rows: Vec<Vec<Cell<'_>>>) -> String {
        let mut out = Vec::new();
        write(&Table::new(columns, rows), &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_name_is_never_a_formula_and_a_number_keeps_its_sign() {
        let names = [
            "=cmd()", "+1", "-1", "@x", "a=b", "'x", " =1", "＝1", "x;=1+1;y",
        ];
        let names = names.map(Name::from);
        let rows = names.iter().map(|name| vec![Cell::name(name)]).collect();
        let text = lines(vec![Column::words("name")], rows);
        assert_eq!(
            text,
            "name\n'=cmd()\n'+1\n'-1\n'@x\na=b\n'x\n' =1\n'＝1\n\"x;=1+1;y\"\n"
        );
        let number = vec![vec![Value::SignedBytes(-1).into()]];
        assert_eq!(lines(vec![Column::number("room")], number), "room\n-1\n");
    }

    #[test]
    fn what_a_cell_must_not_hold_is_quoted_or_escaped() {
        let names = ["x,\"y\"", "l1\nl2"].map(Name::from);
        let text = lines(
            vec![Column::words("a"), Column::words("b")],
            vec![names.iter().map(Cell::name).collect()],
        );
        assert_eq!(text, "a,b\n\"x,\"\"y\"\"\",l1\\nl2\n");
    }

    #[test]
    fn files_have_their_own_columns_and_an_empty_cell_for_what_is_not_known() {
        let columns = vec![
            Column::words("pattern").field("name"),
            Column::words("").only_for_people(),
            Column::load(Metric::Ops, Metric::Keys),
        ];
        let row = vec![Cell::text("a"), Cell::text("bar"), Cell::none()];
        assert_eq!(lines(columns, vec![row]), "name,ops\na,\n");
    }
}
