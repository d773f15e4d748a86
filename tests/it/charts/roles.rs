//! The charts of a dump with a big key and a hot tag show each of them.

use super::{Picture, of_rows};
use slotscope::report::charts::{Chart, charts};
use slotscope::summary::Summary;
use slotscope::summary::role_load::Asked;

const BIG_KEY: [u8; 3] = [0xD9, 0x82, 0x2B];
const HOT_TAG: [u8; 3] = [0x1D, 0x4F, 0x7C];
const NOW: u64 = 1_795_000_000;

/// The findings for plain keys, a tenth of which expires, and for additional rows.
fn with_keys(more: &str) -> Summary {
    let mut rows = String::from("key,size,ops,expiry\n");
    for i in 0..6000u64 {
        let expiry = match i % 10 {
            0 => (NOW + 60 * (i % 700)).to_string(),
            _ => String::new(),
        };
        rows += &format!("k:{i},1000,10,{expiry}\n");
    }
    of_rows(&(rows + more), Some(NOW), Asked::default())
}

fn chart(file: &str) -> Chart {
    charts().find(|chart| chart.file == file).unwrap()
}

fn drawn(summary: &Summary, file: &str) -> Picture {
    let mut bytes = Vec::new();
    let sheet = chart(file).sheet(summary).unwrap();
    sheet.write(&mut bytes).unwrap();
    Picture::decode(&bytes)
}

/// Keys of one tag, with many operations.
fn hot_tag() -> String {
    (0..100)
        .map(|i| format!("hot:{{flash}}:{i},10,900,\n"))
        .collect()
}

#[test]
fn nodes_show_a_big_key_and_a_hot_tag_in_colours_of_their_own() {
    let big_key = "big,9000000,1,\n";
    for (rows, has_key, has_tag) in [
        (String::new(), false, false),
        (big_key.into(), true, false),
        (hot_tag(), false, true),
        (hot_tag() + big_key, true, true),
    ] {
        let nodes = drawn(&with_keys(&rows), "nodes.png");
        let pixels = (nodes.pixels_of(BIG_KEY), nodes.pixels_of(HOT_TAG));
        let shown = (pixels.0 > 2000, pixels.1 > 2000);
        assert_eq!(shown, (has_key, has_tag), "{pixels:?}");
    }
}
