//! The hash slot of each argument, as CLUSTER KEYSLOT computes it.
//!
//! ```sh
//! cargo run --example slots_of -- user:1 '{cart}:1' '{cart}:2'
//! ```

fn main() {
    for key in std::env::args().skip(1) {
        println!("{:>5}  {key}", slotscope::slot(key.as_bytes()));
    }
}
