//! Describes the shapes of inputs.

use slotscope_base::batch::{Number, Word};
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::sentence::Sentence;
use slotscope_read::format::table::columns::Role;
use slotscope_read::format::table::layout::{KeyText, Layout};
use slotscope_read::format::table::separator::Separator;
use slotscope_read::format::table::units::Unit;
use slotscope_read::format::{LineBy, Told};

use crate::shape::table::{Certainty, Table};

/// Raw keys, with an optional doubt.
pub(super) fn raw(doubt: Option<Sentence>, is_of_client: bool) -> Told {
    let text = "lines of kubectl, docker or telnet at the start, left out";
    let client = is_of_client.then(|| Sentence::default().words(text));
    Told::new("", doubt.or(client))
}

/// JSON objects whose key member was found by content.
pub(super) fn by_content(name: &str) -> Told {
    let warning = Sentence::default()
        .words("the keys were taken from the member ")
        .name(name)
        .words(", which is another text in each object; --key-column NAME names another");
    Told::new("JSON objects, keys found by their content", Some(warning))
}

/// Keys with text around.
pub(super) fn wrapped(shape: &str) -> Told {
    let warning = format!("read as {shape}: the text around each key was cut");
    Told::new(shape, Some(Sentence::default().words(warning)))
}

/// A table whose rows have this pattern.
pub(super) fn table(table: &Table, pattern: &str) -> Told {
    let is_likely = table.certainty < Certainty::Proven;
    let warning = "nothing but the lines themselves says how they are to be read";
    let by = match table.layout.header {
        Some(_) => LineBy::Header,
        None => LineBy::Found,
    };
    let unread = table.unread.first().map(|name| Name::from(name.as_slice()));
    let has_sizes = table.layout.size().is_some();
    let note = unread.clone().filter(|_| has_sizes).map(|name| {
        Sentence::default()
            .words("nothing was made of the numbers in the column ")
            .name(name)
            .words("; --size-column NAME reads them as sizes, --ops-column NAME as operations")
    });
    let warning = is_likely.then(|| Sentence::default().words(warning));
    let told = Told {
        unread: unread.filter(|_| !has_sizes),
        note,
        ..Told::new(pattern, warning).of_line(pattern, by)
    };
    table.doubts.iter().cloned().fold(told, Told::with)
}

/// Patterns of a table's rows: those after the first one are for rows with fewer blanks.
pub(crate) fn patterns(layout: &Layout) -> Vec<String> {
    let is_csv = layout.has_quotes
        && matches!(layout.separator, Separator::Byte(_))
        && !matches!(layout.key_text, KeyText::Marked(_));
    let cell = if is_csv { ":csv" } else { "" };
    let key = match layout.key_text {
        KeyText::Quoted | KeyText::Python => String::from("{key:q}"),
        KeyText::Escaped => String::from("{key:md}"),
        KeyText::Marked(mark) => {
            let mark = String::from_utf8_lossy(mark);
            format!("{mark}{{key}}{mark}")
        }
        _ => format!("{{key{cell}}}"),
    };
    let plain = fields(layout, cell, &key);
    let between = layout.separator.literal();
    let bar = between.trim();
    // In a column of a width, blanks do not belong to the key.
    let wide = |width: usize| match layout.key_text {
        KeyText::Plain => fields(layout, cell, &format!("{{key:w{width}}}")),
        _ => plain.clone(),
    };
    let framed = |fields: &[String]| format!("{bar}{}{bar}", fields.join(bar));
    match (layout.separator, layout.padded) {
        (Separator::Blanks(least), _) => {
            let blanks = (1..=least).rev().map(|blanks| " ".repeat(blanks));
            blanks.map(|blanks| plain.join(&blanks)).collect()
        }
        (_, Some(width)) if layout.has_border => {
            let apart = plain.join(&format!(" {bar} "));
            // Where a cell is empty, no blank is on both sides of its field.
            let spaced = |field: &String| {
                let blank = if field.contains("{key") { " " } else { "" };
                format!("{blank}{field}{blank}")
            };
            let near: Vec<String> = plain.iter().map(spaced).collect();
            vec![
                format!("{bar} {apart} {bar}"),
                framed(&near),
                framed(&wide(width)),
            ]
        }
        (_, Some(width)) if !is_csv => vec![wide(width).join(&between)],
        _ => vec![plain.join(&between)],
    }
}

/// A pattern in which numbers that are nothing but digits are not read.
pub(crate) fn without_numbers(pattern: &str) -> String {
    const NUMBERS: [&str; 4] = ["{elements}", "{idle}", "{lfu}", "{db}"];
    let unread = |text: String, number: &&str| text.replace(*number, "{_}");
    NUMBERS.iter().fold(pattern.to_owned(), unread)
}

/// The fields of a table's columns.
fn fields(layout: &Layout, cell: &str, key: &str) -> Vec<String> {
    let field = |column: usize| {
        let has_role = |role: Role| layout.at[role.place()] == Some(column);
        let (name, unit) = match () {
            () if has_role(Role::Key) => return key.to_owned(),
            () if has_role(Role::of(Metric::Bytes)) => ("size", layout.size_unit),
            () if has_role(Role::of(Metric::Ops)) => ("ops", Unit::One),
            () if has_role(Role::Number(Number::Expiry)) => ("ttl", layout.expiry_unit),
            () if has_role(Role::Word(Word::Type)) => ("type", Unit::One),
            () if has_role(Role::Number(Number::Database)) => ("db", Unit::One),
            () if has_role(Role::Number(Number::Elements)) => ("elements", Unit::One),
            () if has_role(Role::Number(Number::Idle)) => ("idle", Unit::One),
            () if has_role(Role::Number(Number::Lfu)) => ("lfu", Unit::One),
            () => ("_", Unit::One),
        };
        match (cell, unit.modifiers()) {
            (_, "") => format!("{{{name}{cell}}}"),
            ("", unit) => format!("{{{name}:{unit}}}"),
            (cell, unit) => format!("{{{name}{cell},{unit}}}"),
        }
    };
    // `(integer) 5` is a number of one field.
    let is_number = |column: &usize| {
        let words = layout.words.get(*column).map(Vec::as_slice);
        matches!(words, Some([word]) if word == b"(integer)")
    };
    let columns = (0..layout.columns).filter(|column| !is_number(column));
    columns.map(field).collect()
}
