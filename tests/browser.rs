//! report.html in a real Chromium, from disk, without a network: it says what report.json says, its map, tables and
//! filters work, and no name in it is ever markup. Screenshots of it are left in target/browser for people to look at.

#[path = "support/chromium.rs"]
mod chromium;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use base64::Engine;
use chromium::{Chromium, Page};
use serde_json::{Value, json};

/// Names that do something wherever they are not taken as text. All have a hash tag.
const HOSTILE: &[&str] = &[
    "{<script>alert(1)</script>}:a",
    "{</script><script>alert(2)</script>}:a",
    "{<!--<script>}:a",
    "{<img src=x onerror=alert(3)>}:a",
    "{javascript:alert(4)}:a",
    "{\" onmouseover=\"alert(5)}:a",
    "{' onfocus='alert(6)}:a",
    "{=cmd()|' /C calc'!A0}:a",
    "{\u{202e}txt.exe}:a",
    "{\u{1b}[31mred\u{7}}:a",
    "{&lt;b&gt;&amp;}:a",
    "{nul\0byte}:a",
    "{line\nend}:a",
    "{\u{2028}\u{2029}}:a",
    "{ключ}:a",
    "{${alert(7)}}:a",
];

/// A dump of those names, of a name of a mebibyte and one that is no UTF-8, in a file whose name is no better.
fn dump(folder: &Path) -> PathBuf {
    let mut csv = b"key,size,ops\n".to_vec();
    let mut row = |key: &[u8], size: usize| {
        let key: Vec<u8> =
            key.iter().flat_map(|byte| std::iter::repeat_n(*byte, 1 + usize::from(*byte == b'"'))).collect();
        csv.extend([b"\"", key.as_slice(), format!("\",{size},{}\n", size % 7).as_bytes()].concat());
    };
    for (i, key) in HOSTILE.iter().enumerate() {
        (0..20 * (i + 1)).for_each(|n| row(format!("{key}{n}").as_bytes(), 100 * (i + 1)));
    }
    row(&[b"{", vec![b'<'; 1 << 20].as_slice(), b"}"].concat(), 5);
    row(b"{\xff\xfe<b>}", 7);
    (0..20_000).for_each(|i| row(format!("shop:cart:{i}").as_bytes(), 50));
    let path = folder.join("<img src=x onerror=alert(8)>.csv");
    fs::write(&path, csv).unwrap();
    path
}

/// The whole report, its page and its JSON.
fn report(folder: &Path, dump: &Path) -> (PathBuf, Value) {
    let out = folder.join("out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_slotscope"));
    command.args(["analyze", "--nodes", "3", "--maxmemory", "1mb", "--growth", "5", "--out"]).args([&out, dump]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = serde_json::from_slice(&fs::read(out.join("report.json")).unwrap()).unwrap();
    (out.join("report.html"), json)
}

/// The number in a cell, by the table's id and counted from 0.
fn cell(page: &mut Page<'_>, table: &str, row: usize, column: usize) -> Value {
    let text = page.text(&format!("document.querySelector('#{table} tbody').rows[{row}].cells[{column}].dataset.v"));
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[test]
fn the_page_of_a_hostile_dump_is_safe_works_and_tells_the_truth() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (path, report) = report(folder.path(), &dump(folder.path()));
    assert!(fs::metadata(&path).unwrap().len() < 1_500_000);
    let mut page = chromium.open(&path, 1440, "light");

    // Nothing but the file was asked for, nothing ran that was not meant to.
    assert_eq!(page.value("document.scripts.length"), 2);
    assert_eq!(
        page.value("document.querySelectorAll('img, iframe, [onmouseover], [onfocus], [onerror], b b').length"),
        0
    );
    let listed = report["tags"]["top"].as_array().unwrap();
    assert_eq!(listed.len(), HOSTILE.len() + 2);
    for (i, tag) in listed.iter().enumerate() {
        let shown = page.text(&format!("document.querySelector('#tags tbody').rows[{i}].cells[0].textContent"));
        let tag = tag["tag"].as_str().unwrap();
        match shown.strip_suffix('…') {
            Some(start) => assert!(tag.starts_with(start) && start.len() >= 100 && tag.len() >= 1 << 20),
            None => assert_eq!(shown, tag),
        }
    }
    let name = page.text("document.querySelector('#made dd').textContent");
    assert!(name.contains("<img src=x onerror=alert(8)>"), "{name}");

    the_numbers_are_those_of_the_json(&mut page, &report);
    the_map_answers(&mut page, &report);
    tables_sort_and_filter(&mut page);
    the_policy_holds(&mut page);
    page.assert_quiet();
}

fn the_numbers_are_those_of_the_json(page: &mut Page<'_>, report: &Value) {
    assert_eq!(page.text("document.querySelector('h1').textContent"), report["skew"]["sentence"].as_str().unwrap());
    assert_eq!(page.text("document.querySelector('.word').textContent"), report["skew"]["verdict"].as_str().unwrap());
    for (i, node) in report["nodes"]["list"].as_array().unwrap().iter().enumerate() {
        for (column, field) in ["slots", "keys", "bytes", "ops"].into_iter().enumerate() {
            assert_eq!(cell(page, "nodes", i, 2 + column), node[field], "{field} of node {i}");
        }
    }
    for (i, tag) in report["tags"]["top"].as_array().unwrap().iter().enumerate().take(10) {
        for (column, field) in [(1, "slot"), (3, "keys"), (4, "bytes"), (5, "ops"), (6, "share")] {
            assert_eq!(cell(page, "tags", i, column).as_f64(), tag[field].as_f64(), "{field} of tag {i}");
        }
    }
    for (i, pattern) in report["patterns"]["top"].as_array().unwrap().iter().enumerate().take(10) {
        assert_eq!(cell(page, "patterns", i, 1), pattern["keys"], "pattern {i}");
    }
    let data = page.text("document.getElementById('data').textContent");
    let data: Value = serde_json::from_str(&data).unwrap();
    for metric in ["keys", "bytes", "ops"] {
        assert_eq!(data["slots"][metric], report["slots"][metric], "{metric}");
    }
}

fn the_map_answers(page: &mut Page<'_>, report: &Value) {
    let read = |page: &mut Page<'_>| page.text("document.getElementById('slot').textContent");
    let keys = |slot: usize| report["slots"]["keys"][slot].as_u64().unwrap();
    let hottest = report["slots"]["hottest"][0]["slot"].as_u64().unwrap();
    let grouped = |n: u64| if n < 1000 { n.to_string() } else { format!("{},{:03}", n / 1000, n % 1000) };
    let said = read(page);
    assert!(said.starts_with(&format!("Slot {}on even-", grouped(hottest))), "{said}");
    assert!(said.contains("Its heaviest tags"), "{said}");
    page.value("document.getElementById('map').scrollIntoView({block: 'center'})");
    // The middle of the cell of row 10, column 20.
    let place = |of: &str| {
        format!("(() => {{ const b = document.getElementById('map').getBoundingClientRect(); return {of}; }})()")
    };
    let x = page.value(&place("b.left + b.width * 20.5 / 128")).as_f64().unwrap();
    let y = page.value(&place("b.top + b.height * 10.5 / 128")).as_f64().unwrap();
    page.move_to(x, y);
    let said = read(page);
    assert!(said.starts_with("Slot 1,300") && said.contains(&format!("{} keys", keys(1300))), "{said}");
    page.value("document.getElementById('map').focus()");
    page.press("ArrowDown");
    page.press("ArrowRight");
    let said = read(page);
    assert!(said.starts_with("Slot 1,429") && said.contains(&format!("{} keys", keys(1429))), "{said}");
    page.press("End");
    assert!(read(page).starts_with("Slot 16,383"));
    let pixels = |page: &mut Page<'_>| page.text("document.getElementById('map').toDataURL()");
    let by_keys = pixels(page);
    page.value("[...document.querySelectorAll('#metrics button')].find(b => b.textContent === 'bytes').click()");
    let by_bytes = pixels(page);
    page.value("document.getElementById('log').click()");
    assert!(by_keys != by_bytes && by_bytes != pixels(page), "metrics and scales draw the same map");
    assert!(page.text("document.getElementById('range').textContent").starts_with("Log colours"));
}

fn tables_sort_and_filter(page: &mut Page<'_>) {
    let column = "[...document.querySelectorAll('#tags tbody tr')].map(r => Number(r.cells[3].dataset.v))";
    let sorted = |page: &mut Page<'_>, order: &str| {
        page.value(&format!("{column}.every((v, i, a) => i === 0 || a[i - 1] {order} v)"))
    };
    let click = "document.querySelectorAll('#tags th button')[3].click()";
    page.value(click);
    assert_eq!((sorted(page, ">="), sorted(page, "<=")), (json!(true), json!(false)));
    page.value(click);
    assert_eq!((sorted(page, ">="), sorted(page, "<=")), (json!(false), json!(true)));
    assert_eq!(page.text("document.querySelectorAll('#tags th')[3].getAttribute('aria-sort')"), "ascending");
    let visible = "[...document.querySelectorAll('#tags tbody tr')].filter(r => !r.hidden).length";
    let all = page.value(visible).as_u64().unwrap();
    page.value("(() => { const f = document.querySelector('#tags input'); f.value = 'ONERROR'; f.dispatchEvent(new Event('input')); })()");
    assert_eq!(page.value(visible), 1);
    page.value("(() => { const f = document.querySelector('#tags input'); f.value = ''; f.dispatchEvent(new Event('input')); })()");
    assert_eq!(page.value(visible), all);
}

/// What the page does not do it could not do either: its policy forbids it.
fn the_policy_holds(page: &mut Page<'_>) {
    page.value(
        "document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = 1' }))",
    );
    assert_eq!(page.value("window.ran ?? 'no'"), "no");
    assert_eq!(page.value("fetch('data:,x').then(() => 'fetched', () => 'refused')"), "refused");
    page.forget_errors();
}

#[test]
fn it_fits_every_screen_in_both_themes() {
    let Some(mut chromium) = Chromium::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = report(folder.path(), &dump(folder.path()));
    let shots = Path::new(env!("CARGO_TARGET_TMPDIR")).join("browser");
    fs::create_dir_all(&shots).unwrap();
    let mut grounds = Vec::new();
    for width in [1440, 820, 390] {
        for theme in ["light", "dark"] {
            let mut page = chromium.open(&path, width, theme);
            let overflow = page.value("document.documentElement.scrollWidth - innerWidth");
            assert!(overflow.as_f64().unwrap() <= 0.0, "{width} {theme}: {overflow} pixels too wide");
            grounds.push(page.text("getComputedStyle(document.body).backgroundColor"));
            let png = base64::engine::general_purpose::STANDARD.decode(page.screenshot()).unwrap();
            fs::write(shots.join(format!("{width}-{theme}.png")), png).unwrap();
            page.assert_quiet();
        }
    }
    assert!(grounds.chunks(2).all(|pair| pair[0] != pair[1]), "{grounds:?}");
}

#[test]
fn without_a_script_it_still_has_its_words_and_tables() {
    let folder = tempfile::tempdir().unwrap();
    let (path, report) = report(folder.path(), &dump(folder.path()));
    let page = fs::read_to_string(path).unwrap();
    let body = page.split_once("<script").unwrap().0;
    assert!(body.contains(report["nodes"]["list"][2]["id"].as_str().unwrap()));
    assert!(body.contains("&#60;img src=x onerror=alert(3)&#62;"), "names are in the tables, escaped");
    assert!(!body.contains("<img"));
}
