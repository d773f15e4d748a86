//! The advice in a sentence, with its reason.

use slotscope_advisor::findings::{AdviseFindings, SchemeScore};
use slotscope_advisor::reasons::KeepReason;
use slotscope_base::name::Name;
use slotscope_base::text::{counted, list, percent};

use crate::view::advice::NAMED;

/// The recommended change, and its effect.
pub(super) fn summary(findings: &AdviseFindings) -> String {
    let (Some(best), Some(today)) = (
        findings.schemes.first(),
        findings.schemes.iter().find(|scheme| scheme.is_today),
    ) else {
        return String::from("No names: nothing to judge.");
    };
    if let Some(why) = findings.why {
        return format!(
            "KEEP the names as they are: {}.",
            reason(why, findings, today)
        );
    }
    let gain = match (best.single_slot_share, today.single_slot_share) {
        (Some(then), Some(now)) => format!(
            "{} of the commands with several keys then reach one slot, {} do today; ",
            percent(then),
            percent(now)
        ),
        _ => String::new(),
    };
    format!(
        "CHANGE: {}: {gain}the fullest of {} nodes then has {:.2} times its fair share ({:.2} today), of {} nodes {:.2} ({:.2}).{}",
        what_to_do(best),
        findings.nodes,
        best.max_over_mean.n,
        today.max_over_mean.n,
        2 * findings.nodes,
        best.max_over_mean.twice,
        today.max_over_mean.twice,
        price(best, findings.nodes),
    )
}

/// The price of a tag heavier than a node: more nodes do not divide a slot.
fn price(best: &SchemeScore, nodes: usize) -> String {
    if !best.heaviest_is_tag || best.heaviest_share * nodes as f64 <= 1.0 {
        return String::new();
    }
    format!(
        " The price: all keys of {{{}}} share one slot, {} of the load, however many nodes there are.",
        best.heaviest,
        percent(best.heaviest_share)
    )
}

fn what_to_do(best: &SchemeScore) -> String {
    let tags: Vec<String> = best
        .tags
        .iter()
        .filter(|tag| !tag.0.is_empty())
        .map(Name::to_string)
        .collect();
    let tag = if tags.len() > 1 { "tags" } else { "tag" };
    let drops = best.tags.iter().any(|tag| tag.0.is_empty());
    match (tags.is_empty(), drops) {
        (true, _) => String::from("take the braces off"),
        (false, false) => format!("use the hash {tag} {}", list(tags.iter(), NAMED)),
        (false, true) => format!(
            "use the hash {tag} {}, and take the braces off other names",
            list(tags.iter(), NAMED)
        ),
    }
}

fn reason(why: KeepReason, findings: &AdviseFindings, today: &SchemeScore) -> String {
    match why {
        KeepReason::NamesAreFine => String::from(
            "today's tags are sound. Names alone do not tell which keys are used together: add --batches with a MONITOR capture",
        ),
        KeepReason::FewBatches => format!(
            "{} are too few to say which keys are used together; capture 100 or more",
            counted(findings.batches, "command")
        ),
        KeepReason::AlreadyGood => format!(
            "{} of the commands with several keys reach one slot already, and no tag is too heavy",
            percent(today.single_slot_share.unwrap_or(0.0))
        ),
        KeepReason::SingleKeys => {
            String::from("hardly any command has several keys, and today's tags are sound")
        }
        KeepReason::HotKey => String::from(
            "one key is so hot that no tag helps; cache it in the clients, read it from replicas, or split it",
        ),
        KeepReason::MustStayTogether => format!(
            "commands that must be in one slot need today's tag, though it fills one node ({:.2} times its fair share)",
            today.max_over_mean.n
        ),
        KeepReason::FewValues => format!(
            "the id that keys have in common has too few values for {} nodes, or is a date: its slots would be hot",
            findings.nodes
        ),
        KeepReason::NoCommonId => {
            String::from("the keys of a command have no id in common that a tag could be of")
        }
    }
}
