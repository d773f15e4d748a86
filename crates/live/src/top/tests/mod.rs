//! The screen, driven by key presses and drawn into memory.

mod judged;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;

use slotscope_base::error::Error;
use slotscope_base::name::Name;
use slotscope_collect::live::{Primary, Snapshot};
use slotscope_collect::probe::{Reading, SlotCounts};
use slotscope_collect::slot_keys::{SlotKey, SlotKeys};
use slotscope_model::state::State;
use slotscope_read::source::collection::servers::ServerReading;

use crate::top::judged::judge;
use crate::top::rows::{Cluster, Health};
use crate::top::screen::{Place, Read, Screen, Verdict, Wish};
use crate::top::{reader, view};

/// Three primaries after this many seconds. The second does most of the work, in slot 7991; the third may be gone.
fn snapshot(secs: i64, is_third_gone: bool) -> Snapshot {
    let reading = |at: usize| Reading {
        id: Some(format!("{at:040x}")),
        name: name(at),
        at_ms: secs * 1000,
        server: ServerReading {
            used_memory: Some(1 << 30),
            maxmemory: Some(if at == 0 { 1 << 30 } else { 4 << 30 }),
            used_cpu: Some(secs as f64 * [0.1, 0.8, 0.1][at]),
            total_commands_processed: Some(secs as u64 * 1000),
            uptime_in_seconds: Some(1),
            ..ServerReading::default()
        },
        lag_bytes: Some(2048),
        slots: Some(
            (first(at)..first(at + 1))
                .map(|slot| counts(slot, secs))
                .collect(),
        ),
        ..Reading::default()
    };
    let line = |at: usize| {
        format!(
            "{at:040x} {}@16379 master - 0 0 {at} connected {}-{}\n",
            name(at),
            first(at),
            first(at + 1) - 1
        )
    };
    let gone = || Err(Error::silent(name(2), "nothing listens there"));
    Snapshot {
        nodes: (0..3).map(line).collect(),
        primaries: (0..3)
            .map(|at| Primary {
                id: format!("{at:040x}"),
                name: name(at),
                reading: if at == 2 && is_third_gone {
                    gone()
                } else {
                    Ok(reading(at))
                },
            })
            .collect(),
    }
}

fn name(at: usize) -> String {
    format!("10.0.0.{at}:6379")
}

fn first(at: usize) -> u16 {
    [0, 5461, 10_923, 16_384][at]
}

fn counts(slot: u16, secs: i64) -> SlotCounts {
    let usec = if slot == 7991 {
        600_000
    } else {
        u64::from(slot % 7)
    };
    SlotCounts {
        slot,
        keys: 10,
        cpu: Some(secs as u64 * usec),
        net_in: Some(secs as u64 * 100),
        ..SlotCounts::default()
    }
}

fn read(secs: i64, is_third_gone: bool) -> Read {
    between(&snapshot(secs - 1, false), &snapshot(secs, is_third_gone))
}

fn between(before: &Snapshot, after: &Snapshot) -> Read {
    let mut cluster = Cluster::between(Some(before), after);
    let verdict = judge(before, after, &mut cluster);
    Read {
        cluster,
        verdict: Some(verdict.unwrap()),
        at_ms: after.primaries[0].reading.as_ref().unwrap().at_ms,
    }
}

fn screen() -> Screen {
    let mut screen = Screen {
        cluster_name: "shop".into(),
        ..Screen::default()
    };
    screen.take(read(10, false));
    screen
}

fn press(screen: &mut Screen, keys: &str) -> Vec<Wish> {
    keys.chars()
        .filter_map(|key| screen.on_key(code(key)))
        .collect()
}

fn code(key: char) -> KeyCode {
    match key {
        '\n' => KeyCode::Enter,
        '\t' => KeyCode::Tab,
        '<' => KeyCode::Esc,
        '^' => KeyCode::Up,
        'v' => KeyCode::Down,
        key => KeyCode::Char(key),
    }
}

fn keys_of_slot() -> SlotKeys {
    let key = |name: &[u8], memory| SlotKey {
        name: Name::from(name),
        kind: "string".into(),
        elements: Some(1),
        memory: Some(memory),
    };
    SlotKeys {
        count: 4120,
        keys: vec![
            key(b"{cart}:small", 64),
            key(b"{cart}:\x1b[2J\xe2\x80\xae", 1 << 20),
            key("sjöö:漢字".as_bytes(), 100),
        ],
        without_memory: None,
    }
}

fn drawn(screen: &Screen, width: u16, height: u16, is_coloured: bool) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal
        .draw(|frame| view::draw(frame, screen, is_coloured))
        .unwrap();
    terminal.backend().buffer().clone()
}

fn lines(screen: &Screen, width: u16, height: u16) -> Vec<String> {
    let buffer = drawn(screen, width, height, true);
    let line =
        |row: &[ratatui::buffer::Cell]| row.iter().map(|cell| cell.symbol()).collect::<String>();
    buffer.content.chunks(width.into()).map(line).collect()
}

fn current_slot(screen: &Screen) -> Option<u16> {
    let slots = screen.listed_slots();
    Some(slots.get(screen.slots.place(&slots))?.slot)
}

/// The line of the screen with this text.
#[track_caller]
fn line_with(lines: &[String], text: &str) -> String {
    let found = lines.iter().find(|line| line.contains(text));
    found
        .unwrap_or_else(|| panic!("no {text:?} in {lines:#?}"))
        .clone()
}

#[test]
fn two_readings_are_rows_with_rates_shares_and_states() {
    let cluster = read(10, true).cluster;
    let words = cluster.shards.iter().map(|shard| shard.health.word());
    // Those that answer are compared while a node is unreachable.
    assert_eq!(words.collect::<Vec<_>>(), ["full", "hot", "no answer"]);
    assert_eq!(cluster.shards[1].work.ops_per_sec, Some(1000.0));
    assert!(cluster.failures[0].contains("nothing listens there"));
    let slot = cluster.slots.iter().find(|slot| slot.slot == 7991).unwrap();
    assert!((slot.cpu.unwrap() - 0.6).abs() < 1e-9 && slot.cpu_share.unwrap() > 0.9);
    assert_eq!((slot.net_in, slot.keys), (Some(100.0), 10));
}

#[test]
fn the_verdict_is_on_readings_of_the_same_primaries() {
    let kept = [snapshot(1, false), snapshot(2, true), snapshot(3, true)].into();
    let found = |last: Snapshot| {
        Some(
            reader::comparable(&kept, &last)?.primaries[0]
                .reading
                .as_ref()
                .ok()?
                .at_ms,
        )
    };
    assert_eq!(found(snapshot(4, true)), Some(2000));
    assert_eq!(found(snapshot(4, false)), Some(1000));
    let none = [snapshot(2, true)].into();
    assert!(reader::comparable(&none, &snapshot(4, false)).is_none());
}

#[test]
fn a_few_readings_of_the_last_seconds_are_kept_however_many_there_are() {
    let mut kept = std::collections::VecDeque::new();
    let times = |kept: &std::collections::VecDeque<Snapshot>| -> Vec<i64> {
        let first = kept.iter().map(|of| of.primaries[0].reading.as_ref());
        first.map(|of| of.unwrap().at_ms / 1000).collect()
    };
    for secs in 0..100 {
        reader::keep(&mut kept, snapshot(secs, false));
        assert_eq!(times(&kept).last(), Some(&secs));
        assert!(kept.len() <= 6, "{:?}", times(&kept));
    }
    // The verdict covers most of ten seconds.
    assert_eq!(times(&kept), [90, 93, 96, 99]);
}

#[test]
fn one_reading_and_counters_that_start_anew_have_no_rates() {
    let first = Cluster::between(None, &snapshot(10, false));
    let anew = Cluster::between(Some(&snapshot(20, false)), &snapshot(10, false));
    for cluster in [first, anew] {
        assert_eq!(cluster.shards[1].work.ops_per_sec, None);
        assert!(
            cluster
                .slots
                .iter()
                .all(|slot| slot.cpu.is_none() && slot.cpu_share.is_none())
        );
        assert!(
            cluster
                .shards
                .iter()
                .all(|shard| shard.load_share.is_none())
        );
    }
}

#[test]
fn enter_leads_to_the_slots_of_a_shard_and_to_the_keys_of_a_slot_and_escape_back() {
    let mut screen = screen();
    assert_eq!(press(&mut screen, "\tv\n"), []);
    assert_eq!(
        (screen.place, screen.only.as_deref()),
        (Place::Slots, Some("10.0.0.1:6379"))
    );
    assert!(
        screen
            .listed_slots()
            .iter()
            .all(|slot| slot.shard == "10.0.0.1:6379")
    );
    assert_eq!(press(&mut screen, "\n"), [Wish::Keys(7991)]);
    screen.take_keys(3, Err("of another slot".into()));
    assert!(screen.opened.as_ref().unwrap().keys.is_none());
    screen.take_keys(7991, Ok(keys_of_slot()));
    assert_eq!(screen.listed_keys()[0].memory, Some(1 << 20));
    assert_eq!(press(&mut screen, "\n"), [Wish::Keys(7991)]);
    press(&mut screen, "<");
    assert_eq!((screen.place, screen.only.is_some()), (Place::Slots, true));
    press(&mut screen, "<");
    assert_eq!((screen.place, screen.only), (Place::Shards, None));
}

#[test]
fn without_cpu_time_by_slot_the_busiest_shard_and_the_slot_with_most_keys_come_first() {
    let uncounted = |secs| {
        let mut snapshot = snapshot(secs, false);
        for primary in &mut snapshot.primaries {
            let reading = primary.reading.as_mut().unwrap();
            reading.refusal = Some("CLUSTER SLOT-STATS is not known".into());
            for slot in reading.slots.iter_mut().flatten() {
                (slot.cpu, slot.net_in) = (None, None);
                slot.keys = if slot.slot == 7991 { 3000 } else { 1 };
            }
        }
        snapshot
    };
    let mut screen = Screen::default();
    screen.take(between(&uncounted(9), &uncounted(10)));
    assert_eq!(screen.place, Place::Shards);
    // After the one at its limit.
    press(&mut screen, "v\n");
    assert_eq!(screen.only, Some(name(1)));
    assert_eq!(press(&mut screen, "\n"), [Wish::Keys(7991)]);
}

#[test]
fn the_cursor_stays_at_its_row_and_the_first_row_is_the_hottest() {
    let mut screen = screen();
    assert_eq!(current_slot(&screen), Some(7991));
    press(&mut screen, "v");
    let second = current_slot(&screen);
    press(&mut screen, "sssss");
    assert_eq!(
        (screen.slots.sorted_by, current_slot(&screen)),
        (Some("memory"), Some(0))
    );
    press(&mut screen, "s");
    assert_eq!(
        (screen.slots.sorted_by, current_slot(&screen)),
        (Some("slot"), Some(0))
    );
    screen.on_key(KeyCode::End);
    assert_eq!(current_slot(&screen), Some(16_383));
    press(&mut screen, "ss");
    assert_eq!(screen.slots.sorted_by, Some("cpu"));
    press(&mut screen, "v");
    assert_eq!(current_slot(&screen), second);
    press(&mut screen, "^^");
    assert_eq!(
        (screen.slots.id.clone(), current_slot(&screen)),
        (None, Some(7991))
    );
}

#[test]
fn a_pause_keeps_what_is_shown_and_q_is_a_wish() {
    let mut screen = screen();
    assert_eq!(press(&mut screen, "p"), [Wish::Pause(true)]);
    screen.take(read(20, true));
    assert_eq!(screen.read.as_ref().unwrap().at_ms, 10_000);
    assert!(lines(&screen, 80, 24)[0].contains("PAUSED"));
    assert_eq!(press(&mut screen, "pq"), [Wish::Pause(false), Wish::Quit]);
    screen.take(read(20, true));
    assert_eq!(screen.read.as_ref().unwrap().at_ms, 20_000);
    screen.fail("no primary answers".into());
    assert!(screen.message.is_some());
    screen.take(read(30, true));
    assert!(screen.message.is_none());
}

#[test]
fn both_sizes_have_the_verdict_the_shards_and_the_hottest_slot() {
    let screen = screen();
    for (width, height) in [(60, 16), (80, 24), (140, 50)] {
        let lines = lines(&screen, width, height);
        assert!(
            lines[0].starts_with("slotscope top  shop  3 shards  00:00:10 UTC"),
            "{lines:#?}"
        );
        assert!(lines[1..3].concat().contains("10.0.0."), "{lines:#?}");
        let shard = line_with(&lines[4..], "10.0.0.1:6379");
        assert!(shard.contains("80.0%") && shard.contains("hot"), "{shard}");
        let slot = line_with(&lines[5..], " 7991 ");
        assert!(slot.contains("60.0%"), "{slot}");
        assert!(lines[usize::from(height) - 1].contains("q quit") || width < 80);
        assert_eq!(line_with(&lines, "state▾").contains("out/s"), width == 140);
    }
}

#[test]
fn names_of_keys_are_spelled_and_a_node_that_is_gone_says_why() {
    let mut screen = screen();
    screen.take(read(11, true));
    press(&mut screen, "\n");
    assert!(line_with(&lines(&screen, 80, 24), "Slot 7991").contains("reading its keys"));
    screen.take_keys(7991, Ok(keys_of_slot()));
    let lines = lines(&screen, 80, 24);
    assert!(
        line_with(&lines, "Slot 7991 of 10.0.0.1:6379: 3 of 4,120 keys")
            .contains("2 of the tag {cart}")
    );
    line_with(&lines, "{cart}:\\x1b[2J\\xe2\\x80\\xae");
    line_with(&lines, "10.0.0.2:6379: nothing listens there");
    assert!(line_with(&lines[5..], "10.0.0.2:6379").contains("no answer"));
    assert!(
        lines
            .concat()
            .chars()
            .all(|c| !c.is_control() && c != '\u{202e}')
    );
}

#[test]
fn without_colours_nothing_has_one() {
    let mut screen = screen();
    screen.take(read(11, true));
    let plain = drawn(&screen, 80, 24, false);
    let is_plain =
        |cell: &ratatui::buffer::Cell| (cell.fg, cell.bg) == (Color::Reset, Color::Reset);
    assert!(plain.content.iter().all(is_plain));
    let coloured = drawn(&screen, 80, 24, true);
    assert!(coloured.content.iter().any(|cell| cell.fg != Color::Reset));
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    for (width, height) in [(59, 24), (80, 15), (20, 3), (1, 1)] {
        let text = lines(&screen(), width, height).concat();
        assert!(
            width < 20 || text.contains("60 columns") || text.contains("needs 60"),
            "{text}"
        );
    }
}

#[test]
fn a_primary_that_is_gone_is_down_at_once_and_a_cluster_that_is_gone_stays_no_verdict_of_before() {
    let kept = [snapshot(1, false)].into();
    let read = reader::read(&kept, &snapshot(2, true));
    let first = |verdict: &Option<Verdict>| verdict.as_ref().unwrap()[0].clone();
    let (state, _, sentence) = first(&read.verdict);
    assert_eq!(state, State::Down);
    assert!(
        sentence.contains("10.0.0.2 does not answer: "),
        "{sentence}"
    );
    let mut screen = screen();
    screen.fail("no primary answers: h:1: nothing listens there".into());
    let read = screen.read.as_ref().unwrap();
    assert_eq!(first(&read.verdict).0, State::Down);
    assert!(
        read.cluster
            .shards
            .iter()
            .all(|shard| shard.health == Health::SILENT)
    );
}
