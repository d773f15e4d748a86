//! The shape of lines in a text without a grammar of its own: which part of a line is the key, and what the other parts
//! are.
//!
//! In a table, exactly one part of a line names a key: it differs in every line, and all other parts are values. In a
//! raw list the whole line is the key. If the lines do not tell, the input is refused with the flags that do.

mod among;
mod beside;
mod column;
mod commands;
mod cut;
mod doubt;
mod encoded;
mod json;
mod labels;
mod lines;
mod over_lines;
pub(crate) mod peel;
mod printout;
mod recipe;
mod record;
mod table;
mod told;
mod wrapped;

use slotscope_base::sentence::Sentence;
use slotscope_read::format::around::Around;
use slotscope_read::format::capture::monitor::Records;
use slotscope_read::format::line::offer::{offers, with_offers};
use slotscope_read::format::line::parse::literal;
use slotscope_read::format::line::tried::tried;
use slotscope_read::format::line::{Below, Pattern};
use slotscope_read::format::lines as raw_lines;
use slotscope_read::format::parse::escape;
use slotscope_read::format::redis_cli::numbered;
use slotscope_read::format::table::columns::{ColumnNames, KeyEscapes, Role};
use slotscope_read::format::table::csv_keys::CsvKeys;
use slotscope_read::format::table::jsonl::Jsonl;
use slotscope_read::format::table::layout::Layout;
use slotscope_read::format::table::separator::Separator;
use slotscope_read::format::{Format, Head, LineBy, Opened, Told};
use slotscope_read::source::boundary::line_at;

use crate::not_a_dump;

use json::Json;
use lines::{LOOKED_AT, Lines};
use table::{Certainty, Table};
use wrapped::Wrap;

/// The shape of an input.
#[derive(Debug, Clone)]
pub struct Shape {
    rows: Rows,
    /// Its description.
    pub told: Told,
}

/// The kind of the rows.
#[derive(Debug, Clone)]
enum Rows {
    /// Raw keys, starting at a byte offset.
    Raw(u64),
    /// Cells.
    Cells(Box<Layout>),
    /// MONITOR lines, with the offset of the record in a line.
    Records(usize),
    /// JSON objects with these members.
    Objects(ColumnNames),
    /// Lines of a pattern.
    Pattern(Below),
}

/// The shape of an input starting with `head`; `None` if more of it is needed.
///
/// # Errors
/// The kind of input if it is not a key list, or may be one of two; with the flags or command that help.
pub(super) fn of(head: Head<'_>) -> Result<Option<Shape>, String> {
    let Some(mut shape) = found(head)? else {
        return Ok(None);
    };
    let is_cut = !matches!(shape.rows, Rows::Raw(_));
    if is_cut && let Some(enclosed) = shape.enclosed(head) {
        shape.told.warning = Some(enclosed);
    }
    if let Some(warning) = shape.told.warning.take() {
        let raw = offers(head, ["{key}"].into_iter().filter(|_| is_cut));
        let or_raw = if raw.is_empty() {
            raw
        } else {
            format!("; where each line is a key, {raw}")
        };
        shape.told.warning = Some(warning.and(Sentence::from(or_raw)));
    }
    Ok(Some(shape))
}

fn found(head: Head<'_>) -> Result<Option<Shape>, String> {
    let names = &ColumnNames::USUAL;
    let lines = Lines::of(head);
    // A first line longer than the limit is judged by its start.
    let is_full = lines.head.len() >= LOOKED_AT;
    let has_line = memchr::memchr(b'\n', lines.head).is_some() || lines.is_whole || is_full;
    let rows = &lines.rows;
    if let Some(at) = record::lead(rows) {
        return Ok(Some(Shape::records(at)));
    }
    if let Some(refused) = record::refused(rows) {
        return Err(refused);
    }
    // Replies in JSON may have a member that is called a key.
    let is_array = rows.first().is_some_and(|row| row.starts_with(b"["));
    if is_array && let Some(refused) = not_a_dump::by_words(head) {
        return Err(refused);
    }
    if let Some(json) = json::of(&lines).filter(|_| has_line) {
        return json.map(|json| Some(Shape::of_json(json)));
    }
    if !has_line {
        return Ok(None);
    }
    if let Some(refused) = printout::refused(rows, head) {
        return Err(refused);
    }
    let surest = table::surest(&lines, names);
    let certainty = surest.as_ref().map(|table| table.certainty);
    if certainty != Some(Certainty::Proven)
        && let Some(refused) = not_a_dump::by_words(head)
            .or_else(|| json::over_lines(&lines, head))
            .or_else(|| not_a_dump::by_lines(head))
            .or_else(|| commands::refused(rows))
    {
        return Err(refused);
    }
    if certainty != Some(Certainty::Proven)
        && let Some(wrap) = Wrap::of(rows)
            .or_else(|| Wrap::of(inner(rows)))
            .filter(|wrap| !(certainty >= Some(Certainty::Likely) && wrap.may_be_cell()))
    {
        return Ok(Some(Shape::wrapped(wrap)));
    }
    if let Some(table) = surest {
        return match table.certainty {
            Certainty::Proven | Certainty::Likely => {
                let shape = Shape::of_table(&table, head);
                let read = tried(&shape.open(head)?, head);
                let first = read.as_ref().and_then(|read| read.first.as_ref());
                if first.is_some_and(|(key, _)| key.0.starts_with(b"{\""))
                    && let Some(refused) = recipe::inside_lines(rows)
                {
                    return Err(refused);
                }
                // More may be around the key than what is between two separators.
                let is_more = read.is_some_and(|read| read.fits == 0 || read.has_more());
                let peeled = is_more.then(|| Shape::peeled(rows)).flatten();
                Ok(Some(peeled.unwrap_or(shape)))
            }
            Certainty::Ambiguous => Err(ambiguous(&table, rows, head)),
            Certainty::Unfit => Err(table.refused.unwrap_or_default()),
        };
    }
    if let Some(refused) = doubt::refused(rows, names, head) {
        return Err(refused);
    }
    let doubt = among(rows, head).or_else(|| doubt::doubt(rows, head));
    // Chance does not write a distinct text in quotes in each line.
    let peeled = doubt.as_ref().and_then(|_| Shape::peeled(rows));
    let quoted = peeled.filter(|shape| shape.has_quoted_keys());
    Ok(Some(quoted.unwrap_or_else(|| Shape::raw(&lines, doubt))))
}

/// The doubt about lines some of which list keys and sizes.
fn among(rows: &[&[u8]], head: Head<'_>) -> Option<Sentence> {
    let rows = among::stretch(rows)?;
    let bytes = rows.join(&b'\n');
    let some = Head {
        bytes: &bytes,
        whole: true,
    };
    let of_shape = found(some).ok().flatten().and_then(|shape| shape.told.line);
    let table = || table::surest(&Lines::of(some), &ColumnNames::USUAL);
    let of_table = || Some(told::patterns(&table()?.layout).swap_remove(0));
    let patterns = [of_shape.or_else(of_table), peel::pattern(rows)];
    let mut doubts = patterns.into_iter().flatten();
    doubts.find_map(|pattern| among::doubt(&pattern, head))
}

/// The lines without those at both ends, where titles and totals are; none of a few lines.
pub(in crate::shape) fn inner<'r, 'a>(rows: &'r [&'a [u8]]) -> &'r [&'a [u8]] {
    const ENDS: usize = 3;
    const LEAST: usize = 12;
    match rows.len() {
        LEAST.. => &rows[ENDS..rows.len() - ENDS],
        _ => &[],
    }
}

/// Why a table that may be raw keys is refused.
fn ambiguous(table: &Table, rows: &[&[u8]], head: Head<'_>) -> String {
    let what = "keys, or keys and numbers beside them? Nothing in the lines says which";
    // More may be around the key than a table of two columns shows.
    if let Some(peeled) = peel::pattern(rows) {
        return with_offers(what, head, [peeled.as_str(), "{key}"]);
    }
    let shape = Shape::of_table(table, head);
    let opened = shape.open(head).ok();
    let pair = opened.and_then(|opened| tried(&opened, head)?.enclosed());
    let found = shape.told.line.unwrap_or_default();
    let offered = pair.and_then(|pair| without(pair, &found)).unwrap_or(found);
    with_offers(what, head, [offered.as_str(), "{key}"])
}

/// A pattern whose keys have these brackets or quotes around, without them.
fn without((open, close): (&str, &str), pattern: &str) -> Option<String> {
    let key = format!("{}{{key}}{}", literal(open), literal(close));
    pattern
        .contains("{key}")
        .then(|| pattern.replace("{key}", &key))
}

impl Shape {
    fn raw(lines: &Lines<'_>, doubt: Option<Sentence>) -> Shape {
        let is_of_client = lines.has(Around::Client);
        Shape {
            rows: Rows::Raw(if is_of_client { lines.start as u64 } else { 0 }),
            told: told::raw(doubt, is_of_client).of_line("{key}", LineBy::Found),
        }
    }

    /// Lines with other text around each name.
    fn peeled(rows: &[&[u8]]) -> Option<Shape> {
        let text = peel::pattern(rows)?;
        let pattern = Pattern::parse(&text).ok()?;
        Some(Shape {
            told: told::wrapped("names with other text around").of_line(text, LineBy::Found),
            rows: Rows::Pattern(Below::start(pattern)),
        })
    }

    fn has_quoted_keys(&self) -> bool {
        let line = self.told.line.as_ref();
        line.is_some_and(|line| line.contains("{key:q}"))
    }

    /// A table, by its pattern; cells of CSV by their layout, which has the header and the escapes.
    fn of_table(table: &Table, head: Head<'_>) -> Shape {
        let layout = &table.layout;
        let header = || line_at(head.bytes, layout.header_at as usize).0.to_vec();
        let by_pattern = |text: &String| {
            let pattern = Pattern::parse(text).ok()?;
            let below = Below {
                skip: layout.skip,
                header: layout.header.as_ref().map(|_| header()),
                ..Below::start(pattern)
            };
            (!below.pattern.is_of_cells()).then(|| Shape {
                told: told::table(table, text),
                rows: Rows::Pattern(below),
            })
        };
        let read = |shape: &Shape| tried(&shape.open(head).ok()?, head);
        let mut patterns = told::patterns(layout);
        // Other numbers may be written with words: `8027 members`.
        let fewer: Vec<String> = patterns
            .iter()
            .map(|text| told::without_numbers(text))
            .collect();
        patterns.extend(fewer);
        patterns.dedup();
        let shapes = patterns.iter().filter_map(by_pattern);
        // Where most rows have the blanks of the first pattern, those with fewer may be read by the next one.
        let is_of_blanks = matches!(layout.separator, Separator::Blanks(_));
        let fitter = |one: Shape, next: Shape| match (read(&one), read(&next)) {
            (Some(ones), Some(nexts))
                if nexts.misfits < ones.misfits
                    && (!is_of_blanks || ones.first.is_none() || nexts.first == ones.first) =>
            {
                next
            }
            _ => one,
        };
        shapes.reduce(fitter).unwrap_or_else(|| Shape {
            told: told::table(table, &patterns[0]),
            rows: Rows::Cells(Box::new(layout.clone())),
        })
    }

    /// A doubt about keys in brackets or quotes, with the pattern that takes them off.
    fn enclosed(&self, head: Head<'_>) -> Option<Sentence> {
        let pair @ (open, close) = tried(&self.open(head).ok()?, head)?.enclosed()?;
        let what = format!("keys are between {open} and {close}, which are read as a part of them");
        let pattern = without(pair, self.told.line.as_deref().unwrap_or_default());
        Some(Sentence::from(with_offers(&what, head, pattern)))
    }

    fn records(at: usize) -> Shape {
        Shape {
            rows: Rows::Records(at),
            told: Told::new(
                match at {
                    0 => "lines of MONITOR",
                    _ => "lines of MONITOR inside other lines",
                },
                None,
            ),
        }
    }

    fn wrapped(wrap: Wrap) -> Shape {
        Shape {
            told: told::wrapped(wrap.name).of_line(wrap.pattern.text(), LineBy::Found),
            rows: Rows::Pattern(Below::start(wrap.pattern)),
        }
    }

    fn of_json(json: Json) -> Shape {
        const KEYS: &str = "each line is an object of JSON without a member key, and is read as a key itself; --key-column NAME reads a member of it";
        match json {
            Json::Members(doubt) => Shape {
                rows: Rows::Objects(ColumnNames::USUAL),
                told: Told::new("JSON objects with a member key", doubt),
            },
            Json::ByContent(key, size) => Shape {
                told: told::by_content(&key),
                rows: Rows::Objects(ColumnNames {
                    key: Some(key),
                    size,
                    ..ColumnNames::USUAL
                }),
            },
            Json::Keys => Shape {
                rows: Rows::Raw(0),
                told: Told::new("", Some(Sentence::default().words(KEYS)))
                    .of_line("{key}", LineBy::Found),
            },
        }
    }

    /// Whether each line is a key.
    pub fn is_raw(&self) -> bool {
        matches!(self.rows, Rows::Raw(_))
    }

    /// The name of the format its rows are read as.
    pub fn format(&self) -> &'static str {
        match &self.rows {
            Rows::Raw(_) | Rows::Pattern(..) => "lines",
            Rows::Cells(_) => "csv",
            Rows::Records(_) => "monitor",
            Rows::Objects(_) => "jsonl",
        }
    }

    /// Opens an input of this shape.
    ///
    /// # Errors
    /// As `Format::open`.
    pub fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        self.opened(head, ColumnNames::USUAL.escapes, "csv")
    }

    /// The same with keys of cells escaped so, which are an input in the format called `format`.
    pub(crate) fn opened(
        &self,
        head: Head<'_>,
        escapes: KeyEscapes,
        format: &'static str,
    ) -> Result<Opened, String> {
        match &self.rows {
            Rows::Raw(skip) => Ok(raw_lines::after(*skip, head, is_another)),
            Rows::Cells(layout) => {
                Ok(CsvKeys::of(head, (**layout).clone(), escapes).opened(format))
            }
            Rows::Records(lead) => Ok(Opened::lines("monitor", Records { lead: *lead })),
            Rows::Objects(names) => Jsonl {
                names: names.clone(),
            }
            .open(head),
            Rows::Pattern(below) => below.opened(head),
        }
    }
}

/// The table with these header columns.
pub(crate) fn table_with(head: Head<'_>, names: &ColumnNames) -> Option<Shape> {
    let lines = Lines::of(head);
    let table = table::named(&lines, &table::candidates(&lines), names)
        .filter(|table| table.refused.is_none())?;
    let header = table.layout.header.as_deref().unwrap_or_default();
    // Its content may tell the column of keys where no name does.
    let of_keys = table.layout.at[Role::Key.place()].and_then(|at| header.get(at));
    let found = of_keys.and_then(|name| String::from_utf8(name.clone()).ok());
    let wanted = ColumnNames {
        key: names.key.clone().or(found),
        ..names.clone()
    };
    wanted.missing_in(header).is_none().then_some(())?;
    Some(Shape::of_table(&table, head))
}

/// Whether lines in the middle of a raw list clearly have another shape.
fn is_another(bytes: &[u8]) -> bool {
    let lines = Lines::of(Head {
        bytes,
        whole: false,
    });
    let certain = || {
        table::surest(&lines, &ColumnNames::USUAL)
            .is_some_and(|table| table.certainty >= Certainty::Likely)
    };
    let is_of_cli = |row: &&[u8]| escape::is_quoted(row) || numbered::is_row(row);
    lines.rows.len() >= 20
        && (record::lead(&lines.rows).is_some()
            || column::share_of(&lines.rows, is_of_cli) >= column::MOST
            || certain())
}
