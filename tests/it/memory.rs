//! Every command that reads files stays within the memory limits in docs/limits.md for any input: each of these inputs
//! is made to need more. The tests print the usage of each.

use std::fs::File;
use std::io::{BufWriter, Write};

use testkit::env::is_campaign;
use testkit::forms::example;
use testkit::run::Scratch;
use testkit::usage::{self, Usage};

const MIB: usize = 1 << 20;

/// The limits in docs/limits.md: a base, which includes a giant line, and an amount per thread.
const BASE_MIB: u64 = 64 + 144;
const THREAD_MIB: u64 = 12;

type Out<'a> = &'a mut dyn Write;

type WriteInput = fn(Out<'_>) -> std::io::Result<()>;

/// An input: its name, whether it is compressed, and the function that writes it.
type Hostile = (&'static str, bool, WriteInput);

const fn plain(name: &'static str, write: WriteInput) -> Hostile {
    (name, false, write)
}

const fn gzip(name: &'static str, write: WriteInput) -> Hostile {
    (name, true, write)
}

/// Writes this many MiB.
fn fill(out: Out<'_>, byte: u8, mib: usize) -> std::io::Result<()> {
    let some = vec![byte; MIB];
    (0..mib).try_for_each(|_| out.write_all(&some))
}

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

/// Lines at the limit.
fn lines(out: Out<'_>, count: usize) -> std::io::Result<()> {
    (0..count).try_for_each(|_| {
        fill(out, b'x', 63)?;
        out.write_all(b"\n")
    })
}

const INPUTS: &[Hostile] = &[
    plain("keys of an RDB file at the limit", rdb_keys),
    gzip("compressed keys of an RDB file at the limit", rdb_keys),
    gzip("a string of an RDB file that is a bomb", |out| {
        out.write_all(b"REDIS0011\xFE\x00\x00\x01k\x80\x10\x00\x00\x00")?;
        fill(out, 0, 256)?;
        out.write_all(b"\xFF\0\0\0\0\0\0\0\0")
    }),
    gzip("a bomb of zeros", |out| fill(out, 0, 66)),
    gzip("a bomb of line ends", |out| fill(out, b'\n', 4)),
    plain("a line without end", |out| fill(out, b'x', 66)),
    gzip("a compressed line without end", |out| fill(out, b'x', 66)),
    plain("lines at the limit", |out| lines(out, 2)),
    gzip("compressed lines at the limit", |out| lines(out, 2)),
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
        write!(out, "{}\n0,set,", example("rdb-tools").0)?;
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

fn write(scratch: &Scratch, name: &str, (_, compressed, write): &Hostile) {
    let mut file = BufWriter::new(File::create(scratch.path(name)).unwrap());
    let done = if *compressed {
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        write(&mut encoder).and_then(|()| encoder.finish()?.flush())
    } else {
        write(&mut file).and_then(|()| file.flush())
    };
    done.unwrap();
}

/// Runs a command with this many threads, which may not need more memory than its limit.
fn measured(scratch: &Scratch, line: &str, threads: u64) -> Usage {
    let mut command = scratch.command(line);
    if THREADED.contains(&line.split(' ').next().unwrap()) {
        command.arg("--threads").arg(threads.to_string());
    }
    let run = usage::of(command);
    let (peak, most) = (run.peak_mib(), BASE_MIB + THREAD_MIB * threads);
    println!(
        "{line}, {threads} threads: {peak} of {most} MiB, {:.1} s, code {:?}",
        run.cpu_secs, run.code
    );
    assert!(
        peak <= most && run.code.is_some_and(|code| code <= 2),
        "{line}: {run:?}"
    );
    run
}

/// Threads of which each gets a giant line: too many to stay within the limit if each held one.
const THREADS: usize = 4;

/// Commands with `--threads`.
const THREADED: [&str; 6] = ["analyze", "tally", "plan", "whatif", "lint", "timeline"];

/// Commands beside `analyze`; they get the inputs that need most in the stages of a run.
const COMMANDS: [&str; 10] = [
    "tally IN --out out",
    "plan IN --nodes 3",
    "whatif IN --nodes 3 --to-nodes 4",
    "lint IN",
    "timeline IN",
    "dump IN",
    "fanout IN",
    "diff IN IN",
    "capacity IN IN IN",
    "merge IN IN --out out",
];

/// The start of the names of these inputs.
const CHOSEN: [&str; 6] = [
    "keys of an RDB file",
    "a bomb of zeros",
    "lines at the limit",
    "a row of commas",
    "an object of many members",
    "long tags, types and databases",
];

#[test]
fn no_input_and_no_command_takes_more_memory_than_the_manual_says() {
    let scratch = Scratch::new();
    for input in INPUTS {
        println!("{}", input.0);
        write(&scratch, "hostile", input);
        measured(&scratch, "analyze hostile --json", 2);
        // Each command reads one of these, and in a campaign all.
        let chosen = CHOSEN.iter().position(|start| input.0.starts_with(start));
        for (number, line) in COMMANDS.iter().enumerate() {
            if chosen.is_some_and(|at| is_campaign() || at == number % CHOSEN.len()) {
                measured(&scratch, &line.replace("IN", "hostile"), 2);
            }
        }
    }
}

#[test]
fn a_giant_line_for_each_thread_takes_the_memory_of_one() {
    let scratch = Scratch::new();
    write(
        &scratch,
        "lines",
        &plain("lines at the limit", |out| lines(out, THREADS)),
    );
    std::fs::create_dir(scratch.path("compressed")).unwrap();
    for i in 0..THREADS {
        let one = gzip("a line at the limit", |out| lines(out, 1));
        write(&scratch, &format!("compressed/{i}.gz"), &one);
    }
    for input in ["lines", "compressed"] {
        let run = measured(&scratch, &format!("analyze --json {input}"), THREADS as u64);
        assert_eq!(run.code, Some(0), "{input}: {}", run.stderr);
    }
}

#[test]
fn a_long_description_of_a_collection_takes_no_more() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("all")).unwrap();
    let zeros = "0,".repeat(7_900_000);
    for schema in ["slotscope.collect/1", "slotscope.collect/9"] {
        let text = format!("{{\"schema\":\"{schema}\",\"x\":[{zeros}0]}}");
        scratch.file("all/collect.json", text);
        assert_eq!(measured(&scratch, "analyze all", 2).code, Some(2));
    }
}
