//! Forecasts of planted growth hold as often as stated.

use slotscope::name::Name;
use slotscope::trend::fit::Fit;
use slotscope::trend::interval::Interval;
use slotscope::trend::{History, Options, Trend};
use slotscope::{Analysis, Metric, Summary};

use testkit::rng::Rng;
use testkit::run::Scratch;
use testkit::trend::{MONTH_SECS, START};

/// Truth that is planted: growth a month, how far the logarithm of a report deviates, and random numbers for it.
struct Planted {
    growth: f64,
    spread: f64,
    /// The deviation of the newest report, if each starts from the one before.
    walked: Option<f64>,
    rng: Rng,
}

impl Planted {
    fn new(seed: u64, persists: bool) -> Planted {
        let mut rng = Rng::new(seed);
        Planted {
            growth: -0.02 + 0.14 * rng.unit(),
            spread: 0.01 + 0.04 * rng.unit(),
            walked: persists.then_some(0.0),
            rng,
        }
    }

    fn expected(&self, month: f64) -> f64 {
        1e7 * (1.0 + self.growth).powf(month)
    }

    /// The deviation of a report `months` months after the one before.
    fn deviation(&mut self, months: f64) -> f64 {
        let chance = self.spread * self.rng.normal();
        match &mut self.walked {
            Some(walked) => {
                *walked += chance * months.sqrt();
                *walked
            }
            None => chance,
        }
    }

    /// The trend of 24 monthly reports, not made at the same hour, nor on the same day.
    fn trend(&mut self, one: &Summary, limit: u64) -> Trend {
        let mut history = History::default();
        let mut before = 0.0;
        for month in 0..24 {
            let month = f64::from(month) + 0.2 * self.rng.unit();
            let at = START + (month * MONTH_SECS) as u64;
            let keys = self.expected(month) * self.deviation(month - before).exp();
            let file = Name::from(format!("{month}").as_str());
            history.add(file, with_keys(one, keys as u64), at).unwrap();
            before = month;
        }
        let options = Options {
            maxmemory: Some(limit),
            ..Options::default()
        };
        history.trend(&options).unwrap()
    }
}

/// How often the truth is in an interval, and how often that was asked.
#[derive(Debug, Default, Clone, Copy)]
struct Right(u64, u64);

impl Right {
    fn count(&mut self, is_right: bool) {
        self.0 += u64::from(is_right);
        self.1 += 1;
    }
}

fn seeds() -> u64 {
    testkit::env::size("SLOTSCOPE_TREND_SEEDS", 100)
}

/// A report like `one` with other loads: 64 bytes a key.
fn with_keys(one: &Summary, keys: u64) -> Summary {
    let mut summary = one.clone();
    let loads = [(Metric::Keys, keys), (Metric::Bytes, 64 * keys)];
    for (metric, load) in loads {
        let slots = summary.slots.loads.get_mut(metric).unwrap();
        slots.fill(0);
        slots[0] = load;
        *summary.nodes.list[0].load.get_mut(metric).unwrap() = load / 2;
        *summary.nodes.list[1].load.get_mut(metric).unwrap() = load - load / 2;
    }
    summary
}

fn one_report() -> Summary {
    let scratch = Scratch::new();
    let dump = scratch.file("dump.csv", "key,size\na,1\nb,1\n");
    Analysis::new().nodes(2).run(&[dump]).unwrap()
}

fn is_in(interval: &Interval, truth: f64) -> bool {
    (interval.low.unwrap()..=interval.high.unwrap()).contains(&truth)
}

/// A planted growth: statements for 95 of 100 cases hold in that many cases, within chance.
#[test]
fn forecasts_are_within_their_stated_uncertainty_in_95_of_100_cases() {
    let one = one_report();
    let mut found = [Right::default(); 6];
    for seed in 0..seeds() {
        let mut planted = Planted::new(seed, false);
        let limit_at = 30.0 + 18.0 * planted.rng.unit();
        let limit = 64.0 * planted.expected(limit_at) / 2.0;
        let forecast = planted.trend(&one, limit as u64).forecast.unwrap();
        let from = (forecast.from - START) as f64 / MONTH_SECS;
        for (ahead, right) in forecast.growth.keys.ahead.iter().zip(&mut found) {
            let months = f64::from(ahead.months);
            let truth = planted.expected(from + months) * planted.deviation(months).exp();
            right.count(is_in(&ahead.load, truth));
        }
        found[4].count(is_in(&forecast.growth.keys.a_month, planted.growth));
        // A node that hardly grows is full at any time or never, and may be full by chance already.
        if planted.growth > 0.02 {
            let months = forecast.full.unwrap().months;
            // The report that finds the node full is itself off by chance.
            let full_at = limit_at - from - planted.deviation(1.0) / planted.growth.ln_1p();
            let is_after = months.low.is_some_and(|low| low <= full_at);
            found[5].count(is_after && months.high.is_none_or(|high| full_at <= high));
        }
    }
    println!("right of all: 1, 3, 6, 12 months, growth, full: {found:?}");
    for Right(right, all) in found {
        let (right, all) = (right as f64, all as f64);
        let chance = 5f64.max(2.6 * (all * 0.95 * 0.05).sqrt());
        let is_asked = all > 0.5 * seeds() as f64;
        assert!(
            is_asked && (right - 0.95 * all).abs() <= chance,
            "{right} of {all}"
        );
    }
}

/// Data that are added or removed stay so, and a line through all reports would be right in half of these cases: the
/// forecast starts from the newest report where deviations persist, which 24 reports show in most.
#[test]
fn forecasts_hold_nearly_as_often_where_deviations_persist() {
    let one = one_report();
    let mut found = [Right::default(); 4];
    for seed in 0..seeds() {
        let mut planted = Planted::new(seed, true);
        let forecast = planted.trend(&one, u64::MAX).forecast.unwrap();
        let from = (forecast.from - START) as f64 / MONTH_SECS;
        let mut before = 0.0;
        for (ahead, right) in forecast.growth.keys.ahead.iter().zip(&mut found) {
            let months = f64::from(ahead.months);
            let truth = planted.expected(from + months) * planted.deviation(months - before).exp();
            right.count(is_in(&ahead.load, truth));
            before = months;
        }
    }
    println!("right of all: 1, 3, 6, 12 months: {found:?}");
    for Right(right, all) in found {
        let part = right as f64 / all as f64;
        assert!(part > 0.85 && all == seeds(), "{right} of {all}");
    }
}

/// How the data of a short series grow.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Exponential,
    Linear,
    Flat,
    Walk,
    Step,
}

/// Amounts at `count` times a month apart, and 1, 3 and 6 months after the last.
fn short_series(kind: Kind, count: usize, rng: &mut Rng) -> Vec<(f64, f64)> {
    let (growth, spread) = (-0.02 + 0.14 * rng.unit(), 0.01 + 0.04 * rng.unit());
    let mut months: Vec<f64> = (0..count).map(|i| i as f64 + 0.2 * rng.unit()).collect();
    let last = months[count - 1];
    months.extend([1.0, 3.0, 6.0].map(|ahead| last + ahead));
    let (mut walked, mut before) = (0.0, 0.0);
    let mut amount = |month: f64| {
        let chance = spread * rng.normal();
        walked += chance * (month - before).max(0.0).sqrt();
        before = month;
        let percentage = (1.0 + growth).powf(month);
        let jump = if month >= (count / 2) as f64 {
            1.5
        } else {
            1.0
        };
        1e7 * match kind {
            Kind::Exponential => percentage * chance.exp(),
            Kind::Linear => (1.0 + growth.abs() * month) * chance.exp(),
            Kind::Flat => chance.exp(),
            Kind::Walk => percentage * f64::exp(walked),
            Kind::Step => percentage * jump * chance.exp(),
        }
    };
    months
        .into_iter()
        .map(|month| (month, amount(month)))
        .collect()
}

/// Few reports do not show how data grow: their intervals hold in 95 of 100 cases all the same.
#[test]
fn intervals_of_few_reports_hold_whatever_the_growth() {
    let kinds = [
        Kind::Exponential,
        Kind::Linear,
        Kind::Flat,
        Kind::Walk,
        Kind::Step,
    ];
    for kind in kinds {
        for count in [5, 8, 12, 23] {
            let mut found = [Right::default(); 3];
            for seed in 0..4 * seeds() {
                let series = short_series(kind, count, &mut Rng::new(seed));
                let (known, ahead) = series.split_at(count);
                let fit = Fit::of(known).unwrap();
                for ((month, truth), right) in ahead.iter().zip(&mut found) {
                    right.count(is_in(&fit.at(*month), *truth));
                }
            }
            println!("{kind:?}, {count} reports, right 1, 3, 6 months ahead: {found:?}");
            for Right(right, all) in found {
                let (right, all) = (right as f64, all as f64);
                let chance = 5f64.max(2.6 * (all * 0.95 * 0.05).sqrt());
                let least = 0.95 * all - chance;
                assert!(right >= least, "{kind:?} {count}: {right} of {all}");
            }
        }
    }
}
