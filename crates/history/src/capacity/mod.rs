//! A capacity review: what the shards of a cluster hold today, after growth and in some months, and how many shards that takes.
//!
//! A report is a value of which can be asked "what if" (`--grow`, `--shards`) and, of several, "until when".

pub mod counts;
#[doc(hidden)]
pub mod fit;
pub mod grow;
mod line;
mod months;
pub mod names;
mod notes;
#[doc(hidden)]
pub mod outlook;
pub mod outputs;
mod parts;
pub(crate) mod picture;
#[doc(hidden)]
pub mod point;
mod season;
pub mod shards;
pub(crate) mod table;
pub(crate) mod view;
mod wording;

use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::text;
use slotscope_model::Summary;
use slotscope_model::node_labels::SharedParts;

use crate::capacity::counts::{Floor, ShardCount, Sizing};
use crate::capacity::fit::Reached;
use crate::capacity::grow::{Grown, Rule};
use crate::capacity::names::{Followed, Heavy};
use crate::capacity::outlook::Outlook;
use crate::capacity::parts::Part;
use crate::capacity::point::{Condensed, Point};
use crate::capacity::shards::{Memory, Shard};
use crate::diff::doubt::Doubt;

/// Schema name and version.
pub const SCHEMA: &str = "slotscope.capacity/1";
/// Maximum reports: daily for over five years.
const MOST_REPORTS: usize = 2000;

/// The review.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Capacity {
    /// The name and version of this form.
    #[cfg_attr(feature = "schemas", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// All of it in a sentence.
    pub sentence: String,
    /// How many shards it takes, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The metric of the tables.
    pub by: Metric,
    /// The part of its limit at which a shard counts as full.
    pub full_at: f64,
    /// The reports in the order of their dates.
    pub points: Vec<Point>,
    /// All load.
    pub total: PerMetric<Outlook>,
    /// The shards of the newest report.
    pub shards: Vec<Shard>,
    /// The shard that is full first; absent where none has a limit, or no time is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub full: Option<FullFirst>,
    /// Months after which the numbers of shards below are looked at: the last that is as far ahead as the reports reach back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub horizon: Option<u32>,
    /// The cluster with other numbers of shards.
    pub counts: Vec<ShardCount>,
    /// From where more shards do not help.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub floor: Option<Floor>,
    /// The heaviest hash tags.
    pub tags: Vec<Heavy>,
    /// The heaviest keys.
    pub keys: Vec<Heavy>,
    /// Limits of the comparison.
    pub notes: Vec<String>,
}

/// The shard that is full first.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct FullFirst {
    /// The id of its primary.
    pub id: Name,
    /// Its display name.
    pub node: Name,
    /// When, in months after the newest report; 0 where it is full.
    pub months: Reached,
    /// When by the estimate, in seconds since 1970 (UTC).
    pub at: Option<u64>,
}

/// The questions to the reports.
#[derive(Debug, Clone)]
pub struct Options {
    /// The metric of the tables; by default bytes, else that of the newest report.
    pub by: Option<Metric>,
    /// Bytes that a shard may use; by default from the newest report with a limit.
    pub maxmemory: Option<u64>,
    /// The part of that at which it counts as full.
    pub full_at: f64,
    /// Months to look ahead.
    pub months: Vec<u32>,
    /// Growth by assumption.
    pub grow: Vec<Rule>,
    /// Numbers of shards; by default some from today's to twice that.
    pub shards: Vec<u64>,
    /// Whether suspicious and incomplete inputs count.
    pub with_doubtful: bool,
    /// Whether to compare incomparable reports anyway, with a note.
    pub force: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            by: None,
            maxmemory: None,
            full_at: 0.8,
            months: vec![1, 3, 6, 12],
            grow: Vec::new(),
            shards: Vec::new(),
            with_doubtful: false,
            force: false,
        }
    }
}

/// The reports collected so far.
pub struct History {
    options: Options,
    reports: Vec<Condensed>,
    /// The newest report that is not left out, as a whole.
    newest: Option<(u64, Summary)>,
}

impl History {
    /// No reports yet.
    pub fn new(options: Options) -> Self {
        History {
            options,
            reports: Vec::new(),
            newest: None,
        }
    }

    /// Adds the report in `file`, of the time `at` in seconds since 1970.
    ///
    /// # Errors
    /// It lacks a part, or there are too many reports.
    pub fn add(&mut self, file: Name, summary: Summary, at: u64) -> Result<()> {
        if self.reports.len() == MOST_REPORTS {
            let reason = format!("more than {MOST_REPORTS} reports; name fewer of them");
            return Err(Error::bad(file.to_string(), reason));
        }
        if at > text::LAST {
            let reason = "its date is after the year 9999; is the clock of its host right?";
            return Err(Error::bad(file.to_string(), reason));
        }
        let mut report = Condensed::of(file, &summary, at)?;
        let doubt = &mut report.point.left_out;
        *doubt = doubt.filter(|doubt| *doubt == Doubt::Empty || !self.options.with_doubtful);
        let is_newest = self.newest.as_ref().is_none_or(|(newest, _)| at > *newest);
        if doubt.is_none() && is_newest {
            self.newest = Some((at, summary));
        }
        self.reports.push(report);
        Ok(())
    }

    /// Whether dates do not tell the reports apart: two are the same, or all are of one day.
    pub fn are_of_one_time(&self) -> bool {
        let mut times: Vec<u64> = self.reports.iter().map(|report| report.point.at).collect();
        times.sort_unstable();
        let day = times.first().zip(times.last());
        times.windows(2).any(|pair| pair[0] == pair[1])
            || times.len() > 1 && day.is_some_and(|(first, last)| last - first < 86_400)
    }

    /// The review of the reports.
    ///
    /// # Errors
    /// None can be used, two have the same time, or they are incomparable or lack what is asked of them.
    pub fn review(mut self) -> Result<Capacity> {
        self.reports.sort_by_key(|report| report.point.at);
        self.check_dates()?;
        let differences = notes::differences(&self.reports);
        if let (Some((file, difference)), false) = (differences.first(), self.options.force) {
            let way_out = "leave one of them out, or compare them all the same with --force";
            let reason = format!("{difference}; {way_out}");
            return Err(Error::bad(file.to_string(), reason));
        }
        let used: Vec<&Condensed> = self.used().collect();
        let (Some(newest), Some((_, summary))) = (used.last(), &self.newest) else {
            return Err(self.nothing_left());
        };
        let metric = self.metric(newest)?;
        let options = &self.options;
        let grown = Grown::new(&newest.point.file, summary, &options.grow)?;
        let grown = grown.as_ref();
        let parts = newest
            .point
            .load
            .map(|metric, _| parts::of(&used, summary, metric));
        let in_slot = |metric, slot: u16| {
            let parts = parts.get(metric).into_iter().flatten();
            parts.filter(move |part: &&Part| part.slot == slot)
        };
        let total = newest.point.load.map(|metric, now| {
            let point = |report: &&Condensed| Some((report.point.at, report.total(metric)?));
            let points = used.iter().filter_map(point).collect();
            let grown = grown.and_then(|grown| grown.total(metric));
            let parts = parts.get(metric).into_iter().flatten();
            Outlook::new(*now, points, parts, &options.months).grown(grown)
        });
        let shards = shards::of(&used, summary, &parts, grown, options);
        let memory = Memory::of_cluster(newest, summary);
        let limit = shards::least_limit(&shards);
        let room = limit.map(|limit| options.full_at * limit as f64);
        let heaviest = summary.slots.loads.map(|metric, loads| {
            let (slot, now) = counts::heaviest(loads).unwrap_or_default();
            let point = |report: &&Condensed| {
                let load = report.slots.get(metric)?.get(usize::from(slot))?;
                Some((report.point.at, f64::from(*load)))
            };
            Outlook::new(
                now,
                used.iter().filter_map(point).collect(),
                in_slot(metric, slot),
                &options.months,
            )
        });
        let horizon = horizon(&total.keys, options);
        let sizing = Sizing {
            summary,
            grown,
            memory,
            total: &total,
            heaviest: &heaviest,
            horizon,
            room,
        };
        let numbers = counts::numbers(&options.shards, shards.len() as u64)?;
        let counts = sizing.of(&numbers, newest.point.at);
        let floor = sizing.floor(metric);
        let of_bytes = room.filter(|_| metric == Metric::Bytes);
        let followed = Followed {
            reports: &used,
            grown,
            metric,
            months: &options.months,
            share: newest.total(metric).unwrap_or(0.0) / shards.len().max(1) as f64,
            room: of_bytes.map(|room| memory.keys_in(room)),
        };
        let mut notes: Vec<String> = differences
            .iter()
            .map(|(file, difference)| format!("{file}: {difference}"))
            .collect();
        notes.extend(notes::doubts(&self.reports));
        let mut review = Capacity {
            schema: SCHEMA,
            sentence: String::new(),
            answer: None,
            by: metric,
            full_at: options.full_at,
            full: first_full(&shards),
            horizon,
            counts,
            floor,
            tags: followed.tags(summary),
            keys: followed.keys(summary),
            points: Vec::new(),
            total,
            shards,
            notes,
        };
        review.notes.extend(notes::fits(&used, &review, options));
        review.notes.extend(notes::other_sized(&used, metric));
        review
            .notes
            .extend(grown.iter().flat_map(|grown| grown.notes.clone()));
        let points = self.reports.into_iter().map(|report| report.point);
        review.points = points.collect();
        review.sentence = wording::sentence(&review);
        review.answer = wording::answer(&review, limit);
        Ok(review)
    }

    /// The reports that count.
    fn used(&self) -> impl Iterator<Item = &Condensed> {
        self.reports
            .iter()
            .filter(|report| report.point.left_out.is_none())
    }

    fn nothing_left(&self) -> Error {
        let first = self.reports.first().map(|report| &report.point);
        let place = first.map_or_else(|| "no report".into(), |point| point.file.to_string());
        let reason = match first.and_then(|point| point.left_out) {
            Some(Doubt::Empty) => Doubt::Empty.to_string(),
            Some(doubt) => format!("{doubt}; --with-doubtful takes it in"),
            None => String::from("name a report.json or its directory"),
        };
        Error::bad(place, format!("no report is left to review: {reason}"))
    }

    fn check_dates(&self) -> Result<()> {
        let mut pairs = self.reports.windows(2);
        let Some([a, b]) = pairs.find(|pair| pair[0].point.at == pair[1].point.at) else {
            return Ok(());
        };
        let reason = format!(
            "of the same time as {}, {}; leave one of them out, or date its dump: analyze --date 2026-10-24",
            a.point.file,
            text::time(a.point.at)
        );
        Err(Error::bad(b.point.file.to_string(), reason))
    }

    /// The requested metric, else bytes, else the newest report's.
    fn metric(&self, newest: &Condensed) -> Result<Metric> {
        let load = &newest.point.load;
        match self.options.by {
            Some(asked) => {
                let flag = format!("--by {}: {}", asked.name(), newest.point.file);
                load.required(asked, &flag).map(|_| asked)
            }
            None if load.bytes().is_some() => Ok(Metric::Bytes),
            None if load.get(newest.by).is_some() => Ok(newest.by),
            None => Ok(Metric::Keys),
        }
    }
}

impl Capacity {
    /// The months that are looked ahead.
    fn months(&self) -> Vec<u32> {
        let total = self.total.get(self.by);
        let trend = total.and_then(|total| total.trend.as_ref());
        let ahead = trend.into_iter().flat_map(|trend| &trend.ahead);
        ahead.map(|ahead| ahead.months).collect()
    }

    /// The shards, those first that are full first.
    fn by_urgency(&self) -> Vec<&Shard> {
        let mut shards: Vec<&Shard> = self.shards.iter().collect();
        shards.sort_by(|a, b| {
            let months = |shard: &Shard| {
                shard
                    .full
                    .and_then(|full| full.estimate)
                    .unwrap_or(f64::INFINITY)
            };
            let load = |shard: &Shard| shard.load.get(self.by).map_or(0, |load| load.now);
            months(a).total_cmp(&months(b)).then(load(b).cmp(&load(a)))
        });
        shards
    }
}

impl Capacity {
    /// The reports that count.
    fn used(&self) -> impl Iterator<Item = &Point> {
        self.points.iter().filter(|point| point.left_out.is_none())
    }

    /// The time of the newest of them.
    fn newest(&self) -> u64 {
        self.used().last().map_or(0, |point| point.at)
    }

    /// The names of shards without what all have in common.
    fn labels(&self) -> SharedParts {
        SharedParts::new(self.shards.iter().map(|shard| &shard.node))
    }
}

/// The last of the months that is as far ahead as the reports reach back, else the first; `None` where growth is assumed, or
/// not known.
fn horizon(keys: &Outlook, options: &Options) -> Option<u32> {
    let span = keys.series.as_ref()?.span() + 0.5;
    let months = options.months.iter().copied();
    let near = months.rev().find(|months| f64::from(*months) <= span);
    near.or(options.months.first().copied())
        .filter(|_| options.grow.is_empty())
}

/// The shard that is full first; of those that are full, the one with the largest part of its limit.
fn first_full(shards: &[Shard]) -> Option<FullFirst> {
    let key = |shard: &Shard| {
        let months = shard.full.and_then(|full| full.estimate);
        let memory = shard.load.bytes().map_or(0, |memory| memory.now);
        let part = memory as f64 / shard.maxmemory.unwrap_or(u64::MAX).max(1) as f64;
        (months.unwrap_or(f64::INFINITY), -part)
    };
    let known = shards.iter().filter(|shard| shard.full.is_some());
    let first = known.min_by(|a, b| {
        let ((a, filled), (b, other)) = (key(a), key(b));
        a.total_cmp(&b).then(filled.total_cmp(&other))
    })?;
    Some(FullFirst {
        id: first.id.clone(),
        node: first.node.clone(),
        months: first.full?,
        at: first.full_on,
    })
}
