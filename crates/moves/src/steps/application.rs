//! Application changes, for tags and keys that no slot move can even out.

use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_base::text::counted;

use crate::plan::placement::{PlacedRole, Placement};
use crate::steps::Steps;
use crate::steps::change::{Found, Search};
use crate::steps::pieces::{Piece, heavy, split};
use crate::wording as said;
use slotscope_model::independent_units::{Unit, UnitKind};
use slotscope_model::keys::Key;
use slotscope_model::state::{Role, State};
use slotscope_model::step::{Pieces, StepKind};
use slotscope_model::tags::Tag;

/// The longest name printed in a command.
const TYPED: usize = 200;
/// A tag with this fraction of all keys is a namespace in braces.
const NAMESPACE: f64 = 0.8;
/// At or above this fraction of reads, a cache or replicas are the remedy.
const MOSTLY_READ: f64 = 0.9;
/// If fewer operations than this are known reads, no cache helps.
const HALF_READ: f64 = 0.5;
/// A key or tag below this many shares is not worth a cache.
const CACHED: f64 = 0.5;

/// A change, and the placement after it.
pub(super) struct Change<'a> {
    pub kind: StepKind,
    pub text: String,
    /// The tags and keys that it splits, and whether the heaviest is mostly written, so that no cache helps.
    pub pieces: Vec<Pieces>,
    pub is_written: bool,
    /// Tags to split, with the number of parts; empty if the command cannot be typed.
    pub split: Vec<(String, u32)>,
    /// The tag whose braces are removed.
    pub untag: Option<String>,
    /// Loads of the roles after it; `None` if unknown.
    pub after: Option<Placement<'a>>,
    /// The same on today's nodes, as its command forecasts; `None` if it has no command.
    pub alone: Option<Placement<'a>>,
    /// Whether a role gets worse until slots have moved.
    pub raises: bool,
}

impl<'a> Change<'a> {
    pub(super) fn new(kind: StepKind, text: String, after: Option<Placement<'a>>) -> Self {
        Change {
            kind,
            text,
            pieces: Vec::new(),
            is_written: false,
            split: Vec::new(),
            untag: None,
            after,
            alone: None,
            raises: false,
        }
    }
}

impl<'a> Steps<'a> {
    /// The roles that need a change: above their upper bands or near a limit.
    pub(super) fn pressing(&self) -> Vec<usize> {
        let presses = |at: &usize| {
            let role = &self.now.roles[*at];
            let state = self.now.role_after(&self.cluster, role).state;
            role.is_judged && role.is_by_slot() && state >= State::Skewed
        };
        (0..self.now.roles.len()).filter(presses).collect()
    }

    /// The change that fixes the pressing roles.
    pub(super) fn change(&self) -> Option<Change<'a>> {
        let pressing = self.pressing();
        let role = &self.now.roles[*pressing.first()?];
        let heaviest = heavy(self.summary, role).into_iter().next();
        if let Some(untag) = heaviest.and_then(|piece| self.untag(role, &piece)) {
            return Some(untag);
        }
        let is_cached = |piece: &Piece| {
            self.reads_of(piece)
                .is_some_and(|reads| reads >= MOSTLY_READ)
        };
        let search = Search {
            summary: self.summary,
            cluster: &self.cluster,
            now: &self.now,
            service: self.commands.service(),
            pressing,
            is_left: &is_cached,
        };
        search.found().map(|solution| match solution {
            Found::TooCoarse(count) => {
                let text = format!(
                    "rename the {} so that they spread (in the application)",
                    counted(count, "hash tag")
                );
                Change::new(StepKind::RenameTags, text, None)
            }
            Found::Set(set) => {
                let tags = set
                    .cuts
                    .iter()
                    .filter(|(piece, _)| piece.kind == UnitKind::Tag);
                let typed =
                    tags.filter_map(|(piece, parts)| Some((typed_name(&piece.name)?, *parts)));
                let pieces = set
                    .cuts
                    .iter()
                    .map(|(piece, parts)| (piece.name.clone(), piece.kind, *parts));
                let pieces: Vec<Pieces> = pieces.collect();
                let mut cuts = set.cuts.iter();
                let first = cuts.next().map(|(piece, _)| piece);
                let value = first.filter(|piece| piece.kind != UnitKind::Channel);
                let reads = value.and_then(|piece| self.reads_of(piece));
                let is_written = reads.is_some_and(|reads| reads < HALF_READ);
                let text = said::split(&pieces, false, is_written);
                Change {
                    pieces,
                    is_written,
                    split: typed.collect(),
                    alone: Some(split(self.summary, &self.today, &set.cuts)),
                    raises: set.raises,
                    ..Change::new(StepKind::Split, text, Some(set.after))
                }
            }
        })
    }

    /// Whether a tag holds nearly all keys and nearly all of a load.
    fn is_namespace(&self, role: &PlacedRole<'_>, piece: &Piece) -> bool {
        let keys = self.summary.input.keys as f64;
        let total: f64 = role.slots.iter().map(|load| *load as f64).sum();
        let heaviest = self.summary.tags.iter().map(|tags| &tags.heaviest.keys);
        let mut tags = heaviest.flatten();
        let has_keys =
            |tag: &Tag| tag.tag == piece.name && tag.load.keys as f64 >= NAMESPACE * keys;
        piece.kind == UnitKind::Tag
            && keys > 0.0
            && piece.load >= NAMESPACE * total
            && tags.any(has_keys)
    }

    /// Removes the braces of a namespace, so that its keys spread over all slots.
    fn untag(&self, role: &PlacedRole<'_>, piece: &Piece) -> Option<Change<'a>> {
        if !self.is_namespace(role, piece) {
            return None;
        }
        let mut after = self.now.clone();
        for role in &mut after.roles {
            let metric = role.load.measure.metric();
            let units = self.summary.units.per.get(metric);
            let mut named = units.into_iter().flat_map(|units| &units.named);
            let unit = named.find(|unit| unit.kind == UnitKind::Tag && unit.name == piece.name);
            let whole = role.slots[usize::from(piece.slot)];
            let load = unit.map_or(0, |unit| unit.load as u64).min(whole);
            role.slots[usize::from(piece.slot)] -= load;
            // Fewer keys than slots spread, too.
            let slots = role.slots.len() as u128;
            let up_to = |slot: usize| (u128::from(load) * slot as u128 / slots) as u64;
            let each = role.slots.iter_mut().enumerate();
            each.for_each(|(at, slot)| *slot += up_to(at + 1) - up_to(at));
        }
        let has_captures = self.summary.operations.is_some();
        Some(Change {
            untag: typed_name(&piece.name),
            ..Change::new(
                StepKind::Untag,
                said::untag(&piece.name, has_captures),
                Some(after),
            )
        })
    }

    /// A cache for a key or tag that fills at least half a node, if its load is above the upper band or near one CPU
    /// core: it needs no move and helps immediately.
    pub(super) fn cache(&self) -> Option<Change<'a>> {
        let is_load = |role: &&PlacedRole<'_>| role.load.role == Some(Role::Load) && role.is_judged;
        let role = self.now.roles.iter().find(is_load)?;
        if self.now.role_after(&self.cluster, role).state < State::Skewed {
            return None;
        }
        let total: f64 = role.slots.iter().map(|load| *load as f64).sum();
        let share = total / role.load.compared.len().max(1) as f64;
        let piece = heavy(self.summary, role).into_iter().next();
        // A cache suits an object, not a namespace in braces and no channel.
        let is_object =
            |piece: &Piece| piece.kind != UnitKind::Channel && !self.is_namespace(role, piece);
        let piece = piece.filter(|piece| piece.load >= CACHED * share && is_object(piece))?;
        let reads = self.reads_of(&piece);
        if reads.is_some_and(|reads| reads < HALF_READ) {
            return None;
        }
        let after = reads.map(|reads| {
            let mut after = self.now.clone();
            let roles = after.roles.iter_mut();
            for role in roles.filter(|role| role.load.role == Some(Role::Load)) {
                let slot = &mut role.slots[usize::from(piece.slot)];
                *slot -= ((piece.load * reads) as u64).min(*slot);
            }
            after
        });
        let mut owning = self.summary.nodes.owning();
        let has_replicas = owning.any(|node| node.replicas != Some(0));
        Some(Change::new(
            StepKind::Cache,
            said::cache(&piece.name, piece.kind, reads, has_replicas),
            after,
        ))
    }

    /// The part of the operations on a piece that only read. `None` where captures do not show it.
    fn reads_of(&self, piece: &Piece) -> Option<f64> {
        if piece.kind == UnitKind::Tag {
            let units = self.summary.units.per.get(piece.metric)?;
            let is_piece = |unit: &&Unit| {
                (unit.kind, unit.slot, &unit.name) == (piece.kind, piece.slot, &piece.name)
            };
            return units.named.iter().find(is_piece)?.reads;
        }
        let heaviest = &self.summary.keys.as_ref()?.heaviest;
        let listed = [piece.metric, Metric::Ops].map(|metric| heaviest.get(metric));
        let is_piece = |key: &&Key| key.key == piece.name && key.slot == piece.slot;
        let mut known = listed.into_iter().flatten().flatten().filter(is_piece);
        known.find_map(|key| key.reads)
    }
}

/// The name in typable form; `None` if it is too long or has bytes that cannot be typed.
fn typed_name(name: &Name) -> Option<String> {
    let text = std::str::from_utf8(&name.0).ok()?;
    (text.len() <= TYPED && text == name.to_string()).then(|| text.to_owned())
}
