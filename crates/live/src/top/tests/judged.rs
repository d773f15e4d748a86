//! Rows agree with the first line.

use super::*;
use crate::top::rows::Shard;

/// Two readings without memory limits, after modifying each.
fn changed(change: impl Fn(usize, &mut Reading)) -> Read {
    let [before, after] = [10, 11].map(|secs| {
        let mut snapshot = snapshot(secs, false);
        for (at, primary) in snapshot.primaries.iter_mut().enumerate() {
            let reading = primary.reading.as_mut().unwrap();
            reading.server.maxmemory = Some(0);
            change(at, reading);
        }
        snapshot
    });
    between(&before, &after)
}

fn used_cpu(reading: &Reading, part: f64) -> Option<f64> {
    Some(reading.at_ms as f64 / 1000.0 * part)
}

/// The first line, the first row, and the words of all rows in order.
fn first_line_and_row(read: Read) -> (String, Shard, Vec<String>) {
    let mut screen = screen();
    screen.take(read);
    let (_, word, sentence) = &screen.read.as_ref().unwrap().verdict.as_ref().unwrap()[0];
    let rows = screen.listed_shards();
    let words = rows.iter().map(|row| row.health.word());
    (
        format!("{word}  {sentence}"),
        rows[0].clone(),
        words.collect(),
    )
}

#[test]
fn the_shard_of_the_first_line_is_the_first_row_with_its_word_its_figure_and_its_colour() {
    // Process clocks, which do not know about slots, show equal work.
    let even = |_: usize, reading: &mut Reading| reading.server.used_cpu = used_cpu(reading, 0.3);
    let (line, row, words) = first_line_and_row(changed(even));
    assert_eq!(
        (row.name.as_str(), row.health.state),
        ("10.0.0.1:6379", Some(State::Skewed))
    );
    assert_eq!(words, ["hot", "ok", "ok"]);
    let figure = format!("{:.2}× its share", row.load_share.unwrap());
    assert!(
        line.starts_with("HOT  10.0.0.1 ") && line.contains(&figure),
        "{line}"
    );
    let mut screen = screen();
    screen.take(changed(even));
    let drawn = drawn(&screen, 80, 24, true);
    let colours = |line: usize| drawn.content[80 * line].fg;
    assert_eq!((colours(1), colours(5)), (Color::Red, Color::Red));
    assert_eq!(colours(6), Color::Reset);
    press(&mut screen, "\t\n");
    assert_eq!(screen.only.as_deref(), Some("10.0.0.1:6379"));
}

#[test]
fn servers_that_do_not_count_by_slot_are_hot_by_their_processes_in_the_first_line_and_in_the_rows()
{
    let by_process = |at: usize, reading: &mut Reading| {
        reading
            .slots
            .iter_mut()
            .flatten()
            .for_each(|slot| slot.cpu = None);
        reading.server.used_cpu = used_cpu(reading, [0.1, 0.16, 0.4][at]);
    };
    let (line, row, words) = first_line_and_row(changed(by_process));
    let expected = "10.0.0.2 uses 1.82× its share of CPU time, 40.0% of a core";
    assert_eq!(line, format!("HOT  {expected}"));
    assert_eq!(row.name, "10.0.0.2:6379");
    assert_eq!(words, ["hot", "ok", "ok"]);
    // For equal states load comes before memory, also within a shard.
    let full = |at: usize, reading: &mut Reading| {
        by_process(at, reading);
        reading.server.used_memory_dataset = Some([1, 1, 4][at] << 30);
    };
    let (line, row, words) = first_line_and_row(changed(full));
    assert_eq!(line, format!("HOT  {expected}"));
    assert_eq!((row.name.as_str(), &*words[0]), ("10.0.0.2:6379", "hot"));
    let idle = |at: usize, reading: &mut Reading| {
        by_process(at, reading);
        reading.server.used_cpu = used_cpu(reading, [0.005, 0.005, 0.019][at]);
    };
    let (line, _, words) = first_line_and_row(changed(idle));
    assert!(!line.starts_with("HOT"), "{line}");
    assert_eq!(words, ["ok", "ok", "ok"]);
}

#[test]
fn the_cpu_time_of_a_row_is_of_the_seconds_that_are_judged() {
    let [first, mut before, last] = [1, 10, 11].map(|secs| snapshot(secs, false));
    // The counter of the second one stood still for nine seconds: between the last two readings it used 8 cores.
    before.primaries[1]
        .reading
        .as_mut()
        .unwrap()
        .server
        .used_cpu = Some(0.8);
    let mut cluster = Cluster::between(Some(&before), &last);
    judge(&first, &last, &mut cluster).unwrap();
    let cpu = cluster.shards[1].work.cpu.unwrap();
    assert!(
        (cpu - 0.8).abs() < 1e-9,
        "{cpu} of {}",
        cluster.shards[1].name
    );
}
