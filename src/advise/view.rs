//! The advice as sections: what to change and what it brings, names, batches, schemes, and what was not seen.

use slotscope_engine::name::Name;
use slotscope_engine::text::{counted, grouped, list, percent, shell_word};
use slotscope_findings::advise::decision::Evidence;
use slotscope_findings::advise::findings::{Advice, AdviseFindings, FamilyAdvice, SchemeScore};
use slotscope_findings::advise::reasons::KeepReason;
use slotscope_findings::advise::soundness::Soundness;
use slotscope_report::view::table::Rank;
use slotscope_report::view::{Block, Cell, Column, Section, Table};

/// Tags and patterns that a sentence names.
const NAMED: usize = 4;

/// The sections of all findings.
pub(crate) fn sections(findings: &AdviseFindings) -> Vec<Section<'_>> {
    let mut sections = vec![Section::untitled().paragraph(summary(findings))];
    if findings.advice == Advice::Change {
        sections.push(names(findings));
    }
    if !findings.kinds.is_empty() {
        sections.push(batches(findings));
    }
    if findings.schemes.len() > 1 {
        sections.push(schemes(findings));
    }
    sections.push(notes(findings));
    sections
}

fn summary(findings: &AdviseFindings) -> String {
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
        "CHANGE: {}: {gain}the fullest of {} nodes then has {:.2} times its fair share ({:.2} today), of {} nodes {:.2} ({:.2}).",
        what_to_do(best),
        findings.nodes,
        best.max_over_mean.n,
        today.max_over_mean.n,
        2 * findings.nodes,
        best.max_over_mean.twice,
        today.max_over_mean.twice,
    )
}

fn what_to_do(best: &SchemeScore) -> String {
    let tags: Vec<String> = best
        .tags
        .iter()
        .filter(|tag| !tag.0.is_empty())
        .map(Name::to_string)
        .collect();
    let drops = best.tags.iter().any(|tag| tag.0.is_empty());
    match (tags.is_empty(), drops) {
        (true, _) => String::from("take the braces off"),
        (false, false) => format!("use the hash tag {}", list(tags.iter(), NAMED)),
        (false, true) => format!(
            "use the hash tag {}, and take the braces off other names",
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
        KeepReason::Blocker => {
            let blocker = findings.blocker.as_ref();
            let (pattern, share) = blocker.map_or((String::new(), 0.0), |of| {
                (of.pattern.to_string(), of.share)
            });
            format!(
                "{pattern} is in the way; read it apart, and {} of the commands with several keys can reach one slot",
                percent(share)
            )
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
        KeepReason::SpelledDifferently => String::from(
            "ids are equal as numbers and not as bytes (00000017 and 17): write them alike first",
        ),
        KeepReason::NoCommonId => {
            String::from("the keys of a command have no id in common that a tag could be of")
        }
    }
}

/// What becomes of the names.
fn names(findings: &AdviseFindings) -> Section<'_> {
    let changed = |family: &&FamilyAdvice| family.becomes.is_some();
    let table = Table::of(findings.families.iter().filter(changed))
        .column(Column::words("names").flexible(), |family| {
            Cell::name(&family.pattern)
        })
        .column(Column::words("become").flexible(), |family| {
            Cell::of(family.becomes.as_ref(), Cell::name)
        })
        .column(Column::number("keys").rank(Rank::Detail), |family| {
            Cell::count(family.keys)
        })
        .build();
    let same = findings
        .families
        .iter()
        .filter(|family| family.becomes.is_none());
    let same: Vec<String> = same.map(|family| family.pattern.to_string()).collect();
    let section = Section::titled("Names").table(table);
    if same.is_empty() {
        section
    } else {
        section.line(format!("unchanged: {}", list(same.iter(), NAMED)))
    }
}

fn batches(findings: &AdviseFindings) -> Section<'_> {
    let slots = |mean: f64, must: bool| {
        Cell::text(match () {
            () if mean == 1.0 => String::from("1"),
            () if must => String::from("CROSSSLOT"),
            () => format!("{mean:.1}"),
        })
    };
    let is_change = findings.advice == Advice::Change;
    let table = Table::of(&findings.kinds)
        .column(Column::words("keys").flexible(), |kind| {
            let keys: Vec<String> = kind.keys.iter().map(Name::to_string).collect();
            Cell::text(keys.join(" "))
        })
        .column(Column::words("command"), |kind| {
            let command = kind.command.as_ref();
            Cell::of(command, |name| {
                Cell::text(name.replace('|', " ").to_uppercase())
            })
        })
        .column(Column::number("times"), |kind| Cell::count(kind.batches))
        .column(Column::words("slots today").rank(Rank::Main), |kind| {
            slots(kind.slots_today, kind.must_be_together)
        })
        .column(Column::words("then").rank(Rank::Main), |kind| {
            let then = is_change.then_some(kind.slots_then);
            Cell::of(then, |mean| slots(mean, kind.must_be_together))
        })
        .build();
    let must = findings.batches_that_must;
    let hard = match must {
        0 => String::new(),
        _ => format!(
            ", {} of which a cluster refuses unless their keys share a slot",
            grouped(must)
        ),
    };
    Section::titled("Commands with several keys")
        .line(format!("{}{hard}", grouped(findings.batches_of_several)))
        .table(table)
}

fn schemes(findings: &AdviseFindings) -> Section<'_> {
    let sound = |of: Soundness| match of {
        Soundness::Good => "yes",
        Soundness::Limited => "for a while",
        Soundness::Bad => "no",
    };
    let refused = |scheme: &SchemeScore| {
        let are_counted = findings.batches_that_must > 0;
        are_counted.then_some(scheme.crossslot)
    };
    let table = Table::of(&findings.schemes)
        .column(Column::words("tags").flexible(), |scheme| {
            Cell::text(scheme_name(scheme))
        })
        .column(
            Column::number("one slot").optional().rank(Rank::Main),
            |scheme| Cell::of(scheme.single_slot_share, Cell::share),
        )
        .column(Column::number("refused").optional(), |scheme| {
            Cell::of(refused(scheme), Cell::count)
        })
        .column(
            Column::number("fullest")
                .hint("the fullest node in fair shares")
                .rank(Rank::Main),
            |scheme| Cell::ratio(scheme.max_over_mean.n, 2),
        )
        .column(
            Column::number("on 2n").hint("the same on twice the nodes"),
            |scheme| Cell::ratio(scheme.max_over_mean.twice, 2),
        )
        .column(Column::words("sound"), |scheme| {
            Cell::text(sound(scheme.sound))
        })
        .column(Column::number("heaviest"), |scheme| {
            Cell::share(scheme.heaviest_share)
        })
        .column(Column::number("patterns").rank(Rank::Detail), |scheme| {
            Cell::count(scheme.patterns_renamed as u64)
        })
        .column(Column::number("renamed").rank(Rank::Main), |scheme| {
            Cell::count(scheme.keys_renamed)
        })
        .build();
    Section::titled("Schemes").table(table)
}

/// The finding of the chart of the schemes.
pub(crate) fn chart_title(findings: &AdviseFindings) -> String {
    let today = findings.schemes.iter().find(|scheme| scheme.is_today);
    let share = |scheme: Option<&SchemeScore>| {
        percent(scheme.and_then(|of| of.single_slot_share).unwrap_or(0.0))
    };
    match findings.advice {
        Advice::Change => format!(
            "{} of the multi-key commands in one slot, {} today",
            share(findings.schemes.first()),
            share(today)
        ),
        Advice::Keep => format!(
            "Keep the names: {} of the multi-key commands are in one slot",
            share(today)
        ),
    }
}

/// What the advice is from.
pub(crate) fn counted_input(findings: &AdviseFindings) -> String {
    format!(
        "{} and {}; load is {}",
        counted(findings.keys, "name"),
        counted(findings.batches, "command"),
        findings.by.title()
    )
}

/// The tags of a scheme.
pub(crate) fn scheme_name(scheme: &SchemeScore) -> String {
    let tag = |tag: &Name| {
        if tag.0.is_empty() {
            String::from("no braces")
        } else {
            tag.to_string()
        }
    };
    let tags: Vec<String> = scheme.tags.iter().map(tag).collect();
    if tags.is_empty() {
        String::from("as today")
    } else {
        list(tags.iter(), NAMED)
    }
}

/// What was not seen, and how to continue.
fn notes(findings: &AdviseFindings) -> Section<'_> {
    let mut section = Section::titled("What this rests on");
    for line in evidence(findings) {
        section = section.line(line);
    }
    if findings.rules.is_empty() {
        return section;
    }
    let mut section = section.paragraph("Try it on your dump, with the nodes that you have; both names live for a while when you rename:");
    for rule in &findings.rules {
        section = section.with(Block::Command(format!(
            "slotscope whatif DUMP --retag {}",
            shell_word(rule)
        )));
    }
    section
}

fn evidence(findings: &AdviseFindings) -> Vec<String> {
    let mut lines = vec![counted_input(findings)];
    let best = findings.schemes.first();
    let mut add = |applies: bool, line: String| {
        if applies {
            lines.push(line);
        }
    };
    add(
        findings.evidence == Evidence::NamesAlone && findings.why.is_none(),
        String::from(
            "no commands: add --batches with a MONITOR capture before you rename anything",
        ),
    );
    add(
        findings.evidence != Evidence::NamesAlone,
        String::from(
            "the capture is what it saw: rare commands, scripts that build names and pipelines are not in it",
        ),
    );
    add(
        findings.names_sampled < 1.0,
        format!(
            "families are from {} of the names",
            percent(findings.names_sampled)
        ),
    );
    add(
        findings.one_batch_of > 1,
        format!(
            "one of {} commands is counted, spread over the whole capture",
            grouped(findings.one_batch_of)
        ),
    );
    add(
        findings.families_unscored > 0,
        format!(
            "{} with the least load are left as they are",
            counted(findings.families_unscored as u64, "pattern")
        ),
    );
    add(
        findings.names_unmatched > 0,
        format!(
            "{} fit no pattern or are too long, and are left as they are",
            counted(findings.names_unmatched, "name")
        ),
    );
    add(
        findings.batches_uncounted > 0,
        format!(
            "{} of rare kinds count as not cured",
            counted(findings.batches_uncounted, "command")
        ),
    );
    add(
        findings.collided,
        String::from(
            "a scheme was left out: names of it exist already, maybe because they are half migrated",
        ),
    );
    add(
        findings.together_unmet > 0,
        String::from("no sound scheme meets --together"),
    );
    add(
        findings.rules_differ > 0,
        format!(
            "the rules below rename {} otherwise than the scheme: check them",
            counted(findings.rules_differ, "name")
        ),
    );
    if let Some(best) = best
        .filter(|best| findings.why.is_none() && best.heaviest_is_tag && best.heaviest_share > 0.0)
    {
        let nodes = 2.0 * findings.nodes as f64;
        lines.push(format!(
            "the heaviest tag, {{{}}}, is {} of the fair share of a node of {}: good until it is {:.0} times that",
            best.heaviest,
            percent(best.heaviest_share * nodes),
            2 * findings.nodes,
            (0.2 / (best.heaviest_share * nodes)).max(1.0)
        ));
    }
    lines
}
