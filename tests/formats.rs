//! Laws of the formats that decode in place: the cut and the threads never show.

use proptest::prelude::*;
use slotscope::format::named;
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
