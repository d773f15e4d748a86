//! Every band and limit of the verdict, in one table; charts draw the same ones.

/// Up to this ratio of the fullest node to its fair share memory is balanced.
pub const BALANCED: f64 = 1.05;
/// From this ratio on memory is skewed; below it, it is watched.
pub const SKEWED: f64 = 1.20;
/// The same two for CPU time and operations, which vary more from minute to minute.
pub(crate) const LOAD: [f64; 2] = [1.20, 1.50];
/// The same two for accesses, which are estimated from LFU counters.
pub(crate) const ACCESSES: [f64; 2] = [1.50, 2.00];
/// A state falls only when its figure is this much below the band that raised it.
pub(crate) const HYSTERESIS: f64 = 0.02;

/// From this part of `maxmemory` on a node is full.
pub const FULL: f64 = 0.90;
/// Plans fill a node to this part of it, and bring none above the second one.
pub(crate) const FILLED: f64 = 0.88;
/// See `FILLED`.
pub(crate) const BELOW_FULL: f64 = 0.897;
/// From this part of a core on a node is busy: commands run on one.
pub const BUSY: f64 = 0.80;
/// From this part of either limit on a skew is critical, and growth is watched.
pub const CLOSE: f64 = 0.75;
/// A skew whose limit is not known is critical from this ratio on.
pub(crate) const CRITICAL: f64 = 2.0;
/// A full node that reaches its limit within this many months is watched.
pub(crate) const SOON_MONTHS: f64 = 1.0;

/// If the busiest node uses less than this part of a core, CPU time that is uneven by slots and not by the processes' own
/// clocks is not judged: one command that the host put off is much of it.
pub(crate) const QUIET: f64 = 0.10;

/// With fewer keys a node than this, chance alone may make nodes uneven.
pub const FEW_KEYS: f64 = 1000.0;
/// With fewer keys a node, and fewer bytes, there is nothing to judge.
pub(crate) const LEAST_KEYS: f64 = 100.0;
/// See `LEAST_KEYS`.
pub(crate) const LEAST_BYTES: f64 = 1_048_576.0;
/// With fewer captured operations a node there is nothing to judge.
pub(crate) const LEAST_OPS: f64 = 40.0;
/// From this many a node on, what chance may have brought above a band is below it.
pub(crate) const FEW_OPS: f64 = 10_000.0;
/// Below this many operations a second, and so much of a core, a node is idle.
pub(crate) const IDLE_OPS: f64 = 100.0;
/// See `IDLE_OPS`.
pub(crate) const IDLE_CPU: f64 = 0.02;
/// Nodes are compared where captures cover this part of them.
pub const COVERED: f64 = 0.8;
/// If nodes are not compared, a tag or key is hot from this part of the captured operations on.
pub const HOT: f64 = 0.2;
/// A node without an operation was not captured where chance gives it none in e^-45 of all clusters.
pub(crate) const SURELY: f64 = 45.0;
/// A primary with less than this part of its share of the slots is being filled or drained.
pub(crate) const MOVING: f64 = 0.25;
/// Sizes count as known from this part of the keys on; from the second one on the rest is estimated.
pub(crate) const SIZES: [f64; 2] = [0.99, 0.5];

/// A unit is heavy if it holds at least this part of a node's fair share.
pub const HEAVY: f64 = 0.05;
/// More heavy units than this that hold more than `COARSE` of the load are one cause: units are too coarse.
pub const SEVERAL: usize = 3;
/// See `SEVERAL`.
pub(crate) const COARSE: f64 = 0.5;
/// Unless one of them holds more than this part of their total.
pub(crate) const DOMINANT: f64 = 1.0 / 3.0;
/// An excess that is less likely than this under a perfect hash is not chance.
pub const CHANCE: f64 = 1e-4;
/// A cause that adds this many fair shares is named, and one that adds this part of the excess.
pub const NAMED: f64 = 0.05;
/// See `NAMED`.
pub(crate) const NAMED_PART: f64 = 0.2;

/// A step is worth taking if it lowers a ratio by this much.
pub(crate) const WORTH: f64 = 0.02;
