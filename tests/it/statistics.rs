//! The statistics on generated dumps: the state is the band of max/mean, chance alone is the cause on dumps without a
//! defect, the planted cause on those with one, and the formulas are compared with simulation.
//!
//! `SLOTSCOPE_CASES` is the number of dumps (default: few), `SLOTSCOPE_MOST_KEYS` their maximum size;
//! `SLOTSCOPE_TABLE=FILE` writes the results as a table.

use std::collections::BTreeMap;
use std::fmt::Write;

use slotscope::Analysis;
use slotscope::findings::summary::balance;
use slotscope::metric::Metric;
use slotscope::pipeline::reading::{Options, Reading};
use slotscope::source::Found;
use slotscope::source::memory::memory;
use slotscope::summary::Summary;
use slotscope::summary::cause::{Cause, CauseKind};
use slotscope::summary::independent_units::slot_cv;
use slotscope::summary::integrity::Damage;
use slotscope::summary::role_verdict::RoleVerdict;
use slotscope::summary::state::State;
use testkit::env::{cases, size};
use testkit::planted::{Case, even, null, planted as with_something};
use testkit::rng::Rng;
use testkit::run::near;

/// The analysis of a dump, with tags that are too many for a table of names in rows of counters.
fn analyze(case: &Case) -> Summary {
    let found = Found {
        sources: vec![memory("dump", &case.dump)],
        ..Found::default()
    };
    let options = Options {
        threads: Some(2),
        ..Options::default()
    };
    let analysis = Analysis::new().topology(case.topology.clone());
    let analysis = analysis.by([case.by]).most_tags(0);
    let reading = Reading::new(found, options).unwrap();
    let summary = analysis.run_on(reading).unwrap();
    assert_eq!(summary.input.rejected.count, 0, "{}", case.what);
    summary
}

/// The outcome for each kind of dump: number of dumps, and of those with the expected verdict.
#[derive(Default)]
struct Table(BTreeMap<&'static str, (u64, u64, Vec<String>)>);

impl Table {
    fn add(&mut self, what: &'static str, number: u64, found: &RoleVerdict, as_planted: bool) {
        let (all, right, wrong) = self.0.entry(what).or_default();
        *all += 1;
        *right += u64::from(as_planted);
        if !as_planted {
            let (state, said, cause) = (found.state, &found.sentence, found.causes.first());
            wrong.push(format!("{number}: {state:?}: {said}; {cause:?}"));
        }
    }

    fn text(&self, title: &str) -> String {
        let mut text = format!("## {title}\n\n| dumps | cases | as planted |\n|---|--:|--:|\n");
        let (mut cases, mut as_planted) = (0, 0);
        for (what, (all, right, _)) in &self.0 {
            writeln!(text, "| {what} | {all} | {right} |").unwrap();
            (cases, as_planted) = (cases + all, as_planted + right);
        }
        writeln!(text, "| all | {cases} | {as_planted} |\n").unwrap();
        text
    }

    fn wrong(&self) -> Vec<&String> {
        self.0.values().flat_map(|(_, _, wrong)| wrong).collect()
    }
}

fn keep(table: &str) {
    print!("{table}");
    if let Ok(path) = std::env::var("SLOTSCOPE_TABLE") {
        let before = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(path, before + table).unwrap();
    }
}

#[test]
fn dumps_without_a_fault_are_balanced() {
    let most = size("SLOTSCOPE_MOST_KEYS", 300_000.0);
    let mut table = Table::default();
    for number in 0..cases("SLOTSCOPE_CASES", 40) {
        let case = null(number, most);
        let summary = analyze(&case);
        let found = summary.verdict.by(case.by).unwrap();
        let excess = found.max_over_mean().unwrap() - 1.0;
        // With about 20 tags per node or fewer, tags are heavy, and their small number is the cause.
        let tags = summary.tags.as_ref().map_or(0, |tags| tags.distinct);
        let are_few = tags > 0 && tags < 25 * summary.nodes.owning().count() as u64;
        let is_expected = |cause: &Cause| match cause.kind {
            CauseKind::Chance => true,
            CauseKind::CoarseUnits if are_few => true,
            _ => cause.excess < (0.2 * excess).max(0.01),
        };
        let is_right = found.state == band(&case, &summary) && found.causes.iter().all(is_expected);
        table.add(case.what, number, found, is_right);
    }
    keep(&table.text(
        "Dumps with nothing to find: the state is the band of max/mean, chance the only cause",
    ));
    assert!(table.wrong().is_empty(), "{:#?}", table.wrong());
}

/// The state by the bands of max/mean, or `unjudged` if there are too few keys to judge. The program's lower band is
/// that of the light units, `by_chance`; a ratio between the two may get either state.
fn band(case: &Case, summary: &Summary) -> State {
    let found = summary.verdict.by(case.by).unwrap();
    let nodes = summary.nodes.balance.get(case.by).unwrap();
    let by_chance = by_chance(case, summary.nodes.owning().count());
    let lower = by_chance.clamp(1.05, 1.20);
    // The tolerance for assuming a normal tail instead of the skewed one of unequal units, and for slots that do not
    // split.
    let within = 0.12 * (by_chance - 1.0) + 0.002;
    let (bands, what) = (found.bands, case.what);
    let is_right = (bands.lower - lower).abs() <= within && bands.upper == 1.20;
    assert!(is_right, "{what}: {bands:?}, by chance {by_chance}");
    match nodes.max_over_mean.unwrap() {
        _ if found.state == State::Unjudged => {
            let are_few = summary.input.keys < 1000 * summary.nodes.owning().count() as u64;
            assert!(are_few, "{}", found.sentence);
            State::Unjudged
        }
        m if (m - lower).abs() <= within && found.state < State::Skewed => found.state,
        m if m <= lower => State::Balanced,
        m if m < 1.20 => State::Watch,
        _ => State::Skewed,
    }
}

/// By the normal distribution: the ratio that the fullest of `nodes` even nodes stays below in 99 of 100 perfect hashes
/// of a dump's light tags and keys (below a twentieth of a fair share), if the heavy ones are even.
fn by_chance(case: &Case, nodes: usize) -> f64 {
    let text = std::str::from_utf8(&case.dump).unwrap();
    let mut units: BTreeMap<&str, f64> = BTreeMap::new();
    let mut total = 0.0;
    for row in text.lines().filter(|row| *row != "key,size") {
        let (key, weight) = match row.split_once(',') {
            Some((key, size)) => (key, size.parse().unwrap()),
            None => (row, 1.0),
        };
        let tag = key
            .split_once('{')
            .and_then(|(_, rest)| rest.split_once('}'));
        let unit = tag.map_or(key, |(tag, _)| tag);
        *units.entry(unit).or_default() += weight;
        total += weight;
    }
    let n = nodes as f64;
    let is_light = |weight: &f64| *weight < 0.05 * total / n || *weight == 1.0;
    let light = units.into_values().filter(is_light);
    let (sum, squares) = light.fold((0.0, 0.0), |(sum, squares), w| (sum + w, squares + w * w));
    if sum == 0.0 {
        return 1.0;
    }
    let z = normal_quantile(0.01 / n);
    // The nodes with most slots have one slot more than the others.
    let p = (16_384.0 / n).ceil() / 16_384.0;
    let fullest = p * sum + z * (squares * p * (1.0 - p)).sqrt();
    1.0 + (fullest - sum / n) / (total / n)
}

/// The z with this probability above it in the standard normal distribution (Abramowitz and Stegun, 26.2.23: within
/// 0.00045).
fn normal_quantile(above: f64) -> f64 {
    let t = (-2.0 * above.ln()).sqrt();
    let over = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let under = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    t - over / under
}

/// Whether the state and the first cause, or the damage of the dump, are the planted ones.
fn as_planted(case: &Case, summary: &Summary) -> bool {
    let found = summary.verdict.by(case.by).unwrap();
    let is_cause = |kind| found.state == band(case, summary) && found.causes[0].kind == kind;
    let damage = summary.verdict.integrity.first().map(|damage| damage.kind);
    let is_damage = |kind| found.state == State::Suspicious && damage == Some(kind);
    match case.what {
        "hot tag" => is_cause(CauseKind::Tag),
        "zipf tags" => is_cause(CauseKind::Tag) || is_cause(CauseKind::CoarseUnits),
        "huge value" => is_cause(CauseKind::Key),
        "unequal slots" => is_cause(CauseKind::Slots),
        "missing node" => is_damage(Damage::MissingNode),
        "cut names" => is_damage(Damage::Truncated),
        _ => is_damage(Damage::Duplicates),
    }
}

#[test]
fn what_was_planted_is_found_and_named() {
    let most = size("SLOTSCOPE_MOST_KEYS", 300_000.0);
    let cases = cases("SLOTSCOPE_CASES", 40) / 2;
    let mut table = Table::default();
    let drawn = (0..).filter_map(|number| Some((number, with_something(number, most)?)));
    for (number, case) in drawn.take(cases as usize) {
        let summary = analyze(&case);
        let found = summary.verdict.by(case.by).unwrap();
        table.add(case.what, number, found, as_planted(&case, &summary));
        let most = summary.nodes.balance.get(case.by).unwrap().max_over_mean;
        let parts: f64 = found.causes.iter().map(|cause| cause.excess).sum();
        near(parts, most.unwrap() - 1.0, 1e-7);
    }
    keep(&table.text("Dumps with something to find: the verdict and the first cause"));
    let is_rare = table.wrong().len() as f64 <= 0.01 * cases as f64;
    assert!(is_rare, "{:#?}", table.wrong());
}

/// The coefficient of variation of slot loads from units with these weights, each in a random slot.
fn simulated(weights: impl Iterator<Item = u64>, random: &mut Rng) -> f64 {
    let mut slots = vec![0; 16_384];
    weights.for_each(|weight| slots[random.below(16_384)] += weight);
    balance::of(&slots).cv.unwrap()
}

#[test]
fn the_formulas_agree_with_simulation() {
    for (units, runs) in [(100_000u64, 40), (1_000_000, 15)] {
        let mut random = Rng::new(7);
        let mut cv = |_| simulated((0..units).map(|_| 1), &mut random);
        let mean = (0..runs).map(&mut cv).sum::<f64>() / f64::from(runs);
        near(mean / slot_cv(units as f64), 1.0, 0.005);
    }
}

#[test]
fn zipf_tags_are_as_uneven_as_their_effective_number_says() {
    let (tags, keys) = (100_000u64, 2_000_000.0);
    let harmonic: f64 = (1..=tags).map(|rank| 1.0 / rank as f64).sum();
    let weights = (1..=tags).map(|rank| (keys / harmonic / rank as f64).ceil() as u64);
    let weights: Vec<u64> = weights.collect();
    let (sum, squares) = weights.iter().fold((0.0, 0.0), |(sum, squares), w| {
        (sum + *w as f64, squares + (*w * *w) as f64)
    });
    let expected = slot_cv(sum * sum / squares);
    let mut random = Rng::new(1);
    let mut cv = |_| simulated(weights.iter().copied(), &mut random);
    let mean = (0..20).map(&mut cv).sum::<f64>() / 20.0;
    near(mean / expected, 1.0, 0.03);
}

fn of_many_tags(dump: Vec<u8>) -> Case {
    Case {
        what: "many tags",
        dump,
        topology: even(3),
        by: Metric::Keys,
    }
}

#[test]
fn the_effective_number_of_units_is_known_within_its_error_past_the_table() {
    let mut dump = Vec::new();
    let mut squares = 0.0;
    for tag in 0..100_000u64 {
        let keys = 1 + 2_000 / (tag + 1);
        squares += (keys * keys) as f64;
        (0..keys).for_each(|i| dump.extend_from_slice(format!("{{t{tag}}}:{i}\n").as_bytes()));
    }
    let summary = analyze(&of_many_tags(dump));
    // They do not fit the table.
    assert!(summary.tags.as_ref().unwrap().distinct_error > 0.0);
    let truth = (summary.input.keys as f64).powi(2) / squares;
    let found = summary.verdict.by(Metric::Keys).unwrap();
    near(found.n_eff.unwrap() / truth, 1.0, 4.0 * 0.0055);
    assert_eq!(found.n_eff_error, 0.0055);
}

#[test]
fn the_sizes_of_tags_that_are_too_many_have_the_count_maximum_and_mean_of_all() {
    let tags = 80_000;
    let one_each = (0..tags).map(|i| format!("k:{{t{i}}}:0\n"));
    let large = (1..5000).map(|i| format!("k:{{t7}}:{i}\n"));
    let dump = one_each.chain(large).collect::<String>();
    let summary = analyze(&of_many_tags(dump.into_bytes()));
    let sizes = summary.tag_sizes.unwrap();
    let distinct = summary.tags.unwrap().distinct;
    assert!(sizes.sampled.is_some_and(|drawn| drawn < distinct));
    let keys = (sizes.keys.count, sizes.keys.max, sizes.keys.p50);
    assert_eq!(keys, (distinct, 5000, 1));
    let mean = (tags + 4999) as f64 / distinct as f64;
    near(sizes.keys.mean, mean, 1e-6);
}
