//! Every kernel of this CPU against the table kernel, the simplest one: hashed parts and slots.

use hashslot::Kernel;
use slotscope::batch::{KeyBatch, Spans, Values};
use slotscope::block::Block;
use slotscope::slot::SlotColumns;

/// Newlines separate the keys.
pub const SEEDS: &[&[u8]] = &[
    b"123456789\n{user1000}.following\nfoo{}{bar}\nfoo{{bar}}zap\nfoo{bar}{zap}\nfoo{bar\n\n",
    b"{0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}:x\n{a}{b}{c}{d}\n}{}{\n",
    &[b'x'; 5000],
];

/// The hashed parts and the slots of keys.
fn found(kernel: &'static Kernel, block: &Block, keys: &Spans) -> (Spans, Vec<u16>) {
    let batch = KeyBatch {
        base: block.padded(),
        keys,
        values: &Values::default(),
    };
    let mut columns = SlotColumns::default();
    let found = columns.compute(kernel, batch, 0);
    (found.hashed.clone(), found.slots.to_vec())
}

/// The first byte is the position of the first key in the block: kernels treat both ends of a block specially.
pub fn agree(bytes: &[u8]) -> bool {
    let Some((start, content)) = bytes.split_first() else {
        return false;
    };
    let start = usize::from(*start) % 65;
    let block = Block::from_bytes(&[&vec![b'{'; start], content].concat());
    let (mut keys, mut at) = (Spans::default(), start as u32);
    for key in content.split(|byte| *byte == b'\n') {
        let end = at + key.len() as u32;
        keys.push(at, end);
        at = end + 1;
    }
    let table = hashslot::named("table").expect("every CPU has the table");
    let expected = found(table, &block, &keys);
    for kernel in hashslot::available() {
        let found = found(kernel, &block, &keys);
        assert!(found == expected, "kernel {}", kernel.name);
    }
    true
}
