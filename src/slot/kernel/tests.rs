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

/// Numbers without a pattern, the same every time.
fn random() -> impl FnMut() -> u32 {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    }
}

fn noise(len: usize) -> Vec<u8> {
    let mut next = random();
    (0..len).map(|_| next() as u8).collect()
}

/// Compares the slots of all spans with those of `crc16`.
fn assert_slots(kernel: &Kernel, base: Padded<'_>, spans: &Spans, crc16: fn(&[u8]) -> u16) {
    let mut slots = Vec::new();
    kernel.slots(base, spans, &mut slots);
    assert_eq!(slots.len(), spans.len());
    for (i, slot) in slots.iter().enumerate() {
        let key = spans.get(base, i);
        assert_eq!(*slot, crc16(key) & 0x3FFF, "{}: span {i} of {} bytes", kernel.name, key.len());
    }
}

/// Compares the hashed parts of all keys with those of the rule.
fn assert_narrow(kernel: &Kernel, base: Padded<'_>, keys: &Spans) {
    let mut hashed = Spans::default();
    kernel.narrow(base, keys, &mut hashed);
    assert_eq!(hashed.len(), keys.len());
    for i in 0..keys.len() {
        let key = keys.get(base, i);
        let found = (hashed.start[i] - keys.start[i]) as usize..(hashed.end[i] - keys.start[i]) as usize;
        assert_eq!(found, hashtag::hashed_part(key), "{}: {:?}", kernel.name, String::from_utf8_lossy(key));
    }
}

#[test]
fn every_kernel_whose_instructions_this_cpu_has_is_available_best_first() {
    let mut expected = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512vbmi2")
            && is_x86_feature_detected!("gfni")
            && is_x86_feature_detected!("vpclmulqdq")
        {
            expected.push("avx512"); // no CPU has these and lacks one of the other AVX-512 features
        }
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("vpclmulqdq") {
            expected.push("avx2");
        }
        if is_x86_feature_detected!("sse4.1") && is_x86_feature_detected!("pclmulqdq") {
            expected.push("sse");
        }
    }
    #[cfg(target_arch = "aarch64")]
    if std::arch::is_aarch64_feature_detected!("aes") {
        expected.push("neon");
    }
    expected.extend(["portable", "table"]);
    let names: Vec<&str> = available().map(|kernel| kernel.name).collect();
    println!("kernels under test: {}", names.join(", "));
    assert_eq!(names, expected);
    assert_eq!(best().name, expected[0]);
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
        for offset in 0..64 {
            let mut spans = Spans::default();
            (0..=300).for_each(|len| spans.push(offset, offset + len));
            assert_slots(kernel, block.padded(), &spans, naive_crc16);
        }
    }
}

#[test]
fn every_single_bit_of_a_key_counts() {
    for len in [1, 7, 8, 9, 16, 17, 31, 32, 33, 63, 64, 65, 128, 200] {
        let (mut content, mut spans) = (Vec::new(), Spans::default());
        for bit in 0..8 * len {
            spans.push(content.len() as u32, (content.len() + len) as u32);
            content.resize(content.len() + len, 0);
            content[bit * len + bit / 8] = 1 << (bit % 8);
        }
        let block = Block::from_bytes(&content);
        available().for_each(|kernel| assert_slots(kernel, block.padded(), &spans, naive_crc16));
    }
}

/// Lengths on both sides of every limit at which some kernel changes its ways.
const LIMITS: [u32; 20] = [0, 1, 8, 9, 16, 17, 32, 33, 48, 49, 63, 64, 65, 127, 128, 129, 2048, 2049, 4096, 4097];

#[test]
fn lengths_of_all_kinds_in_one_batch_at_every_place_in_it() {
    let block = Block::from_bytes(&noise(10_000));
    let mut next = random();
    for round in 0..400 {
        let mut spans = Spans::default();
        for _ in 0..round % 41 {
            // A third of the rounds has short keys only, so that what is done for these meets every batch size.
            let limit = LIMITS[next() as usize % if round % 3 == 0 { 5 + round % 9 } else { LIMITS.len() }];
            let len = if next().is_multiple_of(2) { limit } else { next() % (limit + 1) };
            let start = next() % (block.len() as u32 - len + 1);
            spans.push(start, start + len);
        }
        available().for_each(|kernel| assert_slots(kernel, block.padded(), &spans, naive_crc16));
    }
}

#[test]
fn long_keys_of_every_alignment() {
    let block = Block::from_bytes(&noise(300_000));
    for kernel in available() {
        let mut spans = Spans::default();
        for start in 0..64 {
            for len in [1023, 1024, 2047, 2048, 2049, 4095, 4096, 4097, 5119, 5120, 8192, 8193] {
                spans.push(start, start + len);
            }
            spans.push(start, start + 65_536 + 61 * start);
        }
        spans.push(0, 300_000);
        assert_slots(kernel, block.padded(), &spans, table::crc16);
    }
}

#[test]
fn the_longest_key_that_an_input_may_have() {
    let block = Block::from_bytes(&noise(64 << 20));
    let mut spans = Spans::default();
    spans.push(0, 64 << 20);
    spans.push(3, (64 << 20) - 5);
    available().for_each(|kernel| assert_slots(kernel, block.padded(), &spans, table::crc16));
}

#[test]
fn what_lies_around_a_key_does_not_matter() {
    for kernel in available() {
        for around in [0x00, 0xFF, b'{', b'}'] {
            for len in (0..=130).chain([4096, 5000]) {
                let key = noise(len);
                let mut content = vec![around; 100];
                content.extend_from_slice(&key);
                content.resize(200 + len, around);
                let block = Block::from_bytes(&content);
                let mut spans = Spans::default();
                spans.push(100, 100 + len as u32);
                assert_slots(kernel, block.padded(), &spans, table::crc16);
            }
        }
    }
}

#[test]
fn spans_outside_their_block_or_without_a_partner_are_refused_by_every_kernel() {
    let block = Block::from_bytes(&[b'a'; 100]);
    let column = |odd: &[u32]| [&[10; 20], odd, &[10; 9]].concat();
    let bad = [
        Spans { start: column(&[1]), end: column(&[101]) },
        Spans { start: column(&[60]), end: column(&[59]) },
        Spans { start: column(&[0]), end: column(&[u32::MAX]) },
        Spans { start: column(&[u32::MAX]), end: column(&[0]) },
        Spans { start: column(&[1]), end: column(&[]) },
        Spans { start: column(&[]), end: column(&[1]) },
    ];
    for (kernel, spans) in available().flat_map(|kernel| bad.iter().map(move |spans| (kernel, spans))) {
        let slots = std::panic::catch_unwind(|| kernel.slots(block.padded(), spans, &mut Vec::new()));
        assert!(slots.is_err(), "{}: slots of {spans:?}", kernel.name);
        let narrow = std::panic::catch_unwind(|| kernel.narrow(block.padded(), spans, &mut Spans::default()));
        assert!(narrow.is_err(), "{}: narrow of {spans:?}", kernel.name);
    }
}

#[test]
fn a_brace_counts_at_every_place_of_keys_of_every_length() {
    let (mut content, mut spans) = (Vec::new(), Spans::default());
    for len in 1..=80usize {
        for (open, close) in
            (0..len).flat_map(|close| [0, close / 2, close.saturating_sub(2)].map(|open| (open, close)))
        {
            spans.push(content.len() as u32, (content.len() + len) as u32);
            content.resize(content.len() + len, b'a');
            content[spans.start[spans.len() - 1] as usize + close] = b'}';
            content[spans.start[spans.len() - 1] as usize + open] = b'{';
        }
    }
    let block = Block::from_bytes(&content);
    available().for_each(|kernel| assert_narrow(kernel, block.padded(), &spans));
}

#[test]
fn a_kernel_is_found_by_name_or_the_error_lists_those_there_are() {
    assert_eq!(named("table").unwrap().name, "table");
    let message = named("abacus").err().unwrap().to_string();
    assert!(message.contains("abacus") && message.contains("table"), "{message}");
}

/// Keys full of braces or with few, shorter and longer than a vector, to be laid one after another.
fn brace_rich() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let key = |plain: u32, len: std::ops::Range<usize>| {
        let braces = prop_oneof![Just(b'{'), Just(b'}'), Just(b'\n'), any::<u8>()];
        prop::collection::vec(prop_oneof![4 => braces, plain => Just(b'a')], len)
    };
    prop::collection::vec(prop_oneof![key(4, 0..20), key(40, 0..70), key(400, 40..200), key(4, 55..80)], 0..60)
}

proptest! {
    #[test]
    fn narrow_follows_the_hash_tag_rule(keys in brace_rich()) {
        let mut spans = Spans::default();
        let mut content = Vec::new();
        for key in &keys {
            spans.push(content.len() as u32, (content.len() + key.len()) as u32);
            content.extend_from_slice(key);
        }
        let block = Block::from_bytes(&content);
        available().for_each(|kernel| assert_narrow(kernel, block.padded(), &spans));
    }

    #[test]
    fn cut_finds_every_delimiter(keys in brace_rich(), from in 0usize..3000, room in 0usize..400, other: u8) {
        let content = keys.concat();
        let block = Block::from_bytes(&content);
        let from = from.min(content.len());
        for delimiter in [b'\n', b'a', b'{', 0, other] {
            let is_one = |i: &usize| content[*i] == delimiter;
            let expected: Vec<u32> = (from..content.len()).filter(is_one).map(|i| i as u32).take(room).collect();
            for kernel in available() {
                let mut ends = vec![u32::MAX; room + 64];
                let found = kernel.cut(block.padded(), from as u32, delimiter, &mut ends[..room]);
                prop_assert_eq!(&ends[..found], &expected, "{}", kernel.name);
                prop_assert!(ends[room..].iter().all(|end| *end == u32::MAX), "{} wrote too far", kernel.name);
            }
        }
    }
}
