//! The navigation of the page: the sections present, in a few groups.

use slotscope_model::InputFacts;

use crate::render::html::section::Section;

/// A group with its anchors; ungrouped sections are about the report itself.
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Cluster",
        &[
            "steps",
            "warnings",
            "nodes",
            "risks",
            "operations",
            "capacity",
        ],
    ),
    (
        "Keys",
        &[
            "hot-keys",
            "big-keys",
            "cpu-keys",
            "largest",
            "types",
            "expiry",
            "idle",
            "lfu",
            "databases",
            "sizes",
            "lengths",
        ],
    ),
    (
        "Tags",
        &["tags", "tag-sizes", "choose-tags", "patterns", "prefixes"],
    ),
    (
        "Slots",
        &["slots", "hot-slots", "slot-sizes", "cpu-slots", "spread"],
    ),
];
const REPORT: &str = "Report";

/// Anchors with labels.
type Links = Vec<(&'static str, &'static str)>;

/// The non-empty groups.
pub(super) fn groups(sections: &[Section], input: &InputFacts) -> Vec<(&'static str, Links)> {
    let with_label = sections.iter().filter(|section| !section.label.is_empty());
    let labelled = with_label.map(|section| (section.id, section.label));
    let of_page = [
        Some(("steps", "What to do")),
        (!input.warnings.is_empty()).then_some(("warnings", "Warnings")),
        (!input.notes.is_empty()).then_some(("notes", "Notes")),
        Some(("run", "How it was made")),
    ];
    let links: Links = of_page.into_iter().flatten().chain(labelled).collect();
    let mut groups: Vec<(&'static str, Links)> = GROUPS
        .iter()
        .map(|(name, anchors)| {
            // Keep the order of the group.
            let find = |anchor: &&str| links.iter().find(|(id, _)| id == anchor).copied();
            (*name, anchors.iter().filter_map(find).collect())
        })
        .collect();
    let is_other = |(id, _): &&(&str, &str)| !GROUPS.iter().any(|(_, group)| group.contains(id));
    groups.push((REPORT, links.iter().filter(is_other).copied().collect()));
    groups.retain(|(_, links)| !links.is_empty());
    groups
}
