//! report.html in a real browser: hostile names are plain text, nothing is fetched, the map and the tables
//! answer to pointer and keys, and the numbers are those of report.json. Screenshots go to target/browser/.

use std::path::{Path, PathBuf};

use crate::support::chromium::{Chromium, Tab};
use crate::support::run::{Scratch, root, succeeded};
use serde_json::{Value, json};
use slotscope::name::Name;

/// Names that are hard on a page; each is a tag as well.
fn hostile() -> Vec<Vec<u8>> {
    let mut names: Vec<Vec<u8>> = [
        &b"<script>alert(1)</script>"[..],
        b"</script><script>alert(2)</script>",
        b"<!--<script>",
        b"]]><img src=x onerror=alert(3)>",
        b"<svg/onload=alert(4)>",
        b"javascript:alert(5)",
        b"\" onmouseover=\"alert(6)\" x=\"",
        b"' autofocus onfocus='alert(7)",
        b"&lt;b&gt;&amp;",
        "\u{202e}gnp.exe\u{2066}".as_bytes(),
        "שלום עולם:مرحبا".as_bytes(),
        b"\x1b[31mred\x1b[0m",
        b"=cmd()|' /C calc'!A0",
        b"{{7*7}}${7*7}<%= 7 %>",
        b"\xff\xfe invalid \x80",
        b"nul\0inside",
        "\u{2028}line\u{2029}".as_bytes(),
        b"back\\slash \\u003c \\x3c",
        b"__proto__",
    ]
    .map(<[u8]>::to_vec)
    .to_vec();
    names.push([b"<long>".to_vec(), vec![b'x'; 1 << 20]].concat());
    names
}

/// A name as `redis-cli --no-raw` prints it.
fn quoted(name: &[u8]) -> String {
    let escaped: String = name.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    format!("\"{escaped}\"\n")
}

/// A dump whose keys, tags, prefixes and patterns are hostile.
fn hostile_dump() -> Vec<u8> {
    let keys = hostile().into_iter().enumerate().flat_map(|(index, name)| {
        let tagged = (0..=index).map({
            let name = name.clone();
            move |i| [b"p:{", name.as_slice(), b"}:", i.to_string().as_bytes()].concat()
        });
        tagged.chain([name.clone(), [name.as_slice(), b":a:b"].concat()])
    });
    keys.map(|key| quoted(&key))
        .collect::<String>()
        .into_bytes()
}

/// A table with sizes, operations, types and databases, and hostile names.
fn weighed_dump() -> Vec<u8> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table
        .write_record(["key", "size", "ops", "type", "db", "ttl"])
        .unwrap();
    for (index, name) in hostile().into_iter().enumerate() {
        let name = name
            .into_iter()
            .filter(|byte| *byte != 0)
            .take(2000)
            .collect::<Vec<_>>();
        for i in 0..40 {
            let key = [name.as_slice(), format!(":{{{}}}", i * 7).as_bytes()].concat();
            let size = (index * index * 1000 + 50 * i).to_string();
            let row = [
                key,
                size.into(),
                (i * 3).to_string().into(),
                name.clone(),
                (i % 3).to_string().into(),
                "0".into(),
            ];
            table.write_record(row).unwrap();
        }
    }
    table.into_inner().unwrap()
}

/// A report, its page, and what report.json says.
struct Report {
    _scratch: Scratch,
    page: PathBuf,
    json: Value,
}

fn report(dump: &[u8], flags: &[&str]) -> Report {
    let scratch = Scratch::new();
    scratch.file("dump", dump);
    succeeded(scratch.run(&[&["analyze", "dump", "--out", "report"], flags].concat()));
    let json = std::fs::read(scratch.path("report/report.json")).unwrap();
    Report {
        page: scratch.path("report/report.html"),
        json: serde_json::from_slice(&json).unwrap(),
        _scratch: scratch,
    }
}

/// A report whose headings name a file that no line of a telephone has room for.
fn with_a_long_path() -> Report {
    let nodes = root().join("samples/seed-cluster.nodes");
    let scratch = Scratch::new();
    let long = scratch.path(&"n".repeat(200));
    std::fs::copy(nodes, &long).unwrap();
    report(b"a\nb\n", &["--topology", long.to_str().unwrap()])
}

fn sample() -> Report {
    of_sample("commerce.keys", "seed-cluster.nodes")
}

fn of_sample(dump: &str, nodes: &str) -> Report {
    let dump = std::fs::read(root().join("samples").join(dump)).unwrap();
    let nodes = root().join("samples").join(nodes);
    report(&dump, &["--topology", nodes.to_str().unwrap()])
}

fn open(report: &Report) -> Tab {
    let mut tab = Chromium::start().tab(1440, "light");
    tab.open(&report.page);
    tab
}

/// The exact numbers of a column of a table, from the top.
fn column(tab: &mut Tab, table: &str, column: usize) -> Vec<String> {
    let cells = format!("#{table} tbody tr > :nth-child({column})");
    let values = tab.eval(&format!(
        "[...document.querySelectorAll({cells:?})].map((e) => e.dataset.v)"
    ));
    serde_json::from_value(values).unwrap()
}

/// Rows that are seen.
fn seen(tab: &mut Tab, table: &str) -> u64 {
    tab.eval(&format!(
        "document.querySelectorAll('#{table} tbody tr:not([hidden])').length"
    ))
    .as_u64()
    .unwrap()
}

#[test]
fn hostile_names_are_shown_as_plain_text() {
    let [names, weighed] = [
        (hostile_dump(), &["--format", "quoted"][..]),
        (weighed_dump(), &["--by", "bytes"]),
    ]
    .map(|(dump, flags)| report(&dump, flags));
    for report in [&names, &weighed] {
        let size = std::fs::metadata(&report.page).unwrap().len();
        assert!(
            size < slotscope::report::render::html::MAX_BYTES as u64,
            "{size} bytes"
        );
        let mut tab = open(report);
        assert_eq!(tab.eval("[document.scripts.length, document.images.length, document.querySelectorAll('[onload],[onerror],[onfocus],[onmouseover],a:not([href^=\"#\"])').length]"), json!([2, 0, 0]));
        for button in [
            "#hottest",
            "#open-all",
            "#theme",
            "#tags-table thead th:nth-child(4) button",
        ] {
            tab.click(button);
        }
        assert_eq!(tab.faults(), Vec::<String>::new());
    }
    let mut tab = open(&names);
    let shown = tab.texts("#tags-table tbody th");
    for name in hostile().iter().filter(|name| name.len() < 100) {
        let spelling = format!("{{{}}}", Name::from(name.as_slice()));
        // A tag ends at its first brace.
        let spelling = if name.starts_with(b"{{") {
            String::from("{{{7*7}")
        } else {
            spelling
        };
        assert!(
            shown.contains(&spelling),
            "{spelling} is not among {shown:?}"
        );
    }
    let longest = shown.iter().max_by_key(|name| name.len()).unwrap();
    assert!(
        longest.ends_with("…}") && longest.starts_with("{<long>xxx"),
        "{longest}"
    );
}

#[test]
fn only_the_script_of_the_page_runs_and_nothing_is_fetched() {
    let report = sample();
    let mut tab = open(&report);
    assert_eq!(tab.faults(), Vec::<String>::new());
    // Each is what a name that slipped through would do; a policy that lets it pass answers otherwise.
    let inline = "new Promise((done) => { document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective), {once: true}); const s = document.createElement('script'); s.append('window.owned = 1'); document.body.append(s); setTimeout(() => done('ran'), 5000); })";
    let directive = tab.eval(inline);
    assert!(
        ["script-src-elem", "require-trusted-types-for"].contains(&directive.as_str().unwrap()),
        "{directive}"
    );
    let fetched = tab.eval("fetch('http://127.0.0.1:9/').then(() => 'fetched', (e) => e.message)");
    assert!(
        fetched.as_str().unwrap().contains("Failed to fetch"),
        "{fetched}"
    );
    let image = "new Promise((done) => { document.addEventListener('securitypolicyviolation', (e) => done(e.effectiveDirective), {once: true}); const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i); setTimeout(() => done('asked'), 5000); })";
    assert_eq!(tab.eval(image), "img-src");
    let markup = tab
        .eval("(() => { try { document.body.innerHTML = '<b>x</b>'; return 'set'; } catch (e) { return e.name; } })()");
    assert_eq!(markup, "TypeError");
    assert_eq!(tab.eval("typeof window.owned"), "undefined");
    assert!(
        !tab.faults().is_empty(),
        "violations are not seen, so their absence says nothing"
    );
}

#[test]
fn the_numbers_are_those_of_report_json() {
    for (report, by) in [
        (sample(), "keys"),
        (report(&weighed_dump(), &["--by", "bytes"]), "bytes"),
    ] {
        let json = &report.json;
        let mut tab = open(&report);
        let facts = tab.eval("Object.fromEntries([...document.querySelectorAll('.facts dd')].map((e) => [e.dataset.name, Number(e.dataset.v)]))");
        assert_eq!(json["verdict"]["metric"], by);
        let found = json["verdict"]["by_metric"].as_array().unwrap();
        let worst = found.iter().find(|found| found["metric"] == by).unwrap();
        let expected = json!({
            "input.keys": json["input"]["keys"], "nodes.max_over_mean": json["nodes"][by]["max_over_mean"],
            "verdict.usable_capacity": worst["usable_capacity"], "tags.distinct": json["tags"]["distinct"],
            "nodes.count": json["nodes"]["list"].as_array().unwrap().len(),
        });
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(facts[name].as_f64(), value.as_f64(), "{name}");
        }
        let numbers = |path: &Value, field: &str| -> Vec<String> {
            path.as_array()
                .unwrap()
                .iter()
                .map(|row| row[field].to_string())
                .collect()
        };
        assert_eq!(
            column(&mut tab, "nodes-table", 3),
            numbers(&json["nodes"]["list"], "keys")
        );
        assert_eq!(
            column(&mut tab, "hot-slots-table", 3),
            numbers(&json["slots"]["hottest"], "keys")
        );
        let tags = column(&mut tab, "tags-table", 4);
        assert_eq!(tags, numbers(&json["tags"]["top"], "keys")[..tags.len()]);
        assert!(tags.len() >= 20 || tags.len() == json["tags"]["top"].as_array().unwrap().len());
        let patterns = column(&mut tab, "patterns-table", 2);
        assert_eq!(
            patterns,
            numbers(&json["patterns"]["top"], "keys")[..patterns.len()]
        );
        let mut tree: Vec<u64> = serde_json::from_value(tab.eval(
            "[...document.querySelectorAll('.tree [data-v]')].map((e) => Number(e.dataset.v))",
        ))
        .unwrap();
        let mut prefixes: Vec<u64> = json["prefixes"]["top"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row[by].as_u64().unwrap())
            .collect();
        tree.sort_unstable_by(|a, b| b.cmp(a));
        prefixes.truncate(tree.len());
        assert!(!tree.is_empty() && tree == prefixes);
        for metric in ["keys", by] {
            assert_eq!(
                tab.eval(&format!("exact.{metric}.map(Number)")),
                json["slots"][metric],
                "{metric}"
            );
        }
        let sentence = tab.text(".sentence").to_lowercase();
        assert_eq!(
            sentence,
            json["verdict"]["sentence"].as_str().unwrap().to_lowercase()
        );
    }
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
        let node = json["nodes"]["list"]
            .as_array()
            .unwrap()
            .iter()
            .find(|node| {
                let ranges = node["ranges"].as_array().unwrap();
                ranges.iter().any(|range| {
                    (range[0].as_u64().unwrap()..=range[1].as_u64().unwrap())
                        .contains(&(slot as u64))
                })
            });
        assert_eq!(
            tab.text("#under dd"),
            node.unwrap()["address"].as_str().unwrap()
        );
    };
    let hottest: Vec<usize> = json["slots"]["hottest"]
        .as_array()
        .unwrap()
        .iter()
        .map(|slot| slot["slot"].as_u64().unwrap() as usize)
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

    // Each switch draws another picture.
    let picture = |tab: &mut Tab| {
        tab.eval("document.querySelector('#map').toDataURL().length + document.querySelector('#map').toDataURL().slice(-3000)")
    };
    let mut pictures = vec![picture(&mut tab)];
    for switch in ["#scale input[value=linear]", "#borders", "#theme"] {
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
    // The same head again, by key.
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
    let wanted = ["theme", "map", "slot", "hottest", "borders", "open-all"];
    let mut reached = Vec::new();
    for _ in 0..200 {
        tab.press("Tab");
        let [id, outlined]: [Value; 2] = serde_json::from_value(tab.eval("[document.activeElement.id, document.activeElement === document.body || getComputedStyle(document.activeElement).outlineStyle !== 'none']")).unwrap();
        assert_eq!(outlined, true, "no outline on {id}");
        reached.push(id.as_str().unwrap().to_owned());
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

#[test]
fn without_script_the_verdict_the_nodes_and_the_tags_are_there() {
    let report = sample();
    let mut tab = Chromium::start().tab(1440, "light");
    tab.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    tab.open(&report.page);
    let seen = tab.eval("document.body.innerText");
    let seen = seen.as_str().unwrap();
    for words in [
        "{common}",
        "172.26.0.6:6379",
        "slot-heatmap.png",
        "Hash tags",
        "Prefixes",
    ] {
        assert!(seen.contains(words), "{words} is not seen");
    }
    assert!(
        !seen.contains("Show all") && !seen.contains("Filter"),
        "controls that do nothing are seen"
    );
}

/// Texts whose contrast is too low to be read (WCAG 2.2, 1.4.3: 4.5 to 1), and parts that stick out on the right.
pub const UNREADABLE: &str = r#"(() => {
  const parse = (colour) => { const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true}); c.fillStyle = colour; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255).map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor); if (c[3] === 255) return c; } return [255, 255, 255]; };
  const wrong = [];
  for (const e of document.querySelectorAll('main *, header *')) {
    if (!e.checkVisibility() || ![...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim())) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) wrong.push(`${e.tagName}.${e.className} ${e.textContent.slice(0, 30)} ${ratio.toFixed(2)}`);
    if (!e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth + 1) wrong.push(`${e.tagName}.${e.className} sticks out: ${e.textContent.slice(0, 30)}`);
  }
  for (const table of document.querySelectorAll('.scroll')) {
    const over = table.scrollWidth - table.clientWidth;
    if (over > 1) wrong.push(`${table.parentElement.id} has numbers off the screen, ${over} px`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
  return [...new Set(wrong)].slice(0, 20);
})()"#;

#[test]
fn every_width_in_both_themes_is_readable() {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .parent()
        .unwrap()
        .join("browser");
    let reports = [
        ("commerce", sample()),
        ("shop", of_sample("shop.csv.zst", "shop.nodes")),
        ("hostile", report(&hostile_dump(), &["--format", "quoted"])),
        (
            "weighed",
            report(
                &weighed_dump(),
                &[
                    "--by",
                    "bytes",
                    "--maxmemory",
                    "8mb",
                    "--growth",
                    "5",
                    "--nodes",
                    "6",
                ],
            ),
        ),
        ("empty", report(b"", &[])),
        ("long-path", with_a_long_path()),
    ];
    let mut found = Vec::new();
    for width in [1440, 820, 390] {
        for theme in ["light", "dark"] {
            let mut tab = Chromium::start().tab(width, theme);
            for (name, report) in &reports {
                tab.open(&report.page);
                let unreadable = tab.eval(UNREADABLE);
                tab.screenshot(&pictures.join(format!("{name}-{width}-{theme}.png")));
                if unreadable != json!([]) {
                    found.push(format!("{name} at {width} px, {theme}: {unreadable}"));
                }
                assert_eq!(
                    tab.faults(),
                    Vec::<String>::new(),
                    "{name} at {width} px, {theme}"
                );
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
