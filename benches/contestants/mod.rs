//! The contestants of the benchmarks: batches of keys, and a row for each CRC crate on crates.io.

use hashslot::{Batch, Kernel, PAD, Padded, SLOTS, available};
use std::ops::RangeInclusive;

/// Keys in a batch: few enough that they and their slots stay in the L2 cache.
const BATCH_KEYS: usize = 4096;

/// Keys without tags, concatenated with newlines, as in a dump.
pub(crate) struct Keys {
    buffer: Vec<u8>,
    start: Vec<u32>,
    end: Vec<u32>,
}

impl Keys {
    /// Keys with lengths drawn from `lens`, deterministically: a full batch, or one long buffer.
    pub(crate) fn new(lens: RangeInclusive<usize>) -> Self {
        let count = if *lens.end() < 4096 { BATCH_KEYS } else { 1 };
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut next = move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state >> 32
        };
        let (mut buffer, mut starts, mut ends) = (vec![0; PAD], Vec::new(), Vec::new());
        for _ in 0..count {
            let len = lens.start() + next() as usize % (lens.end() - lens.start() + 1);
            starts.push((buffer.len() - PAD) as u32);
            buffer.extend(
                (0..len).map(|_| b"abcdefghijklmnopqrstuvwxyz0123456789:_-."[next() as usize % 40]),
            );
            ends.push((buffer.len() - PAD) as u32);
            buffer.push(b'\n');
        }
        buffer.resize(buffer.len() + PAD, 0);
        Keys {
            buffer,
            start: starts,
            end: ends,
        }
    }

    /// The keys in the form that kernels take.
    pub(crate) fn batch(&self) -> Batch<'_> {
        Batch::new(Padded::new(&self.buffer), &self.start, &self.end)
    }
}

/// Writes the slots of a batch.
pub(crate) type Slots = Box<dyn Fn(&Keys, &mut Vec<u16>)>;

/// Something that computes the slots of a batch.
pub(crate) struct Contestant {
    pub name: String,
    pub run: Slots,
}

fn ours(kernel: &'static Kernel) -> Contestant {
    let run = move |keys: &Keys, slots: &mut Vec<u16>| {
        slots.resize(keys.start.len(), 0);
        kernel.slots(keys.batch(), slots)
    };
    Contestant {
        name: kernel.name.to_string(),
        run: Box::new(run),
    }
}

fn peer(name: &str, crc: impl Fn(&[u8]) -> u16 + 'static) -> Contestant {
    let run = move |keys: &Keys, slots: &mut Vec<u16>| {
        slots.clear();
        let batch = keys.batch();
        slots.extend((0..batch.len()).map(|i| crc(batch.get(i)) & (SLOTS as u16 - 1)));
    };
    Contestant {
        name: name.to_string(),
        run: Box::new(run),
    }
}

/// Every kernel of this CPU, best first.
pub(crate) fn kernels() -> Vec<Contestant> {
    available().map(ours).collect()
}

/// The crates on crates.io.
pub(crate) fn peers() -> Vec<Contestant> {
    static BYTEWISE: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_XMODEM);
    static SLICE_BY_16: crc::Crc<u16, crc::Table<16>> =
        crc::Crc::<u16, crc::Table<16>>::new(&crc::CRC_16_XMODEM);
    vec![
        peer("crc", |key| BYTEWISE.checksum(key)),
        peer("crc-slice16", |key| SLICE_BY_16.checksum(key)),
        peer("crc16", crc16::State::<crc16::XMODEM>::calculate),
        peer("crc-fast", |key| {
            crc_fast::checksum(crc_fast::CrcAlgorithm::Crc16Xmodem, key) as u16
        }),
    ]
}

/// Asserts that all compute the same slots before any is timed.
pub(crate) fn assert_answers(all: &[Contestant], keys: &Keys) {
    let batch = keys.batch();
    let expected: Vec<u16> = (0..batch.len())
        .map(|i| hashslot::slot(batch.get(i)))
        .collect();
    for contestant in all {
        let mut slots = Vec::new();
        (contestant.run)(keys, &mut slots);
        assert_eq!(slots, expected, "{}", contestant.name);
    }
}
