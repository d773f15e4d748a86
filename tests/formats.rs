//! Laws of the formats that decode in place and of tables: the cut and the threads never show, and nothing panics.

use proptest::prelude::*;
use slotscope::format::{FORMATS, named};
use slotscope::scan::{Scan, SeenInput};
use slotscope::slot::kernel;
use slotscope::source::Input;
use slotscope::tally::rejects::Rejects;
use slotscope::tally::{Parts, Tallies};

/// What a scan finds, and where it rejects.
fn scan(form: &str, content: &[u8], threads: usize, chunk: usize) -> (Tallies, Vec<SeenInput>, Rejects) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    let format = Some(named(form).unwrap());
    let scan = Scan { pool: &pool, kernel: kernel::best(), format, chunk, proceed: &|_| true };
    let found = scan.run(&[Input::memory("test", content)], || Tallies::new(Parts::All)).unwrap();
    (found.tally, found.inputs, found.rejects)
}

/// A form with columns: its name, its header, and what its rows are like.
const TABLES: [(&str, &str, &str); 5] = [
    ("csv", "key,size,type", r#"[a-c{}]{0,6},[0-9]{0,3},[a-z]{0,3}|"([a-c,\n\r]|""){0,8}",1,|[a-c",\n\r]{0,6}"#),
    ("jsonl", "[", r#"\{"key":"[a-c{}\\\\]{0,6}","size":[0-9]{0,2}\},?|\[?\{?"k"#),
    (
        "hdt-rdb",
        "database,key,type,size,size_readable,freq",
        r#"0,([a-c{}]{0,6}|"([a-c,\n]|""){0,8}"),set,[0-9]{1,3},1K,7|[a-c0,\n]{0,8}"#,
    ),
    (
        "rdb-tools",
        "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry",
        r#"0,set,[a-c{},"\n]{0,6},[0-9]{1,3},ht,1,1,|[a-c0,"\n]{0,8}"#,
    ),
    (
        "redis-rdb-cli",
        "database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry",
        r#"0,set,"[a-c{},"\n]{0,6}","[0-9]\.[0-9]kB",ht,1,"1 B",""|[a-c0,"\n]{0,8}"#,
    ),
];

/// A form, and the row of a key in it.
type RowOf = (&'static str, fn(&str) -> String);

proptest! {
    #[test]
    fn where_a_table_is_cut_does_not_show(
        (form, header, rows) in prop::sample::select(TABLES.to_vec()).prop_flat_map(|(form, header, row)| {
            (Just(form), Just(header), prop::collection::vec(row, 1..60))
        }),
        end in prop::sample::select(vec!["\n", "\r\n"]),
        chunk in 1usize..400,
        threads in 1usize..4,
    ) {
        let content = format!("{header}{end}{}{end}", rows.join(end));
        let whole = scan(form, content.as_bytes(), 1, content.len());
        prop_assert_eq!(scan(form, content.as_bytes(), threads, chunk), whole);
    }

    #[test]
    fn carriage_returns_at_line_ends_of_a_table_do_not_show(
        keys in prop::collection::vec(r#"[a-c{}.]{0,9}"#, 1..60),
        chunk in 1usize..400,
    ) {
        let rows: [RowOf; 5] = [
            ("csv", |key| format!("{key},7,set")),
            ("jsonl", |key| format!("{{\"key\":\"{key}\",\"size\":7}},")),
            ("hdt-rdb", |key| format!("0,\"{key}\",set,7,7B,1")),
            ("rdb-tools", |key| format!("0,set,{key},7,ht,1,1,")),
            ("redis-rdb-cli", |key| format!("0,set,\"{key}\",\"7 B\",ht,1,\"1 B\",\"\"")),
        ];
        for (form, row) in rows {
            let header = TABLES.iter().find(|(name, ..)| *name == form).unwrap().1;
            let found = ["\n", "\r\n"].map(|end| {
                let rows: String = keys.iter().map(|key| row(key) + end).collect();
                let (tally, inputs, rejects) = scan(form, format!("{header}{end}{rows}").as_bytes(), 2, chunk);
                assert_eq!(inputs[0].seen.keys, keys.len() as u64);
                (tally, rejects)
            });
            prop_assert_eq!(&found[0], &found[1], "{}", form);
            prop_assert_eq!(found[0].1.count, 0);
        }
    }

    #[test]
    fn no_bytes_make_a_format_panic(
        start in prop::sample::select(TABLES.to_vec()),
        bytes in prop::collection::vec(
            prop_oneof![4 => prop::sample::select(b"\"\",,\n\r{}[]:\\u0d".to_vec()), 1 => any::<u8>()], 0..80),
        chunk in 1usize..100,
    ) {
        let below = [start.1.as_bytes(), b"\n", &bytes].concat();
        for content in [&bytes, &below] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
            for format in FORMATS.iter().map(|format| Some(*format)).chain([None]) {
                let scan = Scan { pool: &pool, kernel: kernel::best(), format, chunk, proceed: &|_| true };
                // A head that cannot be opened is an error, and no more than that.
                let _ = scan.run(&[Input::memory("test", content)], || Tallies::new(Parts::Slots));
            }
        }
    }

    #[test]
    fn where_a_dump_in_quotes_is_cut_does_not_show(
        lines in prop::collection::vec(r#"("[a-c{}\\x0n"]{0,12}"|[a-c"\\]{0,6}|\(1.2s\))\r?"#, 1..60),
        chunk in 1usize..400,
        threads in 1usize..4,
        (form, separator) in prop::sample::select(vec![("quoted", "\n"), ("redis-csv", ","), ("redis-json", ",")]),
    ) {
        let content = lines.join(separator);
        prop_assume!(!content.is_empty());
        let content = content.as_bytes();
        prop_assert_eq!(scan(form, content, threads, chunk), scan(form, content, 1, content.len()));
    }
}
