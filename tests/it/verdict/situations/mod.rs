//! Situations that operators meet, one row each: the content of the files, and the required first line and steps.
//! Expectations are those of the specification; no row was copied from the program's output.
//!
//! Not here, and why:
//! - sizes as serialized: sizes are a column in these tables (tests/it/rdb has the RDB files);
//! - RDB files of other times, files that share slots: `files`; a dump that lacks keys, or has foreign ones: `damage`;
//! - Zipf(1) load on few nodes: whether its first key is hot depends on which node its name falls on;
//! - managed services: no input says that servers refuse SETSLOT;
//! - promotion in progress: the listing is that of a failed primary with a replica;
//! - no placement evens both, a local optimum of the planner: tests/it/plan; two roles at once: `grid`;
//! - flapping around a band, perfect hashes on many nodes: `nothing_planted`;
//! - the page, OpenMetrics, cron and exit codes: the tests of reports and of `--fail-on`.

mod cluster;
mod limits;
mod load;
mod memory;
mod usage;

use slotscope::metric::Metric;
use slotscope::summary::Summary;
use slotscope::summary::finding::FindingKind;
use slotscope::summary::reason::Reason;
use slotscope::summary::role_verdict::RoleVerdict;
use slotscope::summary::state::{Severity, State};
use slotscope::summary::step::StepKind;

use crate::verdict::scene::{Scene, light};

const KEYS: usize = 12_000;

/// Nodes with equal numbers of slots, and keys of equal sizes.
fn even(nodes: u64) -> Scene {
    Scene::even(nodes).keys("key,size", light(KEYS, ",100"))
}

/// The first of three nodes owns half of the slots.
fn half(header: &str, columns: &str) -> Scene {
    Scene::on(&[8191, 12_287, 16_383]).keys(header, light(KEYS, columns))
}

/// A situation and its expected verdict.
struct Situation {
    what: &'static str,
    scene: Scene,
    state: State,
    says: &'static [&'static str],
    steps: &'static [StepKind],
    checks: Vec<Check>,
}

/// A condition, and words for the message.
type Check = (&'static str, Box<dyn Fn(&Summary) -> bool>);

fn situation(what: &'static str) -> Situation {
    Situation {
        what,
        scene: Scene::unlisted(),
        state: State::Balanced,
        says: &[],
        steps: &[],
        checks: Vec::new(),
    }
}

/// A situation in which nothing is to be done.
fn balanced(what: &'static str) -> Situation {
    situation(what).says(&["BALANCED"])
}

impl Situation {
    fn on(mut self, scene: Scene) -> Self {
        self.scene = scene;
        self
    }

    /// Parts of the first line; the first of them is its beginning, and its first word tells the state.
    fn says(mut self, says: &'static [&'static str]) -> Self {
        self.state = match says[0].split(' ').next() {
            Some("BALANCED") => State::Balanced,
            Some("WATCH") => State::Watch,
            Some("SKEWED" | "HOT") => State::Skewed,
            Some("FULL") => State::Limit,
            Some("DOWN") => State::Down,
            Some("EMPTY") => State::Empty,
            Some("UNJUDGED") => State::Unjudged,
            word => panic!("no state is called {word:?}"),
        };
        self.says = says;
        self
    }

    /// Another state than the one that the first word usually stands for.
    fn state(mut self, state: State) -> Self {
        self.state = state;
        self
    }

    fn steps(mut self, steps: &'static [StepKind]) -> Self {
        self.steps = steps;
        self
    }

    /// Adds a condition, with words for the message.
    fn and(mut self, words: &'static str, holds: impl Fn(&Summary) -> bool + 'static) -> Self {
        self.checks.push((words, Box::new(holds)));
        self
    }

    /// Requires a finding of this kind.
    fn with(self, kind: FindingKind) -> Self {
        self.and("a finding is missing", move |summary| has(summary, kind))
    }

    /// Forbids findings of this kind.
    fn without(self, kind: FindingKind) -> Self {
        self.and("a finding too many", move |summary| !has(summary, kind))
    }

    /// Requires this text in the first step.
    fn first(self, words: &'static str) -> Self {
        self.and(words, move |summary| {
            summary.verdict.steps[0].sentence.contains(words)
        })
    }

    /// The first step has this many alternatives.
    fn others(self, count: usize) -> Self {
        self.and("the alternatives", move |summary| {
            summary.verdict.steps[0].alternatives.len() == count
        })
    }

    fn severity(self, severity: Severity) -> Self {
        self.and("the severity", move |summary| {
            summary.verdict.severity == Some(severity)
        })
    }

    /// Requires this text in a role.
    fn role(self, words: &'static str) -> Self {
        self.any_role(words, move |role| role.sentence.contains(words))
    }

    /// The load is not judged, for this reason.
    fn not_judged(self, reason: Reason) -> Self {
        self.any_role("load is not judged, for this reason", move |role| {
            role.by() != Metric::Bytes && role.reason == Some(reason)
        })
    }

    /// Requires a role for which this holds.
    fn any_role(self, words: &'static str, is_it: impl Fn(&RoleVerdict) -> bool + 'static) -> Self {
        self.and(words, move |summary| {
            summary.verdict.roles.iter().any(&is_it)
        })
    }

    /// Requires this text in a note or warning.
    fn note(self, words: &'static str) -> Self {
        self.and(words, move |summary| {
            let input = &summary.input;
            let warnings = input.warnings.iter().map(ToString::to_string);
            let mut notes = input.notes.iter().cloned().chain(warnings);
            notes.any(|note| note.contains(words))
        })
    }

    /// The conditions that fail.
    fn complaints(&self) -> Vec<String> {
        let summary = self.scene.summary();
        let verdict = &summary.verdict;
        let line = format!("{} {}", verdict.word, verdict.sentence);
        let kinds: Vec<StepKind> = verdict.steps.iter().map(|step| step.kind).collect();
        let mut complaints = Vec::new();
        if verdict.state != self.state {
            complaints.push(format!("{:?}, not {:?}", verdict.state, self.state));
        }
        if !line.starts_with(self.says[0]) {
            complaints.push(format!("does not begin with \"{}\"", self.says[0]));
        }
        let lacking = self.says.iter().filter(|part| !line.contains(**part));
        complaints.extend(lacking.map(|part| format!("does not say \"{part}\"")));
        if kinds != self.steps {
            complaints.push(format!("steps {kinds:?}, not {:?}", self.steps));
        }
        let failed = self.checks.iter().filter(|(_, holds)| !holds(&summary));
        complaints.extend(failed.map(|(words, _)| format!("not so: {words}")));
        if complaints.is_empty() {
            return complaints;
        }
        let steps = verdict.steps.iter().map(|step| {
            let (what, after) = (&step.sentence, &step.after);
            format!("    {what} -> {after:?}")
        });
        let steps: Vec<String> = steps.collect();
        vec![format!(
            "{}:\n  {}\n  {line}\n{}",
            self.what,
            complaints.join("\n  "),
            steps.join("\n")
        )]
    }
}

fn has(summary: &Summary, kind: FindingKind) -> bool {
    let mut findings = summary.verdict.findings.iter();
    findings.any(|found| found.kind == kind)
}

/// Checks all rows, and shows all failures.
fn check(situations: Vec<Situation>) {
    let complaints: Vec<String> = situations.iter().flat_map(Situation::complaints).collect();
    assert!(
        complaints.is_empty(),
        "{} of {}:\n{}",
        complaints.len(),
        situations.len(),
        complaints.join("\n")
    );
}
