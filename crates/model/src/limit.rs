//! Every band and limit of the verdict in one table; charts draw the same ones.

/// Memory is balanced up to this ratio of the fullest node to its fair share.
pub const BALANCED: f64 = 1.05;
/// Memory is skewed at or above this ratio; between the two it is watched.
pub const SKEWED: f64 = 1.20;
/// The two ratios for CPU time and operations, which fluctuate more.
pub const LOAD: [f64; 2] = [1.20, 1.50];
/// The two ratios for accesses, which are estimated from LFU counters.
pub const ACCESSES: [f64; 2] = [1.50, 2.00];
/// Hysteresis: a state falls only once its figure is this much below the band that raised it.
pub const HYSTERESIS: f64 = 0.02;

/// A node is full at or above this fraction of `maxmemory`.
pub const FULL: f64 = 0.90;
/// Plans fill nodes to this fraction, and none above `BELOW_FULL`.
pub const FILLED: f64 = 0.88;
/// See `FILLED`.
pub const BELOW_FULL: f64 = 0.897;
/// A node is busy at or above this fraction of a CPU core: commands run on one thread.
pub const BUSY: f64 = 0.80;
/// Above this fraction of either limit a skew is critical and growth is watched.
pub const CLOSE: f64 = 0.75;
/// A skew with an unknown limit is critical at or above this ratio.
pub const CRITICAL: f64 = 2.0;
/// A node that reaches its limit within this many months is watched.
pub const SOON_MONTHS: f64 = 1.0;

/// If the busiest node uses less than this fraction of a CPU core, CPU time uneven by slot but not by process is not
/// judged: a single command stalled by the host may account for most of it.
pub const QUIET: f64 = 0.10;

/// With fewer keys per node than this, chance alone may make nodes uneven.
pub const FEW_KEYS: f64 = 1000.0;
/// With fewer keys and bytes per node than these, there is nothing to judge.
pub const LEAST_KEYS: f64 = 100.0;
/// See `LEAST_KEYS`.
pub const LEAST_BYTES: f64 = 1_048_576.0;
/// With fewer captured operations per node there is nothing to judge.
pub const LEAST_OPS: f64 = 40.0;
/// With at least this many operations per node, chance alone does not exceed a band.
pub const FEW_OPS: f64 = 10_000.0;
/// Below this many operations a second, and so much of a core, a node is idle; by CPU time, below the latter.
pub const IDLE_OPS: f64 = 100.0;
/// See `IDLE_OPS`.
pub const IDLE_CPU: f64 = 0.02;
/// Nodes are compared if captures cover this fraction of them.
pub const COVERED: f64 = 0.8;
/// If nodes are not compared, a tag or key is hot with at least this fraction of the captured operations.
pub const HOT: f64 = 0.2;
/// A node without operations counts as not captured if chance explains that in only e^-45 of all clusters.
pub const SURELY: f64 = 45.0;
/// A primary with less than this fraction of its share of slots is being filled or drained.
pub const MOVING: f64 = 0.25;
/// Sizes count as known if this fraction of keys has one; above the second fraction the rest is estimated.
pub const SIZES: [f64; 2] = [0.99, 0.5];

/// A unit is heavy if it holds at least this fraction of a node's fair share.
pub const HEAVY: f64 = 0.05;
/// More heavy units than this, holding more than `COARSE` of the load, are one cause: units are too coarse.
pub const SEVERAL: usize = 3;
/// See `SEVERAL`.
pub const COARSE: f64 = 0.5;
/// Unless one of them holds more than this fraction of their total.
pub const DOMINANT: f64 = 1.0 / 3.0;
/// An excess less likely than this under a perfect hash is not chance.
pub const CHANCE: f64 = 1e-4;
/// A cause is named if it adds this many fair shares and `NAMED_PART` of the excess.
pub const NAMED: f64 = 0.05;
/// See `NAMED`.
pub const NAMED_PART: f64 = 0.2;

/// A step is worthwhile if it lowers a ratio by this much.
pub const WORTH: f64 = 0.02;
