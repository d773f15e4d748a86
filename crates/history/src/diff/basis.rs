//! The coverage of a report's counts: counts of another coverage differ although no key changed.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::{percent, short};
use slotscope_model::{InputFacts, Sizes};

/// Keys with a size differ from report to report by at most this share of all keys, if both measure the same.
const SIZED: f64 = 0.01;

/// The coverage of a report's counts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Basis {
    /// The hash policy, unless it is the servers' default.
    pub policy: Option<Name>,
    /// The meaning of its sizes, if its dumps are RDB files.
    pub sizes: Option<Sizes>,
    /// The percentage of slots that were read, if not all.
    sample_percent: Option<f64>,
    /// The share of keys with a known size; absent without sizes.
    sized: Option<f64>,
}

impl Basis {
    pub(crate) fn new(input: &InputFacts) -> Self {
        let share = |sized: &u64| *sized as f64 / input.keys.max(1) as f64;
        Basis {
            policy: input.policy.clone(),
            sizes: input.sizes,
            sample_percent: input.sample_percent,
            sized: input.weights.get(Metric::Bytes).map(share),
        }
    }

    /// Why this report's counts cannot be compared with those of `old`.
    pub(crate) fn differences(&self, old: (&Name, &Basis)) -> Vec<String> {
        let differences = [
            self.other_policy(old),
            self.other_sizes(old),
            self.other_sample(old),
        ];
        differences.into_iter().flatten().collect()
    }

    fn other_policy(&self, (file, old): (&Name, &Basis)) -> Option<String> {
        let [new_policy, old_policy] = [self, old].map(|basis| match &basis.policy {
            Some(policy) => format!("--policy {}", short(policy)),
            None => String::from("the servers' rule"),
        });
        (self.policy != old.policy).then(|| {
            format!("its keys are hashed by {new_policy}, those of {file} by {old_policy}")
        })
    }

    fn other_sizes(&self, (file, old): (&Name, &Basis)) -> Option<String> {
        let [new_sizes, old_sizes] = [self.sizes?, old.sizes?].map(|sizes| match sizes {
            Sizes::Memory => "estimates of memory",
            Sizes::Serialized => "bytes in the RDB file",
        });
        (new_sizes != old_sizes)
            .then(|| format!("its sizes are {new_sizes}, those of {file} are {old_sizes}"))
    }

    /// A sample contains the same slots each time.
    pub(crate) fn other_sample(&self, (file, old): (&Name, &Basis)) -> Option<String> {
        let [new_slots, old_slots] =
            [self, old].map(|basis| basis.sample().unwrap_or_else(|| "all slots".into()));
        (self.sample_percent != old.sample_percent)
            .then(|| format!("it covers {new_slots}, {file} {old_slots}"))
    }

    /// The slots that were read, if not all.
    pub(crate) fn sample(&self) -> Option<String> {
        let sample = self.sample_percent?;
        Some(format!("{} of the slots", percent(sample / 100.0)))
    }

    /// Why sizes in bytes cannot be compared with those of `old`, although keys can.
    pub(crate) fn other_bytes(&self, old: (&Name, &Basis)) -> Option<String> {
        self.other_sizes(old).or_else(|| self.other_sized(old))
    }

    pub(crate) fn other_sized(&self, (file, old): (&Name, &Basis)) -> Option<String> {
        let (new_sized, old_sized) = (self.sized?, old.sized?);
        ((new_sized - old_sized).abs() > SIZED).then(|| {
            let [new_sized, old_sized] = [new_sized, old_sized].map(percent);
            format!("{new_sized} of its keys have a size, {old_sized} of those of {file}")
        })
    }
}
