//! Findings, each in one sentence. Explanations of roles have their own file.

use slotscope_base::name::Name;
use slotscope_base::text::{bytes, counted, grouped, list, percent, plural, short, span, time};

use crate::wording::verdict::unit;
use slotscope_model::expiry::Storm;
use slotscope_model::independent_units::UnitKind;
use slotscope_model::measure::Measure;
use slotscope_model::state::Role;
use slotscope_model::words::times;

/// Maximum number of names in a sentence.
const NAMES: usize = 3;
/// No key has a size.
pub(crate) const SIZES_UNKNOWN: &str =
    "memory is unknown: the input has no sizes, so a big key would be invisible";
/// The same where servers say how much memory they use.
pub(crate) const KEY_SIZES_UNKNOWN: &str =
    "the input has no sizes of keys, so a big key would be invisible";
/// Servers without a memory limit.
pub(crate) const NO_LIMIT: &str =
    "maxmemory is 0: the servers have no limit, so how full they are is not known";
/// Keys are uneven, and load may be.
pub(crate) const LOAD_UNKNOWN: &str =
    "the nodes are uneven by keys and even in memory; load was not measured";
/// The same where the nodes were idle meanwhile.
pub(crate) const LOAD_IDLE: &str =
    "the nodes are uneven by keys and even in memory; load was measured, and they were idle";
/// A block shorter than this, in milliseconds, is not mentioned.
const BLOCKS: f64 = 100.0;

/// A node at its memory limit; `overhead` are bytes that are not keys, if known.
pub(crate) fn full(node: &Name, used: u64, maxmemory: u64, overhead: Option<u64>) -> String {
    let part = percent(used as f64 / maxmemory.max(1) as f64);
    let overhead = overhead.map_or(String::new(), |overhead| {
        format!("; {} of it is not keys", bytes(overhead))
    });
    format!(
        "{} uses {} of {} maxmemory, {part}{overhead}",
        short(node),
        bytes(used),
        bytes(maxmemory)
    )
}

/// A node that uses the fraction `cpu` of a core.
pub(crate) fn busy(node: &Name, cpu: f64) -> String {
    format!(
        "{} uses {} of a core, and commands run on one",
        short(node),
        percent(cpu)
    )
}

/// A node above its fair share of process CPU time. `command` takes most of the time of all its commands, and how much
/// of it; `in_no_slot` is the part of the time that is in no slot, where servers count it by slot.
pub(crate) fn process(
    node: &Name,
    max_over_mean: f64,
    cpu: f64,
    command: Option<&(String, f64)>,
    in_no_slot: Option<f64>,
) -> String {
    format!(
        "{} {} {} its share of {}, {} of a core{}{}",
        short(node),
        Measure::Cpu.verb(),
        times(max_over_mean),
        Measure::Cpu.noun(),
        percent(cpu),
        command.map_or_else(String::new, |(name, share)| {
            format!("; {} takes {} of it", name.to_uppercase(), percent(*share))
        }),
        in_no_slot.map_or_else(String::new, |part| format!(
            "; {} of the CPU time is in no slot (scripts, transactions, network)",
            percent(part)
        ))
    )
}

/// A node that runs more than its fair share of commands. `most` is the commonest of those in no slot and its part of all that
/// it runs, `client` the client that sends more than half of those.
pub(crate) fn commands(
    node: &Name,
    max_over_mean: f64,
    part: f64,
    most: Option<(&Name, f64)>,
    client: Option<&Name>,
) -> String {
    let most = most.map_or_else(String::new, |(name, part)| {
        let name = match name.to_string() {
            name if name.is_empty() => "commands with unknown names".into(),
            name => name.to_uppercase().replace('|', " "),
        };
        format!(": {name} {} of them", percent(part))
    });
    let client = client.map_or_else(String::new, |client| format!(", from {}", short(client)));
    format!(
        "{} {} {} its share of {}, {} of all, also those without keys{most}{client}",
        short(node),
        Measure::Commands.verb(),
        times(max_over_mean),
        Measure::Commands.noun(),
        percent(part),
    )
}

/// A node that evicts while `other` has this fraction of its limit free.
pub(crate) fn evicting(node: &Name, (other, free): (&Name, f64)) -> String {
    format!(
        "{} evicts keys while {} has {} of its maxmemory free",
        short(node),
        short(other),
        percent(free)
    )
}

/// A node that reaches its limit in this many months.
pub(crate) fn growth(node: &Name, months: f64) -> String {
    format!(
        "{} reaches maxmemory in {:.0} days at this growth",
        short(node),
        (months * 30.4).ceil()
    )
}

/// A primary that is suspected to have failed.
pub(crate) fn suspected(node: &Name, slots: u32) -> String {
    format!(
        "{} is suspected to have failed (fail?); it owns {}",
        short(node),
        counted(u64::from(slots), "slot")
    )
}

/// Slots in migration.
pub(crate) fn open_slots(slots: &[u16]) -> String {
    let names = list(slots.iter(), NAMES);
    let (are, they) = if slots.len() == 1 {
        ("is", "the move")
    } else {
        ("are", "the moves")
    };
    format!(
        "slot{} {names} {are} open (migrating or importing): {they} may be running, or was cut off",
        plural(slots.len() as u64)
    )
}

/// A node that refuses commands with an error, `per_sec` of them; `commands` are all that it refuses.
pub(crate) fn refused(node: &Name, error: &str, per_sec: f64, commands: &[String]) -> String {
    let commands = match commands {
        [] => String::new(),
        commands => format!(
            ": {}",
            list(commands.iter().map(|name| name.to_uppercase()), NAMES)
        ),
    };
    format!(
        "{} refuses {} commands a second with {error}{commands}",
        short(node),
        grouped(per_sec.round() as u64)
    )
}

/// A hash tag with this load in fair shares.
pub(crate) fn tag(name: &Name, share: f64, measure: Measure) -> String {
    format!(
        "{} alone is {} a node's share of {}",
        unit(name, UnitKind::Tag),
        times(share),
        measure.noun()
    )
}

/// A hash tag or key with this part of a captured load.
pub(crate) fn seen(name: &Name, kind: UnitKind, share: f64, measure: Measure) -> String {
    format!(
        "{} gets {} of {} that were captured",
        unit(name, kind),
        percent(share),
        measure.of_what()
    )
}

/// Primaries without a replica; `None`: all of them.
pub(crate) fn no_replica(node: Option<&Name>) -> String {
    match node {
        Some(node) => format!(
            "primary {} has no replica: if it fails, its slots are down",
            short(node)
        ),
        None => "no primary has a replica: if one fails, its slots are down".into(),
    }
}

/// A primary without slots, maybe one that is down.
pub(crate) fn without_slots(node: &Name, is_lost: bool) -> String {
    if is_lost {
        format!(
            "{} is down; it owns no slots, as after a failover",
            short(node)
        )
    } else {
        format!("primary {} owns no slots", short(node))
    }
}

/// A risky key.
pub(crate) struct KeyText {
    /// Its name.
    pub name: Name,
    /// Its kind.
    pub kind: UnitKind,
    /// Its size.
    pub bytes: Option<u64>,
    /// Its number of elements.
    pub elements: Option<u64>,
    /// Its load as a fraction of a fair share, and the measure.
    pub share: Option<(f64, Measure)>,
    /// The milliseconds that MIGRATE or DEL blocks the node.
    pub block_ms: Option<f64>,
    /// Its node.
    pub node: Option<Name>,
    /// Its slot.
    pub slot: u16,
}

impl KeyText {
    /// The sentence of a key.
    pub(crate) fn in_words(&self) -> String {
        let mut facts = Vec::new();
        if let Some((share, measure)) = self.share {
            let is_memory = measure.role() == Role::Memory;
            let size = self.bytes.filter(|_| is_memory).map(bytes);
            let part = format!("{} a node's share of {}", times(share), measure.noun());
            facts.push(match size {
                Some(size) => format!("{size}, {part}"),
                None => part,
            });
        } else if let Some(size) = self.bytes {
            facts.push(bytes(size));
        }
        if let Some(elements) = self.elements.filter(|elements| *elements > 1) {
            facts.push(counted(elements, "element"));
        }
        let block_ms = self.block_ms.filter(|ms| *ms >= BLOCKS);
        let block = block_ms.map_or(String::new(), |ms| {
            format!(": MIGRATE blocks its node for {}", about(ms))
        });
        let key = unit(&self.name, self.kind);
        format!("{key} is {}{block}", facts.join(", "))
    }
}

/// About how long a key blocks its node, for people: servers differ, and hosts.
pub fn about(ms: f64) -> String {
    let [least, most] = [0.5 * ms, 2.0 * ms].map(|ms| {
        let step = 10f64.powf(ms.max(1.0).log10().floor() - 1.0).max(1.0);
        millis((ms / step).round() * step)
    });
    let unit = |text: &str| text.rsplit(' ').next().map(str::to_owned);
    let amount = if unit(&least) == unit(&most) {
        least.split(' ').next().unwrap_or_default()
    } else {
        &least
    };
    format!("about {amount} to {most}")
}

/// A short time for people.
pub fn millis(ms: f64) -> String {
    if ms < 1000.0 {
        format!("{ms:.0} ms")
    } else if ms < 60_000.0 {
        format!("{:.1} s", ms / 1000.0)
    } else {
        span((ms / 1000.0).round() as u64)
    }
}

/// Unserved slots, of primaries with the number of slots that each owns: of those that failed, do not answer, or report
/// `cluster_state:fail`, and without an owner. `said_fail`: how many primaries were asked for that state, and how many
/// of them report it.
pub(crate) fn down(
    [failed, silent, refusing]: [&[(Name, u32)]; 3],
    unowned: u32,
    said_fail: Option<(u64, u64)>,
) -> String {
    // If all primaries report it, their number is enough.
    let all_say_so = said_fail.filter(|(asked, fail)| asked == fail && *fail > 1);
    let named = if all_say_so.is_some() { &[] } else { refusing };
    let said_fail = all_say_so.or(said_fail.filter(|_| named.is_empty()));
    let ways = [
        (failed, "failed", "failed"),
        (silent, "does not answer", "do not answer"),
        (named, "says cluster_state:fail", "say cluster_state:fail"),
    ];
    let down = ways.into_iter().filter(|(nodes, ..)| !nodes.is_empty());
    let mut parts: Vec<String> = down
        .map(|(nodes, does, do_)| {
            let names = list(nodes.iter().map(|(name, _)| short(name)), NAMES);
            let slots: u32 = nodes.iter().map(|(_, slots)| slots).sum();
            format!(
                "{names} {}: {} {} not served",
                if nodes.len() == 1 { does } else { do_ },
                counted(u64::from(slots), "slot"),
                if slots == 1 { "is" } else { "are" }
            )
        })
        .collect();
    if unowned > 0 {
        let (have, slots) = if unowned == 1 {
            ("has", "1 slot".into())
        } else {
            ("have", counted(u64::from(unowned), "slot"))
        };
        parts.push(format!("{slots} {have} no owner"));
    }
    if let Some((asked, fail)) = said_fail {
        parts.push(format!(
            "{} of {} {} {} cluster_state:fail",
            grouped(fail),
            grouped(asked),
            if asked == 1 { "primary" } else { "primaries" },
            if fail == 1 { "says" } else { "say" }
        ));
    }
    parts.join("; ")
}

/// The pattern and node of most keys.
fn mostly(pattern: Option<&Name>, node: Option<&Name>) -> String {
    let node = node.map(|node| format!("on {}", short(node)));
    let words = pattern.map(short).into_iter().chain(node);
    let parts: Vec<String> = words.collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!(": most of them {}", parts.join(" "))
    }
}

/// Keys that expire together, with the name of the node that most of them are on.
pub(crate) fn expiry(storm: &Storm, node: Option<&Name>) -> String {
    let (share, minutes, at, after) = (storm.share, storm.minutes, storm.at, storm.after);
    let within = if minutes <= 1 {
        String::from("minute")
    } else {
        format!("{minutes} minutes")
    };
    let when = match after {
        Some(after) => format!(", {} after the dump", span(after)),
        None => String::new(),
    };
    format!(
        "{} of the keys expire within the same {within}, at {}{when}{}",
        percent(share),
        time(at),
        mostly(storm.pattern.as_ref(), node)
    )
}
