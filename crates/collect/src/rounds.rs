//! Reads the slots of a cluster in rounds: many nodes at once, then again from the new owner whatever moved meanwhile.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;
use std::thread;
use std::time::{Duration, Instant};

use slotscope_base::error::{Error, Result};
use slotscope_base::slot::set::SlotSet;
use slotscope_base::text::counted;
use slotscope_read::source::collection::manifest::Level;
use slotscope_read::source::collection::servers::Role;

use crate::cluster::{Id, View};
use crate::crew;
use crate::members::Member;
use crate::node_file::NodeFile;
use crate::readers::{Reader, Readers};
use crate::readings::Asked;
use crate::scan;
use crate::series::Series;
use crate::task::{OnPage, Outcome, Page, Plan, Task};
use crate::watch::Watch;

/// Maximum rounds.
const ROUNDS: usize = 20;
/// In this many rounds, slots that moved after being read completely are reread, so that each node's file has its
/// slots.
const ROUNDS_OF_ALL: usize = 10;
/// Total time to wait for migrating slots and failovers.
const PATIENCE: Duration = Duration::from_secs(60);
/// Interval of messages about open slots being waited for.
const REMINDER: Duration = Duration::from_secs(10);
/// Interval between checks of the cluster state.
const STEP: Duration = Duration::from_millis(20);

/// Called with a node's progress, by name.
pub(crate) type OnNode<'a> = &'a (dyn Fn(&str, Page) + Sync);

/// A cluster collection in progress.
pub(crate) struct Rounds<'a, 'd> {
    /// How keys are read.
    pub plan: &'a Plan<'a>,
    /// The role of the nodes to read.
    pub from: Role,
    /// The slots to read.
    pub wanted: SlotSet,
    /// The owners of slots, kept up to date.
    pub watch: Watch<'a>,
    /// The nodes being read.
    pub readers: Readers<'d>,
    /// By slot: the index of the node it was read from, and its final key count.
    pub done: Vec<Option<Done>>,
    /// Attributes that servers did not provide.
    pub skipped: Vec<&'static str>,
    /// Number of tasks with sizes, and without permission for them.
    pub sizes: (u64, u64),
    /// Whether for some keys only names were read, because the cluster is down.
    pub names_only: bool,
    /// Primaries already reported as not answering.
    pub said: BTreeSet<String>,
    /// Writes counts over time meanwhile.
    pub series: Option<Series<'a>>,
}

/// A slot that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Done {
    /// The index of the node.
    pub reader: usize,
    /// The reply to COUNTKEYSINSLOT.
    pub count: u64,
}

/// A task of a round.
struct Assigned {
    owner: Id,
    reader: usize,
    task: Task,
}

impl Rounds<'_, '_> {
    /// Reads until every slot was read from its owner, or cannot be.
    ///
    /// # Errors
    /// A file cannot be written, or contact to the cluster was lost.
    pub(crate) fn run(&mut self, on_node: OnNode<'_>) -> Result<()> {
        let mut patience = PATIENCE;
        let plan = self.plan;
        let say = |view: &View, said: &mut _| {
            plan.outage.store(view.is_beyond_waiting(), Relaxed);
            say_unanswered(view, said, on_node);
        };
        say(&self.watch.view, &mut self.said);
        for round in 0..ROUNDS {
            let has_time = round < ROUNDS_OF_ALL;
            let needed = self.needed(has_time);
            if needed.is_empty() {
                break;
            }
            let mut tasks = self.assign(&self.watch.settled(&needed));
            if tasks.is_empty() {
                let start = Instant::now();
                let mut said = None;
                let mut on_wait =
                    |view: &View, left| say_open(view, &needed, left, &mut said, on_node);
                self.watch.settle(&needed, patience, &mut on_wait)?;
                patience = patience.saturating_sub(start.elapsed());
                tasks = self.assign(&self.watch.settled(&self.needed(has_time)));
            }
            if tasks.is_empty() {
                break;
            }
            self.watch.start();
            let outcomes = self.read(&tasks, on_node)?;
            say(&self.watch.view, &mut self.said);
            self.take(tasks, outcomes)?;
        }
        Ok(())
    }

    /// Owned slots not read yet; with `from_owner`, not read from their current owner.
    fn needed(&self, from_owner: bool) -> SlotSet {
        SlotSet::of(|slot| {
            let owner = self
                .watch
                .view
                .owner(slot)
                .filter(|_| self.wanted.contains(slot));
            owner.is_some_and(|owner| match self.done[usize::from(slot)] {
                None => true,
                Some(_) if !from_owner => false,
                Some(done) => {
                    let entry = &self.readers.list[done.reader].entry;
                    ![&entry.id, &entry.primary]
                        .iter()
                        .any(|id| id.as_deref() == Some(owner))
                }
            })
        })
    }

    /// Assigns slots to the nodes that read them.
    fn assign(&mut self, slots: &SlotSet) -> Vec<Assigned> {
        let view = &self.watch.view;
        let (mut tasks, mut assigned) = (Vec::new(), BTreeSet::new());
        for owner in view.owners() {
            let owned = view.slots_of(owner);
            let mut slots = owned.and(slots);
            let Some(member) = self.readers.choose(view, owner, self.from) else {
                continue;
            };
            let Some(address) = self.watch.address(member) else {
                continue;
            };
            let of_owner = view
                .members
                .get(&**owner)
                .filter(|_| member.role == Role::Replica);
            let primary = of_owner.and_then(|owner| self.watch.address(owner));
            let (role, reader) = (member.role, self.readers.index(member));
            let is_here = |slot: &u16| {
                self.done[usize::from(*slot)].is_some_and(|done| done.reader == reader)
            };
            let here: Vec<u16> = slots.iter().filter(is_here).collect();
            here.into_iter().for_each(|slot| slots.remove(slot));
            if !slots.is_empty() && assigned.insert(reader) {
                tasks.push(Assigned {
                    owner: owner.clone(),
                    reader,
                    task: Task {
                        address,
                        role,
                        primary,
                        slots,
                        owned,
                    },
                });
            }
        }
        tasks
    }

    /// Runs all tasks, many at once, while watching for changes.
    fn read(&mut self, tasks: &[Assigned], on_node: OnNode<'_>) -> Result<Vec<Result<Outcome>>> {
        let (plan, watch, series) = (self.plan, &mut self.watch, &mut self.series);
        let said = &mut self.said;
        let mut readers: BTreeMap<_, _> = self.readers.list.iter_mut().enumerate().collect();
        let tasks = tasks.iter().map(|assigned| {
            let reader = readers.remove(&assigned.reader);
            (&assigned.task, reader)
        });
        let tasks: Vec<(&Task, Option<&mut Reader<'_>>)> = tasks.collect();
        let lost = || Err(crew::ended());
        let mut outcomes: Vec<_> = tasks.iter().map(|_| lost()).collect();
        let run = |(task, reader): (&Task, Option<&mut Reader<'_>>)| {
            let Some(Reader { file, entry, .. }) = reader else {
                return lost();
            };
            let on_page = |page| on_node(&entry.name, page);
            carry_out(plan, task, file, &on_page)
        };
        let mut watched = Ok(());
        let meanwhile = || {
            // If no node answers, the scans end by themselves.
            if watch.poll_if_due() {
                plan.outage.store(watch.view.is_beyond_waiting(), Relaxed);
                say_unanswered(&watch.view, said, on_node);
            }
            if let (Some(series), Ok(())) = (series.as_mut(), &watched) {
                watched = series.tick(watch);
            }
        };
        let take = |at: usize, outcome| outcomes[at] = outcome;
        crew::each(tasks.into_iter(), run, take, meanwhile)?;
        watched?;
        // Changes up to the last page must be noticed.
        let none = SlotSet::none();
        self.watch.settle(&none, PATIENCE, &mut |_, _| {})?;
        Ok(outcomes)
    }

    /// Records the slots read, except those that moved meanwhile.
    fn take(&mut self, tasks: Vec<Assigned>, outcomes: Vec<Result<Outcome>>) -> Result<()> {
        for (
            Assigned {
                owner,
                reader,
                task,
            },
            outcome,
        ) in tasks.into_iter().zip(outcomes)
        {
            match outcome {
                // Failing to write a file is not a node's fault.
                Err(error @ Error::Io { .. }) => return Err(error),
                Err(error) => {
                    self.readers.list[reader].failed(&error);
                    self.readers.list[reader].file.leave_out(&task.slots);
                }
                Ok(outcome) => {
                    let is_void = |slot: u16| {
                        let has_moved = self.watch.disturbed().contains(slot)
                            || outcome.disturbed.contains(slot);
                        has_moved || self.watch.view.owner(slot) != Some(&owner)
                    };
                    let mut void = SlotSet::none();
                    let slots = task.slots.iter().filter(|slot| is_void(*slot));
                    slots.for_each(|slot| void.insert(slot));
                    let disturbed = self.watch.disturbed();
                    self.readers.list[reader].done(&outcome, disturbed);
                    self.readers.list[reader].file.leave_out(&void);
                    self.finish(reader, &task.slots, &void, &outcome);
                    self.names_only |= outcome.names_only;
                    let (given, refused) = &mut self.sizes;
                    *(if outcome.without_sizes {
                        refused
                    } else {
                        given
                    }) += 1;
                    self.skipped.extend(outcome.skipped);
                }
            }
        }
        Ok(())
    }

    /// Records slots as read, and voids their rows from earlier reads.
    fn finish(&mut self, reader: usize, slots: &SlotSet, void: &SlotSet, outcome: &Outcome) {
        let counts: BTreeMap<u16, u64> = outcome.counts.iter().copied().collect();
        let mut moved = BTreeMap::<usize, SlotSet>::new();
        for slot in slots.iter().filter(|slot| !void.contains(*slot)) {
            let count = counts.get(&slot).copied().unwrap_or(0);
            if let Some(before) = self.done[usize::from(slot)].replace(Done { reader, count }) {
                moved.entry(before.reader).or_default().insert(slot);
            }
        }
        for (at, slots) in moved.iter().filter(|(at, _)| **at != reader) {
            self.readers.list[*at].file.leave_out(slots);
        }
    }

    /// The servers whose own statistics matter: primaries, and nodes that slots are or were read from.
    pub(crate) fn servers(&self) -> Vec<Asked> {
        let view = &self.watch.view;
        // Owners that do not answer are recorded too.
        let owns = |member: &Member| view.owners().iter().any(|owner| **owner == *member.id);
        let is_asked = |member: &&Member| view.silence(&member.id).is_none() || owns(member);
        let members = view.members.values();
        let primaries = members.filter(|member| member.role == Role::Primary);
        let owners = view.owners().iter();
        let chosen = owners.filter_map(|owner| self.readers.choose(view, owner, self.from));
        let readers = self.readers.list.iter();
        let read = readers.filter_map(|reader| view.members.get(reader.entry.id.as_deref()?));
        let mut ids = BTreeSet::new();
        let server = |member: &Member| {
            let address = self.watch.address(member)?;
            ids.insert(member.id.clone()).then(|| Asked {
                id: Some(member.id.clone()),
                name: member.name.clone(),
                role: member.role,
                address,
                owned: SlotSet::none(),
            })
        };
        let candidates = primaries.chain(chosen).chain(read);
        candidates.filter(is_asked).filter_map(server).collect()
    }

    /// Writes the first lines, which show whether servers know the command.
    ///
    /// # Errors
    /// A server does not know the command, or the file cannot be written.
    pub(crate) fn begin_series(&mut self) -> Result<()> {
        match &mut self.series {
            Some(series) => series.tick(&self.watch),
            None => Ok(()),
        }
    }

    /// Writes the remaining lines.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn end_series(&mut self) -> Result<()> {
        let Some(series) = &mut self.series else {
            return Ok(());
        };
        while let Some(due) = series.due() {
            thread::sleep(due.min(STEP));
            // A node that does not answer leaves a gap in the series.
            self.watch.poll_if_due();
            series.tick(&self.watch)?;
        }
        Ok(())
    }

    /// Records which slots were read from which node; nodes without slots get no file.
    ///
    /// # Errors
    /// A file cannot be written or removed.
    pub(crate) fn conclude(&mut self, missing: &SlotSet) -> Result<()> {
        self.note_silent(missing);
        let lacking = self.watch.view.owners_of(missing);
        let mut totals = vec![(0, 0); self.readers.list.len()];
        for done in self.done.iter().flatten() {
            let (slots, keys) = &mut totals[done.reader];
            (*slots, *keys) = (*slots + 1, *keys + done.count);
        }
        for (reader, (slots, counted)) in self.readers.list.iter_mut().zip(totals) {
            let Reader { entry, file, .. } = reader;
            let primary = entry.primary.as_ref().or(entry.id.as_ref());
            entry.counted = (slots > 0).then_some(counted);
            // Another node may have been read instead of one that could not.
            entry.complete = !primary.is_some_and(|id| lacking.contains(&**id));
            file.tidy(slots > 0)?;
        }
        Ok(())
    }

    /// Records primaries that did not answer and whose slots are therefore missing.
    fn note_silent(&mut self, missing: &SlotSet) {
        let view = &self.watch.view;
        for owner in view.owners_of(missing) {
            if let (Some(member), Some(why)) = (view.members.get(owner), view.silence(owner)) {
                let slots = counted(view.slots_of(owner).len() as u64, "slot");
                let has_heir = view.replicas(owner).next().is_some();
                let state = if has_heir {
                    "has not been replaced by a replica"
                } else {
                    "has no replica"
                };
                let reason = format!("{why}; it {state}, and its {slots} are not served");
                let reader = self.readers.index(member);
                self.readers.list[reader].entry.error.get_or_insert(reason);
            }
        }
    }

    /// Why nothing at all was read, if so.
    pub(crate) fn nothing_read(&self) -> Option<Error> {
        let is_empty = self.done.iter().all(Option::is_none);
        let mut errors = self
            .readers
            .list
            .iter()
            .filter_map(|reader| reader.entry.error.as_ref());
        let first = errors.next().filter(|_| is_empty)?;
        let (place, reason) = first.split_once(": ").unwrap_or(("collect", first));
        Some(Error::bad(place, reason))
    }

    /// Owned slots that were not read.
    pub(crate) fn missing(&self) -> SlotSet {
        SlotSet::of(|slot| {
            let has_owner = self.watch.view.owner(slot).is_some() && self.wanted.contains(slot);
            has_owner && self.done[usize::from(slot)].is_none()
        })
    }
}

/// Maximum number of silent primaries that are named; the others are counted.
const NAMED: usize = 3;

/// Reports the primaries that do not answer, once.
fn say_unanswered(view: &View, said: &mut BTreeSet<String>, on_node: OnNode<'_>) {
    let slots = |member: &Member| view.slots_of(&member.id).len() as u64;
    let new = view.unanswered();
    let new: Vec<_> = new
        .filter(|(member, _)| said.insert(member.id.clone()))
        .collect();
    for (member, has_heir) in new.iter().take(NAMED) {
        let page = if *has_heir {
            Page::Awaited(slots(member))
        } else {
            Page::Lost(slots(member))
        };
        on_node(&member.name, page);
    }
    let mut more = new.iter().skip(NAMED).map(|(member, _)| member);
    if let Some(first) = more.next() {
        let others = more.clone().count() as u64;
        let slots = slots(first) + more.map(|member| slots(member)).sum::<u64>();
        on_node(&first.name, Page::AlsoSilent { others, slots });
    }
}

/// Reports occasionally, for each primary, which of its `slots` are open and for how long.
fn say_open(
    view: &View,
    needed: &SlotSet,
    left: Duration,
    said: &mut Option<Instant>,
    on_node: OnNode<'_>,
) {
    if said.is_some_and(|said| said.elapsed() < REMINDER) {
        return;
    }
    *said = Some(Instant::now());
    for owner in view.owners() {
        let needed = view.slots_of(owner).and(needed);
        let mut open = needed.iter().filter(|slot| view.is_in_flight(*slot));
        if let (Some(first), Some(member)) = (open.next(), view.members.get(&**owner)) {
            let page = Page::Open {
                first,
                slots: 1 + open.count() as u64,
                secs: left.as_secs_f64().round() as u64,
            };
            // A command to paste needs the address: an announced name may not resolve here.
            let place = member.address.as_ref().map(ToString::to_string);
            on_node(place.as_ref().unwrap_or(&member.name), page);
        }
    }
}

/// Reads or counts the keys of a task.
fn carry_out(
    plan: &Plan<'_>,
    task: &Task,
    file: &mut NodeFile<'_>,
    on_page: OnPage<'_>,
) -> Result<Outcome> {
    match plan.level {
        Level::Slots => scan::counts(plan, task),
        Level::Sizes | Level::Keys => scan::keys(plan, task, file, on_page),
    }
}
