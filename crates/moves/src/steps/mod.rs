//! Remedies: one ordered list of steps for all findings, each computed on the result of the previous ones.
//!
//! Repairs come first, and end the list while slots are unserved or the dump is incomplete. Then come immediate
//! remedies without moves, the one plan of moves, application changes, the moves due after those, and more nodes if a
//! limit is near. A step that moves slots is the plan of its request: `slotscope plan` on the same input gives the same
//! plan.

mod application;
mod change;
mod commands;
mod left;
mod moves;
mod pieces;
mod raised;
mod repair;
mod service;

pub use commands::{Commands, MEASURING};
pub use service::Service;

use crate::plan::block_time::{BlockingKey, MAX_BLOCK, blocking_keys};
use crate::plan::cluster::{Cluster, MoveFlags};
use crate::plan::placement::{PlacedRole, Placement};
use crate::steps::application::Change;
use crate::steps::repair::{frees, more_nodes, repairs, step, take_again};
use crate::wording as said;
use slotscope_base::metric::Metric;
use slotscope_base::name::Name;
use slotscope_findings::summary::observed::Observed;
use slotscope_findings::summary::processes;
use slotscope_model::Summary;
use slotscope_model::finding::{Finding, FindingKind};
use slotscope_model::integrity::{Damage, Integrity};
use slotscope_model::limit;
use slotscope_model::measure::Measure;
use slotscope_model::state::{Role, State};
use slotscope_model::step::{Actor, After, Frees, Left, Step, StepKind};
use slotscope_topology::Topology;

/// A slot of this many fair shares is hot.
const HOT_SLOT: f64 = 0.5;
/// A list with this part of the moves of another moves clearly less.
const FEWER: f64 = 0.8;
/// Keys of a hot slot that are named where none is known to be hot.
const LIKELY: usize = 1;

/// Adds the steps to the verdict of a summary, and links its findings to them.
pub fn add(summary: &mut Summary, topology: &Topology, observed: &Observed, commands: &Commands) {
    let cluster = || {
        let flags = MoveFlags {
            // If slots migrate as a whole, no single key blocks.
            max_block: (!commands.migration.is_atomic()).then_some(MAX_BLOCK),
            ..MoveFlags::default()
        };
        let cluster = flags.on(topology)?;
        cluster.pinning(summary)
    };
    let (list, left, is_actionable) = match cluster() {
        Ok(today) => {
            let steps = Steps::of(summary, topology, observed, commands, today);
            match steps.raise().zip(cluster().ok()) {
                None => (steps.list, steps.left, steps.is_actionable),
                Some((raise, cluster)) => {
                    let (list, left) = steps.after_raise(raise, observed, cluster);
                    (list, left, true)
                }
            }
        }
        // No primary is up.
        Err(_) => {
            let list = repairs(summary, topology, commands, &After::default());
            let is_actionable = !list.is_empty();
            (list, Vec::new(), is_actionable)
        }
    };
    let verdict = &mut summary.verdict;
    verdict.actionable = is_actionable && list.iter().any(|step| step.by == Actor::Operator);
    for (at, step) in list.iter().enumerate() {
        for finding in &mut verdict.findings {
            if step.findings.contains(&finding.id) && !finding.steps.contains(&at) {
                finding.steps.push(at);
            }
        }
    }
    (verdict.steps, verdict.left) = (list, left);
}

/// The steps so far, and the placement they lead to.
struct Steps<'a> {
    summary: &'a Summary,
    topology: &'a Topology,
    commands: &'a Commands,
    cluster: Cluster<'a>,
    keys: Vec<BlockingKey>,
    today: Placement<'a>,
    now: Placement<'a>,
    list: Vec<Step>,
    left: Vec<Left>,
    is_actionable: bool,
}

impl<'a> Steps<'a> {
    fn of(
        summary: &'a Summary,
        topology: &'a Topology,
        observed: &'a Observed,
        commands: &'a Commands,
        cluster: Cluster<'a>,
    ) -> Self {
        let now = Placement::today(summary, &cluster);
        let today = now.after(&cluster);
        let list = repairs(summary, topology, commands, &today);
        let mut steps = Steps {
            is_actionable: !list.is_empty(),
            keys: blocking_keys(summary),
            left: Vec::new(),
            summary,
            topology,
            commands,
            cluster,
            today: now.clone(),
            now,
            list,
        };
        let verdict = &summary.verdict;
        let mut findings = verdict.findings.iter();
        let has_dump = |evidence: &Integrity| evidence.kind != Damage::EmptyServer;
        let is_suspicious = findings.any(|finding| finding.kind == FindingKind::Suspicious)
            && verdict.integrity.iter().any(has_dump);
        // A dump that may lack keys cannot be planned for.
        let is_doubtful = summary.input.doubt.is_some()
            && verdict.roles.iter().any(|role| role.state.is_uneven());
        if is_suspicious || is_doubtful {
            steps.list.push(take_again(summary, &today));
        }
        match verdict.state {
            State::Down | State::Suspicious => {}
            _ => steps.add_all(observed, is_doubtful),
        }
        steps
    }

    fn add_all(&mut self, observed: &Observed, is_doubtful: bool) {
        let today = self.now.after(&self.cluster);
        let frees = frees(self.summary, observed, self.commands, &today);
        let (of_node, of_data): (Vec<Step>, Vec<Step>) = frees.into_iter().partition(is_of_node);
        self.list.extend(of_node);
        if is_doubtful {
            self.list.extend(of_data);
            return;
        }
        let find = self.find_key(&today);
        self.list.extend(find);
        let is_at_limit = self.is_near_limit(Role::Memory);
        let cache = self.cache();
        if !is_at_limit {
            self.push_cache(cache.as_ref());
        }
        let cached = cache.as_ref().and_then(|cache| cache.after.clone());
        // No slot moves for what a cache answers.
        match cached.clone().filter(|_| !is_at_limit) {
            Some(after) => {
                self.now = after;
                if let Some((mut moves, after)) = self.moves_after(true) {
                    moves.command = self.without_load();
                    self.now = after;
                    self.list.push(moves);
                }
                self.add_changes();
            }
            None if is_at_limit => {
                self.add_first_moves();
                // The owners are those after the moves.
                let cache = cache.map(|cache| Change {
                    after: cache.after.map(|after| after.with_owner(&self.now.owner)),
                    ..cache
                });
                self.push_cache(cache.as_ref());
                // If moves fixed the limit, no data has to go.
                let is_still_full = self.is_near_limit(Role::Memory);
                let then = self.now.after(&self.cluster);
                let of_data = of_data.into_iter().filter(|_| is_still_full);
                self.list.extend(of_data.map(|step| Step {
                    after: then.clone(),
                    ..step
                }));
                if let Some(after) = cached {
                    for (role, cured) in self.now.roles.iter_mut().zip(after.roles) {
                        role.slots = cured.slots;
                    }
                }
                self.add_changes();
            }
            None => self.add_moves_and_changes(),
        }
        let additional = more_nodes(self.summary, self.commands);
        let is_near = [Role::Memory, Role::Load]
            .into_iter()
            .any(|role| self.is_near_limit(role));
        self.list.extend(additional.filter(|_| is_near));
        self.add_left();
    }

    /// The moves due today and the changes after them; or the changes first where these reach as much with clearly fewer
    /// moves, and no node is at a limit, which cannot wait for a change.
    fn add_moves_and_changes(&mut self) {
        let (now, steps, is_actionable) = (self.now.clone(), self.list.len(), self.is_actionable);
        self.add_first_moves();
        let has_moved = self.list.len() > steps;
        self.add_changes();
        let is_change = |step: &Step| step.by == Actor::Application;
        let has_changed = self.list[steps..].iter().any(is_change);
        if !has_moved || !has_changed || self.is_urgent(&now) {
            return;
        }
        let moves_first = self.list.split_off(steps);
        let after = std::mem::replace(&mut self.now, now);
        let was_actionable = std::mem::replace(&mut self.is_actionable, is_actionable);
        self.add_changes();
        let change_first = &self.list[steps..];
        let slots = |list: &[Step]| list.iter().map(|step| step.slots_moved).sum::<u64>();
        let is_known = |step: &Step| is_change(step) && step.after != After::default();
        let is_better = change_first.iter().any(is_known)
            && self.reached(&self.now) <= self.reached(&after)
            && slots(change_first) as f64 <= FEWER * slots(&moves_first) as f64;
        if is_better {
            self.is_actionable |= !change_first.iter().all(is_change);
        } else {
            self.list.truncate(steps);
            self.list.extend(moves_first);
            (self.now, self.is_actionable) = (after, was_actionable);
        }
    }

    /// Whether a node is above its limit of memory or at one core.
    fn is_urgent(&self, today: &Placement<'_>) -> bool {
        let roles = today.roles.iter();
        let mut states = roles.map(|role| today.role_after(&self.cluster, role).state);
        states.any(|state| state == State::Limit)
    }

    /// The outcome of a list of steps: roles at a limit, roles above their bands, and by how much. Lower is better.
    fn reached(&self, then: &Placement<'_>) -> (usize, usize, u64) {
        let judged = || then.roles.iter().filter(|role| role.is_judged);
        let ratio = |role: &PlacedRole<'_>| then.role_after(&self.cluster, role);
        let at_limit = judged().filter(|role| ratio(role).state == State::Limit);
        let above = judged().filter(|role| ratio(role).max_over_mean > role.bands.lower);
        let heights = judged().map(|role| ratio(role).max_over_mean / role.bands.lower - 1.0);
        let height: f64 = heights.map(|height| height.max(0.0)).sum();
        let steps = (height / limit::WORTH) as u64;
        (at_limit.count(), above.count(), steps)
    }

    /// The command of moves for memory alone, where a cache leaves next to no load.
    fn without_load(&self) -> Option<Name> {
        let mut roles = self.now.roles.iter();
        let load = roles.find(|role| role.load.role == Some(Role::Load))?;
        let is_idle = self.now.role_after(&self.cluster, load).state == State::Unjudged;
        let command = self.commands.plan_by(Metric::Bytes, self.topology);
        command.filter(|_| is_idle)
    }

    /// Whether a node is near a limit after the steps so far. Steps do not change roles that are not compared.
    fn is_near_limit(&self, role: Role) -> bool {
        let findings = self.summary.verdict.findings.iter();
        let mut near = findings.filter(|finding| finding.kind == FindingKind::NearLimit);
        near.any(|finding| {
            let mut roles = self.now.roles.iter();
            let placed = roles.find(|placed| placed.load.role == finding.role);
            let state = placed.map(|placed| self.now.role_after(&self.cluster, placed).state);
            finding.role == Some(role) && state.is_none_or(|state| state == State::Limit)
        })
    }

    /// Finds out which key it is where load by slot, or by node alone, shows a hot one without its name.
    fn find_key(&self, today: &After) -> Option<Step> {
        let text = match processes::skewed(self.summary) {
            Some(_) => said::find_key(None, &[], 0),
            None => self.find_key_of_slot()?,
        };
        Some(Step {
            findings: self.skews(|finding| finding.role == Some(Role::Load)),
            command: self.commands.monitor(self.topology),
            ..step(StepKind::Measure, text, today)
        })
    }

    /// The same of the hottest slot, where it is much of an uneven load.
    fn find_key_of_slot(&self) -> Option<String> {
        let mut roles = self.now.roles.iter();
        let role = roles.find(|role| role.load.measure == Measure::Cpu && role.is_judged)?;
        if !self.now.role_after(&self.cluster, role).state.is_uneven() {
            return None;
        }
        let total: f64 = role.slots.iter().map(|load| *load as f64).sum();
        let share = total / role.load.compared.len().max(1) as f64;
        let slots = (0u16..).zip(&role.slots);
        let (slot, load) = slots.max_by_key(|(_, load)| **load)?;
        if (*load as f64) < HOT_SLOT * share || !self.units_in(role, slot).is_empty() {
            return None;
        }
        let hot = self.summary.hot_slots.iter().find(|hot| hot.slot == slot);
        let listed = hot.map_or(&[][..], |hot| &hot.listed);
        let likely = listed.iter().take(LIKELY).map(|key| (&key.key, key.bytes));
        let likely: Vec<_> = likely.collect();
        let keys = hot.map_or(0, |hot| hot.keys);
        Some(said::find_key(Some(slot), &likely, keys))
    }

    fn push_cache(&mut self, cache: Option<&Change<'a>>) {
        if let Some(cache) = cache {
            let findings = self.skews(|finding| finding.role == Some(Role::Load));
            let after = cache.after.as_ref().map(|after| after.after(&self.cluster));
            let mut after = after.unwrap_or_default();
            // The load that is left may be less even, although it is less on every node.
            let now = self.now.after(&self.cluster).load;
            if now
                .zip(after.load)
                .is_some_and(|(now, then)| then.max_over_mean > now.max_over_mean)
            {
                after.load = None;
            }
            self.list.push(Step {
                findings,
                estimated: cache.after.is_some(),
                ..step(cache.kind, cache.text.clone(), &after)
            });
        }
    }

    /// The moves due today. On a managed service a backup is restored only once, so after application changes if any
    /// are needed.
    fn add_first_moves(&mut self) {
        let (now, steps, is_actionable) = (self.now.clone(), self.list.len(), self.is_actionable);
        self.add_moves();
        if self.commands.service().is_some() && self.change().is_some() {
            self.list.truncate(steps);
            (self.now, self.is_actionable) = (now, is_actionable);
        }
    }

    /// Application changes, and the moves due after them.
    fn add_changes(&mut self) {
        let Some(change) = self.change() else { return };
        let mut row = self.change_row(&change);
        row.alternatives = self.finer_tags(&change).into_iter().collect();
        let Some(after) = change.after.clone() else {
            self.wait_for(&change);
            self.list.push(row);
            return;
        };
        let before = std::mem::replace(&mut self.now, after);
        let moves = self.moves_after(true);
        if change.raises {
            // Alone it makes a role worse, so it is a step only with moves that undo that.
            let Some((moves, placement)) = &moves else {
                self.now = before;
                return;
            };
            row.sentence = said::split(&change.pieces, true, change.is_written);
            row.slots_moved = moves.slots_moved;
            row.bytes_moved = moves.bytes_moved;
            row.keys_moved = moves.keys_moved;
            row.longest_block_ms = moves.longest_block_ms;
            row.after = moves.after.clone();
            self.now = placement.clone();
        }
        self.wait_for(&change);
        row.findings = self.skews(|finding| self.is_improved([&before, &self.now], finding));
        self.list.push(row);
        if let Some((mut moves, placement)) = moves.filter(|_| !change.raises) {
            // The names of tomorrow decide how many.
            moves.sentence = said::EVEN_OUT.into();
            self.list.push(moves);
            self.now = placement;
        }
    }

    /// Marks the last moves as those until a change that comes next, where they cannot wait for it.
    fn wait_for(&mut self, change: &Change<'a>) {
        let at = self.list.len();
        // Other moves are of use after the change, too.
        let is_urgent = self.is_urgent(&self.today);
        let mut moves = self.list.iter_mut();
        let moves = moves.rfind(|step| step.kind == StepKind::Move);
        if let Some(moves) = moves.filter(|step| is_urgent && step.command.is_some()) {
            moves.until = Some(at);
            if let Some((name, kind, _)) = change.pieces.first() {
                moves.sentence = said::until_split(name, *kind, &moves.sentence);
            }
        }
    }

    fn pressing_metric(&self) -> Metric {
        let pressing = self.pressing().into_iter().next();
        let role = self.now.roles.get(pressing.unwrap_or(0));
        role.map_or(Metric::default(), |role| role.load.measure.metric())
    }

    /// Suggests finer tags instead of splitting tags, or of none; `advise` finds out which, and whether commands need them.
    fn finer_tags(&self, change: &Change<'a>) -> Option<Step> {
        let command = self.commands.advise(self.pressing_metric())?;
        let text = "put a finer part of those names in braces (in the application)";
        let finer = Step {
            command: Some(command),
            ..step(StepKind::ChooseTags, text, &After::default())
        };
        (!change.split.is_empty() || change.untag.is_some()).then_some(finer)
    }

    fn change_row(&self, change: &Change<'a>) -> Step {
        let metric = self.pressing_metric();
        let command = match (&change.untag, change.split.as_slice()) {
            _ if change.kind == StepKind::RenameTags => self.commands.advise(metric),
            // Names cannot be judged by what only slots have.
            _ if !self.is_of_names(metric) => None,
            (Some(tag), _) => self.commands.untag(tag, metric),
            (None, []) => None,
            (None, tags) => self.commands.split(tags, metric),
        };
        let after = change
            .after
            .as_ref()
            .map(|after| after.after(&self.cluster));
        // The command does not know about the steps before it.
        let is_first = self.now.owner == self.today.owner;
        let alone = change
            .alone
            .as_ref()
            .filter(|_| !is_first && command.is_some());
        Step {
            alone: alone.map(|alone| alone.after(&self.cluster)),
            command,
            estimated: true,
            split: change.pieces.clone(),
            ..step(change.kind, change.text.clone(), &after.unwrap_or_default())
        }
    }

    /// Whether tags have a load in this metric.
    fn is_of_names(&self, metric: Metric) -> bool {
        let mut tags = self.summary.tags.iter().flat_map(|tags| &tags.top);
        tags.any(|tag| tag.load.get(metric).is_some())
    }

    /// Whether the role of a finding improves.
    fn is_improved(&self, [before, after]: [&Placement<'_>; 2], finding: &Finding) -> bool {
        let roles = before.roles.iter().zip(&after.roles);
        roles
            .filter(|(then, _)| then.load.role == finding.role)
            .any(|(then, now)| {
                let ratio = |placement: &Placement<'_>, role| {
                    placement.role_after(&self.cluster, role).max_over_mean
                };
                ratio(before, then) - ratio(after, now) >= limit::WORTH
            })
    }

    /// Ids of findings about uneven nodes or nodes at a limit.
    fn skews(&self, is_wanted: impl Fn(&Finding) -> bool) -> Vec<String> {
        let findings = self.summary.verdict.findings.iter();
        let skews = findings.filter(|finding| {
            matches!(finding.kind, FindingKind::Skew | FindingKind::NearLimit) && is_wanted(finding)
        });
        skews.map(|finding| finding.id.clone()).collect()
    }
}

/// Whether a step frees memory on a node without touching data.
fn is_of_node(step: &Step) -> bool {
    step.frees == Some(Frees::Buffers)
}
