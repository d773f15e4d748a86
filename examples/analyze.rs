//! A complete analysis: the distribution of key dumps over six nodes, and the tags with the most keys.
//!
//! ```sh
//! cargo run --example analyze -- samples/hot-tag.keys
//! ```

use slotscope::Analysis;

fn main() -> Result<(), slotscope::Error> {
    let paths: Vec<String> = std::env::args().skip(1).collect();
    let summary = Analysis::new().nodes(6).run(&paths)?;
    println!("{} keys", summary.input.keys);
    for node in &summary.nodes.list {
        println!("{:<8} {:>10} keys", node.id.to_string(), node.load.keys);
    }
    for tag in summary.tags.iter().flat_map(|tags| tags.top.iter().take(5)) {
        println!(
            "{{{}}} in slot {}: {} keys",
            tag.tag, tag.slot, tag.load.keys
        );
    }
    Ok(())
}
