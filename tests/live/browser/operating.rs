//! Operating the page: the map and the tables respond to pointer and keyboard.

use super::{column, of_sample, open, open_at_the_map, sample};
use testkit::chromium::Tab;
use testkit::prelude::*;

/// Number of visible rows.
fn seen(tab: &mut Tab, table: &str) -> usize {
    tab.count(&format!("#{table} tbody tr:not([hidden])"))
}

#[test]
fn the_slot_map_answers_to_pointer_and_keys() {
    let report = sample();
    let json = &report.json;
    let mut tab = open_at_the_map(&report);
    let check = |tab: &mut Tab, slot: usize| {
        assert_eq!(tab.text("#under h3"), format!("Slot {slot}"));
        let keys = tab.eval("Number(document.querySelector('#under dd[data-v]').dataset.v)");
        assert_eq!(keys, json["slots"]["keys"][slot]);
        let is_in = |of: &Value| (of[0].whole()..=of[1].whole()).contains(&(slot as u64));
        let mut nodes = json["nodes"]["list"].list().iter();
        let node = nodes.find(|node| node["ranges"].list().iter().any(is_in));
        // All nodes have the same port.
        let address = node.unwrap()["address"].text().strip_suffix(":6379");
        assert_eq!(Some(tab.text("#under dd").as_str()), address);
    };
    let hottest = &json["slots"]["hottest"];
    let hottest = [0, 1].map(|at: usize| hottest[at]["slot"].whole() as usize);
    check(&mut tab, hottest[0]);
    tab.text("#under").says("{common}");
    let middle = |slot: usize| {
        let [x, y] = [slot % 128, slot / 128].map(|cell| (cell as f64 + 0.5) / 128.0);
        (x, y)
    };
    for slot in [0, 127, 5461, 8192, 16383] {
        tab.hover("#map", middle(slot));
        check(&mut tab, slot);
    }
    tab.hover("#map", middle(1000));
    tab.eval("document.querySelector('#map').focus()");
    let moves = "ArrowRight 1001, ArrowLeft 1000, ArrowDown 1128, ArrowUp 1000, End 1023, Home 896, \
         PageDown 2944, PageUp 896, PageUp 0, ArrowUp 0, ArrowLeft 0";
    for (key, slot) in moves.split(", ").map(|pair| pair.split_once(' ').unwrap()) {
        tab.press(key);
        check(&mut tab, slot.parse().unwrap());
    }
    tab.click("#hottest");
    check(&mut tab, hottest[1]);
    tab.eval("(() => { const i = document.querySelector('#slot'); i.focus(); i.select(); })()");
    tab.type_text("12182");
    check(&mut tab, 12182);
    assert_eq!(tab.count("#under[aria-live=polite]"), 1);

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
    tab.has_no_fault();
}

#[test]
fn tables_sort_and_filter_by_pointer_and_keyboard() {
    let report = sample();
    let mut tab = open(&report);
    assert_eq!(seen(&mut tab, "tags-table"), 20);
    let first = |tab: &mut Tab| tab.text("#tags-table tbody tr:not([hidden]) th");
    let heaviest = first(&mut tab);
    let slots = |tab: &mut Tab, order: &str| {
        let head = format!("#tags-table thead th:nth-child(2)[aria-sort={order}]");
        assert_eq!(tab.count(&head), 1);
        let slots = column(tab, "tags-table", 2).into_iter();
        slots
            .map(|slot| slot.parse::<u64>().unwrap())
            .collect::<Vec<_>>()
    };
    tab.click("#tags-table thead th:nth-child(2) button");
    let falling = slots(&mut tab, "descending");
    assert!(falling.is_sorted_by(|a, b| a >= b), "{:?}", &falling[..5]);
    // The same header again, by keyboard.
    tab.press("Enter");
    let rising = slots(&mut tab, "ascending");
    assert!(rising.is_sorted(), "{:?}", &rising[..5]);
    tab.click("#tags-table thead th:nth-child(1) button");
    let names = tab.texts("#tags-table tbody th");
    assert!(names.is_sorted(), "{:?}", &names[..5]);
    assert_eq!(seen(&mut tab, "tags-table"), 20);

    tab.click("#tags-table [data-filter]");
    tab.type_text("COMMON");
    assert_eq!(seen(&mut tab, "tags-table"), 1);
    assert_eq!(first(&mut tab), heaviest);
    let count = tab.text("#tags-table [data-count]");
    assert_eq!(count, format!("1 of {} rows", names.len()));
    tab.eval("(() => { const i = document.querySelector('#tags-table [data-filter]'); i.value = ''; i.dispatchEvent(new Event('input')); })()");
    assert_eq!(seen(&mut tab, "tags-table"), 20);
    tab.click("#tags-table [data-all]");
    assert_eq!(seen(&mut tab, "tags-table"), names.len());
    tab.has_no_fault();
}

#[test]
fn the_keyboard_reaches_everything_and_shows_where_it_is() {
    let report = sample();
    let mut tab = open(&report);
    tab.press("Tab");
    assert_eq!(tab.text(":focus"), "Skip to the report");
    let is_seen = tab.eval("document.activeElement.getBoundingClientRect().top >= 0");
    assert_eq!(is_seen, true);
    let mut reached = Vec::new();
    for _ in 0..400 {
        tab.press("Tab");
        let [id, outlined, tag]: [Value; 3] = serde_json::from_value(tab.eval("[document.activeElement.id, document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none', document.activeElement.cloneNode().outerHTML]")).unwrap();
        assert_eq!(outlined, true, "no outline on {tag}");
        reached.push(id.text().to_owned());
    }
    for id in ["theme", "map", "slot", "hottest", "borders"] {
        assert!(reached.iter().any(|of| of == id), "{id} is not reached");
    }
    assert_eq!(tab.count("th:not([scope])"), 0);
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
    tab.until("document.querySelector('#search').value === '\"shop-2\"'");
    tab.text("#found").says("Big keys");
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
    found
        .says("Nothing on this page")
        .says("the CSV files have more");
    assert_eq!(tab.eval("location.hash"), "#?find=no+such+name");
    tab.has_no_fault();
}

#[test]
fn a_table_can_be_taken_away_as_csv_and_markdown() {
    let report = of_sample("shop.csv.zst", "shop.nodes");
    let mut tab = open(&report);
    let buttons = tab.texts("#nodes-table .take button");
    assert_eq!(buttons, ["CSV", "Copy as Markdown"]);
    let csv = tab.eval("asCsv(taken(document.querySelector('#nodes-table table')))");
    csv.text().begins("node,slots,keys,bytes,ops,");
    csv.text().says("\nshop-3,3276,42098,363746676,2804824,");
    let hostile =
        tab.eval("asCsv([['=1+1', 'a,\"b\"', '-1']]) + '\\n' + asMarkdown([['k'], ['a|b`']])");
    let expected = "'=1+1,\"a,\"\"b\"\"\",-1\n| k |\n| --- |\n| `a\\|b'` |";
    assert_eq!(hostile, expected);
}
