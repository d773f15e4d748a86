//! top-tags.png: the heaviest hash tags and keys, each in the role where it matters: hot tags by operations, big keys
//! by bytes. Slot moves cannot split any of them.

use slotscope_engine::metric::Metric;
use slotscope_engine::text::percent;
use slotscope_findings::summary::Summary;
use slotscope_findings::summary::independent_units::{Unit, UnitKind};
use slotscope_findings::summary::tags::Tags;

use crate::charts::bars::{self, Bars, Mark, Row, Scale};
use crate::charts::loads::Loads;
use crate::charts::number::{counted, times_with};
use crate::charts::{Sheet, short_source_line};
use crate::palette::{BIG_KEY, EXPECTED, HOT_TAG, LIGHT_LOAD, Rgb};
use crate::plot::numbers::Numbers;

/// Rows per role: maximum, and minimum shown even if they hardly matter.
const SHOWN: usize = 10;
const AT_LEAST: usize = 3;
/// A unit matters if it has at least this fraction of a node's fair share.
const MATTERS: f64 = 0.01;
/// The tags and keys of a role.
struct Role<'s> {
    loads: Loads<'s>,
    /// Heaviest first.
    units: &'s [Unit],
    /// An upper bound for all others.
    unnamed: f64,
}

impl<'s> Role<'s> {
    /// All roles, that of the verdict first.
    fn all(summary: &'s Summary) -> Vec<Self> {
        let roles = summary.verdict.roles.iter().map(|role| role.by());
        let mut metrics: Vec<Metric> = std::iter::once(summary.by).chain(roles).collect();
        let mut seen = Vec::new();
        metrics.retain(|metric| {
            !seen.contains(metric) && {
                seen.push(*metric);
                true
            }
        });
        metrics
            .into_iter()
            .filter_map(|metric| Role::by(summary, metric))
            .collect()
    }

    fn by(summary: &'s Summary, metric: Metric) -> Option<Self> {
        let (units, loads) = (summary.units.per.get(metric)?, Loads::by(summary, metric));
        (loads.by == metric && loads.total() > 0.0 && !units.named.is_empty()).then_some(Role {
            loads,
            units: &units.named,
            unnamed: units.unnamed,
        })
    }

    /// In fair shares of a node.
    fn share(&self, load: f64) -> f64 {
        load / self.loads.nodes.mean.max(f64::MIN_POSITIVE)
    }

    fn matters(&self, unit: &Unit) -> bool {
        self.share(unit.load) >= MATTERS
    }

    /// The units that get a row.
    fn shown(&self) -> &'s [Unit] {
        let mattering = self.units.iter().filter(|unit| self.matters(unit));
        let shown = mattering.count().clamp(AT_LEAST, SHOWN);
        &self.units[..shown.min(self.units.len())]
    }

    /// The rows below a line that names the metric, and one for the omitted rows.
    fn rows(&self) -> Vec<Row> {
        let shown = self.shown();
        let head = Row::Gap(format!("by {}", self.loads.noun()));
        let rows = shown.iter().map(|unit| self.row(unit));
        let next = self.units.get(shown.len()).map_or(0.0, |unit| unit.at_most);
        let next = next.max(self.unnamed);
        let rest = format!(
            "each of the others: at most {}",
            self.loads.counted(next as u64)
        );
        let rest = (next > 0.0).then_some(Row::Gap(rest));
        std::iter::once(head).chain(rows).chain(rest).collect()
    }

    fn row(&self, unit: &Unit) -> Row {
        let unsure = unit.at_most - unit.load;
        let up_to = if unsure > 0.0 {
            format!(" to {}", self.loads.short(unit.at_most))
        } else {
            String::new()
        };
        let amount = self.loads.short(unit.load);
        Row::Bar {
            name: spelled(unit),
            value: self.share(unit.load),
            light: self.share(unsure),
            words: format!("{amount}{up_to}   {}", self.part(unit)),
            colour: if unit.kind == UnitKind::Tag {
                HOT_TAG
            } else {
                BIG_KEY
            },
        }
    }

    /// Its fraction of the total.
    fn part(&self, unit: &Unit) -> String {
        percent(unit.load / self.loads.total())
    }

    /// ` is 43.7% of ops`.
    fn finding(&self, unit: &Unit) -> String {
        format!(" is {} of {}", self.part(unit), self.loads.noun())
    }
}

/// A tag in its braces, or a key.
fn spelled(unit: &Unit) -> String {
    match unit.kind {
        UnitKind::Tag => format!("{{{}}}", bars::spelled(&unit.name)),
        UnitKind::Key => bars::spelled(&unit.name),
    }
}

/// Whether at least two units matter: for a single bar, a sentence suffices.
pub(super) fn is_telling(summary: &Summary) -> bool {
    let roles = Role::all(summary);
    let mattering = |role: &Role<'_>| role.units.iter().filter(|unit| role.matters(unit)).count();
    roles.iter().map(mattering).sum::<usize>() > 1
}

/// The chart of `summary`.
pub(super) fn sheet(summary: &Summary) -> Sheet<'_> {
    let loads = Loads::of(summary);
    let subtitle = subtitle(summary, &loads);
    let empty =
        |title: &str, sentence: String| bars::empty_sheet(title, subtitle.clone(), sentence);
    if loads.total() == 0.0 {
        return empty("Hash tags and keys", loads.nothing());
    }
    let Some(tags) = summary.tags.as_ref() else {
        let sentence = String::from("only slots were asked for");
        return empty("Hash tags and keys were not counted", sentence);
    };
    let roles = Role::all(summary);
    let Some(first) = roles.first() else {
        return match tags.tagged_keys {
            0 => empty(
                "No hash tags: every key is a unit of its own",
                String::from("no hash tags in this dump, and no sizes of keys"),
            ),
            _ => empty("Hash tags", unnamed(tags)),
        };
    };
    let others = roles[1..]
        .iter()
        .filter(|role| role.matters(&role.units[0]));
    let findings = std::iter::once(first).chain(others);
    let findings: Vec<[String; 2]> = findings
        .map(|role| [spelled(&role.units[0]), role.finding(&role.units[0])])
        .collect();
    Bars {
        title: title(&findings),
        subtitle: subtitle.clone(),
        rows: roles.iter().flat_map(Role::rows).collect(),
        marks: vec![Mark {
            value: 1.0,
            label: format!("{}: the fair share of a node", times_with(0, 1.0)),
            colour: EXPECTED,
        }],
        legend: legend(&roles),
        scale: Scale {
            noun: String::from("fair shares of a node"),
            numbers: Numbers::Decimal,
            step: 0.0,
        },
    }
    .sheet()
}

/// The colours used by rows.
fn legend(roles: &[Role<'_>]) -> Vec<(Rgb, &'static str)> {
    let has = |is: fn(&Unit) -> bool| roles.iter().any(|role| role.shown().iter().any(is));
    let entries = [
        (has(|unit| unit.kind == UnitKind::Tag), HOT_TAG, "hash tag"),
        (
            has(|unit| unit.kind == UnitKind::Key),
            BIG_KEY,
            "key without a tag",
        ),
        (
            has(|unit| unit.at_most > unit.load),
            LIGHT_LOAD,
            "not certain",
        ),
    ];
    let entries = entries.into_iter().filter(|(is_there, ..)| *is_there);
    entries.map(|(_, colour, words)| (colour, words)).collect()
}

/// `{flash-sale} is 43.7% of ops, leaderboard:loyalty is 10.5% of bytes`.
fn title(findings: &[[String; 2]]) -> String {
    let mut parts = Vec::new();
    for [name, finding] in findings {
        let separator = if parts.is_empty() { "" } else { ", " };
        parts.extend([separator, name, finding]);
    }
    let names: Vec<usize> = (0..findings.len()).map(|at| 3 * at + 1).collect();
    bars::title(&parts, &names)
}

fn unnamed(tags: &Tags) -> String {
    format!(
        "{} have a tag; one pass kept no names",
        counted(tags.tagged_keys, "key")
    )
}

fn subtitle(summary: &Summary, loads: &Loads<'_>) -> String {
    let Some(tags) = summary.tags.as_ref().filter(|tags| tags.tagged_keys > 0) else {
        return short_source_line(summary);
    };
    let about = if tags.distinct_error > 0.0 {
        "about "
    } else {
        ""
    };
    let bounds = if tags.exact {
        String::new()
    } else {
        format!(
            "  ·  an unlisted tag holds {} at most",
            loads.counted(tags.max_error)
        )
    };
    let share = tags.tagged_keys as f64 / (summary.input.keys as f64).max(1.0);
    let found = format!(
        "{about}{} on {} of the keys",
        counted(tags.distinct, "tag"),
        percent(share)
    );
    format!("{found}{bounds}  ·  {}", short_source_line(summary))
}
