//! A custom tally: the number of keys with a hash tag, counted on all cores.
//!
//! ```sh
//! cargo run --example custom_tally -- samples/hot-tag.keys
//! ```

use slotscope::extend::{Scan, SlotBatch, Tally, find};

#[derive(Default)]
struct Tagged {
    keys: usize,
    tagged: usize,
}

impl Tally for Tagged {
    fn add(&mut self, keys: &SlotBatch<'_>) {
        self.keys += keys.len();
        self.tagged += (0..keys.len()).filter(|i| keys.is_tagged(*i)).count();
    }

    fn merge(&mut self, other: Self) {
        self.keys += other.keys;
        self.tagged += other.tagged;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let pool = rayon::ThreadPoolBuilder::new().build()?;
    let sources = find(&paths)?.sources;
    let counted = Scan::new(&pool).run(&sources, Tagged::default)?.tally;
    println!(
        "{} of {} keys have a hash tag",
        counted.tagged, counted.keys
    );
    Ok(())
}
