//! Changes of the application: for tags and keys that no move of slots can even out.

use slotscope_engine::metric::Metric;
use slotscope_engine::name::Name;
use slotscope_engine::slot::slot_of_part;

use crate::steps::situation::{Known, RoleNow, Situation};
use crate::summary::Summary;
use crate::summary::floor::slot_floor_of;
use crate::summary::independent_units::{Unit, UnitKind, parts_needed};
use crate::summary::keys::Key;
use crate::summary::state::Role;
use crate::summary::step::{StepKind, StepText};

/// Tags or keys that one step splits at most.
const MOST: usize = 64;
/// The longest name that a command has.
const TYPED: usize = 200;
/// A tag that has this part of all keys is a namespace in braces.
const NAMESPACE: f64 = 0.8;
/// From this part of the operations on that only read, a cache or replicas are the cure.
const MOSTLY_READ: f64 = 0.9;
/// Keys that are this part of a tag speak for it.
const MOST_OF: f64 = 0.5;
/// The load of a split tag in another role is spread as it is in its own, up to this part of a fair share: the error is a
/// fraction of it.
const NEGLIGIBLE: f64 = 0.02;

/// A change, and the loads of the roles after it.
pub(super) struct Change {
    /// Its kind.
    pub kind: StepKind,
    /// In words.
    pub text: StepText,
    /// Tags that are split, into this many parts; empty where nothing is to be typed.
    pub split: Vec<(String, u32)>,
    /// The tag whose braces are taken out.
    pub untag: Option<String>,
    /// The loads of the roles after it, and how well each is known.
    pub roles: Vec<(Vec<u64>, Known)>,
}

/// Changes of the application that cure a role, the best first.
pub(super) fn changes(
    summary: &Summary,
    situation: &Situation<'_>,
    role: &RoleNow<'_>,
    reads: Option<f64>,
    are_tags_others: bool,
) -> Vec<Change> {
    let trial = Trial {
        summary,
        situation,
        role,
        are_tags_others,
    };
    let heavy = trial.heavy();
    let Some(first) = heavy.first() else {
        return Vec::new();
    };
    let retag = trial.retag(first);
    let untag = trial.untag(first).filter(|_| !trial.is_needed());
    if let Some(untag) = untag {
        // Without other tags, the two sums are one.
        let is_other = |retag: &Change| retag.brings_tags();
        let untag = Some(untag).filter(|_| retag.as_ref().is_none_or(is_other));
        return retag.into_iter().chain(untag).collect();
    }
    let split = trial.split(&heavy);
    let reads = trial.reads_of(first).or(reads);
    let is_load = role.verdict.role == Some(Role::Load);
    let cache = is_load.then(|| trial.cache(first, reads));
    // Where reads are known to be few, no cache helps.
    let cache = cache.filter(|_| reads.is_none_or(|reads| reads >= 0.5));
    let others: Vec<Change> = if reads.is_some_and(|reads| reads >= MOSTLY_READ) {
        cache.into_iter().chain(split).collect()
    } else {
        split.into_iter().chain(cache).collect()
    };
    retag.into_iter().chain(others).collect()
}

/// A role that asks for a change.
pub(super) struct Trial<'a> {
    /// The findings.
    pub summary: &'a Summary,
    /// Where the steps so far lead.
    pub situation: &'a Situation<'a>,
    /// The role.
    pub role: &'a RoleNow<'a>,
    /// Whether a step has other tags in place of those that were counted.
    are_tags_others: bool,
}

impl<'a> Trial<'a> {
    fn metric(&self) -> Metric {
        self.role.verdict.by()
    }

    fn total(&self) -> f64 {
        self.role.slots.iter().map(|load| *load as f64).sum()
    }

    fn nodes(&self) -> usize {
        self.role.verdict.compared
    }

    /// The heavy units of the role, heaviest first, all of one kind.
    fn heavy(&self) -> Vec<Unit> {
        let Some(units) = self.summary.units.per.get(self.metric()) else {
            return Vec::new();
        };
        let weighed = self.role.load.units(&self.summary.nodes, units);
        let least = weighed.least_heavy(self.total() / self.nodes().max(1) as f64);
        let on_nodes = weighed.named.into_iter().filter(|unit| unit.node.is_some());
        let is_there = |unit: &Unit| {
            let load = self.role.slots[usize::from(unit.slot)] as f64;
            !self.are_tags_others || unit.kind != UnitKind::Tag && load >= unit.load
        };
        let on_nodes = on_nodes.filter(is_there);
        let heavy = on_nodes.filter(|unit| unit.kind.can_be_heavy(self.metric()));
        let heavy = heavy.take_while(|unit| unit.load >= least).take(MOST);
        // A key that is nearly all of its tag is split in place of the tag.
        let heavy: Vec<Unit> = heavy
            .map(|unit| match unit.main_key.clone() {
                Some(key) => Unit {
                    kind: UnitKind::Key,
                    name: key,
                    ..unit
                },
                None => unit,
            })
            .collect();
        let kind = heavy.first().map(|unit| unit.kind);
        heavy
            .into_iter()
            .filter(|unit| Some(unit.kind) == kind)
            .collect()
    }

    /// The braces of a namespace are taken out: what has the tag spreads over all slots.
    fn untag(&self, unit: &Unit) -> Option<Change> {
        let tags = self.summary.tags.as_ref()?;
        let keys = self.summary.input.keys as f64;
        let tag = tags.heaviest.keys.iter().find(|tag| tag.tag == unit.name)?;
        let is_namespace = unit.kind == UnitKind::Tag
            && keys > 0.0
            && tag.load.keys as f64 >= NAMESPACE * keys
            && unit.load >= NAMESPACE * self.total();
        if !is_namespace {
            return None;
        }
        let spread = |metric: Metric, slots: &[u64]| {
            let load = self
                .load_of(metric, unit)
                .0
                .min(slots[usize::from(unit.slot)]);
            let mut slots = slots.to_vec();
            slots[usize::from(unit.slot)] -= load;
            // Fewer keys than slots are spread, too.
            let (all, load) = (slots.len() as u128, u128::from(load));
            let up_to = |slot: usize| (load * slot as u128 / all) as u64;
            let each = slots.iter_mut().enumerate();
            each.for_each(|(at, slot)| *slot += up_to(at + 1) - up_to(at));
            slots
        };
        let roles = self.situation.roles.iter();
        Some(Change {
            kind: StepKind::Untag,
            text: StepText::Untag(unit.name.clone()),
            split: Vec::new(),
            untag: typed(&unit.name),
            roles: roles
                .map(|role| (spread(role.verdict.by(), &role.slots), role.known))
                .collect(),
        })
    }

    /// The heaviest units in parts: as many units as it takes for plans to even out the rest.
    fn split(&self, heavy: &[Unit]) -> Option<Change> {
        let first = heavy.first()?;
        let parts = parts_needed(first.load, self.nodes(), self.total());
        let shares: Vec<f64> = vec![1.0 / self.nodes().max(1) as f64; self.nodes()];
        let counts = (0..).map(|power| (1usize << power).min(heavy.len()));
        let mut chosen = heavy;
        for count in counts {
            chosen = &heavy[..count];
            let (slots, _) = self.with_parts(self.role, chosen, parts);
            let least = slot_floor_of(&slots, &shares).unwrap_or(1.0);
            if least <= self.role.verdict.bands.lower || count == heavy.len() {
                break;
            }
        }
        let are_tags = first.kind == UnitKind::Tag;
        let names: Vec<Name> = chosen.iter().map(|unit| unit.name.clone()).collect();
        let texts: Option<Vec<String>> = names.iter().map(typed).collect();
        let texts = texts.filter(|_| are_tags).unwrap_or_default();
        let roles = self.situation.roles.iter();
        Some(Change {
            kind: StepKind::Split,
            text: StepText::Split {
                names,
                are_tags,
                parts,
            },
            split: texts.into_iter().map(|text| (text, parts)).collect(),
            untag: None,
            roles: roles
                .map(|role| self.with_parts(role, chosen, parts))
                .collect(),
        })
    }

    /// The part of the operations on a unit that only read: of a tag, that of its keys that are listed, where they are most
    /// of it. `None` where captures do not show it.
    fn reads_of(&self, unit: &Unit) -> Option<f64> {
        let listed = self.summary.keys.as_ref()?.heaviest.get(Metric::Ops)?;
        let is_its = |key: &&Key| match unit.kind {
            UnitKind::Tag => {
                key.slot == unit.slot
                    && hashslot::tag(&key.key.0).is_some_and(|tag| key.key.0[tag] == unit.name.0)
            }
            _ => key.key == unit.name && key.slot == unit.slot,
        };
        let known = listed.iter().filter(is_its);
        let known = known.filter_map(|key| Some((key.weight(Metric::Ops) as f64, key.reads?)));
        let (ops, reads) = known.fold((0.0, 0.0), |(all, reading), (ops, reads)| {
            (all + ops, reading + ops * reads)
        });
        let is_most = ops > 0.0 && (unit.kind != UnitKind::Tag || ops >= MOST_OF * unit.load);
        is_most.then(|| reads / ops)
    }

    /// Reads of a unit are answered elsewhere.
    fn cache(&self, unit: &Unit, reads: Option<f64>) -> Change {
        let roles = self.situation.roles.iter().map(|role| {
            let mut slots = role.slots.clone();
            if role.verdict.role != Some(Role::Load) {
                return (slots, role.known);
            }
            let load = unit.load as u64;
            let slot = &mut slots[usize::from(unit.slot)];
            *slot -= ((load as f64 * reads.unwrap_or(0.0)) as u64).min(*slot);
            let known = if reads.is_some() {
                role.known
            } else {
                Known::No
            };
            (slots, known)
        });
        Change {
            kind: StepKind::Cache,
            text: StepText::Cache {
                name: unit.name.clone(),
                is_tag: unit.kind == UnitKind::Tag,
                reads,
            },
            split: Vec::new(),
            untag: None,
            roles: roles.collect(),
        }
    }

    /// The load of a role with `units` in parts, and how well it is known: the keys of a tag that are listed go to the part
    /// of their CRC16, as `slotscope whatif` has it, and all other parts are equal.
    fn with_parts(&self, role: &RoleNow<'_>, units: &[Unit], parts: u32) -> (Vec<u64>, Known) {
        let metric = role.verdict.by();
        let mut slots = role.slots.clone();
        let (mut unknown, total) = (0.0, slots.iter().map(|load| *load as f64).sum::<f64>());
        for unit in units {
            let (load, at_most) = self.load_of(metric, unit);
            unknown += at_most.saturating_sub(load) as f64;
            if metric != self.metric() && unit.kind == UnitKind::Tag {
                // Parts of equal load in one role need not be so in another.
                unknown += load as f64;
            }
            // Its part of the rest of the slot is about its part of its own load.
            let part = unit.load / (self.role.slots[usize::from(unit.slot)].max(1) as f64);
            let slot = &mut slots[usize::from(unit.slot)];
            let about = (*slot as f64 * part) as u64;
            let load = about.min(at_most).max(load).min(*slot);
            *slot -= load;
            let loads = self.parts_of(metric, unit, load, parts);
            for (part, load) in loads.into_iter().enumerate() {
                let name = [unit.name.0.as_slice(), format!(":{part}").as_bytes()].concat();
                slots[usize::from(slot_of_part(&name))] += load;
            }
        }
        let fair = total / self.nodes().max(1) as f64;
        let is_well = unknown <= NEGLIGIBLE * fair;
        let known = if is_well { Known::Well } else { Known::About };
        (slots, role.known.max(known))
    }

    /// The load of a unit in a metric: at least, and at most. A key and a tag may have one name.
    fn load_of(&self, metric: Metric, unit: &Unit) -> (u64, u64) {
        if metric == self.metric() {
            return (unit.load as u64, unit.load as u64);
        }
        if unit.kind == UnitKind::Key && metric == Metric::Keys {
            return (1, 1);
        }
        let Some(units) = self.summary.units.per.get(metric) else {
            return (0, 0);
        };
        let is_same = |other: &&Unit| {
            let is_its_key = other.main_key.as_ref() == Some(&unit.name);
            other.kind == unit.kind && other.name == unit.name || is_its_key
        };
        match units.named.iter().find(is_same) {
            Some(unit) => (unit.load as u64, unit.at_most as u64),
            None => (0, units.unnamed as u64),
        }
    }

    /// The load of each part of a unit.
    fn parts_of(&self, metric: Metric, unit: &Unit, load: u64, parts: u32) -> Vec<u64> {
        let mut of_parts = vec![0; parts as usize];
        let mut rest = load;
        let listed = self.summary.keys.as_ref();
        let listed = listed.and_then(|keys| keys.heaviest.get(metric));
        let is_of_tag =
            |name: &Name| hashslot::tag(&name.0).is_some_and(|tag| name.0[tag] == unit.name.0);
        let keys = listed.into_iter().flatten();
        let keys = keys.filter(|key| key.tagged && key.slot == unit.slot && is_of_tag(&key.key));
        for key in keys.filter(|_| unit.kind == UnitKind::Tag && metric != Metric::Keys) {
            let weight = key.weight(metric).min(rest);
            of_parts[usize::from(hashslot::crc16(&key.key.0)) % parts as usize] += weight;
            rest -= weight;
        }
        let (each, over) = (rest / u64::from(parts), rest % u64::from(parts));
        for (part, load) in of_parts.iter_mut().enumerate() {
            *load += each + u64::from((part as u64) < over);
        }
        of_parts
    }
}

/// A name as one types it; `None` where it is long or has bytes that cannot be typed.
fn typed(name: &Name) -> Option<String> {
    let text = std::str::from_utf8(&name.0).ok()?;
    (text.len() <= TYPED && text == name.to_string()).then(|| text.to_owned())
}
