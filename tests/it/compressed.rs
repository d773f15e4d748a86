//! Compressed dumps are read as their content, and a damaged one is never taken for a complete one.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};

use slotscope::Analysis;
use slotscope::source::decompress::plain;
use testkit::dumps::gzip;
use testkit::prelude::*;

type Compress = fn(&[u8]) -> Vec<u8>;

fn zstd(content: &[u8]) -> Vec<u8> {
    // With a checksum, as the zstd program writes it.
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn lz4(content: &[u8]) -> Vec<u8> {
    let info = lz4_flex::frame::FrameInfo::new()
        .content_checksum(true)
        .block_size(lz4_flex::frame::BlockSize::Max64KB);
    let mut encoder = lz4_flex::frame::FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

const FORMS: [(&str, Compress); 3] = [("gz", gzip), ("zst", zstd), ("lz4", lz4)];

fn dump(keys: usize) -> Vec<u8> {
    (0..keys)
        .flat_map(|i| format!("user:{{{}}}:{i}\n", i % 97).into_bytes())
        .collect()
}

/// The bytes before the end, and whether it was an error.
fn read(compressed: Vec<u8>) -> (Vec<u8>, bool) {
    let mut content = Vec::new();
    let outcome = plain(std::io::Cursor::new(compressed))
        .and_then(|mut reader| reader.read_to_end(&mut content));
    (content, outcome.is_err())
}

#[test]
fn progress_goes_by_what_is_stored() {
    let scratch = Scratch::new();
    let content = dump(400_000);
    for (form, compress) in FORMS {
        let stored = compress(&content);
        let file = scratch.file(&format!("dump.{form}"), &stored);
        let seen = Arc::new(Mutex::new((0, None)));
        let hook = seen.clone();
        let analysis = Analysis::new().on_progress(move |progress| {
            let mut seen = hook.lock().unwrap();
            *seen = (seen.0 + progress.more_bytes, progress.total_bytes);
            true
        });
        analysis.run(&[file]).unwrap();
        let (read, total) = *seen.lock().unwrap();
        assert_eq!(total, Some(stored.len() as u64), "{form}");
        // The first bytes are read twice, for the detection of the content.
        let all = stored.len() as u64;
        let is_all = (all..=all + all / 2).contains(&read);
        assert!(is_all, "{form}: {read} of {all}");
    }
}

#[test]
fn every_form_gives_what_is_in_it_in_one_piece_or_several() {
    let content = dump(20_000);
    let (first, second) = content.split_at(100_000);
    for (form, compress) in FORMS {
        let pieces = [compress(first), compress(b""), compress(second)].concat();
        for stored in [compress(&content), pieces] {
            assert!(read(stored) == (content.clone(), false), "{form}");
        }
        assert_eq!(read(compress(b"")), (Vec::new(), false), "{form}");
    }
    for plain in [&content[..], b"", b"\x1f", b"\x1f\x8b", b"abc"] {
        assert!(read(plain.to_vec()) == (plain.to_vec(), false));
    }
    assert!(read([gzip(b"a\n"), b"garbage".to_vec()].concat()).1);
}

/// A skippable frame: a magic from 0x184D2A50 to 0x184D2A5F, a length, and that many arbitrary bytes.
fn skippable(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let len = (bytes.len() as u32).to_le_bytes();
    [&[0x50 + kind, 0x2A, 0x4D, 0x18], &len[..], bytes].concat()
}

#[test]
fn frames_without_content_are_passed_over_wherever_they_stand() {
    let content = dump(20_000);
    let (first, second) = content.split_at(100_000);
    let frames: Vec<_> = (0..16).map(|kind| skippable(kind, &[kind; 300])).collect();
    let (frames, empty) = (frames.concat(), skippable(3, b""));
    let (first, second) = (zstd(first), zstd(second));
    let parts = [&frames[..], &first, &empty, &frames, &second, &frames];
    assert!(read(parts.concat()) == (content, false));
    assert_eq!(read(frames.clone()), (Vec::new(), false), "nothing else");
    for broken in [
        [&frames[..], b"user:1\n"].concat(),
        [&frames[..], &gzip(b"user:1\n")].concat(),
        frames[..frames.len() - 1].to_vec(),
        frames[..6].to_vec(),
    ] {
        assert!(read(broken).1);
    }
}

#[test]
fn one_that_is_cut_off_anywhere_is_an_error() {
    let content = dump(60);
    let frame_first = |content: &[u8]| [skippable(0, b"12"), zstd(content)].concat();
    for (form, compress) in FORMS
        .into_iter()
        .chain([("frame first", frame_first as Compress)])
    {
        let whole = compress(&content);
        for len in (4..whole.len()).filter(|len| form != "frame first" || *len != 10) {
            let (found, failed) = read(whole[..len].to_vec());
            assert!(failed, "{form} cut to {len} of {} bytes", whole.len());
            assert!(content.starts_with(&found), "{form} cut to {len}");
        }
    }
}

#[test]
fn a_flipped_bit_never_panics_and_never_passes_for_the_content() {
    let content = dump(60);
    for (form, compress) in FORMS {
        let whole = compress(&content);
        for bit in 0..8 * whole.len() {
            let mut broken = whole.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let (found, failed) = read(broken.clone());
            // Header bits that do not affect the content may flip; one in the magic makes it another kind of file.
            assert!(
                failed || found == content || found == broken,
                "{form}: bit {bit} changed the keys in silence"
            );
        }
    }
}

/// Runs `analyze --json` on files or standard input; returns the exit code, and the report without file names.
fn analyze(scratch: &Scratch, flags: &str, input: &[u8]) -> (i32, Value) {
    let output = scratch.piped(&format!("analyze --json --one-pass {flags}"), input);
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (code(&output), without_origin(report))
}

#[test]
fn the_report_is_that_of_the_plain_dump_from_a_file_or_a_pipe() {
    let scratch = Scratch::new();
    let content = dump(200_000);
    scratch.file("plain", &content);
    let plain = analyze(&scratch, "plain", b"");
    assert_eq!(plain.0, 0);
    let frames = |content: &[u8]| content.chunks(300_000).flat_map(zstd).collect();
    for (form, compress) in FORMS.into_iter().chain([("frames", frames as Compress)]) {
        // The name does not reveal the compression.
        scratch.file("dump.keys", compress(&content));
        for flags in ["dump.keys --threads 1", "dump.keys --threads 3"] {
            assert!(analyze(&scratch, flags, b"") == plain, "{form} {flags}");
        }
        let piped = analyze(&scratch, "-", &compress(&content));
        assert!(piped == plain, "{form} in a pipe");
    }
}

#[test]
fn one_pass_has_every_tag_of_a_plain_file_and_bounds_of_a_compressed_one() {
    let scratch = Scratch::new();
    let keys: String = (0..70_000)
        .map(|i| format!("a:{{t{i}}}\nb:{{hot{}}}:{i}\n", i % 50))
        .collect();
    scratch.file("plain", &keys);
    scratch.file("dump.gz", gzip(keys.as_bytes()));
    let all = scratch.report("analyze --json plain");
    let once = |file| scratch.report(&["analyze", "--json", "--one-pass", file]);
    let (plain, compressed) = (once("plain"), once("dump.gz"));
    plain.has(json!({"run": {"passes": 1}, "tags": {"distinct": 70_050}}));
    assert!(without_origin(plain) == without_origin(all));
    assert_eq!(compressed["run"]["passes"], 1);
    assert_ne!(compressed["tags"]["distinct_error"], 0.0);
    // The true counts are within the bounds of heavy tags.
    for tag in compressed["tags"]["top"].list().iter().take(50) {
        let [keys, error] = ["keys", "keys_error"].map(|name| tag[name].as_u64().unwrap_or(0));
        assert!((keys..=keys + error).contains(&1400), "{tag}");
    }
}

#[test]
fn a_broken_stream_is_reported_with_all_before_it_and_exit_code_2() {
    let scratch = Scratch::with("whole", b"other:1\nother:2\n");
    for (form, compress) in FORMS {
        let compressed = compress(&dump(200_000));
        scratch.file("cut", &compressed[..compressed.len() / 2]);
        let (code, report) = analyze(&scratch, "whole cut", b"");
        assert_eq!(code, 2, "{form}");
        report.has(json!({"verdict": {"state": "suspicious"}}));
        let stop = &report["input"]["incomplete"][0];
        assert_eq!(stop["file"], "cut");
        stop["reason"].text().says("broken").says("compressed byte");
        let keys = report["input"]["keys"].whole();
        assert!((1000..200_000).contains(&keys), "{form}: {keys}");
    }
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn tags_of_equal_load_are_the_same_ones_in_every_form_of_a_dump() {
    let scratch = Scratch::new();
    // More than the list holds, and more than a thread counts in a table of its own.
    let keys: String = (0..24_000)
        .map(|i| format!("{{t{}}}:{i}\n", i % 8_000))
        .collect();
    scratch.file("dump.keys", keys.as_bytes());
    scratch.file("dump.gz", gzip(keys.as_bytes()));
    scratch.text("tally dump.keys --out dump.tally");
    let tags = |file: &str| scratch.report(&format!("analyze {file} --json"))["tags"].clone();
    let plain = tags("dump.keys");
    assert_eq!(plain["top"].as_array().unwrap().len(), 1000);
    for file in ["dump.gz", "dump.tally"] {
        assert_eq!(tags(file)["top"], plain["top"], "{file}");
    }
}

#[test]
fn what_is_compressed_twice_is_refused_in_every_form() {
    let scratch = Scratch::new();
    let content = dump(1000);
    let inner = FORMS.map(|(_, compress)| compress(&content));
    let with_a_frame = [skippable(0, b"abcd"), zstd(&content)].concat();
    for (form, compress) in FORMS {
        for inner in inner.iter().chain([&with_a_frame]) {
            scratch.file("twice", compress(inner));
            let output = scratch.run("analyze twice --no-files");
            assert_eq!(code(&output), 2, "{form}");
            stderr(&output).says("a compressed file or an archive");
        }
    }
}
