//! Numbers and causes in words, as they are in sentences and tables alike.

use slotscope_base::LISTED;
use slotscope_base::metric::Metric;
use slotscope_base::text::{grouped, list, short};

use crate::cause::{Cause, CauseKind};
use crate::measure::Measure;

/// Maximum number of equally large tags or keys named in a sentence.
pub const NAMES: usize = 3;

/// Fair shares as printed everywhere: two decimals.
pub fn ratio(fair_shares: f64) -> String {
    match fair_shares {
        ratio if ratio > 0.0 && ratio < 0.005 => "<0.01".into(),
        ratio if ratio < 99.995 => format!("{ratio:.2}"),
        ratio => grouped(ratio.round() as u64),
    }
}

/// `3.24×`
pub fn times(fair_shares: f64) -> String {
    format!("{}×", ratio(fair_shares))
}

/// A cause without its part of the excess.
pub fn cause_in_words(cause: &Cause, measure: Measure) -> String {
    let metric = measure.metric();
    let share = || format!("{:.0}%", 100.0 * cause.share.unwrap_or(0.0));
    let units = || match (cause.units.unwrap_or(0), metric) {
        (1, Metric::Keys) => String::from("one heavy hash tag"),
        (1, _) => String::from("one heavy hash tag or key"),
        // If there are more, their names are unknown.
        (units, _) if units >= LISTED as u64 => {
            format!("the {} heaviest hash tags", grouped(units))
        }
        (units, Metric::Keys) => format!("{} heavy hash tags", grouped(units)),
        (units, _) => format!("{} heavy hash tags and keys", grouped(units)),
    };
    let slots = || {
        let slots: Vec<String> = cause.slots.iter().map(u16::to_string).collect();
        slots.join(", ")
    };
    match cause.kind {
        CauseKind::Slots => format!("{} of the slots", share()),
        CauseKind::Tag => match &cause.key {
            Some(key) => format!(
                "hash tag {}, nearly all of it key {}",
                name_of(cause),
                short(key)
            ),
            None => format!("hash tag {}", name_of(cause)),
        },
        CauseKind::Key => format!("key {}", name_of(cause)),
        CauseKind::Channel => format!("channel {}", name_of(cause)),
        CauseKind::CoarseUnits => {
            format!("{} with {} of {}", units(), share(), measure.of_what())
        }
        CauseKind::Elsewhere => format!("{} on other nodes", units()),
        CauseKind::Collisions if !cause.names.is_empty() => {
            let names = cause.names.iter().map(short);
            format!("hash tags or keys {} on the same node", list(names, NAMES))
        }
        CauseKind::Collisions if cause.slots.is_empty() => {
            "more tags and keys than random variation gives, spread over its slots".into()
        }
        CauseKind::Collisions => {
            format!("many tags or keys in the same slots, most in {}", slots())
        }
        CauseKind::Chance => match cause.units.unwrap_or(0) {
            0 => "random variation".into(),
            1 => "random variation of one other tag or key".into(),
            units => format!("random variation of {} other tags and keys", grouped(units)),
        },
        CauseKind::Unknown if measure == Measure::UsedMemory => {
            "the sizes of keys are unknown, so why is not known".into()
        }
        CauseKind::Unknown => match cause.slots.as_slice() {
            [] => "tags were not counted, so why is not known".into(),
            [slot] => format!(
                "slot {slot} holds {} of {}; its tags were not counted",
                share(),
                measure.of_what()
            ),
            _ => format!(
                "slots {} hold {} of {}; their tags were not counted",
                slots(),
                share(),
                measure.of_what()
            ),
        },
    }
}

/// The name of a tag or key, a tag in braces.
pub fn name_of(cause: &Cause) -> String {
    let name = cause.name.as_ref().map(short).unwrap_or_default();
    match cause.kind {
        CauseKind::Key | CauseKind::Channel => name,
        _ => format!("{{{name}}}"),
    }
}
