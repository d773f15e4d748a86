//! A plan as sections: its effect, its basis, nodes before and after, moves.

use slotscope_base::metric::{Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::text::{
    self, amount, and_more, bytes, counted, list, percent, plural, ranges, short_id,
};
use slotscope_findings::wording::finding::about;
use slotscope_model::node_labels::SharedParts;
use slotscope_model::state::Role;
use slotscope_model::words::{ratio, times};
use slotscope_moves::plan::block_time::BlockingKey;
use slotscope_moves::plan::duration;
use slotscope_moves::plan::goal_outcome::{FloorKind, FloorUnit, GoalOutcome};
use slotscope_moves::plan::node_outcome::{Change, NodeOutcome};
use slotscope_moves::plan::outcome::{MoveOutcome, PlanOutcome};
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Cell, Column, Section, Table, remarks};

/// If the fullest node exceeds the target by this factor, heavy slots keep it there.
const HEAVY: f64 = 1.05;
/// Maximum ranges shown per move; all are in the JSON and the script.
const RANGES: usize = 12;
/// Maximum nodes and moves shown.
pub(crate) const ROWS: usize = 60;
/// Maximum big keys shown.
const BIG_KEYS: usize = 20;

/// Figures this close are printed alike.
const NEARLY: f64 = 0.005;
/// A key that blocks its nodes for less is not worth a word.
const LONG_BLOCK_MS: u64 = 10;

/// The sections of a plan; `instead` is the suggested fix if a managed service does not move slots. Keys block a node unless
/// servers move slots as a whole.
pub(crate) fn sections(
    outcome: &PlanOutcome,
    instead: Option<String>,
    is_atomic: bool,
) -> Vec<Section<'_>> {
    let mut top = Section::untitled().paragraph(headline(outcome));
    let reasons = outcome
        .goals
        .iter()
        .filter_map(|goal| goal.reason.as_deref());
    for text in leftovers(outcome)
        .chain(empty_today(outcome))
        .chain(empty_then(outcome))
        .chain(reasons.map(String::from))
        .chain(floor(outcome))
        .chain([basis(outcome)])
    {
        top = top.paragraph(text);
    }
    if !outcome.moves.is_empty() {
        let duration = || (!is_atomic).then(|| setslot_duration(outcome));
        top = instead
            .or_else(duration)
            .into_iter()
            .fold(top, Section::paragraph);
    }
    vec![
        top,
        Section::untitled().table(goals(outcome)),
        Section::untitled().table(nodes(outcome)),
        moves(outcome),
        blocking(
            "Slots that stay: moving this key blocks a node for too long (--move-big moves it)",
            &outcome.pinned,
        ),
        blocking(
            "Large keys that move: MIGRATE blocks both nodes while it copies one key",
            if is_atomic { &[] } else { &outcome.big_keys },
        ),
        remarks::section(remarks::remarks(&outcome.warnings, &[])),
    ]
}

/// The moves, and their effect; first of all, why nobody should trust them.
pub(crate) fn headline(outcome: &PlanOutcome) -> String {
    let effect = effect(outcome);
    match &outcome.forced {
        Some(why) => format!("by --force, although {why}: {effect}"),
        None => effect,
    }
}

fn effect(outcome: &PlanOutcome) -> String {
    let removed: Vec<Name> = removed(outcome).map(node_name).collect();
    let ratios = changes(roles(outcome));
    if outcome.moves.is_empty() {
        let why = if outcome.limited {
            " within the limits"
        } else {
            ""
        };
        let is_unmet = roles(outcome).any(|goal| !goal.met);
        let worth = if is_unmet && !outcome.limited {
            "; no plan was found that is worth its moves"
        } else {
            ""
        };
        return format!("nothing to move{why}: the fullest node {ratios}{worth}");
    }
    let ranges: usize = outcome.moves.iter().map(|job| job.ranges.len()).sum();
    let (empty, fullest) = if removed.is_empty() {
        (String::new(), "the fullest node")
    } else {
        (
            format!("empty {}: ", list(removed.iter(), ROWS)),
            "the fullest of the nodes that stay",
        )
    };
    let limited = if outcome.limited && leftovers(outcome).next().is_none() {
        "; the limits keep it from less"
    } else {
        ""
    };
    let relief = if outcome.request.relief {
        "; this only makes room: to even out, collect and plan again once it has moved"
    } else {
        ""
    };
    let lifted = outcome.request.before_even();
    let lifted = lifted.map_or(String::new(), |lifted| format!("; {lifted}"));
    format!(
        "{empty}move {} in {}{}: {fullest} {ratios}{limited}{lifted}{relief}",
        counted(outcome.slots_moved as u64, "slot"),
        counted(ranges as u64, "range"),
        moved(outcome),
    )
}

/// The goals that are roles rather than limits.
fn roles(outcome: &PlanOutcome) -> impl Iterator<Item = &GoalOutcome> {
    outcome.goals.iter().filter(|goal| goal.role.is_some())
}

/// `goes from 1.24× to 1.03× its share of keys and from 1.31× to 1.10× its share of ops`
fn changes<'a>(goals: impl Iterator<Item = &'a GoalOutcome>) -> String {
    let (mut text, mut verb) = (String::new(), "");
    for goal in goals {
        let [before, after] = [goal.before, goal.after].map(times);
        let (its_verb, change) = if before == after {
            ("stays at ", after)
        } else {
            ("goes ", format!("from {before} to {after}"))
        };
        let and = if text.is_empty() { "" } else { " and " };
        let new_verb = if its_verb == verb { "" } else { its_verb };
        text += &format!("{and}{new_verb}{change} its share of {}", goal.noun());
        verb = its_verb;
    }
    text
}

/// How exactly a goal is met, in words; empty for exactly, `None` if it is not met.
fn how_met(goal: &GoalOutcome) -> Option<String> {
    let how = match goal.after - goal.target {
        // A slot heavier than a share determines its node's target.
        _ if goal.after > HEAVY * goal.target => "but for heavy slots".into(),
        // Another plan would not be worth its moves.
        above if above > NEARLY => format!("to {above:.2}"),
        _ => String::new(),
    };
    goal.met.then_some(how)
}

/// `memory (bytes)`
fn goal_name(goal: &GoalOutcome) -> String {
    let name = goal.role.map_or("maxmemory", Role::name);
    format!("{name} ({})", goal.noun())
}

/// The goals: targets, and what the plan achieves.
fn goals(outcome: &PlanOutcome) -> Table<'_> {
    let met = |goal: &GoalOutcome| match how_met(goal) {
        Some(how) if how.is_empty() => "yes".into(),
        Some(how) => how,
        None if outcome.request.relief && goal.limit.is_none() => "later".into(),
        None if outcome.limited => "limited".into(),
        None => "not found".into(),
    };
    let ratio = |fair_shares: f64| Cell::text(ratio(fair_shares));
    Table::of(&outcome.goals)
        .column(Column::words("goal").rank(Rank::Main), |goal| {
            Cell::text(goal_name(goal))
        })
        .column(Column::number("target"), |goal| ratio(goal.target))
        .column(Column::number("before"), |goal| ratio(goal.before))
        .column(Column::number("after").rank(Rank::Main), |goal| {
            ratio(goal.after)
        })
        .column(Column::words("met"), |goal| Cell::text(met(goal)))
        .build()
}

/// The nodes to be emptied.
fn removed(outcome: &PlanOutcome) -> impl Iterator<Item = &NodeOutcome> {
    let is_removed = |node: &&NodeOutcome| node.weight <= 0.0 && !node.failed;
    outcome.nodes.iter().filter(is_removed)
}

/// The slots left on nodes to be emptied.
fn leftovers(outcome: &PlanOutcome) -> impl Iterator<Item = String> {
    let kept = removed(outcome).filter(|node| node.slots.after > 0);
    kept.map(|node| {
        let keys = node.load.keys.map_or(String::new(), |keys| {
            let before = counted(keys.before, "key");
            format!(" with {} of its {before}", text::grouped(keys.after))
        });
        let why = if outcome.limited {
            "the limits leave"
        } else {
            "no plan was found that does not leave"
        };
        format!(
            "{} is not emptied: {why} it {}{keys}",
            node_name(node),
            counted(node.slots.after as u64, "slot"),
        )
    })
}

/// Primaries without slots count for fair shares here but not in a report, so the numbers differ.
fn empty_today(outcome: &PlanOutcome) -> Option<String> {
    let (_, names) = empty(outcome, |slots| slots.before)?;
    Some(format!(
        "fair shares are those with primaries that own no slots today: {names}"
    ))
}

/// Nodes that stay without slots although they could take some.
fn empty_then(outcome: &PlanOutcome) -> Option<String> {
    let (count, names) = empty(outcome, |slots| slots.after)?;
    let gets = if count == 1 { "gets" } else { "get" };
    Some(format!(
        "{names} {gets} no slots: no move there was found that lowers the fullest of the other nodes"
    ))
}

/// How many nodes that stay have no slots, and their names.
fn empty(outcome: &PlanOutcome, slots: fn(Change<usize>) -> usize) -> Option<(usize, String)> {
    let is_empty = |node: &&NodeOutcome| slots(node.slots) == 0 && node.weight > 0.0;
    let empty = outcome.nodes.iter().filter(is_empty).map(node_name);
    let empty: Vec<Name> = empty.collect();
    (!empty.is_empty()).then(|| (empty.len(), list(empty.iter(), RANGES)))
}

/// ` (3 keys, 12 KiB)`, without unknown amounts.
fn moved(outcome: &PlanOutcome) -> String {
    let keys = outcome.keys_moved.map(|keys| counted(keys, "key"));
    in_parentheses([keys, outcome.bytes_moved.map(bytes)])
}

/// Known amounts after a blank; nothing if there are none.
fn in_parentheses(amounts: [Option<String>; 2]) -> String {
    match amounts.into_iter().flatten().collect::<Vec<_>>() {
        amounts if amounts.is_empty() => String::new(),
        amounts => format!(" ({})", amounts.join(", ")),
    }
}

/// The basis of the plan, and its unknowns.
pub(crate) fn basis(outcome: &PlanOutcome) -> String {
    let are_all_guards = roles(outcome).all(|goal| goal.guard);
    let judged = roles(outcome).filter(|goal| are_all_guards || !goal.guard);
    let judged: Vec<&GoalOutcome> = judged.collect();
    let goals: Vec<&str> = judged.iter().map(|goal| goal.noun()).collect();
    let basis = format!("judged by {}", goals.join(", then by "));
    if outcome.keys_moved.is_none() {
        return format!(
            "{basis}: captures do not say which keys there are, so keys and memory are unknown"
        );
    }
    if judged.iter().any(|goal| goal.of_servers) {
        return format!(
            "{basis}, which is taken to be spread over the slots of a node as its keys are: the input has no sizes of keys"
        );
    }
    match (outcome.bytes_moved, goals.contains(&Metric::Bytes.name())) {
        (None, _) => format!(
            "{basis} only: the dump has no sizes, so memory is unknown, and a key of many megabytes counts as one key"
        ),
        (Some(_), false) => format!("{basis}; --by bytes plans for memory"),
        (Some(_), true) => basis,
    }
}

/// ` (12 MiB, 400,000 elements)`
pub(crate) fn size_of(key: &BlockingKey) -> String {
    let elements = key.elements.map(|elements| counted(elements, "element"));
    in_parentheses([key.bytes.map(bytes), elements])
}

/// How long the setslot script takes.
fn setslot_duration(outcome: &PlanOutcome) -> String {
    if outcome.keys_moved.is_none() {
        return "how long it takes is up to the keys, which are not known".into();
    }
    let unknown = match outcome.bytes_moved {
        Some(_) => "",
        None => "; longer where values are large, which the dump does not say",
    };
    let longest = outcome
        .longest_block_ms
        .filter(|millis| *millis >= LONG_BLOCK_MS)
        .map_or_else(String::new, |millis| {
            format!(
                "; its largest key blocks two nodes for {}",
                about(millis as f64)
            )
        });
    format!(
        "--commands setslot takes about {} on quiet nodes ({}){unknown}{longest}",
        span(outcome.estimated_secs),
        duration::BASIS
    )
}

/// A rounded duration in words.
fn span(secs: f64) -> String {
    match secs {
        s if s < 90.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

/// The lower bound of any plan, and why; `None` if it is just the mean.
fn floor(outcome: &PlanOutcome) -> Option<String> {
    let unit = outcome.floor_unit.as_ref()?;
    let floor = outcome.floor.values().copied().find(|floor| *floor > 1.0)?;
    let least = format!("no plan gets it below {floor:.2}");
    let FloorUnit {
        kind,
        name,
        slot,
        share,
    } = unit;
    Some(match kind {
        FloorKind::Slots => format!("{least}: {name} slots have to share a node"),
        FloorKind::Slot => format!("{least}: slot {name} cannot be split"),
        FloorKind::Tag | FloorKind::Key => {
            let unit = match kind {
                FloorKind::Tag => format!("tag {{{}}}", text::short(name)),
                _ => format!("key {}", text::short(name)),
            };
            let slot = slot.map_or(String::new(), |slot| format!(" of slot {slot}"));
            let share = share.map_or(String::new(), |share| {
                format!(", {}{slot},", percent(share))
            });
            format!("{least}: the {unit}{share} cannot be split")
        }
    })
}

/// The nodes, with each amount before and after in one cell.
fn nodes(outcome: &PlanOutcome) -> Table<'_> {
    let first = outcome.nodes.first();
    let loads = first.iter().flat_map(|node| node.load.iter());
    let known = loads.filter(|(_, load)| load.is_some());
    let metrics: Vec<Metric> = known.map(|(metric, _)| metric).collect();
    let load_column = |metric: Metric| {
        let mut goals = outcome.goals.iter();
        let is_judged = goals.any(|goal| goal.metric == metric);
        Column::number(metric.name()).rank(if is_judged {
            Rank::Usual
        } else {
            Rank::OtherMetric
        })
    };
    let mut weights = outcome.nodes.iter().map(|node| node.weight);
    let is_weighed = weights.any(|weight| ![0.0, 1.0].contains(&weight));
    let shared = shared_parts(outcome);
    Table::of(&outcome.nodes)
        .column(Column::words("node").flexible(), |node| {
            Cell::text(marked_name(node, shared))
        })
        .column(
            Column::number("weight").rank(Rank::Detail).optional(),
            |node| {
                let weight = is_weighed.then_some(node.weight);
                Cell::of(weight, |weight| Cell::text(weight.to_string()))
            },
        )
        .column(Column::number("slots").rank(Rank::Detail), |node| {
            Cell::change([node.slots.before, node.slots.after].map(|n| text::grouped(n as u64)))
        })
        .columns(metrics, load_column, |metric, node| {
            let load = node.load.get(metric).copied().flatten();
            Cell::of(load, |Change { before, after }| {
                Cell::change([before, after].map(|load| text::amount_cell(metric, load)))
            })
        })
        .column(Column::number("× fair").rank(Rank::Main), |node| {
            Cell::of(node.over_fair, |Change { before, after }| {
                Cell::change([before, after].map(ratio))
            })
        })
        .build()
}

/// A node and its special role.
fn marked_name(node: &NodeOutcome, shared: SharedParts) -> String {
    let mark = match (node.failed, node.weight <= 0.0) {
        (true, _) => " (failed)",
        (_, true) => " (to be emptied)",
        _ => "",
    };
    format!("{}{mark}", shared.label(&node_name(node)))
}

/// The shared parts of node names, which tables omit.
fn shared_parts(outcome: &PlanOutcome) -> SharedParts {
    let names: Vec<Name> = outcome.nodes.iter().map(node_name).collect();
    SharedParts::new(names.iter())
}

fn moves(outcome: &PlanOutcome) -> Section<'_> {
    let shared = shared_parts(outcome);
    let name = |id: &Name| {
        let node = outcome.nodes.iter().find(|node| node.id == *id);
        let label = node.map(|node| shared.label(&node_name(node)).to_string());
        label.unwrap_or_else(|| short_id(id))
    };
    let mut section = if outcome.moves.is_empty() {
        return Section::untitled();
    } else {
        Section::titled("Moves")
    };
    for job in outcome.moves.iter().take(ROWS) {
        let (from, to) = (name(&job.from), name(&job.to));
        let (slots, load) = (counted(job.slots as u64, "slot"), contents(&job.load));
        section = section.line(format!("{from} -> {to}: {slots}, {load}"));
        section = section.line(format!("  {}", shown_ranges(job)));
    }
    match outcome.moves.len().saturating_sub(ROWS) {
        0 => section,
        hidden => section.line(format!(
            "... {} move{}, in --json",
            and_more(hidden),
            plural(hidden as u64)
        )),
    }
}

fn contents(load: &PerMetric<Option<u64>>) -> String {
    let words = |(metric, load): (Metric, &Option<u64>)| Some(amount(metric, (*load)?));
    load.iter().filter_map(words).collect::<Vec<_>>().join(", ")
}

fn shown_ranges(job: &MoveOutcome) -> String {
    let mut text = ranges(&job.ranges, RANGES);
    if job.ranges.len() > RANGES {
        text += " ranges, in --json";
    }
    text
}

/// Keys that MIGRATE takes long to copy.
fn blocking<'a>(title: &'static str, keys: &'a [BlockingKey]) -> Section<'a> {
    if keys.is_empty() {
        return Section::untitled();
    }
    let table = Table::of(keys)
        .column(Column::words("key").flexible(), |key| Cell::name(&key.key))
        .column(Column::number("slot"), |key| Cell::number(key.slot))
        .column(Column::number("size"), |key| {
            Cell::of(key.bytes, Cell::bytes)
        })
        .column(Column::number("elements").optional(), |key| {
            Cell::of(key.elements, |elements| Cell::text(text::grouped(elements)))
        })
        .column(Column::number("blocks for").rank(Rank::Main), |key| {
            Cell::text(about(key.block_ms as f64))
        })
        .build();
    Section::titled(title).table(table.at_most(BIG_KEYS))
}

/// The display name of a node.
pub(crate) fn node_name(node: &NodeOutcome) -> Name {
    text::node_name(&node.id, node.address.as_ref(), node.hostname.as_ref())
}
