//! Advice on hash tags: what to change and why, names, batches, schemes, and unseen input.

mod evidence;
mod schemes;
mod sentence;

use slotscope_advisor::findings::{Advice, AdviseFindings, FamilyAdvice};
use slotscope_base::name::Name;
use slotscope_base::text::{grouped, list};

use crate::view::table::Rank;
use crate::view::{Block, Cell, Column, Section, Table};

/// Maximum tags and patterns named in a sentence.
const NAMED: usize = 4;
/// Titles of the blocks below.
const NAMES: &str = "Names";
const BATCHES: &str = "Commands with several keys";
const SCHEMES: &str = "Schemes";

/// The sections of all findings.
pub fn sections(findings: &AdviseFindings) -> Vec<Section<'_>> {
    let mut sections = vec![Section::untitled().paragraph(sentence::summary(findings))];
    let titled = |(title, blocks): (&str, Vec<_>)| Section::titled(title).with_all(blocks);
    sections.extend(parts(findings).into_iter().map(titled));
    sections.push(evidence::notes(findings));
    sections
}

/// The non-empty parts, each with its title.
fn parts(findings: &AdviseFindings) -> Vec<(&'static str, Vec<Block<'_>>)> {
    let mut parts = Vec::new();
    if findings.advice == Advice::Change {
        parts.push((NAMES, names(findings)));
    }
    if !findings.kinds.is_empty() {
        parts.push((BATCHES, batches(findings)));
    }
    if findings.schemes.len() > 1 {
        parts.push((SCHEMES, vec![Block::Table(schemes::table(findings))]));
    }
    parts
}

/// The new names.
fn names(findings: &AdviseFindings) -> Vec<Block<'_>> {
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
    let unchanged = findings
        .families
        .iter()
        .filter(|family| family.becomes.is_none());
    let names: Vec<String> = unchanged.map(|family| family.pattern.to_string()).collect();
    let line = (!names.is_empty()).then(|| format!("unchanged: {}", list(names.iter(), NAMED)));
    [Block::Table(table)]
        .into_iter()
        .chain(line.map(Block::Line))
        .collect()
}

/// The commands of each kind, before and after.
fn batches(findings: &AdviseFindings) -> Vec<Block<'_>> {
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
    let count = format!("{}{hard}", grouped(findings.batches_of_several));
    vec![Block::Line(count), Block::Table(table)]
}
