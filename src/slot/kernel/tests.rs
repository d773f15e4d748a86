//! Conformance: every kernel this CPU has against naive code, for all three passes.

use super::*;
use crate::slot::hashtag;
use crate::source::block::Block;
use proptest::prelude::*;

/// CRC-16/XMODEM a bit at a time, from its definition.
fn naive_crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0u16, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| if crc >> 15 == 1 { crc << 1 ^ 0x1021 } else { crc << 1 })
    })
}

/// Bytes without a pattern, the same every time.
fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn assert_slots(kernel: &Kernel, base: Padded<'_>, spans: &Spans) {
    let mut slots = Vec::new();
    kernel.slots(base, spans, &mut slots);
    for (i, slot) in slots.iter().enumerate() {
        let key = spans.get(base, i);
        assert_eq!(*slot, naive_crc16(key) & 0x3FFF, "{}: span {i} of {} bytes", kernel.name, key.len());
    }
}

#[test]
fn the_check_value_of_the_specification() {
    assert_eq!(naive_crc16(b"123456789"), 0x31C3);
    assert_eq!(table::crc16(b"123456789"), 0x31C3);
}

#[test]
fn every_length_at_every_offset() {
    let block = Block::from_bytes(&noise(512));
    for kernel in available() {
        println!("kernel conformance ran: {}", kernel.name);
        for offset in 0..64 {
            let mut spans = Spans::default();
            (0..=300).for_each(|len| spans.push(offset, offset + len));
            assert_slots(kernel, block.padded(), &spans);
        }
    }
}

#[test]
fn long_keys_and_batches_of_every_size() {
    let block = Block::from_bytes(&noise(300_000));
    for kernel in available() {
        for count in 0..40 {
            let mut spans = Spans::default();
            (0..count).for_each(|i| spans.push(i * 7, i * 7 + 20 + i));
            assert_slots(kernel, block.padded(), &spans);
        }
        let mut spans = Spans::default();
        for len in [511, 512, 1023, 1024, 1025, 4095, 4096, 4097, 8192, 8193, 65_536, 65_599, 262_144, 299_990] {
            (0..3).for_each(|offset| spans.push(offset, offset + len));
        }
        assert_slots(kernel, block.padded(), &spans);
    }
}

#[test]
fn what_lies_around_a_key_does_not_matter() {
    for kernel in available() {
        for around in [0x00, 0xFF, b'{', b'}'] {
            let mut content = vec![around; 400];
            content[100..109].copy_from_slice(b"123456789");
            let block = Block::from_bytes(&content);
            let mut spans = Spans::default();
            spans.push(100, 109);
            let mut slots = Vec::new();
            kernel.slots(block.padded(), &spans, &mut slots);
            assert_eq!(slots, [0x31C3 & 0x3FFF], "{}", kernel.name);
        }
    }
}

#[test]
#[should_panic(expected = "a span outside its block")]
fn a_span_outside_its_block_is_refused() {
    let block = Block::from_bytes(b"abc");
    let spans = Spans { start: vec![1], end: vec![4] };
    best().slots(block.padded(), &spans, &mut Vec::new());
}

#[test]
fn a_kernel_is_found_by_name_or_the_error_lists_those_there_are() {
    assert_eq!(named("table").unwrap().name, "table");
    let message = named("abacus").err().unwrap().to_string();
    assert!(message.contains("abacus") && message.contains("table"), "{message}");
}

fn brace_rich() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![3 => Just(b'{'), 3 => Just(b'}'), 2 => Just(b'a'), 1 => Just(b'\n'), 1 => any::<u8>()];
    prop::collection::vec(byte, 0..200)
}

proptest! {
    #[test]
    fn narrow_follows_the_hash_tag_rule(keys in prop::collection::vec(brace_rich(), 0..60)) {
        let mut content = Vec::new();
        let mut spans = Spans::default();
        for key in &keys {
            spans.push(content.len() as u32, (content.len() + key.len()) as u32);
            content.extend_from_slice(key);
        }
        let block = Block::from_bytes(&content);
        for kernel in available() {
            let mut hashed = Spans::default();
            kernel.narrow(block.padded(), &spans, &mut hashed);
            for (i, key) in keys.iter().enumerate() {
                let part = hashtag::hashed_part(key);
                let found = (hashed.start[i] - spans.start[i]) as usize..(hashed.end[i] - spans.start[i]) as usize;
                prop_assert_eq!(found, part, "{}: {:?}", kernel.name, key);
            }
        }
    }

    #[test]
    fn cut_finds_every_delimiter(content in brace_rich(), from in 0usize..200, room in 1usize..80) {
        let block = Block::from_bytes(&content);
        let from = from.min(content.len());
        let expected: Vec<u32> = (from..content.len()).filter(|i| content[*i] == b'\n').map(|i| i as u32).collect();
        for kernel in available() {
            let mut ends = vec![0; room];
            let found = kernel.cut(block.padded(), from as u32, b'\n', &mut ends);
            prop_assert_eq!(&ends[..found], &expected[..expected.len().min(room)], "{}", kernel.name);
        }
    }
}
