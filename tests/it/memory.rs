//! Memory stays within the limits in docs/limits.md for any input: each of these inputs is made to need more. The test
//! prints the usage of each.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use testkit::run::slotscope;
use testkit::usage;

const MIB: usize = 1 << 20;

/// The limits in docs/limits.md: a base, which includes a giant line, and an amount per thread.
pub(crate) const BASE_MIB: u64 = 64 + 144;
pub(crate) const THREAD_MIB: u64 = 12;

pub(crate) const THREADS: u64 = 2;

type Out<'a> = &'a mut dyn Write;

/// An input, and the function that writes it.
pub(crate) struct Hostile {
    pub name: &'static str,
    compressed: bool,
    write: fn(Out<'_>) -> std::io::Result<()>,
}

const fn plain(name: &'static str, write: fn(Out<'_>) -> std::io::Result<()>) -> Hostile {
    Hostile {
        name,
        compressed: false,
        write,
    }
}

const fn gzip(name: &'static str, write: fn(Out<'_>) -> std::io::Result<()>) -> Hostile {
    Hostile {
        name,
        compressed: true,
        write,
    }
}

/// Writes this many MiB.
fn fill(out: Out<'_>, byte: u8, mib: usize) -> std::io::Result<()> {
    let some = vec![byte; MIB];
    (0..mib).try_for_each(|_| out.write_all(&some))
}

const RDB_TOOLS: &[u8] =
    b"database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n0,set,";

/// RDB files with two keys at the limit, plain and as LZF that copies one byte.
fn rdb_keys(out: Out<'_>) -> std::io::Result<()> {
    out.write_all(b"REDIS0011\xFE\x00")?;
    for _ in 0..2 {
        out.write_all(b"\x00\x80\x01\x00\x00\x00")?;
        fill(out, b'k', 16)?;
        out.write_all(b"\x01v")?;
    }
    let runs = 60_000u32;
    out.write_all(b"\x00\xC3\x80")?;
    out.write_all(&(2 + 3 * runs).to_be_bytes())?;
    out.write_all(b"\x80")?;
    out.write_all(&(1 + 264 * runs).to_be_bytes())?;
    out.write_all(b"\x00k")?;
    (0..runs).try_for_each(|_| out.write_all(b"\xE0\xFF\x00"))?;
    out.write_all(b"\x01v\xFF\0\0\0\0\0\0\0\0")
}

pub(crate) const INPUTS: &[Hostile] = &[
    plain("keys of an RDB file at the limit", rdb_keys),
    gzip("compressed keys of an RDB file at the limit", rdb_keys),
    gzip("a string of an RDB file that is a bomb", |out| {
        out.write_all(b"REDIS0011\xFE\x00\x00\x01k\x80\x10\x00\x00\x00")?;
        fill(out, 0, 256)?;
        out.write_all(b"\xFF\0\0\0\0\0\0\0\0")
    }),
    gzip("a bomb of zeros", |out| fill(out, 0, 66)),
    gzip("a bomb of line ends", |out| fill(out, b'\n', 16)),
    plain("a line without end", |out| fill(out, b'x', 66)),
    gzip("a compressed line without end", |out| fill(out, b'x', 66)),
    plain("lines at the limit", |out| {
        (0..2).try_for_each(|_| {
            fill(out, b'x', 63)?;
            out.write_all(b"\n")
        })
    }),
    gzip("compressed lines at the limit", |out| {
        (0..2).try_for_each(|_| {
            fill(out, b'x', 63)?;
            out.write_all(b"\n")
        })
    }),
    plain("a header of commas", |out| {
        out.write_all(b"key,size")?;
        fill(out, b',', 60)?;
        out.write_all(b"\na,1\n")
    }),
    plain("a row of commas", |out| {
        out.write_all(b"key,size\na")?;
        fill(out, b',', 60)?;
        out.write_all(b"\nb,1\n")
    }),
    plain("a table of thousands of columns", |out| {
        let columns = ",c".repeat(8000);
        writeln!(out, "key{columns}")?;
        (0..100).try_for_each(|i| writeln!(out, "{i}{columns}"))
    }),
    plain("a quote that never closes", |out| {
        out.write_all(b"key,size\n\"")?;
        fill(out, b'x', 66)
    }),
    plain("an object of many members", |out| {
        out.write_all(b"{\"key\":\"k\"")?;
        (0..400_000).try_for_each(|i| write!(out, ",\"{i}\":1"))?;
        out.write_all(b"}\n")
    }),
    plain("a member with a name at the limit", |out| {
        out.write_all(b"{\"key\":\"k\",\"")?;
        fill(out, b'n', 60)?;
        out.write_all(b"\":1}\n")
    }),
    plain("nested arrays", |out| {
        out.write_all(b"{\"key\":")?;
        fill(out, b'[', 60)?;
        out.write_all(b"\n")
    }),
    plain("rdb-tools without a line end", |out| {
        out.write_all(RDB_TOOLS)?;
        fill(out, b'x', 66)
    }),
    plain("a numbered row without end", |out| {
        out.write_all(b"1) \"a\"\n2) \"")?;
        fill(out, b'x', 66)
    }),
    plain("a text of RESP at the limit", |out| {
        out.write_all(b"*2\r\n$67108864\r\n")?;
        fill(out, b'x', 64)?;
        out.write_all(b"\r\n$3\r\nabc\r\n")
    }),
    plain("texts of --csv at the limit", |out| {
        (0..2).try_for_each(|_| {
            out.write_all(b"\"")?;
            fill(out, b'x', 62)?;
            out.write_all(b"\",")
        })
    }),
    plain("long tags, types and databases", |out| {
        out.write_all(b"key,size,type,db\n")?;
        (0..100_000u64).try_for_each(|i| writeln!(out, "{{{i:0100}}}:{i},{i},type{i:030},{i}"))
    }),
    gzip("thousands of keys of half a megabyte", |out| {
        out.write_all(b"key,size\n")?;
        (0..200).try_for_each(|i| {
            let segments: String = (0..7).map(|j| format!("{}.{j}:", i % 13)).collect();
            writeln!(out, "{i}:{},{i}", segments.repeat(MIB / 16 / 7))
        })
    }),
    gzip("hash tags of a megabyte", |out| {
        (0..50).try_for_each(|i| {
            write!(out, "{{{i}:")?;
            fill(out, b'y', 1)?;
            out.write_all(b"}\n")
        })
    }),
];

pub(crate) fn write(input: &Hostile, path: &Path) {
    let file = BufWriter::new(File::create(path).unwrap());
    let done = if input.compressed {
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        (input.write)(&mut encoder).and_then(|()| encoder.finish()?.flush())
    } else {
        let mut file = file;
        (input.write)(&mut file).and_then(|()| file.flush())
    };
    done.unwrap();
}

/// As many threads as there are giant lines, all found at the same time.
const CROWD: u64 = 6;

#[test]
fn a_giant_line_for_each_thread_takes_the_memory_of_one() {
    let folder = tempfile::tempdir().unwrap();
    let line = plain("a line at the limit", |out| {
        fill(out, b'x', 63)?;
        out.write_all(b"\n")
    });
    let lines = plain("lines at the limit", |out| {
        (0..CROWD).try_for_each(|_| {
            fill(out, b'x', 63)?;
            out.write_all(b"\n")
        })
    });
    let compressed = Hostile {
        compressed: true,
        ..line
    };
    write(&lines, &folder.path().join("lines"));
    std::fs::create_dir(folder.path().join("compressed")).unwrap();
    for i in 0..CROWD {
        write(
            &compressed,
            &folder.path().join(format!("compressed/{i}.gz")),
        );
    }
    for input in ["lines", "compressed"] {
        let mut command = slotscope(&["analyze", "--json", "--threads", &CROWD.to_string()]);
        command.arg(folder.path().join(input));
        let run = usage::of(command);
        let Some(peak_kib) = run.peak_kib else {
            return;
        };
        println!("{input}, {CROWD} threads: {} MiB", peak_kib >> 10);
        assert_eq!(run.code, Some(0), "{input}: {}", run.stderr);
        assert!(
            peak_kib >> 10 <= BASE_MIB + THREAD_MIB * CROWD,
            "{input}: {} MiB",
            peak_kib >> 10
        );
    }
}

#[test]
fn no_input_takes_more_memory_than_the_manual_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile");
    let mut too_much = Vec::new();
    for input in INPUTS {
        write(input, &path);
        let mut command = slotscope(&["analyze", "--json", "--threads", &THREADS.to_string()]);
        command.arg(&path);
        let run = usage::of(command);
        let (code, peak_kib) = (run.code, run.peak_kib);
        let Some(peak_kib) = peak_kib else {
            return;
        };
        println!(
            "{}, {THREADS} threads: {} MiB, exit code {code:?}",
            input.name,
            peak_kib >> 10
        );
        assert!(code.is_some(), "{}: it was killed", input.name);
        if peak_kib >> 10 > BASE_MIB + THREAD_MIB * THREADS {
            too_much.push((input.name, peak_kib >> 10));
        }
    }
    assert!(too_much.is_empty(), "MiB: {too_much:?}");
}
