//! Workloads whose right advice is known: names, batches, and the expected advice.

use crate::rng::Rng;
use slotscope::metric::Metric;
use slotscope_names::advise::batches::Batches;
use slotscope_names::advise::names::NameSample;

/// Names with their loads, and batches.
#[derive(Default, Clone)]
pub struct Workload {
    pub names: Vec<(String, u64)>,
    pub batches: Vec<(bool, Vec<String>)>,
    pub nodes: usize,
    pub right: Right,
}

/// The right advice.
#[derive(Default, Clone, Copy)]
pub enum Right {
    /// Names stay as they are.
    #[default]
    Keep,
    /// Names change: at least this share of the batches is in one slot, and this many values spread the load.
    Change { share: f64, units: usize },
}

/// `share` of the batches in one slot, by a tag with `units` values.
pub fn change(share: f64, units: usize) -> Right {
    Right::Change { share, units }
}

impl Workload {
    pub fn on(nodes: usize, right: Right) -> Self {
        Workload {
            nodes,
            right,
            ..Workload::default()
        }
    }

    pub fn name(&mut self, name: String) {
        self.names.push((name, 1));
    }

    pub fn names(&mut self, names: impl IntoIterator<Item = String>) {
        names.into_iter().for_each(|name| self.name(name));
    }

    /// A batch that a client can split.
    pub fn soft(&mut self, keys: Vec<String>) {
        self.batches.push((false, keys));
    }

    pub fn batch(&mut self, is_hard: bool, keys: Vec<String>) {
        self.batches.push((is_hard, keys));
    }

    /// A random name.
    pub fn any(&self, rng: &mut Rng) -> String {
        rng.pick(&self.names).0.clone()
    }

    /// Replaces some of the batches, or adds an unrelated key to them, and shuffles all.
    pub fn noisy(mut self, rng: &mut Rng, noise: f64) -> Self {
        for at in 0..self.batches.len() {
            if rng.unit() >= noise {
                continue;
            }
            let (mut keys, more) = match rng.below(2) {
                0 => (self.batches[at].1.clone(), 1),
                _ => (Vec::new(), 3),
            };
            keys.extend((0..more).map(|_| self.any(rng)));
            self.batches[at] = (false, keys);
        }
        for at in (1..self.batches.len()).rev() {
            self.batches.swap(at, rng.below(at + 1));
        }
        self
    }

    /// The inputs for the model.
    pub fn given(&self) -> (NameSample, Batches) {
        let mut names = NameSample::new(Metric::Bytes);
        let mut batches = Batches::default();
        for (name, load) in &self.names {
            names.push(name.as_bytes(), *load);
        }
        names.finish();
        for (is_hard, keys) in &self.batches {
            batches.push(None, *is_hard, keys);
        }
        (names, batches)
    }
}

/// Keys that share a number, which stands for `#`: `cart:# user:#:profile`.
pub fn keys(names: &str, number: usize) -> Vec<String> {
    let number = number.to_string();
    let names = names.split(' ').map(|name| name.replace('#', &number));
    names.collect()
}

/// A word of lower-case letters.
pub fn word(rng: &mut Rng, len: usize) -> String {
    let letters = (0..len).map(|_| char::from(b'a' + rng.below(26) as u8));
    letters.collect()
}

/// A UUID.
pub fn uuid(rng: &mut Rng) -> String {
    let (a, b) = (rng.next(), rng.next());
    format!(
        "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
        a >> 32,
        a >> 16 & 0xFFFF,
        a & 0xFFF,
        b >> 52,
        b & 0xFFFF_FFFF_FFFF
    )
}
