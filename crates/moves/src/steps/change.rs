//! The smallest set of tags and keys to split so that moves can even out the pressing roles.

use slotscope_planner::solve::{floors, plan_of_ranges, plan_within};

use crate::plan::cluster::Cluster;
use crate::plan::placement::Placement;
use crate::plan::requests::request_of;
use crate::steps::pieces::{Cut, Piece, heavy, split};
use crate::steps::service::Service;
use slotscope_model::Summary;

/// With more pieces than this, the tags are too coarse to split one by one.
const MOST: usize = 12;
/// Each additional piece must lower the ratio by this part of the band; two failures end the search.
const BETTER: f64 = 0.05;
const FAILED: usize = 2;
/// A piece that changes no role by more than this is dropped.
const NOTHING: f64 = 0.02;
/// A change may raise a role by this much.
const RISES: f64 = 0.005;
/// Extra parts tried if parts land on the fullest node.
const MORE_PARTS: u32 = 5;
/// Work of planning after a trial change.
const WORK: u64 = 800_000;
/// Minimum gain of a change, in fair shares and as a fraction of the excess.
const GAINS: [f64; 2] = [0.02, 0.05];
const GAIN_OF_EXCESS: f64 = 0.1;

/// A set of pieces to split.
pub(super) struct Smallest<'a> {
    /// The pieces, with the number of parts of each.
    pub cuts: Vec<Cut>,
    pub after: Placement<'a>,
    /// Whether a role gets worse until slots have moved.
    pub raises: bool,
}

/// The result of the search.
pub(super) enum Found<'a> {
    /// A set of pieces.
    Set(Smallest<'a>),
    /// Too many pieces would be needed.
    TooCoarse(u64),
}

/// A trial set: the worst role's ratio in bands, and all ratios, after moves.
struct Tried {
    cuts: Vec<Cut>,
    worst: f64,
    ratios: Vec<f64>,
}

pub(super) struct Search<'s, 'a> {
    pub summary: &'s Summary,
    pub cluster: &'s Cluster<'s>,
    pub now: &'s Placement<'a>,
    /// The managed service that runs the servers.
    pub service: Option<&'static Service>,
    /// Indices of the pressing roles.
    pub pressing: Vec<usize>,
    /// Pieces that must not be split.
    pub is_left: &'s dyn Fn(&Piece) -> bool,
}

impl<'a> Search<'_, 'a> {
    /// The smallest set; `None` if nothing helps.
    pub(super) fn found(&self) -> Option<Found<'a>> {
        let before = self.ratios(self.now);
        let tried = match self.grown() {
            Ok(tried) => self.pruned(tried?),
            Err(count) => return Some(Found::TooCoarse(count)),
        };
        let is_helped = |at: &usize| {
            let role = &self.now.roles[*at];
            let [memory, load] = GAINS;
            let least = if role.load.measure.metric().is_of_use() {
                load
            } else {
                memory
            };
            before[*at] - tried.ratios[*at] >= least.max(GAIN_OF_EXCESS * (before[*at] - 1.0))
        };
        self.pressing.iter().any(is_helped).then_some(())?;
        self.with_parts(&tried.cuts, &before).map(Found::Set)
    }

    /// Adds the heaviest piece of the role furthest from its band until moves even everything out; the number of pieces
    /// if there are too many.
    fn grown(&self) -> Result<Option<Tried>, u64> {
        let mut cuts: Vec<Cut> = Vec::new();
        let mut best: Option<Tried> = None;
        let mut failed = 0;
        while cuts.len() < MOST {
            let (floor, mut role) = self.highest_floor(&cuts);
            if floor <= 1.0 && !cuts.is_empty() {
                let tried = self.tried(cuts.clone());
                let worst = tried.worst;
                role = self.highest(&tried.ratios);
                if best.as_ref().is_none_or(|best| worst < best.worst - BETTER) {
                    (best, failed) = (Some(tried), 0);
                } else {
                    failed += 1;
                }
                if worst <= 1.0 + 1e-9 || failed == FAILED {
                    return Ok(best);
                }
            }
            match self.next(role, &cuts) {
                Some(cut) => cuts.push(cut),
                None if best.is_none() && !cuts.is_empty() => return Ok(Some(self.tried(cuts))),
                None => return Ok(best),
            }
        }
        match best {
            None => Err(heavy(self.summary, &self.now.roles[self.pressing[0]]).len() as u64),
            best => Ok(best),
        }
    }

    /// The heaviest uncut piece of a role.
    fn next(&self, role: usize, cuts: &[Cut]) -> Option<Cut> {
        let role = &self.now.roles[role];
        let total: f64 = role.slots.iter().map(|load| *load as f64).sum();
        let capacity = self.cluster.capacity(&role.load.weights);
        let whole: f64 = capacity.iter().sum();
        let share = total * capacity.iter().copied().fold(0.0, f64::max) / whole;
        let is_new = |piece: &Piece| cuts.iter().all(|(cut, _)| !cut.is(piece));
        let mut pieces = heavy(self.summary, role).into_iter();
        let piece = pieces.find(|piece| is_new(piece) && !(self.is_left)(piece))?;
        let parts = piece.parts(share);
        Some((piece, parts))
    }

    /// Drops pieces that change no pressing role, lightest first.
    fn pruned(&self, mut best: Tried) -> Tried {
        for at in (0..best.cuts.len()).rev() {
            if best.cuts.len() < 2 {
                break;
            }
            let mut fewer = best.cuts.clone();
            fewer.remove(at);
            if self.highest_floor(&fewer).0 > best.worst.max(1.0) {
                continue;
            }
            let tried = self.tried(fewer);
            let is_same = |at: &usize| tried.ratios[*at] <= best.ratios[*at] + NOTHING;
            if self.pressing.iter().all(is_same) {
                best = tried;
            }
        }
        best
    }

    /// Chooses the number of parts so that the change alone raises no role; failing that, the smallest rise that moves
    /// undo.
    fn with_parts(&self, cuts: &[Cut], before: &[f64]) -> Option<Smallest<'a>> {
        let mut best: Option<(f64, Smallest<'a>)> = None;
        for additional in 0..=MORE_PARTS {
            let cuts: Vec<Cut> = cuts
                .iter()
                .map(|(piece, parts)| (piece.clone(), parts + additional))
                .collect();
            let after = split(self.summary, self.now, &cuts);
            let ratios = self.ratios(&after);
            let most = |at: usize| {
                if self.pressing.contains(&at) {
                    before[at]
                } else {
                    self.now.roles[at].bands.lower.max(before[at])
                }
            };
            let rises = (0..ratios.len()).map(|at| ratios[at] - most(at));
            let rise = rises.fold(f64::MIN, f64::max);
            if best.as_ref().is_none_or(|(least, _)| rise < least - 1e-9) {
                best = Some((
                    rise,
                    Smallest {
                        cuts,
                        after,
                        raises: rise > RISES,
                    },
                ));
            }
            if rise <= RISES {
                break;
            }
        }
        let (_, best) = best?;
        if best.raises {
            let then = self.moved(&best.after);
            let is_back = |at: usize| {
                then[at] <= self.now.roles[at].bands.lower.max(before[at]) + 2.0 * RISES
            };
            (0..then.len()).all(is_back).then_some(())?;
        }
        Some(best)
    }

    fn tried(&self, cuts: Vec<Cut>) -> Tried {
        let after = split(self.summary, self.now, &cuts);
        let ratios = self.moved(&after);
        let in_bands = self
            .pressing
            .iter()
            .map(|at| ratios[*at] / self.now.roles[*at].bands.lower);
        Tried {
            worst: in_bands.fold(0.0, f64::max),
            ratios,
            cuts,
        }
    }

    /// The ratios of all roles after moves.
    fn moved(&self, placement: &Placement<'a>) -> Vec<f64> {
        let request = request_of(self.summary, self.cluster, placement);
        let owner = match self.service {
            None => Some(plan_within(&request, WORK).owner),
            Some(service) if service.has_ranges => {
                plan_of_ranges(&request).map(|(_, plan)| plan.owner)
            }
            Some(_) => None,
        };
        let moved = owner.map(|owner| placement.with_owner(&owner));
        self.ratios(moved.as_ref().unwrap_or(placement))
    }

    fn ratios(&self, placement: &Placement<'a>) -> Vec<f64> {
        let roles = placement.roles.iter();
        roles
            .map(|role| placement.role_after(self.cluster, role).max_over_mean)
            .collect()
    }

    /// The role furthest above its band, and its ratio in bands.
    fn highest(&self, ratios: &[f64]) -> usize {
        let in_bands = |at: &&usize| ratios[**at] / self.now.roles[**at].bands.lower;
        let highest = self
            .pressing
            .iter()
            .max_by(|a, b| in_bands(a).total_cmp(&in_bands(b)));
        highest.copied().unwrap_or(0)
    }

    /// The role whose floor is furthest above its band, and that floor in bands.
    fn highest_floor(&self, cuts: &[Cut]) -> (f64, usize) {
        let after = split(self.summary, self.now, cuts);
        let request = request_of(self.summary, self.cluster, &after);
        let floors = floors(&request);
        let floor = |at: usize| {
            let metric = self.now.roles[at].load.measure.metric();
            let place = request.roles.iter().position(|role| role.metric == metric);
            place.map_or(0.0, |place| floors[place] / self.now.roles[at].bands.lower)
        };
        let highest = self
            .pressing
            .iter()
            .max_by(|a, b| floor(**a).total_cmp(&floor(**b)));
        highest.map_or((0.0, 0), |at| (floor(*at), *at))
    }
}
