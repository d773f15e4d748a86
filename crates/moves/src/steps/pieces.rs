//! Tags and keys that can be split, and slot loads after the split.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::slot::slot_of_part;

use crate::plan::placement::{PlacedRole, Placement};
use slotscope_findings::summary::independent_units::kind_of;
use slotscope_model::Summary;
use slotscope_model::independent_units::{Unit, UnitKind};
use slotscope_model::keys::Key;
use slotscope_model::limit;

/// A key that is this fraction of its tag is split instead of the tag.
const MAIN: f64 = 0.5;
/// Target size of a part, in shares.
const PART: f64 = 0.10;
/// Minimum and maximum number of parts.
const PARTS: (f64, f64) = (2.0, 64.0);
/// In other roles, a split tag's load is assumed to spread as in its own, if below this part of a fair share: the error
/// is a fraction of it.
const NEGLIGIBLE: f64 = 0.02;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Piece {
    pub kind: UnitKind,
    pub name: Name,
    pub slot: u16,
    /// The metric that it is heavy in.
    pub metric: Metric,
    /// Its load there.
    pub load: f64,
    /// The key of a tag that is split separately.
    without: Option<Name>,
}

/// A piece, and the number of parts it is split into.
pub(super) type Cut = (Piece, u32);

impl Piece {
    /// Whether both are the same tag or key.
    pub(super) fn is(&self, other: &Piece) -> bool {
        (self.kind, &self.name) == (other.kind, &other.name)
    }

    /// The name of its parts without their numbers. The parts of a tagged key are units of their own: none keeps the
    /// tag.
    fn bare_name(&self) -> Vec<u8> {
        let bytes = self.name.0.iter().copied();
        bytes.filter(|byte| !b"{}".contains(byte)).collect()
    }

    /// Parts of about a tenth of a share each.
    pub(super) fn parts(&self, share: f64) -> u32 {
        let (least, most) = PARTS;
        (self.load / share / PART).ceil().clamp(least, most) as u32
    }
}

/// The heavy pieces of a role, heaviest first. If a key is most of its tag: the key, and the rest of the tag.
pub(super) fn heavy(summary: &Summary, role: &PlacedRole<'_>) -> Vec<Piece> {
    let metric = role.load.measure.metric();
    let Some(units) = summary.units.per.get(metric) else {
        return Vec::new();
    };
    let weighed = role.load.units(&summary.nodes, units);
    let total: f64 = role.load.slots.iter().map(|load| *load as f64).sum();
    let least = limit::HEAVY * (total / role.load.compared.len().max(1) as f64);
    let scale = |unit: &Unit| {
        let raw = units
            .named
            .iter()
            .find(|raw| (raw.kind, &raw.name) == (unit.kind, &unit.name));
        raw.map_or(1.0, |raw| unit.load / raw.load.max(f64::MIN_POSITIVE))
    };
    let on_nodes = weighed.named.iter().filter(|unit| unit.node.is_some());
    let large = on_nodes.take_while(|unit| unit.load >= least);
    let heavy = large.filter(|unit| unit.kind.can_be_heavy(metric));
    let mut pieces: Vec<Piece> = heavy
        .flat_map(|unit| {
            let whole = Piece {
                kind: unit.kind,
                name: unit.name.clone(),
                slot: unit.slot,
                metric,
                load: unit.load,
                without: None,
            };
            let main = keys_of(summary, metric, unit.kind, &unit.name, unit.slot)
                .max_by_key(|key| key.weight(metric))
                .map(|key| (key, key.weight(metric) as f64 * scale(unit)));
            match main.filter(|(_, load)| *load >= MAIN * unit.load && metric != Metric::Keys) {
                None => vec![whole],
                Some((key, load)) => vec![
                    Piece {
                        kind: kind_of(key),
                        name: key.key.clone(),
                        load,
                        ..whole.clone()
                    },
                    Piece {
                        load: unit.load - load,
                        without: Some(key.key.clone()),
                        ..whole
                    },
                ],
            }
        })
        .filter(|piece| piece.load >= least)
        .collect();
    pieces.sort_by(|a, b| b.load.total_cmp(&a.load).then_with(|| a.name.cmp(&b.name)));
    pieces
}

/// The listed keys of a tag.
fn keys_of<'s>(
    summary: &'s Summary,
    metric: Metric,
    kind: UnitKind,
    tag: &Name,
    slot: u16,
) -> impl Iterator<Item = &'s Key> {
    let heaviest = summary.keys.as_ref().map(|keys| &keys.heaviest);
    let listed = heaviest.and_then(|heaviest| heaviest.get(metric));
    let is_of_tag =
        move |name: &Name| hashslot::tag(&name.0).is_some_and(|part| name.0[part] == tag.0);
    let keys = listed.into_iter().flatten();
    keys.filter(move |key| {
        kind == UnitKind::Tag && key.tagged && key.slot == slot && is_of_tag(&key.key)
    })
}

/// A placement with pieces split.
pub(super) fn split<'a>(summary: &Summary, now: &Placement<'a>, cuts: &[Cut]) -> Placement<'a> {
    let mut after = now.clone();
    for (role, before) in after.roles.iter_mut().zip(&now.roles) {
        let role_of = |metric: Metric| {
            now.roles
                .iter()
                .find(|role| role.load.measure.metric() == metric)
        };
        let total: f64 = before.slots.iter().map(|load| *load as f64).sum();
        let mut unknown = 0.0;
        for (piece, parts) in cuts {
            let metric = before.load.measure.metric();
            let (load, at_most) = load_of(summary, metric, piece);
            unknown += at_most.saturating_sub(load) as f64;
            if metric != piece.metric && piece.kind == UnitKind::Tag {
                // Parts equal in one role may differ in another.
                unknown += load as f64;
            }
            // Its part of the rest of the slot is roughly its part of its own load.
            let slot = usize::from(piece.slot);
            let of_slot = role_of(piece.metric).map_or(1, |role| role.slots[slot].max(1));
            let part = (piece.load / of_slot as f64).min(1.0);
            let about = (role.slots[slot] as f64 * part) as u64;
            let load = about.min(at_most).max(load).min(role.slots[slot]);
            role.slots[slot] -= load;
            for (part, load) in loads_of_parts(summary, metric, piece, load, *parts)
                .into_iter()
                .enumerate()
            {
                let name = [piece.bare_name().as_slice(), format!(":{part}").as_bytes()].concat();
                role.slots[usize::from(slot_of_part(&name))] += load;
            }
        }
        let fair = total / before.load.compared.len().max(1) as f64;
        role.is_approximate |= unknown > NEGLIGIBLE * fair;
    }
    after
}

/// Lower and upper bound of a piece's load in a metric.
fn load_of(summary: &Summary, metric: Metric, piece: &Piece) -> (u64, u64) {
    if metric == piece.metric {
        return (piece.load as u64, piece.load as u64);
    }
    if piece.kind != UnitKind::Tag && metric == Metric::Keys {
        return (1, 1);
    }
    let listed = summary
        .keys
        .as_ref()
        .and_then(|keys| keys.heaviest.get(metric));
    let key = |name: &Name| {
        let mut keys = listed.into_iter().flatten();
        let key = keys.find(|key| key.key == *name && key.slot == piece.slot);
        key.map(|key| key.weight(metric))
    };
    let Some(units) = summary.units.per.get(metric) else {
        return (0, 0);
    };
    let mut named = units.named.iter();
    match named.find(|unit| (unit.kind, &unit.name) == (piece.kind, &piece.name)) {
        _ if piece.kind != UnitKind::Tag && key(&piece.name).is_some() => {
            let load = key(&piece.name).unwrap_or(0);
            (load, load)
        }
        Some(unit) => {
            let main = piece.without.as_ref().and_then(key).unwrap_or(0);
            let without_main = |load: f64| (load as u64).saturating_sub(main);
            (without_main(unit.load), without_main(unit.at_most))
        }
        None => (0, units.unnamed as u64),
    }
}

/// The load of each part: listed keys of a tag go to the part that their CRC16 selects, as in `slotscope whatif`; all
/// other parts are equal.
fn loads_of_parts(
    summary: &Summary,
    metric: Metric,
    piece: &Piece,
    load: u64,
    parts: u32,
) -> Vec<u64> {
    let mut of_parts = vec![0; parts as usize];
    let mut rest = load;
    let keys = keys_of(summary, metric, piece.kind, &piece.name, piece.slot)
        .filter(|key| metric != Metric::Keys && Some(&key.key) != piece.without.as_ref());
    for key in keys {
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
