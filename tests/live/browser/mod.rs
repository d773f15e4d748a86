//! report.html in a real browser. Screenshots go to target/browser/.

mod acting;
mod map;
mod operating;
mod reading;
mod series;

use std::path::PathBuf;

use testkit::chromium::{Chromium, Tab};
use testkit::prelude::*;

/// Names that are hard for a page; each is also a tag.
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

/// A name as printed by `redis-cli --no-raw`.
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

/// A table with sizes, operations, types, databases, and hostile names.
fn weighed_dump() -> Vec<u8> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let columns = ["key", "size", "ops", "type", "db", "ttl"];
    table.write_record(columns).unwrap();
    for (index, name) in hostile().into_iter().enumerate() {
        let name = name.into_iter().filter(|byte| *byte != 0);
        let name: Vec<u8> = name.take(2000).collect();
        for i in 0..40 {
            let key = [name.as_slice(), format!(":{{{}}}", i * 7).as_bytes()].concat();
            let size = index * index * 1000 + 50 * i;
            let [size, ops, db] = [size, i * 3, i % 3].map(|number| number.to_string());
            let (size, ops, db) = (size.as_bytes(), ops.as_bytes(), db.as_bytes());
            table
                .write_record([&*key, size, ops, &name, db, b"0"])
                .unwrap();
        }
    }
    table.into_inner().unwrap()
}

/// A report, its page, and the content of report.json.
struct Report {
    _scratch: Scratch,
    page: PathBuf,
    json: Value,
}

fn report(dump: &[u8], flags: &[&str]) -> Report {
    let scratch = Scratch::new();
    scratch.file("dump", dump);
    let output = scratch.run(&[&["analyze", "dump", "--out", "report"], flags].concat());
    // An empty dump yields a report, and an error for cron.
    assert_eq!(code(&output), if dump.is_empty() { 2 } else { 0 });
    Report {
        page: scratch.path("report/report.html"),
        json: serde_json::from_str(&scratch.read("report/report.json")).unwrap(),
        _scratch: scratch,
    }
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

/// The page, once its map was near the window: then it is drawn.
fn open_at_the_map(report: &Report) -> Tab {
    let mut tab = open(report);
    // Observers are called in the order in which they were made: the page's comes first.
    tab.eval("new Promise((done) => { const slots = document.getElementById('slots'); slots.scrollIntoView(); new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && done()).observe(slots); })");
    tab
}

/// The exact numbers in a column of a table, from the top.
fn column(tab: &mut Tab, table: &str, column: usize) -> Vec<String> {
    let cells = format!("#{table} tbody tr > :nth-child({column})");
    tab.strings(&format!(
        "[...document.querySelectorAll({cells:?})].map((e) => e.dataset.v)"
    ))
}

/// Texts with too little contrast (WCAG 2.2, 1.4.3: 4.5 to 1), and elements that overflow on the right.
pub(crate) const UNREADABLE: &str = r#"(() => {
  const known = new Map();
  const draw = (colour) => { const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true}); c.fillStyle = colour; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
  const parse = (colour) => { if (!known.has(colour)) known.set(colour, draw(colour)); return known.get(colour); };
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
  for (const cell of document.querySelectorAll('tbody [data-v]')) {
    const text = document.createRange();
    text.selectNodeContents((cell.querySelector('bdi') ?? cell).firstChild ?? cell);
    if (text.getClientRects().length > 1) wrong.push(`a number on two lines: ${text}`);
  }
  for (const table of document.querySelectorAll('.scroll')) {
    const over = table.scrollWidth - table.clientWidth;
    if (over > 1) wrong.push(`${table.parentElement.id} has numbers off the screen, ${over} px`);
  }
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
  return [...new Set(wrong)].slice(0, 20);
})()"#;
