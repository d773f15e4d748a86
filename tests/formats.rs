//! Laws of the formats that decode in place: the cut and the threads never show.

use proptest::prelude::*;
use slotscope::format::named;
use slotscope::scan::Scan;
use slotscope::slot::kernel;
use slotscope::source::Input;
use slotscope::tally::{Parts, Tallies};

proptest! {
    #[test]
    fn where_a_dump_in_quotes_is_cut_does_not_show(
        lines in prop::collection::vec(r#"("[a-c{}\\x0n"]{0,12}"|[a-c"\\]{0,6}|\(1.2s\))\r?"#, 1..60),
        chunk in 1usize..400,
        threads in 1usize..4,
        (form, separator) in prop::sample::select(vec![("quoted", "\n"), ("redis-csv", ","), ("redis-json", ",")]),
    ) {
        let content = lines.join(separator);
        prop_assume!(!content.is_empty());
        let scan = |threads, chunk| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let format = Some(named(form).unwrap());
            let scan = Scan { pool: &pool, kernel: kernel::best(), format, database: None, chunk, proceed: &|_| true };
            let inputs = [Input::memory("test", content.as_bytes())];
            let found = scan.run(&inputs, || Tallies::new(Parts::All)).unwrap();
            (found.tally, found.inputs, found.rejects)
        };
        prop_assert_eq!(scan(threads, chunk), scan(1, content.len()));
    }
}
