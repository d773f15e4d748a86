//! A role in one sentence: the node above its fair share, and why.

use slotscope_base::name::Name;
use slotscope_base::text::{are, counted, grouped, list, percent, short};

use crate::summary::explanation::{Fullest, Why, alike};
use crate::summary::gaps::Gap;
use slotscope_model::cause::{Cause, CauseKind};
use slotscope_model::independent_units::UnitKind;
use slotscope_model::integrity::Damage;
use slotscope_model::measure::Measure;
use slotscope_model::state::Role;
use slotscope_model::words::{NAMES, cause_in_words, name_of, times};

/// All keys are in slots without an owner.
pub(crate) const ALL_UNOWNED: &str =
    "all keys are in slots that no node owns: is this the topology of another cluster?";
/// Nothing was read before the input ended.
pub(crate) const CUT_OFF: &str =
    "the input could not be read to its end, and the part that was read has no keys";
/// Lists of extreme keys alone.
pub(crate) const ONLY_EXTREMES: &str = "only lists of the hottest, slowest or largest keys were read: they say where those are, and nothing of how full or hot the nodes are";
/// No keys at all.
pub(crate) const NO_KEYS: &str = "there are no keys, so this says nothing of the cluster";
/// LFU counters of replicas.
pub(crate) const REPLICA_COUNTERS: &str = "the LFU counters are those of replicas, which see no reads of their primaries: nodes are not compared";
/// Counters that were read once.
pub(crate) const ONE_READING: &str = "one reading of counters that started at different times: nodes are not compared; take two readings";
/// Captures at different times.
pub(crate) const OTHER_TIMES: &str =
    "the nodes were captured at different times, so they are not compared";
/// CPU time of scripts and transactions.
pub(crate) const OUTSIDE_SLOTS: &str =
    "much of the CPU time is in no slot, so nodes are compared by their processes";
/// A sample of the slots.
pub(crate) const SAMPLED: &str =
    "a sample of the slots may miss the heaviest, so nodes are not compared";

/// There are keys, but this measure sums to 0.
pub(crate) fn no_load(measure: Measure) -> String {
    format!(
        "{} of all keys is 0, so there is nothing to judge",
        measure.of_what()
    )
}

impl Fullest {
    /// The sentence.
    pub(crate) fn in_words(&self) -> String {
        let noun = if self.are_writes {
            "writes"
        } else {
            self.measure.noun()
        };
        let node = short(&self.node);
        let holds = format!(
            "{node} {} {} its share of {noun}",
            self.measure.verb(),
            times(self.max_over_mean)
        );
        let basis = if self.memory_is_unknown {
            "by their number"
        } else {
            "by the others"
        };
        let sentence = match &self.reason {
            Why::Damaged(sign) if sign.kind == Damage::EmptyServer => {
                format!("{}; as it is, {holds}", sign.sentence)
            }
            Why::Damaged(sign) => {
                format!(
                    "the dump looks incomplete or damaged: {}; as it is, {holds}",
                    sign.sentence
                )
            }
            Why::Unseen(what, causes) => {
                let basis = if self.memory_is_unknown {
                    "by their number"
                } else {
                    "of what was read"
                };
                format!("{what}; {basis}, {holds}{}", because(causes, self.measure))
            }
            Why::Even => format!(
                "the nodes are even: {node}, the fullest, {} {} its share of {noun}",
                self.measure.verb(),
                times(self.max_over_mean)
            ),
            Why::OneNode => format!("one node, {node}: nothing to compare"),
            Why::TooFew { counted: n, nodes } => {
                let unit = match self.measure.role() {
                    Role::Memory => "key",
                    Role::Load => "operation",
                };
                format!(
                    "{} on {} {} too few to judge: {holds}",
                    counted(*n, unit),
                    counted(*nodes as u64, "node"),
                    are(*n)
                )
            }
            Why::Idle => format!("the nodes are idle, too idle to judge: {holds}"),
            Why::Capped => format!(
                "all nodes are at maxmemory and evict, so memory says nothing of demand: compare evictions; {holds}"
            ),
            Why::Unreadable(gap) => format!("{}; {basis}, {holds}", gap.in_words()),
            Why::Missing { missing, keys } => format!(
                "{} of {} keys have no size; {basis}, {holds}",
                grouped(*missing),
                grouped(*keys)
            ),
            Why::LostRows(rows) => format!(
                "{} could not be read as a key, and may be of one node; without them, {holds}",
                counted(*rows, "row")
            ),
            Why::Causes(causes, moving) => {
                let why = because(causes, self.measure);
                let moving = moving.as_ref().map_or(String::new(), |node| {
                    format!(
                        "; {} owns few slots: is it being filled or drained?",
                        short(node)
                    )
                });
                format!("{holds}{why}{moving}")
            }
        };
        let assumed = self.assumed_nodes.map_or(String::new(), |nodes| {
            let nodes = counted(nodes as u64, "equal node");
            format!("on {nodes}, assumed (--topology FILE, --nodes N): ")
        });
        let compared = self.compared.map_or(String::new(), |(compared, owning)| {
            format!(
                "; {} of {} were captured",
                grouped(compared as u64),
                counted(owning as u64, "node")
            )
        });
        let estimated = match (self.is_estimated, self.measure) {
            (false, _) => "",
            (true, Measure::Cpu) => "; estimated by command",
            (true, _) => "; estimated, as some sizes are unknown",
        };
        let shorter = self
            .shorter
            .as_ref()
            .map_or(String::new(), |(node, own, of)| {
                format!("; {} was captured for {own:.1} of {of:.1} s", short(node))
            });
        format!("{assumed}{sentence}{compared}{shorter}{estimated}")
    }
}

impl Gap {
    /// The values in words.
    pub(crate) fn in_words(&self) -> String {
        let Gap {
            role,
            count,
            of,
            text,
            line,
        } = self;
        let line = line.map_or(String::new(), |line| format!(", line {}", grouped(line)));
        let first = if text.is_empty() {
            String::new()
        } else {
            format!(" ({text}{line})")
        };
        let total = (*of).max(*count);
        format!(
            "{} of {} {} could not be read{first}",
            grouped(*count),
            grouped(total),
            role.name(total)
        )
    }
}

/// Why nodes are not compared: which of them were not seen whole.
pub(crate) fn not_compared(unseen: &str) -> String {
    format!("{unseen}, so nodes are not compared")
}

/// The heaviest tag or key of a load whose nodes are not compared.
pub(crate) fn gets((name, kind, part): &(Name, UnitKind, f64), measure: Measure) -> String {
    format!(
        "; {} gets {} of {}",
        unit(name, *kind),
        percent(*part),
        measure.of_what()
    )
}

/// A tag or key by its kind and name.
pub fn unit(name: &Name, kind: UnitKind) -> String {
    let (noun, name) = (kind.noun(1), short(name));
    match kind {
        UnitKind::Tag => format!("{noun} {{{name}}}"),
        _ => format!("{noun} {name}"),
    }
}

/// `, because of hash tag {flash-sale} (2.62×) and 20% of the slots`; unknowns follow a semicolon.
fn because(causes: &[Cause], measure: Measure) -> String {
    let (unknown, known): (Vec<Cause>, Vec<Cause>) = causes
        .iter()
        .cloned()
        .partition(|cause| cause.kind == CauseKind::Unknown);
    let parts: Vec<String> = alike(&known).map(|run| in_words(run, measure)).collect();
    let known = match parts.as_slice() {
        [] => String::new(),
        [only] if known[0].kind == CauseKind::Slots => format!(", because it owns {only}"),
        [only] => format!(", because of {only}"),
        [first @ .., last] => format!(", because of {} and {last}", first.join(", ")),
    };
    let unknown = unknown.iter().map(|cause| {
        let is_rest = !known.is_empty() && cause.slots.is_empty();
        let rest = || String::from("the rest was not counted by tags and keys");
        let words = if is_rest {
            rest()
        } else {
            cause_in_words(cause, measure)
        };
        format!("; {words}")
    });
    let unknown: String = unknown.collect();
    known + &unknown
}

/// A cause, or several alike: tags and keys with their load in fair shares, others with what they add.
fn in_words(alike: &[Cause], measure: Measure) -> String {
    let Some(cause) = alike.first() else {
        return String::new();
    };
    let load = |cause: &Cause| cause.fair_shares.unwrap_or(cause.excess);
    let total = times(alike.iter().map(load).sum());
    let words = cause_in_words(cause, measure);
    match alike.len() {
        1 => match (cause.kind, &cause.key, cause.by_chance) {
            (CauseKind::Slots, ..) => words,
            (CauseKind::Tag, Some(key), _) => format!(
                "hash tag {} ({total}, nearly all of it key {})",
                name_of(cause),
                short(key)
            ),
            (CauseKind::Chance, _, Some(most)) => {
                format!(
                    "{words} ({total}; a perfect hash gives up to {})",
                    times(most)
                )
            }
            _ => format!("{words} ({total})"),
        },
        _ => {
            // A key may be in several rows.
            let mut names: Vec<String> = alike.iter().map(name_of).collect();
            names.dedup();
            let (one, several) = match cause.kind {
                CauseKind::Tag => ("hash tag", "hash tags"),
                _ => ("key", "keys"),
            };
            let kind = if names.len() == 1 { one } else { several };
            let names = list(names.into_iter(), NAMES);
            let slot = match cause.slots.as_slice() {
                [slot] if alike.iter().all(|similar| similar.slots == cause.slots) => {
                    format!(", all in slot {slot}")
                }
                _ => String::new(),
            };
            format!("{kind} {names} ({total} together{slot})")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_has_as_many_tags_and_keys_as_there_are() {
        for (units, words) in [
            (0, "random variation"),
            (1, "random variation of one other tag or key"),
            (4_120, "random variation of 4,120 other tags and keys"),
        ] {
            let mut cause = Cause::new(CauseKind::Chance, &Name::from("a"), 0.1);
            cause.units = Some(units);
            assert_eq!(cause_in_words(&cause, Measure::Keys), words);
        }
    }

    #[test]
    fn a_tag_that_is_one_key_names_it() {
        let mut cause = Cause::new(CauseKind::Tag, &Name::from("a"), 0.1);
        cause.name = Some(Name::from("z1"));
        cause.key = Some(Name::from("a:{z1}:x"));
        assert_eq!(
            cause_in_words(&cause, Measure::Bytes),
            "hash tag {z1}, nearly all of it key a:{z1}:x"
        );
    }
}
