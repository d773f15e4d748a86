//! Whole scans of tables on two threads, compared with the csv crate on two threads, once reading records only and
//! once counting their slots as well: all in turn, medians. A list of the keys alone shows what the columns cost.
//!
//! `cargo bench --bench tables -- 10000000` says how many rows; the tables are made once, in `target/bench`.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Instant;

use slotscope::generate::{Generate, Profile};
use slotscope::scan::Scan;
use slotscope::source;
use slotscope::source::Source;
use slotscope::tally::{Parts, Tallies};

/// Rounds in which all take turns, so that what disturbs the machine disturbs all of them.
const ROUNDS: usize = 7;

/// Of every table: its name, its header, and a row by its key and the number of it.
type Table = (
    &'static str,
    &'static str,
    fn(&mut dyn Write, &str, u64) -> std::io::Result<()>,
);

const TABLES: [Table; 4] = [
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
];

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
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .build()
        .unwrap();
    let scan = |inputs: &[Box<dyn Source>]| {
        let scan = Scan::new(&pool);
        let found = scan.run(inputs, || Tallies::new(Parts::All)).unwrap();
        assert_eq!((found.tally.slots.total(), found.rejects.count), (rows, 0));
    };
    let mut times = vec![[const { Vec::new() }; 3]; TABLES.len()];
    for round in 0..=ROUNDS {
        for (at, path) in tables.iter().enumerate() {
            let mut time = |contestant: usize, run: &dyn Fn()| {
                let start = Instant::now();
                run();
                if round > 0 {
                    times[at][contestant].push(start.elapsed().as_secs_f64()); // round 0 warms up
                }
            };
            let header: Vec<_> = TABLES[at].1.split(',').collect();
            let key = header.iter().position(|name| *name == "key").unwrap_or(0);
            time(0, &|| scan(&inputs[at]));
            time(1, &|| {
                assert_eq!(with_csv_crate(path, header.len() > 1, |_| {}), rows)
            });
            time(2, &|| {
                let slots: Vec<AtomicU32> = (0..16384).map(|_| AtomicU32::new(0)).collect();
                let count = |row: &csv::ByteRecord| {
                    slots[usize::from(crc_slot(&row[key]))].fetch_add(1, Relaxed);
                };
                assert_eq!(with_csv_crate(path, header.len() > 1, count), rows);
            });
        }
    }
    println!(
        "{:>12} {:>8} {:>8} {:>10} {:>8} {:>10} {:>8}",
        "", "s", "GB/s", "records s", "ratio", "slots s", "ratio"
    );
    for (at, path) in tables.iter().enumerate() {
        let bytes = fs::metadata(path).unwrap().len() as f64;
        let [ours, records, slots] = times[at].each_mut().map(|times| median(times));
        println!(
            "{:>12} {ours:>8.3} {:>8.2} {records:>10.3} {:>8.2} {slots:>10.3} {:>8.2}",
            TABLES[at].0,
            bytes / ours / 1e9,
            records / ours,
            slots / ours
        );
    }
}

/// The slot of a key by the crate that most clients use.
fn crc_slot(key: &[u8]) -> u16 {
    crc16::State::<crc16::XMODEM>::calculate(&key[hashslot::hashed_part(key)]) % 16384
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Writes the table of `rows` rows, unless it exists.
fn make((name, header, row): &Table, rows: u64) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
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

/// The rows that the csv crate reads, one half of the file a thread.
fn with_csv_crate(path: &Path, header: bool, see: impl Fn(&csv::ByteRecord) + Sync) -> u64 {
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
        let mut builder = csv::ReaderBuilder::new();
        let mut reader = builder
            .has_headers(has_headers)
            .buffer_capacity(1 << 20)
            .from_reader(file.take(to - from));
        let (mut record, mut rows) = (csv::ByteRecord::new(), 0);
        while reader.read_byte_record(&mut record).unwrap() {
            see(std::hint::black_box(&record));
            rows += 1;
        }
        rows
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| half(0, middle, header));
        half(middle, bytes, false) + first.join().unwrap()
    })
}
