//! A cell of a table: a typed value. All renderers write the same value, in display form or exact.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::{Name, shown};
use slotscope_base::text;
use slotscope_model::nodes::NodeLoad;

/// The content of a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Value<'a> {
    /// Unknown.
    None,
    /// Text of the program.
    Text(String),
    /// Names with amounts.
    Named(Vec<(String, String)>),
    /// The name of a key, prefix, pattern or file.
    Name(&'a Name),
    /// A hash tag, displayed in braces.
    Tag(&'a Name),
    /// A node: its id, and its display name.
    Node(&'a Name, Name),
    /// A count.
    Count(u64),
    /// A number that identifies something: a slot, a database.
    Number(u64),
    /// An upper bound on how much a count may be too low.
    AtMost(u64),
    /// An amount of a metric.
    Amount(Metric, u64),
    /// A number of bytes, possibly negative.
    SignedBytes(i128),
    /// A ratio, displayed with this many decimals.
    Ratio(f64, usize),
    /// A difference of ratios, displayed with a sign and two decimals.
    Change(f64),
    /// A fraction.
    Share(f64),
}

/// A value with an optional bar.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell<'a> {
    /// The value.
    pub value: Value<'a>,
    /// The bar.
    pub bar: Option<Bar>,
}

/// A horizontal bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Its length, from 0 to 1.
    pub part: f64,
    /// The position of the fair share, from 0 to 1. A terminal draws only bars that have one.
    pub fair: Option<f64>,
    /// How good or bad its value is.
    pub tone: Tone,
}

/// How good or bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// A load that needs no attention.
    Plain,
    /// To be watched.
    Watch,
    /// Wrong.
    Alarm,
}

impl<'a> From<Value<'a>> for Cell<'a> {
    fn from(value: Value<'a>) -> Self {
        Cell { value, bar: None }
    }
}

impl<'a> Cell<'a> {
    /// An unknown value.
    pub(crate) fn none() -> Self {
        Value::None.into()
    }

    /// The cell of an optional value.
    pub fn of<T>(there: Option<T>, make: impl FnOnce(T) -> Self) -> Self {
        there.map_or_else(Cell::none, make)
    }

    /// Text of the program, possibly quoting something.
    pub fn text(text: impl Into<String>) -> Self {
        Value::Text(shown(text)).into()
    }

    /// A formatted value before and after; only one if both are the same.
    pub fn change([before, after]: [String; 2]) -> Self {
        Cell::text(if before == after {
            before
        } else {
            format!("{before} → {after}")
        })
    }

    /// A name.
    pub fn name(name: &'a Name) -> Self {
        Value::Name(name).into()
    }

    /// A hash tag.
    pub fn tag(name: &'a Name) -> Self {
        Value::Tag(name).into()
    }

    /// A node.
    pub(crate) fn node(node: &'a NodeLoad) -> Self {
        Value::Node(&node.id, node.label()).into()
    }

    /// The node of `nodes` with this id; empty if there is none.
    pub fn owner(nodes: &'a [NodeLoad], id: Option<&'a Name>) -> Self {
        let node = |id: &'a Name| match nodes.iter().find(|node| node.id == *id) {
            Some(node) => Cell::node(node),
            None => Value::Node(id, Name::from(text::short_id(id).as_str())).into(),
        };
        Cell::of(id, node)
    }

    /// A count.
    pub fn count(count: impl Into<u64>) -> Self {
        Value::Count(count.into()).into()
    }

    /// A number that identifies something.
    pub fn number(number: impl Into<u64>) -> Self {
        Value::Number(number.into()).into()
    }

    /// An amount of a metric.
    pub fn amount(metric: Metric, amount: u64) -> Self {
        Value::Amount(metric, amount).into()
    }

    /// An amount of a metric; empty if it is not known.
    pub fn known_amount(metric: Metric, amount: Option<u64>) -> Self {
        Cell::of(amount, |amount| Cell::amount(metric, amount))
    }

    /// The load of a metric; empty if the input lacks it.
    pub fn load(metric: Metric, load: &PerMetric<u64>) -> Self {
        Cell::known_amount(metric, load.get(metric).copied())
    }

    /// A number of bytes.
    pub fn bytes(bytes: u64) -> Self {
        Cell::amount(Metric::Bytes, bytes)
    }

    /// A ratio, displayed with `digits` decimals.
    pub fn ratio(ratio: f64, digits: usize) -> Self {
        Value::Ratio(ratio, digits).into()
    }

    /// A fraction.
    pub fn share(share: f64) -> Self {
        Value::Share(share).into()
    }

    /// A series as marks whose height is the amount relative to `most`; a dot if there is none.
    pub fn series(amounts: impl IntoIterator<Item = Option<u64>>, most: u64) -> Self {
        const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
        let height = |amount: u64| amount.min(most) as f64 / most.max(1) as f64 * 7.0;
        let mark = |amount| HEIGHTS[height(amount).round() as usize];
        let amounts = amounts.into_iter();
        Cell::text(String::from_iter(
            amounts.map(|amount| amount.map_or('·', mark)),
        ))
    }

    /// Adds a bar of length `part`, relative to the longest.
    pub(crate) fn with_bar(self, part: f64, fair: Option<f64>, tone: Tone) -> Self {
        let bar = Some(Bar { part, fair, tone });
        Cell { bar, ..self }
    }

    /// Adds a load bar of length `part`, relative to the longest.
    pub(crate) fn with_load_bar(self, part: f64) -> Self {
        self.with_bar(part, None, Tone::Plain)
    }

    /// The display form, with names in at most `most` characters; empty if unknown.
    pub fn spelled(&self, most: usize) -> String {
        match &self.value {
            Value::None => String::new(),
            Value::Text(words) => text::truncated(words, most),
            Value::Named(named) => text::truncated(&listed(named), most),
            Value::Name(name) => text::name(name, most),
            Value::Node(_, name) => text::name(name, most),
            Value::Tag(name) => format!("{{{}}}", text::name(name, most)),
            Value::Count(count) => text::grouped(*count),
            Value::Number(number) => number.to_string(),
            Value::AtMost(count) => format!("+{}", text::grouped(*count)),
            Value::Amount(metric, amount) => text::amount_cell(*metric, *amount),
            Value::SignedBytes(bytes) => {
                let size = u64::try_from(bytes.unsigned_abs()).unwrap_or(u64::MAX);
                let sign = if *bytes < 0 { "-" } else { "" };
                format!("{sign}{}", text::bytes(size))
            }
            Value::Ratio(ratio, _) if ratio.round() >= 100.0 => text::grouped(ratio.round() as u64),
            Value::Ratio(ratio, digits) => format!("{ratio:.digits$}"),
            // A change that prints as zero has no sign.
            Value::Change(change) if change.abs() < 0.005 => String::from("0.00"),
            Value::Change(change) => format!("{change:+.2}"),
            Value::Share(share) => text::percent(*share),
        }
    }

    /// The exact value, as in files; empty if unknown.
    pub fn exact(&self) -> String {
        match &self.value {
            Value::None => String::new(),
            Value::Text(words) => words.clone(),
            Value::Named(named) => listed(named),
            Value::Name(name) | Value::Tag(name) => name.to_string(),
            // The id is in nodes.csv.
            Value::Node(_, name) => name.to_string(),
            Value::Count(n) | Value::Number(n) | Value::AtMost(n) | Value::Amount(_, n) => {
                n.to_string()
            }
            Value::SignedBytes(bytes) => bytes.to_string(),
            Value::Ratio(number, _) | Value::Change(number) | Value::Share(number) => {
                number.to_string()
            }
        }
    }

    /// Whether it is a number, for which `exact` has full precision.
    pub fn is_number(&self) -> bool {
        use Value::{Name, Named, Node, None, Tag, Text};
        !matches!(
            self.value,
            None | Text(_) | Named(_) | Name(_) | Tag(_) | Node(..)
        )
    }
}

/// Names with amounts on one line.
fn listed(named: &[(String, String)]) -> String {
    let named = named
        .iter()
        .map(|(name, amount)| format!("{name} {amount}"));
    named.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_spelled_for_people_and_exact_for_files() {
        let tag = Name::from("a\nb");
        for (cell, spelled, exact) in [
            (Cell::tag(&tag), r"{a\nb}", r"a\nb"),
            (
                Cell::amount(Metric::Bytes, 1_610_612_736),
                "1.50 GiB",
                "1610612736",
            ),
            (Cell::count(12_345u64), "12,345", "12345"),
            (Cell::number(12_345u64), "12345", "12345"),
            (Value::AtMost(1200).into(), "+1,200", "1200"),
            (Value::SignedBytes(-2048).into(), "-2.00 KiB", "-2048"),
            (Value::Change(-0.0001).into(), "0.00", "-0.0001"),
            (Value::Change(0.25).into(), "+0.25", "0.25"),
            (Cell::ratio(1.0 / 3.0, 2), "0.33", "0.3333333333333333"),
            (Cell::share(0.5), "50.0%", "0.5"),
            (Cell::none(), "", ""),
        ] {
            assert_eq!(
                (cell.spelled(60).as_str(), cell.exact().as_str()),
                (spelled, exact)
            );
        }
    }

    #[test]
    fn a_long_name_is_cut_for_people_only() {
        let long = Name(vec![b'x'; 1000]);
        assert_eq!(Cell::name(&long).spelled(20).chars().count(), 20);
        assert_eq!(Cell::name(&long).exact().len(), 1000);
    }
}
