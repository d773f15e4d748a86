//! Operating the page: the map and the tables respond to pointer and keyboard.

use super::{column, of_sample, open, sample};
use testkit::chromium::Tab;
use testkit::prelude::*;

/// Number of visible rows.
fn seen(tab: &mut Tab, table: &str) -> u64 {
    tab.eval(&format!(
        "document.querySelectorAll('#{table} tbody tr:not([hidden])').length"
    ))
    .whole()
}

#[test]
fn the_slot_map_answers_to_pointer_and_keys() {
    let report = sample();
    let json = &report.json;
    let mut tab = open(&report);
    let check = |tab: &mut Tab, slot: usize| {
        assert_eq!(tab.text("#under h3"), format!("Slot {slot}"));
        assert_eq!(
            tab.eval("Number(document.querySelector('#under dd[data-v]').dataset.v)"),
            json["slots"]["keys"][slot]
        );
        let node = json["nodes"]["list"].list().iter().find(|node| {
            let ranges = node["ranges"].list();
            ranges
                .iter()
                .any(|range| (range[0].whole()..=range[1].whole()).contains(&(slot as u64)))
        });
        assert_eq!(
            Some(tab.text("#under dd").as_str()),
            // All nodes have the same port.
            node.unwrap()["address"].text().strip_suffix(":6379")
        );
    };
    let hottest: Vec<usize> = json["slots"]["hottest"]
        .list()
        .iter()
        .map(|slot| slot["slot"].whole() as usize)
        .collect();
    check(&mut tab, hottest[0]);
    assert!(
        tab.text("#under").contains("{common}"),
        "the tags of the hottest slot are not named"
    );
    let middle = |slot: usize| {
        (
            (slot % 128) as f64 / 128.0 + 1.0 / 256.0,
            (slot / 128) as f64 / 128.0 + 1.0 / 256.0,
        )
    };
    for slot in [0, 127, 5461, 8192, 16383] {
        tab.hover("#map", middle(slot));
        check(&mut tab, slot);
    }
    tab.hover("#map", middle(1000));
    tab.eval("document.querySelector('#map').focus()");
    let moves = [
        ("ArrowRight", 1001),
        ("ArrowLeft", 1000),
        ("ArrowDown", 1128),
        ("ArrowUp", 1000),
    ];
    let further = [
        ("End", 1023),
        ("Home", 896),
        ("PageDown", 2944),
        ("PageUp", 896),
        ("PageUp", 0),
        ("ArrowUp", 0),
        ("ArrowLeft", 0),
    ];
    for (key, slot) in moves.into_iter().chain(further) {
        tab.press(key);
        check(&mut tab, slot);
    }
    tab.click("#hottest");
    check(&mut tab, hottest[1]);
    tab.eval("(() => { const i = document.querySelector('#slot'); i.focus(); i.select(); })()");
    tab.type_text("12182");
    check(&mut tab, 12182);
    assert_eq!(
        tab.eval("document.querySelector('#under').getAttribute('aria-live')"),
        "polite"
    );

    // Each setting draws another picture.
    let picture = |tab: &mut Tab| {
        tab.eval("document.querySelector('#map').toDataURL().length + document.querySelector('#map').toDataURL().slice(-3000)")
    };
    let mut pictures = vec![picture(&mut tab)];
    for switch in ["#scale input[value=log]", "#borders", "#theme"] {
        tab.click(switch);
        let drawn = picture(&mut tab);
        assert!(!pictures.contains(&drawn), "{switch} changes nothing");
        pictures.push(drawn);
    }
    assert_eq!(tab.faults(), Vec::<String>::new());
}

#[test]
fn tables_sort_and_filter_by_pointer_and_keyboard() {
    let report = sample();
    let mut tab = open(&report);
    assert_eq!(seen(&mut tab, "tags-table"), 20);
    let first = |tab: &mut Tab| tab.text("#tags-table tbody tr:not([hidden]) th");
    let heaviest = first(&mut tab);
    tab.click("#tags-table thead th:nth-child(2) button");
    let slots: Vec<u64> = column(&mut tab, "tags-table", 2)
        .iter()
        .map(|slot| slot.parse().unwrap())
        .collect();
    assert!(slots.is_sorted_by(|a, b| a >= b), "{:?}", &slots[..5]);
    assert_eq!(
        tab.eval("document.querySelector('#tags-table thead th:nth-child(2)').ariaSort"),
        "descending"
    );
    // The same header again, by keyboard.
    tab.press("Enter");
    let slots: Vec<u64> = column(&mut tab, "tags-table", 2)
        .iter()
        .map(|slot| slot.parse().unwrap())
        .collect();
    assert!(slots.is_sorted(), "{:?}", &slots[..5]);
    assert_eq!(
        tab.eval("document.querySelector('#tags-table thead th:nth-child(2)').ariaSort"),
        "ascending"
    );
    tab.click("#tags-table thead th:nth-child(1) button");
    let names = tab.texts("#tags-table tbody th");
    assert!(names.is_sorted(), "{:?}", &names[..5]);
    assert_eq!(seen(&mut tab, "tags-table"), 20);

    tab.click("#tags-table [data-filter]");
    tab.type_text("COMMON");
    assert_eq!(
        (seen(&mut tab, "tags-table"), first(&mut tab)),
        (1, heaviest)
    );
    assert_eq!(
        tab.text("#tags-table [data-count]"),
        format!("1 of {} rows", names.len())
    );
    tab.eval("(() => { const i = document.querySelector('#tags-table [data-filter]'); i.value = ''; i.dispatchEvent(new Event('input')); })()");
    assert_eq!(seen(&mut tab, "tags-table"), 20);
    tab.click("#tags-table [data-all]");
    assert_eq!(seen(&mut tab, "tags-table"), names.len() as u64);
    assert_eq!(tab.faults(), Vec::<String>::new());
}

#[test]
fn the_keyboard_reaches_everything_and_shows_where_it_is() {
    let report = sample();
    let mut tab = open(&report);
    tab.press("Tab");
    assert_eq!(tab.text(":focus"), "Skip to the report");
    assert_eq!(
        tab.eval("document.activeElement.getBoundingClientRect().top >= 0"),
        true
    );
    let wanted = ["theme", "map", "slot", "hottest", "borders"];
    let mut reached = Vec::new();
    for _ in 0..400 {
        tab.press("Tab");
        let [id, outlined, tag]: [Value; 3] = serde_json::from_value(tab.eval("[document.activeElement.id, document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none', document.activeElement.cloneNode().outerHTML]")).unwrap();
        assert_eq!(outlined, true, "no outline on {tag}");
        reached.push(id.text().to_owned());
    }
    let missed: Vec<_> = wanted
        .into_iter()
        .filter(|id| !reached.iter().any(|reached| reached == id))
        .collect();
    assert!(missed.is_empty(), "{missed:?} are not reached");
    let heads = tab.eval("document.querySelectorAll('th:not([scope])').length");
    assert_eq!(heads, 0);
    let unnamed = tab.eval("[...document.querySelectorAll('input')].filter((e) => !e.labels.length).length + [...document.querySelectorAll('button')].filter((e) => !e.textContent.trim()).length");
    assert_eq!(unnamed, 0);
    let twice = tab
        .eval("[...document.querySelectorAll('[id]')].map((e) => e.id).filter((id, i, all) => all.indexOf(id) !== i)");
    assert_eq!(twice, json!([]));
}

/// Navigates to a fragment of the page.
fn follow(tab: &mut Tab, hash: &str) {
    tab.eval(&format!(
        "new Promise((done) => {{ addEventListener('hashchange', () => setTimeout(done, 0), {{ once: true }}); location.hash = {}; }})",
        json!(hash)
    ));
}

#[test]
fn an_address_leads_to_a_slot_a_sorted_table_and_a_search() {
    let report = of_sample("shop.csv.zst", "shop.nodes");
    let mut tab = open(&report);
    follow(&mut tab, "#slot-4096");
    assert_eq!(tab.text("#under h3"), "Slot 4096");
    // From a node to everything the page knows about it, and back.
    tab.click("#under dd a");
    tab.eval("new Promise((done) => setTimeout(done, 100))");
    assert_eq!(
        tab.eval("document.querySelector('#search').value"),
        "\"shop-2\""
    );
    assert_contains(&tab.text("#found"), &["Big keys"]);
    assert_eq!(seen(&mut tab, "nodes-table"), 1);
    follow(&mut tab, "#?find=");
    assert_eq!(seen(&mut tab, "nodes-table"), 6);
    // The URL contains the order and the filter.
    tab.click("#nodes-table thead th:nth-child(2) button");
    let address = tab.eval("location.hash");
    assert_eq!(address, "#nodes-table?sort=1&order=descending");
    follow(&mut tab, "#hot-keys-table?find=config");
    assert_eq!(seen(&mut tab, "hot-keys-table"), 1);
    // A search without results says what it did not search.
    tab.click("#search");
    tab.type_text("no such name");
    let found = tab.text("#found");
    assert!(found.contains("Nothing on this page"), "{found}");
    assert!(found.contains("shown of 1,000"), "{found}");
    assert_eq!(tab.eval("location.hash"), "#?find=no+such+name");
    assert_eq!(tab.faults(), Vec::<String>::new());
}

#[test]
fn a_table_can_be_taken_away_as_csv_and_markdown() {
    let report = of_sample("shop.csv.zst", "shop.nodes");
    let mut tab = open(&report);
    let buttons = tab.texts("#nodes-table .take button");
    assert_eq!(buttons, ["CSV", "Copy as Markdown"]);
    let csv = tab.eval("asCsv(taken(document.querySelector('#nodes-table table')))");
    let csv = csv.text();
    assert!(csv.starts_with("node,slots,keys,bytes,ops,"), "{csv}");
    assert_contains(csv, &["\nshop-3,3276,42098,363746676,2804824,"]);
    let hostile =
        tab.eval("asCsv([['=1+1', 'a,\"b\"', '-1']]) + '\\n' + asMarkdown([['k'], ['a|b`']])");
    assert_eq!(
        hostile,
        "'=1+1,\"a,\"\"b\"\"\",-1\n| k |\n| --- |\n| `a\\|b'` |"
    );
}
