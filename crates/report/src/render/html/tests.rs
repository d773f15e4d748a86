//! Properties of the page's text: allowed scripts, size, colours.

use slotscope_base::metric::{Errors, Metric, PerMetric};
use slotscope_base::name::Name;
use slotscope_base::slot::SLOTS;
use slotscope_count::tally::{Parts, Tallies};
use slotscope_findings::summary::observed::Observed;
use slotscope_findings::summary::summarise;
use slotscope_model::node_labels::SharedParts;
use slotscope_model::nodes::{NodeLoad, OverShare};
use slotscope_model::patterns::{GroupLoad, KeyGroups, Pattern, Prefix};
use slotscope_model::role_load::Asked;
use slotscope_model::tags::{Tag, TagLoad, Tags};
use slotscope_model::{HotSlot, InputFacts};
use slotscope_topology::Topology;

use crate::render::html::*;

fn empty() -> Summary {
    let topology = Topology::even(3, "even 3".into()).unwrap();
    summarise(
        &Tallies::new(Parts::All),
        None,
        &topology,
        &Observed::default(),
        &Asked::default(),
        InputFacts::default(),
    )
}

fn page(summary: &Summary) -> String {
    let mut page = Vec::new();
    write(summary, &mut page).unwrap();
    String::from_utf8(page).unwrap()
}

/// A summary in which everything has maximum length and needs escaping.
fn largest() -> Summary {
    let name = |index: usize| Name([vec![b'<'; 1 << 10], index.to_string().into_bytes()].concat());
    // Weights are from a table; keys are counted individually.
    let load = PerMetric::of_keys(1_000_000_000_000)
        .with(Metric::Bytes, u64::MAX)
        .with(Metric::Ops, u64::MAX);
    let mut summary = empty();
    summary.slots.loads = load.map(|_, most| vec![*most; SLOTS]);
    summary.nodes.list = (0..SLOTS as u16)
        .map(|slot| NodeLoad {
            id: name(slot.into()),
            address: None,
            hostname: None,
            failed: false,
            flags: Vec::new(),
            replicas: None,
            over_share: OverShare::default(),
            limit_use: None,
            policy: None,
            captured: None,
            commands: None,
            slots: 1,
            ranges: vec![(slot, slot)],
            load,
            shared: SharedParts::default(),
        })
        .collect();
    let without_slots = NodeLoad {
        slots: 0,
        ranges: Vec::new(),
        ..summary.nodes.list[0].clone()
    };
    let more = std::iter::repeat_n(without_slots, 300_000);
    summary.nodes.list.extend(more);
    let tag = |index: usize| Tag {
        tag: name(index),
        slot: index as u16,
        node: Some(name(index)),
        load,
        errors: Errors(PerMetric::of_keys(u64::MAX)),
        share: 1.0 / 3.0,
    };
    summary.tags = Some(Tags {
        top: (0..1000).map(tag).collect(),
        ..Tags::default()
    });
    let kind = GroupLoad {
        load,
        share: 1.0 / 3.0,
        tagged_share: 1.0 / 3.0,
        slots: None,
        no_expiry_share: Some(1.0 / 3.0),
    };
    let prefix = |index| Prefix {
        prefix: name(index),
        level: 1 + index % 4,
        kind: kind.clone(),
    };
    summary.prefixes = Some(KeyGroups {
        coarseness: 0,
        exact: false,
        max_error: u64::MAX,
        top: (0..1000).map(prefix).collect(),
    });
    let pattern = |index| Pattern {
        pattern: name(index),
        kind: kind.clone(),
    };
    summary.patterns = Some(KeyGroups {
        coarseness: 0,
        exact: false,
        max_error: u64::MAX,
        top: (0..1000).map(pattern).collect(),
    });
    let top_tags = (0..5)
        .map(|index| TagLoad {
            tag: name(index),
            load,
        })
        .collect::<Vec<_>>();
    let hot = |slot| HotSlot {
        slot,
        node: Some(name(slot.into())),
        load,
        over_mean: 1e9,
        top_keys: Vec::new(),
        top_tags: top_tags.clone(),
    };
    summary.slots.hottest = (0..20).map(hot).collect();
    let long = || "<".repeat(1 << 20);
    summary.verdict.sentence = long();
    summary.input.warnings = (0..1000).map(|_| long()).collect();
    summary.input.notes = (0..1000).map(|_| long()).collect();
    summary
}

#[test]
fn the_page_stays_small_whatever_the_dump() {
    let page = page(&largest());
    assert!(page.len() <= MAX_BYTES, "{} bytes", page.len());
    assert!(
        page.len() > MAX_BYTES / 2,
        "{} bytes: there is room for more",
        page.len()
    );
}

#[test]
fn the_page_holds_one_script_and_one_style_of_ours() {
    for page in [page(&empty()), page(&largest())] {
        assert_eq!(page.matches("<script").count(), 2);
        assert_eq!(page.matches("</script").count(), 2);
        assert_eq!(page.matches("<style").count(), 1);
        assert!(!page.contains(" style=") && !page.contains("<<"));
        let head = page.split("<style>").next().unwrap();
        assert!(
            head.contains("default-src 'none'; script-src 'sha256-") && !head.contains("unsafe")
        );
        assert!(
            page.contains(&format!("<script>{SCRIPT}</script>"))
                && page.contains(&format!("<style>{}</style>", *STYLE))
        );
    }
}

#[test]
fn colours_come_from_the_palette_alone() {
    for (file, text) in [
        ("page.css", include_str!("page.css")),
        ("parts.css", include_str!("parts.css")),
        ("page.js", include_str!("page.js")),
        ("tables.js", include_str!("tables.js")),
        ("slots.js", include_str!("slots.js")),
        ("slots_panel.js", include_str!("slots_panel.js")),
    ] {
        let is_hex = |word: &str| {
            word.len() >= 3 && word.len() <= 8 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
        };
        let words = text.split('#').skip(1);
        let words = words.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric()).next());
        let colours: Vec<_> = words.filter(|word| is_hex(word)).collect();
        assert_eq!(colours, [""; 0], "{file}");
    }
}

#[test]
fn every_variable_that_is_used_is_set() {
    let used = STYLE.split("var(").skip(1);
    let used = used.chain(SCRIPT.split("colourOf(\"").skip(1));
    let used: Vec<_> = used
        .filter_map(|rest| rest.split([')', ',', '"']).next())
        .collect();
    assert!(used.len() > 50, "{}", used.len());
    for name in used {
        assert!(STYLE.contains(&format!("{name}:")), "{name}");
    }
}
