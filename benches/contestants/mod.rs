//! What the kernels are timed on and against: batches of keys, and a row each for the CRC crates of crates.io.

use slotscope::format::batch::{BATCH_KEYS, Spans};
use slotscope::slot::SLOTS;
use slotscope::slot::kernel::{Kernel, available};
use slotscope::source::block::Block;
use std::ops::RangeInclusive;

/// Keys without tags, one after another with a newline between them, as in a dump.
pub struct Keys {
    pub block: Block,
    pub spans: Spans,
}

impl Keys {
    /// Keys of lengths drawn from `lens`, the same every time: a full batch, or one long buffer.
    pub fn new(lens: RangeInclusive<usize>) -> Self {
        let count = if *lens.end() < 4096 { BATCH_KEYS } else { 1 };
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 32
        };
        let (mut content, mut spans) = (Vec::new(), Spans::default());
        for _ in 0..count {
            let len = lens.start() + next() as usize % (lens.end() - lens.start() + 1);
            let start = content.len() as u32;
            content.extend((0..len).map(|_| b"abcdefghijklmnopqrstuvwxyz0123456789:_-."[next() as usize % 40]));
            spans.push(start, content.len() as u32);
            content.push(b'\n');
        }
        Keys { block: Block::from_bytes(&content), spans }
    }

    pub fn bytes(&self) -> usize {
        (0..self.spans.len()).map(|i| (self.spans.end[i] - self.spans.start[i]) as usize).sum()
    }
}

/// Writes the slots of a batch.
pub type Slots = Box<dyn Fn(&Keys, &mut Vec<u16>)>;

/// Something that computes the slots of a batch.
pub struct Contestant {
    pub name: String,
    pub run: Slots,
}

fn ours(kernel: &'static Kernel) -> Contestant {
    let run = move |keys: &Keys, slots: &mut Vec<u16>| kernel.slots(keys.block.padded(), &keys.spans, slots);
    Contestant { name: kernel.name.to_string(), run: Box::new(run) }
}

fn peer(name: &str, crc: impl Fn(&[u8]) -> u16 + 'static) -> Contestant {
    let run = move |keys: &Keys, slots: &mut Vec<u16>| {
        slots.clear();
        let base = keys.block.padded();
        slots.extend((0..keys.spans.len()).map(|i| crc(keys.spans.get(base, i)) & (SLOTS as u16 - 1)));
    };
    Contestant { name: name.to_string(), run: Box::new(run) }
}

/// Every kernel of this CPU, best first.
pub fn kernels() -> Vec<Contestant> {
    available().map(ours).collect()
}

/// The crates.
pub fn peers() -> Vec<Contestant> {
    static BYTEWISE: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_XMODEM);
    static SLICE_BY_16: crc::Crc<u16, crc::Table<16>> = crc::Crc::<u16, crc::Table<16>>::new(&crc::CRC_16_XMODEM);
    vec![
        peer("crc", |key| BYTEWISE.checksum(key)),
        peer("crc-slice16", |key| SLICE_BY_16.checksum(key)),
        peer("crc16", crc16::State::<crc16::XMODEM>::calculate),
        peer("crc-fast", |key| crc_fast::checksum(crc_fast::CrcAlgorithm::Crc16Xmodem, key) as u16),
    ]
}

/// Asserts that all give the same slots, before any of them is timed.
pub fn assert_answers(all: &[Contestant], keys: &Keys) {
    let mut expected = Vec::new();
    for i in 0..keys.spans.len() {
        expected.push(slotscope::slot::slot(keys.spans.get(keys.block.padded(), i)));
    }
    for contestant in all {
        let mut slots = Vec::new();
        (contestant.run)(keys, &mut slots);
        assert_eq!(slots, expected, "{}", contestant.name);
    }
}
