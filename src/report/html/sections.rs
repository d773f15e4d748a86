//! What is on the page: the findings as words, facts, tables, a tree and bars.

use std::collections::BTreeMap;

use super::table::{Branch, Cell, Table, amount_text, bar, columns, cut, cut_at};
use super::{CSS, JS, Page, data, policy, words};
use crate::metric::Metric;
use crate::report::units::{bytes, counted, grouped, percent};
use crate::summary::patterns::{Kind, Kinds, Prefix};
use crate::summary::quantiles::Quantiles;
use crate::summary::verdict::limit::BALANCED;
use crate::summary::{Summary, verdict::Verdict};

/// Characters that are shown of the command.
const COMMAND: usize = 2000;
/// Bars of a distribution.
const BARS: u64 = 48;

/// A distribution: bars and its quantiles.
pub struct Spread {
    pub id: &'static str,
    pub title: String,
    pub line: String,
    pub first: String,
    pub last: String,
    pub bars: Vec<SpreadBar>,
}

/// A bar in a box 60 high.
pub struct SpreadBar {
    pub top: String,
    pub height: String,
    pub label: String,
}

/// The page of `summary`, with at most `rows` rows in a table.
pub fn page(summary: &Summary, rows: usize) -> Page {
    let skew = &summary.skew;
    let tables: Vec<Table> = [hottest(summary), tags(summary, rows), keys(summary, rows), patterns(summary, rows)]
        .into_iter()
        .chain([types(summary), capacity(summary, rows), scaled(summary), rejected(summary)])
        .flatten()
        .collect();
    let (tree, tree_note) = summary
        .prefixes
        .as_ref()
        .map_or((Vec::new(), None), |prefixes| (tree(prefixes, skew.by, rows), bounds_note(prefixes, skew.by)));
    let spreads = spreads(summary);
    let titles =
        [("verdict", "Verdict"), ("nodes", "Nodes"), ("slots", "Slots"), ("tags", "Tags"), ("patterns", "Patterns")];
    let titles = titles.into_iter().chain([("prefixes", "Prefixes"), ("capacity", "Capacity"), ("made", "Made")]);
    let is_there = |id: &str| match id {
        "prefixes" => !tree.is_empty(),
        "tags" | "patterns" | "capacity" => tables.iter().any(|table| table.id == id),
        _ => true,
    };
    Page {
        policy: policy(),
        version: env!("CARGO_PKG_VERSION").to_string(),
        css: CSS,
        js: JS,
        verdict: verdict_name(skew.verdict),
        source: source(summary),
        sentence: skew.sentence.clone(),
        meaning: words::meaning(skew.verdict),
        others: skew.other.iter().map(|o| (o.by.name(), verdict_name(o.verdict), o.sentence.clone())).collect(),
        facts: facts(summary),
        remarks: remarks(summary),
        sections: titles.filter(|(id, _)| is_there(id)).collect(),
        nodes: nodes(summary, rows),
        causes: causes(summary),
        tables,
        by: skew.by.name(),
        tree,
        tree_note,
        spreads,
        made: made(summary),
        data: data::json(summary),
    }
}

fn verdict_name(verdict: Verdict) -> String {
    serde_json::to_value(verdict).ok().and_then(|name| name.as_str().map(String::from)).unwrap_or_default()
}

fn source(summary: &Summary) -> String {
    match summary.input.files.as_slice() {
        [only] => cut(&only.name.to_string()),
        files => counted(files.len() as u64, "file"),
    }
}

fn facts(summary: &Summary) -> Vec<(&'static str, String)> {
    let skew = &summary.skew;
    let mut facts = vec![("Keys", grouped(summary.input.keys))];
    for (metric, balance) in summary.nodes.balance.iter() {
        let name = ["Fullest node, by keys", "Fullest node, by bytes", "Fullest node, by operations"][metric as usize];
        facts.extend(balance.max_over_mean.map(|over| (name, format!("{over:.3} x fair share"))));
    }
    facts.extend(skew.usable_capacity.map(|usable| ("Can be filled until a node is full", percent(usable))));
    facts.extend(skew.n_eff.map(|units| ("Independent units", grouped(units.round() as u64))));
    facts.extend(skew.floor.map(|floor| ("Best that moving slots can do", format!("{floor:.3}"))));
    if let Some(tags) = &summary.tags {
        let about = if tags.distinct_error > 0.0 { "about " } else { "" };
        facts.push(("Hash tags", format!("{about}{}", grouped(tags.distinct))));
        let share = tags.tagged_keys as f64 / summary.input.keys.max(1) as f64;
        facts.push(("Keys with a tag", percent(share)));
    }
    if let Some(keys) = summary.no_expiry {
        facts.push(("Keys without expiry", grouped(keys)));
    }
    facts
}

fn remarks(summary: &Summary) -> Vec<(&'static str, String)> {
    let input = &summary.input;
    let stop = |stop: &crate::summary::Incomplete| {
        ("incomplete", format!("{}: byte {}: {}", cut(&stop.file.to_string()), grouped(stop.byte), stop.reason))
    };
    let mut remarks: Vec<_> = input.incomplete.iter().map(stop).collect();
    remarks.extend(input.warnings.iter().map(|text| ("warning", text.clone())));
    remarks.extend(input.notes.iter().map(|text| ("note", text.clone())));
    remarks
}

fn metric_columns(summary: &Summary) -> impl Iterator<Item = &'static str> {
    summary.slots.loads.iter().map(|(metric, _)| ["#keys", "#bytes", "#ops"][metric as usize])
}

fn nodes(summary: &Summary, rows: usize) -> Table {
    let (nodes, by) = (&summary.nodes, summary.skew.by);
    let mean = nodes.balance.get(by).map_or(0.0, |balance| balance.mean);
    let most = nodes.list.iter().filter_map(|node| node.load.get(by)).max().copied().unwrap_or(0).max(1) as f64;
    let row = |node: &crate::summary::nodes::NodeLoad| {
        let load = node.load.get(by).copied().unwrap_or(0) as f64;
        let over = (mean > 0.0 && node.slots > 0).then_some(load / mean);
        let is_loud = over.is_some_and(|over| over > BALANCED);
        let mut cells = vec![Cell::name(&node.id), Cell::optional_name(node.address.as_ref())];
        cells.push(Cell::count(u64::from(node.slots)));
        cells.extend(Cell::loads(&node.load));
        cells.extend([Cell::ratio(over), Cell::Bar { part: load / most, is_loud }]);
        cells
    };
    let names = ["node", "address", "#slots"].into_iter().chain(metric_columns(summary)).chain(["#x fair share", ""]);
    let mut note = format!("Topology: {}.", cut(&nodes.source.to_string()));
    if nodes.unowned.slots > 0 {
        note += &format!(
            " {} with {} {} owned by no node.",
            counted(u64::from(nodes.unowned.slots), "slot"),
            counted(nodes.unowned.load.keys, "key"),
            if nodes.unowned.slots == 1 { "is" } else { "are" }
        );
    }
    Table {
        id: "nodes",
        title: format!("Nodes by {}", by.name()),
        note: Some(note),
        columns: columns(names),
        rows: nodes.list.iter().take(rows).map(row).collect(),
        shown: summary.rows,
    }
}

fn causes(summary: &Summary) -> Option<Table> {
    let row = |cause: &crate::summary::verdict::Cause| {
        let kind =
            serde_json::to_value(cause.kind).ok().and_then(|kind| kind.as_str().map(|kind| kind.replace('_', " ")));
        // Nothing is neither more nor less.
        let shown = if cause.excess.abs() < 0.0005 { String::from("0.000") } else { format!("{:+.3}", cause.excess) };
        let excess = Cell::Number { shown, exact: cause.excess.to_string() };
        vec![
            Cell::Text(kind.unwrap_or_default()),
            Cell::optional_name(cause.name.as_ref()),
            cause.node.as_ref().map_or(Cell::Text(String::from("-")), |node| Cell::node(Some(node))),
            excess,
            Cell::ratio(cause.max_over_mean_without),
        ]
    };
    let rows: Vec<_> = summary.skew.causes.iter().map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: "causes",
        title: String::from("Why the fullest node is full"),
        note: Some(String::from(
            "In fair shares of a node: together they are what the fullest node has above one. The last column is the cluster's max/mean without that tag or key.",
        )),
        columns: columns(["cause", "name", "node", "#excess", "#max/mean without"]),
        rows,
        shown: summary.rows,
    })
}

fn hottest(summary: &Summary) -> Option<Table> {
    let row = |slot: &crate::summary::HotSlot| {
        let tags = slot
            .top_tags
            .iter()
            .take(3)
            .map(|tag| format!("{{{}}} {}", cut(&tag.tag.to_string()), grouped(tag.load.keys)));
        let mut cells = vec![Cell::slot(slot.slot), Cell::node(slot.node.as_ref())];
        cells.extend(Cell::loads(&slot.load));
        cells.extend([Cell::ratio(Some(slot.over_mean)), Cell::Text(tags.collect::<Vec<_>>().join(", "))]);
        cells
    };
    let names = ["#slot", "node"].into_iter().chain(metric_columns(summary)).chain(["#x mean", "heaviest tags"]);
    table(summary, "hottest", "Hottest slots", None, names, summary.slots.hottest.iter().map(row).collect())
}

fn tags(summary: &Summary, rows: usize) -> Option<Table> {
    let tags = summary.tags.as_ref()?;
    let by = summary.skew.by;
    let widest = tags.top.iter().map(|tag| tag.share).fold(0.0, f64::max);
    let row = |tag: &crate::summary::tags::Tag| {
        let mut cells = vec![Cell::name(&tag.tag), Cell::slot(tag.slot), Cell::node(tag.node.as_ref())];
        cells.extend(Cell::loads(&tag.load));
        if !tags.exact {
            cells.push(Cell::amount(by, tag.error(by)));
        }
        cells.extend([Cell::share(tag.share), Cell::Bar { part: tag.share / widest.max(1e-12), is_loud: false }]);
        cells
    };
    let note = match (tags.exact, tags.max_error) {
        (true, 0) => String::from("Every tag is counted."),
        (true, most) => format!("Counts are exact; a tag that is not listed holds at most {}.", amount_text(by, most)),
        (false, most) => format!(
            "The input was read once: counts are at least these and at most \"or more\" higher; a tag that is not listed holds at most {}.",
            amount_text(by, most)
        ),
    };
    let names = ["tag", "#slot", "node"].into_iter().chain(metric_columns(summary));
    let names = names.chain((!tags.exact).then_some("#or more")).chain(["#share", ""]);
    let list = tags.top.iter().take(rows).map(row).collect();
    table(summary, "tags", "Hash tags", Some(note), names, list)
}

fn keys(summary: &Summary, rows: usize) -> Option<Table> {
    let keys = summary.keys.as_ref()?;
    let metrics: Vec<Metric> =
        Metric::WEIGHTS.into_iter().filter(|metric| summary.slots.loads.get(*metric).is_some()).collect();
    let row = |key: &crate::summary::keys::Key| {
        let mut cells = vec![Cell::name(&key.key), Cell::slot(key.slot), Cell::node(key.node.as_ref())];
        cells.extend(metrics.iter().map(|metric| Cell::amount(*metric, key.weight(*metric))));
        cells.push(Cell::share(key.share));
        cells
    };
    let names = ["key", "#slot", "node"].into_iter();
    let names = names.chain(metrics.iter().map(|metric| ["", "#bytes", "#ops"][*metric as usize])).chain(["#share"]);
    let title = format!("Heaviest keys by {}", keys.by?.name());
    table(summary, "keys", &title, None, names, keys.top.iter().take(rows).map(row).collect())
}

fn patterns(summary: &Summary, rows: usize) -> Option<Table> {
    let patterns = summary.patterns.as_ref()?;
    let row = |row: &crate::summary::patterns::Pattern| {
        let kind = &row.kind;
        let mut cells = vec![Cell::name(&row.pattern)];
        cells.extend(Cell::loads(&kind.load));
        cells.extend([Cell::share(kind.share), Cell::share(kind.tagged_share)]);
        cells.push(kind.slots.map_or(Cell::Number { shown: "-".into(), exact: "-1".into() }, Cell::count));
        cells
    };
    let names = ["pattern"].into_iter().chain(metric_columns(summary)).chain(["#share", "#tagged", "#in slots"]);
    let note = bounds_note(patterns, summary.skew.by);
    table(summary, "patterns", "Patterns of keys", note, names, patterns.top.iter().take(rows).map(row).collect())
}

fn bounds_note<R>(kinds: &Kinds<R>, by: Metric) -> Option<String> {
    let most = amount_text(by, kinds.max_error);
    (!kinds.exact).then(|| {
        format!(
            "There are too many to count each: counts are at least these; one that is not listed holds at most {most}."
        )
    })
}

fn types(summary: &Summary) -> Option<Table> {
    let types = summary.types.as_ref()?;
    let row = |of: &crate::summary::keys::TypeLoad| {
        let mut cells = vec![Cell::name(&of.kind)];
        cells.extend(Cell::loads(&of.load));
        cells
    };
    let names = ["type"].into_iter().chain(metric_columns(summary));
    table(summary, "types", "Keys by type", None, names, types.iter().map(row).collect())
}

fn capacity(summary: &Summary, rows: usize) -> Option<Table> {
    let capacity = summary.capacity.as_ref()?;
    let row = |node: &crate::summary::capacity::NodeRoom| {
        let sign = if node.headroom < 0 { "-" } else { "" };
        let room = u64::try_from(node.headroom.unsigned_abs()).unwrap_or(u64::MAX);
        let headroom = Cell::Number { shown: format!("{sign}{}", bytes(room)), exact: node.headroom.to_string() };
        let months =
            node.months.map_or((String::from("-"), String::from("-1")), |x| (format!("{x:.1}"), x.to_string()));
        let part = node.used as f64 / capacity.maxmemory.max(1) as f64;
        vec![
            Cell::name(&node.id),
            Cell::amount(Metric::Bytes, node.used),
            headroom,
            Cell::Number { shown: months.0, exact: months.1 },
            Cell::Bar { part, is_loud: node.headroom < 0 },
        ]
    };
    let names = ["node", "#used", "#room", "#months until full", ""];
    let list = capacity.nodes.iter().take(rows).map(row).collect();
    table(summary, "capacity", "Capacity", Some(capacity.sentence.clone()), names, list)
}

fn scaled(summary: &Summary) -> Option<Table> {
    let row = |scaled: &crate::summary::scaling::Scaled| {
        let verdict = Cell::Text(verdict_name(scaled.verdict));
        vec![Cell::count(scaled.nodes as u64), Cell::ratio(scaled.max_over_mean), verdict]
    };
    let note = String::from("The same keys on so many equal nodes.");
    let list = summary.skew.by_node_count.iter().map(row).collect();
    table(summary, "scaled", "With other node counts", Some(note), ["#nodes", "#max/mean", "verdict"], list)
}

fn rejected(summary: &Summary) -> Option<Table> {
    let rejected = &summary.input.rejected;
    let row = |line: &crate::summary::RejectedLine| {
        let number = line.line.map_or(Cell::Text(String::from("-")), Cell::count);
        vec![Cell::name(&line.file), number, Cell::count(line.byte), Cell::Text(line.reason.clone())]
    };
    let note = format!("{} left out; the first:", counted(rejected.count, "line"));
    let list = rejected.first.iter().map(row).collect();
    table(summary, "rejected", "Lines that are no keys", Some(note), ["file", "#line", "#byte", "reason"], list)
}

fn table(
    summary: &Summary,
    id: &'static str,
    title: &str,
    note: Option<String>,
    names: impl IntoIterator<Item = &'static str>,
    rows: Vec<Vec<Cell>>,
) -> Option<Table> {
    let table = Table { id, title: title.to_string(), note, columns: columns(names), rows, shown: summary.rows };
    (!table.rows.is_empty()).then_some(table)
}

/// Prefixes below those that they begin with. Whatever is listed, what it begins with is listed before it.
fn tree(prefixes: &Kinds<Prefix>, by: Metric, rows: usize) -> Vec<Branch> {
    let rows: Vec<&Prefix> = prefixes.top.iter().take(rows).collect();
    let mut below: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        let is_above = |above: &&Prefix| above.level + 1 == row.level && row.prefix.0.starts_with(&above.prefix.0);
        let above = rows[..i].iter().enumerate().filter(|(_, above)| is_above(above));
        below.entry(above.max_by_key(|(_, above)| above.prefix.0.len()).map(|(at, _)| at)).or_default().push(i);
    }
    branches(&rows, &below, None, by)
}

fn branches(
    rows: &[&Prefix],
    below: &BTreeMap<Option<usize>, Vec<usize>>,
    of: Option<usize>,
    by: Metric,
) -> Vec<Branch> {
    let branch = |i: &usize| {
        let Kind { load, share, tagged_share, slots } = &rows[*i].kind;
        Branch {
            name: cut(&rows[*i].prefix.to_string()),
            bar: bar(*share),
            share: percent(*share),
            load: load.get(by).map_or(String::from("-"), |load| amount_text(by, *load)),
            tagged: percent(*tagged_share),
            slots: slots.map_or(String::from("-"), grouped),
            children: branches(rows, below, Some(*i), by),
        }
    };
    below.get(&of).into_iter().flatten().map(branch).collect()
}

fn spreads(summary: &Summary) -> Vec<Spread> {
    let mut spreads = Vec::new();
    spreads.extend(summary.lengths.as_ref().and_then(|of| spread("lengths", "Key lengths in bytes", of, grouped)));
    spreads.extend(summary.sizes.as_ref().and_then(|of| spread("sizes", "Key sizes", of, bytes)));
    if let Some(sizes) = &summary.tag_sizes {
        let sampled = sizes.sampled.map(|tags| format!(", a sample of {} tags", grouped(tags))).unwrap_or_default();
        spreads.extend(spread("tag-sizes", &format!("Keys of a hash tag{sampled}"), &sizes.keys, grouped));
    }
    spreads
}

/// Bars of equal width where values are near each other, else of doubling width; heights as the square root, so that
/// few large ones are seen beside many small ones.
fn spread(id: &'static str, title: &str, of: &Quantiles, shown: fn(u64) -> String) -> Option<Spread> {
    let doubling = of.max / of.min.max(1) >= BARS;
    let place = |value: u64| match doubling {
        true => u64::from(value.max(1).ilog2()),
        false => (value - of.min) * BARS / (of.max - of.min + 1),
    };
    let from = |place: u64| if doubling { 1 << place } else { of.min + place * (of.max - of.min + 1) / BARS };
    let (first, last) = (place(of.min), place(of.max));
    let mut counts = vec![0; (last - first + 1) as usize];
    of.counts
        .iter()
        .for_each(|(value, count)| counts[(place((*value).clamp(of.min, of.max)) - first) as usize] += count);
    let most = counts.iter().copied().max().filter(|most| *most > 0)? as f64;
    let bar = |(i, count): (usize, &u64)| {
        let height = 58.0 * (*count as f64 / most).sqrt();
        let label = format!("from {}: {}", shown(from(first + i as u64)), grouped(*count));
        SpreadBar { top: format!("{:.1}", 60.0 - height), height: format!("{height:.1}"), label }
    };
    let mean = if of.mean < 1000.0 { format!("{:.1}", of.mean) } else { shown(of.mean.round() as u64) };
    let [p50, p90, p99, max] = [of.p50, of.p90, of.p99, of.max].map(shown);
    let scale = if doubling { " Each bar is twice as wide as the one before." } else { "" };
    Some(Spread {
        id,
        title: title.to_string(),
        line: format!(
            "mean {mean}, p50 {p50}, p90 {p90}, p99 {p99}, max {max}. Heights are square roots of counts.{scale}"
        ),
        first: shown(of.min),
        last: shown(of.max),
        bars: counts.iter().enumerate().map(bar).collect(),
    })
}

fn made(summary: &Summary) -> Vec<(&'static str, String)> {
    let (run, input) = (&summary.run, &summary.input);
    let tags = match summary.tags.as_ref().map(|tags| tags.exact) {
        None => "slots only; names were not looked at",
        Some(true) => "exact",
        Some(false) => "within bounds: the input was read once",
    };
    let formats: Vec<_> = input.files.iter().map(|file| file.format).collect();
    let mut formats: Vec<_> = formats.into_iter().filter(|format| !format.is_empty()).collect();
    formats.dedup();
    formats.truncate(8);
    vec![
        ("Command", cut_at(COMMAND, &run.command.to_string())),
        ("Input", format!("{}, {} ({})", source(summary), bytes(input.bytes_read), formats.join(", "))),
        ("Counts of tags", tags.to_string()),
        ("Lines that are no keys", grouped(input.rejected.count)),
        (
            "Taken",
            format!(
                "{:.2} s, {}, kernel {}, {}",
                run.elapsed_secs,
                counted(run.threads as u64, "thread"),
                run.kernel,
                if run.passes == 1 { "one pass" } else { "two passes" }
            ),
        ),
        ("slotscope", run.version.clone()),
    ]
}
