//! Whole scans of tables on two threads, beside the csv crate's own loop on two threads: all in turn, medians.
//!
//! `cargo bench --bench tables -- 10000000` says how many rows; the tables are made once, in `target/bench`.

use std::fs::{self, File};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use slotscope::command::generate::{Generate, Profile};
use slotscope::scan::{Only, Scan};
use slotscope::slot::kernel;
use slotscope::source::file::CHUNK;
use slotscope::source::{self, Input};
use slotscope::tally::{Parts, Tallies};

/// Rounds in which all take turns, so that what disturbs the machine disturbs all of them.
const ROUNDS: usize = 7;

/// Of every table: its name, its header, and a row by its key and the number of it.
type Table = (&'static str, &'static str, fn(&mut dyn Write, &str, u64) -> std::io::Result<()>);

const TABLES: [Table; 3] = [
    ("csv", "key,size", |out, key, i| writeln!(out, "{key},{}", i * 7919 % 100_000)),
    ("csv-quoted", "key,size", |out, key, i| writeln!(out, "\"{key}\",{}", i * 7919 % 100_000)),
    ("rdb-tools", "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry", |out, key, i| {
        let (bytes, expiry) = (i * 7919 % 100_000, if i % 4 == 0 { "2026-02-18T06:15:29.123000" } else { "" });
        writeln!(out, "0,string,{key},{bytes},string,{},{},{expiry}", i % 1000, i % 10_000)
    }),
];

fn main() {
    let rows = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(10_000_000);
    let tables: Vec<PathBuf> = TABLES.iter().map(|table| make(table, rows)).collect();
    let inputs: Vec<Vec<Input>> =
        tables.iter().map(|path| source::find(std::slice::from_ref(path)).unwrap().inputs).collect();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let scan = |inputs: &[Input]| {
        let scan = Scan {
            pool: &pool,
            kernel: kernel::best(),
            format: None,
            only: &Only::ALL,
            chunk: CHUNK,
            proceed: &|_| true,
        };
        let found = scan.run(inputs, || Tallies::new(Parts::All)).unwrap();
        assert_eq!((found.tally.slots.total(), found.rejects.count), (rows, 0));
    };
    let mut times = vec![Vec::new(); 2 * TABLES.len()];
    for round in 0..=ROUNDS {
        for (at, path) in tables.iter().enumerate() {
            let start = Instant::now();
            scan(&inputs[at]);
            let scanned = start.elapsed().as_secs_f64();
            let start = Instant::now();
            assert_eq!(with_csv_crate(path), rows);
            let peer = start.elapsed().as_secs_f64();
            if round > 0 {
                times[2 * at].push(scanned); // round 0 warms up
                times[2 * at + 1].push(peer);
            }
        }
    }
    println!("{:>12} {:>8} {:>8} {:>8} {:>8}", "", "s", "GB/s", "peer s", "ratio");
    for (at, path) in tables.iter().enumerate() {
        let bytes = fs::metadata(path).unwrap().len() as f64;
        let (ours, peer) = (median(&mut times[2 * at]), median(&mut times[2 * at + 1]));
        println!("{:>12} {ours:>8.3} {:>8.2} {peer:>8.3} {:>8.2}", TABLES[at].0, bytes / ours / 1e9, peer / ours);
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// Writes the table of `rows` rows, unless it is there.
fn make((name, header, row): &Table, rows: u64) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/bench");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{name}-{rows}.csv"));
    if !path.exists() {
        let mut keys = Vec::new();
        Generate { profile: Profile::Commerce, keys: rows, seed: 1 }.write_to(&mut keys).unwrap();
        let unfinished = path.with_extension("part");
        let mut out = BufWriter::new(File::create(&unfinished).unwrap());
        writeln!(out, "{header}").unwrap();
        for (i, key) in keys.split(|byte| *byte == b'\n').filter(|key| !key.is_empty()).enumerate() {
            row(&mut out, std::str::from_utf8(key).unwrap(), i as u64).unwrap();
        }
        out.into_inner().unwrap();
        fs::rename(unfinished, &path).unwrap();
    }
    path
}

/// The rows that the csv crate reads, one half of the file a thread.
fn with_csv_crate(path: &Path) -> u64 {
    let bytes = fs::metadata(path).unwrap().len();
    let mut middle = bytes / 2;
    let mut file = File::open(path).unwrap();
    file.seek(SeekFrom::Start(middle)).unwrap();
    let mut some = [0; 4096];
    let found = file.read(&mut some).unwrap();
    middle += some[..found].iter().position(|byte| *byte == b'\n').unwrap() as u64 + 1;
    let half = |from: u64, to: u64, has_headers: bool| {
        let mut file = File::open(path).unwrap();
        file.seek(SeekFrom::Start(from)).unwrap();
        let mut builder = csv::ReaderBuilder::new();
        let mut reader = builder.has_headers(has_headers).buffer_capacity(1 << 20).from_reader(file.take(to - from));
        let (mut record, mut rows) = (csv::ByteRecord::new(), 0);
        while reader.read_byte_record(&mut record).unwrap() {
            std::hint::black_box(&record);
            rows += 1;
        }
        rows
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(|| half(0, middle, true));
        half(middle, bytes, false) + first.join().unwrap()
    })
}
