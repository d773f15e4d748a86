//! Whole scans of tables on two threads, counting slots and sizes as `analyze --only slots` does, compared with mere
//! parsing by the crates csv and simd-csv, DuckDB's read_csv, and serde_json line by line. All take turns: medians of
//! wall clock time, means of CPU time.
//!
//! `cargo bench -p benches --bench tables -- 10000000` sets the number of rows; the tables are generated once, in
//! `target/bench`. DuckDB takes part if SLOTSCOPE_BENCH_PYTHON names a Python that has it, as in benches/formats.

use std::borrow::Cow;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use slotscope::generate::{Generate, Profile};
use slotscope::scan::Scan;
use slotscope::source;
use slotscope::source::Source;
use slotscope::tally::{Parts, Tallies};

/// Rounds in which all take turns, so that a disturbance affects all of them.
const ROUNDS: usize = 9;

/// Buffer size for readers from other crates.
const BUFFER: usize = 1 << 20;

/// A table: its name, its header, and its row for a key and its number.
type Table = (
    &'static str,
    &'static str,
    fn(&mut dyn Write, &str, u64) -> std::io::Result<()>,
);

const TABLES: [Table; 6] = [
    ("lines", "", |out, key, _| writeln!(out, "{key}")),
    ("csv", "key,size", |out, key, i| {
        writeln!(out, "{key},{}", i * 7919 % 100_000)
    }),
    ("csv-quoted", "key,size", |out, key, i| {
        writeln!(out, "\"{key}\",{}", i * 7919 % 100_000)
    }),
    (
        "rdb-tools",
        "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry",
        |out, key, i| {
            let (bytes, expiry) = (
                i * 7919 % 100_000,
                if i % 4 == 0 {
                    "2026-02-18T06:15:29.123000"
                } else {
                    ""
                },
            );
            writeln!(
                out,
                "0,string,{key},{bytes},string,{},{},{expiry}",
                i % 1000,
                i % 10_000
            )
        },
    ),
    ("jsonl", "", |out, key, i| {
        let size = i * 7919 % 100_000;
        writeln!(out, "{{\"key\":\"{key}\",\"size\":{size}}}")
    }),
    ("jsonl-nested", "", |out, key, i| {
        let size = i * 7919 % 100_000;
        writeln!(
            out,
            "{{\"key\":\"{key}\",\"size\":{size},\"at\":{{\"node\":\"a\",\"x\":[1,2]}}}}"
        )
    }),
];

/// The time of a run in seconds: wall clock, and CPU time if known.
type Took = (f64, f64);

/// Reads a table, given its number and path.
type Run<'a> = Box<dyn Fn(usize, &Path) -> Took + 'a>;

/// A contestant, and the tables it can read: all, JSON lines only, or those with a header.
struct Contestant<'a> {
    name: &'static str,
    reads: fn(&Table) -> bool,
    run: Run<'a>,
}

fn main() {
    let rows = std::env::args()
        .skip(1)
        .find_map(|arg| arg.parse().ok())
        .unwrap_or(10_000_000);
    let tables: Vec<PathBuf> = TABLES.iter().map(|table| make(table, rows)).collect();
    let inputs: Vec<Vec<Box<dyn Source>>> = tables
        .iter()
        .map(|path| source::find(std::slice::from_ref(path)).unwrap().sources)
        .collect();
    let contestants = contestants(&inputs, rows);
    println!(
        "{rows} rows, two threads, {ROUNDS} rounds: wall s is a median, CPU s a mean\n{:>13} {:<28} {:>8} {:>7} {:>9} {:>7}",
        "", "", "wall s", "GB/s", "CPU s/GB", "ours"
    );
    for (at, path) in tables.iter().enumerate() {
        let takes_part = |contestant: &&Contestant<'_>| (contestant.reads)(&TABLES[at]);
        let contestants: Vec<_> = contestants.iter().filter(takes_part).collect();
        let mut took = vec![Vec::new(); contestants.len()];
        for round in 0..=ROUNDS {
            for (contestant, took) in contestants.iter().zip(&mut took) {
                let run = (contestant.run)(at, path);
                if round > 0 {
                    took.push(run); // round 0 warms up
                }
            }
        }
        let gigabytes = fs::metadata(path).unwrap().len() as f64 / 1e9;
        let mut ours = None;
        for (contestant, took) in contestants.iter().zip(&took) {
            let wall = median(took.iter().map(|(wall, _)| *wall));
            // The system counts CPU time in hundredths of a second.
            let cpu = took.iter().map(|(_, cpu)| *cpu).sum::<f64>() / took.len() as f64;
            let ours = *ours.get_or_insert(cpu);
            println!(
                "{:>13} {:<28} {wall:>8.3} {:>7.2} {:>9.3} {:>7.2}",
                TABLES[at].0,
                contestant.name,
                gigabytes / wall,
                cpu / gigabytes,
                cpu / ours,
            );
        }
    }
    println!("ours: times the CPU seconds of slotscope");
}

fn contestants(inputs: &[Vec<Box<dyn Source>>], rows: u64) -> Vec<Contestant<'_>> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build();
    let pool = pool.unwrap();
    let scan = move |at: usize, _: &Path| {
        let found = Scan::new(&pool).run(&inputs[at], || Tallies::new(Parts::Slots));
        let found = found.unwrap();
        assert_eq!((found.tally.slots.total(), found.rejects.count), (rows, 0));
    };
    let is_table: fn(&Table) -> bool = |table| !table.0.starts_with("jsonl");
    let mut all = vec![
        Contestant {
            name: "slotscope, slots and sizes",
            reads: |_| true,
            run: timed(scan),
        },
        Contestant {
            name: "csv, records",
            reads: is_table,
            run: timed(move |at, path| {
                let read = |part, headers| {
                    let mut builder = csv::ReaderBuilder::new();
                    builder.has_headers(headers).buffer_capacity(BUFFER);
                    let mut reader = builder.from_reader(part);
                    let (mut record, mut count) = (csv::ByteRecord::new(), 0);
                    while reader.read_byte_record(&mut record).unwrap() {
                        black_box(&record);
                        count += 1;
                    }
                    count
                };
                assert_eq!(in_halves(path, has_header(at), read), rows);
            }),
        },
        Contestant {
            name: "csv, slots",
            reads: is_table,
            run: timed(move |at, path| {
                let mut names = TABLES[at].1.split(',');
                let key = names.position(|name| name == "key").unwrap_or(0);
                let slots: Vec<AtomicU32> = (0..16384).map(|_| AtomicU32::new(0)).collect();
                let read = |part, headers| {
                    let mut builder = csv::ReaderBuilder::new();
                    builder.has_headers(headers).buffer_capacity(BUFFER);
                    let mut reader = builder.from_reader(part);
                    let (mut record, mut count) = (csv::ByteRecord::new(), 0);
                    while reader.read_byte_record(&mut record).unwrap() {
                        slots[usize::from(crc_slot(&record[key]))].fetch_add(1, Relaxed);
                        count += 1;
                    }
                    count
                };
                assert_eq!(in_halves(path, has_header(at), read), rows);
            }),
        },
        Contestant {
            name: "simd-csv, records",
            reads: is_table,
            run: timed(move |at, path| {
                let read = |part, headers| {
                    let mut builder = simd_csv::ReaderBuilder::new();
                    builder.has_headers(headers).buffer_capacity(BUFFER);
                    let mut reader = builder.from_reader(part);
                    let (mut record, mut count) = (simd_csv::ByteRecord::new(), 0);
                    while reader.read_byte_record(&mut record).unwrap() {
                        black_box(&record);
                        count += 1;
                    }
                    count
                };
                assert_eq!(in_halves(path, has_header(at), read), rows);
            }),
        },
        Contestant {
            name: "simd-csv, without copies",
            reads: is_table,
            run: timed(move |at, path| {
                let read = |part, headers| {
                    let mut builder = simd_csv::ZeroCopyReaderBuilder::new();
                    builder.has_headers(headers).buffer_capacity(BUFFER);
                    let mut reader = builder.from_reader(part);
                    let mut count = 0;
                    while let Some(record) = reader.read_byte_record().unwrap() {
                        black_box(&record);
                        count += 1;
                    }
                    count
                };
                assert_eq!(in_halves(path, has_header(at), read), rows);
            }),
        },
        Contestant {
            name: "serde_json, key and size",
            reads: |table| table.0.starts_with("jsonl"),
            run: timed(move |_, path| assert_eq!(in_halves(path, false, json_lines), rows)),
        },
    ];
    if let Some(python) = std::env::var_os("SLOTSCOPE_BENCH_PYTHON") {
        all.push(Contestant {
            name: "DuckDB, read_csv",
            reads: |table| table.1.starts_with("key,"),
            run: Box::new(move |_, path| duckdb(Path::new(&python), path, rows)),
        });
    }
    all
}

fn has_header(at: usize) -> bool {
    !TABLES[at].1.is_empty()
}

/// Times work in this process.
fn timed<'a>(work: impl Fn(usize, &Path) + 'a) -> Run<'a> {
    Box::new(move |at, path| {
        let (start, before) = (Instant::now(), cpu_secs());
        work(at, path);
        (start.elapsed().as_secs_f64(), cpu_secs() - before)
    })
}

/// CPU seconds of all threads of this process, in hundredths; 0 if the system does not report it.
fn cpu_secs() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name, in parentheses, may contain anything: after it, user and system time are fields 14 and 15.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_ascii_whitespace().skip(11).take(2);
    ticks
        .filter_map(|ticks| ticks.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}

/// DuckDB in Python: it reads all columns of the table, and reports the time itself.
fn duckdb(python: &Path, path: &Path, rows: u64) -> Took {
    let program =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/peers.d/read_csv_duckdb.py");
    let run = Command::new(python)
        .arg(program)
        .arg(path)
        .arg("2")
        .output();
    let run = run.unwrap();
    assert!(run.status.success(), "{}", run.stderr.escape_ascii());
    let answer: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(answer["result"][0][0], rows);
    (
        answer["wall"].as_f64().unwrap(),
        answer["cpu"].as_f64().unwrap(),
    )
}

/// The members that are parsed; others are skipped.
#[derive(serde::Deserialize)]
struct JsonRow<'a> {
    #[serde(borrow)]
    key: Cow<'a, str>,
    size: u64,
}

fn json_lines(part: std::io::Take<File>, _: bool) -> u64 {
    let (mut reader, mut line, mut count) = (BufReader::with_capacity(BUFFER, part), Vec::new(), 0);
    while reader.read_until(b'\n', &mut line).unwrap() > 0 {
        let row: JsonRow<'_> = serde_json::from_slice(&line).unwrap();
        black_box((&row.key, row.size));
        count += 1;
        line.clear();
    }
    count
}

/// The slot of a key, by the crate that most clients use.
fn crc_slot(key: &[u8]) -> u16 {
    crc16::State::<crc16::XMODEM>::calculate(&key[hashslot::hashed_part(key)]) % 16384
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Generates the table with this many rows, unless it exists.
fn make((name, header, row): &Table, rows: u64) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/bench");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}-{rows}.csv"));
    if !path.exists() {
        let mut keys = Vec::new();
        Generate {
            profile: Profile::Commerce,
            keys: rows,
            seed: 1,
        }
        .write_to(&mut keys)
        .unwrap();
        let unfinished = path.with_extension("part");
        let mut out = BufWriter::new(File::create(&unfinished).unwrap());
        if !header.is_empty() {
            writeln!(out, "{header}").unwrap();
        }
        for (i, key) in keys
            .split(|byte| *byte == b'\n')
            .filter(|key| !key.is_empty())
            .enumerate()
        {
            row(&mut out, std::str::from_utf8(key).unwrap(), i as u64).unwrap();
        }
        out.into_inner().unwrap();
        fs::rename(unfinished, &path).unwrap();
    }
    path
}

/// The rows that `read` counts, with a thread for each half of the file; `read` is told whether its half has the
/// header.
fn in_halves(
    path: &Path,
    header: bool,
    read: impl Fn(std::io::Take<File>, bool) -> u64 + Sync,
) -> u64 {
    let bytes = fs::metadata(path).unwrap().len();
    let mut middle = bytes / 2;
    let mut file = File::open(path).unwrap();
    file.seek(SeekFrom::Start(middle)).unwrap();
    let mut some = [0; 4096];
    let found = file.read(&mut some).unwrap();
    middle += some[..found]
        .iter()
        .position(|byte| *byte == b'\n')
        .unwrap() as u64
        + 1;
    let half = |from: u64, to: u64, has_headers: bool| {
        let mut file = File::open(path).unwrap();
        file.seek(SeekFrom::Start(from)).unwrap();
        read(file.take(to - from), has_headers)
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| half(0, middle, header));
        half(middle, bytes, false) + first.join().unwrap()
    })
}
