//! Reads lines by a pattern. Keys stay spans of the block; only a line that does not fit takes the slow path.

use slotscope_base::batch::{Spans, Word};
use slotscope_base::block::{Block, Padded, Piece};
use slotscope_base::metric::Metric;

use crate::format::around::{Around, around};
use crate::format::line::field::{Atom, Literal, Written};
use crate::format::line::matching::{Found, unquoted};
use crate::format::line::{Below, Pattern, Token, trimmed};
use crate::format::parse::escape;
use crate::format::redis_cli::{errors, noise};
use crate::format::table::columns::{ROLES, Role};
use crate::format::table::plain_rows::{self, Grid};
use crate::format::table::total::is_total;
use crate::format::table::units::Unit;
use crate::format::table::{
    Carried, Row, Rows, Step, Unreadables, number_columns, optional, reader, skipped,
};
use crate::format::{Columns, Notice};
use crate::source::boundary::line_at;

/// Why a line is not a row.
const MISFIT: &str = "a line that the pattern of the others does not fit";

/// The reader of a pattern.
pub struct Patterned {
    pattern: Pattern,
    /// The same without the brackets around it.
    core: Option<Pattern>,
    cells: Option<Cells>,
    /// Offset of the first line.
    skip: u64,
    /// The line of the header without blanks.
    header: Option<Vec<u8>>,
    /// Whether a row may be the total of others.
    has_totals: bool,
    units: [Unit; ROLES],
    carried: Carried,
}

impl Patterned {
    /// The reader of `pattern`.
    pub fn of(pattern: &Pattern) -> Patterned {
        let mut carried = [false; ROLES];
        let mut units = [Unit::One; ROLES];
        carried[Role::Key.place()] = true;
        for token in pattern.left.iter().chain(&pattern.right) {
            if let Token::Field(field) = token
                && let Some(role) = field.role
            {
                carried[role.place()] = true;
                units[role.place()] = field.unit;
            }
        }
        Patterned {
            pattern: pattern.clone(),
            core: core(pattern),
            cells: Cells::of(pattern),
            skip: 0,
            header: None,
            has_totals: pattern.has_size(),
            units,
            carried,
        }
    }

    /// The reader of these lines.
    pub(crate) fn below(below: &Below) -> Patterned {
        let reader = Patterned::of(&below.pattern);
        let header = below.header.as_deref();
        Patterned {
            skip: below.skip,
            header: header.map(|line| without_blanks(line).copied().collect()),
            // A header that comes again may look like a row.
            cells: reader.cells.filter(|_| header.is_none()),
            ..reader
        }
    }

    /// The fields of a line, and where it starts without blanks.
    fn find(&self, line: &[u8]) -> Option<(Found, usize)> {
        let text = trimmed(line);
        let at = text.as_ptr() as usize - line.as_ptr() as usize;
        if let Ok(found) = self.pattern.find(text) {
            return Some((found, at));
        }
        // The first line of a printed list has its bracket, and the last one lacks a comma.
        let core = self.core.as_ref()?;
        let inside = inside(core, text);
        let found = core.find(inside).ok()?;
        Some((
            found,
            at + inside.as_ptr() as usize - text.as_ptr() as usize,
        ))
    }

    /// The texts of the key and the size in a line.
    pub fn key_and_size<'a>(&self, line: &'a [u8]) -> Option<(&'a [u8], &'a [u8])> {
        let (found, at) = self.find(line)?;
        let line = &line[at..];
        let (from, to) = found.texts[Role::of(Metric::Bytes).place()];
        Some((&line[found.key], unquoted(&line[from..to])))
    }

    fn row(&self, content: &mut [u8], from: usize, found: &Found) -> Step {
        let key = (from + found.key.start, from + found.key.end);
        let mut unreadable = Unreadables::default();
        let mut row = Row::of((key.0 as u32, key.1 as u32));
        let text = |role: Role| {
            let (start, end) = found.texts[role.place()];
            (from + start, from + end)
        };
        for (role, value) in row
            .numbers_mut()
            .filter(|(role, _)| self.carried[role.place()])
        {
            let (start, end) = text(role);
            let text = unquoted(&content[start..end]);
            let read = reader(role, self.units[role.place()]);
            *value = optional(text, read).unwrap_or_else(|| unreadable.note(role, text));
        }
        row.words = Word::ALL.map(|word| {
            let (start, end) = text(Role::Word(word));
            (start as u32, end as u32)
        });
        row.key.1 = escape::undo(found.escapes, content, key.0, key.1) as u32;
        Step::Key(row, unreadable)
    }
}

/// The cells of lines that one byte separates.
struct Cells {
    between: u8,
    /// The role of each.
    roles: Vec<Option<Role>>,
}

impl Cells {
    /// The cells of `pattern`, if batches of its lines can be split all at once.
    fn of(pattern: &Pattern) -> Option<Cells> {
        let tokens = || pattern.left.iter().chain(&pattern.right);
        let byte = |token: &Token| match token {
            Token::Literal(Literal(atoms)) if atoms.as_slice() == [Atom::Blanks(1)] => Some(b' '),
            token => token.byte(),
        };
        let between = tokens().find_map(byte)?;
        let is_simple = |token: &Token| match token {
            Token::Literal(_) => byte(token) == Some(between),
            Token::Field(field) => {
                let is_known = matches!(field.role, None | Some(Role::Weight(_) | Role::Word(_)));
                field.written == Written::Plain && is_known
            }
        };
        // Fields at both ends, with a separator between each two.
        let ends = |token: Option<&Token>| token.is_none_or(|token| token.field().is_some());
        let are_ended = ends(pattern.left.first()) && ends(pattern.right.last());
        let is_plain = pattern.key == Written::Plain && are_ended && tokens().all(is_simple);
        let fields = |tokens: &[Token]| -> Vec<Option<Role>> {
            let fields = tokens.iter().filter_map(Token::field);
            fields.map(|field| field.role).collect()
        };
        let roles = [
            fields(&pattern.left),
            vec![Some(Role::Key)],
            fields(&pattern.right),
        ]
        .concat();
        is_plain.then_some(Cells { between, roles })
    }

    fn place(&self, role: Role) -> Option<usize> {
        self.roles.iter().position(|other| *other == Some(role))
    }
}

/// Buffers for a batch of lines.
#[derive(Default)]
pub struct Memory {
    grid: Grid,
    spans: Spans,
}

impl Rows for Patterned {
    type Memory = Memory;

    fn first(&self, block: &Block, piece: Piece, from: usize) -> usize {
        skipped(from, piece, self.skip).min(block.len())
    }

    fn alike(
        &self,
        base: Padded<'_>,
        from: usize,
        columns: &mut Columns<'_>,
        Memory { grid, spans }: &mut Memory,
    ) -> Option<usize> {
        let cells = self.cells.as_ref()?;
        let count = cells.roles.len();
        let next = grid.cut(
            base,
            from as u32,
            cells.between,
            count,
            false,
            columns.kernel,
        )?;
        let text = &base.bytes()[from..base.len().min(next as usize)];
        // Lines with colours, or blanks around them, are read one by one.
        let blanks = if cells.between == b' ' { b'\t' } else { b' ' };
        let has_tab = || cells.between != b'\t' && memchr::memchr(b'\t', text).is_some();
        if memchr::memchr2(0x1B, blanks, text).is_some() || has_tab() {
            return None;
        }
        // Blanks at the ends of a line are not between cells.
        let has_blank_end = matches!(cells.between, b' ' | b'\t')
            && [0, count - 1].into_iter().any(|at| {
                grid.column(at, spans);
                let mut cells = spans.start.iter().zip(&spans.end);
                cells.any(|(start, end)| start == end)
            });
        if has_blank_end {
            return None;
        }
        let with_attributes = columns.with_attributes;
        let Columns { keys, values, .. } = columns;
        values.clear();
        grid.column(cells.place(Role::Key)?, keys);
        let is_other = |(start, end): (&u32, &u32)| {
            let key = &base.bytes()[*start as usize..*end as usize];
            key.is_empty() || self.has_totals && is_total(key, true)
        };
        if keys.start.iter().zip(&keys.end).any(is_other) {
            return None;
        }
        for (role, column) in number_columns(values) {
            let Some(at) = cells.place(role) else {
                continue;
            };
            grid.column(at, spans);
            let unit = self.units[role.place()];
            let read = |text: &[u8]| optional(text, reader(role, unit));
            let is_read = match unit {
                Unit::One => plain_rows::numbers(base, spans, read, column),
                _ => plain_rows::values(base, spans, read, column),
            };
            if !is_read {
                return None;
            }
        }
        for word in Word::ALL.into_iter().filter(|_| with_attributes) {
            if let Some(at) = cells.place(Role::Word(word)) {
                grid.column(at, values.word_mut(word));
            }
        }
        Some(next as usize)
    }

    fn carried(&self) -> Carried {
        self.carried
    }

    fn next(&self, content: &mut [u8], at: usize, _: &mut Memory) -> (usize, Step) {
        let (line, after) = line_at(content, at);
        let header = self.header.as_ref();
        if header.is_some_and(|header| without_blanks(line).eq(header)) {
            return (after, Step::Around);
        }
        if let Some((found, start)) = self.find(line) {
            let is_last = after >= content.len();
            if self.has_totals && is_total(&line[start..][found.key.clone()], is_last) {
                return (after, Step::Total);
            }
            return (after, self.row(content, at + start, &found));
        }
        let step = match (around(line), noise::noise(line)) {
            (Some(Around::Blank), _) => Step::Blank,
            (_, Some(Notice::ErrorReply)) => Step::Reject(errors::REASON.into()),
            (Some(_), _) | (_, Some(_)) => Step::Around,
            (None, None) if is_bracket(line) => Step::Around,
            (None, None) => Step::Reject(MISFIT.into()),
        };
        (after, step)
    }
}

fn without_blanks(line: &[u8]) -> impl Iterator<Item = &u8> {
    line.iter().filter(|byte| !byte.is_ascii_whitespace())
}

const OPEN: &[u8] = b"[({ \t";
const CLOSE: &[u8] = b"])};, \t";

/// Whether a line is only brackets.
fn is_bracket(line: &[u8]) -> bool {
    let mut bytes = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    bytes.all(|byte| OPEN.contains(byte) || CLOSE.contains(byte))
}

/// The pattern without the brackets and commas around it; `None` if these may belong to the key.
fn core(pattern: &Pattern) -> Option<Pattern> {
    let mut core = pattern.clone();
    let is_quoted = pattern.key == Written::Quoted;
    let is_stripped = |literal: &mut Literal, is_end: bool| {
        let at = if is_end {
            literal.0.len().checked_sub(1)?
        } else {
            0
        };
        if let Atom::Bytes(bytes) = literal.0.get_mut(at)? {
            let (from, to) = if is_end {
                (0, without_end(bytes).len())
            } else {
                (bytes.len() - without_start(bytes).len(), bytes.len())
            };
            let is_any = to - from < bytes.len();
            *bytes = bytes[from..to].to_vec();
            literal
                .0
                .retain(|atom| !matches!(atom, Atom::Bytes(bytes) if bytes.is_empty()));
            return is_any.then_some(());
        }
        None
    };
    let left = match core.left.first_mut() {
        Some(Token::Literal(literal)) => is_stripped(literal, false).is_some(),
        Some(Token::Field(_)) => false,
        None => is_quoted,
    };
    let right = match core.right.last_mut() {
        Some(Token::Literal(literal)) => is_stripped(literal, true).is_some(),
        Some(Token::Field(_)) => left,
        None => is_quoted,
    };
    for tokens in [&mut core.left, &mut core.right] {
        tokens.retain(|token| !matches!(token, Token::Literal(Literal(atoms)) if atoms.is_empty()));
    }
    (left || right).then_some(core)
}

fn without_start(text: &[u8]) -> &[u8] {
    &text[text.iter().take_while(|byte| OPEN.contains(byte)).count()..]
}

fn without_end(text: &[u8]) -> &[u8] {
    let close = text
        .iter()
        .rev()
        .take_while(|byte| CLOSE.contains(byte))
        .count();
    &text[..text.len() - close]
}

/// A line without the brackets around it, where the pattern of the core has none.
fn inside<'a>(core: &Pattern, line: &'a [u8]) -> &'a [u8] {
    let starts_with_text = core.left.is_empty() && core.key == Written::Plain;
    let ends_with_text = core.right.is_empty() && core.key == Written::Plain;
    let line = if starts_with_text {
        line
    } else {
        without_start(line)
    };
    if ends_with_text {
        line
    } else {
        without_end(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Head;
    use crate::format::line::Given;
    use crate::format::line::tried::tried;
    use crate::format::reading::assert_reads;

    fn reads(pattern: &str, text: &str, expected: &str) {
        assert_reads(
            &Given(Pattern::parse(pattern).unwrap()),
            &[(text, expected)],
        );
    }

    #[test]
    fn lines_are_read_by_their_pattern() {
        reads(
            "{_} key={key} type={type} size={size}",
            "10:11 key=a b type=hash size=12\n\n10:12 key=c type=set size=1.5 KiB\r\nnone\n",
            "a b bytes=12 type=hash; c bytes=1536 type=set; !68",
        );
        reads(
            "{ops} {key}",
            "   40 user:1\n    3 a b\n",
            "user:1 ops=40; a b ops=3",
        );
        reads(
            "{key} {ttl:ms} {db}",
            "a 1795216373000 3\n",
            "a database=3 expiry=1795216373000",
        );
        reads(
            "{key} {size:kb}",
            "a 3\nb 1.5\nc x\n",
            "a bytes=3072; b bytes=1536; !10",
        );
        reads(
            "{key} {size}",
            "a 1\nb 12,34\nc (nil)\n",
            "a bytes=1; b; c; Size=1 at 4: 12,34",
        );
        // As batches, and one by one.
        reads(
            "{size},{key},{type}",
            "1,a,set\n2,b,list\n",
            "a bytes=1 type=set; b bytes=2 type=list",
        );
        reads("{key} {size}", "a 1\nb c 2\n", "a bytes=1; b c bytes=2");
        reads("{key}", "a 1\nb\n", "a 1; b");
        // Two blanks are two or more.
        reads(
            "{_}  {key}  {size}",
            "10 11  a b   1\n12  c  2\nd 3\n",
            "a b bytes=1; c bytes=2; !24",
        );
        reads(
            "{key:q}, {size}",
            "'it''s', 3\n'''', 4\n",
            "it\\'s bytes=3; \\' bytes=4",
        );
        reads(
            "{key} [{size} kb]",
            "a [3 kb]\nb [4 kb]\n",
            "a bytes=3072; b bytes=4096",
        );
        reads("{key} {size:comma,kb}", "a 1,5\n", "a bytes=1536");
        reads("{key} {size:comma}", "a 1,5 kb\n", "a bytes=1536");
        reads("{key} {size:comma} kb", "a 1,5 kb\n", "a bytes=1536");
        reads("|{key:md}|{size}|", "|a\\_b\\c|1|\n", "a_b\\\\c bytes=1");
    }

    #[test]
    fn totals_and_headers_that_come_again_are_no_keys() {
        for rows in ["a 1\nb 2\n", "a 1 \n  b  2\n"] {
            reads(
                "{key} {size}",
                &format!("{rows}Total 3\nc 4\nSumme 7\n"),
                &format!(
                    "a bytes=1; b bytes=2; c bytes=4; !{}; !{}; Total=2",
                    rows.len(),
                    rows.len() + 12
                ),
            );
        }
        let pattern = Pattern::parse("{key} {type}").unwrap();
        let header = Some(b"key  type".to_vec());
        let below = Below {
            skip: 10,
            header,
            ..Below::start(pattern)
        };
        let text = b"key  type\na set\nkey type\nb set\n";
        let opened = below
            .opened(Head {
                bytes: text,
                whole: true,
            })
            .unwrap();
        let tried = tried(
            &opened,
            Head {
                bytes: text,
                whole: true,
            },
        )
        .unwrap();
        assert_eq!((tried.fits, tried.misfits), (2, 0));
    }

    #[test]
    fn the_first_and_the_last_row_of_a_printed_list_are_rows() {
        reads(
            "({key:q}, {size}),",
            "[('report:{all}:x', 9),\n ('a', 1),\n ('b', 2),\n ('c', 3)]\n",
            "report:{all}:x bytes=9; a bytes=1; b bytes=2; c bytes=3",
        );
        reads(
            "({key:q}, {size}),",
            "('a', 1),\n('b', 2);\n",
            "a bytes=1; b bytes=2",
        );
        reads("{key:q},", "[\n  \"a\",\n  \"b\"\n]\n", "a; b; Around=2");
        reads("{key:q},", "{'{u}:1',\n 'a',\n 'b'}\n", "{u}:1; a; b");
    }
}
