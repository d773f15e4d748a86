//! One description of a line, `{_} key={key} size={size}`: literals and fields, in the manner of dissect. Texts without a
//! grammar of their own are read by such a pattern, which is found or given.
//!
//! Fields left of the key are cut from the left and those right of it from the right; the key takes the rest, and may
//! contain what separates the fields.

pub(crate) mod field;
pub mod matching;
pub mod offer;
pub mod parse;
pub mod reader;
pub mod tried;

use slotscope_base::batch::Number;
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::shell_word;

use crate::format::line::field::{Atom, Field, Literal, Written};
use crate::format::line::reader::Patterned;
use crate::format::line::tried::{Tried, tried};
use crate::format::redis_cli::noise;
use crate::format::table::TableReader;
use crate::format::table::columns::{KeyEscapes, Role};
use crate::format::table::csv_keys::CsvKeys;
use crate::format::table::layout::Layout;
use crate::format::table::separator::Separator;
use crate::format::{Format, Head, Opened, lines};
use crate::source::boundary::line_at;

/// The pattern of a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    /// As it is written.
    text: String,
    /// The parts left of the key, from left to right.
    left: Vec<Token>,
    /// How the key is written.
    key: Written,
    /// The parts right of it, from left to right.
    right: Vec<Token>,
}

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub enum Token {
    /// Text that is the same in every line.
    Literal(Literal),
    /// Text that is not.
    Field(Field),
}

impl Token {
    pub(crate) fn field(&self) -> Option<&Field> {
        match self {
            Token::Field(field) => Some(field),
            Token::Literal(_) => None,
        }
    }

    /// The one byte that it is.
    pub(crate) fn byte(&self) -> Option<u8> {
        match self {
            Token::Literal(Literal(atoms)) => match atoms.as_slice() {
                [Atom::Bytes(bytes)] if bytes.len() == 1 => Some(bytes[0]),
                _ => None,
            },
            Token::Field(_) => None,
        }
    }
}

impl Pattern {
    /// As it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the whole line is the key.
    pub fn is_bare(&self) -> bool {
        self.left.is_empty() && self.right.is_empty() && self.key == Written::Plain
    }

    /// Whether its fields are CSV cells.
    pub fn is_of_cells(&self) -> bool {
        self.key == Written::Csv
    }

    /// Whether it has sizes.
    pub fn has_size(&self) -> bool {
        let is_size = |field: &Field| field.role == Some(Role::of(Metric::Bytes));
        self.left
            .iter()
            .chain(&self.right)
            .filter_map(Token::field)
            .any(is_size)
    }

    /// The cells of CSV that it is a pattern of.
    fn layout(&self) -> Option<Layout> {
        let key = Field::of(Some(Role::Key), self.key);
        let fields = |tokens: &[Token]| -> Vec<Field> {
            let fields = tokens.iter().filter_map(Token::field);
            fields.copied().collect()
        };
        let cells = [fields(&self.left), vec![key], fields(&self.right)].concat();
        if self.key != Written::Csv {
            return None;
        }
        let between = self.left.iter().chain(&self.right).find_map(Token::byte);
        let mut layout = Layout::new(Separator::Byte(between.unwrap_or(b',')), cells.len());
        for (column, cell) in cells.iter().enumerate() {
            if let Some(role) = cell.role {
                layout.at[role.place()] = Some(column);
                layout.values[column] = !matches!(role, Role::Key | Role::Word(_));
            }
            match cell.role {
                Some(Role::Number(Number::Expiry)) => layout.expiry_unit = cell.unit,
                Some(Role::Weight(Metric::Bytes)) => layout.size_unit = cell.unit,
                _ => {}
            }
        }
        layout.has_quotes = true;
        Some(layout)
    }

    /// An input whose lines it is the pattern of.
    ///
    /// # Errors
    /// As `Format::open`.
    pub fn opened(&self, head: Head<'_>) -> Result<Opened, String> {
        Below::start(self.clone()).opened(head)
    }
}

/// Lines of a pattern below something else.
#[derive(Debug, Clone)]
pub struct Below {
    pub pattern: Pattern,
    /// The bytes before them.
    pub skip: u64,
    /// The line of the header, which may come again.
    pub header: Option<Vec<u8>>,
}

impl Below {
    /// Lines from the start of an input on.
    pub fn start(pattern: Pattern) -> Below {
        Below {
            pattern,
            skip: 0,
            header: None,
        }
    }

    /// An input of such lines.
    ///
    /// # Errors
    /// As `Format::open`.
    pub fn opened(&self, head: Head<'_>) -> Result<Opened, String> {
        let pattern = &self.pattern;
        if pattern.is_bare() {
            return lines::CHOSEN.open(head);
        }
        if let Some(mut layout) = pattern.layout() {
            layout.take_header(head);
            return Ok(CsvKeys::of(head, layout, KeyEscapes::None).opened("csv"));
        }
        let reader = TableReader(Patterned::below(self));
        Ok(Opened::lines(lines::CHOSEN.name(), reader))
    }
}

/// Lines of a pattern that the user gave.
pub struct Given(pub Pattern);

impl Format for Given {
    fn name(&self) -> &'static str {
        lines::CHOSEN.name()
    }

    fn example(&self) -> &'static str {
        ""
    }

    fn line(&self) -> Option<&str> {
        Some(&self.0.text)
    }

    fn open(&self, head: Head<'_>) -> Result<Opened, String> {
        if head.bytes.contains(&0) {
            return Err(
                "has bytes of no text, which --line cannot read: without it the form is found"
                    .into(),
            );
        }
        let Given(pattern) = self;
        let opened = pattern.opened(head)?;
        let tried = tried(&opened, head).unwrap_or_default();
        match tried.first_misfit {
            Some(at) if !tried.fits_percent(50) => Err(misfit(pattern, head, &tried, at)),
            _ => Ok(opened),
        }
    }
}

/// Why a pattern that fits few lines is refused.
fn misfit(pattern: &Pattern, head: Head<'_>, tried: &Tried, at: usize) -> String {
    let line = trimmed(line_at(head.bytes, at).0);
    let stop = pattern.find(line).err().unwrap_or_default().min(line.len());
    let (before, rest) = line.split_at(stop);
    let [before, rest] = [before, rest].map(|text| Name::from(text).short(SHOWN));
    format!(
        "--line {} fits {} of the first {} lines; the first that it does not fit is \"{before}\", and from there on \"{rest}\"",
        shell_word(&pattern.text),
        tried.fits,
        tried.fits + tried.misfits,
    )
}

/// Characters shown of a line.
const SHOWN: usize = 60;

/// A line without colours, its CR and the blanks around it.
pub(crate) fn trimmed(line: &[u8]) -> &[u8] {
    noise::without_codes(line).1.trim_ascii()
}
