//! Laws of the formats: the split into chunks, the threads and a pipe never affect the result.

use std::io::Write;

use proptest::prelude::*;
use slotscope::detect::{FORMATS, Recognised, named, recognise};
use slotscope::format::{Head, Notice};
use slotscope::scan::SeenInput;
use slotscope::source::Source;
use slotscope::source::memory::memory;
use slotscope::source::pipe::Pipe;
use slotscope::tally::rejects::Rejects;
use slotscope::tally::{Parts, Tallies};
use testkit::forms::{KEY, dump_of, example};
use testkit::run::{raw_rows, rows};
use testkit::scan::Scanning;

type Found = (Tallies, Vec<SeenInput>, Rejects);

/// The keys found by a scan of `input` in `form`.
fn scan(input: Box<dyn Source>, form: &str, threads: usize, chunk: usize) -> Found {
    let scan = Scanning::of(form).cut(threads, chunk);
    let found = scan.run(&[input], || Tallies::new(Parts::All).with_patterns(b":"));
    (found.tally, found.inputs, found.rejects)
}

/// The keys found in `content`, after checking that chunks, threads and pipes do not matter.
fn found(content: &[u8], form: &str, threads: usize, chunk: usize) -> Found {
    let whole = scan(memory("test", content), form, 1, content.len());
    assert_eq!(scan(memory("test", content), form, threads, chunk), whole);
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(content).unwrap();
    let pipe = Box::new(Pipe::new(file.path().to_path_buf()));
    assert_eq!(scan(pipe, form, threads, chunk), whole);
    whole
}

/// Formats with columns: the name, the header, and the form of the rows; RDB-TOOLS stands for a header.
const TABLES: &str = r#"
csv ¦ key,size,type ¦ [a-c{}]{0,6},[0-9]{0,3},[a-z]{0,3}|"([a-c,\n\r]|""){0,8}",1,|[a-c",\n\r]{0,6}
csv ¦ key,size ¦ "([a-c{},;]|\\x0a|\\"|\\\\){0,6}",[0-9]{1,2}|"([a-c,]|""){0,3}",1|
jsonl ¦ [ ¦ \{"key":"[a-c{}\\\\]{0,6}","size":[0-9]{0,2}\},?|\[?\{?"k
hdt-rdb ¦ database,key,type,size,size_readable,freq ¦ 0,([a-c{}]{0,6}|"([a-c,\n]|""){0,8}"),set,[0-9]{1,3},1K,7|[a-c0,\n]{0,8}
rdb-tools ¦ RDB-TOOLS ¦ 0,set,[a-c{},"\n]{0,6},[0-9]{1,3},ht,1,1,|[a-c0,"\n]{0,8}
redis-rdb-cli ¦ RDB-TOOLS ¦ 0,set,"[a-c{},"\n]{0,6}","[0-9]\.[0-9]kB",ht,1,"1 B",""|[a-c0,"\n]{0,8}
"#;

/// The rows of `TABLES`, each with its whole header.
fn tables() -> Vec<[&'static str; 3]> {
    let mut tables = raw_rows(TABLES);
    for [_, header, _] in &mut tables {
        *header = if *header == "RDB-TOOLS" {
            example("rdb-tools").0
        } else {
            *header
        };
    }
    tables
}

/// Forms of dumps whose rows have no columns: the format, the form of its rows, and the text between them.
const ROWS: [[&str; 3]; 6] = [
    ["lines", r"[a-c{}]{1,12}|[{}]{60,90}", "\n"],
    ["quoted", QUOTED, "\n"],
    ["sized", QUOTED, "\n"],
    ["redis-json", QUOTED, ","],
    ["numbered", NUMBERED, "\n"],
    ["resp", RESP, ""],
];

/// Texts in quotes, and what stands around them.
const QUOTED: &str = r#"("[a-c{}\\x0n"]{0,12}"|[0-9]{1,2} "[a"\\]{0,3}"|"[a"\\]{0,3}"[ ,]{1,2}7|\["[0-9]"|\["k"\]\]|[a-c"\\]{0,6}|\(1.2s\))\r?"#;
const NUMBERED: &str =
    r#" {0,2}([1-3]\) )?[1-4]\) ("[a0\\n]{0,3}"|\(nil\)|\(empty array\)|a)|\(1.2s\)|[a1]{0,2}"#;
const RESP: &str = r"\*2\r\n\$1\r\n[0a]\r\n\*2\r\n|\*[0-9]{0,2}\r\n|\$1\r\na\r\n|\$0\r\n\r\n|\$-1\r\n|\$-?[0-9]{1,2}\r\n|[a\r\n]{0,3}";

/// All forms of dumps: the format, the head, the form of the rows, and the text between them.
fn dumps() -> Vec<(&'static str, String, &'static str, &'static str)> {
    let table = |[form, header, row]: [&'static str; 3]| (form, format!("{header}\n"), row, "\n");
    let row = |[form, row, between]: [&'static str; 3]| {
        let head = if form == "resp" { "*1\r\n" } else { "" };
        (form, head.to_owned(), row, between)
    };
    let tables = tables().into_iter().map(table);
    tables.chain(ROWS.map(row)).collect()
}

/// The names of the formats that are text.
fn texts() -> impl Iterator<Item = &'static str> {
    let names = FORMATS.iter().map(|format| format.name());
    names.filter(|name| *name != "rdb")
}

/// An editor may have put it there; nobody edits what a server appends to.
#[test]
fn a_byte_order_mark_is_no_part_of_a_dump() {
    for form in texts().filter(|form| *form != "aof") {
        let dump = dump_of(form, &[KEY, "second"], "\n");
        let marked = &[b"\xEF\xBB\xBF", &dump[..]].concat();
        let head = Head {
            bytes: marked,
            whole: true,
        };
        let detected = recognise(head).map(|found| found.unwrap().name());
        assert_eq!(detected, Ok(form));
        let [plain, marked] = [&dump, marked].map(|bytes| {
            let (tally, inputs, rejects) = found(bytes, form, 1, bytes.len());
            let mut notices = inputs[0].seen.notices();
            let is_noted = notices.any(|(notice, _)| notice == Notice::ByteOrderMark);
            (tally, rejects.count, is_noted)
        });
        assert_eq!((plain.0, plain.1, true), marked, "{form}");
    }
}

#[test]
fn the_example_of_a_format_is_a_dump_of_its_key_in_that_format() {
    for form in texts() {
        let bytes = &dump_of(form, &[KEY], "\n");
        let (tally, inputs, rejects) = found(bytes, form, 1, bytes.len());
        let seen = inputs[0].seen.keys + inputs[0].seen.operations;
        assert_eq!((seen, rejects.count), (1, 0), "{form}");
        let slot = usize::from(hashslot::slot(KEY.as_bytes()));
        let mut loads = tally.slots.loads.iter();
        assert!(
            loads.all(|(_, load)| load.iter().sum::<u64>() == load[slot]),
            "{form}"
        );
        let detected = recognise(Head { bytes, whole: true });
        assert_eq!(detected.unwrap().unwrap().name(), form);
    }
}

proptest! {
    #[test]
    fn where_a_dump_is_cut_does_not_show(
        ((form, head, between), rows) in prop::sample::select(dumps()).prop_flat_map(|(form, head, row, between)| {
            (Just((form, head, between)), prop::collection::vec(row, 1..60))
        }),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        chunk in 1usize..400,
        threads in 1usize..4,
    ) {
        let (head, between) = match between {
            "\n" => (head.replace('\n', end), end),
            between => (head, between),
        };
        let content = head + &rows.join(between) + between;
        found(content.as_bytes(), form, threads, chunk);
    }

    #[test]
    fn carriage_returns_at_line_ends_do_not_show(
        keys in prop::collection::vec(r#"[a-c{}.]{0,9}"#, 1..60),
        chunk in 1usize..400,
    ) {
        let keys = [vec![String::from("first")], keys].concat();
        for form in texts() {
            let found = ["\n", "\r\n"].map(|end| {
                let (tally, inputs, rejects) =
                    scan(memory("test", &dump_of(form, &keys, end)), form, 2, chunk);
                let seen = inputs[0].seen.keys + inputs[0].seen.operations;
                assert_eq!(seen, keys.len() as u64, "{form}");
                (tally, rejects)
            });
            prop_assert_eq!(&found[0], &found[1], "{}", form);
            prop_assert_eq!(found[0].1.count, 0);
        }
    }

    #[test]
    fn no_bytes_make_a_format_panic(
        start in prop::sample::select(tables()),
        bytes in prop::collection::vec(
            prop_oneof![4 => prop::sample::select(b"\"\",,\n\r{}[]:\\u0d".to_vec()), 1 => any::<u8>()], 0..80),
        chunk in 1usize..100,
    ) {
        let below = [start[1].as_bytes(), b"\n", &bytes].concat();
        let head = Head { bytes: &below, whole: true };
        prop_assert!(named(start[0]).unwrap().open(head).is_ok(), "{} is refused below its header", start[0]);
        for content in [&bytes, &below] {
            for format in FORMATS.iter().map(|format| Some(*format)).chain([None]) {
                let is_table = format.is_none_or(|format| tables().iter().any(|[name, ..]| *name == format.name()));
                let scan = Scanning { format, ..Scanning::detected().cut(1, chunk) };
                let found = scan.try_run(&[memory("test", content)], || Tallies::new(Parts::Slots));
                // Only the head of an input can be rejected; it is opened in the same way here.
                let head = Head { bytes: content, whole: true };
                let known = |format| Ok(Some(Recognised::Known(format)));
                let format = format.map_or_else(|| recognise(head), known);
                let opens = format.is_ok_and(|format| format.is_some_and(|format| format.open(head).is_ok()));
                prop_assert_eq!(found.is_ok(), opens);
                prop_assert!(opens || is_table, "only a first line that names no key column is refused");
            }
        }
    }
}

/// Formats whose plain rows are split a batch at a time: a header, a plain row, and rows that are not plain.
const CUT_AT_ONCE: &str = r#"
         csv | key,size,type | k,1,s | \"two\nlines\",1,s | short | a,b,c,d
         rdb-tools | RDB-TOOLS | 0,set,k,10,ht,1,1, | 0,set,\"two,10,ht,1,1, | short | 0,set,a,b,10,ht,1,1,
         redis-rdb-cli | RDB-TOOLS | 0,set,"k","1.0kB",ht,1,"1 B","" | 0,set,"a"b","1.0kB",ht,1,"1 B","" | short | 0,set,"a,b","1.0kB",ht,1,"1 B",""
"#;

#[test]
fn an_odd_row_among_thousands_of_plain_ones_is_read_like_any_other() {
    const PLAIN: usize = 10_000;
    for [form, header, plain, odd_rows @ ..] in rows::<6>(CUT_AT_ONCE) {
        let header = header.replace("RDB-TOOLS", example("rdb-tools").0);
        for odd in odd_rows {
            for place in [0, 1, 4095, 4096, 9000, PLAIN] {
                let mut rows = vec![plain; PLAIN];
                rows.insert(place, odd);
                let dump = format!("{header}\n{}\n", rows.join("\n"));
                let (tally, _, rejects) = found(dump.as_bytes(), form, 2, 4096);
                let (keys, rejected) = (tally.slots.total() as usize, rejects.count as usize);
                let is_read = keys >= PLAIN && keys + rejected == PLAIN + 1;
                assert!(is_read, "{form}: {odd:?} at {place}: {keys} {rejected}");
            }
        }
    }
}
