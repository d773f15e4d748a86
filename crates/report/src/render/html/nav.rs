//! The navigation of the page: the sections present, in a few groups.

use slotscope_model::InputFacts;

use crate::render::html::section::Section;
use crate::view::Group;

const GROUPS: [(Group, &str); 5] = [
    (Group::Cluster, "Cluster"),
    (Group::Keys, "Keys"),
    (Group::Tags, "Tags"),
    (Group::Slots, "Slots"),
    (Group::Report, "Report"),
];

/// Anchors with labels.
type Links = Vec<(&'static str, &'static str)>;

/// The non-empty groups.
pub(super) fn groups(sections: &[Section], input: &InputFacts) -> Vec<(&'static str, Links)> {
    let (has_warnings, has_notes) = (!input.warnings.is_empty(), !input.notes.is_empty());
    let of_page = [
        Some((Group::Cluster, "steps", "What to do")),
        has_warnings.then_some((Group::Cluster, "warnings", "Warnings")),
        has_notes.then_some((Group::Report, "notes", "Notes")),
        Some((Group::Report, "run", "How it was made")),
    ];
    let labelled = sections.iter().filter(|section| !section.label.is_empty());
    let labelled = labelled.map(|section| (section.group, section.id, section.label));
    let links: Vec<_> = of_page.into_iter().flatten().chain(labelled).collect();
    let groups = GROUPS.into_iter().map(|(group, name)| {
        let of_group = links.iter().filter(|link| link.0 == group);
        (name, of_group.map(|(_, id, label)| (*id, *label)).collect())
    });
    groups
        .filter(|(_, links): &(_, Links)| !links.is_empty())
        .collect()
}
