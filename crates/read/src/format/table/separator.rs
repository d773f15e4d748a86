//! Cell separators, and splitting lines by them.

use crate::format::parse::size::{is_missing, size};
use crate::format::table::Span;

/// The separator of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Separator {
    Byte(u8),
    /// These bytes.
    Text(&'static str),
    /// At least this many blanks and TABs.
    Blanks(usize),
}

/// A cell of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Cell {
    /// Its position, without surrounding quotes.
    pub span: Span,
    /// Whether it is quoted as in RFC 4180.
    pub is_quoted: bool,
}

impl Separator {
    /// Known separators, those rarest in key names first.
    pub const ALL: [Separator; 15] = [
        Separator::Byte(b'\t'),
        Separator::Text(" -> "),
        Separator::Text(" => "),
        Separator::Text(" | "),
        Separator::Byte(b'|'),
        Separator::Text("│"),
        Separator::Text(" = "),
        Separator::Text(": "),
        Separator::Byte(b';'),
        Separator::Byte(b'^'),
        Separator::Byte(b'~'),
        Separator::Byte(b','),
        Separator::Byte(b'='),
        Separator::Blanks(2),
        Separator::Blanks(1),
    ];

    /// As it is written in a pattern.
    pub fn literal(self) -> String {
        match self {
            Separator::Byte(b'\t') => String::from("\\t"),
            Separator::Byte(byte @ (b'{' | b'}' | b'\\')) => char::from(byte).to_string().repeat(2),
            Separator::Byte(byte) => char::from(byte).to_string(),
            Separator::Text(text) => text.into(),
            Separator::Blanks(least) => " ".repeat(least),
        }
    }

    pub fn is_in(self, line: &[u8]) -> bool {
        match self {
            Separator::Byte(byte) => memchr::memchr(byte, line).is_some(),
            Separator::Text(text) => memchr::memmem::find(line, text.as_bytes()).is_some(),
            Separator::Blanks(1) => memchr::memchr2(b' ', b'\t', line.trim_ascii()).is_some(),
            Separator::Blanks(least) => {
                let is_run = |pair: &[u8]| pair.iter().all(|byte| b" \t".contains(byte));
                line.trim_ascii().windows(least).any(is_run)
            }
        }
    }

    /// Splits a line, given without its line end. With `quotes`, cells between bytes may be quoted.
    pub fn cut(self, line: &[u8], quotes: bool, cells: &mut Vec<Cell>) {
        cells.clear();
        match self {
            Separator::Byte(byte) => {
                let has_quotes = quotes && memchr::memchr(b'"', line).is_some();
                if !has_quotes || cut_quoted(line, byte, cells).is_none() {
                    cells.clear();
                    let ends = memchr::memchr_iter(byte, line).map(|end| (end, end + 1));
                    between(line, ends, cells);
                }
            }
            Separator::Text(text) => {
                let len = text.len();
                let ends = memchr::memmem::find_iter(line, text.as_bytes());
                between(line, ends.map(|end| (end, end + len)), cells);
            }
            Separator::Blanks(least) => cut_at_blanks(line, least, cells),
        }
    }
}

fn between(line: &[u8], ends: impl Iterator<Item = (usize, usize)>, cells: &mut Vec<Cell>) {
    let mut start = 0;
    for (end, next) in ends.chain([(line.len(), 0)]) {
        cells.push(Cell {
            span: (start as u32, end as u32),
            is_quoted: false,
        });
        start = next;
    }
}

/// Whether a quoted cell is unclosed.
pub fn is_open(line: &[u8], byte: u8) -> bool {
    memchr::memchr(b'"', line).is_some() && cut_quoted(line, byte, &mut Vec::new()).is_none()
}

/// Cells that may be quoted, with blanks around the quotes; `None` if a quote is unclosed.
fn cut_quoted(line: &[u8], byte: u8, cells: &mut Vec<Cell>) -> Option<()> {
    let mut at = 0;
    loop {
        let blanks = line[at..].iter().take_while(|byte| **byte == b' ').count();
        let end_of =
            |from: usize| memchr::memchr(byte, &line[from..]).map_or(line.len(), |end| from + end);
        let mut cell = Cell {
            span: (at as u32, end_of(at) as u32),
            is_quoted: false,
        };
        let mut end = cell.span.1 as usize;
        if line.get(at + blanks) == Some(&b'"') {
            let open = at + blanks + 1;
            let mut close = open;
            loop {
                close += memchr::memchr(b'"', line.get(close..)?)?;
                if line.get(close + 1) != Some(&b'"') {
                    break;
                }
                close += 2;
            }
            let behind = end_of(close + 1);
            if line[close + 1..behind].iter().all(|byte| *byte == b' ') {
                end = behind;
                cell = Cell {
                    span: (open as u32, close as u32),
                    is_quoted: true,
                };
            }
        }
        cells.push(cell);
        if end == line.len() {
            return Some(());
        }
        at = end + 1;
    }
}

/// Cells between runs of blanks. A unit belongs to the number before it.
fn cut_at_blanks(line: &[u8], least: usize, cells: &mut Vec<Cell>) {
    let is_blank = |at: usize| matches!(line.get(at), Some(b' ' | b'\t'));
    let end = line.trim_ascii_end().len();
    let mut at = line.len() - line.trim_ascii_start().len();
    let mut start = at;
    while at < end {
        let run = (at..end).take_while(|at| is_blank(*at)).count();
        if run < least {
            at += run.max(1);
            continue;
        }
        push(line, (start, at), cells);
        at += run;
        start = at;
    }
    if start < end {
        push(line, (start, end), cells);
    }
}

fn push(line: &[u8], (from, to): (usize, usize), cells: &mut Vec<Cell>) {
    let unit = line[from..to].strip_suffix(b")").unwrap_or(&line[from..to]);
    let is_unit = unit.len() > 1 || matches!(unit, [b'B' | b'K' | b'M' | b'G' | b'T']);
    if let Some(last) = cells
        .last_mut()
        .filter(|_| is_unit && unit.iter().all(u8::is_ascii_alphabetic))
    {
        let before = &line[last.span.0 as usize..last.span.1 as usize];
        let joined = &line[last.span.0 as usize..to];
        if !is_missing(before)
            && size(before.strip_prefix(b"(").unwrap_or(before)).is_some()
            && size(joined).is_some()
        {
            last.span.1 = to as u32;
            return;
        }
    }
    cells.push(Cell {
        span: (from as u32, to as u32),
        is_quoted: false,
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(separator: Separator, line: &str) -> Vec<String> {
        let mut cells = Vec::new();
        separator.cut(line.as_bytes(), true, &mut cells);
        let text = |cell: &Cell| line[cell.span.0 as usize..cell.span.1 as usize].to_string();
        cells.iter().map(text).collect()
    }

    #[test]
    fn cells_are_what_is_between_separators() {
        assert_eq!(
            cells(Separator::Byte(b','), "a,\"b,c\" , d"),
            ["a", "b,c", " d"]
        );
        assert_eq!(cells(Separator::Byte(b','), "\"a\"b,c"), ["\"a\"b", "c"]);
        assert_eq!(cells(Separator::Byte(b','), "\"a,b"), ["\"a", "b"]);
        assert_eq!(cells(Separator::Byte(b','), "a,"), ["a", ""]);
        assert_eq!(
            cells(Separator::Text(" -> "), "a -> b -> 1"),
            ["a", "b", "1"]
        );
        assert_eq!(
            cells(Separator::Blanks(1), "  a \t b  12 bytes "),
            ["a", "b", "12 bytes"]
        );
        assert_eq!(
            cells(Separator::Blanks(1), "user 5 items"),
            ["user", "5", "items"]
        );
        assert_eq!(cells(Separator::Blanks(2), "a b  12"), ["a b", "12"]);
        assert_eq!(
            cells(Separator::Blanks(1), "a (184 bytes)"),
            ["a", "(184 bytes)"]
        );
    }
}
