//! Conformance: every kernel this CPU has against naive code, for all three passes.

use crate::*;
use proptest::prelude::*;
use std::prelude::rust_2024::*;
use std::{println, vec};

/// An owned buffer with its padding.
struct Buffer(Vec<u8>);

impl Buffer {
    fn new(content: &[u8]) -> Self {
        Buffer([&[0; PAD], content, &[0; PAD]].concat())
    }

    fn len(&self) -> usize {
        self.0.len() - 2 * PAD
    }
}

/// Owned columns.
#[derive(Debug, Default)]
struct Spans {
    start: Vec<u32>,
    end: Vec<u32>,
}

impl Spans {
    fn push(&mut self, start: u32, end: u32) {
        self.start.push(start);
        self.end.push(end);
    }

    fn of<'a>(&'a self, buffer: &'a Buffer) -> Batch<'a> {
        Batch::new(Padded::new(&buffer.0), &self.start, &self.end)
    }
}

/// CRC-16/XMODEM bit by bit, from its definition.
fn naive_crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0u16, |crc, byte| {
        (0..8).fold(crc ^ u16::from(*byte) << 8, |crc, _| {
            if crc >> 15 == 1 {
                crc << 1 ^ 0x1021
            } else {
                crc << 1
            }
        })
    })
}

/// Deterministic pseudorandom numbers.
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
fn assert_slots(kernel: &Kernel, parts: Batch<'_>, crc16: fn(&[u8]) -> u16) {
    let mut slots = vec![u16::MAX; parts.len()];
    kernel.slots(parts, &mut slots);
    for (i, slot) in slots.iter().enumerate() {
        let key = parts.get(i);
        assert_eq!(
            *slot,
            crc16(key) & 0x3FFF,
            "{}: span {i} of {} bytes",
            kernel.name,
            key.len()
        );
    }
}

/// Compares the hashed parts of all keys with those of the rule.
fn assert_hashed_spans(kernel: &Kernel, keys: Batch<'_>) {
    let (mut start, mut end) = (vec![0; keys.len()], vec![0; keys.len()]);
    kernel.hashed_spans(keys, &mut start, &mut end);
    for i in 0..keys.len() {
        let (key, from) = (keys.get(i), keys.starts()[i]);
        assert_eq!(
            (start[i] - from) as usize..(end[i] - from) as usize,
            hashed_part(key),
            "{}: {:?}",
            kernel.name,
            String::from_utf8_lossy(key)
        );
    }
}

#[test]
fn every_kernel_whose_instructions_this_cpu_has_is_available_best_first() {
    let mut expected = Vec::new();
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512vbmi2")
            && std::arch::is_x86_feature_detected!("gfni")
            && std::arch::is_x86_feature_detected!("vpclmulqdq")
        {
            expected.push("avx512"); // no CPU has these and lacks one of the other AVX-512 features
        }
        if std::arch::is_x86_feature_detected!("avx2")
            && std::arch::is_x86_feature_detected!("vpclmulqdq")
        {
            expected.push("avx2");
        }
        if std::arch::is_x86_feature_detected!("sse4.1")
            && std::arch::is_x86_feature_detected!("pclmulqdq")
        {
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
    assert_eq!(arch::scalar::table::crc16(b"123456789"), 0x31C3);
}

#[test]
fn every_length_at_every_offset() {
    let buffer = Buffer::new(&noise(512));
    for kernel in available() {
        for offset in 0..64 {
            let mut spans = Spans::default();
            (0..=300).for_each(|len| spans.push(offset, offset + len));
            assert_slots(kernel, spans.of(&buffer), naive_crc16);
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
        let buffer = Buffer::new(&content);
        available().for_each(|kernel| assert_slots(kernel, spans.of(&buffer), naive_crc16));
    }
}

/// Lengths around every limit at which some kernel takes another path.
const LIMITS: [u32; 20] = [
    0, 1, 8, 9, 16, 17, 32, 33, 48, 49, 63, 64, 65, 127, 128, 129, 2048, 2049, 4096, 4097,
];

#[test]
fn lengths_of_all_kinds_in_one_batch_at_every_place_in_it() {
    let buffer = Buffer::new(&noise(10_000));
    let mut next = random();
    for round in 0..400 {
        let mut spans = Spans::default();
        for _ in 0..round % 41 {
            // A third of the rounds has only short keys, so that their fast path gets every batch size.
            let limit = LIMITS[next() as usize
                % if round % 3 == 0 {
                    5 + round % 9
                } else {
                    LIMITS.len()
                }];
            let len = if next().is_multiple_of(2) {
                limit
            } else {
                next() % (limit + 1)
            };
            let start = next() % (buffer.len() as u32 - len + 1);
            spans.push(start, start + len);
        }
        available().for_each(|kernel| assert_slots(kernel, spans.of(&buffer), naive_crc16));
    }
}

#[test]
fn long_keys_of_every_alignment() {
    let buffer = Buffer::new(&noise(300_000));
    for kernel in available() {
        let mut spans = Spans::default();
        for start in 0..64 {
            for len in [
                1023, 1024, 2047, 2048, 2049, 4095, 4096, 4097, 5119, 5120, 8192, 8193,
            ] {
                spans.push(start, start + len);
            }
        }
        spans.push(0, 300_000);
        assert_slots(kernel, spans.of(&buffer), arch::scalar::table::crc16);
    }
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
                let buffer = Buffer::new(&content);
                let mut spans = Spans::default();
                spans.push(100, 100 + len as u32);
                assert_slots(kernel, spans.of(&buffer), arch::scalar::table::crc16);
            }
        }
    }
}

#[test]
fn spans_outside_their_block_or_without_a_partner_are_refused_by_every_kernel() {
    let buffer = Buffer::new(&[b'a'; 100]);
    let column = |odd: &[u32]| [&[10; 20], odd, &[10; 9]].concat();
    let bad = [
        Spans {
            start: column(&[1]),
            end: column(&[101]),
        },
        Spans {
            start: column(&[60]),
            end: column(&[59]),
        },
        Spans {
            start: column(&[0]),
            end: column(&[u32::MAX]),
        },
        Spans {
            start: column(&[u32::MAX]),
            end: column(&[0]),
        },
        Spans {
            start: column(&[1]),
            end: column(&[]),
        },
        Spans {
            start: column(&[]),
            end: column(&[1]),
        },
    ];
    for (kernel, spans) in
        available().flat_map(|kernel| bad.iter().map(move |spans| (kernel, spans)))
    {
        let refused = |pass: fn(&Kernel, Batch<'_>)| {
            let caught = std::panic::catch_unwind(|| pass(kernel, spans.of(&buffer)));
            assert!(caught.is_err(), "{}: {spans:?}", kernel.name);
        };
        refused(|kernel, batch| kernel.slots(batch, &mut vec![0; batch.len()]));
        refused(|kernel, batch| {
            let (mut start, mut end) = (vec![0; batch.len()], vec![0; batch.len()]);
            kernel.hashed_spans(batch, &mut start, &mut end);
        });
    }
}

#[test]
fn columns_of_another_length_are_refused_by_every_kernel() {
    let (buffer, mut spans) = (Buffer::new(b"abc"), Spans::default());
    (0..3).for_each(|i| spans.push(0, i));
    for kernel in available() {
        for len in [0, 2, 4] {
            let slots = std::panic::catch_unwind(|| {
                kernel.slots(spans.of(&buffer), &mut vec![0; len]);
            });
            assert!(slots.is_err(), "{}: {len} slots", kernel.name);
            for (starts, ends) in [(len, 3), (3, len)] {
                let hashed = std::panic::catch_unwind(|| {
                    kernel.hashed_spans(
                        spans.of(&buffer),
                        &mut vec![0; starts],
                        &mut vec![0; ends],
                    );
                });
                assert!(hashed.is_err(), "{}: {starts}, {ends}", kernel.name);
            }
        }
    }
}

#[test]
fn a_brace_counts_at_every_place_of_keys_of_every_length() {
    let (mut content, mut spans) = (Vec::new(), Spans::default());
    for len in 1..=80usize {
        for (open, close) in (0..len)
            .flat_map(|close| [0, close / 2, close.saturating_sub(2)].map(|open| (open, close)))
        {
            let start = content.len();
            spans.push(start as u32, (start + len) as u32);
            content.resize(start + len, b'a');
            content[start + close] = b'}';
            content[start + open] = b'{';
        }
    }
    let buffer = Buffer::new(&content);
    available().for_each(|kernel| assert_hashed_spans(kernel, spans.of(&buffer)));
}

#[test]
fn a_kernel_is_found_by_name_or_the_error_says_why_not() {
    assert_eq!(named("table").unwrap().name, "table");
    assert_eq!(named("abacus").unwrap_err(), UnknownKernel::NoSuchName);
    for kernel in KERNELS.iter().filter(|kernel| !kernel.is_supported()) {
        let error = named(kernel.name).unwrap_err().to_string();
        assert!(error.contains(kernel.needs), "{error}");
        let run = std::panic::catch_unwind(|| {
            kernel.slots(Spans::default().of(&Buffer::new(b"")), &mut [])
        });
        assert!(run.is_err(), "{}", kernel.name);
    }
}

#[test]
fn no_two_kernels_have_one_name() {
    let mut names: Vec<&str> = KERNELS.iter().map(|kernel| kernel.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), KERNELS.len());
}

/// Slots computed by a real server.
const SERVER: &[(&[u8], u16)] = &[
    (b"", 0),
    (b"123456789", 12739),
    (b"foo", 12182),
    (b"user::10086", 14982),
    (b"user::10087", 10919),
    (b"{user}::10086", 5474),
    (b"{user}::{10086}", 5474),
    (b"name", 5798),
    (b"name1", 12933),
    (b"name2", 742),
    (b"name3", 4807),
    (b"{name}3", 5798),
    (b"{user1000}.following", 3443),
    (b"foo{bar}{zap}", 5061),
    (b"foo{{bar}}zap", 4015),
    (b"foo{}{bar}", 8363),
    (b"{}user::10086", 3788),
    (b"user{}::10086", 6488),
    (b"foo{bar", 15278),
    (b"A}B{C", 7939),
    (b"\x81{A\x81}", 16212),
];

#[test]
fn slots_are_those_of_a_real_server() {
    for (key, expected) in SERVER {
        assert_eq!(slot(key), *expected, "{:?}", String::from_utf8_lossy(key));
    }
    let keys: Vec<&[u8]> = SERVER.iter().map(|(key, _)| *key).collect();
    let mut found = vec![0; keys.len()];
    slots(&keys, &mut found);
    assert!(found.iter().eq(SERVER.iter().map(|(_, slot)| slot)));
}

/// Keys with many braces and with few, shorter and longer than a vector, to be concatenated.
fn brace_rich() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let key = |plain: u32, len: std::ops::Range<usize>| {
        let braces = prop_oneof![Just(b'{'), Just(b'}'), Just(b'\n'), any::<u8>()];
        prop::collection::vec(prop_oneof![4 => braces, plain => Just(b'a')], len)
    };
    prop::collection::vec(
        prop_oneof![
            key(4, 0..20),
            key(40, 0..70),
            key(400, 40..200),
            key(4, 55..80)
        ],
        0..60,
    )
}

/// At most one tag among keys without braces: close together, far apart and in any order.
#[test]
fn a_single_tag_is_found_wherever_it_is_and_braces_between_keys_are_none() {
    const KEYS: usize = 100;
    for (len, gap) in [(0, 0), (5, 0), (5, 1), (70, 3), (5, 200)] {
        for tagged in (0..=KEYS).step_by(9) {
            let (mut spans, mut content) = (Spans::default(), vec![b'{'; 3]);
            for i in 0..KEYS {
                let key = if i == tagged { "{a}" } else { "" };
                let key = "k".repeat(len) + key;
                spans.push(content.len() as u32, (content.len() + key.len()) as u32);
                content.extend_from_slice(key.as_bytes());
                content.extend_from_slice(&b"\n".repeat(gap));
            }
            let buffer = Buffer::new(&content);
            for _ in 0..2 {
                available().for_each(|kernel| assert_hashed_spans(kernel, spans.of(&buffer)));
                spans.start.reverse();
                spans.end.reverse();
            }
        }
    }
    let none = Spans::default();
    available().for_each(|kernel| assert_hashed_spans(kernel, none.of(&Buffer::new(b"{a}"))));
}

proptest! {
    #[test]
    fn hashed_spans_follow_the_hash_tag_rule(keys in brace_rich()) {
        let mut spans = Spans::default();
        let mut content = Vec::new();
        for key in &keys {
            spans.push(content.len() as u32, (content.len() + key.len()) as u32);
            content.extend_from_slice(key);
        }
        let buffer = Buffer::new(&content);
        available().for_each(|kernel| assert_hashed_spans(kernel, spans.of(&buffer)));
    }
}
